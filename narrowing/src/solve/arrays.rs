//! Arrays: which schemas each position has, which items must exist somewhere, how many may.
//!
//! Items that must exist are placed in every way that could matter: positions behind all others are alike, so only the
//! first free one of them is tried. The shortest array that holds everything is built; a longer one never helps, except
//! where a length is asked for.

use serde_json::Value;

use super::facts::{Arrays, Facts};
use super::literal::Literal;
use super::{Answer, Cause, Doubt, MAX_SIZE, Solver, size};
use crate::data;
use crate::node::Kind;

/// Items asked for one by one.
const MAX_WANTED: u64 = 64;

/// Items written out.
const MAX_LENGTH: u64 = 5_000;

/// Items that must all differ.
const MAX_DIFFERENT: usize = 128;

/// An item that must exist.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    from: usize,
    literal: Literal,
    /// The same item wanted before this one: it comes first.
    after_previous: bool,
}

/// An array under construction: what each position must satisfy beyond its own schema.
#[derive(Debug, Clone, Default)]
struct Plan {
    extra: Vec<Vec<Literal>>,
    /// Two positions that hold equal items.
    linked: Option<(usize, usize)>,
}

struct Frame<'f> {
    arrays: &'f Arrays,
    /// Applies to every position.
    everywhere: Vec<Literal>,
    n_own: usize,
    min: usize,
    max: Option<usize>,
    taken: &'f [Value],
}

impl<'a> Solver<'a> {
    pub(super) fn array(&mut self, facts: &Facts<'a>) -> Answer {
        let arrays = &facts.arrays;
        let everywhere: Vec<Literal> =
            arrays.at_most.iter().filter(|(n, _)| *n == 0).map(|(_, literal)| literal.negated()).collect();
        let n_listed = arrays
            .items
            .iter()
            .map(|items| if let Kind::Items { prefix, .. } = self.kind(*items) { prefix.len() } else { 0 });
        let n_listed = n_listed.max().unwrap_or(0);
        let n_asked = arrays.at.keys().next_back().map_or(0, |at| at.saturating_add(1));
        let min = arrays.min.max(n_asked);
        if arrays.max.is_some_and(|max| max < min) {
            return Answer::Empty;
        }
        // From there on positions are alike for every item that must exist.
        let n_skipped = arrays.from.iter().map(|(from, _)| *from).max().unwrap_or(0);
        let (Ok(min), Ok(n_asked), Ok(n_skipped)) =
            (usize::try_from(min), usize::try_from(n_asked), usize::try_from(n_skipped))
        else {
            return unsure();
        };
        let mut frame = Frame {
            arrays,
            everywhere,
            n_own: n_listed.max(n_asked).max(n_skipped),
            min,
            max: arrays.max.and_then(|max| usize::try_from(max).ok()),
            taken: &facts.taken,
        };
        // A position that cannot be filled ends the array.
        for at in 0..=frame.n_own {
            if frame.max.is_some_and(|max| at >= max) {
                break;
            }
            if self.decide(self.position(&frame, at, &[])) == Answer::Empty {
                frame.max = Some(at);
                break;
            }
        }
        if frame.max.is_some_and(|max| max < frame.min) {
            return Answer::Empty;
        }
        let Some(wanted) = wanted(arrays) else { return unsure() };
        if !arrays.duplicate {
            return self.place(&frame, &wanted, 0, Plan::default(), 0);
        }
        let n_candidates = frame.n_own + wanted.len() + 2;
        let mut doubt = None;
        for second in 1..n_candidates {
            for first in 0..second {
                let linked = Some((first, second));
                match self.place(&frame, &wanted, 0, Plan { linked, ..Plan::default() }, 0) {
                    Answer::Empty => {}
                    Answer::Found(value) => return Answer::Found(value),
                    Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
                }
            }
        }
        doubt.map_or(Answer::Empty, Answer::Doubt)
    }

