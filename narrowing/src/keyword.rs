//! Where subschemas live, and which keywords say nothing about an instance.
//!
//! Every walk over a schema as JSON goes through this table, so that data (`enum`, `const`, `default`, property names)
//! is never mistaken for a schema.

use serde_json::{Map, Value};

/// How the value of a keyword holds subschemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// No subschemas.
    Nothing,
    /// One schema.
    One,
    /// One schema, or a list of schemas (`items` before 2020-12).
    OneOrList,
    /// A list of schemas.
    List,
    /// Schemas by name.
    Map,
    /// Schemas or lists of names, by name (`dependencies`).
    MapOrNames,
}

pub(crate) fn holds(keyword: &str) -> Holds {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::One,
        "items" => Holds::OneOrList,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => Holds::Map,
        "dependencies" => Holds::MapOrNames,
        _ => Holds::Nothing,
    }
}

/// Keywords that describe and never assert. `format` and the `content*` family are not among them: some drafts assert
/// them.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "$comment"
            | "default"
            | "deprecated"
            | "description"
            | "example"
            | "examples"
            | "readOnly"
            | "title"
            | "writeOnly"
    ) || keyword.starts_with("x-")
}

/// Keywords that name or file away schemas and say nothing about an instance by themselves.
pub(crate) fn is_structure(keyword: &str) -> bool {
    matches!(
        keyword,
        "$anchor"
            | "$defs"
            | "$dynamicAnchor"
            | "$id"
            | "$recursiveAnchor"
            | "$schema"
            | "$vocabulary"
            | "definitions"
            | "id"
    )
}

/// The same schema with `change` applied to each direct subschema.
pub(crate) fn map_subschemas(
    object: &Map<String, Value>,
    mut change: impl FnMut(&Value) -> Value,
) -> Map<String, Value> {
    object
        .iter()
        .map(|(keyword, value)| {
            let changed = match (holds(keyword), value) {
                (Holds::One | Holds::OneOrList, Value::Object(_) | Value::Bool(_)) => change(value),
                (Holds::List | Holds::OneOrList, Value::Array(list)) => {
                    list.iter().map(&mut change).collect()
                }
                (Holds::Map, Value::Object(map)) => {
                    Value::Object(map.iter().map(|(name, value)| (name.clone(), change(value))).collect())
                }
                (Holds::MapOrNames, Value::Object(map)) => Value::Object(
                    map.iter()
                        .map(|(name, value)| {
                            (name.clone(), if value.is_array() { value.clone() } else { change(value) })
                        })
                        .collect(),
                ),
                _ => value.clone(),
            };
            (keyword.clone(), changed)
        })
        .collect()
}

/// Calls `see` on each direct subschema.
pub(crate) fn each_subschema<'a>(object: &'a Map<String, Value>, mut see: impl FnMut(&'a Value)) {
    for (keyword, value) in object {
        match (holds(keyword), value) {
            (Holds::One | Holds::OneOrList, Value::Object(_) | Value::Bool(_)) => see(value),
            (Holds::List | Holds::OneOrList, Value::Array(list)) => list.iter().for_each(&mut see),
            (Holds::Map, Value::Object(map)) => map.values().for_each(&mut see),
            (Holds::MapOrNames, Value::Object(map)) => {
                map.values().filter(|value| !value.is_array()).for_each(&mut see);
            }
            _ => {}
        }
    }
}
