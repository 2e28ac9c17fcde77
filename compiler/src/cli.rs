//! The command line: a thin layer over the stages.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 clean, 1 findings, 2 usage,
//! 3 input/output and integrity. Nothing here reads the environment or the clock except what [`Io`] hands in.

mod args;
mod commands;
mod plain;
mod progress;
mod report;
mod summary;

use std::io::Write;

use bailiwick_bundles::diagnostics::sort;
use bailiwick_bundles::{Diagnostic, Severity};
use camino::Utf8PathBuf;
use clap::Parser as _;

pub use args::{Cli, command};

use crate::pipeline::exit_code;
use crate::render::{Style, diagnostic_json, render};
use crate::session::Session;
use args::{Command, Format};

/// What a command sees of the world.
pub struct Io<'a> {
    /// Where data comes from that no file holds.
    pub stdin: &'a mut dyn std::io::Read,
    /// For data.
    pub stdout: &'a mut dyn Write,
    /// For everything else.
    pub stderr: &'a mut dyn Write,
    /// Where relative paths begin.
    pub cwd: Utf8PathBuf,
    /// Whether standard error takes colour.
    pub color: bool,
    /// Whether somebody is watching standard error.
    pub interactive: bool,
    /// Whether the process ends after this command. Then nothing is given back piece by piece.
    pub is_last: bool,
}

impl std::fmt::Debug for Io<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Io").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// Output that could not be written.
#[derive(Debug)]
pub enum CliError {
    /// Somebody stopped reading: not a fault.
    Closed,
    /// The system refused.
    Write(std::io::Error),
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe { Self::Closed } else { Self::Write(error) }
    }
}

/// Runs one command line, the program's name included, and gives its exit code.
pub fn run<I, T>(arguments: I, io: &mut Io<'_>) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<std::ffi::OsString> + Clone,
{
    let outcome = match Cli::try_parse_from(arguments) {
        Ok(cli) => dispatch(cli, io),
        Err(error) => usage(&error, io),
    };
    match outcome {
        Ok(code) => code,
        Err(CliError::Closed) => 0,
        Err(CliError::Write(error)) => {
            let _ = writeln!(io.stderr, "error: cannot write the output: {error}");
            3
        }
    }
}

fn usage(error: &clap::Error, io: &mut Io<'_>) -> Result<u8, CliError> {
    if error.use_stderr() {
        write!(io.stderr, "{}", error.render())?;
        Ok(2)
    } else {
        write!(io.stdout, "{}", error.render())?;
        Ok(0)
    }
}

fn dispatch(cli: Cli, io: &mut Io<'_>) -> Result<u8, CliError> {
    let Io { stdin, stdout, stderr, cwd, color, interactive, is_last } = io;
    let batch = matches!(&cli.command, Command::Narrow(args) if args.batch.is_some());
    let is_json = cli.format == Format::Json || batch;
    let mut plain = plain::Plain::new(&mut **stdout, is_json);
    let mut io = Io {
        stdin: &mut **stdin,
        stdout: &mut plain,
        stderr: &mut **stderr,
        cwd: cwd.clone(),
        color: *color,
        interactive: *interactive,
        is_last: *is_last,
    };
    let io = &mut io;
    let mut context = Context { session: Session::new(), format: cli.format, store: cli.store, io };
    let outcome = match cli.command {
        Command::Check(args) => commands::check(&mut context, &args),
        Command::Lock(args) => commands::lock(&mut context, &args),
        Command::Publish(args) => commands::publish(&mut context, &args),
        Command::Show(args) => commands::show(&mut context, &args),
        Command::Tree(args) => commands::tree(&mut context, &args),
        Command::Decide(args) => commands::decide(&mut context, &args),
        Command::Why(args) => commands::why(&mut context, &args),
        Command::Narrow(args) => commands::narrow(&mut context, &args),
        Command::Verify(args) => commands::verify(&mut context, &args),
        Command::Init(args) => commands::init(&mut context, &args),
        Command::Explain(args) => commands::explain(&mut context, &args),
        Command::Schema(args) => commands::schema(&mut context, &args),
        Command::Completions(args) => commands::completions(&mut context, &args),
        Command::Man(args) => commands::man(&mut context, &args),
    };
    if context.io.is_last {
        // Freeing many small trees takes longer than ending.
        std::mem::forget(std::mem::take(&mut context.session));
    }
    outcome
}

/// One command and what it has found.
struct Context<'a, 'io> {
    session: Session,
    format: Format,
    store: Option<Utf8PathBuf>,
    io: &'a mut Io<'io>,
}

/// How many diagnostics are drawn: nobody reads more, and a broken generator can make a great many.
const MOST_SHOWN: usize = 200;

/// What has been said at the end of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    errors: usize,
    warnings: usize,
    notes: usize,
}

