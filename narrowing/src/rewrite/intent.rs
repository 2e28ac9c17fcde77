//! What an author means by a partial schema.

use serde_json::{Map, Value, json};

use super::modern::modern;
use super::references;
use crate::compile::is_within_limits;
use crate::dialect::Dialect;
use crate::keyword::{is_annotation, is_structure};

/// `binding` with what it leaves out taken from `tool`.
///
/// An assertion that `binding` does not make at a place where `tool` makes it is inherited; what `binding` states
/// stands. A property that only `tool` declares is inherited unless `binding` closes the object. `allOf`, `anyOf`,
/// `oneOf`, `not` and `if` (with `then` and `else`) count as one keyword each, and so do `enum` and `const` together.
/// Where the two are written in drafts that cannot be brought together, nothing is inherited.
///
/// ```
/// use bailiwick_narrowing::intent;
/// use serde_json::json;
///
/// let tool = json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}, "m": {"type": "string"}}});
/// let binding = json!({"properties": {"n": {"maximum": 3}}, "additionalProperties": false});
/// assert_eq!(
///     intent(&tool, &binding),
///     json!({
///         "type": "object",
///         "properties": {"n": {"type": "integer", "maximum": 3}},
///         "additionalProperties": false,
///     })
/// );
/// ```
pub fn intent(tool: &Value, binding: &Value) -> Value {
    if !is_within_limits(tool) || !is_within_limits(binding) {
        return binding.clone();
    }
    let (Ok(from), Ok(to)) = (Dialect::of(tool), Dialect::of(binding)) else { return binding.clone() };
    let tool = &references::without_name(tool);
    if from == to {
        return fill(tool, binding, to);
    }
    match (modern(tool), modern(&references::without_name(binding))) {
        (Some(tool), Some(binding)) => fill(&tool, &binding, Dialect::Draft2020),
        (None, _) | (_, None) => binding.clone(),
    }
}

fn fill(tool: &Value, binding: &Value, dialect: Dialect) -> Value {
    if *tool == false
        && binding.as_object().is_some_and(|stated| stated.keys().all(|keyword| says_nothing(keyword)))
    {
        return tool.clone();
    }
    let (Value::Object(from), Value::Object(stated)) = (tool, binding) else {
        return binding.clone();
    };
    if dialect <= Dialect::Draft07 && from.get("$ref") != stated.get("$ref") {
        return fill_beside_reference(from, stated, dialect);
    }
    let mut filled = stated.clone();
    for (keyword, inherited) in from {
        let value = match stated.get(keyword) {
            None if inherits(keyword, stated) => inherited.clone(),
            None => continue,
            Some(own) => match (keyword.as_str(), inherited, own) {
                ("properties", Value::Object(theirs), Value::Object(ours)) => {
                    Value::Object(fill_fields(theirs, ours, is_closed(stated), dialect))
                }
                (
                    "patternProperties" | "$defs" | "definitions",
                    Value::Object(theirs),
                    Value::Object(ours),
                ) => Value::Object(fill_fields(theirs, ours, false, dialect)),
                ("prefixItems" | "items", Value::Array(theirs), Value::Array(ours)) => {
                    let at = |number: usize, own| {
                        theirs
                            .get(number)
                            .map_or_else(|| Value::clone(own), |theirs| fill(theirs, own, dialect))
                    };
                    ours.iter().enumerate().map(|(number, own)| at(number, own)).collect()
                }
                ("items" | "additionalProperties", _, _) => fill(inherited, own, dialect),
                _ => continue,
            },
        };
        filled.insert(keyword.clone(), value);
    }
    Value::Object(filled)
}

/// In drafts where the neighbours of `$ref` say nothing, one side's `$ref` moves into `allOf`.
fn fill_beside_reference(from: &Map<String, Value>, stated: &Map<String, Value>, dialect: Dialect) -> Value {
    let apart = |object: &Map<String, Value>| {
        let mut object = object.clone();
        let Some(reference) = object.remove("$ref") else { return object };
        // What stood beside it said nothing, but definitions are still pointed to.
        object.retain(|keyword, _| says_nothing(keyword));
        object.insert("allOf".to_owned(), json!([{"$ref": reference}]));
        object
    };
    let (from, stated) = (apart(from), apart(stated));
    let mut filled = fill(&Value::Object(from.clone()), &Value::Object(stated.clone()), dialect);
    if let (Some(Value::Array(theirs)), Some(Value::Array(ours))) = (from.get("allOf"), stated.get("allOf"))
        && let Some(filled) = filled.as_object_mut()
    {
        let both: Vec<Value> = ours.iter().chain(theirs).cloned().collect();
        filled.insert("allOf".to_owned(), Value::Array(both));
    }
    filled
}

fn fill_fields(
    theirs: &Map<String, Value>,
    ours: &Map<String, Value>,
    is_closed: bool,
    dialect: Dialect,
) -> Map<String, Value> {
    let mut filled = ours.clone();
    for (name, inherited) in theirs {
        match ours.get(name) {
            Some(own) => {
                filled.insert(name.clone(), fill(inherited, own, dialect));
            }
            None if is_closed => {}
            None => {
                filled.insert(name.clone(), inherited.clone());
            }
        }
    }
    filled
}

fn is_closed(object: &Map<String, Value>) -> bool {
    ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|keyword| object.get(*keyword) == Some(&Value::Bool(false)))
}

fn says_nothing(keyword: &str) -> bool {
    is_structure(keyword) || is_annotation(keyword)
}

fn inherits(keyword: &str, stated: &Map<String, Value>) -> bool {
    let stated_any = |group: &[&str]| group.iter().any(|keyword| stated.contains_key(*keyword));
    if is_annotation(keyword)
        || (is_structure(keyword) && !matches!(keyword, "$defs" | "definitions" | "$schema"))
    {
        return false;
    }
    match keyword {
        "properties" => !is_closed(stated),
        "if" | "then" | "else" => !stated_any(&["if", "then", "else"]),
        "enum" | "const" => !stated_any(&["enum", "const"]),
        _ => true,
    }
}
