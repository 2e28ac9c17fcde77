//! `pattern` as a set of strings.

use regex_syntax::ast::{Ast, ErrorKind};

use super::automaton::{Automaton, Unbuilt};
use crate::validator::translate_pattern;

/// Sources longer than this are not turned into automata.
const MAX_SOURCE: usize = 20_000;

/// A regular expression: the strings in which it matches somewhere.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Box<str>,
    /// A string matches when every part holds; `None` when the expression has no automaton.
    parts: Option<Vec<Part>>,
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
        let named =
            || if source.contains("\\k<") { PatternFault::Backreference } else { PatternFault::Invalid };
        let translated = translate_pattern(source).ok_or_else(named)?;
        if repeats_a_repetition(&translated) {
            return Err(PatternFault::Invalid);
        }
        let parts = match parse(&translated) {
            Ok(part) => part.map(|automaton| vec![Part { automaton, negated: false }]),
            Err(ErrorKind::UnsupportedBackreference) => return Err(PatternFault::Backreference),
            Err(ErrorKind::UnsupportedLookAround) => look_ahead_parts(&translated),
            Err(_) => return Err(named()),
        };
        Ok(Self { source: source.into(), parts })
    }

    /// An expression this crate wrote itself, in Rust syntax and anchored by itself.
    pub(crate) fn own(source: &str) -> Self {
        let part = parse(source).ok().flatten();
        Self { source: source.into(), parts: part.map(|automaton| vec![Part { automaton, negated: false }]) }
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

    /// Whether `text` matches; `None` when the pattern has no automaton.
    pub(crate) fn matches(&self, text: &str) -> Option<bool> {
        self.parts().map(|parts| parts.iter().all(|part| part.automaton.accepts_text(text) != part.negated))
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
    match Automaton::searching(&hir) {
        Ok(automaton) => Ok(Some(automaton)),
        Err(Unbuilt::Assertion | Unbuilt::Size) => Ok(None),
    }
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
