//! Which draft of JSON Schema a document is written in.

use serde_json::Value;

use crate::error::{SchemaError, SchemaErrorKind};

/// A draft, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dialect {
    Draft04,
    Draft06,
    Draft07,
    Draft2019,
    Draft2020,
}

impl Dialect {
    /// The draft that `$schema` names; 2020-12 when there is none.
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaError> {
        match schema.get("$schema") {
            None => Ok(Self::Draft2020),
            Some(Value::String(name)) => Self::named(name).ok_or_else(|| {
                SchemaError::new(
                    SchemaErrorKind::UnknownDialect,
                    "/$schema",
                    format!("`{name}` is not a dialect known here: use draft-04, draft-06, draft-07, 2019-09 or 2020-12"),
                )
            }),
            Some(_) => Err(SchemaError::new(
                SchemaErrorKind::Invalid,
                "/$schema",
                "`$schema` must be a string that names the dialect",
            )),
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.trim_end_matches('#') {
            "http://json-schema.org/draft-04/schema" => Some(Self::Draft04),
            "http://json-schema.org/draft-06/schema" => Some(Self::Draft06),
            "http://json-schema.org/draft-07/schema" => Some(Self::Draft07),
            "https://json-schema.org/draft/2019-09/schema" => Some(Self::Draft2019),
            "https://json-schema.org/draft/2020-12/schema" => Some(Self::Draft2020),
            _ => None,
        }
    }
}
