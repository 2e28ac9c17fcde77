//! The part of a schema that is enforced.

use std::collections::BTreeSet;

use serde_json::Value;

use super::references;
use crate::compile::is_within_limits;
use crate::keyword::{is_annotation, map_subschemas};

/// `value` without its annotations (`title`, `description`, `example`, `examples`, `default`, `$comment`, `deprecated`,
/// `readOnly`, `writeOnly`, `x-…`): accepts exactly the same instances. Two schemas with the same contract form make the
/// same promise, whatever they tell a reader.
///
/// Data is left alone: a property, a constant or an enum member named `title` stays. So does an annotation that a
/// `$ref` points into.
pub fn contract_form(value: &Value) -> Value {
    if !is_within_limits(value) {
        return value.clone();
    }
    let mut kept = BTreeSet::new();
    references::each(value, &mut |reference| {
        kept.extend(reference.split('/').skip(1).map(ToOwned::to_owned));
    });
    without_annotations(value, &kept)
}

fn without_annotations(value: &Value, kept: &BTreeSet<String>) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let mut object = map_subschemas(object, |value| without_annotations(value, kept));
    object.retain(|keyword, _| !is_annotation(keyword) || kept.contains(keyword));
    Value::Object(object)
}
