//! Where and why the outer schema rejects a witness, and what in the inner schema lets it through.
//!
//! For a union the branch that fits best is blamed: one whose tag agrees, then one of the right type, then the one with the
//! fewest failures, then the one that fails deepest inside.

use std::cmp::Reverse;

use serde_json::Value;

use crate::evaluate::{applying, satisfies};
use crate::node::{Fields, Graph, Id, Kind, Types, escaped};
use crate::verdict::Offence;

/// The offence of `instance`, which the outer schema rejects.
pub(crate) fn offence(outer: &Graph, inner: &Graph, instance: &Value) -> Option<Offence> {
    let blame = Blamer { graph: outer }.blame(outer.root, instance, &mut Vec::new())?;
    let node = outer.node(blame.node)?;
    let (inner_pointer, is_open) = let_through(inner, instance, &blame.path);
    let mut message = blame.message;
    if is_open {
        message.push_str("; the inner schema leaves the object open, so any property passes");
    }
    let stated = if blame.keyword.is_empty() { node.keyword } else { blame.keyword };
    let place = outer.pointer_to_place(node.place);
    let outer_pointer = if stated.is_empty() { place } else { format!("{place}/{stated}") };
    // A schema `false`, and what a name depends on, are told by the keyword that they stand in.
    let around = || outer.places.get(node.place as usize).map_or("", |place| place.keyword);
    let keyword = if stated.is_empty() { around() } else { stated };
    Some(Offence {
        instance_path: pointer(&blame.path),
        keyword: keyword.to_owned(),
        outer_pointer,
        inner_pointer,
        message,
    })
}

fn pointer(path: &[String]) -> String {
    path.iter().fold(String::new(), |pointer, step| pointer + "/" + &escaped(step))
}

struct Blame {
    path: Vec<String>,
    node: Id,
    /// Where the node stands for several keywords.
    keyword: &'static str,
    message: String,
}

struct Blamer<'g> {
    graph: &'g Graph,
}

