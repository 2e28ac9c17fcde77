//! `pattern` as a set of strings.

use regex_syntax::ast::{Ast, ErrorKind};

use super::automaton::Automaton;
use crate::validator::{BACKTRACK_LIMIT, PatternCheck, translate_pattern};

/// Sources longer than this are not turned into automata.
const MAX_SOURCE: usize = 20_000;

/// A regular expression: the strings in which it matches somewhere.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Box<str>,
    /// A string matches when every part holds; `None` when the expression has no automaton.
    parts: Option<Vec<Part>>,
    check: PatternCheck,
    /// Where there is no automaton: the places where a run can go on in more than one way.
    branching: Branching,
}

/// What makes a run by backtracking long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Branching {
    n_repetitions: u32,
    n_alternatives: u32,
    /// A group is repeated, so that what is inside multiplies.
    repeats_a_group: bool,
}

/// Part of a conjunction.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) automaton: Automaton,
    /// The part holds for the strings the automaton does not accept.
    pub(crate) negated: bool,
}

/// Why a pattern is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternFault {
    Invalid,
    Backreference,
}

impl Pattern {
    /// Patterns that the validator runs but that have no automaton here are kept: they are equal to themselves only.
    pub(crate) fn compile(source: &str) -> Result<Self, PatternFault> {
        // Scanned for, because a parser that meets a look-around first gets no further.
        if refers_back(source) {
            return Err(PatternFault::Backreference);
        }
        let translated = translate_pattern(source).ok_or(PatternFault::Invalid)?;
        if repeats_a_repetition(&translated) {
            return Err(PatternFault::Invalid);
        }
        let parts = match parse(&translated) {
            Ok(part) => part.map(|automaton| vec![Part { automaton, negated: false }]),
            Err(ErrorKind::UnsupportedBackreference) => return Err(PatternFault::Backreference),
            Err(ErrorKind::UnsupportedLookAround) => look_ahead_parts(&translated),
            Err(_) => return Err(PatternFault::Invalid),
        };
        Ok(Self {
            source: source.into(),
            parts,
            check: PatternCheck::default(),
            branching: Branching::of(source),
        })
    }

    /// An expression this crate wrote itself, in Rust syntax and anchored by itself.
    pub(crate) fn own(source: &str) -> Self {
        let part = parse(source).ok().flatten();
        let parts = part.map(|automaton| vec![Part { automaton, negated: false }]);
        Self { source: source.into(), parts, check: PatternCheck::default(), branching: Branching::default() }
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn parts(&self) -> Option<&[Part]> {
        self.parts.as_deref()
    }

    /// A string that might match: the expression without its groups and anchors. For patterns without an automaton.
    pub(crate) fn hint(&self) -> String {
        const SYNTAX: [&str; 8] = ["(?<=", "(?=", "(?:", "\\b", "(", ")", "^", "$"];
        SYNTAX.iter().fold(self.source.to_string(), |text, syntax| text.replace(syntax, ""))
    }

    /// Whether `text` matches, if that is certain: by automaton or, where there is none, by the validator. The validator's
    /// no is worth nothing there, since it gives up after some steps.
    pub(crate) fn matches(&self, text: &str) -> Option<bool> {
        match self.parts() {
            Some(parts) => Some(parts.iter().all(|part| part.automaton.accepts_text(text) != part.negated)),
            None => self.check.matches(&self.source, text).then_some(true),
        }
    }

    /// Steps that [`matches`](Self::matches) may take for a text of `length` bytes: a few for each byte with an automaton,
    /// else as many as the validator may go back.
    pub(crate) fn cost(&self, length: usize) -> u32 {
        if self.parts.is_some() {
            return u32::try_from(length).unwrap_or(u32::MAX).saturating_add(1);
        }
        self.branching.cost(length).min(u32::try_from(BACKTRACK_LIMIT).unwrap_or(u32::MAX))
    }

    /// How large the expression is once its counted repetitions are written out, roughly.
    pub(crate) fn weight(&self) -> u64 {
        weight(&self.source)
    }
}

impl Branching {
    /// Counts too much where an operator stands in a class, and never too little.
    fn of(source: &str) -> Self {
        let mut branching = Self::default();
        let mut before = None;
        let mut characters = source.chars();
        while let Some(read) = characters.next() {
            match read {
                '*' | '+' | '?' | '{' if before != Some('(') => {
                    branching.n_repetitions += 1;
                    branching.repeats_a_group |= before == Some(')') && read != '?';
                }
                '|' => branching.n_alternatives += 1,
                _ => {}
            }
            // An escaped parenthesis is no group.
            before = Some(if read == '\\' { characters.next().map_or('\\', |_| 'x') } else { read });
        }
        branching
    }

