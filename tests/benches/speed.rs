//! How long a bundle takes, by stage and as a whole program: `cargo bench -p bailiwick-tests`.
//!
//! Rows are printed and never asserted. A plain harness rather than criterion: most of what matters here is whole
//! processes, of which the median of a few hundred is asked for and no more. The bundle is one agent, 20 tools (half
//! of the bindings narrow) and 10 policies, from `bailiwick_tests::fleet`.

use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bailiwick::{LockMode, OpenCatalogs, Session, compile};
use bailiwick_bundles::documents::phrony::read_document;
use bailiwick_bundles::{Constraint, Decoder, Digest, SourceMap, Version, read_yaml};
use bailiwick_narrowing::{Budget, Schema, contains, effective, intent};
use bailiwick_tests::command;
use bailiwick_tests::fleet::Fleet;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

const FLEET: Fleet = Fleet { bundles: 1, tools: 20, narrowed: 10, policies: 10, seed: 1 };
const REPEATS: usize = 300;
/// The first argument with which this program runs one command line and prints how much memory that took.
const PROBE: &str = "--probe-memory";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some((PROBE, rest)) = arguments.get(1).map(String::as_str).zip(arguments.get(2..)) {
        return probe(rest);
    }
    let guard = tempfile::tempdir()?;
    let root =
        Utf8PathBuf::from_path_buf(guard.path().canonicalize()?).map_err(|_| "a path is not Unicode")?;
    let bundle = FLEET.write(&root)?.pop().ok_or("no bundle")?;
    let files = FLEET.bundle(0);
    let size: usize = files.iter().map(|file| file.text.len()).sum();
    say(&format!(
        "one agent, 20 tools (10 bindings narrow), 10 policies: {} files, {size} B\n",
        files.len()
    ))?;

    say("in process")?;
    yaml(&files)?;
    resolve()?;
    narrow(&bundle)?;
    whole(&bundle)?;

    say("whole process")?;
    let program = program()?;
    processes(&program, &bundle)?;
    memory(&bundle)?;
    many(&program, &root)
}

fn yaml(files: &[bailiwick_tests::fleet::File]) -> Result<(), Failure> {
    let texts: Vec<&str> =
        files.iter().filter(|file| file.path.ends_with(".yaml")).map(|file| file.text.as_str()).collect();
    row("YAML read", || {
        let mut sources = SourceMap::new();
        for text in &texts {
            let file = sources.add("bundle.yaml", *text);
            black_box(read_yaml(file, text, &mut Vec::new()));
        }
    })?;
    row("YAML read and decode", || {
        let mut sources = SourceMap::new();
        for text in &texts {
            let file = sources.add("bundle.yaml", *text);
            let nodes = read_yaml(file, text, &mut Vec::new());
            let mut decoder = Decoder::new(&sources);
            black_box(nodes.iter().filter_map(|node| read_document(node, &mut decoder)).count());
        }
    })
}

fn resolve() -> Result<(), Failure> {
    let versions: Vec<Version> =
        (0..10).map(|minor| Version::new(1 + minor / 5, minor % 5, minor)).rev().collect();
    let text = "^1.2, <1.9 || ~2.1";
    let _: Constraint = text.parse()?;
    row("resolve: 20 constraints, 10 versions each", || {
        for _ in 0..20 {
            let constraint = black_box(text).parse::<Constraint>();
            let matches = |version: &&Version| constraint.as_ref().is_ok_and(|it| it.matches(version));
            black_box(versions.iter().find(matches));
        }
    })
}

/// Contract and binding of each binding that narrows.
fn pairs(bundle: &Utf8Path) -> Result<Vec<(Value, Value)>, Failure> {
    let mut pairs = Vec::new();
    let compilation =
        compile(&mut Session::new(), &mut OpenCatalogs::default(), bundle, bundle, &LockMode::Keep);
    let snapshot = compilation.compiled.ok_or("the bundle does not compile")?.snapshot;
    for binding in snapshot.agents.values().flat_map(|agent| &agent.bindings) {
        let bailiwick_snapshots::Grant::Tool(key) = &binding.grants else { continue };
        if let Some(tool) = snapshot.tools.get(key).filter(|tool| tool.input_schema != binding.input_schema) {
            pairs.push((tool.input_schema.clone(), binding.input_schema.clone()));
        }
    }
    Ok(pairs)
}

fn narrow(bundle: &Utf8Path) -> Result<(), Failure> {
    let pairs = pairs(bundle)?;
    row(&format!("narrow: compile schemas of {} bindings", pairs.len()), || {
        for (outer, inner) in &pairs {
            let _ = black_box((Schema::compile(outer), Schema::compile(inner)));
        }
    })?;
    let compiled: Vec<(Schema, Schema)> = pairs
        .iter()
        .map(|(outer, inner)| Ok((Schema::compile(outer)?, Schema::compile(inner)?)))
        .collect::<Result<_, bailiwick_narrowing::SchemaError>>()?;
    row(&format!("narrow: prove {} bindings", pairs.len()), || {
        for (outer, inner) in &compiled {
            black_box(contains(outer, inner, &Budget::default()));
        }
    })?;
    row(&format!("narrow: intent and effective of {} bindings", pairs.len()), || {
        for (outer, inner) in &pairs {
            black_box((intent(outer, inner), effective(outer, inner)));
        }
    })
}