    /// What a position must satisfy.
    fn position(&self, frame: &Frame<'_>, at: usize, extra: &[Literal]) -> Vec<Literal> {
        let mut state = frame.everywhere.clone();
        for items in &frame.arrays.items {
            if let Kind::Items { prefix, rest } = self.kind(*items) {
                let id = prefix.get(at).unwrap_or(rest);
                if !matches!(self.kind(items.sibling(*id)), Kind::Anything) {
                    state.push(items.sibling(*id));
                }
            }
        }
        if let Some(own) = u64::try_from(at).ok().and_then(|at| frame.arrays.at.get(&at)) {
            state.extend(own);
        }
        state.extend(extra);
        state
    }

    /// Finds a position for each item that must exist.
    fn place(
        &mut self,
        frame: &Frame<'_>,
        wanted: &[Wanted],
        next: usize,
        plan: Plan,
        earlier: usize,
    ) -> Answer {
        let Some(item) = wanted.get(next) else { return self.fill(frame, plan) };
        if let Err(stopped) = self.enter() {
            return Answer::Doubt(stopped);
        }
        let from = if item.after_previous { item.from.max(earlier) } else { item.from };
        let last = plan.extra.len().max(frame.n_own).max(from);
        let mut doubt = None;
        for at in from..=last {
            if frame.max.is_some_and(|max| at >= max) {
                break;
            }
            let mut placed = plan.clone();
            if placed.extra.len() <= at {
                placed.extra.resize(at + 1, Vec::new());
            }
            let Some(extra) = placed.extra.get_mut(at) else { continue };
            extra.push(item.literal);
            let state = self.position(frame, at, &extra.clone());
            let answer = match self.decide(state) {
                Answer::Empty => Answer::Empty,
                Answer::Found(_) | Answer::Doubt(_) => self.place(frame, wanted, next + 1, placed, at + 1),
            };
            match answer {
                Answer::Empty => {}
                Answer::Found(value) => {
                    self.frames -= 1;
                    return Answer::Found(value);
                }
                Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
            }
        }
        self.frames -= 1;
        doubt.map_or(Answer::Empty, Answer::Doubt)
    }

    /// The shortest array with the planned items.
    fn fill(&mut self, frame: &Frame<'_>, mut plan: Plan) -> Answer {
        let linked_end = plan.linked.map_or(0, |(_, second)| second + 1);
        let length = frame.min.max(plan.extra.len()).max(linked_end);
        if frame.max.is_some_and(|max| length > max) {
            return Answer::Empty;
        }
        if u64::try_from(length).unwrap_or(u64::MAX) > MAX_LENGTH {
            return unsure();
        }
        // Behind this, positions are all alike.
        let n_different = plan.extra.len().max(frame.n_own).max(linked_end).min(length);
        let limited: Vec<(u64, Literal)> =
            frame.arrays.at_most.iter().copied().filter(|(n, _)| *n > 0).collect();
        plan.extra.resize(if limited.is_empty() { n_different } else { length }, Vec::new());
        if let Some(answer) = self.limit(frame, &mut plan, &limited) {
            return answer;
        }
        // Keeping to a limit was decided item by item; another distribution could still do.
        let is_guess = !limited.is_empty() && (frame.arrays.unique || plan.linked.is_some());
        let answer = if frame.arrays.unique {
            self.all_different(frame, &plan, length)
        } else {
            self.write_out(frame, plan, length, n_different, !limited.is_empty())
        };
        if is_guess && answer == Answer::Empty { unsure() } else { answer }
    }

