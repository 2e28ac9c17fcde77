//! Is there a string that all of these accept and none of those?
//!
//! Breadth first, so the shortest such string is found. What must accept is followed one state at a time; what must not
//! accept is followed as a set of states, and a set that holds a smaller one already seen is dropped (an antichain). So
//! neither side is ever made deterministic as a whole, and inclusions whose automata would need 2^n states mostly stay
//! linear.

use std::collections::{BTreeMap, HashMap};

use super::automaton::Automaton;
use crate::solve::{MAX_SIZE, TEXT_PER_VALUE};

/// Characters of a string of which nothing but its length is asked.
const MAX_LENGTH: usize = MAX_SIZE * TEXT_PER_VALUE / 2;

#[derive(Debug, Default)]
pub(crate) struct Search<'a> {
    pub(crate) accepting: Vec<&'a Automaton>,
    pub(crate) refusing: Vec<&'a Automaton>,
    pub(crate) excluded: Vec<&'a str>,
    /// In characters.
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    /// Candidates that the caller may turn down before the search gives up.
    pub(crate) tries: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SearchOutcome {
    Found(String),
    /// There is no such string.
    Nothing,
    /// There are such strings, but the caller turned those down that were tried.
    TurnedDown,
    /// The budget ran out.
    Exhausted,
}

impl Search<'_> {
    /// `states` is what is left of the budget and is spent; `keep` has the last word on a candidate.
    pub(crate) fn run(&self, states: &mut u32, mut keep: impl FnMut(&str) -> bool) -> SearchOutcome {
        if self.max.is_some_and(|max| max < self.min) {
            return SearchOutcome::Nothing;
        }
        let simple = self.accepting.is_empty() && self.refusing.is_empty() && self.excluded.is_empty();
        if self.min > u64::from(*states) && !simple {
            return SearchOutcome::Exhausted;
        }
        if simple && self.min > 0 {
            let Ok(length) = usize::try_from(self.min) else { return SearchOutcome::Exhausted };
            if length > MAX_LENGTH {
                return SearchOutcome::Exhausted;
            }
            let text = "a".repeat(length);
            return if keep(&text) { SearchOutcome::Found(text) } else { SearchOutcome::TurnedDown };
        }
        Run::new(self).walk(states, &mut keep)
    }
}

struct Item {
    /// The state of each accepting automaton.
    places: Box<[u32]>,
    /// The states of all refusing automata, as bits.
    refused: Box<[u64]>,
    /// Where in the tree of excluded strings, if still inside it.
    excluded: Option<u32>,
    depth: u32,
    parent: u32,
    read: char,
    /// Another item makes this one superfluous.
    covered: bool,
}

/// The states of the accepting automata, the place among excluded strings, and the length that still matters.
type Standing = (Box<[u32]>, Option<u32>, u32);

struct Run<'a> {
    search: &'a Search<'a>,
    /// One character of each class, and the sets (of all automata, one after the other) that hold the class.
    classes: Vec<(char, Vec<u64>)>,
    /// Where the sets of each automaton begin: first the accepting ones, then the refusing ones.
    offsets: Vec<u32>,
    /// Where the bits of each refusing automaton begin.
    bits: Vec<u32>,
    n_words: usize,
    tree: Vec<(BTreeMap<char, u32>, bool)>,
    items: Vec<Item>,
    /// Items by where they stand, to compare only those that could cover each other.
    seen: HashMap<Standing, Vec<u32>>,
}

impl<'a> Run<'a> {
    fn new(search: &'a Search<'a>) -> Self {
        let automata = || search.accepting.iter().chain(&search.refusing);
        let mut sets: Vec<&[(char, char)]> = Vec::new();
        let mut offsets = Vec::new();
        for automaton in automata() {
            offsets.push(u32::try_from(sets.len()).unwrap_or(u32::MAX));
            sets.extend(automaton.sets.iter().map(|set| &**set));
        }
        let tree = tree(&search.excluded);
        let mut singles: Vec<(char, char)> =
            tree.iter().flat_map(|(next, _)| next.keys().map(|read| (*read, *read))).collect();
        singles.sort_unstable();
        singles.dedup();
        let classes = classes(&sets, &singles);
        let mut bits = Vec::new();
        let mut n_bits = 0;
        for automaton in &search.refusing {
            bits.push(n_bits);
            n_bits += u32::try_from(automaton.reads.len()).unwrap_or(u32::MAX);
        }
        let n_words = (n_bits as usize).div_ceil(64);
        Self { search, classes, offsets, bits, n_words, tree, items: Vec::new(), seen: HashMap::new() }
    }

