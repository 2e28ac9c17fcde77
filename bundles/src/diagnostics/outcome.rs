//! What a stage gives: a value where there is one, and what there is to say.

use super::Diagnostic;

/// The result of a stage.
///
/// A value may be there beside errors, so that later stages can look for more faults; whoever acts on a value
/// asks first whether a diagnostic [is an error](Diagnostic::is_error).
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

    /// Moves the diagnostics to `sink` and gives the value.
    pub fn drain_into(self, sink: &mut Vec<Diagnostic>) -> Option<T> {
        sink.extend(self.diagnostics);
        self.value
    }
}
