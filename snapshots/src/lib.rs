//! The frozen artifact: its format, its canonical bytes and digest, and the store it is kept in.
//!
//! Not here: how a snapshot comes about, and what a policy in it decides.

mod format;

pub use format::{
    Agent, Auth, Binding, DocumentKey, Evidence, FORMAT, Framework, Grant, Identity, InputNarrowing, Limits,
    Model, Narrowing, Output, Pin, PolicyRecord, PolicyReference, Server, Snapshot, SnapshotKind, Tool,
};
