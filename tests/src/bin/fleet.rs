//! Writes a fleet of bundles: `cargo run -p bailiwick-tests --bin fleet -- DIR --bundles 1000`.

use std::io::Write as _;
use std::process::ExitCode;

use bailiwick_tests::fleet::Fleet;
use camino::Utf8PathBuf;
use clap::Parser;

/// Writes bundles of one agent each, the same for the same numbers.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where to.
    directory: Utf8PathBuf,
    /// How many bundles.
    #[arg(long, default_value_t = 1)]
    bundles: usize,
    /// Tools in each.
    #[arg(long, default_value_t = 20)]
    tools: usize,
    /// Bindings in each that narrow; half of the tools without it.
    #[arg(long)]
    narrowed: Option<usize>,
    /// Policies in each.
    #[arg(long, default_value_t = 10)]
    policies: usize,
    /// What tells fleets of one shape apart.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let Arguments { directory, bundles, tools, narrowed, policies, seed } = Arguments::parse();
    let fleet = Fleet { bundles, tools, narrowed: narrowed.unwrap_or(tools / 2), policies, seed };
    match fleet.write(&directory) {
        Ok(folders) => {
            let _ = writeln!(std::io::stderr(), "wrote {} bundles below `{directory}`", folders.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: cannot write below `{directory}`: {error}");
            ExitCode::from(3)
        }
    }
}
