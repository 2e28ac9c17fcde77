//! What it takes the validator to check one value, counted before it is asked.
//!
//! The validator follows every reference and looks at the neighbours of `unevaluated*` once more for each, so thirty lines of
//! schema can hold it for hours. It is asked only where a walk along the same paths ends within a fixed number of steps.

use serde_json::Value;

use crate::evaluate::applying;
use crate::language::Pattern;
use crate::node::{Graph, Id, Kind};
use crate::solve::size;

/// Steps the validator may take for one value, each some tens of nanoseconds at most.
const MAX_STEPS: u32 = 200_000;

/// Nodes on one path; bounds the stack.
const MAX_DEPTH: u32 = 2_000;

/// How much of a value is compared in one step, and how much text is counted.
const PER_STEP: usize = 16;

/// Whether the validator can be asked about `value`.
pub(crate) fn is_bearable(graph: &Graph, value: &Value) -> bool {
    Walk { graph, steps: MAX_STEPS }.node(graph.root, value, MAX_DEPTH).is_some()
}

struct Walk<'g> {
    graph: &'g Graph,
    steps: u32,
}

/// `None` when there are too many steps.
type Walked = Option<()>;

impl Walk<'_> {
    fn spend(&mut self, n: usize) -> Walked {
        self.steps = self.steps.checked_sub(u32::try_from(n).ok()?)?;
        Some(())
    }

    fn node(&mut self, id: Id, value: &Value, depth: u32) -> Walked {
        let depth = depth.checked_sub(1)?;
        self.spend(1)?;
        match self.graph.kind(id) {
            Kind::All(parts) => {
                // Each `unevaluated*` looks at its neighbours again: whether they hold, and what they evaluate.
                let n_again = parts.iter().filter(|part| self.graph.rests.contains_key(part)).count();
                for _ in 0..=2 * n_again {
                    parts.iter().try_for_each(|part| self.node(*part, value, depth))?;
                }
                Some(())
            }
            Kind::Any(parts) | Kind::One(parts) => {
                parts.iter().try_for_each(|part| self.node(*part, value, depth))
            }
            Kind::Not(id) | Kind::Dependent { then: id, .. } => self.node(*id, value, depth),
            Kind::If { test, then, otherwise } => {
                [test, then, otherwise].into_iter().try_for_each(|part| self.node(*part, value, depth))
            }
            Kind::Unevaluated(_) | Kind::Opaque(_) => {
                let Some(rest) = self.graph.rests.get(&id) else { return Some(()) };
                self.parts(value, |walk, part| walk.node(*rest, part, depth))
            }
            Kind::Members { values, .. } => {
                // A comparison ends where the smaller of the two does.
                let most = size(value);
                let compared = values.iter().fold(0_usize, |sum, member| sum + size(member).min(most));
                self.spend(compared / PER_STEP)
            }
            Kind::Pattern(pattern) => value.as_str().map_or(Some(()), |text| self.pattern(pattern, text)),
            Kind::Format(_) => self.spend(value.as_str().map_or(0, str::len)),
            Kind::MinLength(_) | Kind::MaxLength(_) => {
                self.spend(value.as_str().map_or(0, str::len) / PER_STEP)
            }
            Kind::Required(names) => self.spend(if value.is_object() { names.len() } else { 0 }),
            Kind::Items { prefix, rest } => {
                let Value::Array(items) = value else { return Some(()) };
                let ids = prefix.iter().chain(std::iter::repeat(rest));
                items.iter().zip(ids).try_for_each(|(item, id)| self.node(*id, item, depth))
            }
            Kind::Contains { item: id, .. } => {
                let Value::Array(items) = value else { return Some(()) };
                items.iter().try_for_each(|item| self.node(*id, item, depth))
            }
            Kind::Fields(fields) => {
                let Value::Object(object) = value else { return Some(()) };
                for (name, value) in object {
                    fields.patterns.iter().try_for_each(|(pattern, _)| self.pattern(pattern, name))?;
                    let (ids, unsure) = applying(fields, name);
                    ids.iter().try_for_each(|(id, _)| self.node(*id, value, depth))?;
                    if unsure {
                        let possible = fields.patterns.iter().map(|(_, id)| id).chain(&fields.rest);
                        possible.into_iter().try_for_each(|id| self.node(*id, value, depth))?;
                    }
                }
                Some(())
            }
            Kind::Names(id) => {
                let Value::Object(object) = value else { return Some(()) };
                object.keys().try_for_each(|name| self.node(*id, &Value::String(name.clone()), depth))
            }
            Kind::Unique => self.parts(value, |_, _| Some(())),
            Kind::Anything
            | Kind::Nothing
            | Kind::Types(_)
            | Kind::Bound { .. }
            | Kind::MultipleOf(_)
            | Kind::MinItems(_)
            | Kind::MaxItems(_)
            | Kind::MinFields(_)
            | Kind::MaxFields(_) => Some(()),
        }
    }

    fn pattern(&mut self, pattern: &Pattern, text: &str) -> Walked {
        self.spend(usize::try_from(pattern.cost(text.len())).ok()?)
    }

    /// Goes through the items or the values of the properties.
    fn parts(&mut self, value: &Value, mut walk: impl FnMut(&mut Self, &Value) -> Walked) -> Walked {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| {
                self.spend(1)?;
                walk(self, item)
            }),
            Value::Object(object) => object.values().try_for_each(|value| {
                self.spend(1)?;
                walk(self, value)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Schema;

    fn check(schema: &Value, value: &Value, expected: bool) {
        let schema = Schema::compile(schema).unwrap();
        assert_eq!(is_bearable(schema.graph(), value), expected);
    }

    #[test]
    fn steps_grow_with_what_is_compared() {
        let listed = |length: usize| {
            let member = |at: u32| json!(format!("{}{at}", "x".repeat(length)));
            json!({"items": {"enum": (0..100).map(member).collect::<Vec<_>>()}})
        };
        let items = |length: usize| json!(vec!["x".repeat(length); 100]);
        check(&listed(10), &items(10), true);
        check(&listed(10_000), &items(10_000), false);
        check(&listed(10_000), &items(10), true);
        let behind = json!({"items": {"pattern": "(?<=a)(b|c)*d"}});
        check(&behind, &json!(vec!["x"; 5]), true);
        check(&behind, &json!(vec!["x"; 20]), false);
        let by_name = json!({"patternProperties": {"(?<=a)(b|c)*d": true}});
        let object = |n: u32| Value::Object((0..n).map(|at| (format!("x{at}"), json!(1))).collect());
        check(&by_name, &object(5), true);
        check(&by_name, &object(20), false);
        check(&json!({"items": {"pattern": "^x"}}), &items(1_000), true);
        check(&json!({"items": {"pattern": "^x"}}), &items(10_000), false);
        check(&json!({"items": {"format": "uri"}}), &items(10_000), false);
        check(&json!({"items": {"minLength": 3}}), &items(10_000), true);
        check(&json!({"items": {"minLength": 3}}), &items(40_000), false);
        let names: Vec<String> = (0..5_000).map(|at| format!("f{at}")).collect();
        let required = json!({"items": {"required": names}});
        check(&required, &json!(vec![json!({}); 10]), true);
        check(&required, &json!(vec![json!({}); 100]), false);
    }
}
