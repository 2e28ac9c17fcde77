//! Numbers: an interval, steps to be on, steps to be off.
//!
//! Integers and multiples are a lattice, walked outward from zero or from the nearer end. Numbers without a step are dense:
//! an open interval always holds one, and only finding one that JSON can write takes tries.

use serde_json::{Map, Value};

use super::facts::{Facts, Numbers};
use super::{Answer, Cause, Doubt, Solver};
use crate::data;
use crate::node::Types;
use crate::rational::Rational;

/// Lattice points tried beyond the excluded ones.
const MAX_TRIES: usize = 3_000;

/// Denominators of the fractions tried.
const DENOMINATORS: [i128; 14] = [
    2,
    4,
    10,
    5,
    8,
    3,
    100,
    16,
    1_000,
    10_000,
    1_000_000,
    1_000_000_000,
    1_000_000_000_000,
    1_000_000_000_000_000,
];

impl<'a> Solver<'a> {
    pub(super) fn number(&mut self, facts: &Facts<'a>) -> Answer {
        let mut doubt = None;
        for (of, as_float) in [(Types::PLAIN, false), (Types::WHOLE, true)] {
            // The spellings only matter where one of them is ruled out.
            if facts.types.intersects(of) && (!as_float || !facts.types.intersects(Types::PLAIN)) {
                match self.whole(facts, as_float) {
                    Answer::Empty => {}
                    Answer::Found(value) => return Answer::Found(value),
                    Answer::Doubt(cause) => doubt = Some(cause),
                }
            }
        }
        if facts.types.intersects(Types::FRACTION) {
            match self.fraction(facts) {
                Answer::Empty => {}
                Answer::Found(value) => return Answer::Found(value),
                Answer::Doubt(cause) => doubt = doubt.or(Some(cause)),
            }
        }
        doubt.map_or(Answer::Empty, Answer::Doubt)
    }

    fn whole(&mut self, facts: &Facts<'a>, as_float: bool) -> Answer {
        self.lattice(facts, Rational::ONE, as_float, &[])
    }

    fn fraction(&mut self, facts: &Facts<'a>) -> Answer {
        if let Some((first, rest)) = facts.numbers.steps.split_first() {
            let Some(step) = rest.iter().try_fold(*first, |step, next| step.least_common_multiple(*next))
            else {
                return unsure();
            };
            return self.lattice(facts, step, false, &[Rational::ONE]);
        }
        let numbers = &facts.numbers;
        if let (Some((lower, lower_open)), Some((upper, upper_open))) = (numbers.lower, numbers.upper) {
            if lower > upper || (lower == upper && (lower_open || upper_open || lower.is_integer())) {
                return Answer::Empty;
            }
            if lower == upper {
                return match is_off(lower, numbers, &[]) {
                    None => unsure(),
                    Some(false) => Answer::Empty,
                    Some(true) => match lower.write(false) {
                        Some(value) if is_free(facts, &value) => Answer::Found(value),
                        Some(_) => Answer::Empty,
                        None => unsure(),
                    },
                };
            }
        }
        for denominator in DENOMINATORS {
            let Some(part) = Rational::new(1, denominator) else { continue };
            let Some(range) = points(numbers, part) else { continue };
            for count in range.take(12) {
                let Some(value) = Rational::new(count, denominator) else { continue };
                if value.is_integer() || is_off(value, numbers, &[]) != Some(true) {
                    continue;
                }
                if let Some(written) = value.write(false).filter(|written| is_free(facts, written)) {
                    return Answer::Found(written);
                }
            }
        }
        // There is one, since the interval is open and only single points are excluded.
        unsure()
    }

    /// Multiples of `step` (and of all steps asked for), off the steps not allowed and off `also_off`.
    fn lattice(
        &mut self,
        facts: &Facts<'a>,
        step: Rational,
        as_float: bool,
        also_off: &[Rational],
    ) -> Answer {
        let numbers = &facts.numbers;
        let Some(step) = numbers.steps.iter().try_fold(step, |step, next| step.least_common_multiple(*next))
        else {
            return unsure();
        };
        let mut off = numbers.not_steps.iter().chain(also_off);
        if off.any(|unwanted| step.is_multiple_of(*unwanted) == Some(true)) {
            return Answer::Empty;
        }
        let Some(range) = points(numbers, step) else { return unsure() };
        let n_excluded: usize = facts.excluded.iter().map(|excluded| excluded.len()).sum();
        let limit = MAX_TRIES + n_excluded + facts.taken.len();
        for (tried, count) in range.enumerate() {
            if let Err(stopped) = self.step() {
                return Answer::Doubt(stopped);
            }
            if tried >= limit {
                return unsure();
            }
            let Some(value) = Rational::integer(count).checked_mul(step) else { return unsure() };
            match is_off(value, numbers, also_off) {
                None => return unsure(),
                Some(false) => continue,
                Some(true) => {}
            }
            match value.write(as_float) {
                Some(written) if is_free(facts, &written) => return Answer::Found(written),
                Some(_) => {}
                None => return unsure(),
            }
        }
        Answer::Empty
    }
}