    fn walk(mut self, states: &mut u32, keep: &mut impl FnMut(&str) -> bool) -> SearchOutcome {
        let mut refused = vec![0_u64; self.n_words].into_boxed_slice();
        for bit in &self.bits {
            set_bit(&mut refused, *bit);
        }
        let places = vec![0; self.search.accepting.len()].into_boxed_slice();
        let excluded = (!self.tree.is_empty()).then_some(0);
        self.add(Item { places, refused, excluded, depth: 0, parent: u32::MAX, read: '\0', covered: false });
        let mut refusals = 0;
        let mut at = 0;
        while at < self.items.len() {
            if self.items.get(at).is_some_and(|item| item.covered) {
                at += 1;
                continue;
            }
            if *states == 0 {
                return SearchOutcome::Exhausted;
            }
            *states -= 1;
            if self.accepts(at) {
                let text = self.text(at);
                if keep(&text) {
                    return SearchOutcome::Found(text);
                }
                refusals += 1;
                if refusals >= self.search.tries {
                    return SearchOutcome::TurnedDown;
                }
            }
            // What was not built could be the string that is looked for, so there is no answer without it.
            if !self.expand(at, states) {
                return SearchOutcome::Exhausted;
            }
            at += 1;
        }
        if refusals == 0 { SearchOutcome::Nothing } else { SearchOutcome::TurnedDown }
    }

    fn accepts(&self, at: usize) -> bool {
        let Some(item) = self.items.get(at) else { return false };
        u64::from(item.depth) >= self.search.min
            && self
                .search
                .accepting
                .iter()
                .zip(&item.places)
                .all(|(automaton, place)| automaton.accepts_at(*place))
            && !item.excluded.and_then(|node| self.tree.get(node as usize)).is_some_and(|(_, ends)| *ends)
            && !self.refusing().any(|(automaton, bit)| {
                (0_u32..)
                    .zip(&automaton.accepts)
                    .any(|(state, accepts)| *accepts && has_bit(&item.refused, bit + state))
            })
    }

    fn refusing(&self) -> impl Iterator<Item = (&'a Automaton, u32)> {
        self.search.refusing.iter().copied().zip(self.bits.iter().copied())
    }

    /// Adds what follows an item; `false` when that is more than `states` allows. Several accepting automata follow each
    /// other's choices, so what is built counts, not only what is looked at.
    fn expand(&mut self, at: usize, states: &mut u32) -> bool {
        const BUILT_FOR_A_STATE: usize = 8;
        let Some(item) = self.items.get(at) else { return true };
        let depth = item.depth + 1;
        if self.search.max.is_some_and(|max| u64::from(depth) > max) {
            return true;
        }
        let places = item.places.clone();
        let from_tree = item.excluded;
        // Where the refusing automata can go at all, before a character is chosen.
        let mut reachable = vec![0_u64; self.n_words];
        for (automaton, bit) in self.refusing() {
            for state in
                (0_u32..).zip(&automaton.follows).filter(|(state, _)| has_bit(&item.refused, bit + state))
            {
                for next in state.1 {
                    set_bit(&mut reachable, bit + next);
                }
            }
        }
        let n_accepting = self.search.accepting.len();
        let mut found = Vec::new();
        for (read, sets) in &self.classes {
            let mut refused = vec![0_u64; self.n_words].into_boxed_slice();
            for ((automaton, bit), offset) in self.refusing().zip(self.offsets.iter().skip(n_accepting)) {
                for (state, set) in (0_u32..).zip(&automaton.reads).skip(1) {
                    if has_bit(&reachable, bit + state) && has_bit(sets, offset + set) {
                        set_bit(&mut refused, bit + state);
                    }
                }
            }
            let mut options: Vec<Box<[u32]>> = vec![Box::default()];
            for ((automaton, place), offset) in self.search.accepting.iter().zip(&places).zip(&self.offsets) {
                let next: Vec<u32> = automaton
                    .follows(*place)
                    .iter()
                    .copied()
                    .filter(|state| automaton.set_of(*state).is_some_and(|set| has_bit(sets, offset + set)))
                    .collect();
                let n_built = u32::try_from(options.len().saturating_mul(next.len()) / BUILT_FOR_A_STATE);
                match n_built.ok().and_then(|n_built| states.checked_sub(n_built)) {
                    Some(left) => *states = left,
                    None => return false,
                }
                options = options
                    .iter()
                    .flat_map(|done| next.iter().map(|state| done.iter().copied().chain([*state]).collect()))
                    .collect();
            }
            let excluded = from_tree
                .and_then(|node| self.tree.get(node as usize))
                .and_then(|(next, _)| next.get(read))
                .copied();
            let parent = u32::try_from(at).unwrap_or(u32::MAX);
            for places in options {
                found.push(Item {
                    places,
                    refused: refused.clone(),
                    excluded,
                    depth,
                    parent,
                    read: *read,
                    covered: false,
                });
            }
        }
        // Those with the fewest refusing states first, since they cover others.
        found.sort_by_key(|item| item.refused.iter().map(|word| word.count_ones()).sum::<u32>());
        for item in found {
            let n_compared = self.add(item) / 256;
            match u32::try_from(n_compared).ok().and_then(|n_compared| states.checked_sub(n_compared)) {
                Some(left) => *states = left,
                None => return false,
            }
        }
        true
    }

