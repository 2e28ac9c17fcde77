//! Conditions against the contract that they are about: what can never be compared, never hold, or be left out.
//!
//! Where a schema says things plainly (`type`, `properties`, `required`), they are read off; for everything else the
//! narrowing engine is asked. What it cannot decide is not said: these are faults of writing, and a condition that is
//! wrongly thought to make sense still restricts.

use bailiwick_bundles::documents::phrony::{Field, FieldPath, Step};
use bailiwick_bundles::nearest;
use bailiwick_narrowing::{Budget, Schema, Verdict, contains, emptiness_proof};
use serde_json::{Value, json};

use crate::comparison::{Leaf, Test};
use crate::declared::is_required;
use crate::kind::Kind;
use crate::phase::Phase;
use crate::prepared::PreparedCondition;
use crate::{Truth, schema};

/// What is wrong with one comparison of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparisonFault {
    /// No call has anything at its field.
    NoSuchField {
        /// A name that the contract has instead.
        nearest: Option<String>,
    },
    /// The contract takes the field but does not declare it, beside others that it does.
    Undeclared {
        /// A name that it declares instead.
        nearest: Option<String>,
    },
    /// What is at its field is never of a type that it compares.
    Mismatch {
        /// The types that it compares.
        compares: Vec<&'static str>,
        /// The declared type, where it is plain.
        declared: Option<&'static str>,
    },
}

/// A condition that one contract makes pointless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constancy {
    /// It is false for every call.
    Never,
    /// It is true for every call.
    Always,
}

/// What is wrong with each comparison of `condition` for calls of `input`, by its place in the order written.
pub fn comparison_faults(condition: &PreparedCondition, input: &Schema) -> Vec<(usize, ComparisonFault)> {
    let leaves = condition.tree().leaves();
    let found = leaves.iter().enumerate().filter_map(|(at, leaf)| match &leaf.field {
        Field::Dispatch => None,
        Field::Argument(path) => Some((at, fault(leaf, path, input)?)),
    });
    found.collect()
}

fn fault(leaf: &Leaf, path: &FieldPath, input: &Schema) -> Option<ComparisonFault> {
    let mismatch = |declared| {
        let compares = Kind::ALL.into_iter().filter(|kind| leaf.compares(*kind)).map(Kind::name).collect();
        ComparisonFault::Mismatch { compares, declared }
    };
    let is_definite = matches!(leaf.test, Test::Exists(_));
    match walk(input.value(), path) {
        Walk::Typed(kind) if leaf.compares(kind) => None,
        Walk::Typed(kind) => Some(mismatch(Some(kind.name()))),
        // Whether it is there has an answer, if always the same.
        Walk::Closed { .. } | Walk::Unclear if is_definite => None,
        Walk::Closed { names, step } => Some(ComparisonFault::NoSuchField { nearest: near(step, &names) }),
        Walk::Open { names, step } => Some(ComparisonFault::Undeclared { nearest: near(step, &names) }),
        Walk::Unclear => {
            let none_of = |accepted: Value| is_within(input, &json!({ "not": accepted }));
            if none_of(schema::present(path)) {
                return Some(ComparisonFault::NoSuchField { nearest: None });
            }
            none_of(schema::known(leaf, path)).then(|| mismatch(None))
        }
    }
}

fn near(step: &str, names: &[&str]) -> Option<String> {
    nearest(step, names.iter().copied()).map(str::to_owned)
}

/// How far a path leads through what a schema says plainly.
enum Walk<'s> {
    /// To a value of one type.
    Typed(Kind),
    /// To an object that takes only `names`, not `step`.
    Closed {
        names: Vec<&'s str>,
        step: &'s str,
    },
    /// To an object that declares `names` and takes others, `step` among them.
    Open {
        names: Vec<&'s str>,
        step: &'s str,
    },
    Unclear,
}

/// Keywords beside which `properties` declares all that an object is meant to have, and `type` and `items` mean what
/// they say.
const PLAIN: [&str; 12] = [
    "$comment",
    "$schema",
    "additionalProperties",
    "default",
    "description",
    "examples",
    "items",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "type",
];

