//! `lock`: pins, written down.

use bailiwick_bundles::{Diagnostic, LogicalId, code};
use camino::Utf8PathBuf;

use super::super::args::{Format, LockArgs};
use super::super::summary::count;
use super::super::{CliError, Context};
use crate::lock::{LOCK_FILE, Lock};
use crate::pipeline::{LockMode, OpenCatalogs, compile};
use crate::source::is_path;
use crate::write::write_whole;

pub(in super::super) fn lock(context: &mut Context<'_, '_>, args: &LockArgs) -> Result<u8, CliError> {
    let mut bundle = args.bundle.clone();
    let mode = match (&args.update, args.check) {
        (_, true) => LockMode::Locked,
        (None, false) => LockMode::Keep,
        (Some(references), false) => match ids(context, references, &mut bundle) {
            Some(ids) => LockMode::Update(ids),
            None => return context.fail(),
        },
    };
    let bundle = bundle.unwrap_or_else(|| Utf8PathBuf::from("."));
    let compilation =
        compile(&mut context.session, &mut OpenCatalogs::default(), &bundle, &context.io.cwd, &mode);
    let Some(resolved) = compilation.resolved.filter(|_| compilation.compiled.is_some()) else {
        return context.fail();
    };
    if !resolved.bundle.is_whole() {
        let message =
            format!("`{}` is one document of a bundle; a lock is of the whole", resolved.bundle.entry);
        context.session.push(Diagnostic::new(&code::NO_BUNDLE, message).help("name the bundle's directory"));
        return context.fail();
    }
    if let LockMode::Update(ids) = &mode {
        let known = |id: &&LogicalId| !resolved.choices.iter().any(|choice| choice.id == **id);
        if let Some(unknown) = ids.iter().find(known) {
            let names: Vec<String> = resolved.choices.iter().map(|choice| choice.id.to_string()).collect();
            let near = bailiwick_bundles::nearest(&unknown.to_string(), names.iter().map(String::as_str));
            let message = format!("nothing in the bundle refers to `{unknown}`");
            let help = near.map(|near| format!("did you mean `{near}`?"));
            context.session.push(Diagnostic::new(&code::REF_NOT_FOUND, message).maybe_help(help));
            return context.fail();
        }
    }
    context.say()?;
    let shown = resolved.bundle.folder.display(LOCK_FILE);
    let old = resolved.old_lock.unwrap_or_default();
    let changes = old.changes(&resolved.new_lock);
    let unchanged = resolved.has_lock && changes.is_empty();
    if !args.check && !unchanged {
        let path = resolved.bundle.folder.root().join(LOCK_FILE);
        if let Err(reason) = write_whole(&path, resolved.new_lock.to_text().as_bytes()) {
            let message = format!("`{shown}` cannot be written: {reason}");
            context.session.diagnostics.clear();
            context.session.push(Diagnostic::new(&code::STORE_IO, message).help("the lock is as it was"));
            return context.fail();
        }
    }
    report(context, &shown, &changes, unchanged, &resolved.new_lock)
}

fn report(
    context: &mut Context<'_, '_>,
    shown: &str,
    changes: &[String],
    unchanged: bool,
    lock: &Lock,
) -> Result<u8, CliError> {
    match context.format {
        Format::Json => context.json(&[(
            "lock",
            serde_json::json!({ "path": shown, "changed": !unchanged, "changes": changes }),
        )])?,
        Format::Human => {
            for change in changes {
                writeln!(context.io.stdout, "  {change}")?;
            }
            let documents = count(lock.len(), "document");
            if unchanged {
                writeln!(context.io.stdout, "`{shown}` is up to date ({documents})")?;
            } else {
                writeln!(context.io.stdout, "wrote `{shown}` ({documents})")?;
            }
        }
    }
    Ok(context.exit())
}

/// What `--update` names. The bundle may stand behind it as well, since it is no `namespace.name`.
fn ids(
    context: &mut Context<'_, '_>,
    references: &[String],
    bundle: &mut Option<Utf8PathBuf>,
) -> Option<Vec<LogicalId>> {
    let mut ids = Vec::with_capacity(references.len());
    for reference in references.iter().filter(|reference| !reference.is_empty()) {
        match reference.parse() {
            Ok(id) => ids.push(id),
            Err(_) if bundle.is_none() && is_path(reference, &context.io.cwd) => {
                *bundle = Some(Utf8PathBuf::from(reference));
            }
            Err(error) => {
                context.session.push(
                    Diagnostic::new(&code::INVALID_NAME, format!("{error}"))
                        .help("name what to update by `namespace.name`"),
                );
                return None;
            }
        }
    }
    Some(ids)
}
