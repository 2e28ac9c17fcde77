//! A set of strings as an automaton without empty moves (after Glushkov).
//!
//! A state is a place in the expression where a character was just read; state 0 is the beginning. Anchors are resolved
//! while building: the beginning of the string is a property of state 0, the end of acceptance.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Characters as sorted, disjoint, inclusive ranges.
pub(crate) type CharSet = Box<[(char, char)]>;

/// States beyond which an expression is not turned into an automaton.
const MAX_STATES: usize = 4_000;

/// Moves beyond which an expression is not turned into an automaton.
const MAX_MOVES: usize = 60_000;

#[derive(Debug)]
pub(crate) struct Automaton {
    /// The character each state has read; meaningless for state 0.
    pub(crate) reads: Vec<u32>,
    /// States that can come next.
    pub(crate) follows: Vec<Box<[u32]>>,
    /// Whether the string may end here.
    pub(crate) accepts: Vec<bool>,
    pub(crate) sets: Vec<CharSet>,
}

impl Automaton {
    /// The strings in which `expression` matches somewhere. `None` where it asserts anything but the beginning or the end of
    /// the string, such as `\b`, or needs too many states.
    pub(crate) fn searching(expression: &Hir) -> Option<Self> {
        Builder::default().build(expression)
    }

    /// Whether it accepts `text`.
    pub(crate) fn accepts_text(&self, text: &str) -> bool {
        let mut current = vec![0_u32];
        let mut next = Vec::new();
        for read in text.chars() {
            next.clear();
            for state in current.iter().flat_map(|state| self.follows(*state)) {
                if !next.contains(state) && self.reads_char(*state, read) {
                    next.push(*state);
                }
            }
            if next.is_empty() {
                return false;
            }
            std::mem::swap(&mut current, &mut next);
        }
        current.iter().any(|state| self.accepts_at(*state))
    }

    pub(crate) fn follows(&self, state: u32) -> &[u32] {
        self.follows.get(state as usize).map_or(&[], |follows| follows)
    }

    pub(crate) fn accepts_at(&self, state: u32) -> bool {
        self.accepts.get(state as usize).copied().unwrap_or(false)
    }

    pub(crate) fn set_of(&self, state: u32) -> Option<u32> {
        self.reads.get(state as usize).copied()
    }

