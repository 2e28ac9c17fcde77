//! Strings: lengths, languages, and formats.

use serde_json::Value;

use super::facts::Facts;
use super::literal::Literal;
use super::{Answer, Cause, Doubt, Solver};
use crate::data;
use crate::evaluate;
use crate::language::{Automaton, FormatLanguage, Search, SearchOutcome};
use crate::node::Kind;
use crate::validator::FormatCheck;

/// Ways to refuse patterns that are conjunctions.
const MAX_WAYS: usize = 16;

/// Length beyond which no hint is made.
const MAX_HINT: usize = 600;

impl<'a> Solver<'a> {
    /// The doubt about the assertion that only the validator knows, or else about one of those that need many states.
    fn string_doubt(&self, facts: &Facts<'a>, cause: Cause) -> Answer {
        let formats = &facts.strings.formats;
        let mut all = formats.iter().chain(&facts.asserted);
        let found = all.find(|literal| cause == Cause::Strings && self.kind(**literal).is_for_validator());
        Answer::Doubt(Doubt::new(cause, found.or(formats.first()).or(facts.asserted.last()).copied()))
    }

    pub(super) fn string(&mut self, facts: &Facts<'a>) -> Answer {
        if self.formats_contradict(facts) || patterns_contradict(facts) {
            return Answer::Empty;
        }
        let formats: Vec<(&FormatLanguage, bool)> = facts
            .strings
            .formats
            .iter()
            .filter_map(|literal| {
                Some((FormatLanguage::of(&self.format(*literal)?.name), literal.is_negated()))
            })
            .collect();
        let samples = formats.iter().filter(|(_, negated)| !negated).flat_map(|(format, _)| format.samples);
        let hints =
            facts.strings.patterns.iter().filter(|(pattern, wanted)| *wanted && pattern.parts().is_none());
        let least = usize::try_from(facts.strings.min).unwrap_or(usize::MAX).min(MAX_HINT);
        let hints: Vec<String> = hints.flat_map(|(pattern, _)| around(&pattern.hint(), least)).collect();
        for sample in samples.copied().chain(hints.iter().map(String::as_str)) {
            if self.string_fits(facts, sample) {
                return Answer::Found(Value::String(sample.to_owned()));
            }
        }
        let mut doubt = None;
        let is_inexact = formats.iter().any(|(format, _)| !format.exact);
        // What surely holds makes a witness, what surely fails a proof.
        // One question must not take the states of all others, but cannot be free either.
        let mut states = self.states;
        for sure in [true, false].into_iter().filter(|sure| is_inexact || !sure) {
            match self.search_strings(facts, &formats, sure, &mut states) {
                Answer::Found(text) => return Answer::Found(text),
                Answer::Doubt(cause) if !sure => doubt = Some(cause),
                Answer::Empty | Answer::Doubt(_) => {}
            }
        }
        doubt.map_or(Answer::Empty, Answer::Doubt)
    }

