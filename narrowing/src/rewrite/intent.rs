//! What an author means by a partial schema.

use serde_json::{Map, Value, json};

use super::modern::modern;
use super::references::{self, DEFINITIONS};
use crate::compile::is_within_limits;
use crate::dialect::Dialect;
use crate::keyword::{is_annotation, is_structure};

/// `binding` with what it leaves out taken from `tool`.
///
/// An assertion that `binding` does not make at a place where `tool` makes it is inherited; what `binding` states
/// stands. A property that only `tool` declares is inherited unless `binding` closes the object. `allOf`, `anyOf`,
/// `oneOf`, `not`, `$ref` and `if` (with `then` and `else`) count as one keyword each, and so do `enum` and `const`
/// together. Where the two are written in drafts that cannot be brought together, or anchors and identifiers keep a
/// reference from being followed, nothing is inherited.
///
/// A definition is a name and no place: what `binding` defines is what its own references mean, and what is inherited
/// keeps pointing to what `tool` defines, whatever the two call it. A name that only `tool` defines serves both.
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
    let (tool, named) = (&references::without_name(tool), binding);
    let binding = &references::without_name(binding);
    if from == to {
        return complete(tool, binding, to);
    }
    match (modern(tool), modern(binding)) {
        (Some(tool), Some(binding)) => complete(&tool, &binding, Dialect::Draft2020),
        (None, _) | (_, None) => named.clone(),
    }
}

fn complete(tool: &Value, binding: &Value, dialect: Dialect) -> Value {
    if keeps_its_references(tool, binding) {
        return fill(tool, binding, dialect);
    }
    if references::has_identity(tool) || references::has_identity(binding) {
        return if states_nothing(binding) { tool.clone() } else { binding.clone() };
    }
    // The references of the tool lead into a copy of it, which nothing of the binding touches.
    let keyword = if dialect <= Dialect::Draft07 { "definitions" } else { "$defs" };
    let defined = |schema: &Value, name: &str| schema.get(keyword).is_some_and(|all| all.get(name).is_some());
    let mut name = "tool".to_owned();
    while defined(tool, &name) || defined(binding, &name) {
        name.push('_');
    }
    let moved = references::moved(tool, &format!("/{keyword}/{name}"));
    let mut filled = fill(&moved, binding, dialect);
    let (Value::Object(whole), Value::Object(mut copy)) = (&mut filled, moved) else { return filled };
    copy.remove("$schema");
    let definitions = whole.entry(keyword.to_owned()).or_insert_with(|| json!({}));
    if let Some(definitions) = definitions.as_object_mut() {
        definitions.insert(name, Value::Object(copy));
    }
    filled
}

/// Whether every reference of `tool` means in the completed binding what it means in `tool`.
fn keeps_its_references(tool: &Value, binding: &Value) -> bool {
    if !references::has_any(tool) {
        return true;
    }
    let definitions = |schema: &Value, keyword: &str| {
        schema.get(keyword).and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let agree = DEFINITIONS.iter().all(|keyword| {
        let (theirs, ours) = (definitions(tool, keyword), definitions(binding, keyword));
        references::joined_definitions(&theirs, &ours).is_some()
    });
    agree && references::lead_to_definitions(tool) && !references::has_identity(binding)
}

fn fill(tool: &Value, binding: &Value, dialect: Dialect) -> Value {
    if *tool == false && states_nothing(binding) {
        return tool.clone();
    }
    let (Value::Object(from), Value::Object(stated)) = (tool, binding) else {
        return binding.clone();
    };
    if dialect <= Dialect::Draft07 && from.contains_key("$ref") != stated.contains_key("$ref") {
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
                ("patternProperties", Value::Object(theirs), Value::Object(ours)) => {
                    Value::Object(fill_fields(theirs, ours, false, dialect))
                }
                ("$defs" | "definitions", Value::Object(theirs), Value::Object(ours)) => {
                    let mut all = theirs.clone();
                    all.extend(ours.clone());
                    Value::Object(all)
                }
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

fn states_nothing(schema: &Value) -> bool {
    schema.as_object().is_some_and(|stated| stated.keys().all(|keyword| says_nothing(keyword)))
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
