//! Objects: property by property.
//!
//! Names fall into classes: each name a schema mentions, and the other names by which patterns they match. Properties that
//! must exist somewhere are placed in every class that could matter; within a class names are alike.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::facts::{Facts, KeyPlace, Objects, Somewhere};
use super::literal::Literal;
use super::{Answer, Cause, Doubt, MAX_SIZE, Solver, size};
use crate::evaluate;
use crate::language::Pattern;
use crate::node::{Fields, Kind, Types};

/// Patterns told apart when a name is made up.
const MAX_PATTERNS: usize = 6;

/// Properties added one by one.
const MAX_ADDED: u64 = 600;

/// An object under construction: its properties and what each must satisfy.
type Plan = BTreeMap<String, Vec<Literal>>;

struct Frame<'f, 'a> {
    objects: &'f Objects<'a>,
    /// Names a schema mentions, that are not ruled out.
    mentioned: BTreeSet<&'a str>,
    patterns: Vec<&'a Pattern>,
    taken: &'f [Value],
}

impl<'a> Solver<'a> {
    /// What the value of a property must satisfy, as far as is known.
    pub(super) fn value_state(&self, objects: &Objects<'a>, name: &str) -> Vec<Literal> {
        let mut state = objects.present.get(name).cloned().unwrap_or_default();
        for literal in &objects.fields {
            let Some(fields) = self.fields(*literal) else { continue };
            // One that might apply is left out.
            for (id, _) in evaluate::applying(fields, name).0 {
                self.push_unless_trivial(literal.sibling(id), &mut state);
            }
        }
        state
    }

    /// Whether a state has a value; `None` with what stands in the way in `doubt`, unless something does already.
    fn has_value(&mut self, state: &[Literal], doubt: &mut Option<Doubt>) -> Option<bool> {
        match self.decide(state.to_vec()) {
            Answer::Empty => Some(false),
            Answer::Found(_) => Some(true),
            Answer::Doubt(found) => {
                doubt.get_or_insert(found);
                None
            }
        }
    }

    fn push_unless_trivial(&self, literal: Literal, state: &mut Vec<Literal>) {
        if !matches!(self.kind(literal), Kind::Anything) {
            state.push(literal);
        }
    }

