//! References inside a schema that is still JSON.

use serde_json::Value;

use crate::keyword::each_subschema;

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

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
