//! A snapshot and its bytes.

use std::fmt;

use serde_json::Value;

use crate::canonical::{CanonicalError, from_canonical, to_canonical};
use crate::format::{FORMAT, Snapshot};

/// Why bytes are not a snapshot.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Not canonical JSON.
    Canonical(CanonicalError),
    /// A format that this crate does not know.
    UnknownFormat(String),
    /// Of the known format, but not of its shape: which field, in words.
    Shape(String),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Canonical(error) => fmt::Display::fmt(error, f),
            Self::UnknownFormat(found) => {
                write!(f, "snapshot format {found} is not known; this reads format {FORMAT}")
            }
            Self::Shape(what) => write!(f, "not a snapshot of format {FORMAT}: {what}"),
        }
    }
}

impl std::error::Error for SnapshotError {}

impl Snapshot {
    /// The canonical bytes.
    pub fn to_canonical(&self) -> Result<Vec<u8>, CanonicalError> {
        to_canonical(&self.to_value())
    }

    /// The snapshot as JSON.
    pub fn to_value(&self) -> Value {
        // INVARIANT: keys are strings and numbers are JSON's, so serialising cannot fail.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// Reads canonical bytes. The digest is the caller's to check.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let value = from_canonical(bytes).map_err(SnapshotError::Canonical)?;
        match value.get("format") {
            Some(format) if format.as_u64() == Some(FORMAT) => {}
            Some(format) => return Err(SnapshotError::UnknownFormat(format.to_string())),
            None => return Err(SnapshotError::Shape("no `format`".to_owned())),
        }
        let snapshot: Self =
            serde_json::from_value(value).map_err(|error| SnapshotError::Shape(error.to_string()))?;
        // What the types do not hold would be lost on the way to whoever reads the snapshot.
        if snapshot.to_canonical().map_err(SnapshotError::Canonical)? != bytes {
            return Err(SnapshotError::Shape("it says something that the format does not know".to_owned()));
        }
        Ok(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_bundles::Digest;
    use serde_json::json;

    use super::*;

    fn tool(version: &str, description: &str) -> Snapshot {
        let digest = Digest::of(b"");
        let value = json!({
            "format": 1,
            "kind": "tool",
            "identity": { "namespace": "a", "name": "b", "version": version },
            "tools": { format!("a.b@{version}"): {
                "content_hash": digest,
                "description": description,
                "side_effect_class": "read_only",
                "input_schema": { "type": "object" },
                "contract": digest,
                "definition": digest,
                "evidence": { "dialect": "phrony.com/v1" }
            } },
            "evidence": { "dialect": "phrony.com/v1" }
        });
        Snapshot::from_canonical(&to_canonical(&value).expect("canonical")).expect("a snapshot")
    }

    #[test]
    fn bytes_and_back() {
        let snapshot = tool("1.0.0", "x");
        let bytes = snapshot.to_canonical().expect("canonical");
        assert_eq!(Snapshot::from_canonical(&bytes), Ok(snapshot));
    }

    #[test]
    fn another_format_or_an_unknown_field_is_refused() {
        let mut value = tool("1.0.0", "x").to_value();
        value["surprise"] = json!(1);
        let read = |value: &Value| Snapshot::from_canonical(&to_canonical(value).expect("canonical"));
        assert!(matches!(read(&value), Err(SnapshotError::Shape(_))));
        value["format"] = json!(2);
        assert_eq!(read(&value), Err(SnapshotError::UnknownFormat("2".to_owned())));
    }
}