    fn fields(&self, literal: Literal) -> Option<&'a Fields> {
        if let Kind::Fields(fields) = self.kind(literal) { Some(fields) } else { None }
    }

    pub(super) fn object(&mut self, facts: &Facts<'a>) -> Answer {
        let objects = &facts.objects;
        if objects.max.is_some_and(|max| max < objects.min) {
            return Answer::Empty;
        }
        let mut plan = Plan::new();
        let mut doubt = None;
        for name in objects.present.keys() {
            match self.check_name(objects, name, None) {
                Some(true) => {}
                Some(false) => return Answer::Empty,
                None => {
                    doubt = doubt.or(Some(Doubt::new(Cause::Keyword, objects.names.first().copied())));
                }
            }
            let state = self.value_state(objects, name);
            if self.has_value(&state, &mut doubt) == Some(false) {
                return Answer::Empty;
            }
            plan.insert((*name).to_owned(), state);
        }
        let mut frame =
            Frame { objects, mentioned: BTreeSet::new(), patterns: Vec::new(), taken: &facts.taken };
        if !objects.some.is_empty() || objects.min > plan.len() as u64 || !facts.taken.is_empty() {
            self.survey(&mut frame);
        }
        match (self.place_some(&frame, 0, plan), doubt) {
            (Answer::Empty, _) => Answer::Empty,
            (_, Some(cause)) => Answer::Doubt(cause),
            (answer, None) => answer,
        }
    }

    /// Collects the names and patterns that tell names apart.
    fn survey(&self, frame: &mut Frame<'_, 'a>) {
        let objects = frame.objects;
        let outside = objects.some.iter().filter_map(|some| match some.place {
            KeyPlace::Outside(literal) => Some(literal),
            KeyPlace::Anywhere | KeyPlace::Matching(_) => None,
        });
        for literal in objects.fields.iter().copied().chain(outside) {
            let Some(fields) = self.fields(literal) else { continue };
            frame.mentioned.extend(fields.named.iter().map(|(name, _)| &**name));
            frame.patterns.extend(fields.patterns.iter().map(|(pattern, _)| pattern));
        }
        for some in &objects.some {
            if let KeyPlace::Matching(pattern) = some.place {
                frame.patterns.push(pattern);
            }
        }
        frame.patterns.sort_by_key(|pattern| pattern.source());
        frame.patterns.dedup_by_key(|pattern| pattern.source());
        frame.mentioned.extend(objects.present.keys());
    }

    /// Whether a name satisfies what all names, and this one, must.
    fn check_name(&self, objects: &Objects<'a>, name: &str, also: Option<Literal>) -> Option<bool> {
        let value = Value::String(name.to_owned());
        let mut unknown = false;
        for literal in objects.names.iter().copied().chain(also) {
            match self.holds(literal, &value) {
                Some(false) => return Some(false),
                Some(true) => {}
                None => unknown = true,
            }
        }
        (!unknown).then_some(true)
    }

    /// Whether a property of this name may be the one that must stand at `place`.
    fn stands_at(&self, place: KeyPlace<'a>, name: &str) -> bool {
        match place {
            KeyPlace::Anywhere => true,
            KeyPlace::Matching(pattern) => evaluate::matches(pattern, name) != Some(false),
            KeyPlace::Outside(literal) => self.fields(literal).is_some_and(|fields| {
                fields.named(name).is_none()
                    && !fields
                        .patterns
                        .iter()
                        .any(|(pattern, _)| evaluate::matches(pattern, name) == Some(true))
            }),
        }
    }

    /// Finds a property for each that must exist somewhere.
    fn place_some(&mut self, frame: &Frame<'_, 'a>, next: usize, plan: Plan) -> Answer {
        let Some(some) = frame.objects.some.get(next).copied() else { return self.complete(frame, plan) };
        if let Err(stopped) = self.enter() {
            return Answer::Doubt(stopped);
        }
        let answer = self.place_one(frame, next, &plan, some);
        self.frames -= 1;
        answer
    }

    fn place_one(&mut self, frame: &Frame<'_, 'a>, next: usize, plan: &Plan, some: Somewhere<'a>) -> Answer {
        let mut doubt = None;
        let mut picked_a_name = false;
        let candidates: BTreeSet<&str> =
            plan.keys().map(String::as_str).chain(frame.mentioned.iter().copied()).collect();
        for name in candidates {
            if frame.objects.absent.contains(name)
                || !self.stands_at(some.place, name)
                || self.check_name(frame.objects, name, some.name) == Some(false)
            {
                continue;
            }
            let mut state = plan.get(name).cloned().unwrap_or_else(|| self.value_state(frame.objects, name));
            state.extend(some.value);
            match self.place_at(frame, next, plan, name, state) {
                Answer::Empty => {}
                Answer::Found(value) => return Answer::Found(value),
                Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
            }
        }
        for signs in signs(frame.patterns.len()) {
            let Some(mut state) = self.class_state(frame, &signs, Some(some)) else { continue };
            state.extend(some.value);
            if self.has_value(&state, &mut doubt) != Some(true) {
                continue;
            }
            match self.fresh_name(frame, plan, &signs, some.name) {
                Answer::Empty => {}
                Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
                Answer::Found(name) => {
                    let Value::String(name) = name else {
                        doubt = doubt.or(Some(Doubt::new(Cause::Strings, some.name)));
                        continue;
                    };
                    picked_a_name = true;
                    match self.place_at(frame, next, plan, &name, state) {
                        Answer::Empty => {}
                        Answer::Found(value) => return Answer::Found(value),
                        Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
                    }
                }
            }
        }
        // Names of a class are alike except to what is asked of one name: another pick could still suit all.
        let names_differ =
            frame.objects.some.len() > 1 && frame.objects.some.iter().any(|some| some.name.is_some());
        if frame.patterns.len() > MAX_PATTERNS || (picked_a_name && names_differ) {
            doubt = doubt.or(Some(Doubt::new(Cause::Counting, frame.objects.fields.first().copied())));
        }
        doubt.map_or(Answer::Empty, Answer::Doubt)
    }

    fn place_at(
        &mut self,
        frame: &Frame<'_, 'a>,
        next: usize,
        plan: &Plan,
        name: &str,
        state: Vec<Literal>,
    ) -> Answer {
        let max = frame.objects.max.unwrap_or(u64::MAX);
        if !plan.contains_key(name) && plan.len() as u64 >= max {
            return Answer::Empty;
        }
        if self.decide(state.clone()) == Answer::Empty {
            return Answer::Empty;
        }
        let mut placed = plan.clone();
        placed.insert(name.to_owned(), state);
        self.place_some(frame, next + 1, placed)
    }

    /// What values under made-up names of one class must satisfy; `None` when the class is not where it should be.
    fn class_state(
        &self,
        frame: &Frame<'_, 'a>,
        signs: &[bool],
        some: Option<Somewhere<'a>>,
    ) -> Option<Vec<Literal>> {
        let matches = |pattern: &Pattern| {
            let known = frame.patterns.iter().position(|known| known.source() == pattern.source());
            known.and_then(|at| signs.get(at)).copied().unwrap_or(false)
        };
        let stands = match some.map_or(KeyPlace::Anywhere, |some| some.place) {
            KeyPlace::Anywhere => true,
            KeyPlace::Matching(pattern) => matches(pattern),
            KeyPlace::Outside(literal) => self
                .fields(literal)
                .is_some_and(|fields| !fields.patterns.iter().any(|(pattern, _)| matches(pattern))),
        };
        if !stands {
            return None;
        }
        let mut state = Vec::new();
        for literal in &frame.objects.fields {
            let Some(fields) = self.fields(*literal) else { continue };
            let mut by_pattern = fields.patterns.iter().filter(|(pattern, _)| matches(pattern)).peekable();
            if by_pattern.peek().is_none()
                && let Some(rest) = fields.rest
            {
                self.push_unless_trivial(literal.sibling(rest), &mut state);
            }
            for (_, id) in by_pattern {
                self.push_unless_trivial(literal.sibling(*id), &mut state);
            }
        }
        Some(state)
    }

    /// A name of the class that is not mentioned, ruled out or used.
    fn fresh_name(
        &mut self,
        frame: &Frame<'_, 'a>,
        plan: &Plan,
        signs: &[bool],
        also: Option<Literal>,
    ) -> Answer {
        let used = plan.keys().map(String::as_str);
        let mut not: BTreeSet<&str> =
            frame.mentioned.iter().copied().chain(frame.objects.absent.iter().copied()).chain(used).collect();
        // A name that can be seen in a message, if there is one.
        if not.insert("") {
            let visible = self.name_other_than(&not, frame, signs, also);
            if let Answer::Found(_) = visible {
                return visible;
            }
            not.remove("");
        }
        self.name_other_than(&not, frame, signs, also)
    }

    fn name_other_than(
        &mut self,
        not: &BTreeSet<&str>,
        frame: &Frame<'_, 'a>,
        signs: &[bool],
        also: Option<Literal>,
    ) -> Answer {
        let mut facts = Facts { types: Types::STRING, ..Facts::default() };
        let state: Vec<Literal> = frame.objects.names.iter().copied().chain(also).collect();
        for literal in &state {
            if self.assert(&mut facts, *literal).is_err() {
                return Answer::Empty;
            }
        }
        facts.strings.patterns.extend(frame.patterns.iter().copied().zip(signs.iter().copied()));
        facts.strings.not = not.iter().map(|name| (*name).to_owned()).collect();
        self.branch(&state, facts)
    }

    /// Adds properties up to the least number, and values to all.
    fn complete(&mut self, frame: &Frame<'_, 'a>, mut plan: Plan) -> Answer {
        let max = frame.objects.max.unwrap_or(u64::MAX);
        if plan.len() as u64 > max {
            return Answer::Empty;
        }
        let mut doubt = None;
        if frame.objects.min > plan.len() as u64 {
            if frame.objects.min - plan.len() as u64 > MAX_ADDED {
                return Answer::Doubt(Doubt::new(Cause::Counting, None));
            }
            doubt = self.add_properties(frame, &mut plan, frame.objects.min);
            if (plan.len() as u64) < frame.objects.min {
                return doubt.map_or(Answer::Empty, Answer::Doubt);
            }
        }
        let mut object = Map::new();
        let mut n_written = 0_usize;
        for (name, state) in &plan {
            match self.decide(state.clone()) {
                Answer::Empty => return Answer::Empty,
                Answer::Found(value) => {
                    n_written = n_written.saturating_add(size(&value));
                    if n_written > MAX_SIZE {
                        return Answer::Doubt(Doubt::new(Cause::Counting, None));
                    }
                    object.insert(name.clone(), value);
                }
                Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
            }
        }
        let object = Value::Object(object);
        if object.as_object().is_none_or(|object| object.len() != plan.len()) {
            return doubt.map_or(Answer::Empty, Answer::Doubt);
        }
        if frame.taken.contains(&object) { self.larger(frame, plan) } else { Answer::Found(object) }
    }

    /// Another object: one with a property more.
    fn larger(&mut self, frame: &Frame<'_, 'a>, mut plan: Plan) -> Answer {
        let unsure = Answer::Doubt(Doubt::new(Cause::Counting, None));
        let wanted = plan.len() as u64 + 1;
        if frame.objects.max.is_some_and(|max| wanted > max) || self.enter().is_err() {
            return unsure;
        }
        let doubt = self.add_properties(frame, &mut plan, wanted);
        let answer = if doubt.is_some() || (plan.len() as u64) < wanted {
            unsure.clone()
        } else {
            self.complete(frame, plan)
        };
        self.frames -= 1;
        if answer == Answer::Empty { unsure } else { answer }
    }

    /// Adds properties that nothing asks for until there are `wanted`, or no more exist.
    fn add_properties(&mut self, frame: &Frame<'_, 'a>, plan: &mut Plan, wanted: u64) -> Option<Doubt> {
        let mut doubt = None;
        for name in &frame.mentioned {
            if plan.len() as u64 >= wanted {
                return None;
            }
            if plan.contains_key(*name)
                || frame.objects.absent.contains(name)
                || self.check_name(frame.objects, name, None) == Some(false)
            {
                continue;
            }
            let state = self.value_state(frame.objects, name);
            if self.has_value(&state, &mut doubt) == Some(true) {
                plan.insert((*name).to_owned(), state);
            }
        }
        for signs in signs(frame.patterns.len()) {
            let Some(state) = self.class_state(frame, &signs, None) else { continue };
            if self.has_value(&state, &mut doubt) != Some(true) {
                continue;
            }
            while (plan.len() as u64) < wanted {
                match self.fresh_name(frame, plan, &signs, None) {
                    Answer::Found(Value::String(name)) => {
                        plan.insert(name, state.clone());
                    }
                    Answer::Doubt(cause) => {
                        doubt = doubt.or(Some(cause));
                        break;
                    }
                    Answer::Empty => break,
                    Answer::Found(_) => {
                        doubt = doubt.or(Some(Doubt::new(Cause::Strings, None)));
                        break;
                    }
                }
            }
        }
        if frame.patterns.len() > MAX_PATTERNS {
            doubt = doubt.or(Some(Doubt::new(Cause::Counting, None)));
        }
        doubt
    }
}

/// Every way `n` patterns can match; only as many as can be told apart.
fn signs(n: usize) -> impl Iterator<Item = Vec<bool>> {
    let told_apart = n.min(MAX_PATTERNS);
    (0..1_u32 << told_apart)
        .map(move |bits| (0..n).map(|at| at < told_apart && bits >> at & 1 == 1).collect())
}
