//! One case: copied, run, and compared with what is expected of it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bailiwick_tests::{Ran, command};
use camino::{Utf8Path, Utf8PathBuf};

use crate::laws;
use crate::script::{Line, Script, Variables};
use crate::tree::{Tree, copy};

/// One directory under `tests/cases`.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its path from there, with `/`.
    pub(crate) name: String,
    path: PathBuf,
}

/// What came of running one.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Everything that is wrong; nothing, if it passed.
    Ran(Vec<String>),
    /// This system lacks what the case needs.
    LeftOut,
}

/// Every case, sorted by name.
pub(crate) fn all_cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut cases = Vec::new();
    collect(&root, "", &mut cases);
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn collect(folder: &Path, name: &str, cases: &mut Vec<Case>) {
    for entry in fs::read_dir(folder).expect("the cases are there") {
        let path = entry.expect("it can be listed").path();
        if !path.is_dir() {
            continue;
        }
        let own = path.file_name().and_then(|name| name.to_str()).expect("its name is UTF-8");
        let name = if name.is_empty() { own.to_owned() } else { format!("{name}/{own}") };
        if path.join("cmd").is_file() {
            cases.push(Case { name, path });
        } else {
            collect(&path, &name, cases);
        }
    }
}

impl Case {
    /// The code it is about; nothing for a case of a command.
    pub(crate) fn fault(&self) -> Option<String> {
        let (place, _) = self.name.rsplit_once('/')?;
        (place != "commands").then(|| place.replacen('/', "::", 1))
    }

    /// Both expectations.
    pub(crate) fn expected_text(&self) -> String {
        self.expected("stdout") + &self.expected("stderr")
    }

    fn expected(&self, stream: &str) -> String {
        fs::read_to_string(self.path.join(stream)).unwrap_or_default()
    }

    /// Runs it.
    pub(crate) fn run(&self) -> Result<Outcome, String> {
        let text = fs::read_to_string(self.path.join("cmd")).map_err(|error| format!("cmd: {error}"))?;
        let script = Script::parse(&text)?;
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))?;
        // Where the temporary directory lies behind a link, as on macOS, messages would show two names for it.
        let root = folder.path().canonicalize().map_err(|error| error.to_string())?;
        let cwd =
            Utf8PathBuf::from_path_buf(root).map_err(|path| format!("{} is not UTF-8", path.display()))?;
        if !script.can_run(&cwd) {
            return Ok(Outcome::LeftOut);
        }
        let input = self.path.join("in");
        if input.is_dir() {
            copy(&input, cwd.as_std_path()).map_err(|error| format!("cannot copy `in`: {error}"))?;
        }
        let mut failures = Vec::new();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let mut variables = Variables::default();
        for line in &script.lines {
            let arguments = match line {
                Line::Setup(directive) => {
                    directive.apply(&cwd).map_err(|reason| format!("{directive:?}: {reason}"))?;
                    continue;
                }
                Line::Run { arguments, shown } => {
                    let _ = writeln!(stderr, "$ {shown}");
                    let _ = write!(stdout, "$ {shown}");
                    variables.fill(arguments)
                }
            };
            let before = Tree::of(&cwd)?;
            let printed = execute(&arguments, &cwd);
            laws::check(&arguments, &printed, &cwd, &before, &mut failures)?;
            variables.learn(&printed.stdout);
            let _ = write!(stdout, " → exit {}\n{}", printed.code, printed.stdout);
            stderr.push_str(&printed.stderr);
        }
        for (stream, printed) in [("stdout", &stdout), ("stderr", &stderr)] {
            self.compare(stream, printed, &mut failures);
        }
        Ok(Outcome::Ran(failures))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a test is told by its environment to rewrite expectations"
    )]
    fn compare(&self, stream: &str, printed: &str, failures: &mut Vec<String>) {
        let expected = self.expected(stream);
        if expected == printed {
            return;
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(self.path.join(stream), printed).expect("the case can be written");
            return;
        }
        let differs = expected.lines().zip(printed.lines()).take_while(|(a, b)| a == b).count();
        let line = |text: &str| text.lines().nth(differs).unwrap_or("(the end)").to_owned();
        failures.push(format!(
            "{stream} differs at line {}\n  expected  {}\n  printed   {}",
            differs + 1,
            line(&expected),
            line(printed)
        ));
    }
}

/// Runs one line, whose first word is the program.
pub(crate) fn execute(words: &[String], cwd: &Utf8Path) -> Ran {
    command(cwd, words.iter().skip(1))
}
