//! `verify`: a store, re-hashed.

use bailiwick_bundles::{Code, Diagnostic, code};
use bailiwick_snapshots::{FaultKind, Store};
use serde_json::json;

use super::super::args::{Format, VerifyArgs};
use super::super::summary::count;
use super::super::{CliError, Context};
use crate::bundle::Environment;
use crate::source::{DEFAULT_STORE, StorePlace, store_place};
use crate::store::{RESTORE, read_snapshot, store_diagnostic};

pub(in super::super) fn verify(context: &mut Context<'_, '_>, args: &VerifyArgs) -> Result<u8, CliError> {
    let cwd = context.io.cwd.clone();
    let folder = cwd.join(&args.directory);
    if !folder.is_dir() {
        let message = format!("there is no directory `{}`", args.directory);
        context
            .session
            .push(Diagnostic::new(&code::STORE_IO, message).help("name a bundle, or use `--store`"));
        return context.fail();
    }
    let canonical = folder.canonicalize_utf8().unwrap_or_else(|_| folder.clone());
    let environment = Environment::find(&mut context.session, &canonical, &cwd);
    // The directory may be the store itself; without settings its own default store is meant, not one elsewhere.
    let is_store = context.store.is_none() && folder.join("oci-layout").is_file();
    let place = if is_store {
        StorePlace { path: folder, shown: args.directory.to_string() }
    } else {
        own_store(context, args, &environment)
    };
    let verified = Store::open(&place.path).and_then(|store| Ok((store.verify()?, store)));
    let (verification, store) = match verified {
        Ok(verified) => verified,
        Err(error) => {
            context.session.push(store_diagnostic(&error, &place));
            return context.fail();
        }
    };
    let mut n_notes = 0_usize;
    for fault in &verification.faults {
        if fault.kind.is_note() {
            n_notes += 1;
            continue;
        }
        let mut diagnostic =
            Diagnostic::new(fault_code(&fault.kind), format!("`{}`: {}", fault.place, fault.kind));
        for id in &fault.needed_by {
            diagnostic = diagnostic.note(format!("needed by {id}"));
        }
        let help = if matches!(fault.kind, FaultKind::Malformed(_)) {
            RESTORE
        } else {
            "restore it from a copy of the store, or publish the document again"
        };
        context.session.push(diagnostic.help(help));
    }
    if verification.is_sound() {
        check_formats(context, &store, &place);
    }
    if context.exit() != 0 {
        return context.fail();
    }
    context.say()?;
    match context.format {
        Format::Json => context.json(&[(
            "store",
            json!({ "path": place.shown, "entries": verification.entries, "blobs": verification.blobs }),
        )])?,
        Format::Human => {
            let notes =
                if n_notes > 0 { format!("; {} of no entry", count(n_notes, "file")) } else { String::new() };
            writeln!(
                context.io.stdout,
                "verified {}: {} and {} are as published{notes}",
                place.shown,
                count(verification.entries, "entry"),
                count(verification.blobs, "blob")
            )?;
        }
    }
    Ok(0)
}

/// The store that belongs to a directory.
fn own_store(context: &Context<'_, '_>, args: &VerifyArgs, environment: &Environment) -> StorePlace {
    let cwd = &context.io.cwd;
    if context.store.is_some() || environment.settings.folder.is_some() || args.directory == "." {
        return store_place(context.store.as_deref(), environment, cwd);
    }
    let own = args.directory.join(DEFAULT_STORE);
    StorePlace { path: cwd.join(&own), shown: own.to_string() }
}

/// A blob may be whole and still not be a snapshot that this compiler reads.
fn check_formats(context: &mut Context<'_, '_>, store: &Store, place: &StorePlace) {
    let entries = match store.entries() {
        Ok(entries) => entries,
        Err(error) => return context.session.push(store_diagnostic(&error, place)),
    };
    for entry in entries {
        if let Err(diagnostic) = read_snapshot(store, &entry.digest, place) {
            context.session.push(diagnostic.note(format!("needed by {entry}")));
        }
    }
}

fn fault_code(kind: &FaultKind) -> &'static Code {
    match kind {
        FaultKind::Missing => &code::MISSING_BLOB,
        FaultKind::Malformed(_) => &code::CORRUPT_INDEX,
        FaultKind::Unreadable(_) => &code::STORE_IO,
        FaultKind::NotAFile
        | FaultKind::TooLarge
        | FaultKind::Corrupt(_)
        | FaultKind::WrongSize { .. }
        | FaultKind::NotCanonical(_)
        | FaultKind::Disagrees(_)
        | FaultKind::Unreferenced
        | FaultKind::Stray => &code::CORRUPT_BLOB,
    }
}
