//! Conditions as JSON Schemas.
//!
//! [`certainly_true`] accepts exactly the arguments for which a condition is true, [`certainly_false`] those for which
//! it is false; what neither accepts is unknown. So a question about policies is a question about schemas. They are
//! written for draft 2020-12, and `matches` has the meaning of `pattern`.

use bailiwick_bundles::documents::phrony::{Field, FieldPath, Step};
use serde_json::{Value, json};

use crate::comparison::{Leaf, Side, Test};
use crate::kind::Kind;
use crate::phase::Phase;
use crate::prepared::{PreparedCondition, Tree};

/// The arguments for which `condition` is true at `phase`, as a schema.
pub fn certainly_true(condition: &PreparedCondition, phase: Phase) -> Value {
    certainly(condition.tree(), phase, true)
}

/// The arguments for which `condition` is false at `phase`, as a schema.
pub fn certainly_false(condition: &PreparedCondition, phase: Phase) -> Value {
    certainly(condition.tree(), phase, false)
}

/// The arguments for which a comparison of what is at `path` is true or false, for one that compares single values.
pub(crate) fn known(leaf: &Leaf, path: &FieldPath) -> Value {
    somewhere(path.steps(), &json!({ "type": kinds(leaf) }))
}

/// The arguments that hold any value at `path`.
pub(crate) fn present(path: &FieldPath) -> Value {
    somewhere(path.steps(), &Value::Bool(true))
}

/// What `schema` accepts, and everything that is no object and so no call.
pub(crate) fn or_no_call(schema: &Value) -> Value {
    json!({ "anyOf": [{ "not": { "type": "object" } }, schema] })
}

fn kinds(leaf: &Leaf) -> Vec<&'static str> {
    Kind::ALL.into_iter().filter(|kind| leaf.compares(*kind)).map(Kind::name).collect()
}

fn certainly(tree: &Tree, phase: Phase, truth: bool) -> Value {
    let each = |inner: &[Tree]| inner.iter().map(|inner| certainly(inner, phase, truth)).collect();
    match (tree, truth) {
        (Tree::All(inner), true) | (Tree::Any(inner), false) => all_of(each(inner)),
        (Tree::All(inner), false) | (Tree::Any(inner), true) => any_of(each(inner)),
        (Tree::Not(inner), truth) => certainly(inner, phase, !truth),
        (Tree::Leaf(leaf), truth) => leaf_schema(leaf, phase, truth),
    }
}

fn leaf_schema(leaf: &Leaf, phase: Phase, truth: bool) -> Value {
    match &leaf.field {
        Field::Dispatch => {
            let holds = leaf.truth(&Value::Null, phase) == truth.into();
            Value::Bool(holds)
        }
        Field::Argument(path) => {
            let at_value = value_schema(leaf, truth);
            // Where the way ends early, only `exists` has an answer.
            let absent = matches!(leaf.test, Test::Exists(wanted) if wanted != truth);
            along(path.steps(), &at_value, truth, absent)
        }
    }
}

/// The values at the end of a way for which a comparison has this truth.
fn value_schema(leaf: &Leaf, truth: bool) -> Value {
    let negated_when = |flag: bool, kind: Value, schema: Value| {
        if flag { json!({ "type": kind, "not": schema }) } else { with_type(kind, schema) }
    };
    match &leaf.test {
        Test::Exists(wanted) => Value::Bool(*wanted == truth),
        Test::OneOf { values, negated } => {
            if *negated != truth {
                return json!({ "enum": values });
            }
            json!({ "type": kinds(leaf), "not": { "enum": values } })
        }
        Test::Bound { side, bound } => {
            let keyword = match (side, truth) {
                (Side::Above, true) | (Side::AtMost, false) => "exclusiveMinimum",
                (Side::AtLeast, true) | (Side::Below, false) => "minimum",
                (Side::Below, true) | (Side::AtLeast, false) => "exclusiveMaximum",
                (Side::AtMost, true) | (Side::Above, false) => "maximum",
            };
            json!({ "type": "number", keyword: bound })
        }
        Test::Matches(_) => {
            let source = leaf.written.value.clone().unwrap_or_default();
            negated_when(!truth, json!("string"), json!({ "pattern": source }))
        }
        Test::StartsWith(text) => {
            negated_when(!truth, json!("string"), json!({ "pattern": format!("^{}", literal(text)) }))
        }
        Test::EndsWith(text) => {
            negated_when(!truth, json!("string"), json!({ "pattern": format!("{}$", literal(text)) }))
        }
        Test::Contains(wanted) => {
            let in_list = negated_when(!truth, json!("array"), json!({ "contains": { "const": wanted } }));
            let Value::String(part) = wanted else { return in_list };
            let in_text = negated_when(!truth, json!("string"), json!({ "pattern": literal(part) }));
            any_of(vec![in_text, in_list])
        }
    }
}

/// The values from which the way `steps` leads to `at_value`. For truth, through some element of a list; for falsehood,
/// through every one. `absent` where also a way that ends early counts.
fn along(steps: &[Step], at_value: &Value, truth: bool, absent: bool) -> Value {
    let Some((step, rest)) = steps.split_first() else { return at_value.clone() };
    let inner = along(rest, at_value, truth, absent);
    let (there, early) = match step {
        Step::Name(name) => (
            json!({ "type": "object", "required": [name], "properties": { name: inner } }),
            json!({ "not": { "type": "object", "required": [name] } }),
        ),
        Step::Each => {
            let keyword = if truth { "contains" } else { "items" };
            (json!({ "type": "array", keyword: inner }), json!({ "not": { "type": "array" } }))
        }
    };
    if absent { any_of(vec![early, there]) } else { there }
}

fn somewhere(steps: &[Step], at_value: &Value) -> Value {
    along(steps, at_value, true, false)
}

fn with_type(kind: Value, mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert("type".to_owned(), kind);
    }
    schema
}

fn all_of(schemas: Vec<Value>) -> Value {
    joined("allOf", schemas)
}

fn any_of(schemas: Vec<Value>) -> Value {
    joined("anyOf", schemas)
}

fn joined(keyword: &str, mut schemas: Vec<Value>) -> Value {
    match (schemas.len(), schemas.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            schemas.extend(last);
            json!({ keyword: schemas })
        }
    }
}

/// `text` as an expression that matches it and nothing else.
fn literal(text: &str) -> String {
    let mut expression = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
                expression.push('\\');
                expression.push(character);
            }
            _ => expression.push(character),
        }
    }
    expression
}