    /// A run begins at each character, and each repetition can end at each; alternatives double the ways.
    fn cost(self, length: usize) -> u32 {
        if self.repeats_a_group {
            return u32::MAX;
        }
        let places = u32::try_from(length).unwrap_or(u32::MAX).saturating_add(1);
        let ways = 2_u32.saturating_pow(self.n_alternatives);
        places.saturating_pow(self.n_repetitions.saturating_add(1)).saturating_mul(ways)
    }
}

fn parse(translated: &str) -> Result<Option<Automaton>, ErrorKind> {
    if translated.len() > MAX_SOURCE {
        return Ok(None);
    }
    let hir = regex_syntax::Parser::new().parse(translated).map_err(|error| {
        if let regex_syntax::Error::Parse(error) = error {
            error.kind().clone()
        } else {
            ErrorKind::ClassUnclosed
        }
    })?;
    Ok(Automaton::searching(&hir))
}

/// Splits `^(?=a)(?!b)c` into `^(?:a)`, not `^(?:b)`, `^(?:c)`: look-aheads at the beginning all hold there and read
/// nothing. `None` for any other shape.
fn look_ahead_parts(source: &str) -> Option<Vec<Part>> {
    let mut rest = source.strip_prefix('^')?;
    let mut parts = Vec::new();
    loop {
        let (negated, body) = if let Some(body) = rest.strip_prefix("(?=") {
            (false, body)
        } else if let Some(body) = rest.strip_prefix("(?!") {
            (true, body)
        } else {
            break;
        };
        let end = outside_groups(body, ')')?;
        let (inside, after) = body.split_at_checked(end)?;
        rest = after.strip_prefix(')')?;
        if rest.starts_with(['*', '+', '?', '{']) {
            return None;
        }
        parts.push(Part { automaton: beginning(inside)?, negated });
    }
    if outside_groups(rest, '|').is_some() {
        return None;
    }
    parts.push(Part { automaton: beginning(rest)?, negated: false });
    Some(parts)
}

/// A part of an expression with look-around, which is translated only now: the whole could not be.
fn beginning(expression: &str) -> Option<Automaton> {
    let translated = translate_pattern(expression)?;
    parse(&format!("^(?:{translated})")).ok().flatten()
}

/// Whether a back-reference, `\1` or `\k<name>`, stands outside classes.
fn refers_back(source: &str) -> bool {
    let mut in_class = false;
    let mut characters = source.chars().peekable();
    while let Some(read) = characters.next() {
        match read {
            '\\' => {
                let escaped = characters.next();
                let is_reference = match escaped {
                    Some('1'..='9') => true,
                    Some('k') => characters.peek() == Some(&'<'),
                    _ => false,
                };
                if is_reference && !in_class {
                    return true;
                }
            }
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
    }
    false
}

/// Whether a quantifier stands on a quantifier, as in `a++`: nothing in ECMA 262, and other things elsewhere.
fn repeats_a_repetition(translated: &str) -> bool {
    let Ok(tree) = regex_syntax::ast::parse::Parser::new().parse(translated) else { return false };
    let mut pending = vec![&tree];
    while let Some(tree) = pending.pop() {
        match tree {
            Ast::Repetition(repetition) => {
                if matches!(*repetition.ast, Ast::Repetition(_)) {
                    return true;
                }
                pending.push(&repetition.ast);
            }
            Ast::Group(group) => pending.push(&group.ast),
            Ast::Alternation(alternation) => pending.extend(&alternation.asts),
            Ast::Concat(concat) => pending.extend(&concat.asts),
            Ast::Empty(_)
            | Ast::Flags(_)
            | Ast::Literal(_)
            | Ast::Dot(_)
            | Ast::Assertion(_)
            | Ast::ClassUnicode(_)
            | Ast::ClassPerl(_)
            | Ast::ClassBracketed(_) => {}
        }
    }
    false
}

/// Written for expressions that no parser here reads as well, those with look-around.
fn weight(expression: &str) -> u64 {
    // For each open group: what stands before its last part, and that part.
    let mut open: Vec<(u64, u64)> = Vec::new();
    let (mut before, mut last) = (0_u64, 0_u64);
    let mut characters = expression.chars().peekable();
    while let Some(read) = characters.next() {
        let part = match read {
            '(' => {
                open.push((before.saturating_add(last), 0));
                (before, last) = (0, 0);
                continue;
            }
            ')' => {
                let inside = before.saturating_add(last);
                (before, last) = open.pop().unwrap_or_default();
                inside
            }
            '{' => {
                let inside: String = characters.by_ref().take_while(|read| *read != '}').collect();
                let most = inside.rsplit(',').find_map(|count| count.trim().parse::<u64>().ok());
                last = last.saturating_mul(most.unwrap_or(1));
                continue;
            }
            '[' => {
                let mut is_escaped = false;
                let inside = characters.by_ref().take_while(|read| {
                    let ends = *read == ']' && !is_escaped;
                    is_escaped = *read == '\\' && !is_escaped;
                    !ends
                });
                inside.map(|read| if matches!(read, '\\' | '^') { 4 } else { 1 }).sum()
            }
            '\\' => {
                let class = characters.next();
                if matches!(class, Some('p' | 'P' | 'u' | 'x')) && characters.peek() == Some(&'{') {
                    characters.by_ref().take_while(|read| *read != '}').for_each(drop);
                }
                4
            }
            '.' => 4,
            '|' | '?' | '*' | '+' | '^' | '$' => 0,
            _ => 1,
        };
        before = before.saturating_add(last);
        last = part;
    }
    open.into_iter().fold(before.saturating_add(last), |sum, (before, last)| {
        sum.saturating_add(before).saturating_add(last)
    })
}

/// The first `wanted` outside groups, classes and escapes.
fn outside_groups(expression: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_class = false;
    let mut characters = expression.char_indices();
    while let Some((at, read)) = characters.next() {
        match read {
            '\\' => {
                characters.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            _ if in_class => {}
            _ if read == wanted && depth == 0 => return Some(at),
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_back_reference_is_found_wherever_it_stands() {
        for source in [
            r"(a)\1",
            r"^(?=a)(a)\1$",
            r"^(a)\1(?=a)",
            r"(?<=a)(a)\1$",
            r"(?<n>a)(?=a)\k<n>",
            r"(?=[a])(a)\\\1",
        ] {
            assert_eq!(Pattern::compile(source).map(|_| ()), Err(PatternFault::Backreference), "{source}");
        }
        for source in [r"\\1", r"(?=a)\\k<n>"] {
            assert!(Pattern::compile(source).is_ok(), "{source}");
        }
        assert!(!refers_back(r"[\1]a"));
    }

    #[test]
    fn a_run_by_backtracking_costs_what_it_can_take() {
        let cost = |source, length| Pattern::compile(source).map(|pattern| pattern.cost(length));
        assert_eq!(cost("a", 9), Ok(10));
        assert_eq!(cost("(?<=a)b", 9), Ok(10));
        assert_eq!(cost("(?<=a+)b", 9), Ok(100));
        assert_eq!(cost("(?<=a|b)c", 9), Ok(20));
        assert_eq!(cost("(?<=a)(b|c)*d", 1), Ok(20_000));
        assert_eq!(cost("(?<=a)b*c*d*", 1_000), Ok(20_000));
    }

    #[test]
    fn a_weight_counts_repetitions_and_nothing_else_in_braces() {
        for (source, expected) in [
            ("abc", 3),
            ("^a{20}$", 20),
            ("(ab){3,5}c", 11),
            (r"\u{20000}", 4),
            (r"\x{20000}a", 5),
            (r"\p{L}{3}", 12),
            (r"\u{1F600}{3}", 12),
            (r"\d{3}", 12),
        ] {
            assert_eq!(weight(source), expected, "{source}");
        }
    }
}
