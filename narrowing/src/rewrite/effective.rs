//! The conjunction of two schemas.
//!
//! Law: the result accepts exactly what both accept. It is one flat schema where the keywords allow, since models read
//! flat schemas best; what cannot be merged stays beside the rest in `allOf`. Merging by keyword is in [`super::merge`].

use serde_json::{Map, Value, json};

use super::merge::{is_mergeable, merge, merge_in_place};
use super::modern::modern;
use super::references;
use crate::compile::is_within_limits;
use crate::dialect::Dialect;
use crate::keyword::map_subschemas;

/// What is enforced when `binding` narrows `tool`: exactly the instances that both accept.
///
/// Annotations of `binding` stand over those of `tool`. Both are expected to compile. Where they are written in different
/// drafts, one of which says what the other cannot (draft 04 `integer`, a format only one of them asserts), they are kept
/// apart as two documents in one; a validator may refuse such a document, and so may [`Schema::compile`].
///
/// [`Schema::compile`]: crate::Schema::compile
///
/// ```
/// use bailiwick_narrowing::effective;
/// use serde_json::json;
///
/// let tool = json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]});
/// let binding = json!({"properties": {"n": {"maximum": 3, "description": "few"}}});
/// assert_eq!(
///     effective(&tool, &binding),
///     json!({
///         "type": "object",
///         "properties": {"n": {"type": "integer", "maximum": 3, "description": "few"}},
///         "required": ["n"],
///     })
/// );
/// ```
pub fn effective(tool: &Value, binding: &Value) -> Value {
    if tool == binding {
        return tool.clone();
    }
    if !is_within_limits(tool) || !is_within_limits(binding) {
        // Too deep to walk; nothing will compile it.
        return json!({"allOf": [tool, binding]});
    }
    let (tool, binding) = (&references::without_name(tool), &references::without_name(binding));
    if Dialect::of(tool).ok() != Dialect::of(binding).ok() {
        return match (modern(tool), modern(binding)) {
            (Some(tool), Some(binding)) => in_one_dialect(&tool, &binding, Dialect::Draft2020),
            _ => apart(tool, binding),
        };
    }
    in_one_dialect(tool, binding, Dialect::of(tool).unwrap_or(Dialect::Draft2020))
}

fn in_one_dialect(tool: &Value, binding: &Value, dialect: Dialect) -> Value {
    let has_identity = references::has_identity(tool) || references::has_identity(binding);
    if has_identity {
        return apart(tool, binding);
    }
    // Merging takes the definitions over as they are, so what is below them stays where it is.
    let may_change = references::only_below_definitions;
    let merged = (may_change(tool) && may_change(binding)).then(|| merge(tool, binding, dialect)).flatten();
    merged.unwrap_or_else(|| moved_apart(tool, binding))
}

/// Both in `allOf`, their references following them.
fn moved_apart(tool: &Value, binding: &Value) -> Value {
    let mut whole = Map::new();
    let mut parts = Vec::new();
    for (at, schema) in [tool, binding].into_iter().enumerate() {
        let mut part = references::moved(schema, &format!("/allOf/{at}"));
        if let Some(dialect) = part.as_object_mut().and_then(|object| object.remove("$schema")) {
            whole.insert("$schema".to_owned(), dialect);
        }
        parts.push(part);
    }
    whole.insert("allOf".to_owned(), Value::Array(parts));
    Value::Object(whole)
}

/// Both in `allOf` as documents of their own, each with its identity and its dialect.
fn apart(tool: &Value, binding: &Value) -> Value {
    // A name that neither document can mean: one of them could give it to a part of its own.
    let texts = [tool, binding].map(|schema| schema.to_string().to_ascii_lowercase());
    let is_free = |prefix: &String| !texts.iter().any(|text| text.contains(prefix.as_str()));
    let numbered = (1_u64..).map(|n| format!("urn:bailiwick-{n}"));
    let free = std::iter::once("urn:bailiwick".to_owned()).chain(numbered).find(is_free);
    let prefix = free.unwrap_or_default();
    let document = |schema: &Value, name: &str| {
        let Value::Object(object) = schema else { return schema.clone() };
        let dialect = Dialect::of(schema).unwrap_or(Dialect::Draft2020);
        let mut object = object.clone();
        let keyword = if dialect == Dialect::Draft04 { "id" } else { "$id" };
        object.entry(keyword.to_owned()).or_insert_with(|| Value::String(format!("{prefix}:{name}")));
        object
            .entry("$schema".to_owned())
            .or_insert_with(|| json!("https://json-schema.org/draft/2020-12/schema"));
        Value::Object(object)
    };
    json!({"allOf": [document(tool, "tool"), document(binding, "binding")]})
}

/// The same schema with its `allOf` merged into it where the keywords allow, annotations kept.
///
/// ```
/// use bailiwick_narrowing::flatten;
/// use serde_json::json;
///
/// let schema = json!({"allOf": [{"type": "string"}, {"minLength": 1, "title": "name"}]});
/// assert_eq!(flatten(&schema), json!({"type": "string", "minLength": 1, "title": "name"}));
/// ```
pub fn flatten(value: &Value) -> Value {
    if !is_within_limits(value) {
        return value.clone();
    }
    let may_change = !references::has_identity(&references::without_name(value))
        && (!references::has_any(value) || references::only_to_definitions(value));
    match Dialect::of(value) {
        Ok(dialect) if may_change => flat(value, dialect),
        Ok(_) | Err(_) => value.clone(),
    }
}

fn flat(value: &Value, dialect: Dialect) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let mut object = map_subschemas(object, |value| flat(value, dialect));
    if !is_mergeable(&object, dialect) {
        return Value::Object(object);
    }
    let Some(Value::Array(parts)) = object.remove("allOf") else { return Value::Object(object) };
    let mut left_over = Vec::new();
    let mut whole = object;
    for part in parts {
        match merge_in_place(&whole, &part, dialect) {
            Some(Value::Object(merged)) => whole = merged,
            Some(_) | None => left_over.push(part),
        }
    }
    if !left_over.is_empty() {
        // A part merged before may have brought its own.
        if let Some(Value::Array(own)) = whole.remove("allOf") {
            left_over.extend(own);
        }
        whole.insert("allOf".to_owned(), Value::Array(left_over));
    }
    Value::Object(whole)
}
