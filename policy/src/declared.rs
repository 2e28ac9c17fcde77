//! What a schema declares of arguments, as far as it says so plainly.
//!
//! Up to draft 07 nothing beside a `$ref` counts, so nothing there is plain in any draft.

use std::collections::BTreeSet;

use bailiwick_bundles::documents::phrony::{FieldPath, Step};
use serde_json::Value;

/// Keywords beside which `properties` and `required` name all arguments that a schema declares.
const PLAIN: [&str; 20] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "additionalProperties",
    "default",
    "definitions",
    "deprecated",
    "description",
    "example",
    "examples",
    "id",
    "maxProperties",
    "minProperties",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
    "unevaluatedProperties",
];

/// The arguments that a schema declares; `None` where a keyword could declare others, one that is not known included.
pub fn declared_arguments(schema: &Value) -> Option<BTreeSet<&str>> {
    let object = schema.as_object()?;
    let is_plain = |keyword: &String| PLAIN.contains(&keyword.as_str()) || keyword.starts_with("x-");
    // A schema for further properties declares them, whatever their names.
    let declares_more = |keyword| object.get(keyword).is_some_and(Value::is_object);
    if !object.keys().all(is_plain)
        || ["additionalProperties", "unevaluatedProperties"].into_iter().any(declares_more)
    {
        return None;
    }
    let properties = object.get("properties").and_then(Value::as_object);
    let required = object.get("required").and_then(Value::as_array);
    let named = properties.into_iter().flatten().map(|(name, _)| name.as_str());
    Some(named.chain(required.into_iter().flatten().filter_map(Value::as_str)).collect())
}

/// The schema's `type` of what is at `path`, along `properties`.
pub(crate) fn declared_type<'s>(input: &'s Value, path: &FieldPath) -> Option<&'s str> {
    let declared = path.steps().iter().try_fold(input, |schema, step| match step {
        Step::Name(name) => plain(schema)?.get("properties")?.get(name),
        Step::Each => None,
    });
    plain(declared?)?.get("type")?.as_str()
}

/// Whether the schema requires every step of `path`.
pub(crate) fn is_required(input: &Value, path: &FieldPath) -> bool {
    let inside = path.steps().iter().try_fold(input, |schema, step| {
        let Step::Name(name) = step else { return None };
        let schema = plain(schema)?;
        let requires = schema.get("required").and_then(Value::as_array)?;
        let is_here = schema.get("type").and_then(Value::as_str) == Some("object")
            && requires.iter().any(|known| known == name.as_str());
        let inside = schema.get("properties").and_then(|properties| properties.get(name));
        is_here.then(|| inside.unwrap_or(&Value::Null))
    });
    inside.is_some()
}

fn plain(schema: &Value) -> Option<&Value> {
    schema.get("$ref").is_none().then_some(schema)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_known_only_where_nothing_else_could_declare_some() {
        let named = json!({ "type": "object", "properties": { "a": {} }, "required": ["b"], "x-note": 1 });
        assert_eq!(declared_arguments(&named), Some(BTreeSet::from(["a", "b"])));
        for (keyword, value) in [
            ("anyOf", json!([])),
            ("dependencies", json!({})),
            ("dependentRequired", json!({})),
            ("propertyNames", json!({ "enum": ["c"] })),
            ("additionalProperties", json!({ "type": "number" })),
            ("unheardOf", json!(1)),
        ] {
            let mut schema = named.clone();
            schema[keyword] = value;
            assert_eq!(declared_arguments(&schema), None, "{keyword}");
        }
    }
}
