//! How large a value is, so that building and copying it can be paid for.
//!
//! Counts multiply where schemas nest: three times `minItems: 300` is 27 million items in thirty bytes of schema. So a value
//! is measured before it is copied, every copy is charged to the budget, and none is put together beyond [`MAX_SIZE`].

use serde_json::Value;

/// The largest array or object put together: 100,000 values, or a megabyte of text.
pub(crate) const MAX_SIZE: usize = 100_000;

/// Bytes of text that count as one value.
pub(crate) const TEXT_PER_VALUE: usize = 10;

/// The values in `value`, itself with them, and its text in [`TEXT_PER_VALUE`].
pub(crate) fn size(value: &Value) -> usize {
    let inside = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len() / TEXT_PER_VALUE,
        Value::Array(items) => items.iter().fold(0, |sum, item| sum + size(item)),
        Value::Object(object) => {
            object.iter().fold(0, |sum, (name, value)| sum + name.len() / TEXT_PER_VALUE + size(value))
        }
    };
    inside + 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_values_and_text() {
        assert_eq!(size(&json!(null)), 1);
        assert_eq!(size(&json!([1, [2, 3]])), 5);
        assert_eq!(size(&json!("x".repeat(1_000))), 101);
        assert_eq!(size(&json!({"n".repeat(30): "x".repeat(20)})), 7);
    }
}
