//! `narrow`: two schemas, compared without a bundle around them.
//!
//! Exit codes: 0 contained; 1 escapes, undecided, or a schema with a fault; 3 where a file cannot be read.

mod batch;

use bailiwick_bundles::{Diagnostic, Folder, SchemaSource, code};
use bailiwick_narrowing::{Budget, Reason, Side, Verdict, Witness, contains};
use camino::Utf8Path;
use serde_json::{Map, Value, json};

use super::super::args::{Format, NarrowArgs};
use super::super::report::write_json;
use super::super::{CliError, Context};

pub(in super::super) fn narrow(context: &mut Context<'_, '_>, args: &NarrowArgs) -> Result<u8, CliError> {
    if let Some(batch) = &args.batch {
        return batch::run(context, batch);
    }
    let (Some(outer), Some(inner)) = (&args.outer, &args.inner) else { return Ok(2) };
    let (outer, inner) = match (read_schema(context, outer), read_schema(context, inner)) {
        (Ok(outer), Ok(inner)) => (outer, inner),
        (Err(Unread::File), _) | (_, Err(Unread::File)) => return Ok(context.fail()?.max(3)),
        (Err(Unread::Content), _) | (_, Err(Unread::Content)) => return context.fail(),
    };
    // A schema that was read with a fault is not the one that was written.
    if context.session.diagnostics.iter().any(Diagnostic::is_error) {
        return context.fail();
    }
    let nowhere = crate::origin::Origin::NOWHERE;
    let compiled = (context.session.compile(&outer, nowhere), context.session.compile(&inner, nowhere));
    let (Some(compiled_outer), Some(compiled_inner)) = compiled else { return context.fail() };
    context.say_beside()?;
    let verdict = contains(&compiled_outer, &compiled_inner, &Budget::default());
    match context.format {
        Format::Json => write_json(context.io.stdout, &Value::Object(verdict_json(&verdict)))?,
        Format::Human => print(context, &verdict, &outer, &inner, args.explain)?,
    }
    Ok(u8::from(!matches!(verdict, Verdict::Contained(_))))
}

/// Why there is no schema. What it is was said.
enum Unread {
    /// The file cannot be read.
    File,
    /// What it holds is no schema.
    Content,
}

/// The schema in a JSON or YAML file.
fn read_schema(context: &mut Context<'_, '_>, path: &Utf8Path) -> Result<SchemaSource, Unread> {
    let name = path.file_name().unwrap_or_default();
    let parent = path.parent().unwrap_or(Utf8Path::new(""));
    let folder = Folder::open_as(&context.io.cwd.join(parent), parent).map_err(|fault| {
        context.session.file_fault(&fault, path.as_str(), None);
        Unread::File
    })?;
    let Some(read) = context.session.read(&folder, name, None) else { return Err(Unread::File) };
    let nodes = context.session.parse(&folder, name, None).and_then(|read| read.nodes);
    match nodes.as_ref().map_or(&[][..], |nodes| nodes.as_slice()) {
        [node] => Ok(context.session.bundle_schema(&folder, name, node)),
        // Where the text is at fault, that says it all.
        _ if context.session.has_said(read.file) => Err(Unread::Content),
        _ => {
            let span = bailiwick_bundles::Span::of_file(read.file);
            let message = format!("`{path}` does not hold one schema");
            context.session.push(Diagnostic::new(&code::INVALID_SCHEMA, message).label(span, ""));
            Err(Unread::Content)
        }
    }
}

/// `contract.json:1  /properties/amount`: where something of a schema is written, and its JSON pointer.
fn place(context: &Context<'_, '_>, source: &SchemaSource, pointer: &str) -> String {
    let shown = if pointer.is_empty() { "the whole schema".to_owned() } else { format!("`{pointer}`") };
    match source.span(pointer) {
        Some(span) => format!("{}  {shown}", context.session.sources.place(span)),
        None => shown,
    }
}

fn print(
    context: &mut Context<'_, '_>,
    verdict: &Verdict,
    outer: &SchemaSource,
    inner: &SchemaSource,
    explain: bool,
) -> Result<(), CliError> {
    match verdict {
        Verdict::Contained(proof) => {
            writeln!(context.io.stdout, "contained: whatever the inner schema accepts, the outer one does")?;
            for rule in proof.rules().iter().filter(|_| explain) {
                let (source, of) = match rule.side {
                    Side::Outer => (outer, ""),
                    Side::Inner => (inner, "  (the inner schema)"),
                };
                let place = place(context, source, &rule.pointer);
                writeln!(context.io.stdout, "  {:24} {place}{of}", rule.name)?;
            }
        }
        Verdict::Escapes(witness) => print_witness(context, witness, outer, inner)?,
        Verdict::Undecided(reason) => print_reason(context, reason, outer, inner)?,
    }
    Ok(())
}

fn print_witness(
    context: &mut Context<'_, '_>,
    witness: &Witness,
    outer: &SchemaSource,
    inner: &SchemaSource,
) -> Result<(), CliError> {
    let offence = witness.offence();
    writeln!(context.io.stdout, "escapes: {}", witness.instance())?;
    let at = match offence.instance_path.as_str() {
        "" => String::new(),
        path if path.split('/').skip(1).any(str::is_empty) => format!(" at `{path}` (with an empty name)"),
        path => format!(" at `{path}`"),
    };
    let by = if offence.keyword.is_empty() { String::new() } else { format!(" by `{}`", offence.keyword) };
    writeln!(context.io.stdout, "  rejected{by}{at}: {}", offence.message)?;
    let rejected = place(context, outer, &offence.outer_pointer);
    writeln!(context.io.stdout, "    {rejected}")?;
    if let Some(pointer) = &offence.inner_pointer {
        let accepted = place(context, inner, pointer);
        writeln!(context.io.stdout, "  accepted by\n    {accepted}")?;
    }
    Ok(())
}

fn print_reason(
    context: &mut Context<'_, '_>,
    reason: &Reason,
    outer: &SchemaSource,
    inner: &SchemaSource,
) -> Result<(), CliError> {
    writeln!(context.io.stdout, "undecided: {}", reason.message)?;
    let places = [(&reason.outer_pointer, outer, "outer"), (&reason.inner_pointer, inner, "inner")];
    for (pointer, source, name) in places {
        let Some(pointer) = pointer else { continue };
        let place = place(context, source, pointer);
        writeln!(context.io.stdout, "  {name}  {place}")?;
    }
    writeln!(context.io.stdout, "  help: {}", reason.advice)?;
    Ok(())
}

fn verdict_json(verdict: &Verdict) -> Map<String, Value> {
    match verdict {
        Verdict::Contained(proof) => {
            let rules: Vec<Value> = proof
                .rules()
                .iter()
                .map(|rule| match rule.side {
                    Side::Outer => json!({ "rule": rule.name, "outer": rule.pointer }),
                    Side::Inner => json!({ "rule": rule.name, "inner": rule.pointer }),
                })
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
