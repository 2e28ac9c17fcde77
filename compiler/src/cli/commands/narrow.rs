//! `narrow`: two schemas, compared without a bundle around them.

use std::time::Instant;

use bailiwick_bundles::{Diagnostic, Folder, SchemaSource, code};
use bailiwick_narrowing::{Budget, Reason, Schema, Verdict, contains};
use camino::Utf8Path;
use serde_json::{Map, Value, json};

use super::super::args::{Format, NarrowArgs};
use super::super::report::write_json;
use super::super::{CliError, Context};
use crate::write::plain;

pub(in super::super) fn narrow(context: &mut Context<'_, '_>, args: &NarrowArgs) -> Result<u8, CliError> {
    if let Some(batch) = &args.batch {
        return run_batch(context, batch);
    }
    let (Some(outer), Some(inner)) = (&args.outer, &args.inner) else { return Ok(2) };
    let (Some(outer), Some(inner)) = (read_schema(context, outer), read_schema(context, inner)) else {
        return context.fail();
    };
    // A schema that was read with a fault is not the one that was written.
    if !context.session.diagnostics.is_empty() {
        return context.fail();
    }
    let nowhere = crate::origin::Origin::NOWHERE;
    let compiled = (context.session.compile(&outer, nowhere), context.session.compile(&inner, nowhere));
    let (Some(compiled_outer), Some(compiled_inner)) = compiled else { return context.fail() };
    let verdict = contains(&compiled_outer, &compiled_inner, &Budget::default());
    match context.format {
        Format::Json => write_json(context.io.stdout, &Value::Object(verdict_json(&verdict)))?,
        Format::Human => print(context, &verdict, &outer, &inner, args.explain)?,
    }
    Ok(u8::from(!matches!(verdict, Verdict::Contained(_))))
}

/// The schema in a JSON or YAML file.
fn read_schema(context: &mut Context<'_, '_>, path: &Utf8Path) -> Option<SchemaSource> {
    let name = path.file_name().unwrap_or_default();
    let parent = path.parent().unwrap_or(Utf8Path::new(""));
    let folder = match Folder::open_as(&context.io.cwd.join(parent), parent) {
        Ok(folder) => folder,
        Err(fault) => {
            context.session.file_fault(&fault, path.as_str(), None);
            return None;
        }
    };
    let read = context.session.parse(&folder, name, None)?;
    match read.nodes?.as_slice() {
        [node] => Some(context.session.bundle_schema(&folder, name, node)),
        _ => {
            let span = bailiwick_bundles::Span::of_file(read.file);
            let message = format!("`{path}` does not hold one schema");
            context.session.push(Diagnostic::new(&code::INVALID_SCHEMA, message).label(span, ""));
            None
        }
    }
}

fn print(
    context: &mut Context<'_, '_>,
    verdict: &Verdict,
    outer: &SchemaSource,
    inner: &SchemaSource,
    explain: bool,
) -> Result<(), CliError> {
    let place = |context: &Context<'_, '_>, source: &SchemaSource, pointer: &str| {
        source
            .span(pointer)
            .map_or_else(|| format!("`{pointer}`"), |span| context.session.sources.place(span))
    };
    match verdict {
        Verdict::Contained(proof) => {
            writeln!(context.io.stdout, "contained: whatever the inner schema accepts, the outer one does")?;
            if explain {
                for rule in proof.rules() {
                    let place = place(context, outer, &rule.pointer);
                    writeln!(context.io.stdout, "  {:24} {place}", rule.name)?;
                }
            }
        }
        Verdict::Escapes(witness) => {
            let offence = witness.offence();
            writeln!(context.io.stdout, "escapes: {}", witness.instance())?;
            let at = if offence.instance_path.is_empty() {
                String::new()
            } else {
                format!(" at `{}`", offence.instance_path)
            };
            let rejected = place(context, outer, &offence.outer_pointer);
            writeln!(context.io.stdout, "  rejected by `{}`{at}  {rejected}", offence.keyword)?;
            if let Some(pointer) = &offence.inner_pointer {
                let accepted = place(context, inner, pointer);
                writeln!(context.io.stdout, "  accepted by  {accepted}")?;
            }
            if explain {
                writeln!(context.io.stdout, "  {}", offence.message)?;
            }
        }
        Verdict::Undecided(reason) => {
            writeln!(context.io.stdout, "undecided: {}", reason.message)?;
            if let Some(pointer) = &reason.outer_pointer {
                let place = place(context, outer, pointer);
                writeln!(context.io.stdout, "  `{}` of the outer schema  {place}", reason.keyword)?;
            }
            if let Some(pointer) = &reason.inner_pointer {
                let place = place(context, inner, pointer);
                writeln!(context.io.stdout, "  `{}` of the inner schema  {place}", reason.keyword)?;
            }
            writeln!(context.io.stdout, "  help: {}", reason.advice)?;
        }
    }
    Ok(())
}

