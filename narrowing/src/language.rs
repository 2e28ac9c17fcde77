//! Sets of strings as automata: what `pattern` and the regular formats accept.
//!
//! Automata read characters, not bytes, so lengths are counted as JSON Schema counts them and no state is spent on
//! UTF-8. Nothing is made deterministic ahead of a question: see [`search`].

mod automaton;
mod format;
mod pattern;
mod search;

pub(crate) use automaton::Automaton;
pub(crate) use format::FormatLanguage;
pub(crate) use pattern::{Pattern, PatternFault};
pub(crate) use search::{Search, SearchOutcome};