    fn reads_char(&self, state: u32, read: char) -> bool {
        self.set_of(state).and_then(|set| self.sets.get(set as usize)).is_some_and(|set| {
            set.binary_search_by(|(from, to)| {
                if *to < read {
                    std::cmp::Ordering::Less
                } else if *from > read {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok()
        })
    }
}

/// A move of the intermediate automaton, which still has empty moves.
#[derive(Debug, Clone)]
enum Move {
    Read(u32, usize),
    Fork(Vec<usize>),
    Beginning(usize),
    End(usize),
    Done,
}

#[derive(Default)]
struct Builder {
    moves: Vec<Move>,
    sets: Vec<CharSet>,
}

impl Builder {
    fn build(mut self, expression: &Hir) -> Option<Automaton> {
        let any = self.set(Box::new([('\0', char::MAX)]));
        let done = self.push(Move::Done)?;
        // After a match anything may follow.
        let tail = self.push(Move::Done)?;
        let rest = self.push(Move::Read(any, tail))?;
        self.replace(tail, Move::Fork(vec![done, rest]));
        let matched = self.expression(expression, tail)?;
        // Before a match anything may stand.
        let head = self.push(Move::Done)?;
        let skip = self.push(Move::Read(any, head))?;
        self.replace(head, Move::Fork(vec![matched, skip]));
        self.without_empty_moves(head)
    }

    /// The entry of `expression` when `next` follows it.
    fn expression(&mut self, expression: &Hir, next: usize) -> Option<usize> {
        match expression.kind() {
            HirKind::Empty => Some(next),
            HirKind::Literal(literal) => {
                let text = str::from_utf8(&literal.0).ok()?;
                text.chars().rev().try_fold(next, |next, read| {
                    let set = self.set(Box::new([(read, read)]));
                    self.push(Move::Read(set, next))
                })
            }
            HirKind::Class(Class::Unicode(class)) => {
                let set = self.set(class.iter().map(|range| (range.start(), range.end())).collect());
                self.push(Move::Read(set, next))
            }
            HirKind::Class(Class::Bytes(class)) => {
                if !class.is_ascii() {
                    return None;
                }
                let set =
                    self.set(class.iter().map(|range| (range.start().into(), range.end().into())).collect());
                self.push(Move::Read(set, next))
            }
            HirKind::Look(Look::Start) => self.push(Move::Beginning(next)),
            HirKind::Look(Look::End) => self.push(Move::End(next)),
            HirKind::Look(_) => None,
            HirKind::Capture(capture) => self.expression(&capture.sub, next),
            HirKind::Concat(parts) => {
                parts.iter().rev().try_fold(next, |next, part| self.expression(part, next))
            }
            HirKind::Alternation(parts) => {
                let entries = parts.iter().map(|part| self.expression(part, next)).collect::<Option<_>>()?;
                self.push(Move::Fork(entries))
            }
            HirKind::Repetition(repetition) => {
                let sub = &repetition.sub;
                let mut entry = match repetition.max {
                    None => {
                        let again = self.push(Move::Done)?;
                        let body = self.expression(sub, again)?;
                        self.replace(again, Move::Fork(vec![body, next]));
                        again
                    }
                    Some(max) => {
                        let mut entry = next;
                        for _ in repetition.min..max {
                            let body = self.expression(sub, entry)?;
                            entry = self.push(Move::Fork(vec![body, next]))?;
                        }
                        entry
                    }
                };
                for _ in 0..repetition.min {
                    entry = self.expression(sub, entry)?;
                }
                Some(entry)
            }
        }
    }

    fn push(&mut self, step: Move) -> Option<usize> {
        if self.moves.len() >= 3 * MAX_STATES {
            return None;
        }
        self.moves.push(step);
        Some(self.moves.len() - 1)
    }

    fn replace(&mut self, at: usize, step: Move) {
        if let Some(place) = self.moves.get_mut(at) {
            *place = step;
        }
    }

    fn set(&mut self, set: CharSet) -> u32 {
        let known = self.sets.iter().rev().take(16).position(|known| *known == set);
        let at = known.map_or(self.sets.len(), |back| self.sets.len() - 1 - back);
        if known.is_none() {
            self.sets.push(set);
        }
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn without_empty_moves(self, entry: usize) -> Option<Automaton> {
        // State numbers of the reading moves; 0 is the beginning.
        let mut numbers = vec![0_u32; self.moves.len()];
        let mut reads = vec![0];
        let mut targets = vec![entry];
        for (number, step) in numbers.iter_mut().zip(&self.moves) {
            if let Move::Read(set, next) = step {
                *number = u32::try_from(reads.len()).ok()?;
                reads.push(*set);
                targets.push(*next);
            }
        }
        if reads.len() > MAX_STATES {
            return None;
        }
        let mut follows = Vec::with_capacity(reads.len());
        let mut accepts = Vec::with_capacity(reads.len());
        let mut n_moves = 0;
        let mut seen = vec![0_u32; self.moves.len() * 2];
        for (state, target) in targets.into_iter().enumerate() {
            let mark = u32::try_from(state + 1).ok()?;
            let (next, accept) = self.closure(target, state == 0, &numbers, &mut seen, mark);
            n_moves += next.len();
            if n_moves > MAX_MOVES {
                return None;
            }
            follows.push(next.into_boxed_slice());
            accepts.push(accept);
        }
        Some(Automaton { reads, follows, accepts, sets: self.sets })
    }

    /// The reading states reachable from `target` without reading, and whether the string may end there.
    fn closure(
        &self,
        target: usize,
        at_beginning: bool,
        numbers: &[u32],
        seen: &mut [u32],
        mark: u32,
    ) -> (Vec<u32>, bool) {
        let mut next = Vec::new();
        let mut accept = false;
        // A move is seen once without and once with the end of the string behind it.
        let mut pending = vec![(target, false)];
        while let Some((at, ended)) = pending.pop() {
            let Some(visited) = seen.get_mut(at * 2 + usize::from(ended)) else { continue };
            if std::mem::replace(visited, mark) == mark {
                continue;
            }
            match self.moves.get(at) {
                Some(Move::Beginning(then)) if at_beginning => pending.push((*then, ended)),
                Some(Move::Read(..)) if !ended => next.extend(numbers.get(at).copied()),
                Some(Move::Read(..) | Move::Beginning(_)) | None => {}
                Some(Move::Fork(entries)) => pending.extend(entries.iter().map(|entry| (*entry, ended))),
                Some(Move::End(then)) => pending.push((*then, true)),
                Some(Move::Done) => accept = true,
            }
        }
        next.sort_unstable();
        (next, accept)
    }
}
