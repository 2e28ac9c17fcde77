//! `why`: who asked for a version, and what was passed over.

use std::collections::BTreeSet;

use bailiwick_bundles::{Diagnostic, code, nearest};
use serde_json::{Value, json};

use super::super::args::{Format, WhyArgs};
use super::super::report::write_json;
use super::super::{CliError, Context};
use crate::lock::LOCK_FILE;
use crate::pipeline::{LockMode, OpenCatalogs, compile};
use crate::resolve::Choice;

pub(in super::super) fn why(context: &mut Context<'_, '_>, args: &WhyArgs) -> Result<u8, CliError> {
    let compilation = compile(
        &mut context.session,
        &mut OpenCatalogs::default(),
        &args.bundle,
        &context.io.cwd,
        &LockMode::Keep,
    );
    let Some(resolved) = compilation.resolved else { return context.fail() };
    let wanted = args.reference.split('@').next().unwrap_or_default();
    let choices: Vec<&Choice> =
        resolved.choices.iter().filter(|choice| choice.id.to_string() == wanted).collect();
    if choices.is_empty() {
        let names: BTreeSet<String> = resolved.choices.iter().map(|choice| choice.id.to_string()).collect();
        let near =
            nearest(wanted, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
        let message = format!("nothing in the bundle refers to `{wanted}`");
        context.session.push(Diagnostic::new(&code::REF_NOT_FOUND, message).maybe_help(near));
        return context.fail();
    }
    context.say_beside()?;
    let lock = resolved.bundle.folder.display(LOCK_FILE);
    match context.format {
        Format::Json => {
            let rows: Vec<Value> = choices.iter().map(|choice| row(context, choice)).collect();
            write_json(context.io.stdout, &json!({ "id": wanted, "choices": rows }))?;
        }
        Format::Human => {
            for choice in choices {
                print(context, choice, &lock)?;
            }
        }
    }
    Ok(context.exit())
}

fn asked(context: &Context<'_, '_>, choice: &Choice) -> Vec<String> {
    let places = choice.asked_at.iter().filter_map(|origin| context.session.origins.span(*origin));
    let mut places: Vec<String> = places.map(|span| context.session.sources.place(span)).collect();
    places.sort();
    places.dedup();
    places
}

fn print(context: &mut Context<'_, '_>, choice: &Choice, lock: &str) -> Result<(), CliError> {
    let places = asked(context, choice);
    let out = &mut *context.io.stdout;
    writeln!(out, "{} {}", choice.id, choice.version)?;
    let constraint = choice.constraint.as_deref().unwrap_or(if choice.by_name { "*" } else { "by path" });
    for place in places {
        writeln!(out, "  asked for by  {place}  {constraint}")?;
    }
    writeln!(out, "  found in      {}", choice.home)?;
    if !choice.passed_over.is_empty() {
        let words: Vec<String> =
            choice.passed_over.iter().map(|passed| format!("{} {}", passed.version, passed.why)).collect();
        writeln!(out, "  passed over   {}", words.join(" · "))?;
    }
    if choice.locked {
        writeln!(out, "  locked by     {lock}")?;
    }
    if let Some(from) = &choice.moved_from {
        writeln!(out, "  moved from    {from}, which the lock had")?;
    }
    writeln!(out, "  content       {}", choice.content_hash)?;
    Ok(())
}

fn row(context: &Context<'_, '_>, choice: &Choice) -> Value {
    let passed: Vec<Value> = choice
        .passed_over
        .iter()
        .map(|passed| json!({ "version": passed.version, "why": passed.why }))
        .collect();
    json!({
        "kind": choice.kind.as_str().to_lowercase(),
        "version": choice.version,
        "constraint": choice.constraint,
        "from": choice.home.to_string(),
        "asked_for_by": asked(context, choice),
        "passed_over": passed,
        "locked": choice.locked,
        "moved_from": choice.moved_from,
        "content_hash": choice.content_hash,
    })
}
