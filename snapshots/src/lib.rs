//! The frozen artifact: canonical bytes, and the store that keeps them.
//!
//! A snapshot is one JSON document in one spelling (RFC 8785), named by the SHA-256 of its bytes. The store is an
//! OCI image layout directory, so that what is on disk is what any OCI registry takes. The same input gives the
//! same bytes on every machine: nothing here reads a clock, the environment or a map's order, and no host path
//! enters a stored byte.
//!
//! Not here: YAML, Cedar, or how a snapshot is made and what it means. The store needs four things of a document:
//! its kind, its namespace, its name and its version.

mod canonical;
mod content;
mod format;
mod snapshot;
mod store;

pub use canonical::{CanonicalError, canonical_digest, from_canonical, members_digest, to_canonical};
pub use content::content_digest;
pub use format::{
    Agent, Auth, Binding, DocumentKey, Evidence, FORMAT, Framework, Grant, Identity, InputNarrowing, Limits,
    Model, Narrowing, Output, Pin, PolicyRecord, PolicyReference, Server, SideEffectCase, Snapshot, Tool,
};
pub use snapshot::SnapshotError;
pub use store::{
    Artifact, ArtifactKind, ArtifactKindError, Disagreement, Entry, Fault, FaultKind, FindError,
    PublishError, Published, Store, StoreError, Verification,
};
