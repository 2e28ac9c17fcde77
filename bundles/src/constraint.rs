//! Constraints on versions, as references carry them: `weather.send-alert@^1.2`.
//!
//! Source of the grammar: the manifest format `phrony.com/v1`, "Refs". Where it is silent, Cargo and npm agree and
//! are followed: a version with numbers left out (or `x`, `*`) is filled up with zeros for a lower bound and
//! means everything under it for an upper one.
//!
//! | written | means | | written | means |
//! |---|---|---|---|---|
//! | `1.2.3`, `=1.2.3` | that version | | `>1.2` | `>=1.3.0` |
//! | `1.2`, `=1.2`, `1.2.x` | `>=1.2.0, <1.3.0` | | `>=1.2` | `>=1.2.0` |
//! | `^1.2.3` | `>=1.2.3, <2.0.0` | | `<1.2` | `<1.2.0` |
//! | `^0.2.3`, `^0.0.3` | `<0.3.0`, `<0.0.4` | | `<=1.2` | `<1.3.0` |
//! | `~1.2.3`, `~1.2` | `<1.3.0` | | `*` | every version |
//!
//! A pre-release matches only when a comparator of the same *and*-group names a pre-release of the same
//! `major.minor.patch`. A bound worked out from numbers that were left out lies before the pre-releases of its
//! version: 2.0.0-rc.1 is outside `^1.2`. Build metadata never decides.

use std::fmt;
use std::str::FromStr;

use crate::as_text;
use crate::version::Version;

/// Which versions a reference takes.
///
/// Displayed as it was written, with white space normalised; equal if written alike.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Constraint {
    written: String,
    /// Joined by *or*; each a list of comparators joined by *and*.
    groups: Vec<Vec<Comparator>>,
}

/// Why a version does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mismatch {
    /// It lies inside, but it is a pre-release and none of its `major.minor.patch` is named.
    PreRelease,
    /// It lies outside.
    Outside,
}

/// Why a text is not a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintError {
    text: String,
    offset: usize,
    message: &'static str,
}

impl ConstraintError {
    /// Where in the text the fault is, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What is wrong there.
    pub fn message(&self) -> &str {
        self.message
    }
}

impl fmt::Display for ConstraintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a constraint: {} (at byte {})", self.text, self.message, self.offset)
    }
}

impl std::error::Error for ConstraintError {}

impl Constraint {
    /// The constraint that takes every version but pre-releases, `*`.
    pub fn any() -> Self {
        Self { written: "*".to_owned(), groups: vec![vec![Comparator::any()]] }
    }

    /// Whether `version` may be taken.
    pub fn matches(&self, version: &Version) -> bool {
        self.why_not(version).is_none()
    }

    /// Why `version` may not be taken; `None` if it may.
    pub fn why_not(&self, version: &Version) -> Option<Mismatch> {
        let mut mismatch = Mismatch::Outside;
        for group in self.groups.iter().filter(|group| group.iter().all(|c| c.holds(version))) {
            if !version.is_pre_release() || group.iter().any(|c| c.names_pre_release(version)) {
                return None;
            }
            mismatch = Mismatch::PreRelease;
        }
        Some(mismatch)
    }

    /// Whether it is one full version, bare or with `=`.
    pub fn is_exact(&self) -> bool {
        self.exact().is_some()
    }

