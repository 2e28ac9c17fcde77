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

/// What each draft is called in passing, and by its `$schema`.
const URIS: [(&str, &str); 5] = [
    ("draft-04", "http://json-schema.org/draft-04/schema#"),
    ("draft-06", "http://json-schema.org/draft-06/schema#"),
    ("draft-07", "http://json-schema.org/draft-07/schema#"),
    ("2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

impl Dialect {
    /// The draft that `$schema` names; 2020-12 when there is none.
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaError> {
        match schema.get("$schema") {
            None => Ok(Self::Draft2020),
            Some(Value::String(name)) => Self::named(name).ok_or_else(|| {
                let hint = match URIS.iter().find(|(short, _)| name.contains(short)) {
                    Some((_, uri)) => format!("did you mean `{uri}`?"),
                    None => {
                        let known = URIS.map(|(_, uri)| format!("`{uri}`"));
                        format!("use one of {}", known.join(", "))
                    }
                };
                let message = format!("`{name}` is not a dialect known here: {hint}");
                SchemaError::new(SchemaErrorKind::UnknownDialect, "/$schema", message)
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
