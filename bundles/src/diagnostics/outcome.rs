//! What a stage gives: a value where there is one, and what there is to say.

use super::{Diagnostic, Severity};

/// The result of a stage.
///
/// A value may be there beside errors, so that later stages can look for more faults; whoever acts on a value
/// asks [`Outcome::clean`] first.
#[derive(Clone, Debug)]
#[must_use]
pub struct Outcome<T> {
    /// The value, as far as it could be made.
    pub value: Option<T>,
    /// Everything that was found.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Outcome<T> {
    /// `value` with `diagnostics`.
    pub fn new(value: Option<T>, diagnostics: Vec<Diagnostic>) -> Self {
        Self { value, diagnostics }
    }

    /// Whether no diagnostic is an error.
    pub fn is_clean(&self) -> bool {
        !self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// The value, only if nothing is an error.
    pub fn clean(self) -> Option<T> {
        if self.is_clean() { self.value } else { None }
    }

    /// Moves the diagnostics to `sink` and gives the value.
    pub fn drain_into(self, sink: &mut Vec<Diagnostic>) -> Option<T> {
        sink.extend(self.diagnostics);
        self.value
    }
}
