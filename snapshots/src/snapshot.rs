//! A snapshot and its bytes.

use std::fmt;

use bailiwick_bundles::{Digest, Version};
use serde_json::Value;

use crate::canonical::{CanonicalError, from_canonical, to_canonical};
use crate::format::{DocumentKey, FORMAT, Snapshot};

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
        serde_json::from_value(value).map_err(|error| SnapshotError::Shape(error.to_string()))
    }

    /// The digest of what is published apart from its version label.
    ///
    /// Two publications of one document under two versions have the same content exactly if nothing but the label
    /// differs. It is the digest of the snapshot in which the label is 0.0.0.
    pub fn content_digest(&self) -> Result<Digest, CanonicalError> {
        let blank = Version::new(0, 0, 0);
        let mut bare = self.clone();
        let own = DocumentKey::new(self.identity.id(), self.identity.version.clone());
        let renamed = DocumentKey::new(own.id.clone(), blank.clone());
        bare.identity.version = blank.clone();
        if let Some(agent) = bare.agents.remove(&own) {
            bare.agents.insert(renamed.clone(), agent);
        }
        if let Some(tool) = bare.tools.remove(&own) {
            bare.tools.insert(renamed.clone(), tool);
        }
        for member in bare.members.iter_mut().filter(|member| **member == own) {
            member.version = blank.clone();
        }
        let policy = bailiwick_policy::PolicyId::Document(own.id, own.version);
        if self.kind == crate::ArtifactKind::Policy
            && let Some(mut record) = bare.policies.remove(&policy)
        {
            record.rule.id = bailiwick_policy::PolicyId::Document(renamed.id.clone(), blank);
            bare.policies.insert(record.rule.id.clone(), record);
        }
        bare.to_canonical().map(|bytes| Digest::of(&bytes))
    }
}
