//! Bounds on a schema, checked before anything recurses into it.

use serde_json::Value;

use crate::error::{SchemaError, SchemaErrorKind};
use crate::node::escaped;

/// Levels of JSON nesting. Every later walk recurses at most this deep into the document.
const MAX_DEPTH: u32 = 192;

/// JSON values in a schema.
const MAX_VALUES: u32 = 2_000_000;

/// Nodes in a graph.
pub(super) const MAX_NODES: u32 = 1_000_000;

pub(super) fn measure(value: &Value) -> Result<(), SchemaError> {
    let mut n_values = 0;
    count(value, MAX_DEPTH, &mut n_values)
}

/// Whether the value can be compiled, or walked, at all.
pub(crate) fn is_within_limits(value: &Value) -> bool {
    measure(value).is_ok()
}

fn count(value: &Value, depth: u32, n_values: &mut u32) -> Result<(), SchemaError> {
    *n_values += 1;
    if *n_values > MAX_VALUES {
        let message = "the schema holds too many values to compare: split it";
        return Err(SchemaError::new(SchemaErrorKind::TooLarge, "", message));
    }
    let Some(depth) = depth.checked_sub(1) else {
        let message =
            format!("the schema is nested more than {MAX_DEPTH} levels deep: move parts into `$defs`");
        return Err(SchemaError::new(SchemaErrorKind::TooDeep, "", message));
    };
    match value {
        Value::Array(items) => items.iter().enumerate().try_for_each(|(at, item)| {
            count(item, depth, n_values).map_err(|error| below(&at.to_string(), error))
        }),
        Value::Object(object) => object.iter().try_for_each(|(name, item)| {
            count(item, depth, n_values).map_err(|error| below(&escaped(name), error))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// The error of a part, seen from what holds it.
fn below(step: &str, error: SchemaError) -> SchemaError {
    SchemaError { pointer: format!("/{step}{}", error.pointer), ..error }
}
