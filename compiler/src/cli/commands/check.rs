//! `check`: every fault of some bundles.

use std::time::Instant;

use super::super::args::{CheckArgs, Format};
use super::super::progress::Progress;
use super::super::summary::count;
use super::super::{CliError, Context};
use crate::pipeline::{self, LockMode, OpenCatalogs};

pub(in super::super) fn check(context: &mut Context<'_, '_>, args: &CheckArgs) -> Result<u8, CliError> {
    let begun = Instant::now();
    let mode = if args.locked { LockMode::Locked } else { LockMode::Keep };
    let mut open = OpenCatalogs::default();
    let progress = Progress::new(args.bundles.len(), context.io.interactive);
    for bundle in &args.bundles {
        pipeline::check(&mut context.session, &mut open, bundle, &context.io.cwd, &mode);
        progress.step();
    }
    progress.finish();
    let counts = context.say()?;
    match context.format {
        Format::Json => context.json(&[("bundles", args.bundles.len().into())])?,
        Format::Human => {
            let bundles = count(args.bundles.len(), "bundle");
            let time = context.elapsed(begun);
            // The gravest kind first: that is what has to be understood.
            let first = context.session.diagnostics.iter().min_by_key(|d| d.severity).map(|d| d.code.id);
            match first {
                Some(first) => writeln!(
                    context.io.stderr,
                    "{} in {bundles}{time}; `bailiwick explain {first}` says more",
                    counts.words()
                )?,
                None => writeln!(context.io.stderr, "no faults in {bundles}{time}")?,
            }
        }
    }
    Ok(context.exit())
}
