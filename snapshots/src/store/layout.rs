//! The documents of the layout but the index: descriptors, and the manifest of an artifact.
//!
//! Read from untrusted bytes with a reason for whatever is amiss; written in canonical form. No disk here.

use std::fmt;
use std::str::FromStr;

use bailiwick_bundles::Version;
use bailiwick_bundles::{Digest, LogicalId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Disagreement;
use crate::canonical::{CanonicalError, from_canonical, is_canonical};

pub(super) const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
pub(super) const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
pub(super) const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// The content of the empty descriptor.
pub(super) const EMPTY: &[u8] = b"{}";

pub(super) const SNAPSHOT_TYPE: &str = "application/vnd.bailiwick.snapshot.v1+json";
pub(super) const CONTRACT_TYPE: &str = "application/vnd.bailiwick.contract.v1+json";

pub(super) const OURS: &str = "bailiwick.dev/";
pub(super) const ID: &str = "bailiwick.dev/id";
pub(super) const VERSION: &str = "bailiwick.dev/version";
pub(super) const KIND: &str = "bailiwick.dev/kind";
pub(super) const DIGEST: &str = "bailiwick.dev/digest";
pub(super) const CONTENT: &str = "bailiwick.dev/content";
pub(super) const REF_NAME: &str = "org.opencontainers.image.ref.name";
const TITLE: &str = "org.opencontainers.image.title";

/// What a stored document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactKind {
    /// A snapshot of one agent.
    Agent,
    /// A snapshot of a bundle of agents.
    Bundle,
    /// The contract of one tool.
    Tool,
    /// The contract of one policy.
    Policy,
}

impl ArtifactKind {
    /// The word for it in documents and annotations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Bundle => "bundle",
            Self::Tool => "tool",
            Self::Policy => "policy",
        }
    }

    /// Whether it is a single tool or policy, which others pin, rather than a snapshot.
    pub fn is_contract(self) -> bool {
        match self {
            Self::Agent | Self::Bundle => false,
            Self::Tool | Self::Policy => true,
        }
    }

    /// The media type of its bytes, and the artifact type of its manifest.
    pub fn media_type(self) -> &'static str {
        if self.is_contract() { CONTRACT_TYPE } else { SNAPSHOT_TYPE }
    }
}