    fn search_strings(
        &mut self,
        facts: &Facts<'a>,
        formats: &[(&'a FormatLanguage, bool)],
        sure: bool,
        states: &mut u32,
    ) -> Answer {
        let ways = languages(facts, formats, sure);
        if ways.len() > MAX_WAYS {
            return self.string_doubt(facts, Cause::Strings);
        }
        let mut excluded: Vec<&str> = facts.strings.not.iter().map(String::as_str).collect();
        excluded.extend(facts.taken.iter().filter_map(Value::as_str));
        excluded.extend(facts.excluded.iter().copied().flatten().filter_map(Value::as_str));
        let mut doubt = None;
        for (accepting, refusing) in ways {
            let (min, max) = (facts.strings.min, facts.strings.max);
            let search =
                Search { accepting, refusing, excluded: excluded.clone(), min, max, tries: self.tries };
            if self.steps == 0 {
                return self.string_doubt(facts, Cause::Steps);
            }
            let before = *states;
            let matches = |text: &str| {
                let mut wanted = facts.strings.patterns.iter().filter(|(_, wanted)| *wanted);
                wanted.all(|(pattern, _)| evaluate::matches(pattern, text) == Some(true))
            };
            let outcome = search.run(states, |text| self.string_fits(facts, text) && matches(text));
            self.steps = self.steps.saturating_sub((before - *states) / 2);
            match outcome {
                SearchOutcome::Found(text) => return Answer::Found(Value::String(text)),
                SearchOutcome::Nothing => {}
                SearchOutcome::TurnedDown => doubt = doubt.or(Some(Cause::Strings)),
                SearchOutcome::Exhausted => doubt = doubt.or(Some(Cause::States)),
            }
        }
        doubt.map_or(Answer::Empty, |cause| self.string_doubt(facts, cause))
    }

    /// Whether one string satisfies all that is known about strings.
    pub(super) fn string_fits(&self, facts: &Facts<'a>, text: &str) -> bool {
        let strings = &facts.strings;
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        let is_listed = |values: &[Value]| data::contains(values, &Value::String(text.to_owned()));
        length >= strings.min
            && strings.max.is_none_or(|max| length <= max)
            && !strings.not.iter().any(|not| not == text)
            && !facts.taken.iter().any(|taken| taken == text)
            && !facts.excluded.iter().any(|values| is_listed(values))
            && strings.patterns.iter().all(|(pattern, wanted)| {
                evaluate::matches(pattern, text).is_none_or(|known| known == *wanted)
            })
            && strings.formats.iter().all(|literal| {
                self.format(*literal).is_none_or(|format| format.accepts(text) != literal.is_negated())
            })
    }

    fn format(&self, literal: Literal) -> Option<&'a FormatCheck> {
        if let Kind::Format(format) = self.kind(literal) { Some(format) } else { None }
    }

    fn formats_contradict(&self, facts: &Facts<'a>) -> bool {
        let formats =
            || facts.strings.formats.iter().filter_map(|literal| Some((literal, self.format(*literal)?)));
        formats().filter(|(literal, _)| literal.is_negated()).any(|(_, refused)| {
            formats().any(|(literal, asked)| !literal.is_negated() && asked.same_as(refused))
        })
    }
}

/// Strings around one that might match, the last at least `least` long.
fn around(hint: &str, least: usize) -> [String; 5] {
    let length = hint.chars().count().max(1);
    [
        hint.to_owned(),
        format!("x{hint}"),
        format!("{hint}x"),
        format!(" {hint} "),
        hint.repeat(least.div_ceil(length).max(2)),
    ]
}

fn patterns_contradict(facts: &Facts<'_>) -> bool {
    let patterns = &facts.strings.patterns;
    let wanted = || patterns.iter().filter(|(_, wanted)| *wanted);
    patterns
        .iter()
        .filter(|(_, wanted)| !wanted)
        .any(|(refused, _)| wanted().any(|(asked, _)| asked.source() == refused.source()))
}

type Languages<'a> = (Vec<&'a Automaton>, Vec<&'a Automaton>);

/// Every way to satisfy the patterns: to refuse a conjunction is to refuse one of its parts.
fn languages<'a>(
    facts: &Facts<'a>,
    formats: &[(&'a FormatLanguage, bool)],
    sure: bool,
) -> Vec<Languages<'a>> {
    let mut ways: Vec<Languages<'a>> = vec![Default::default()];
    for (pattern, wanted) in &facts.strings.patterns {
        let Some(parts) = pattern.parts() else { continue };
        if *wanted {
            for (accepting, refusing) in &mut ways {
                for part in parts {
                    if part.negated {
                        refusing.push(&part.automaton);
                    } else {
                        accepting.push(&part.automaton);
                    }
                }
            }
        } else {
            ways = ways
                .iter()
                .flat_map(|way| parts.iter().map(move |part| (way.clone(), part)))
                .map(|((mut accepting, mut refusing), part)| {
                    if part.negated {
                        accepting.push(&part.automaton);
                    } else {
                        refusing.push(&part.automaton);
                    }
                    (accepting, refusing)
                })
                .take(MAX_WAYS + 1)
                .collect();
        }
    }
    for (format, negated) in formats {
        let bound = if format.exact || *negated == sure { &format.at_most } else { &format.at_least };
        for part in bound.iter().filter_map(|pattern| pattern.parts()).flatten() {
            for (accepting, refusing) in &mut ways {
                if *negated { refusing.push(&part.automaton) } else { accepting.push(&part.automaton) }
            }
        }
    }
    ways
}