fn whole(bundle: &Utf8Path) -> Result<(), Failure> {
    let compiled = || {
        let (mut session, mut open) = (Session::new(), OpenCatalogs::default());
        compile(&mut session, &mut open, bundle, bundle, &LockMode::Keep).compiled
    };
    let snapshot = compiled().ok_or("the bundle does not compile")?.snapshot;
    row("canonical bytes and digest", || {
        black_box(snapshot.to_canonical().map(|bytes| Digest::of(&bytes))).ok();
    })?;
    row("whole pipeline", || {
        black_box(compiled());
    })
}

/// The release build of the program, up to date.
fn program() -> Result<Utf8PathBuf, Failure> {
    let own = Utf8PathBuf::from_path_buf(std::env::current_exe()?).map_err(|_| "a path is not Unicode")?;
    // TARGET/release/deps/speed-HASH
    let target = own.ancestors().nth(3).ok_or("no target directory")?;
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--package", "bailiwick", "--target-dir", target.as_str()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    if !built.success() {
        return Err("`bailiwick` does not build".into());
    }
    Ok(target.join("release").join(format!("bailiwick{}", std::env::consts::EXE_SUFFIX)))
}

fn spawn(program: &Utf8Path, arguments: &[&str], cwd: &Utf8Path) -> Result<Duration, Failure> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(cwd).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status()?;
    let took = begun.elapsed();
    if status.success() {
        Ok(took)
    } else {
        Err(format!("`{}` ended with {status}", arguments.join(" ")).into())
    }
}

fn processes(program: &Utf8Path, bundle: &Utf8Path) -> Result<(), Failure> {
    let store = bundle.join("../store");
    let clear = || if store.exists() { fs::remove_dir_all(&store) } else { Ok(()) };
    let times = |arguments: &[&str], fresh: bool| {
        (0..REPEATS)
            .map(|_| {
                if fresh {
                    clear()?;
                }
                spawn(program, arguments, bundle)
            })
            .collect::<Result<Vec<_>, _>>()
    };
    print("bailiwick --version", times(&["--version"], false)?)?;
    print("check", times(&["check"], false)?)?;
    print("publish to no store", times(&["publish", "--store", store.as_str()], true)?)?;
    print("publish again", times(&["publish", "--store", store.as_str()], false)?)
}

fn memory(bundle: &Utf8Path) -> Result<(), Failure> {
    let store = bundle.join("../store-of-probe");
    for arguments in [vec!["check"], vec!["publish", "--store", store.as_str()]] {
        let output = Command::new(std::env::current_exe()?)
            .arg(PROBE)
            .args(&arguments)
            .current_dir(bundle)
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("`{}` ended with {}", arguments.join(" "), output.status).into());
        }
        let peak = String::from_utf8(output.stdout)?;
        say(&format!(
            "  {:44} {}",
            format!("peak memory of {}", arguments.first().unwrap_or(&"")),
            peak.trim()
        ))?;
    }
    Ok(())
}

/// Runs a command line here, and prints the most memory that this process ever had.
fn probe(arguments: &[String]) -> Result<(), Failure> {
    let cwd = Utf8PathBuf::from_path_buf(std::env::current_dir()?).map_err(|_| "a path is not Unicode")?;
    let ran = command(&cwd, arguments);
    if ran.code != 0 {
        return Err(format!("ended with {}: {}", ran.code, ran.stderr).into());
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    say(peak.map_or("not known on this system", str::trim))
}

fn many(program: &Utf8Path, root: &Utf8Path) -> Result<(), Failure> {
    for (tools, narrowed, policies) in [(2, 1, 1), (20, 10, 10)] {
        let root = root.join(format!("many-{tools}"));
        let folders = Fleet { bundles: 1000, tools, narrowed, policies, seed: 2 }.write(&root)?;
        let arguments: Vec<&str> =
            std::iter::once("check").chain(folders.iter().filter_map(|folder| folder.file_name())).collect();
        let times: Vec<Duration> =
            (0..5).map(|_| spawn(program, &arguments, &root)).collect::<Result<_, _>>()?;
        print(&format!("check 1,000 bundles of {tools} tools, {policies} policies"), times)?;
    }
    Ok(())
}

/// Times `work` for about half a second and prints a row.
fn row(name: &str, mut work: impl FnMut()) -> Result<(), Failure> {
    for _ in 0..5 {
        work();
    }
    let begun = Instant::now();
    let mut times = Vec::new();
    while begun.elapsed() < Duration::from_millis(500) || times.len() < 20 {
        let begun = Instant::now();
        work();
        times.push(begun.elapsed());
    }
    print(name, times)
}

fn print(name: &str, mut times: Vec<Duration>) -> Result<(), Failure> {
    times.sort_unstable();
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    say(&format!(
        "  {name:44} {:9.3} ms  (least {:.3}, 90 % within {:.3}, n = {})",
        milliseconds(at(50)),
        milliseconds(at(0)),
        milliseconds(at(90)),
        times.len()
    ))
}

fn say(line: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}
