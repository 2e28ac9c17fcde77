//! What can be said about a node without an instance: whether it ends, and which types it can accept or reject.

use crate::error::{SchemaError, SchemaErrorKind};
use crate::node::{Graph, Id, Kind, Types};

/// Nodes on one path through the graph. The validator recurses along such paths.
const MAX_PATH: usize = 1_200;

/// A reference that reaches itself without a step into the instance would never end.
pub(super) fn refuse_endless(graph: &Graph) -> Result<(), SchemaError> {
    walk(graph, in_place, |id| {
        let message = "the reference leads back to itself without a step into the instance, so it never ends";
        Err(SchemaError::new(SchemaErrorKind::EndlessReference, graph.pointer(id), message))
    })?;
    walk(graph, children, |_| Ok(()))
}

/// Depth first over all nodes; `found_cycle` hears of every edge back to a node on the current path.
fn walk(
    graph: &Graph,
    edges: impl Fn(&Kind, &mut Vec<Id>),
    found_cycle: impl Fn(Id) -> Result<(), SchemaError>,
) -> Result<(), SchemaError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        OnPath,
        Done,
    }
    let mut marks = vec![Mark::New; graph.nodes.len()];
    let mut path: Vec<(Id, Vec<Id>)> = Vec::new();
    let roots = (0..Id::try_from(graph.nodes.len()).unwrap_or(Id::MAX)).rev();
    for start in [graph.root].into_iter().chain(roots) {
        let mut entered = Some(start);
        loop {
            if let Some(id) = entered.take() {
                match marks.get_mut(id as usize) {
                    Some(mark) if *mark == Mark::New => {
                        *mark = Mark::OnPath;
                        let mut next = Vec::new();
                        edges(graph.kind(id), &mut next);
                        path.push((id, next));
                        if path.len() > MAX_PATH {
                            let message =
                                "the schema is nested too deeply through its references: shorten the chain";
                            return Err(SchemaError::new(
                                SchemaErrorKind::TooDeep,
                                graph.pointer(id),
                                message,
                            ));
                        }
                    }
                    Some(mark) if *mark == Mark::OnPath => found_cycle(id)?,
                    Some(_) | None => {}
                }
            }
            let Some((id, next)) = path.last_mut() else { break };
            entered = next.pop();
            if entered.is_none() {
                if let Some(mark) = marks.get_mut(*id as usize) {
                    *mark = Mark::Done;
                }
                path.pop();
            }
        }
    }
    Ok(())
}

/// Subschemas applied to the same instance.
fn in_place(kind: &Kind, next: &mut Vec<Id>) {
    match kind {
        Kind::All(parts) | Kind::Any(parts) | Kind::One(parts) => next.extend(parts),
        Kind::Not(id) | Kind::Dependent { then: id, .. } | Kind::Unevaluated(id) => next.push(*id),
        Kind::If { test, then, otherwise } => next.extend([*test, *then, *otherwise]),
        Kind::Anything
        | Kind::Nothing
        | Kind::Types(_)
        | Kind::Members { .. }
        | Kind::Bound { .. }
        | Kind::MultipleOf(_)
        | Kind::MinLength(_)
        | Kind::MaxLength(_)
        | Kind::Pattern(_)
        | Kind::Format(_)
        | Kind::Items { .. }
        | Kind::Contains { .. }
        | Kind::MinItems(_)
        | Kind::MaxItems(_)
        | Kind::Unique
        | Kind::Fields(_)
        | Kind::Required(_)
        | Kind::Names(_)
        | Kind::MinFields(_)
        | Kind::MaxFields(_)
        | Kind::Opaque(_) => {}
    }
}

pub(crate) fn children(kind: &Kind, next: &mut Vec<Id>) {
    in_place(kind, next);
    if let Kind::Items { prefix, rest } = kind {
        next.extend(prefix);
        next.push(*rest);
    } else if let Kind::Contains { item, .. } = kind {
        next.push(*item);
    } else if let Kind::Names(id) = kind {
        next.push(*id);
    } else if let Kind::Members { structured, .. } = kind {
        next.extend(structured);
    } else if let Kind::Fields(fields) = kind {
        next.extend(fields.named.iter().map(|(_, id)| *id));
        next.extend(fields.patterns.iter().map(|(_, id)| *id));
        next.extend(fields.rest);
    }
}

/// Fills in what each node accepts and rejects by type, and its tags. Two passes, since definitions may come after
/// their uses; a cycle keeps the safe answer "anything".
pub(super) fn sum_up(graph: &mut Graph) {
    for _ in 0..2 {
        for at in (0..graph.nodes.len()).rev() {
            let Some(node) = graph.nodes.get(at) else { continue };
            let (accepts, rejects) = types(graph, &node.kind);
            if let Some(node) = graph.nodes.get_mut(at) {
                node.accepts = accepts;
                node.rejects = rejects;
            }
        }
    }
    for at in (0..graph.nodes.len()).rev() {
        let tags = graph.nodes.get(at).map(|node| tags(graph, &node.kind)).unwrap_or_default();
        if let Some(node) = graph.nodes.get_mut(at).filter(|_| !tags.is_empty()) {
            node.tags = tags;
        }
    }
    exclusive_choices(graph);
}

