//! References inside a schema that is still JSON, and moving a schema to another place in a document.

use serde_json::{Map, Value};

use crate::keyword::{each_subschema, map_subschemas};

/// Keywords that file schemas away by name.
pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords that make references mean something else depending on where they stand.
const IDENTITIES: [&str; 8] = [
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$dynamicRef",
    "$recursiveRef",
    "$vocabulary",
];

/// Calls `see` on the text of each reference in schema position.
pub(super) fn each(schema: &Value, see: &mut impl FnMut(&str)) {
    if let Value::Object(object) = schema {
        for keyword in REFERENCES {
            if let Some(Value::String(reference)) = object.get(keyword) {
                see(reference);
            }
        }
        each_subschema(object, |value| each(value, see));
    }
}

pub(super) fn has_any(schema: &Value) -> bool {
    let mut found = false;
    each(schema, &mut |_| found = true);
    found
}

/// Whether every reference is a pointer into `$defs` or `definitions`, so that the schema around them may change.
pub(super) fn only_to_definitions(schema: &Value) -> bool {
    let mut only = true;
    each(schema, &mut |reference| {
        let steps = reference.strip_prefix("#/$defs/").or_else(|| reference.strip_prefix("#/definitions/"));
        only &= steps.is_some_and(|name| !name.contains('/'));
    });
    only
}

/// Whether every reference points somewhere below `$defs` or `definitions`, so that the schema around them may change as
/// long as they stay as they are.
pub(super) fn only_below_definitions(schema: &Value) -> bool {
    let mut only = true;
    each(schema, &mut |reference| {
        only &= reference.starts_with("#/$defs/") || reference.starts_with("#/definitions/");
    });
    only
}

/// Whether every reference leads to a definition, by pointer, by an anchor in one or by its identifier, and the schema around the
/// definitions may change as long as they stay as they are.
pub(super) fn lead_to_definitions(schema: &Value) -> bool {
    let mut around = schema.clone();
    if let Some(object) = around.as_object_mut() {
        object.retain(|keyword, _| !DEFINITIONS.contains(&keyword.as_str()));
    }
    let mut only = !has_identity(&around);
    each(schema, &mut |reference| {
        let is_anchor = reference.starts_with('#') && reference.len() > 1 && !reference.starts_with("#/");
        // What is around the definitions has no identifier, so one that is referred to is in them.
        let is_identifier = !reference.is_empty() && !reference.starts_with('#');
        only &= is_anchor
            || is_identifier
            || reference.starts_with("#/$defs/")
            || reference.starts_with("#/definitions/");
    });
    only
}

/// Whether the schema names itself or a part of itself.
pub(super) fn has_identity(schema: &Value) -> bool {
    let Value::Object(object) = schema else { return false };
    let mut found =
        object.iter().any(|(keyword, value)| IDENTITIES.contains(&keyword.as_str()) && !value.is_object());
    each_subschema(object, |value| found |= has_identity(value));
    found
}

/// The schema without its own identifier, where nothing refers to it.
pub(super) fn without_name(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let mut only_local = true;
    each(&schema, &mut |reference| only_local &= reference.starts_with('#'));
    if only_local && let Some(object) = schema.as_object_mut() {
        for keyword in ["$id", "id"] {
            if object.get(keyword).and_then(Value::as_str).is_some_and(|name| !name.contains('#')) {
                object.remove(keyword);
            }
        }
    }
    schema
}

/// The schema as it reads when it stands at `pointer` of another document.
pub(super) fn moved(schema: &Value, pointer: &str) -> Value {
    let Value::Object(object) = schema else { return schema.clone() };
    let mut object = map_subschemas(object, |value| moved(value, pointer));
    for keyword in REFERENCES {
        let moved = object.get(keyword).and_then(Value::as_str).and_then(|reference| {
            let inside =
                reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
            Some(Value::String(format!("#{pointer}{inside}")))
        });
        if let Some(moved) = moved {
            object.insert(keyword.to_owned(), moved);
        }
    }
    Value::Object(object)
}

/// The definitions of both, unless they use one name for two things.
pub(super) fn joined_definitions(
    left: &Map<String, Value>,
    right: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let mut joined = left.clone();
    for (name, value) in right {
        match left.get(name) {
            Some(other) if other != value => return None,
            Some(_) => {}
            None => {
                joined.insert(name.clone(), value.clone());
            }
        }
    }
    Some(joined)
}