    /// Unless an item with fewer refusing states, or the same, stands at the same place. One with more, just as long, is
    /// covered by the new one. Gives how many it was compared with.
    fn add(&mut self, item: Item) -> usize {
        let needed = u32::try_from(self.search.min).unwrap_or(u32::MAX).min(item.depth);
        let key = (item.places.clone(), item.excluded, needed);
        let known = self.seen.entry(key).or_default();
        let is_within =
            |fewer: &[u64], more: &[u64]| fewer.iter().zip(more).all(|(fewer, more)| fewer & !more == 0);
        let items = &mut self.items;
        let n_compared = known.len();
        if known
            .iter()
            .filter_map(|at| items.get(*at as usize))
            .any(|known| is_within(&known.refused, &item.refused))
        {
            return n_compared;
        }
        known.retain(|at| {
            let Some(known) = items.get_mut(*at as usize) else { return false };
            known.covered |= known.depth == item.depth && is_within(&item.refused, &known.refused);
            !known.covered
        });
        known.push(u32::try_from(items.len()).unwrap_or(u32::MAX));
        items.push(item);
        n_compared
    }

    fn text(&self, at: usize) -> String {
        let mut read = Vec::new();
        let mut item = self.items.get(at);
        while let Some(current) = item.filter(|item| item.depth > 0) {
            read.push(current.read);
            item = self.items.get(current.parent as usize);
        }
        read.iter().rev().collect()
    }
}

fn set_bit(words: &mut [u64], bit: u32) {
    if let Some(word) = words.get_mut(bit as usize / 64) {
        *word |= 1 << (bit % 64);
    }
}

