//! A policy, what it is called, and how it came to a binding.

use std::fmt;
use std::str::FromStr;

use bailiwick_bundles::{BoundaryId, Digest, LogicalId, Version};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Condition, Decision};

/// What a policy is called. Two policies of one short name in two namespaces, or in two versions, never meet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyId {
    /// A Policy document: `namespace.name@version`.
    Document(LogicalId, Version),
    /// What stands in for a boundary that no policy implements: `boundary:ID`.
    Boundary(BoundaryId),
}

/// Why a text is not a policy's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyIdError;

impl fmt::Display for PolicyIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a policy is called `namespace.name@version` or `boundary:ID`")
    }
}

impl std::error::Error for PolicyIdError {}

impl fmt::Display for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(id, version) => write!(f, "{id}@{version}"),
            Self::Boundary(boundary) => write!(f, "boundary:{boundary}"),
        }
    }
}

impl FromStr for PolicyId {
    type Err = PolicyIdError;

    fn from_str(text: &str) -> Result<Self, PolicyIdError> {
        if let Some(boundary) = text.strip_prefix("boundary:") {
            return boundary.parse().map(Self::Boundary).map_err(|_| PolicyIdError);
        }
        let (id, version) = text.split_once('@').ok_or(PolicyIdError)?;
        let id = id.parse().map_err(|_| PolicyIdError)?;
        Ok(Self::Document(id, version.parse().map_err(|_| PolicyIdError)?))
    }
}

bailiwick_bundles::as_text!(PolicyId);

/// Which calls a policy is about, beyond the binding or agent it is attached to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Every call of the agent.
    Agent,
    /// The calls of one tool.
    Tool(LogicalId),
}

/// A rule about calls, as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// What it is called.
    pub id: PolicyId,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Which calls it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// When it applies; absent means always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Condition>,
    /// Values allowed for the tool's one argument that is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<Value>>,
    /// What happens when it applies.
    pub decision: Decision,
    /// The boundaries it implements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implements: Vec<BoundaryId>,
    /// Digest of the document as it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<Digest>,
}

impl Policy {
    /// Whether it implements `boundary`, by its metadata or by its decision.
    pub fn implements(&self, boundary: &BoundaryId) -> bool {
        self.implements.contains(boundary) || self.decision.authority_ref.as_ref() == Some(boundary)
    }
}

/// How a policy came to a binding, in the order in which attachments add up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachedBy {
    /// The Tool's `default_policies`.
    Tool,
    /// The binding's `policies`.
    Binding,
    /// The Agent's `default_policies`.
    Agent,
    /// An authority boundary of the Agent.
    AgentBoundary(BoundaryId),
    /// An authority boundary of the Tool.
    ToolBoundary(BoundaryId),
}

/// A policy at a binding. Attachments add up; none ever replaces another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// How it came here.
    pub by: AttachedBy,
    /// Which policy.
    pub policy: PolicyId,
}