fn verdict_json(verdict: &Verdict) -> Map<String, Value> {
    match verdict {
        Verdict::Contained(proof) => {
            let rules: Vec<Value> = proof
                .rules()
                .iter()
                .map(|rule| json!({ "rule": rule.name, "outer": rule.pointer }))
                .collect();
            object([("verdict", json!("contained")), ("proof", rules.into())])
        }
        Verdict::Escapes(witness) => {
            let offence = witness.offence();
            let offence = json!({
                "instance": offence.instance_path,
                "keyword": offence.keyword,
                "outer": offence.outer_pointer,
                "inner": offence.inner_pointer,
                "message": offence.message,
            });
            object([
                ("verdict", json!("escapes")),
                ("witness", witness.instance().clone()),
                ("offence", offence),
            ])
        }
        Verdict::Undecided(reason) => {
            object([("verdict", json!("undecided")), ("reason", reason_json(reason))])
        }
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn reason_json(reason: &Reason) -> Value {
    json!({
        "keyword": reason.keyword,
        "outer": reason.outer_pointer,
        "inner": reason.inner_pointer,
        "message": reason.message,
        "advice": reason.advice,
    })
}

/// Pairs as a JSON array or as JSON lines, each `{id, old, new}`: `new` is asked to be within `old`.
fn run_batch(context: &mut Context<'_, '_>, path: &Utf8Path) -> Result<u8, CliError> {
    let pairs = std::fs::read_to_string(context.io.cwd.join(path))
        .map_err(|error| plain(&error))
        .and_then(|text| read_pairs(&text));
    let pairs = match pairs {
        Ok(pairs) => pairs,
        Err(reason) => {
            let message = format!("`{path}` cannot be read: {reason}");
            context.session.push(
                Diagnostic::new(&code::UNREADABLE, message)
                    .help("a JSON array, or a JSON object a line, of `id`, `old`, `new`"),
            );
            return context.fail();
        }
    };
    let mut all_contained = true;
    for pair in &pairs {
        let begun = Instant::now();
        let mut row = compare(pair);
        let micros = begun.elapsed().as_secs_f64() * 1e6;
        all_contained &= row.get("verdict").is_some_and(|verdict| verdict == "contained");
        row.insert("id".into(), pair.get("id").cloned().unwrap_or_default());
        row.insert("micros".into(), json!((micros * 10.0).round() / 10.0));
        writeln!(context.io.stdout, "{}", Value::Object(row))?;
    }
    Ok(u8::from(!all_contained))
}

fn read_pairs(text: &str) -> Result<Vec<Value>, String> {
    let pairs: Result<Vec<Value>, serde_json::Error> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
    } else {
        text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
    };
    pairs.map_err(|error| format!("it is not JSON: {error}"))
}

fn compare(pair: &Value) -> Map<String, Value> {
    let compiled = |key: &str| {
        let value = pair.get(key).ok_or_else(|| format!("the pair has no `{key}`"))?;
        Schema::compile(value).map_err(|error| format!("`{key}`: {error}"))
    };
    match (compiled("old"), compiled("new")) {
        (Ok(outer), Ok(inner)) => {
            let mut row = verdict_json(&contains(&outer, &inner, &Budget::default()));
            row.remove("proof");
            row.remove("offence");
            row
        }
        (Err(reason), _) | (_, Err(reason)) => {
            Map::from_iter([("verdict".to_owned(), "invalid".into()), ("reason".to_owned(), reason.into())])
        }
    }
}
