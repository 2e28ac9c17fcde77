//! The `bailiwick` program: hands the world to the command line.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use bailiwick::cli::{Io, run};
use camino::Utf8PathBuf;

fn main() -> ExitCode {
    let cwd = match std::env::current_dir().map(Utf8PathBuf::from_path_buf) {
        Ok(Ok(cwd)) => cwd,
        Ok(Err(_)) => return refuse("the working directory's name is not Unicode"),
        Err(_) => return refuse("the working directory cannot be read"),
    };
    let terminal = std::io::stderr().is_terminal();
    #[expect(clippy::disallowed_methods, reason = "the one place where the environment is read: NO_COLOR")]
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let mut stdout = std::io::BufWriter::new(std::io::stdout().lock());
    let mut stderr = std::io::BufWriter::new(std::io::stderr().lock());
    let mut io = Io {
        stdin: &mut std::io::stdin(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        cwd,
        color: terminal && !no_color,
        interactive: terminal,
        is_last: true,
    };
    let code = run(std::env::args_os(), &mut io);
    let flushed = stdout.flush();
    let _ = stderr.flush();
    match flushed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            refuse("the output cannot be written")
        }
        Ok(()) | Err(_) => ExitCode::from(code),
    }
}

fn refuse(why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {why}");
    ExitCode::from(3)
}
