//! What a state leaves open, and the search through it.
//!
//! An option is dropped as soon as the facts rule it out, a choice as soon as they settle it, and a choice with one
//! option left is no choice. Only then is the smallest one branched on.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::facts::{Contradiction, Facts, KeyPlace, Somewhere};
use super::literal::Literal;
use super::numbers::is_free;
use super::{Answer, Doubt, Solver};
use crate::data;
use crate::node::{Kind, Types};

/// Options whose parts are looked into before branching.
const MAX_PROBED: usize = 20_000;

/// Options tried one by one before branching, where several choices could rule each other out.
const MAX_TRIED: usize = 160;

/// One of these options holds.
#[derive(Debug, Clone)]
pub(super) struct Choice<'a> {
    pub(super) options: Vec<Option_<'a>>,
    /// Made by an assertion that must not hold.
    is_denial: bool,
}

/// All of these goals hold.
pub(super) type Option_<'a> = Vec<Goal<'a>>;

#[derive(Debug, Clone)]
pub(super) enum Goal<'a> {
    Holds(Literal),
    Types(Types),
    Present(&'a str, Option<Literal>),
    Absent(&'a str),
    Some(Somewhere<'a>),
    ItemAt(u64, Literal),
    ItemFrom(u64, Literal),
    AtLeast(u64, Literal),
    AtMost(u64, Literal),
}

impl<'a> Solver<'a> {
    /// Adds the choice a literal leaves.
    pub(super) fn choose(&mut self, facts: &mut Facts<'a>, literal: Literal) -> Result<(), Contradiction> {
        let mut options = Vec::new();
        if self.options(literal, &mut options, &mut BTreeSet::new()).is_err() {
            // Out of steps: a choice left out is safe, and the search ends soon.
            return Ok(());
        }
        if options.is_empty() {
            return Err(Contradiction);
        }
        facts.choices.push(Rc::new(Choice { options, is_denial: literal.is_negated() }));
        Ok(())
    }

    /// The ways a literal can hold, nested choices taken apart.
    fn options(
        &mut self,
        literal: Literal,
        options: &mut Vec<Option_<'a>>,
        seen: &mut BTreeSet<Literal>,
    ) -> Result<(), Doubt> {
        if !seen.insert(literal) {
            return Ok(());
        }
        self.step()?;
        let below = |id: &u32| literal.sibling(*id);
        let kind = self.kind(literal);
        match (kind, literal.is_negated()) {
            (Kind::Anything, true) | (Kind::Nothing, false) => {}
            (Kind::Any(parts), false) => {
                for part in parts {
                    options.push(vec![Goal::Holds(below(part))]);
                }
            }
            (Kind::All(parts), true) => {
                for part in parts {
                    self.options(below(part).negated(), options, seen)?;
                }
            }
            (Kind::One(parts), false) => {
                for chosen in parts {
                    let others = parts.iter().filter(|part| *part != chosen);
                    let mut option = vec![Goal::Holds(below(chosen))];
                    option.extend(others.map(|other| Goal::Holds(below(other).negated())));
                    // The same schema twice can never be the only one that holds.
                    if parts.iter().filter(|part| *part == chosen).count() == 1 {
                        options.push(option);
                    }
                    self.step()?;
                }
            }
            (Kind::One(parts), true) => {
                options.push(parts.iter().map(|part| Goal::Holds(below(part).negated())).collect());
                for (at, left) in parts.iter().enumerate() {
                    for right in parts.iter().skip(at + 1) {
                        options.push(vec![Goal::Holds(below(left)), Goal::Holds(below(right))]);
                        self.step()?;
                    }
                }
            }
            (Kind::If { test, then, otherwise }, negated) => {
                let flip = |literal: Literal| if negated { literal.negated() } else { literal };
                options.push(vec![Goal::Holds(below(test)), Goal::Holds(flip(below(then)))]);
                options.push(vec![Goal::Holds(below(test).negated()), Goal::Holds(flip(below(otherwise)))]);
            }
            (Kind::Dependent { name, then }, false) => {
                options.push(vec![Goal::Types(Types::OBJECT.complement())]);
                options.push(vec![Goal::Absent(name)]);
                options.push(vec![Goal::Holds(below(then))]);
            }
            (Kind::Not(id), negated) => {
                let literal = if negated { below(id) } else { below(id).negated() };
                self.options(literal, options, seen)?;
            }
            (Kind::Unevaluated(id), true) => self.options(below(id).negated(), options, seen)?,
            (Kind::Required(names), true) => {
                for name in names {
                    options.push(vec![Goal::Types(Types::OBJECT), Goal::Absent(name)]);
                }
            }
            (Kind::Fields(fields), true) => {
                let object = Goal::Types(Types::OBJECT);
                for (name, id) in &fields.named {
                    if !matches!(self.kind(below(id)), Kind::Anything) {
                        options.push(vec![object.clone(), Goal::Present(name, Some(below(id).negated()))]);
                    }
                }
                let somewhere = |place, id| Somewhere { place, name: None, value: Some(below(id).negated()) };
                for (pattern, id) in &fields.patterns {
                    options
                        .push(vec![object.clone(), Goal::Some(somewhere(KeyPlace::Matching(pattern), id))]);
                }
                if let Some(rest) = &fields.rest
                    && !matches!(self.kind(below(rest)), Kind::Anything)
                {
                    let place = KeyPlace::Outside(literal);
                    options.push(vec![object, Goal::Some(somewhere(place, rest))]);
                }
            }
            (Kind::Items { prefix, rest }, true) => {
                let array = Goal::Types(Types::ARRAY);
                for (at, id) in (0_u64..).zip(prefix) {
                    options.push(vec![array.clone(), Goal::ItemAt(at, below(id).negated())]);
                }
                let from = u64::try_from(prefix.len()).unwrap_or(u64::MAX);
                options.push(vec![array, Goal::ItemFrom(from, below(rest).negated())]);
            }
            (Kind::Contains { item, min, max }, true) => {
                let array = Goal::Types(Types::ARRAY);
                if let Some(below_min) = min.checked_sub(1) {
                    options.push(vec![array.clone(), Goal::AtMost(below_min, below(item))]);
                }
                if let Some(above_max) = max.and_then(|max| max.checked_add(1)) {
                    options.push(vec![array, Goal::AtLeast(above_max, below(item))]);
                }
            }
            _ => options.push(vec![Goal::Holds(literal)]),
        }
        Ok(())
    }

    /// Decides the facts of `state`.
    pub(super) fn branch(&mut self, state: &[Literal], mut facts: Facts<'a>) -> Answer {
        if self.settle(&mut facts).is_err() {
            return Answer::Empty;
        }
        if facts.members.is_some() {
            return self.try_members(state, &facts);
        }
        if !facts.choices.is_empty() && !self.are_properties_possible(&facts) {
            return Answer::Empty;
        }
        if self.probe(&mut facts).is_err() || self.try_options(&mut facts).is_err() {
            return Answer::Empty;
        }
        if facts.members.is_some() {
            return self.try_members(state, &facts);
        }
        let Some(best) = self.best(&facts) else { return self.by_type(&facts) };
        let choice = facts.choices.swap_remove(best);
        let mut doubt = None;
        for option in &choice.options {
            if let Err(stopped) = self.enter() {
                return Answer::Doubt(stopped);
            }
            let mut chosen = facts.clone();
            let met = option.iter().try_for_each(|goal| self.meet(&mut chosen, goal));
            let answer = if met.is_ok() { self.branch(state, chosen) } else { Answer::Empty };
            self.frames -= 1;
            match answer {
                Answer::Empty => {}
                Answer::Found(value) => return Answer::Found(value),
                Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
            }
        }
        doubt.map_or(Answer::Empty, Answer::Doubt)
    }

    /// Drops options the facts rule out and choices they settle, until nothing changes.
    fn settle(&mut self, facts: &mut Facts<'a>) -> Result<(), Contradiction> {
        loop {
            let mut forced = None;
            let mut at = 0;
            while let Some(choice) = facts.choices.get(at) {
                let n_goals: usize = choice.options.iter().map(Vec::len).sum();
                if self.spend(n_goals * (1 + facts.asserted.len() / 16)).is_err() {
                    return Ok(());
                }
                if choice.options.iter().any(|option| self.is_settled(facts, option)) {
                    facts.choices.swap_remove(at);
                    continue;
                }
                let ruled_out: Vec<bool> =
                    choice.options.iter().map(|option| self.is_ruled_out(facts, option)).collect();
                let n_left = ruled_out.iter().filter(|out| !**out).count();
                if n_left == 0 {
                    return Err(Contradiction);
                }
                if n_left < ruled_out.len()
                    && let Some(choice) = facts.choices.get_mut(at)
                {
                    let mut out = ruled_out.into_iter();
                    Rc::make_mut(choice).options.retain(|_| !out.next().unwrap_or(false));
                }
                if n_left == 1 {
                    forced = facts.choices.swap_remove(at).options.first().cloned();
                    break;
                }
                at += 1;
            }
            let Some(option) = forced else { return Ok(()) };
            option.iter().try_for_each(|goal| self.meet(facts, goal))?;
        }
    }

    /// Looks into the properties an option asks for, and drops the option when they cannot be as it asks.
    fn probe(&mut self, facts: &mut Facts<'a>) -> Result<(), Contradiction> {
        let n_options: usize = facts.choices.iter().map(|choice| choice.options.len()).sum();
        if n_options > MAX_PROBED {
            return Ok(());
        }
        let mut dropped = false;
        let mut choices = std::mem::take(&mut facts.choices);
        let mut outcome = Ok(());
        for choice in &mut choices {
            let possible: Vec<bool> = choice
                .options
                .iter()
                .map(|option| option.iter().all(|goal| self.is_possible(facts, goal)))
                .collect();
            if possible.contains(&false) {
                dropped = true;
                let mut possible = possible.into_iter();
                Rc::make_mut(choice).options.retain(|_| possible.next().unwrap_or(true));
            }
            if choice.options.is_empty() {
                outcome = Err(Contradiction);
                break;
            }
        }
        facts.choices = choices;
        outcome?;
        if dropped { self.settle(facts) } else { Ok(()) }
    }

    /// Drops options that contradict another choice outright.
    fn try_options(&mut self, facts: &mut Facts<'a>) -> Result<(), Contradiction> {
        let n_options: usize = facts.choices.iter().map(|choice| choice.options.len()).sum();
        if facts.choices.len() < 2 || n_options > MAX_TRIED {
            return Ok(());
        }
        let mut at = 0;
        while let Some(choice) = facts.choices.get(at).cloned() {
            let mut kept = Vec::with_capacity(choice.options.len());
            for option in &choice.options {
                if self.spend(facts.choices.len() + facts.asserted.len()).is_err() {
                    return Ok(());
                }
                let mut tried = facts.clone();
                tried.choices.swap_remove(at);
                let met = option.iter().try_for_each(|goal| self.meet(&mut tried, goal));
                if met.and_then(|()| self.settle(&mut tried)).is_ok() && self.are_properties_possible(&tried)
                {
                    kept.push(option.clone());
                }
            }
            match kept.len() {
                0 => return Err(Contradiction),
                1 => {
                    facts.choices.swap_remove(at);
                    kept.iter().flatten().try_for_each(|goal| self.meet(facts, goal))?;
                    self.settle(facts)?;
                    at = 0;
                }
                n if n < choice.options.len() => {
                    if let Some(choice) = facts.choices.get_mut(at) {
                        Rc::make_mut(choice).options = kept;
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
        Ok(())
    }

    /// Whether every property known to be there can have a value.
    fn are_properties_possible(&mut self, facts: &Facts<'a>) -> bool {
        if !is_object(facts) {
            return true;
        }
        let names = facts.objects.present.iter().filter(|(_, asked)| !asked.is_empty());
        names
            .into_iter()
            .all(|(name, _)| self.decide(self.value_state(&facts.objects, name)) != Answer::Empty)
    }

    /// Which choice to branch on. To deny a conjunction is to deny one part after the other, each with all of the rest at
    /// hand; then come choices whose options settle others by their tags, then the smallest.
    fn best(&self, facts: &Facts<'a>) -> Option<usize> {
        let n_denials = facts.choices.iter().filter(|choice| choice.is_denial).count();
        let is_tagged = |goal: &Goal<'a>| {
            matches!(goal, Goal::Holds(literal) if !literal.is_negated()
                && self.node(*literal).is_some_and(|node| !node.tags.is_empty()))
        };
        let rank = |at: &usize| {
            let choice = facts.choices.get(*at)?;
            let is_only_denial = choice.is_denial && n_denials == 1;
            let is_tagged =
                choice.options.len() > 2 && choice.options.iter().all(|option| option.iter().any(is_tagged));
            Some((!is_only_denial, !is_tagged, choice.options.len()))
        };
        (0..facts.choices.len()).min_by_key(rank)
    }

    fn is_possible(&mut self, facts: &Facts<'a>, goal: &Goal<'a>) -> bool {
        let Goal::Present(name, Some(literal)) = goal else { return true };
        let mut state = self.value_state(&facts.objects, name);
        state.push(*literal);
        !facts.objects.absent.contains(name) && self.decide(state) != Answer::Empty
    }

    fn is_ruled_out(&self, facts: &Facts<'a>, option: &[Goal<'a>]) -> bool {
        option.iter().any(|goal| match goal {
            Goal::Holds(literal) => self.is_refuted(facts, *literal),
            Goal::Types(types) => !facts.types.intersects(*types),
            Goal::Present(name, value) => {
                !facts.types.intersects(Types::OBJECT)
                    || facts.objects.absent.contains(name)
                    || value.is_some_and(|value| self.tag_refutes(facts, name, value))
            }
            Goal::Absent(name) => facts.objects.present.contains_key(name),
            Goal::Some(_) => !facts.types.intersects(Types::OBJECT),
            Goal::ItemAt(..) | Goal::ItemFrom(..) | Goal::AtLeast(..) | Goal::AtMost(..) => {
                !facts.types.intersects(Types::ARRAY)
            }
        })
    }

    fn is_refuted(&self, facts: &Facts<'a>, literal: Literal) -> bool {
        if facts.asserted.contains(&literal.negated()) {
            return true;
        }
        let Some(node) = self.node(literal) else { return false };
        if literal.is_negated() {
            return !facts.types.intersects(node.rejects);
        }
        let possible = facts.types.intersection(node.accepts);
        if possible.is_none() {
            return true;
        }
        if possible.intersects(Types::OBJECT.complement()) {
            return false;
        }
        self.tags_exclude(facts, literal) || self.needs_absent(facts, literal)
    }

    /// Whether an object would need a property that is known to be absent.
    fn needs_absent(&self, facts: &Facts<'a>, literal: Literal) -> bool {
        if facts.objects.absent.is_empty() {
            return false;
        }
        let requires = |id: u32| {
            matches!(self.kind(literal.sibling(id)), Kind::Required(names)
                if names.iter().any(|name| facts.objects.absent.contains(&**name)))
        };
        requires(literal.id())
            || matches!(self.kind(literal), Kind::All(parts) if parts.iter().any(|part| requires(*part)))
    }

    /// Whether the known tags differ from those the node asks for.
    fn tags_exclude(&self, facts: &Facts<'a>, literal: Literal) -> bool {
        self.node(literal).is_some_and(|node| {
            node.tags.iter().any(|(name, members)| {
                let wanted = self.graph(literal).members(*members).unwrap_or_default();
                let known = facts.tags.iter().filter(|(known, _)| *known == &**name);
                known.into_iter().any(|(_, values)| values.iter().all(|value| !data::contains(wanted, value)))
            })
        })
    }

    /// Whether a property known to hold one of a few values cannot hold one that satisfies `literal`.
    fn tag_refutes(&self, facts: &Facts<'a>, name: &str, literal: Literal) -> bool {
        let Some(listed) = self.graph(literal).members(literal.id()) else { return false };
        let is_plain = matches!(self.kind(literal), Kind::Members { .. });
        facts.tags.iter().filter(|(known, _)| *known == name).any(|(_, values)| {
            if literal.is_negated() {
                is_plain && values.iter().all(|value| data::contains(listed, value))
            } else {
                values.iter().all(|value| !data::contains(listed, value))
            }
        })
    }

    fn is_settled(&self, facts: &Facts<'a>, option: &[Goal<'a>]) -> bool {
        option.iter().all(|goal| match goal {
            Goal::Holds(literal) => {
                facts.asserted.contains(literal)
                    || (literal.is_negated() && is_object(facts) && self.tags_exclude(facts, *literal))
            }
            Goal::Types(types) => !facts.types.intersects(types.complement()),
            Goal::Present(name, None) => facts.objects.present.contains_key(name) && is_object(facts),
            Goal::Present(name, Some(literal)) => {
                is_object(facts)
                    && facts.objects.present.get(name).is_some_and(|known| {
                        known.contains(literal)
                            || (literal.is_negated() && self.tag_refutes(facts, name, literal.negated()))
                    })
            }
            Goal::Absent(name) => facts.objects.absent.contains(name),
            Goal::Some(_) | Goal::ItemAt(..) | Goal::ItemFrom(..) | Goal::AtLeast(..) | Goal::AtMost(..) => {
                false
            }
        })
    }

    /// The types that are left, one after the other.
    fn by_type(&mut self, facts: &Facts<'a>) -> Answer {
        let mut doubt = None;
        let scalars =
            [(Types::NULL, vec![Value::Null]), (Types::BOOLEAN, vec![Value::Bool(false), Value::Bool(true)])];
        let answers: [fn(&mut Self, &Facts<'a>) -> Answer; 4] =
            [Self::number, Self::string, Self::array, Self::object];
        let types = [Types::NUMBER, Types::STRING, Types::ARRAY, Types::OBJECT];
        for (of, answer) in types.into_iter().zip(answers) {
            if !facts.types.intersects(of) {
                continue;
            }
            match answer(self, facts) {
                Answer::Empty => {}
                Answer::Found(value) => return Answer::Found(value),
                Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
            }
        }
        for (of, values) in scalars {
            if facts.types.intersects(of)
                && let Some(value) = values.into_iter().find(|value| is_free(facts, value))
            {
                return Answer::Found(value);
            }
        }
        doubt.map_or(Answer::Empty, |doubt| Answer::Doubt(self.located(doubt, &[], &facts.asserted)))
    }
}

fn is_object(facts: &Facts<'_>) -> bool {
    !facts.types.intersects(Types::OBJECT.complement())
}