impl Counts {
    fn of(diagnostics: &[Diagnostic]) -> Self {
        let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
        Self {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Note),
        }
    }

    /// `2 errors, 1 warning`.
    fn words(self) -> String {
        let parts = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let words: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| summary::count(*n, word)).collect();
        words.join(", ")
    }
}

impl Context<'_, '_> {
    /// Lets go of a value, without giving its memory back piece by piece where the process ends anyway.
    fn let_go<T>(&self, value: T) {
        if self.io.is_last {
            std::mem::forget(value);
        }
    }

    /// Sorts what was found and draws it on standard error, unless it is part of the JSON that a command prints.
    fn say(&mut self) -> Result<Counts, CliError> {
        self.draw(self.format == Format::Human)
    }

    /// [`Context::say`] for commands whose JSON is data alone.
    fn say_beside(&mut self) -> Result<Counts, CliError> {
        // Notes are for whoever works on the bundle; here somebody reads data.
        self.session.diagnostics.retain(|diagnostic| diagnostic.severity != Severity::Note);
        self.draw(true)
    }

    fn draw(&mut self, shown: bool) -> Result<Counts, CliError> {
        let Session { diagnostics, sources, .. } = &mut self.session;
        sort(diagnostics, sources);
        if shown {
            let style = Style { color: self.io.color };
            for diagnostic in diagnostics.iter().take(MOST_SHOWN) {
                self.io.stderr.write_all(render(diagnostic, sources, style).as_bytes())?;
            }
            let n_more = diagnostics.len().saturating_sub(MOST_SHOWN);
            if n_more > 0 {
                writeln!(self.io.stderr, "and {n_more} more; `--format json` lists all of them\n")?;
            }
        }
        Ok(Counts::of(diagnostics))
    }

    /// ` (4 ms)` where somebody is watching: a time in a file would differ from run to run.
    fn elapsed(&self, begun: std::time::Instant) -> String {
        if self.io.interactive { format!(" ({} ms)", begun.elapsed().as_millis()) } else { String::new() }
    }

    /// `, 4 ms` where somebody is watching.
    fn elapsed_words(&self, begun: std::time::Instant) -> String {
        if self.io.interactive { format!(", {} ms", begun.elapsed().as_millis()) } else { String::new() }
    }

    /// The exit code of what was found.
    fn exit(&self) -> u8 {
        exit_code(&self.session.diagnostics)
    }

    /// The report of a command as JSON: what was found, and what the command adds.
    fn json(&mut self, extra: &[(&str, serde_json::Value)]) -> Result<(), CliError> {
        let Session { diagnostics, sources, .. } = &mut self.session;
        sort(diagnostics, sources);
        let counts = Counts::of(diagnostics);
        let mut object = serde_json::Map::new();
        object.insert("schema_version".into(), report::SCHEMA_VERSION.into());
        object.insert(
            "diagnostics".into(),
            diagnostics.iter().map(|diagnostic| diagnostic_json(diagnostic, sources)).collect(),
        );
        object.insert(
            "summary".into(),
            serde_json::json!({ "errors": counts.errors, "warnings": counts.warnings, "notes": counts.notes }),
        );
        for (key, value) in extra {
            object.insert((*key).to_owned(), value.clone());
        }
        report::write_json(self.io.stdout, &serde_json::Value::Object(object))
    }

    /// Ends a command that could not go on.
    fn fail(&mut self) -> Result<u8, CliError> {
        let counts = self.say()?;
        match self.format {
            Format::Human => {
                if let Some(first) = self.session.diagnostics.iter().find(|d| d.is_error()) {
                    let code = first.code.id;
                    writeln!(self.io.stderr, "{}; `bailiwick explain {code}` says more", counts.words())?;
                }
            }
            Format::Json => self.json(&[])?,
        }
        Ok(self.exit().max(1))
    }
}