fn types(graph: &Graph, kind: &Kind) -> (Types, Types) {
    let accepts = |id: &Id| graph.node(*id).map_or(Types::ALL, |node| node.accepts);
    let rejects = |id: &Id| graph.node(*id).map_or(Types::ALL, |node| node.rejects);
    let either = |ids: &[Id], of: &dyn Fn(&Id) -> Types| ids.iter().map(of).fold(Types::NONE, Types::union);
    let both =
        |ids: &[Id], of: &dyn Fn(&Id) -> Types| ids.iter().map(of).fold(Types::ALL, Types::intersection);
    match kind {
        Kind::Anything => (Types::ALL, Types::NONE),
        Kind::Nothing => (Types::NONE, Types::ALL),
        Kind::All(parts) => (both(parts, &accepts), either(parts, &rejects)),
        Kind::Any(parts) => (either(parts, &accepts), both(parts, &rejects)),
        Kind::One(parts) => (either(parts, &accepts), Types::ALL),
        Kind::Not(id) => (rejects(id), accepts(id)),
        Kind::If { test, then, otherwise } => {
            let way = |test: Types, of: Types| test.intersection(of);
            (
                way(accepts(test), accepts(then)).union(way(rejects(test), accepts(otherwise))),
                way(accepts(test), rejects(then)).union(way(rejects(test), rejects(otherwise))),
            )
        }
        Kind::Types(types) => (*types, types.complement()),
        Kind::Members { values: members, .. } => {
            // A whole number has two spellings.
            let of = |value| {
                let types = Types::of(value);
                if types.intersects(Types::INTEGER) { Types::INTEGER } else { types }
            };
            (members.iter().map(of).fold(Types::NONE, Types::union), Types::ALL)
        }
        Kind::Bound { .. } | Kind::MultipleOf(_) => (Types::ALL, Types::NUMBER),
        Kind::MinLength(_) | Kind::MaxLength(_) | Kind::Pattern(_) | Kind::Format(_) => {
            (Types::ALL, Types::STRING)
        }
        Kind::Items { .. } | Kind::Contains { .. } | Kind::MinItems(_) | Kind::MaxItems(_) | Kind::Unique => {
            (Types::ALL, Types::ARRAY)
        }
        Kind::Fields(_)
        | Kind::Required(_)
        | Kind::Names(_)
        | Kind::MinFields(_)
        | Kind::MaxFields(_)
        | Kind::Dependent { .. } => (Types::ALL, Types::OBJECT),
        Kind::Unevaluated(id) => (accepts(id), rejects(id)),
        Kind::Opaque(types) => (Types::ALL, *types),
    }
}

/// Properties every accepted object has with one of a few values.
fn tags(graph: &Graph, kind: &Kind) -> Vec<(Box<str>, Id)> {
    let Kind::All(parts) = kind else { return Vec::new() };
    let mut tags: Vec<(Box<str>, Id)> = Vec::new();
    for part in parts {
        if let Kind::Fields(fields) = graph.kind(*part) {
            for (name, id) in fields.named.iter().take(64) {
                let is_required = || {
                    parts.iter().any(
                        |part| matches!(graph.kind(*part), Kind::Required(names) if names.contains(name)),
                    )
                };
                if graph.members(*id).is_some() && is_required() {
                    tags.push((name.clone(), *id));
                }
            }
        } else if let Some(node) = graph.node(*part).filter(|_| matches!(graph.kind(*part), Kind::All(_))) {
            tags.extend(node.tags.iter().cloned());
        }
    }
    tags
}

/// `oneOf` over schemas that plainly exclude one another is `anyOf`.
fn exclusive_choices(graph: &mut Graph) {
    for at in 0..graph.nodes.len() {
        let Some(Kind::One(parts)) = graph.nodes.get(at).map(|node| &node.kind) else { continue };
        let exclusive = parts.len() <= 512
            && parts.iter().enumerate().all(|(at, left)| {
                parts.iter().skip(at + 1).all(|right| exclude_one_another(graph, *left, *right))
            });
        if exclusive && let Some(node) = graph.nodes.get_mut(at) {
            let Kind::One(parts) = std::mem::replace(&mut node.kind, Kind::Nothing) else { continue };
            node.kind = Kind::Any(parts);
        }
    }
}

/// Whether no value can satisfy both, as far as types and tags tell.
pub(crate) fn exclude_one_another(graph: &Graph, left: Id, right: Id) -> bool {
    let (Some(first), Some(second)) = (graph.node(left), graph.node(right)) else { return false };
    let shared = first.accepts.intersection(second.accepts);
    if shared.is_none() {
        return true;
    }
    if let (Some(ours), Some(theirs)) = (graph.members(left), graph.members(right)) {
        return ours.iter().all(|value| !theirs.contains(value));
    }
    !shared.intersects(Types::OBJECT.complement())
        && first.tags.iter().any(|(name, ours)| {
            second.tags.iter().any(|(other, theirs)| {
                let (Some(ours), Some(theirs)) = (graph.members(*ours), graph.members(*theirs)) else {
                    return false;
                };
                name == other && ours.iter().all(|value| !theirs.contains(value))
            })
        })
}