fn walk<'s>(input: &'s Value, path: &'s FieldPath) -> Walk<'s> {
    let mut schema = input;
    for step in path.steps() {
        let Some(members) = schema.as_object() else { return Walk::Unclear };
        let is_plain = |keyword: &String| {
            PLAIN.contains(&keyword.as_str()) || keyword == "title" || keyword.starts_with("x-")
        };
        if !members.keys().all(is_plain) {
            return Walk::Unclear;
        }
        let kind = members.get("type").and_then(Value::as_str);
        match (step, kind) {
            (Step::Name(name), Some("object")) => {
                let Some(properties) = members.get("properties").and_then(Value::as_object) else {
                    return Walk::Unclear;
                };
                let names = || properties.keys().map(String::as_str).collect();
                match (properties.get(name), members.get("additionalProperties")) {
                    (Some(declared), _) => schema = declared,
                    (None, Some(Value::Bool(false))) => return Walk::Closed { names: names(), step: name },
                    (None, None | Some(Value::Bool(true))) => {
                        return Walk::Open { names: names(), step: name };
                    }
                    (None, Some(_)) => return Walk::Unclear,
                }
            }
            (Step::Each, Some("array")) => match members.get("items") {
                Some(items) => schema = items,
                None => return Walk::Unclear,
            },
            (Step::Name(_) | Step::Each, _) => return Walk::Unclear,
        }
    }
    if schema.get("$ref").is_some() {
        return Walk::Unclear;
    }
    match schema.get("type").and_then(Value::as_str).and_then(Kind::named) {
        Some(kind) => Walk::Typed(kind),
        None => Walk::Unclear,
    }
}

/// Whether `condition` is the same for every call of `input`, before and after dispatch.
pub fn constancy(condition: &PreparedCondition, input: &Schema) -> Option<Constancy> {
    let phases = phases(condition);
    let within = |phase: &Phase, truth: bool| {
        let outer = condition.schema(*phase, truth)?;
        match contains(&outer, input, &Budget::default()) {
            Verdict::Contained(_) => Some(None),
            Verdict::Escapes(witness) => Some(Some(witness.instance().clone())),
            Verdict::Undecided(_) => None,
        }
    };
    for phase in &phases {
        match within(phase, false) {
            Some(None) => {}
            // A call for which it is not false; where it is not true either, nothing is constant.
            Some(Some(call)) if condition.truth(&call, *phase) != Truth::True => return None,
            Some(Some(_)) | None => {
                let is_always = phases.iter().all(|phase| within(phase, true) == Some(None));
                return is_always.then_some(Constancy::Always);
            }
        }
    }
    Some(Constancy::Never)
}

/// A call of `input` for which `condition` is unknown since an argument is left out, and the comparison that asks for
/// it.
pub fn unknown_call(condition: &PreparedCondition, input: &Schema) -> Option<(usize, Value)> {
    let leaves = condition.tree().leaves();
    let phases = phases(condition);
    leaves.iter().enumerate().find_map(|(at, leaf)| {
        let Field::Argument(path) = &leaf.field else { return None };
        if matches!(leaf.test, Test::Exists(_)) || is_required(input.value(), path) {
            return None;
        }
        let present = Schema::compile(&schema::or_no_call(&schema::present(path))).ok()?;
        match contains(&present, input, &Budget::default()) {
            Verdict::Escapes(witness) => {
                let call = witness.instance().clone();
                let is_unknown = |phase: &Phase| condition.truth(&call, *phase) == Truth::Unknown;
                phases.iter().any(is_unknown).then_some((at, call))
            }
            Verdict::Contained(_) | Verdict::Undecided(_) => None,
        }
    })
}

/// Whether no call of `input` is certain to meet all of `conditions`.
pub fn none_meets<'c>(conditions: impl IntoIterator<Item = &'c PreparedCondition>, input: &Schema) -> bool {
    let wanted: Vec<Value> =
        conditions.into_iter().map(|condition| schema::certainly_true(condition, Phase::CALL)).collect();
    !wanted.is_empty()
        && is_within(input, &schema::or_no_call(&json!({ "not": { "allOf": wanted } })))
        && !accepts_nothing(input)
}

fn accepts_nothing(input: &Schema) -> bool {
    emptiness_proof(input, &Budget::default()).is_some()
}

fn phases(condition: &PreparedCondition) -> Vec<Phase> {
    let is_dispatch = |leaf: &&Leaf| leaf.field == Field::Dispatch;
    if condition.tree().leaves().iter().any(is_dispatch) { Phase::all().collect() } else { vec![Phase::CALL] }
}

/// Whether it is proven that `outer` accepts all that `input` does.
fn is_within(input: &Schema, outer: &Value) -> bool {
    if let Some(accepts) = outer.as_bool() {
        return accepts;
    }
    Schema::compile(outer)
        .is_ok_and(|outer| matches!(contains(&outer, input, &Budget::default()), Verdict::Contained(_)))
}