fn unsure() -> Answer {
    Answer::Doubt(Doubt::new(Cause::Numbers, None))
}

/// Whether `value` is a multiple of none of the steps not allowed.
fn is_off(value: Rational, numbers: &Numbers, also_off: &[Rational]) -> Option<bool> {
    for unwanted in numbers.not_steps.iter().chain(also_off) {
        if value.is_multiple_of(*unwanted)? {
            return Some(false);
        }
    }
    Some(true)
}

/// Whether a scalar is neither taken nor excluded.
pub(super) fn is_free(facts: &Facts<'_>, value: &Value) -> bool {
    !facts.taken.iter().any(|taken| data::same(taken, value))
        && !facts.excluded.iter().any(|excluded| data::contains(excluded, value))
}

/// The multiples of `step` inside the interval, as counts of steps, those near zero first.
fn points(numbers: &Numbers, step: Rational) -> Option<Box<dyn Iterator<Item = i128>>> {
    let first = match numbers.lower {
        None => None,
        Some((limit, open)) => {
            let count = limit.checked_div(step)?;
            let below = count.floor();
            let on_it = count.is_integer();
            Some(if on_it && !open { below } else { below.checked_add(1)? })
        }
    };
    let last = match numbers.upper {
        None => None,
        Some((limit, open)) => {
            let count = limit.checked_div(step)?;
            let below = count.floor();
            Some(if count.is_integer() && open { below.checked_sub(1)? } else { below })
        }
    };
    let from = first.unwrap_or(i128::MIN / 4);
    let to = last.unwrap_or(i128::MAX / 4);
    if from > to {
        return Some(Box::new(std::iter::empty()));
    }
    let start = 0.clamp(from, to);
    let mut offset = 0_i128;
    let mut upward = true;
    Some(Box::new(std::iter::from_fn(move || {
        loop {
            let up = start.checked_add(offset).filter(|count| *count <= to);
            let down = start.checked_sub(offset).filter(|count| *count >= from && offset != 0);
            let next = if upward { up } else { down };
            if upward {
                upward = false;
            } else {
                if up.is_none() && down.is_none() && offset != 0 {
                    return None;
                }
                upward = true;
                offset = offset.checked_add(1)?;
            }
            if next.is_some() {
                return next;
            }
            if up.is_none() && down.is_none() && offset != 0 {
                return None;
            }
        }
    })))
}

/// Every way to write a value with each of its integers as `1` or as `1.0`; `None` when there are too many.
pub(super) fn spellings(value: &Value) -> Option<Vec<Value>> {
    const MOST: usize = 256;
    let product = |done: Vec<Vec<Value>>, next: Vec<Value>| -> Option<Vec<Vec<Value>>> {
        let all: Vec<Vec<Value>> = done
            .iter()
            .flat_map(|head| next.iter().map(|last| head.iter().cloned().chain([last.clone()]).collect()))
            .collect();
        (all.len() <= MOST).then_some(all)
    };
    let all = |values: Vec<&Value>| {
        values.into_iter().try_fold(vec![Vec::new()], |done, value| product(done, spellings(value)?))
    };
    match value {
        Value::Number(number) => {
            let float = Rational::read(number).and_then(|number| number.write(true));
            Some(std::iter::once(value.clone()).chain(float.filter(|float| float != value)).collect())
        }
        Value::Array(items) => Some(all(items.iter().collect())?.into_iter().map(Value::Array).collect()),
        Value::Object(object) => {
            let named = |values: Vec<Value>| object.keys().cloned().zip(values).collect::<Map<_, _>>();
            Some(
                all(object.values().collect())?
                    .into_iter()
                    .map(|values| Value::Object(named(values)))
                    .collect(),
            )
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Some(vec![value.clone()]),
    }
}