    fn write_out(
        &mut self,
        frame: &Frame<'_>,
        plan: Plan,
        length: usize,
        n_different: usize,
        is_limited: bool,
    ) -> Answer {
        if let Err(stopped) = self.charge(length) {
            return Answer::Doubt(stopped);
        }
        let mut items: Vec<Value> = Vec::with_capacity(length);
        let mut n_written = 0_usize;
        let mut size_of_last = 0_usize;
        let mut doubt = None;
        for at in 0..length {
            if at > n_different && !is_limited && at > plan.extra.len() {
                // All others are like the last one.
                n_written = n_written.saturating_add(size_of_last.saturating_mul(length - at));
                if n_written > MAX_SIZE {
                    return unsure();
                }
                if let Err(stopped) = self.charge(n_written) {
                    return Answer::Doubt(stopped);
                }
                let Some(last) = items.last().cloned() else { break };
                items.resize(length, last);
                break;
            }
            let mut extra = plan.extra.get(at).cloned().unwrap_or_default();
            if let Some((first, second)) = plan.linked {
                let other = if at == first { Some(second) } else { (at == second).then_some(first) };
                if let Some(other) = other {
                    let theirs = plan.extra.get(other).cloned().unwrap_or_default();
                    extra.extend(self.position(frame, other, &theirs));
                }
            }
            match self.decide(self.position(frame, at, &extra)) {
                // Two items that are equal and spelt apart need not be one value.
                Answer::Empty if plan.linked.is_some() && self.tells_spellings_apart() => return unsure(),
                Answer::Empty => return Answer::Empty,
                Answer::Found(value) => {
                    size_of_last = size(&value);
                    n_written = n_written.saturating_add(size_of_last);
                    if n_written > MAX_SIZE {
                        return unsure();
                    }
                    items.push(value);
                }
                Answer::Doubt(cause) => {
                    doubt = doubt.or(Some(cause));
                    items.push(Value::Null);
                }
            }
        }
        if let Some(cause) = doubt {
            return Answer::Doubt(cause);
        }
        let array = Value::Array(items);
        if frame.taken.contains(&array) { self.longer(frame, plan, length) } else { Answer::Found(array) }
    }

    /// Another array: one item more.
    fn longer(&mut self, frame: &Frame<'_>, plan: Plan, length: usize) -> Answer {
        if frame.max.is_some_and(|max| length >= max) || length >= MAX_DIFFERENT || self.enter().is_err() {
            return unsure();
        }
        let longer = Frame {
            arrays: frame.arrays,
            everywhere: frame.everywhere.clone(),
            n_own: frame.n_own,
            min: length + 1,
            max: frame.max,
            taken: frame.taken,
        };
        let answer = self.fill(&longer, plan);
        self.frames -= 1;
        if answer == Answer::Empty { unsure() } else { answer }
    }

    /// Lets only so many items satisfy a literal: all others must not.
    fn limit(&mut self, frame: &Frame<'_>, plan: &mut Plan, limited: &[(u64, Literal)]) -> Option<Answer> {
        for (n, literal) in limited {
            let mut n_used = 0;
            for at in 0..plan.extra.len() {
                if let Err(stopped) = self.step() {
                    return Some(Answer::Doubt(stopped));
                }
                let mut extra = plan.extra.get(at).cloned().unwrap_or_default();
                extra.push(literal.negated());
                if self.decide(self.position(frame, at, &extra)) == Answer::Empty {
                    n_used += 1;
                } else if let Some(kept) = plan.extra.get_mut(at) {
                    *kept = extra;
                }
            }
            if n_used > *n {
                // With several limits another distribution could still do.
                let is_exact = limited.len() == 1 && plan.linked.is_none();
                return Some(if is_exact { Answer::Empty } else { unsure() });
            }
        }
        None
    }

