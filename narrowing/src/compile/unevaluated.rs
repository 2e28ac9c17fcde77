//! `unevaluatedProperties` and `unevaluatedItems`, spelled out.
//!
//! Which properties count as evaluated depends on which neighbouring subschemas hold. So the keyword is rewritten as
//! a choice: for every way the neighbours can hold, that they do, and that what they leave out satisfies the keyword. The
//! result uses ordinary nodes only and is exact; where there would be too many ways, the node stays opaque.

use std::cell::Cell;

use super::Pending;
use crate::language::Pattern;
use crate::node::{Fields, Graph, Id, Kind, Node, Types};

/// Ways beyond which the keyword is not spelled out.
const MAX_WAYS: usize = 64;

/// Levels of neighbours within neighbours.
const MAX_DEPTH: u32 = 24;

/// One way the neighbours can hold, and what is evaluated then.
#[derive(Debug, Clone, Default)]
struct Way {
    holds: Vec<Id>,
    fails: Vec<Id>,
    has: Vec<Box<str>>,
    lacks: Vec<Box<str>>,
    names: Vec<Box<str>>,
    patterns: Vec<String>,
    n_items: usize,
    contains: Vec<Id>,
    everything: bool,
}

pub(super) fn spell_out(graph: &mut Graph, pending: Vec<Pending>) {
    // A nested keyword evaluates everything its neighbours leave out, whatever it asks of it.
    for keyword in &pending {
        graph.rests.insert(keyword.node, keyword.rest);
        graph.set(keyword.node, Kind::Unevaluated(keyword.node));
    }
    let ways: Vec<_> = pending
        .iter()
        .map(|keyword| {
            let collector = Collector {
                graph,
                visits: Cell::new(MAX_VISITS),
                of_items: keyword.of_items,
                contains_counts: keyword.contains_counts,
            };
            collector.all(&keyword.neighbours, MAX_DEPTH)
        })
        .collect();
    for (keyword, ways) in pending.into_iter().zip(ways) {
        let Some(ways) = ways else {
            graph.relies_on_validator = true;
            let kind = Kind::Opaque(if keyword.of_items { Types::ARRAY } else { Types::OBJECT });
            graph.set(keyword.node, kind);
            continue;
        };
        let mut choice = Vec::new();
        for way in ways {
            choice.push(way_node(graph, &keyword, way));
        }
        let spelled =
            if let [only] = choice.as_slice() { *only } else { add(graph, &keyword, Kind::Any(choice)) };
        graph.set(keyword.node, Kind::Unevaluated(spelled));
    }
}

fn add(graph: &mut Graph, keyword: &Pending, kind: Kind) -> Id {
    let (name, place) = graph.node(keyword.node).map_or(("", 0), |node| (node.keyword, node.place));
    let node =
        Node { kind, keyword: name, place, accepts: Types::ALL, rejects: Types::ALL, tags: Vec::new() };
    graph.nodes.push(node);
    Id::try_from(graph.nodes.len() - 1).unwrap_or(Id::MAX)
}

fn way_node(graph: &mut Graph, keyword: &Pending, way: Way) -> Id {
    let mut parts = way.holds;
    for id in way.fails {
        parts.push(add(graph, keyword, Kind::Not(id)));
    }
    // On anything but an object `required` holds, so having a property must also say that.
    if !way.has.is_empty() {
        parts.push(add(graph, keyword, Kind::Types(Types::OBJECT)));
        parts.push(add(graph, keyword, Kind::Required(way.has)));
    }
    for name in way.lacks {
        let has = add(graph, keyword, Kind::Required(vec![name]));
        let object = add(graph, keyword, Kind::Types(Types::OBJECT));
        let present = add(graph, keyword, Kind::All(vec![object, has]));
        parts.push(add(graph, keyword, Kind::Not(present)));
    }
    if !way.everything {
        let anything = add(graph, keyword, Kind::Anything);
        let mut rest = keyword.rest;
        let kind = if keyword.of_items {
            if !way.contains.is_empty() {
                let mut options = way.contains;
                options.push(rest);
                rest = add(graph, keyword, Kind::Any(options));
            }
            Kind::Items { prefix: vec![anything; way.n_items], rest }
        } else {
            let mut named: Vec<_> = way.names.into_iter().map(|name| (name, anything)).collect();
            named.sort();
            named.dedup();
            let patterns =
                way.patterns.iter().filter_map(|source| Some((Pattern::compile(source).ok()?, anything)));
            Kind::Fields(Fields { named, patterns: patterns.collect(), rest: Some(rest) })
        };
        parts.push(add(graph, keyword, kind));
    }
    add(graph, keyword, Kind::All(parts))
}

/// Nodes that are looked at for one keyword: references that fan out would be followed without end.
const MAX_VISITS: u32 = 50_000;

struct Collector<'g> {
    graph: &'g Graph,
    visits: Cell<u32>,
    of_items: bool,
    contains_counts: bool,
}

