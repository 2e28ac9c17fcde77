//! The validator whose word counts for a witness.
//!
//! The only module that names `jsonschema`. `format` is asserted, and nothing is ever fetched: every retrieval is
//! refused, whatever features another crate switches on in `jsonschema`.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use jsonschema::{Draft, PatternOptions, Retrieve, Uri};
use serde_json::{Value, json};

use crate::dialect::Dialect;

/// Steps a pattern with look-around may take before it counts as not matching.
pub(crate) const BACKTRACK_LIMIT: usize = 20_000;

/// How large the patterns of a schema may be together, their counted repetitions written out, for a validator to be built:
/// it takes about a microsecond for each unit of [`Pattern::weight`].
///
/// [`Pattern::weight`]: crate::language::Pattern::weight
pub(crate) const MAX_PATTERN_WEIGHT: u64 = 40_000;

/// One place where a schema rejects an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the instance.
    pub instance_path: String,
    /// JSON pointer into the schema.
    pub schema_path: String,
    /// What is wrong, in words.
    pub message: String,
}

#[derive(Debug)]
pub(crate) struct Validator(jsonschema::Validator);

struct Offline;

impl Retrieve for Offline {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`{uri}` is outside the document and is not fetched").into())
    }
}

impl Validator {
    /// The error is the message of the underlying validator.
    pub(crate) fn build(schema: &Value, dialect: Dialect) -> Result<Self, String> {
        jsonschema::options()
            .with_draft(draft(dialect))
            .should_validate_formats(true)
            .with_retriever(Offline)
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
            .build(schema)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    pub(crate) fn accepts(&self, instance: &Value) -> bool {
        self.0.is_valid(instance)
    }

    pub(crate) fn violations(&self, instance: &Value) -> Vec<Violation> {
        self.0
            .iter_errors(instance)
            .map(|error| Violation {
                instance_path: error.instance_path().to_string(),
                schema_path: error.schema_path().to_string(),
                message: error.to_string(),
            })
            .collect()
    }
}

fn draft(dialect: Dialect) -> Draft {
    match dialect {
        Dialect::Draft04 => Draft::Draft4,
        Dialect::Draft06 => Draft::Draft6,
        Dialect::Draft07 => Draft::Draft7,
        Dialect::Draft2019 => Draft::Draft201909,
        Dialect::Draft2020 => Draft::Draft202012,
    }
}

/// An ECMA 262 expression as the validator runs it; `None` when it is none.
pub(crate) fn translate_pattern(pattern: &str) -> Option<Cow<'_, str>> {
    jsonschema_regex::to_rust_regex(pattern).ok()
}

/// Whether `format: name` asserts anything in `dialect`.
pub(crate) fn asserts_format(dialect: Dialect, name: &str) -> bool {
    jsonschema::options().is_known_format(draft(dialect), name)
}

/// One asserted `format`: its name, and the validator's opinion.
pub(crate) struct FormatCheck {
    pub(crate) name: Box<str>,
    dialect: Dialect,
    check: OnceLock<Option<Validator>>,
}

impl FormatCheck {
    /// `None` when the format asserts nothing in this dialect.
    pub(crate) fn new(name: &str, dialect: Dialect) -> Option<Self> {
        asserts_format(dialect, name).then(|| Self { name: name.into(), dialect, check: OnceLock::new() })
    }

    pub(crate) fn accepts(&self, text: &str) -> bool {
        let build = || Validator::build(&json!({"format": &*self.name}), self.dialect).ok();
        self.check
            .get_or_init(build)
            .as_ref()
            .is_some_and(|check| check.accepts(&Value::String(text.to_owned())))
    }

    /// Whether both accept the same strings: the same name, and for `hostname` the same rules.
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        let strict = |check: &Self| check.dialect >= Dialect::Draft07;
        self.name == other.name && (&*self.name != "hostname" || strict(self) == strict(other))
    }
}

impl fmt::Debug for FormatCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FormatCheck({})", self.name)
    }
}

/// The validator's opinion on one pattern, for patterns only it can run.
#[derive(Debug, Default)]
pub(crate) struct PatternCheck(OnceLock<Option<Box<Validator>>>);

impl PatternCheck {
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> bool {
        let build = || Validator::build(&json!({"pattern": pattern}), Dialect::Draft2020).ok().map(Box::new);
        self.0.get_or_init(build).as_ref().is_some_and(|check| check.accepts(&Value::String(text.to_owned())))
    }
}
