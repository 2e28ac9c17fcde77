//! The three-valued meaning of policies, written as plainly as it can be, to compare the crate with.
//!
//! Nothing here is shared with what is tested but the types that policies are written in.

use bailiwick_bundles::documents::phrony::{DecisionType, Operator};
use bailiwick_policy::{Condition, Policy};
use serde_json::Value;

/// `None` is unknown.
pub type Known = Option<bool>;

/// Whether a condition holds for a call.
pub fn holds(condition: &Condition, arguments: &Value, phase: &str) -> Known {
    match condition {
        Condition::All { all } => every(all.iter().map(|inner| holds(inner, arguments, phase))),
        Condition::Any { any } => some(any.iter().map(|inner| holds(inner, arguments, phase))),
        Condition::Not { not } => holds(not, arguments, phase).map(|known| !known),
        Condition::Leaf(leaf) => {
            let value = leaf.value.clone();
            if ["dispatch.outcome", "phrony.dispatch.trigger"].contains(&leaf.field.as_str()) {
                return Some(dispatched(leaf.op, &value.unwrap_or(Value::Bool(true)), phase));
            }
            let steps = leaf.field.replace("[*]", ".[*]");
            let steps: Vec<&str> = steps.split('.').collect();
            along(&steps, Some(arguments), leaf.op, &value.unwrap_or(Value::Bool(true)))
        }
    }
}

fn every(mut all: impl Iterator<Item = Known>) -> Known {
    all.try_fold(Some(true), |so_far, next| match (so_far, next) {
        (_, Some(false)) => Err(Some(false)),
        (Some(true), Some(true)) => Ok(Some(true)),
        _ => Ok(None),
    })
    .unwrap_or_else(|settled| settled)
}

fn some(any: impl Iterator<Item = Known>) -> Known {
    every(any.map(|known| known.map(|known| !known))).map(|none| !none)
}

fn dispatched(op: Operator, value: &Value, phase: &str) -> bool {
    let is = |value: &Value| phase != "call" && value == phase;
    let among = |value: &Value| value.as_array().is_some_and(|values| values.iter().any(is));
    match op {
        Operator::Eq => is(value),
        Operator::Neq => !is(value),
        Operator::In => among(value),
        Operator::NotIn => !among(value),
        Operator::Exists => (phase != "call") == (value == true),
        _ => panic!("no test of a dispatch field"),
    }
}

fn along(steps: &[&str], value: Option<&Value>, op: Operator, operand: &Value) -> Known {
    match steps {
        [] => test(value, op, operand),
        ["[*]", rest @ ..] => match value {
            Some(Value::Array(items)) => some(items.iter().map(|item| along(rest, Some(item), op, operand))),
            _ => test(None, op, operand),
        },
        [name, rest @ ..] => match value.and_then(|value| value.get(*name)) {
            Some(member) => along(rest, Some(member), op, operand),
            None => test(None, op, operand),
        },
    }
}

fn test(value: Option<&Value>, op: Operator, operand: &Value) -> Known {
    let one_of = |operands: &[Value]| {
        let value = value?;
        let comparable = operands.iter().any(|known| type_of(known) == type_of(value));
        comparable.then(|| operands.iter().any(|known| same(known, value)))
    };
    let listed = || operand.as_array().cloned().unwrap_or_default();
    let order = || {
        let (Some(Value::Number(a)), Value::Number(b)) = (value, operand) else { return None };
        // Every number in the tests is a double.
        a.as_f64()?.partial_cmp(&b.as_f64()?)
    };
    let text = || Some((value?.as_str()?, operand.as_str()?));
    match op {
        Operator::Exists => Some(value.is_some() == (operand == true)),
        Operator::Eq => one_of(std::slice::from_ref(operand)),
        Operator::Neq => one_of(std::slice::from_ref(operand)).map(|equal| !equal),
        Operator::In => one_of(&listed()),
        Operator::NotIn => one_of(&listed()).map(|found| !found),
        Operator::Gt => order().map(std::cmp::Ordering::is_gt),
        Operator::Gte => order().map(std::cmp::Ordering::is_ge),
        Operator::Lt => order().map(std::cmp::Ordering::is_lt),
        Operator::Lte => order().map(std::cmp::Ordering::is_le),
        Operator::StartsWith => text().map(|(text, start)| text.starts_with(start)),
        Operator::EndsWith => text().map(|(text, end)| text.ends_with(end)),
        // The tests match with expressions that mean the same to every engine.
        Operator::Matches => text().map(|(text, expression)| {
            regex_automata::meta::Regex::new(expression).expect("an expression").is_match(text)
        }),
        Operator::Contains => match (value?, operand) {
            (Value::String(text), Value::String(part)) => Some(text.contains(part.as_str())),
            (Value::Array(items), operand) => Some(items.iter().any(|item| same(item, operand))),
            _ => None,
        },
    }
}

fn type_of(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// JSON equality.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// What the policies decide about a call that the input schema accepts: the strictest that applies, and which policies
/// say so; of approvals and escalations, all that apply.
pub fn decide(policies: &[Policy], arguments: &Value, phase: &str) -> (&'static str, Vec<String>) {
    let applying: Vec<(DecisionType, String)> = policies
        .iter()
        .filter_map(|policy| {
            let known =
                policy.conditions.as_ref().map_or(Some(true), |condition| holds(condition, arguments, phase));
            let decision = match policy.decision.kind {
                DecisionType::Allow if known == Some(true) => None,
                DecisionType::Allow => Some(DecisionType::Deny),
                _ if known == Some(false) => None,
                restricting => Some(restricting),
            };
            decision.map(|decision| (decision, policy.id.to_string()))
        })
        .collect();
    let strictest = applying.iter().map(|(decision, _)| *decision).max();
    let ids = |only: Option<DecisionType>| {
        let applying = applying.iter().filter(|(decision, _)| only.is_none_or(|only| *decision == only));
        applying.map(|(_, id)| id.clone()).collect()
    };
    match strictest {
        None | Some(DecisionType::Allow) => ("allow", Vec::new()),
        Some(DecisionType::RequireApproval) => ("require_approval", ids(None)),
        Some(DecisionType::Escalate) => ("escalate", ids(None)),
        Some(DecisionType::Deny) => ("deny", ids(Some(DecisionType::Deny))),
    }
}