    /// The one full version, bare or with `=`, that it is.
    pub fn exact(&self) -> Option<&Version> {
        match self.groups.as_slice() {
            [group] => match group.as_slice() {
                [Comparator { named: Some(version), lower: Lower::AtLeast(_), upper: Upper::AtMost(_) }] => {
                    Some(version)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// A range: what one operator and version mean.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Comparator {
    /// The version written, if it was written in full.
    named: Option<Version>,
    lower: Lower,
    upper: Upper,
}

/// Versions go by precedence.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Lower {
    None,
    AtLeast(Version),
    Above(Version),
    /// Past every version.
    Unreachable,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Upper {
    None,
    Below(Version),
    AtMost(Version),
    /// Below this version and all its pre-releases.
    BeforeAnyOf([u64; 3]),
}

impl Comparator {
    fn any() -> Self {
        Self { named: None, lower: Lower::None, upper: Upper::None }
    }

    fn holds(&self, version: &Version) -> bool {
        let above = match &self.lower {
            Lower::None => true,
            Lower::AtLeast(bound) => version.cmp_precedence(bound).is_ge(),
            Lower::Above(bound) => version.cmp_precedence(bound).is_gt(),
            Lower::Unreachable => false,
        };
        above
            && match &self.upper {
                Upper::None => true,
                Upper::Below(bound) => version.cmp_precedence(bound).is_lt(),
                Upper::AtMost(bound) => version.cmp_precedence(bound).is_le(),
                Upper::BeforeAnyOf(bound) => numbers(version) < *bound,
            }
    }

    fn names_pre_release(&self, version: &Version) -> bool {
        self.named.as_ref().is_some_and(|named| named.is_pre_release() && numbers(named) == numbers(version))
    }
}

fn numbers(version: &Version) -> [u64; 3] {
    [version.major(), version.minor(), version.patch()]
}

/// The first numbers past all that begin with the first `n` of `numbers`; `None` past every version. A number at
/// its largest carries over: nothing lies between `1.<largest>` and `2`.
fn past(numbers: [u64; 3], n: usize) -> Option<[u64; 3]> {
    let mut past = [0; 3];
    let kept = numbers.iter().take(n).rposition(|number| *number < u64::MAX)?;
    for (at, (to, from)) in past.iter_mut().zip(numbers).take(kept + 1).enumerate() {
        *to = if at == kept { from.saturating_add(1) } else { from };
    }
    Some(past)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Bare,
    Equal,
    Caret,
    Tilde,
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Longest first.
const OPERATORS: &[(&str, Operator)] = &[
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    (">", Operator::Above),
    ("<", Operator::Below),
    ("=", Operator::Equal),
    ("^", Operator::Caret),
    ("~", Operator::Tilde),
];

/// A version with the first `n` numbers written.
struct Partial {
    numbers: [u64; 3],
    n: usize,
    full: Option<Version>,
}

impl Partial {
    fn range(self, operator: Operator) -> Comparator {
        let [major, minor, patch] = self.numbers;
        let filled = self.full.clone().unwrap_or_else(|| Version::new(major, minor, patch));
        let before = |n: usize| past(self.numbers, n).map_or(Upper::None, Upper::BeforeAnyOf);
        let from = Lower::AtLeast(filled.clone());
        let is_full = self.full.is_some();
        let (lower, upper) = match operator {
            Operator::Bare | Operator::Equal if is_full => (from, Upper::AtMost(filled)),
            Operator::Bare | Operator::Equal => (from, before(self.n)),
            // Up to the first number that is not zero, or else the last one written.
            Operator::Caret => {
                let fixed = self.numbers.iter().take(self.n).position(|number| *number > 0);
                (from, before(fixed.map_or(self.n, |at| at + 1)))
            }
            Operator::Tilde => (from, before(self.n.min(2))),
            Operator::AtLeast => (from, Upper::None),
            Operator::Above if is_full => (Lower::Above(filled), Upper::None),
            Operator::Above => {
                let first = past(self.numbers, self.n);
                (
                    first.map_or(Lower::Unreachable, |[a, b, c]| Lower::AtLeast(Version::new(a, b, c))),
                    Upper::None,
                )
            }
            Operator::Below if is_full => (Lower::None, Upper::Below(filled)),
            Operator::Below => (Lower::None, Upper::BeforeAnyOf(self.numbers)),
            Operator::AtMost if is_full => (Lower::None, Upper::AtMost(filled)),
            Operator::AtMost => (Lower::None, before(self.n)),
        };
        Comparator { named: self.full, lower, upper }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    written: String,
}

type Fault = (usize, &'static str);

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let space = rest.len() - rest.trim_start().len();
        self.at += space;
        space > 0
    }

    fn take(&mut self, token: &str) -> bool {
        let there = self.rest().starts_with(token);
        self.at += if there { token.len() } else { 0 };
        there
    }

    fn groups(&mut self) -> Result<Vec<Vec<Comparator>>, Fault> {
        let mut groups = vec![self.group()?];
        while self.take("||") {
            self.written.push_str(" || ");
            groups.push(self.group()?);
        }
        Ok(groups)
    }

    /// Comparators up to `||` or the end.
    fn group(&mut self) -> Result<Vec<Comparator>, Fault> {
        let mut comparators = Vec::new();
        loop {
            self.skip_space();
            comparators.push(self.comparator()?);
            let space = self.skip_space();
            if self.rest().is_empty() || self.rest().starts_with("||") {
                return Ok(comparators);
            }
            if self.take(",") {
                self.written.push_str(", ");
            } else if space {
                self.written.push(' ');
            } else {
                return Err((self.at, "a comma or a space is due here, or `||`"));
            }
        }
    }

    fn comparator(&mut self) -> Result<Comparator, Fault> {
        let start = self.at;
        let found = OPERATORS.iter().find(|(token, _)| self.take(token));
        let operator = found.map_or(Operator::Bare, |(_, operator)| *operator);
        self.skip_space();
        let (at, rest) = (self.at, self.rest());
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, ',' | '|' | '<' | '>' | '=' | '^' | '~'))
            .unwrap_or(rest.len());
        let token = rest.get(..end).unwrap_or("");
        self.at += end;
        self.written.push_str(found.map_or("", |(token, _)| token));
        self.written.push_str(token);
        if token.is_empty() && found.is_some() && rest.starts_with(['<', '>', '=', '^', '~']) {
            return Err((start, "the operators are `^` `~` `=` `>` `>=` `<` `<=`"));
        }
        let Partial { numbers, n, full } = partial(token, at)?;
        if n > 0 {
            return Ok(Partial { numbers, n, full }.range(operator));
        }
        if operator == Operator::Bare {
            return Ok(Comparator::any());
        }
        Err((start, "`*` takes no operator"))
    }
}

/// The version, perhaps with numbers left out, that `token` at byte `at` is.
fn partial(token: &str, at: usize) -> Result<Partial, Fault> {
    let bare = token.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let text = bare.unwrap_or(token);
    let mut at = at + token.len() - text.len();
    if text.is_empty() {
        return Err((at, "a version is due here"));
    }
    if text == "-" {
        return Err((at, "a range is written with `>=` and `<=`, not with `-`"));
    }
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (core, suffix) = text.split_at(end);
    let (mut numbers, mut n, mut n_parts) = ([0; 3], 0, 0);
    for part in core.split('.') {
        let wild = matches!(part, "*" | "x" | "X");
        if let Some(number) = numbers.get_mut(n_parts) {
            if !wild && n < n_parts {
                return Err((at, "no number may follow `*`"));
            }
            if !wild {
                *number = component(part).map_err(|message| (at, message))?;
                n += 1;
            }
        } else {
            return Err((at, "a version has at most three numbers"));
        }
        n_parts += 1;
        at += part.len() + 1;
    }
    if suffix.is_empty() && n < 3 {
        return Ok(Partial { numbers, n, full: None });
    }
    let place = at.saturating_sub(1);
    if n < 3 {
        return Err((place, "only a version with three numbers may have a pre-release or build part"));
    }
    match text.parse::<Version>() {
        Ok(full) => Ok(Partial { numbers, n, full: Some(full) }),
        Err(_) => Err((place, "the pre-release or build part is not dot-separated letters, digits and `-`")),
    }
}

fn component(part: &str) -> Result<u64, &'static str> {
    if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
        return Err("a version is numbers with dots between them, such as `1.2.3`");
    }
    if part.len() > 1 && part.starts_with('0') {
        return Err("a number has no needless leading zero");
    }
    part.parse().map_err(|_| "a number is at most 18446744073709551615")
}

impl FromStr for Constraint {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        let mut parser = Parser { text, at: 0, written: String::with_capacity(text.len()) };
        match parser.groups() {
            Ok(groups) => Ok(Self { written: parser.written, groups }),
            Err((offset, message)) => Err(ConstraintError { text: text.to_owned(), offset, message }),
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.written)
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.written, f)
    }
}

as_text!(Constraint);

#[cfg(test)]
mod tests;
