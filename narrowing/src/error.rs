//! Why a schema could not be compiled.
//!
//! A schema that cannot be understood is never compared: every fault here is found before a verdict is possible,
//! and each names the place in the schema as a JSON pointer.

use std::fmt;

/// What is wrong with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SchemaErrorKind {
    /// Not valid JSON Schema: a keyword holds a value of the wrong shape.
    Invalid,
    /// `$schema` names a dialect other than draft 04, 06, 07, 2019-09 or 2020-12.
    UnknownDialect,
    /// A `$ref` leaves the document. References are never fetched.
    RemoteReference,
    /// A `$ref` into the document finds nothing there.
    UnresolvedReference,
    /// A `$ref` leads back to itself without looking into the instance, so it never ends.
    EndlessReference,
    /// A regular expression with a back-reference, about which nothing can be decided.
    UnsupportedPattern,
    /// A number that cannot be held exactly.
    NumberTooLarge,
    /// More subschemas than any comparison could finish with.
    TooLarge,
    /// Subschemas nested too deeply.
    TooDeep,
}

/// A schema that cannot be compiled: where, what kind of fault, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// JSON pointer into the schema; empty for the whole schema.
    pub pointer: String,
    /// The kind of fault.
    pub kind: SchemaErrorKind,
    /// Lower case, plain words, says what to do.
    pub message: String,
}

impl SchemaError {
    pub(crate) fn new(kind: SchemaErrorKind, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), kind, message: message.into() }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            write!(f, "{}", self.message)
        } else {
            write!(f, "{} (at `{}`)", self.message, self.pointer)
        }
    }
}

impl std::error::Error for SchemaError {}
