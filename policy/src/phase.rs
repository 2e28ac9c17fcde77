//! When a call is decided.

use bailiwick_bundles::documents::phrony::DISPATCH_VALUES;

/// When a call is decided: before it is dispatched, or after its dispatch went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase(&'static str);

/// Why a text is no phase, as the rest of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseError;

impl Phase {
    /// Before it is dispatched. A dispatch field then equals none of its words.
    pub const CALL: Self = Self("call");

    /// Every phase, the one before dispatch first.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::CALL).chain(DISPATCH_VALUES.map(Self))
    }

    /// Whether the call is not dispatched yet.
    pub fn is_call(self) -> bool {
        self == Self::CALL
    }

    /// The word for it: `call`, or a value of `dispatch.outcome`.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl Default for Phase {
    fn default() -> Self {
        Self::CALL
    }
}

impl std::str::FromStr for Phase {
    type Err = PhaseError;

    fn from_str(text: &str) -> Result<Self, PhaseError> {
        Self::all().find(|phase| phase.as_str() == text).ok_or(PhaseError)
    }
}

impl std::fmt::Display for PhaseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "must be `call`, or one of {}", DISPATCH_VALUES.join(", "))
    }
}

impl std::error::Error for PhaseError {}