impl fmt::Display for ArtifactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is none of `agent`, `bundle`, `tool` and `policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArtifactKindError;

impl fmt::Display for ArtifactKindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a stored document is an `agent`, a `bundle`, a `tool` or a `policy`")
    }
}

impl std::error::Error for ArtifactKindError {}

impl FromStr for ArtifactKind {
    type Err = ArtifactKindError;

    fn from_str(text: &str) -> Result<Self, ArtifactKindError> {
        [Self::Agent, Self::Bundle, Self::Tool, Self::Policy]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(ArtifactKindError)
    }
}

/// One published document, as the index lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is called.
    pub id: LogicalId,
    /// Its version, unique for the id.
    pub version: Version,
    /// What it is.
    pub kind: ArtifactKind,
    /// The digest of its canonical bytes: the digest that people and pins use.
    pub digest: Digest,
    /// The digest of its OCI manifest: the digest that a registry uses.
    pub manifest: Digest,
    /// The digest of what it is apart from its version.
    pub content: Digest,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id, self.version)
    }
}

/// The three members by which one blob names another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) media_type: String,
    pub(super) digest: Digest,
    pub(super) size: u64,
}

impl Descriptor {
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        Ok(Self {
            media_type: text(value, "mediaType")?.to_owned(),
            digest: text(value, "digest")?.parse().map_err(|error| format!("`digest`: {error}"))?,
            size: value.get("size").and_then(Value::as_u64).ok_or("it has no `size`")?,
        })
    }
}

pub(super) fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str, String> {
    value.get(member).and_then(Value::as_str).ok_or_else(|| format!("it has no `{member}`"))
}

/// The annotations that a manifest and its descriptor in the index have in common.
pub(super) fn annotations(
    id: &LogicalId,
    version: &Version,
    kind: ArtifactKind,
    digest: &Digest,
) -> Map<String, Value> {
    [
        (ID, id.to_string()),
        (VERSION, version.to_string()),
        (KIND, kind.to_string()),
        (DIGEST, digest.to_string()),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), Value::from(value)))
    .collect()
}

/// The manifest of a document of `size` bytes.
pub(super) fn manifest(
    id: &LogicalId,
    version: &Version,
    kind: ArtifactKind,
    digest: &Digest,
    size: u64,
) -> Value {
    let title = if kind.is_contract() { "contract.json" } else { "snapshot.json" };
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": kind.media_type(),
        "config": { "mediaType": EMPTY_TYPE, "digest": Digest::of(EMPTY), "size": EMPTY.len() },
        "layers": [{
            "mediaType": kind.media_type(),
            "digest": digest,
            "size": size,
            "annotations": { TITLE: title },
        }],
        "annotations": annotations(id, version, kind, digest),
    })
}

/// A manifest as it was found.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) config: Descriptor,
    pub(super) layer: Descriptor,
}

impl Manifest {
    /// Reads the manifest of `entry`, and refuses one that contradicts it.
    pub(super) fn read(bytes: &[u8], entry: &Entry) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| not_json(&error))?;
        if value.get("schemaVersion").and_then(Value::as_u64) != Some(2) {
            return Err("its `schemaVersion` is not 2".to_owned());
        }
        due(&value, "mediaType", MANIFEST_TYPE)?;
        due(&value, "artifactType", entry.kind.media_type())?;
        let noted = value.get("annotations").ok_or("it has no `annotations`")?;
        for (key, stated) in annotations(&entry.id, &entry.version, entry.kind, &entry.digest) {
            due(noted, &key, stated.as_str().unwrap_or_default())?;
        }
        let config = value.get("config").ok_or("it has no `config`")?;
        let config = Descriptor::read(config).map_err(|reason| format!("in `config`: {reason}"))?;
        if config.media_type != EMPTY_TYPE || config.digest != Digest::of(EMPTY) {
            return Err("its `config` is not the empty descriptor".to_owned());
        }
        let layer = match value.get("layers").and_then(Value::as_array).map(Vec::as_slice) {
            Some([layer]) => Descriptor::read(layer).map_err(|reason| format!("in `layers`: {reason}"))?,
            Some(_) | None => return Err("it does not have exactly one layer".to_owned()),
        };
        if layer.media_type != entry.kind.media_type() {
            return Err(format!("its layer has media type `{}`", layer.media_type));
        }
        if layer.digest != entry.digest {
            return Err(format!("its layer is {}, but the index says {}", layer.digest, entry.digest));
        }
        Ok(Self { config, layer })
    }
}

/// Refuses another value of a member than the one that is due.
pub(super) fn due(value: &Value, member: &str, expected: &str) -> Result<(), String> {
    let found = text(value, member)?;
    if found == expected { Ok(()) } else { Err(format!("`{member}` is `{found}`, not `{expected}`")) }
}

/// The places of a JSON fault, without the parser's words.
pub(super) fn not_json(error: &serde_json::Error) -> String {
    format!("it is not JSON (line {}, column {})", error.line(), error.column())
}

/// The members by which a document says what it is.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    kind: Value,
    #[serde(default)]
    identity: Value,
}

/// What a document says of itself against what the store says of it; an error when its bytes are not canonical.
pub(super) fn disagreements(
    bytes: &[u8],
    id: &LogicalId,
    version: &Version,
    kind: ArtifactKind,
) -> Result<Vec<Disagreement>, CanonicalError> {
    if !is_canonical(bytes) {
        from_canonical(bytes)?;
    }
    // Canonical bytes that are no object have no members; a list would be read as the members in order.
    let head = if bytes.starts_with(b"{") { serde_json::from_slice(bytes).ok() } else { None };
    let head = head.unwrap_or(Head { kind: Value::Null, identity: Value::Null });
    let document = json!({ "kind": head.kind, "identity": head.identity });
    let found = [
        ("/identity/namespace", id.namespace().to_string()),
        ("/identity/name", id.name().to_string()),
        ("/identity/version", version.to_string()),
        ("/kind", kind.to_string()),
    ]
    .into_iter()
    .filter_map(|(pointer, stored)| {
        let found = document.pointer(pointer).and_then(Value::as_str);
        (found != Some(stored.as_str())).then(|| Disagreement {
            pointer,
            stored,
            found: found.map(str::to_owned),
        })
    })
    .collect();
    Ok(found)
}
