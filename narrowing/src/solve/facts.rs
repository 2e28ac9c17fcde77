//! What a state says about a value, sorted by type.
//!
//! Facts about a type hold *if* the value is of that type; a contradiction among them rules out the type, not the
//! state.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::Solver;
use super::choices::{Choice, Goal};
use super::literal::Literal;
use crate::data;
use crate::language::Pattern;
use crate::node::{Kind, Types};
use crate::rational::Rational;

#[derive(Debug, Clone)]
pub(crate) struct Facts<'a> {
    pub(super) types: Types,
    /// The only values possible.
    pub(super) members: Option<Vec<&'a Value>>,
    /// Scalars that are not possible; each list is sorted.
    pub(super) excluded: Vec<&'a [Value]>,
    /// Values asked not to be found again.
    pub(super) taken: Vec<Value>,
    pub(super) numbers: Numbers,
    pub(super) strings: Strings<'a>,
    pub(super) arrays: Arrays,
    pub(super) objects: Objects<'a>,
    pub(super) choices: Vec<Rc<Choice<'a>>>,
    pub(super) asserted: Vec<Literal>,
    /// Properties known to hold one of a few values, if the value is an object.
    pub(super) tags: Vec<(&'a str, &'a [Value])>,
}

impl Default for Facts<'_> {
    fn default() -> Self {
        Self {
            types: Types::ALL,
            members: None,
            excluded: Vec::new(),
            taken: Vec::new(),
            numbers: Numbers::default(),
            strings: Strings::default(),
            arrays: Arrays::default(),
            objects: Objects::default(),
            choices: Vec::new(),
            asserted: Vec::new(),
            tags: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    /// With whether the limit itself is excluded.
    pub(super) lower: Option<(Rational, bool)>,
    pub(super) upper: Option<(Rational, bool)>,
    pub(super) steps: Vec<Rational>,
    pub(super) not_steps: Vec<Rational>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Strings<'a> {
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    /// Patterns that must match, or must not.
    pub(super) patterns: Vec<(&'a Pattern, bool)>,
    pub(super) formats: Vec<Literal>,
    pub(super) not: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Arrays {
    pub(super) items: Vec<Literal>,
    pub(super) at: BTreeMap<u64, Vec<Literal>>,
    /// Some item from that index on.
    pub(super) from: Vec<(u64, Literal)>,
    pub(super) at_least: Vec<(u64, Literal)>,
    pub(super) at_most: Vec<(u64, Literal)>,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    pub(super) unique: bool,
    pub(super) duplicate: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Objects<'a> {
    pub(super) fields: Vec<Literal>,
    /// What every name satisfies.
    pub(super) names: Vec<Literal>,
    pub(super) present: BTreeMap<&'a str, Vec<Literal>>,
    pub(super) absent: BTreeSet<&'a str>,
    pub(super) some: Vec<Somewhere<'a>>,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

/// Some property must exist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Somewhere<'a> {
    pub(super) place: KeyPlace<'a>,
    pub(super) name: Option<Literal>,
    pub(super) value: Option<Literal>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum KeyPlace<'a> {
    Anywhere,
    Matching(&'a Pattern),
    /// Neither named nor matched by this `Fields` node.
    Outside(Literal),
}

/// The facts contradict one another for every type.
pub(super) struct Contradiction;

impl<'a> Facts<'a> {
    pub(super) fn restrict(&mut self, types: Types) -> Result<(), Contradiction> {
        self.types = self.types.intersection(types);
        if self.types.is_none() { Err(Contradiction) } else { Ok(()) }
    }

    fn rule_out(&mut self, types: Types) -> Result<(), Contradiction> {
        self.restrict(types.complement())
    }

    pub(super) fn present(&mut self, name: &'a str, value: Option<Literal>) -> Result<(), Contradiction> {
        if self.objects.absent.contains(name) {
            return self.rule_out(Types::OBJECT);
        }
        let known = self.objects.present.entry(name).or_default();
        if let Some(value) = value.filter(|value| !known.contains(value)) {
            known.push(value);
        }
        Ok(())
    }

    pub(super) fn absent(&mut self, name: &'a str) -> Result<(), Contradiction> {
        if self.objects.present.contains_key(name) {
            return self.rule_out(Types::OBJECT);
        }
        self.objects.absent.insert(name);
        Ok(())
    }

    fn bound(&mut self, limit: Rational, exclusive: bool, upper: bool) {
        let known = if upper { &mut self.numbers.upper } else { &mut self.numbers.lower };
        let tighter = known.is_none_or(|(known, known_exclusive)| {
            let closer = if upper { limit < known } else { limit > known };
            closer || (limit == known && exclusive && !known_exclusive)
        });
        if tighter {
            *known = Some((limit, exclusive));
        }
    }
}

fn tighten_max(known: &mut Option<u64>, max: u64) {
    *known = Some(known.map_or(max, |known| known.min(max)));
}

impl<'a> Solver<'a> {
    /// Adds a literal and everything it says outright; what it leaves open becomes a choice.
    pub(super) fn assert(&mut self, facts: &mut Facts<'a>, literal: Literal) -> Result<(), Contradiction> {
        if facts.asserted.contains(&literal) || self.spend(facts.asserted.len()).is_err() {
            // Out of steps: an assertion left out is safe, and the search ends soon.
            return Ok(());
        }
        if facts.asserted.contains(&literal.negated()) {
            return Err(Contradiction);
        }
        facts.asserted.push(literal);
        if literal.is_negated() { self.deny(facts, literal) } else { self.affirm(facts, literal) }
    }

    pub(super) fn meet(&mut self, facts: &mut Facts<'a>, goal: &Goal<'a>) -> Result<(), Contradiction> {
        match goal {
            Goal::Holds(literal) => self.assert(facts, *literal),
            Goal::Types(types) => facts.restrict(*types),
            Goal::Present(name, value) => facts.present(name, *value),
            Goal::Absent(name) => facts.absent(name),
            Goal::Some(somewhere) => {
                facts.objects.some.push(*somewhere);
                Ok(())
            }
            Goal::ItemAt(at, literal) => {
                facts.arrays.at.entry(*at).or_default().push(*literal);
                Ok(())
            }
            Goal::ItemFrom(from, literal) => {
                facts.arrays.from.push((*from, *literal));
                Ok(())
            }
            Goal::AtLeast(n, literal) => {
                facts.arrays.at_least.push((*n, *literal));
                Ok(())
            }
            Goal::AtMost(n, literal) => {
                facts.arrays.at_most.push((*n, *literal));
                Ok(())
            }
        }
    }

    fn affirm(&mut self, facts: &mut Facts<'a>, literal: Literal) -> Result<(), Contradiction> {
        let Some(node) = self.node(literal) else { return Ok(()) };
        facts.restrict(node.accepts)?;
        for (name, members) in &node.tags {
            if let Some(members) = self.graph(literal).members(*members) {
                facts.tags.push((name, members));
            }
        }
        match &node.kind {
            Kind::Anything => Ok(()),
            Kind::Nothing => Err(Contradiction),
            Kind::All(parts) => parts.iter().try_for_each(|part| self.assert(facts, literal.sibling(*part))),
            Kind::Not(id) => self.assert(facts, literal.sibling(*id).negated()),
            Kind::Unevaluated(id) => self.assert(facts, literal.sibling(*id)),
            Kind::Any(_) | Kind::One(_) | Kind::If { .. } | Kind::Dependent { .. } => {
                self.choose(facts, literal)
            }
            Kind::Types(types) => facts.restrict(*types),
            Kind::Members { values, .. } => {
                facts.members = Some(match facts.members.take() {
                    None => values.iter().collect(),
                    Some(known) => known.into_iter().filter(|value| data::contains(values, value)).collect(),
                });
                Ok(())
            }
            Kind::Bound { limit, exclusive, upper } => {
                facts.bound(*limit, *exclusive, *upper);
                Ok(())
            }
            Kind::MultipleOf(step) => {
                facts.numbers.steps.push(*step);
                Ok(())
            }
            Kind::MinLength(min) => {
                facts.strings.min = facts.strings.min.max(*min);
                Ok(())
            }
            Kind::MaxLength(max) => {
                tighten_max(&mut facts.strings.max, *max);
                Ok(())
            }
            Kind::Pattern(pattern) => {
                facts.strings.patterns.push((pattern, true));
                Ok(())
            }
            Kind::Format(_) => {
                facts.strings.formats.push(literal);
                Ok(())
            }
            Kind::Items { .. } => {
                facts.arrays.items.push(literal);
                Ok(())
            }
            Kind::Contains { item, min, max } => {
                if *min > 0 {
                    facts.arrays.at_least.push((*min, literal.sibling(*item)));
                }
                if let Some(max) = max {
                    facts.arrays.at_most.push((*max, literal.sibling(*item)));
                }
                Ok(())
            }
            Kind::MinItems(min) => {
                facts.arrays.min = facts.arrays.min.max(*min);
                Ok(())
            }
            Kind::MaxItems(max) => {
                tighten_max(&mut facts.arrays.max, *max);
                Ok(())
            }
            Kind::Unique => {
                facts.arrays.unique = true;
                Ok(())
            }
            Kind::Fields(_) => {
                facts.objects.fields.push(literal);
                Ok(())
            }
            Kind::Required(names) => names.iter().try_for_each(|name| facts.present(name, None)),
            Kind::Names(id) => {
                facts.objects.names.push(literal.sibling(*id));
                Ok(())
            }
            Kind::MinFields(min) => {
                facts.objects.min = facts.objects.min.max(*min);
                Ok(())
            }
            Kind::MaxFields(max) => {
                tighten_max(&mut facts.objects.max, *max);
                Ok(())
            }
            Kind::Opaque(_) => {
                self.left_out = self.left_out.or(Some(literal));
                Ok(())
            }
        }
    }

    fn deny(&mut self, facts: &mut Facts<'a>, literal: Literal) -> Result<(), Contradiction> {
        let Some(node) = self.node(literal) else { return Ok(()) };
        facts.restrict(node.rejects)?;
        let below = |id: &u32| literal.sibling(*id);
        match &node.kind {
            Kind::Anything => Err(Contradiction),
            Kind::Nothing | Kind::Types(_) => Ok(()),
            Kind::Any(parts) => parts.iter().try_for_each(|part| self.assert(facts, below(part).negated())),
            Kind::Not(id) => self.assert(facts, below(id)),
            Kind::Unevaluated(id) => self.assert(facts, below(id).negated()),
            Kind::All(_)
            | Kind::One(_)
            | Kind::If { .. }
            | Kind::Items { .. }
            | Kind::Contains { .. }
            | Kind::Fields(_)
            | Kind::Required(_) => self.choose(facts, literal),
            Kind::Members { values, structured } => {
                facts.excluded.push(values);
                structured.iter().try_for_each(|part| self.assert(facts, below(part).negated()))
            }
            Kind::Bound { limit, exclusive, upper } => {
                facts.bound(*limit, !exclusive, !upper);
                Ok(())
            }
            Kind::MultipleOf(step) => {
                facts.numbers.not_steps.push(*step);
                Ok(())
            }
            Kind::MinLength(min) => {
                tighten_max(&mut facts.strings.max, min.checked_sub(1).ok_or(Contradiction)?);
                Ok(())
            }
            Kind::MaxLength(max) => {
                facts.strings.min = facts.strings.min.max(max.checked_add(1).ok_or(Contradiction)?);
                Ok(())
            }
            Kind::Pattern(pattern) => {
                facts.strings.patterns.push((pattern, false));
                Ok(())
            }
            Kind::Format(_) => {
                facts.strings.formats.push(literal);
                Ok(())
            }
            Kind::MinItems(min) => {
                tighten_max(&mut facts.arrays.max, min.checked_sub(1).ok_or(Contradiction)?);
                Ok(())
            }
            Kind::MaxItems(max) => {
                facts.arrays.min = facts.arrays.min.max(max.checked_add(1).ok_or(Contradiction)?);
                Ok(())
            }
            Kind::Unique => {
                facts.arrays.duplicate = true;
                Ok(())
            }
            Kind::Names(id) => {
                let name = Some(below(id).negated());
                facts.objects.some.push(Somewhere { place: KeyPlace::Anywhere, name, value: None });
                Ok(())
            }
            Kind::MinFields(min) => {
                tighten_max(&mut facts.objects.max, min.checked_sub(1).ok_or(Contradiction)?);
                Ok(())
            }
            Kind::MaxFields(max) => {
                facts.objects.min = facts.objects.min.max(max.checked_add(1).ok_or(Contradiction)?);
                Ok(())
            }
            Kind::Dependent { name, then } => {
                facts.present(name, None)?;
                self.assert(facts, below(then).negated())
            }
            Kind::Opaque(_) => {
                self.left_out = self.left_out.or(Some(literal));
                Ok(())
            }
        }
    }
}
