//! `publish`: a snapshot into the store.

use std::collections::BTreeSet;
use std::time::Instant;

use bailiwick_snapshots::{Artifact, Grant, InputNarrowing, Published, Store};
use serde_json::json;

use super::super::args::{Format, PublishArgs};
use super::super::summary::{count, decision, narrowing};
use super::super::{CliError, Context};
use crate::pipeline::{Compiled, LockMode, OpenCatalogs, Resolved, compile};
use crate::source::{StorePlace, store_place};
use crate::store::{publish_diagnostic, store_diagnostic};

pub(in super::super) fn publish(context: &mut Context<'_, '_>, args: &PublishArgs) -> Result<u8, CliError> {
    let begun = Instant::now();
    let mode = if args.locked { LockMode::Locked } else { LockMode::Keep };
    let compilation =
        compile(&mut context.session, &mut OpenCatalogs::default(), &args.bundle, &context.io.cwd, &mode);
    let (Some(resolved), Some(compiled)) = (compilation.resolved, compilation.compiled) else {
        return context.fail();
    };
    let place = store_place(context.store.as_deref(), &compilation.environment, &context.io.cwd);
    let outcome = match put(&place, &compiled) {
        Ok(outcome) => outcome,
        Err(diagnostic) => {
            context.session.push(*diagnostic);
            return context.fail();
        }
    };
    context.say()?;
    let identity = &compiled.snapshot.identity;
    let new = matches!(outcome, Published::New(_));
    match context.format {
        Format::Json => {
            let snapshot = json!({
                "id": identity.id(),
                "version": identity.version,
                "digest": compiled.digest,
                "new": new,
                "store": place.shown,
            });
            context.json(&[("snapshot", snapshot)])?;
        }
        Format::Human => {
            print(context, &resolved, &compiled)?;
            let word = if new { "published" } else { "already published:" };
            let time = context.elapsed_words(begun);
            writeln!(context.io.stdout, "  store    {}", place.shown)?;
            if let Some(old) =
                resolved.old_lock.as_ref().filter(|old| !old.changes(&resolved.new_lock).is_empty())
            {
                let n_changes = old.changes(&resolved.new_lock).len();
                let changes = count(n_changes, "change");
                writeln!(context.io.stdout, "  lock     {changes} not in it; `bailiwick lock` records them")?;
            }
            writeln!(context.io.stdout, "  digest   {}", compiled.digest)?;
            writeln!(
                context.io.stdout,
                "{word} {}@{}  {}  ({}{time})",
                identity.id(),
                identity.version,
                compiled.digest.short(),
                contents(&compiled)
            )?;
        }
    }
    context.let_go((resolved, compiled, compilation.environment));
    Ok(0)
}

fn put(place: &StorePlace, compiled: &Compiled) -> Result<Published, Box<bailiwick_bundles::Diagnostic>> {
    let store =
        Store::open_or_create(&place.path).map_err(|error| Box::new(store_diagnostic(&error, place)))?;
    let snapshot = &compiled.snapshot;
    let artifact = Artifact {
        kind: snapshot.kind,
        id: &snapshot.identity.id(),
        version: &snapshot.identity.version,
        bytes: &compiled.bytes,
    };
    store.publish(&artifact).map_err(|error| Box::new(publish_diagnostic(&error, place)))
}

/// `2 tools, 2 policies`, or `3 agents, 5 tools, 4 policies`.
fn contents(compiled: &Compiled) -> String {
    let snapshot = &compiled.snapshot;
    let mut words = Vec::new();
    if snapshot.agents.len() > 1 {
        words.push(count(snapshot.agents.len(), "agent"));
    }
    words.push(count(snapshot.tools.len(), "tool"));
    words.push(count(snapshot.policies.len(), "policy"));
    words.join(", ")
}

/// A row of at most [`WIDTH`] columns; `show` prints the rest.
fn cut(row: &str) -> String {
    const WIDTH: usize = 100;
    if row.chars().count() <= WIDTH {
        return row.trim_end().to_owned();
    }
    row.chars().take(WIDTH - 1).chain(['…']).collect()
}

/// What was pinned, what was narrowed, and what the policies come to.
fn print(context: &mut Context<'_, '_>, resolved: &Resolved, compiled: &Compiled) -> Result<(), CliError> {
    let snapshot = &compiled.snapshot;
    let mut rows: Vec<(&str, String)> = Vec::new();
    let named: Vec<_> = resolved.choices.iter().filter(|choice| choice.by_name).collect();
    let width = named.iter().map(|choice| choice.id.to_string().chars().count()).max().unwrap_or(0);
    let constraints = named.iter().filter_map(|choice| choice.constraint.as_ref());
    let n_constraint = constraints.map(|constraint| constraint.chars().count()).max().unwrap_or(1);
    let pins: BTreeSet<String> = named
        .iter()
        .map(|choice| {
            let constraint = choice.constraint.as_deref().unwrap_or("*");
            let moved = choice.moved_from.as_ref().map_or_else(String::new, |from| format!("  (was {from})"));
            format!(
                "{:width$}  {constraint:n_constraint$} → {:8} {}{moved}",
                choice.id,
                choice.version.to_string(),
                choice.home
            )
        })
        .collect();
    rows.extend(pins.into_iter().map(|pin| ("pinned", pin)));
    let several = snapshot.agents.len() > 1;
    let mut narrowed = Vec::new();
    let mut policies = Vec::new();
    for member in &snapshot.members {
        let Some(agent) = snapshot.agents.get(member) else { continue };
        for binding in &agent.bindings {
            let name = if several {
                format!("{}/{}", member.id.name(), binding.wire_name)
            } else {
                binding.wire_name.to_string()
            };
            let narrows =
                binding.narrowing.input == InputNarrowing::Narrower || binding.narrowing.class_from.is_some();
            if narrows && matches!(binding.grants, Grant::Tool(_)) {
                narrowed.push((name.clone(), narrowing(snapshot, binding)));
            }
            if !binding.policies.is_empty() {
                policies.push((name, decision(snapshot, binding)));
            }
        }
    }
    let width = narrowed.iter().chain(&policies).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, text): (String, String)| format!("{name:width$}  {text}");
    rows.extend(narrowed.into_iter().map(|row| ("narrowed", line(row))));
    rows.extend(policies.into_iter().map(|row| ("policies", line(row))));
    let mut last = "";
    for (heading, row) in rows {
        let shown = if heading == last { "" } else { heading };
        last = heading;
        let row = format!("  {shown:8} {row}");
        // A log keeps whole lines; a screen shows the rest with `show`.
        let row = if context.io.interactive { cut(&row) } else { row.trim_end().to_owned() };
        writeln!(context.io.stdout, "{row}")?;
    }
    Ok(())
}