impl Blamer<'_> {
    /// The most telling assertion that `value` fails; `None` when it fails none that can be evaluated.
    fn blame(&self, id: Id, value: &Value, path: &mut Vec<String>) -> Option<Blame> {
        if satisfies(self.graph, id, value) == Some(true) {
            return None;
        }
        let standing = path.clone();
        let here = |message: String| Some(Blame { path: standing.clone(), node: id, keyword: "", message });
        match self.graph.kind(id) {
            Kind::All(parts) => {
                // A wrong type explains every other failure at the same place.
                let is_type = |part: &&Id| matches!(self.graph.kind(**part), Kind::Types(_));
                let types = parts.iter().filter(is_type);
                let others = parts.iter().filter(|part| !is_type(part));
                types.chain(others).find_map(|part| self.blame(*part, value, path))
            }
            Kind::Any(parts) | Kind::One(parts) => {
                let failed: Vec<Blame> =
                    parts.iter().filter_map(|part| self.blame(*part, value, path)).collect();
                if failed.len() < parts.len() {
                    return here("satisfies more than one alternative".to_owned());
                }
                let accepted = parts
                    .iter()
                    .filter_map(|part| self.graph.node(*part))
                    .fold(Types::NONE, |types, node| types.union(node.accepts));
                if failed.len() > 1 && !accepted.intersects(Types::of(value)) {
                    return here(type_words(accepted, value));
                }
                let rank = |(at, blame): &(usize, Blame)| {
                    let branch = parts.get(*at);
                    let tag_agrees = branch.is_some_and(|part| self.tag_agrees(*part, value));
                    let type_agrees = branch
                        .and_then(|part| self.graph.node(*part))
                        .is_some_and(|node| node.accepts.intersects(Types::of(value)));
                    let n_failures = branch.map_or(0, |part| self.n_failures(*part, value));
                    (tag_agrees, type_agrees, Reverse(n_failures), blame.path.len())
                };
                let first = failed.into_iter().enumerate().rev().max_by_key(rank);
                let others = "; no other alternative fits either";
                let fitting = first.map(|(_, mut blame)| {
                    if parts.len() > 1 && !blame.message.ends_with(others) {
                        blame.message.push_str(others);
                    }
                    blame
                });
                fitting.or_else(|| here("satisfies no alternative".to_owned()))
            }
            Kind::Unevaluated(inside) => Some(self.blame_unevaluated(id, *inside, value, path)),
            Kind::If { test, then, otherwise } => {
                let holds = satisfies(self.graph, *test, value) != Some(false);
                self.blame(if holds { *then } else { *otherwise }, value, path)
            }
            Kind::Dependent { then, .. } => self.blame(*then, value, path),
            Kind::Fields(fields) => self.blame_fields(id, fields, value, path),
            Kind::Items { prefix, rest } => {
                let items = value.as_array()?;
                items.iter().enumerate().find_map(|(at, item)| {
                    path.push(at.to_string());
                    let schema = prefix.get(at).unwrap_or(rest);
                    let blame = if matches!(self.graph.kind(*schema), Kind::Nothing) {
                        let message = "is an item too many".to_owned();
                        Some(Blame { path: path.clone(), node: id, keyword: "", message })
                    } else {
                        self.blame(*schema, item, path)
                    };
                    path.pop();
                    blame
                })
            }
            Kind::Nothing => here("is not allowed by the schema `false`".to_owned()),
            Kind::Contains { item, min, max } => {
                let n = value
                    .as_array()?
                    .iter()
                    .filter(|value| satisfies(self.graph, *item, value) == Some(true));
                let n = u64::try_from(n.count()).unwrap_or(u64::MAX);
                let (keyword, message) = match max {
                    Some(max) if n > *max => {
                        ("maxContains", format!("contains more than {max} of the items that are counted"))
                    }
                    Some(_) | None if *min == 1 => {
                        ("contains", "contains none of the items asked for".to_owned())
                    }
                    Some(_) | None => {
                        ("minContains", format!("contains fewer than {min} of the items that are counted"))
                    }
                };
                Some(Blame { path: standing.clone(), node: id, keyword, message })
            }
            kind @ (Kind::Anything
            | Kind::Not(_)
            | Kind::Types(_)
            | Kind::Members { .. }
            | Kind::Bound { .. }
            | Kind::MultipleOf(_)
            | Kind::MinLength(_)
            | Kind::MaxLength(_)
            | Kind::Pattern(_)
            | Kind::Format(_)
            | Kind::MinItems(_)
            | Kind::MaxItems(_)
            | Kind::Unique
            | Kind::Required(_)
            | Kind::Names(_)
            | Kind::MinFields(_)
            | Kind::MaxFields(_)
            | Kind::Opaque(_)) => here(words(kind, value)),
        }
    }

    /// How many assertions `value` fails; of a union, as many as of its best branch.
    fn n_failures(&self, id: Id, value: &Value) -> usize {
        if satisfies(self.graph, id, value) == Some(true) {
            return 0;
        }
        let of = |id: &Id, value: &Value| self.n_failures(*id, value);
        let n = if let Kind::All(parts) = self.graph.kind(id) {
            parts.iter().map(|part| of(part, value)).sum()
        } else if let Kind::Any(parts) | Kind::One(parts) = self.graph.kind(id) {
            parts.iter().map(|part| of(part, value)).min().unwrap_or(0)
        } else if let (Kind::Fields(fields), Value::Object(object)) = (self.graph.kind(id), value) {
            let of_name = |(name, value): (&String, &Value)| -> usize {
                applying(fields, name).0.iter().map(|(id, _)| of(id, value)).sum()
            };
            object.iter().map(of_name).sum()
        } else if let (Kind::Items { prefix, rest }, Value::Array(items)) = (self.graph.kind(id), value) {
            let ids = prefix.iter().chain(std::iter::repeat(rest));
            items.iter().zip(ids).map(|(item, id)| of(id, item)).sum()
        } else {
            1
        };
        // What satisfies too many branches, or only might fail, is one failure.
        n.max(1)
    }

    fn blame_fields(&self, id: Id, fields: &Fields, value: &Value, path: &mut Vec<String>) -> Option<Blame> {
        for (name, value) in value.as_object()? {
            let (ids, _) = applying(fields, name);
            path.push(name.clone());
            let blame = ids.iter().find_map(|(schema, keyword)| {
                if matches!(self.graph.kind(*schema), Kind::Nothing) {
                    let message = format!("has the property {}, which is not allowed", shown(name));
                    return Some(Blame { path: path.clone(), node: id, keyword, message });
                }
                self.blame(*schema, value, path)
            });
            path.pop();
            if blame.is_some() {
                return blame;
            }
        }
        None
    }

    fn blame_unevaluated(&self, id: Id, inside: Id, value: &Value, path: &mut Vec<String>) -> Blame {
        let inner = self.blame(inside, value, path);
        let path = inner.map_or_else(|| path.clone(), |blame| blame.path);
        let message = "is not covered by any schema beside the keyword".to_owned();
        Blame { path, node: id, keyword: "", message }
    }

    fn tag_agrees(&self, id: Id, value: &Value) -> bool {
        self.graph.node(id).is_some_and(|node| {
            !node.tags.is_empty()
                && node.tags.iter().all(|(name, members)| {
                    let listed = self.graph.members(*members).unwrap_or_default();
                    value.get(&**name).is_some_and(|value| listed.contains(value))
                })
        })
    }
}