    /// Items that all differ: a matching of positions and values.
    fn all_different(&mut self, frame: &Frame<'_>, plan: &Plan, length: usize) -> Answer {
        if plan.linked.is_some() {
            return Answer::Empty;
        }
        if length > MAX_DIFFERENT {
            return unsure();
        }
        let mut choices: Vec<Vec<Value>> = Vec::with_capacity(length);
        let mut doubt = None;
        let mut known: Vec<(Vec<Literal>, usize)> = Vec::new();
        let total =
            |values: &[Value]| values.iter().fold(0_usize, |sum, value| sum.saturating_add(size(value)));
        for at in 0..length {
            let mut state = self.position(frame, at, plan.extra.get(at).map_or(&[], |extra| extra));
            state.sort_unstable();
            state.dedup();
            let seen = known.iter().find(|(other, _)| *other == state).map(|(_, at)| *at);
            if let Some(values) = seen.and_then(|at| choices.get(at)) {
                if let Err(stopped) = self.charge(total(values)) {
                    return Answer::Doubt(stopped);
                }
                choices.push(values.clone());
                continue;
            }
            let mut values: Vec<Value> = Vec::new();
            while values.len() < length {
                match self.decide_without(&state, &values) {
                    Answer::Empty => break,
                    Answer::Found(value) if !values.iter().any(|known| data::same(known, &value)) => {
                        values.push(value);
                    }
                    Answer::Found(_) => {
                        doubt = doubt.or(Some(Doubt::new(Cause::Counting, None)));
                        break;
                    }
                    Answer::Doubt(cause) => {
                        doubt = doubt.or(Some(cause));
                        break;
                    }
                }
            }
            if total(&values) > MAX_SIZE {
                return unsure();
            }
            known.push((state, choices.len()));
            choices.push(values);
        }
        match assign(&choices) {
            Some(items) => {
                let array = Value::Array(items);
                if frame.taken.contains(&array) { unsure() } else { Answer::Found(array) }
            }
            None => doubt.map_or(Answer::Empty, Answer::Doubt),
        }
    }
}

fn unsure() -> Answer {
    Answer::Doubt(Doubt::new(Cause::Counting, None))
}

/// One entry for each item that must exist.
fn wanted(arrays: &Arrays) -> Option<Vec<Wanted>> {
    let mut wanted = Vec::new();
    for (from, literal) in &arrays.from {
        wanted.push(Wanted { from: usize::try_from(*from).ok()?, literal: *literal, after_previous: false });
    }
    for (n, literal) in &arrays.at_least {
        if *n > MAX_WANTED {
            return None;
        }
        wanted.extend((0..*n).map(|number| Wanted {
            from: 0,
            literal: *literal,
            after_previous: number > 0,
        }));
    }
    Some(wanted)
}

/// A different value for every position, by augmenting paths.
fn assign(choices: &[Vec<Value>]) -> Option<Vec<Value>> {
    let mut values: Vec<&Value> = Vec::new();
    let numbered: Vec<Vec<usize>> = choices
        .iter()
        .map(|choice| {
            choice
                .iter()
                .map(|value| {
                    values.iter().position(|known| data::same(known, value)).unwrap_or_else(|| {
                        values.push(value);
                        values.len() - 1
                    })
                })
                .collect()
        })
        .collect();
    let mut owner: Vec<Option<usize>> = vec![None; values.len()];
    for position in 0..choices.len() {
        let mut seen = vec![false; values.len()];
        if !augment(position, &numbered, &mut owner, &mut seen) {
            return None;
        }
    }
    let mut items = vec![Value::Null; choices.len()];
    for (value, position) in values.into_iter().zip(owner) {
        if let Some(item) = position.and_then(|position| items.get_mut(position)) {
            *item = value.clone();
        }
    }
    Some(items)
}

fn augment(position: usize, numbered: &[Vec<usize>], owner: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for value in numbered.get(position).into_iter().flatten().copied() {
        if seen.get(value).copied().unwrap_or(true) {
            continue;
        }
        if let Some(seen) = seen.get_mut(value) {
            *seen = true;
        }
        let holder = owner.get(value).copied().flatten();
        if holder.is_none_or(|holder| augment(holder, numbered, owner, seen)) {
            if let Some(owner) = owner.get_mut(value) {
                *owner = Some(position);
            }
            return true;
        }
    }
    false
}
