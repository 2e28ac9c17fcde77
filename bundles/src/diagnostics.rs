//! What is said to a user, as data.
//!
//! A stage pushes [`Diagnostic`]s and goes on, so that one run shows every fault. Nothing is rendered here.

pub mod code;
mod outcome;

pub use code::{Code, Severity};
pub use outcome::Outcome;

use crate::source::{SourceMap, Span};

/// One fault, warning or note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of fault it is.
    pub code: &'static Code,
    /// How grave it is: the code's own severity unless settings say otherwise.
    pub severity: Severity,
    /// One line: lower case, no final period, input in backticks.
    pub message: String,
    /// Places, the first one being where the fault is.
    pub labels: Vec<Label>,
    /// A concrete instance that shows the fault, such as a witness.
    pub example: Option<String>,
    /// Further facts.
    pub notes: Vec<String>,
    /// One thing to do about it.
    pub help: Option<String>,
}

/// A place and what to say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What; may be empty.
    pub text: String,
}

impl Diagnostic {
    /// A diagnostic of `code`, with its severity and nothing else.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity,
            message: message.into(),
            labels: Vec::new(),
            example: None,
            notes: Vec::new(),
            help: None,
        }
    }

    /// Whether it stands in the way of publishing.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Points at `span`.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Shows an instance.
    #[must_use]
    pub fn example(mut self, example: impl Into<String>) -> Self {
        self.example = Some(example.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do, if there is something to say.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        if help.is_some() {
            self.help = help;
        }
        self
    }
}

/// Orders diagnostics by file path, position, code and message, and drops exact repeats.
pub fn sort(diagnostics: &mut Vec<Diagnostic>, sources: &SourceMap) {
    let place = |d: &Diagnostic| {
        d.labels
            .first()
            .map(|label| (sources.path(label.span.file).to_owned(), label.span.start, label.span.end))
    };
    diagnostics.sort_by_cached_key(|d| (place(d), d.code.id, d.message.clone()));
    diagnostics.dedup();
}
