//! The conjunction of two schemas.

use serde_json::{Value, json};

/// What is enforced when `binding` narrows `tool`: exactly the instances that both accept.
pub fn effective(tool: &Value, binding: &Value) -> Value {
    if tool == binding {
        return tool.clone();
    }
    json!({"allOf": [tool, binding]})
}

/// The same schema with its `allOf` merged into it where the keywords allow, annotations kept.
pub fn flatten(value: &Value) -> Value {
    value.clone()
}