fn words(kind: &Kind, value: &Value) -> String {
    if let Kind::Types(types) = kind {
        type_words(*types, value)
    } else if let Kind::Members { values, .. } = kind {
        if let [only] = values.as_slice() {
            format!("is not {only}")
        } else {
            "is not one of the listed values".into()
        }
    } else if let Kind::Required(required) = kind {
        let missing = required.iter().find(|name| value.get(&***name).is_none());
        format!("lacks the property {}", shown(missing.map_or("", |name| name)))
    } else if let Kind::Pattern(pattern) = kind {
        format!("does not match `{}`", pattern.source())
    } else if let Kind::Format(format) = kind {
        format!("is not of the format `{}`", format.name)
    } else if let Kind::MinLength(n) = kind {
        format!("is shorter than {}", count(*n, "character", "characters"))
    } else if let Kind::MaxLength(n) = kind {
        format!("is longer than {}", count(*n, "character", "characters"))
    } else if let Kind::MinItems(n) = kind {
        format!("has fewer than {}", count(*n, "item", "items"))
    } else if let Kind::MaxItems(n) = kind {
        format!("has more than {}", count(*n, "item", "items"))
    } else if let Kind::MinFields(n) = kind {
        format!("has fewer than {}", count(*n, "property", "properties"))
    } else if let Kind::MaxFields(n) = kind {
        format!("has more than {}", count(*n, "property", "properties"))
    } else if let Kind::Bound { upper, .. } = kind {
        format!("is too {}", if *upper { "large" } else { "small" })
    } else if matches!(kind, Kind::MultipleOf(_)) {
        "is not on the step asked for".to_owned()
    } else if matches!(kind, Kind::Unique) {
        "holds an item twice".to_owned()
    } else if matches!(kind, Kind::Names(_)) {
        "has a property whose name is not allowed".to_owned()
    } else if matches!(kind, Kind::Not(_)) {
        "is what must not be".to_owned()
    } else {
        "is not allowed".to_owned()
    }
}

fn type_words(types: Types, value: &Value) -> String {
    format!("is {}, where {} is asked for", type_name(value), names(types))
}

fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A property's name. The empty one would not be seen.
fn shown(name: &str) -> String {
    if name.is_empty() { "of the empty name".to_owned() } else { format!("`{name}`") }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn names(types: Types) -> String {
    let known = [
        (Types::NULL, "null"),
        (Types::BOOLEAN, "a boolean"),
        (Types::FRACTION, "a number"),
        (Types::STRING, "a string"),
        (Types::ARRAY, "an array"),
        (Types::OBJECT, "an object"),
    ];
    let mut names: Vec<&str> =
        known.iter().filter(|(of, _)| types.intersects(*of)).map(|(_, name)| *name).collect();
    if types.intersects(Types::INTEGER) && !types.intersects(Types::FRACTION) {
        names.push("an integer");
    }
    names.join(" or ")
}

/// The subschema of the inner schema that applies at `path`, and whether it is an object left open there.
fn let_through(graph: &Graph, instance: &Value, path: &[String]) -> (Option<String>, bool) {
    let mut at = vec![graph.root];
    let mut value = instance;
    let mut is_open = false;
    for step in path {
        let mut here = Vec::new();
        for id in &at {
            in_force(graph, *id, value, &mut here);
        }
        let mut next = Vec::new();
        for id in &here {
            if let Kind::Fields(fields) = graph.kind(*id) {
                next.extend(applying(fields, step).0.into_iter().map(|(id, _)| id));
            } else if let Kind::Items { prefix, rest } = graph.kind(*id) {
                next.extend(step.parse::<usize>().ok().and_then(|at| prefix.get(at)).or(Some(rest)));
            }
        }
        if next.is_empty() {
            is_open = value.is_object();
            break;
        }
        at = next;
        let Some(below) = value.get(step).or_else(|| value.get(step.parse::<usize>().ok()?)) else { break };
        value = below;
    }
    (at.first().and_then(|id| graph.node(*id)).map(|node| graph.pointer_to_place(node.place)), is_open)
}

/// The nodes that hold for `value` because `id` does.
fn in_force(graph: &Graph, id: Id, value: &Value, found: &mut Vec<Id>) {
    found.push(id);
    if let Kind::All(parts) = graph.kind(id) {
        for part in parts {
            in_force(graph, *part, value, found);
        }
    } else if let Kind::Any(parts) | Kind::One(parts) = graph.kind(id) {
        let holding = parts.iter().filter(|part| satisfies(graph, **part, value) == Some(true));
        holding.for_each(|part| in_force(graph, *part, value, found));
    } else if let Kind::If { test, then, otherwise } = graph.kind(id) {
        let holds = satisfies(graph, *test, value) == Some(true);
        in_force(graph, if holds { *then } else { *otherwise }, value, found);
    } else if let Kind::Unevaluated(inside) = graph.kind(id) {
        in_force(graph, *inside, value, found);
    }
}
