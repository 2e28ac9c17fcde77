//! The arguments that a schema declares, as far as it says so plainly.

use std::collections::BTreeSet;

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
