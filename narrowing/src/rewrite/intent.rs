//! What an author means by a partial schema.

use serde_json::{Map, Value};

use crate::keyword::{is_annotation, is_structure};

/// `binding` with what it leaves out taken from `tool`.
///
/// An assertion that `binding` does not make at a place where `tool` makes it is inherited; what `binding` states
/// stands. A property that only `tool` declares is inherited unless `binding` closes the object. `allOf`, `anyOf`,
/// `oneOf`, `not` and `if` (with `then` and `else`) count as one keyword each, and so do `enum` and `const` together.
pub fn intent(tool: &Value, binding: &Value) -> Value {
    fill(tool, binding)
}

fn fill(tool: &Value, binding: &Value) -> Value {
    let (Value::Object(from), Value::Object(stated)) = (tool, binding) else {
        return binding.clone();
    };
    let mut filled = stated.clone();
    for (keyword, inherited) in from {
        let value = match stated.get(keyword) {
            None if inherits(keyword, stated) => inherited.clone(),
            None => continue,
            Some(own) => match (keyword.as_str(), inherited, own) {
                ("properties", Value::Object(theirs), Value::Object(ours)) => {
                    Value::Object(fill_properties(theirs, ours, is_closed(stated)))
                }
                (
                    "patternProperties" | "$defs" | "definitions",
                    Value::Object(theirs),
                    Value::Object(ours),
                ) => Value::Object(fill_properties(theirs, ours, false)),
                ("items" | "additionalProperties", _, _) => fill(inherited, own),
                _ => continue,
            },
        };
        filled.insert(keyword.clone(), value);
    }
    Value::Object(filled)
}

fn fill_properties(
    theirs: &Map<String, Value>,
    ours: &Map<String, Value>,
    closed: bool,
) -> Map<String, Value> {
    let mut filled = ours.clone();
    for (name, inherited) in theirs {
        match ours.get(name) {
            Some(own) => filled.insert(name.clone(), fill(inherited, own)),
            None if closed => None,
            None => filled.insert(name.clone(), inherited.clone()),
        };
    }
    filled
}

fn is_closed(object: &Map<String, Value>) -> bool {
    ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|keyword| object.get(*keyword) == Some(&Value::Bool(false)))
}

fn inherits(keyword: &str, stated: &Map<String, Value>) -> bool {
    let stated_any = |group: &[&str]| group.iter().any(|keyword| stated.contains_key(*keyword));
    if is_annotation(keyword) || (is_structure(keyword) && !matches!(keyword, "$defs" | "definitions")) {
        return false;
    }
    match keyword {
        "properties" => !is_closed(stated),
        "if" | "then" | "else" => !stated_any(&["if", "then", "else"]),
        "enum" | "const" => !stated_any(&["enum", "const"]),
        _ => true,
    }
}
