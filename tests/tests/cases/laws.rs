//! What holds for every command of every case.
//!
//! No output looks like Rust or shows where the case was copied to. A command that fails changes nothing but the
//! store, and `check` changes nothing at all. What `check` says for people it says for programs too.

use bailiwick_tests::Ran;
use camino::Utf8Path;
use serde_json::Value;

use crate::run::execute;
use crate::tree::Tree;

/// What only a programmer should see.
const RUST: [&str; 12] = [
    "panicked",
    "Some(",
    "Err(",
    "Ok(",
    "None)",
    "Os {",
    "ParseError",
    "Utf8Path",
    "ErrorKind",
    "::<",
    "unwrap",
    "RUST_BACKTRACE",
];

pub(crate) fn check(
    arguments: &[String],
    printed: &Ran,
    cwd: &Utf8Path,
    before: &Tree,
    failures: &mut Vec<String>,
) -> Result<(), String> {
    let command = arguments.get(1).map_or("", String::as_str);
    for text in [&printed.stdout, &printed.stderr] {
        for word in RUST.iter().filter(|word| text.contains(**word)) {
            failures.push(format!("`{command}` prints `{word}`"));
        }
        if text.contains(cwd.as_str()) {
            failures.push(format!("`{command}` prints the temporary directory"));
        }
    }
    let changes = before.changes(&Tree::of(cwd)?);
    let in_store = |path: &&String| path.split('/').any(|part| part == ".bailiwick" || part == "store");
    if command == "check" && !changes.is_empty() {
        failures.push(format!("`check` changed {}", changes.join(", ")));
    } else if printed.code != 0 {
        let others: Vec<&str> = changes.iter().filter(|path| !in_store(path)).map(String::as_str).collect();
        if !others.is_empty() {
            failures.push(format!("`{command}` failed and changed {}", others.join(", ")));
        }
    }
    if command == "check" && !arguments.iter().any(|argument| argument == "--format") {
        both_formats(arguments, printed, cwd, failures)?;
    }
    Ok(())
}

/// Runs a `check` once more for programs, and compares what both say. A command line that is refused is answered for
/// people only.
fn both_formats(
    arguments: &[String],
    human: &Ran,
    cwd: &Utf8Path,
    failures: &mut Vec<String>,
) -> Result<(), String> {
    if human.code == 2 {
        return Ok(());
    }
    let mut arguments = arguments.to_vec();
    arguments.extend(["--format".to_owned(), "json".to_owned()]);
    let json = execute(&arguments, cwd);
    if json.code != human.code {
        failures.push(format!("`check` exits {} for people and {} for programs", human.code, json.code));
    }
    let report: Value = serde_json::from_str(&json.stdout).map_err(|error| format!("no JSON: {error}"))?;
    let diagnostics = report["diagnostics"].as_array().ok_or("the report has no `diagnostics`")?;
    let mut heads = 0;
    for diagnostic in diagnostics {
        let text = |key: &str| diagnostic[key].as_str().unwrap_or_default().to_owned();
        let head = format!("{}[{}]: {}", text("severity"), text("code"), text("message"));
        heads += human.stderr.matches(&head).count().min(1);
        let notes = diagnostic["notes"].as_array().cloned().unwrap_or_default();
        let notes = notes.iter().filter_map(|note| Some(format!("note: {}", note.as_str()?)));
        let example = diagnostic["example"].as_str().map(|example| format!("for example  {example}"));
        let help = diagnostic["help"].as_str().map(|help| format!("help: {help}"));
        for said in [head].into_iter().chain(notes).chain(example).chain(help) {
            if !human.stderr.contains(&said) {
                failures.push(format!("only programs are told: {said}"));
            }
        }
    }
    let shown = ["error[", "warning[", "note["];
    let n_shown = human.stderr.lines().filter(|line| shown.iter().any(|word| line.starts_with(word))).count();
    if n_shown != diagnostics.len() || heads != diagnostics.len() {
        failures.push(format!("{n_shown} diagnostics for people, {} for programs", diagnostics.len()));
    }
    Ok(())
}