impl Collector<'_> {
    /// Every way all of `ids` hold together; `None` when there are too many.
    fn all(&self, ids: &[Id], depth: u32) -> Option<Vec<Way>> {
        let mut ways = vec![Way::default()];
        for id in ids {
            ways = product(&ways, &self.ways(*id, depth)?)?;
        }
        Some(ways)
    }

    fn ways(&self, id: Id, depth: u32) -> Option<Vec<Way>> {
        let depth = depth.checked_sub(1)?;
        self.visits.set(self.visits.get().checked_sub(1)?);
        let one = |way| Some(vec![way]);
        match self.graph.kind(id) {
            Kind::All(parts) => self.all(parts, depth),
            Kind::Fields(fields) if !self.of_items => one(Way {
                names: fields.named.iter().map(|(name, _)| name.clone()).collect(),
                patterns: fields.patterns.iter().map(|(pattern, _)| pattern.source().to_owned()).collect(),
                everything: fields.rest.is_some(),
                ..Way::default()
            }),
            Kind::Items { prefix, .. } if self.of_items => {
                let everything = self.rest_is_stated(id);
                one(Way { n_items: prefix.len(), everything, ..Way::default() })
            }
            Kind::Contains { item, .. } if self.of_items && self.contains_counts => {
                one(Way { contains: vec![*item], ..Way::default() })
            }
            // 2019-09 says that `contains` evaluates nothing; validators let it. So neither is relied on.
            Kind::Contains { .. } if self.of_items => None,
            // `dependencies` is no keyword of the drafts that know `unevaluated*`: it asserts, and evaluates nothing.
            Kind::Dependent { .. }
                if self.graph.node(id).is_some_and(|node| node.keyword == "dependencies") =>
            {
                one(Way::default())
            }
            Kind::Unevaluated(_) => {
                let items = self.graph.node(id).is_some_and(|node| node.keyword == "unevaluatedItems");
                one(Way { everything: items == self.of_items, ..Way::default() })
            }
            Kind::Any(options) => self.choice(options, false, depth),
            Kind::One(options) => self.choice(options, true, depth),
            Kind::If { test, then, otherwise } => {
                let mut held = product(&self.ways(*test, depth)?, &self.ways(*then, depth)?)?;
                let mut failed = self.ways(*otherwise, depth)?;
                if held.iter().chain(&failed).all(Way::says_nothing) {
                    return one(Way::default());
                }
                for way in &mut held {
                    way.holds.push(*test);
                }
                for way in &mut failed {
                    way.fails.push(*test);
                }
                held.append(&mut failed);
                Some(held)
            }
            Kind::Dependent { name, then } => {
                let mut held = self.ways(*then, depth)?;
                if held.iter().all(Way::says_nothing) {
                    return one(Way::default());
                }
                for way in &mut held {
                    way.has.push(name.clone());
                }
                held.push(Way { lacks: vec![name.clone()], ..Way::default() });
                Some(held)
            }
            Kind::Opaque(types) if *types == Types::ALL => None,
            Kind::Anything
            | Kind::Nothing
            | Kind::Not(_)
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
            | Kind::Opaque(_) => one(Way::default()),
        }
    }

    /// `items` beside `prefixItems` (or alone) evaluates all items; a prefix alone does not.
    fn rest_is_stated(&self, id: Id) -> bool {
        let Kind::Items { rest, .. } = self.graph.kind(id) else { return false };
        let own_place = self.graph.node(id).map(|node| node.place);
        self.graph.node(*rest).map(|node| node.place) != own_place
    }

    /// Every way at least one (or exactly one) of `options` holds.
    fn choice(&self, options: &[Id], exactly_one: bool, depth: u32) -> Option<Vec<Way>> {
        let inside: Vec<Vec<Way>> = options.iter().map(|id| self.ways(*id, depth)).collect::<Option<_>>()?;
        let telling: Vec<(Id, Vec<Way>)> = options
            .iter()
            .copied()
            .zip(inside)
            .filter(|(_, ways)| !ways.iter().all(Way::says_nothing))
            .collect();
        let mut all = vec![(Way::default(), 0_u32)];
        for (id, ways) in &telling {
            let mut next = Vec::new();
            for (way, n_held) in &all {
                let mut failed = way.clone();
                failed.fails.push(*id);
                next.push((failed, *n_held));
                if !exactly_one || *n_held == 0 {
                    for inner in ways {
                        let mut held = way.clone();
                        held.absorb(inner);
                        held.holds.push(*id);
                        next.push((held, n_held + 1));
                    }
                }
            }
            if next.len() > 2 * MAX_WAYS {
                return None;
            }
            all = next;
        }
        // When every option tells, one of them holds.
        let some_must = telling.len() == options.len();
        let ways: Vec<Way> =
            all.into_iter().filter(|(_, n_held)| *n_held > 0 || !some_must).map(|(way, _)| way).collect();
        (ways.len() <= MAX_WAYS).then_some(ways)
    }
}

impl Way {
    fn says_nothing(&self) -> bool {
        self.names.is_empty()
            && self.patterns.is_empty()
            && self.n_items == 0
            && self.contains.is_empty()
            && !self.everything
    }

    fn absorb(&mut self, other: &Self) {
        self.holds.extend(&other.holds);
        self.fails.extend(&other.fails);
        self.has.extend(other.has.iter().cloned());
        self.lacks.extend(other.lacks.iter().cloned());
        self.names.extend(other.names.iter().cloned());
        self.patterns.extend(other.patterns.iter().cloned());
        self.n_items = self.n_items.max(other.n_items);
        self.contains.extend(&other.contains);
        self.everything |= other.everything;
    }
}

fn product(left: &[Way], right: &[Way]) -> Option<Vec<Way>> {
    if left.len() * right.len() > MAX_WAYS {
        return None;
    }
    let pairs = left.iter().flat_map(|way| right.iter().map(move |other| (way, other)));
    Some(
        pairs
            .map(|(way, other)| {
                let mut both = way.clone();
                both.absorb(other);
                both
            })
            .collect(),
    )
}
