//! `narrow`: two schemas, compared without a bundle around them.

use std::fmt;
use std::time::Instant;

use bailiwick_bundles::{Diagnostic, Folder, SchemaSource, code};
use bailiwick_narrowing::{Budget, Reason, Schema, Side, Verdict, contains};
use camino::Utf8Path;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
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
                    let (source, of) = match rule.side {
                        Side::Outer => (outer, ""),
                        Side::Inner => (inner, "  (the inner schema)"),
                    };
                    let place = place(context, source, &rule.pointer);
                    writeln!(context.io.stdout, "  {:24} {place}{of}", rule.name)?;
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
            let places = [(&reason.outer_pointer, outer, "outer"), (&reason.inner_pointer, inner, "inner")];
            for (pointer, source, name) in places {
                let Some(pointer) = pointer else { continue };
                let keyword = pointer.rsplit('/').next().filter(|step| !step.is_empty());
                let what = keyword.map_or_else(|| "all".to_owned(), |keyword| format!("`{keyword}`"));
                let place = place(context, source, pointer);
                writeln!(context.io.stdout, "  {what} of the {name} schema  {place}")?;
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
    if text.trim_start().starts_with('[') {
        let pairs: Result<Vec<Strict>, _> = serde_json::from_str(text);
        let pairs = pairs.map_err(|error| format!("it is not JSON as it should be: {error}"))?;
        return Ok(pairs.into_iter().map(|Strict(pair)| pair).collect());
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let read = |(number, line)| match serde_json::from_str(line) {
        Ok(Strict(pair)) => Ok(pair),
        Err(error) => Err(format!("line {number} is not JSON as it should be: {error}")),
    };
    lines.map(read).collect()
}

/// A JSON value in which no object has a key twice: which of the two counts, nobody could say.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            let Strict(value) = members.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
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

#[cfg(test)]
mod tests {
    use super::read_pairs;

    #[test]
    fn a_key_that_stands_twice_is_refused() {
        let check = |text: &str, expected: &str| {
            let fault = read_pairs(text).unwrap_err();
            assert!(fault.contains(expected), "{fault}");
        };
        check(
            "[{\"id\": 1, \"old\": {\"type\": \"string\", \"type\": \"null\"}, \"new\": {}}]",
            "the key `type` stands twice",
        );
        check("{\"id\": 1}\n\n{\"id\": 1, \"id\": 2}\n", "line 3");
        check("{\"id\": 1", "line 1");
        let pairs = read_pairs("{\"a\": [1, -1, 1.5, null, true, \"b\", {\"c\": {}}]}\n").unwrap();
        assert_eq!(pairs, [serde_json::json!({"a": [1, -1, 1.5, null, true, "b", {"c": {}}]})]);
    }
}
