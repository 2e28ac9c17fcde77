//! One command line, run in this process.
//!
//! Not here: the process around it, which the bench starts.

use std::ffi::OsString;

use bailiwick::cli::{Io, run};
use camino::Utf8Path;

/// What a command line printed and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The exit code.
    pub code: u8,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
}

/// Runs `bailiwick` with `arguments` in `cwd`, without colour.
///
/// # Panics
/// Where it prints what is not UTF-8.
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
pub fn command<I>(cwd: &Utf8Path, arguments: I) -> Ran
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut io = Io {
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        cwd: cwd.to_owned(),
        color: false,
        interactive: false,
        is_last: false,
    };
    let arguments = std::iter::once("bailiwick".into()).chain(arguments.into_iter().map(Into::into));
    let code = run::<_, OsString>(arguments, &mut io);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Ran { code, stdout: text(stdout), stderr: text(stderr) }
}