fn has_bit(words: &[u64], bit: u32) -> bool {
    words.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

fn tree(excluded: &[&str]) -> Vec<(BTreeMap<char, u32>, bool)> {
    let mut tree: Vec<(BTreeMap<char, u32>, bool)> = Vec::new();
    if !excluded.is_empty() {
        tree.push(Default::default());
    }
    for text in excluded {
        let mut at = 0_usize;
        for read in text.chars() {
            let fresh = u32::try_from(tree.len()).unwrap_or(u32::MAX);
            let Some((next, _)) = tree.get_mut(at) else { break };
            let known = *next.entry(read).or_insert(fresh);
            if known == fresh {
                tree.push(Default::default());
            }
            at = known as usize;
        }
        if let Some((_, ends)) = tree.get_mut(at) {
            *ends = true;
        }
    }
    tree
}

/// Splits all characters into classes that no set and no single character tells apart.
fn classes(sets: &[&[(char, char)]], singles: &[(char, char)]) -> Vec<(char, Vec<u64>)> {
    let n_words = sets.len().div_ceil(64);
    let mut starts = vec!['\0'];
    for (from, to) in sets.iter().copied().flatten().chain(singles) {
        starts.push(*from);
        starts.extend(after(*to));
    }
    starts.sort_unstable();
    starts.dedup();
    let mut held = vec![vec![0_u64; n_words]; starts.len()];
    for (number, set) in (0_u32..).zip(sets) {
        for (from, to) in *set {
            let first = starts.partition_point(|start| start < from);
            let last = starts.partition_point(|start| start <= to);
            for words in held.get_mut(first..last).into_iter().flatten() {
                set_bit(words, number);
            }
        }
    }
    let ends = starts.iter().skip(1).map(|start| before(*start)).chain([char::MAX]);
    // Characters of excluded strings are classes of their own.
    let mut best: BTreeMap<(Vec<u64>, Option<char>), (u32, char)> = BTreeMap::new();
    for ((start, end), words) in starts.iter().zip(ends).zip(held) {
        let single = singles.binary_search(&(*start, *start)).is_ok().then_some(*start);
        let candidate = preferred(*start, end);
        let known = best.entry((words, single)).or_insert(candidate);
        *known = candidate.min(*known);
    }
    let mut classes: Vec<(u32, char, Vec<u64>)> =
        best.into_iter().map(|((words, _), (rank, read))| (rank, read, words)).collect();
    classes.sort_unstable();
    classes.into_iter().map(|(_, read, words)| (read, words)).collect()
}

fn after(read: char) -> Option<char> {
    match read {
        '\u{d7ff}' => Some('\u{e000}'),
        _ => char::from_u32(u32::from(read) + 1),
    }
}

fn before(read: char) -> char {
    match read {
        '\u{e000}' => '\u{d7ff}',
        _ => char::from_u32(u32::from(read).saturating_sub(1)).unwrap_or('\0'),
    }
}

/// The most readable character between the two, with its rank.
fn preferred(from: char, to: char) -> (u32, char) {
    const RANGES: [(char, char); 6] =
        [('a', 'z'), ('0', '9'), ('A', 'Z'), ('-', '/'), ('_', '_'), (' ', '~')];
    for (rank, (first, last)) in (0_u32..).zip(RANGES) {
        let read = from.max(first);
        if read <= to.min(last) {
            return (rank, read);
        }
    }
    (99, from)
}

#[cfg(test)]
mod tests {
    use super::super::pattern::Pattern;
    use super::*;

    fn check(accept: &[&str], refuse: &[&str], min: u64, max: Option<u64>) -> SearchOutcome {
        let compile = |sources: &[&str]| -> Vec<Pattern> {
            sources.iter().map(|source| Pattern::compile(source).unwrap()).collect()
        };
        let (accept, refuse) = (compile(accept), compile(refuse));
        let automata = |patterns: &'static [Pattern]| {
            patterns.iter().flat_map(|pattern| pattern.parts().unwrap()).map(|part| &part.automaton).collect()
        };
        let search = Search {
            accepting: automata(accept.leak()),
            refusing: automata(refuse.leak()),
            excluded: Vec::new(),
            min,
            max,
            tries: 1,
        };
        search.run(&mut 20_000, |_| true)
    }

    fn found(text: &str) -> SearchOutcome {
        SearchOutcome::Found(text.to_owned())
    }

    #[test]
    fn finds_the_shortest_string_or_none() {
        assert_eq!(check(&["^a"], &[], 0, None), found("a"));
        assert_eq!(check(&["^ab?$"], &["^a$"], 0, None), found("ab"));
        assert_eq!(check(&["^https://"], &["^https?://"], 0, None), SearchOutcome::Nothing);
        assert_eq!(check(&["^(ab)*$"], &["^(abab)*$"], 0, None), found("ab"));
        assert_eq!(check(&["^[a-z]{5,}$"], &[], 0, Some(4)), SearchOutcome::Nothing);
        assert_eq!(check(&["^a*$"], &[], 3, Some(3)), found("aaa"));
        assert_eq!(check(&["^a", "z$", "^[a-z]{2,}$"], &["^a.*z$"], 0, None), SearchOutcome::Nothing);
        assert_eq!(check(&["^a", "z$"], &["^a.*z$"], 0, None), found("a\nz"));
        assert_eq!(check(&["$^"], &[], 0, None), found(""));
        assert_eq!(check(&["a$b"], &[], 0, None), SearchOutcome::Nothing);
    }

    #[test]
    fn inclusion_stays_linear_where_determinism_would_not() {
        assert_eq!(check(&["xa.{12}b"], &["a.{12}b"], 0, None), SearchOutcome::Nothing);
    }
}
