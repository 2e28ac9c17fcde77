//! `matches`: an unanchored expression that takes linear time.
//!
//! Expressions mean here what `pattern` means in JSON Schema (ECMA 262), so that a condition can be said as a schema.

use std::fmt;

use jsonschema_regex::to_rust_regex;
use regex_automata::meta::Regex;

/// The most memory a compiled expression may take, in bytes.
const MAX_SIZE: usize = 64 << 10;

/// The longest source, in bytes.
const MAX_SOURCE: usize = 4096;

/// A compiled expression.
#[derive(Clone)]
pub(crate) struct Pattern {
    regex: Regex,
}

/// Why an expression is refused, as the rest of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(String);

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// One that is none, that needs backtracking (look-around, back-references), or that is too large.
    pub(crate) fn new(source: &str) -> Result<Self, PatternError> {
        if source.len() > MAX_SOURCE {
            return Err(PatternError(format!("it is longer than {MAX_SOURCE} bytes")));
        }
        let translated =
            to_rust_regex(source).map_err(|()| PatternError("it is no expression".to_owned()))?;
        let config = Regex::config().nfa_size_limit(Some(MAX_SIZE)).onepass_size_limit(Some(MAX_SIZE));
        let built = Regex::builder().configure(config).build(&translated);
        built.map(|regex| Self { regex }).map_err(|error| {
            if error.size_limit().is_some() {
                return PatternError("it is too large when compiled".to_owned());
            }
            let said = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
            // The last line says what is wrong; those above draw the expression.
            let last = said.lines().last().unwrap_or("it is no expression");
            PatternError(last.trim_start_matches("error: ").to_owned())
        })
    }

    /// Whether it matches somewhere in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern").finish_non_exhaustive()
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_matches_anywhere_or_is_refused() {
        let matches = |source: &str, text: &str| Pattern::new(source).expect("a pattern").is_match(text);
        assert!(matches("b+", "abbc"));
        assert!(!matches("^b", "ab"));
        assert!(!matches(r"^\d$", "٣"), "digits are those of ASCII");
        for source in ["(", "(?=a)", r"(a)\1", "a{1000000}", &"a".repeat(5000)] {
            let error = Pattern::new(source).expect_err(source);
            assert!(!error.to_string().is_empty());
        }
    }
}
