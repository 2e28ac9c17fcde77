//! Does one value satisfy one node?
//!
//! Used where a schema lists its values, so that each can simply be tried. `None` means that only the validator could
//! tell; it is never taken for yes or no.

use std::cell::Cell;

use serde_json::Value;

use crate::data;
use crate::language::Pattern;
use crate::node::{Fields, Graph, Id, Kind, Types};
use crate::rational::Rational;

/// How many nodes one comparison may look at here, and how deep: references that fan out or go round could be followed
/// for longer than anybody waits, or than the stack is. A comparison runs on one thread, which keeps the count.
const MAX_VISITS: u32 = 2_000_000;
const MAX_DEPTH: u32 = 2_000;

thread_local! {
    static VISITS: Cell<u32> = const { Cell::new(MAX_VISITS) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Begins the count of a comparison.
pub(crate) fn begin() {
    VISITS.set(MAX_VISITS);
    DEPTH.set(0);
}

/// Whether the count of the comparison is used up, so that every answer is `None`.
pub(crate) fn is_spent() -> bool {
    VISITS.get() == 0
}

/// Whether `text` matches, where the count of the comparison has enough left to find out.
pub(crate) fn matches(pattern: &Pattern, text: &str) -> Option<bool> {
    if pattern.parts().is_none() {
        let left = VISITS.get().checked_sub(pattern.cost(text.len()));
        VISITS.set(left.unwrap_or(0));
        left?;
    }
    pattern.matches(text)
}

/// Whether `value` satisfies the node.
pub(crate) fn satisfies(graph: &Graph, id: Id, value: &Value) -> Option<bool> {
    VISITS.set(VISITS.get().checked_sub(1)?);
    if DEPTH.get() >= MAX_DEPTH {
        return None;
    }
    DEPTH.set(DEPTH.get() + 1);
    let holds = satisfies_within(graph, id, value);
    DEPTH.set(DEPTH.get() - 1);
    holds
}

fn satisfies_within(graph: &Graph, id: Id, value: &Value) -> Option<bool> {
    let check = |id: &Id| satisfies(graph, *id, value);
    match graph.kind(id) {
        Kind::Anything => Some(true),
        Kind::Nothing => Some(false),
        Kind::All(parts) => every(parts.iter().map(check)),
        Kind::Any(parts) => some(parts.iter().map(check)),
        Kind::One(parts) => {
            let n_true = parts.iter().map(check).try_fold(0, |n, holds| Some(n + u32::from(holds?)));
            n_true.map(|n| n == 1)
        }
        Kind::Not(id) => check(id).map(|holds| !holds),
        Kind::If { test, then, otherwise } => check(if check(test)? { then } else { otherwise }),
        Kind::Types(types) => Some(types.intersects(Types::of(value))),
        Kind::Members { values, .. } => Some(data::contains(values, value)),
        Kind::Unevaluated(id) => check(id),
        Kind::Opaque(types) => (!types.intersects(Types::of(value))).then_some(true),
        Kind::Bound { .. } | Kind::MultipleOf(_) => number(graph.kind(id), value),
        Kind::MinLength(_) | Kind::MaxLength(_) | Kind::Pattern(_) | Kind::Format(_) => {
            string(graph.kind(id), value)
        }
        Kind::Items { .. } | Kind::Contains { .. } | Kind::MinItems(_) | Kind::MaxItems(_) | Kind::Unique => {
            array(graph, graph.kind(id), value)
        }
        Kind::Fields(_)
        | Kind::Required(_)
        | Kind::Names(_)
        | Kind::MinFields(_)
        | Kind::MaxFields(_)
        | Kind::Dependent { .. } => object(graph, graph.kind(id), value),
    }
}

/// The schemas that surely apply to the property `name`, each with its keyword, and whether another one might.
pub(crate) fn applying(fields: &Fields, name: &str) -> (Vec<(Id, &'static str)>, bool) {
    let mut ids: Vec<(Id, &'static str)> =
        fields.named(name).map(|id| (id, "properties")).into_iter().collect();
    let mut unsure = false;
    for (pattern, id) in &fields.patterns {
        match matches(pattern, name) {
            Some(true) => ids.push((*id, "patternProperties")),
            Some(false) => {}
            None => unsure = true,
        }
    }
    if ids.is_empty() && !unsure {
        ids.extend(fields.rest.map(|id| (id, "additionalProperties")));
    }
    (ids, unsure)
}

fn every(mut answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut unknown = false;
    let failed = answers.any(|answer| {
        unknown |= answer.is_none();
        answer == Some(false)
    });
    if failed { Some(false) } else { (!unknown).then_some(true) }
}

fn some(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    every(answers.map(|answer| answer.map(|holds| !holds))).map(|none| !none)
}

fn number(kind: &Kind, value: &Value) -> Option<bool> {
    let Value::Number(number) = value else { return Some(true) };
    let value = Rational::read(number)?;
    if let Kind::Bound { limit, exclusive, upper } = kind {
        let within = if *upper { value < *limit } else { value > *limit };
        return Some(within || (!exclusive && value == *limit));
    }
    if let Kind::MultipleOf(step) = kind { value.is_multiple_of(*step) } else { Some(true) }
}

fn string(kind: &Kind, value: &Value) -> Option<bool> {
    let Value::String(text) = value else { return Some(true) };
    let length = || u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    if let Kind::MinLength(min) = kind {
        Some(length() >= *min)
    } else if let Kind::MaxLength(max) = kind {
        Some(length() <= *max)
    } else if let Kind::Pattern(pattern) = kind {
        matches(pattern, text)
    } else if let Kind::Format(format) = kind {
        Some(format.accepts(text))
    } else {
        Some(true)
    }
}

fn array(graph: &Graph, kind: &Kind, value: &Value) -> Option<bool> {
    let Value::Array(items) = value else { return Some(true) };
    let length = u64::try_from(items.len()).unwrap_or(u64::MAX);
    if let Kind::MinItems(min) = kind {
        Some(length >= *min)
    } else if let Kind::MaxItems(max) = kind {
        Some(length <= *max)
    } else if let Kind::Items { prefix, rest } = kind {
        let ids = prefix.iter().chain(std::iter::repeat(rest));
        every(items.iter().zip(ids).map(|(item, id)| satisfies(graph, *id, item)))
    } else if let Kind::Contains { item: id, min, max } = kind {
        let mut found = items.iter().map(|item| satisfies(graph, *id, item));
        let found = found.try_fold(0_u64, |n, holds| Some(n + u64::from(holds?)))?;
        Some(found >= *min && max.is_none_or(|max| found <= max))
    } else {
        let is_first =
            |(at, item): (usize, &Value)| !items.iter().take(at).any(|other| data::same(other, item));
        Some(items.iter().enumerate().all(is_first))
    }
}

fn object(graph: &Graph, kind: &Kind, value: &Value) -> Option<bool> {
    let Value::Object(object) = value else { return Some(true) };
    let size = u64::try_from(object.len()).unwrap_or(u64::MAX);
    if let Kind::MinFields(min) = kind {
        Some(size >= *min)
    } else if let Kind::MaxFields(max) = kind {
        Some(size <= *max)
    } else if let Kind::Required(names) = kind {
        Some(names.iter().all(|name| object.contains_key(&**name)))
    } else if let Kind::Names(id) = kind {
        every(object.keys().map(|name| satisfies(graph, *id, &Value::String(name.clone()))))
    } else if let Kind::Dependent { name, then } = kind {
        if object.contains_key(&**name) { satisfies(graph, *then, value) } else { Some(true) }
    } else if let Kind::Fields(fields) = kind {
        every(object.iter().map(|(name, value)| {
            let (ids, unsure) = applying(fields, name);
            let answers = ids.iter().map(|(id, _)| satisfies(graph, *id, value));
            every(answers.chain(unsure.then_some(None)))
        }))
    } else {
        Some(true)
    }
}
