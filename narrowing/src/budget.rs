//! How much work one comparison may do.
//!
//! Only steps are counted, never time, so that a verdict is the same on every machine.

/// Limits of one comparison. The default is tuned so that a hostile pair ends within some tens of milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub(crate) steps: u32,
    pub(crate) states: u32,
    pub(crate) tries: u32,
}

impl Budget {
    /// At most `steps` rule applications in the whole comparison, and a few more for each subschema. Two automaton states
    /// count as one, and so do eight values, or eighty bytes of text, that are built or copied for a witness.
    pub fn with_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// At most `states` automaton states for one question about strings, however many ways there are to answer it.
    pub fn with_states(mut self, states: u32) -> Self {
        self.states = states;
        self
    }

    /// At most `tries` strings of a pattern or format that only the validator knows are shown to it for one question.
    pub fn with_tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 150_000, states: 20_000, tries: 24 }
    }
}
