//! The condition tree, as it is stored and digested.
//!
//! The JSON form is the one people write: `{field, op, value}`, or one of `{all}`, `{any}`, `{not}`.

use std::fmt;

use bailiwick_bundles::documents::phrony::Operator;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A condition over the arguments of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Condition {
    /// True when all are.
    All {
        /// The conditions.
        all: Vec<Self>,
    },
    /// True when one is.
    Any {
        /// The conditions.
        any: Vec<Self>,
    },
    /// True when the inner one is false.
    Not {
        /// The condition.
        not: Box<Self>,
    },
    /// A comparison.
    Leaf(Comparison),
}

/// A comparison of one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Dotted path into the arguments, or a dispatch field.
    pub field: String,
    /// How.
    pub op: Operator,
    /// With what; absent only with `exists`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub value: Option<Value>,
}

/// A value that is there, `null` included.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Condition {
    /// Every comparison, in the order written.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        let mut pending = vec![self];
        std::iter::from_fn(move || {
            loop {
                match pending.pop()? {
                    Self::All { all: inner } | Self::Any { any: inner } => pending.extend(inner.iter().rev()),
                    Self::Not { not } => pending.push(not),
                    Self::Leaf(comparison) => return Some(comparison),
                }
            }
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All { all } => join(f, all, " and "),
            Self::Any { any } => join(f, any, " or "),
            Self::Not { not } => write!(f, "not ({not})"),
            Self::Leaf(comparison) => fmt::Display::fmt(comparison, f),
        }
    }
}

fn join(f: &mut fmt::Formatter<'_>, conditions: &[Condition], word: &str) -> fmt::Result {
    for (at, condition) in conditions.iter().enumerate() {
        if at > 0 {
            f.write_str(word)?;
        }
        match condition {
            Condition::Leaf(_) | Condition::Not { .. } => write!(f, "{condition}")?,
            Condition::All { .. } | Condition::Any { .. } => write!(f, "({condition})")?,
        }
    }
    Ok(())
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, op, value } = self;
        let value = value.as_ref().unwrap_or(&Value::Bool(true));
        match op {
            Operator::Eq => write!(f, "{field} = {value}"),
            Operator::Neq => write!(f, "{field} ≠ {value}"),
            Operator::Gt => write!(f, "{field} > {value}"),
            Operator::Gte => write!(f, "{field} ≥ {value}"),
            Operator::Lt => write!(f, "{field} < {value}"),
            Operator::Lte => write!(f, "{field} ≤ {value}"),
            Operator::In => write!(f, "{field} in {value}"),
            Operator::NotIn => write!(f, "{field} not in {value}"),
            Operator::Matches => write!(f, "{field} matches {value}"),
            Operator::Contains => write!(f, "{field} contains {value}"),
            Operator::StartsWith => write!(f, "{field} starts with {value}"),
            Operator::EndsWith => write!(f, "{field} ends with {value}"),
            Operator::Exists if *value == Value::Bool(false) => write!(f, "{field} is absent"),
            Operator::Exists => write!(f, "{field} is present"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_is_one_thing() {
        let leaf = json!({ "field": "a", "op": "exists" });
        assert!(serde_json::from_value::<Condition>(leaf.clone()).is_ok());
        for two in
            [json!({ "all": [leaf], "not": leaf }), json!({ "not": leaf, "field": "a", "op": "exists" })]
        {
            assert!(serde_json::from_value::<Condition>(two).is_err());
        }
    }
}
