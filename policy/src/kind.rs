//! The types of JSON values, as far as comparisons tell them apart.

use serde_json::Value;

/// The type of a JSON value; an integer is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// Text.
    String,
    /// A list.
    Array,
    /// A map.
    Object,
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Null, Self::Boolean, Self::Number, Self::String, Self::Array, Self::Object];

    /// The type of `value`.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// The type that JSON Schema calls `name`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = if name == "integer" { "number" } else { name };
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name in JSON Schema; an integer has one of its own there.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}
