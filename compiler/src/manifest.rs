//! Manifests: documents normalised and free of dialect, with the contents of their files in them.
//!
//! Spans stop here. A manifest knows nothing of other documents: its references are still references.

use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{Reference, SideEffectClass};
use bailiwick_bundles::{BoundaryId, Digest, LogicalId, SchemaSource, SecretName, Version, WireName};
use bailiwick_policy::{Policy, PreparedCondition};
use bailiwick_snapshots::{DocumentKey, Evidence, Limits, Model, Output, Server};
use serde_json::{Map, Value};

use crate::origin::Origin;

/// Where a document comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// The bundle that is compiled.
    Bundle,
    /// A catalog, by name.
    Catalog(Arc<str>),
}

impl std::fmt::Display for Home {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bundle => f.pad("bundle"),
            Self::Catalog(name) => f.pad(&format!("catalog/{name}")),
        }
    }
}

/// What every document has.
#[derive(Debug)]
pub struct Head {
    /// `namespace.name`.
    pub id: LogicalId,
    /// The version.
    pub version: Version,
    /// Where it comes from.
    pub home: Home,
    /// Its `metadata.name`.
    pub origin: Origin,
    /// Descriptive metadata.
    pub evidence: Evidence,
    /// Authority boundaries.
    pub boundaries: Vec<(BoundaryId, Origin)>,
    /// Digest of the document with its files' contents.
    pub content_hash: Digest,
}

impl Head {
    /// `namespace.name@version`.
    pub fn key(&self) -> DocumentKey {
        DocumentKey::new(self.id.clone(), self.version.clone())
    }
}

/// A reference and where it stands.
#[derive(Clone, Debug)]
pub struct Ask {
    /// What is asked for.
    pub reference: Reference,
    /// Where.
    pub origin: Origin,
}

/// A Tool.
#[derive(Debug)]
pub struct ToolManifest {
    /// Who it is.
    pub head: Head,
    /// What it does.
    pub description: Option<String>,
    /// The declared class.
    pub class: Option<SideEffectClass>,
    /// Where the class is declared, or the tool where it is not.
    pub class_origin: Origin,
    /// The arguments.
    pub input: Arc<SchemaSource>,
    /// The result.
    pub output: Option<Arc<SchemaSource>>,
    /// Policies attached wherever it is bound.
    pub default_policies: Vec<Ask>,
    /// Capabilities the agent must have.
    pub requires_capabilities: Vec<String>,
    /// Whether the model host enforces the schema.
    pub strict: Option<bool>,
    /// What happens when it fails.
    pub on_failure: Option<String>,
    /// Whether a call ends the run.
    pub terminal: Option<bool>,
    /// Parts of the input for which a milder class is granted.
    pub cases: Vec<SideEffectCase>,
}

/// A part of a tool's input with a class of its own.
#[derive(Debug)]
pub struct SideEffectCase {
    /// The part.
    pub when: Arc<SchemaSource>,
    /// Its class.
    pub class: SideEffectClass,
}

impl ToolManifest {
    /// The class in force: where none is declared, never silently run twice.
    pub fn effective_class(&self) -> SideEffectClass {
        self.class.unwrap_or(SideEffectClass::NonIdempotentWrite)
    }
}

/// A Policy.
#[derive(Debug)]
pub struct PolicyManifest {
    /// Who it is.
    pub head: Head,
    /// The rule.
    pub policy: Policy,
    /// The tool its scope names, and where.
    pub scope_origin: Origin,
    /// Its condition, prepared; absent where it has none, or one that was refused.
    pub condition: Option<PreparedCondition>,
    /// Where its condition stands; the policy where it has none.
    pub condition_origin: Origin,
    /// Where each comparison of its condition stands, in the order written.
    pub comparisons: Vec<ComparisonOrigin>,
}

/// Where a comparison stands.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonOrigin {
    /// Its `field`.
    pub field: Origin,
    /// Its `op`.
    pub op: Origin,
}

/// An Agent.
#[derive(Debug)]
pub struct AgentManifest {
    /// Who it is.
    pub head: Head,
    /// What it is for.
    pub purpose: String,
    /// What the model is told.
    pub instructions: Option<String>,
    /// The model that drives it.
    pub model: Option<Model>,
    /// What it may call.
    pub tools: Vec<BindingManifest>,
    /// Whom it may delegate to.
    pub delegates: Vec<DelegationManifest>,
    /// MCP servers.
    pub servers: Vec<Server>,
    /// Policies for every binding.
    pub default_policies: Vec<Ask>,
    /// What tools may ask for.
    pub capabilities: Vec<String>,
    /// Bounds of a run.
    pub limits: Limits,
    /// Secrets, their environment variables, and where each is declared.
    pub secrets: Vec<(SecretName, String, Origin)>,
    /// What a run gives back.
    pub output: Option<Output>,
}

/// A tool binding.
#[derive(Debug)]
pub struct BindingManifest {
    /// Which tool.
    pub ask: Ask,
    /// The name the model sees, and where it is set.
    pub wire_name: Option<WireName>,
    /// Where the wire name comes from.
    pub wire_origin: Origin,
    /// Said instead of the Tool's description.
    pub description: Option<String>,
    /// Narrows the Tool's input.
    pub input: Option<Arc<SchemaSource>>,
    /// Tightens the Tool's class.
    pub class: Option<SideEffectClass>,
    /// Where the class is set.
    pub class_origin: Origin,
    /// Policies for this binding.
    pub policies: Vec<Ask>,
    /// Server and tool name, for a binding backed by MCP.
    pub mcp: Option<(String, String)>,
    /// `x-` keys.
    pub extensions: Map<String, Value>,
}

/// A delegation.
#[derive(Debug)]
pub struct DelegationManifest {
    /// Which agent.
    pub ask: Ask,
    /// Chosen at run time.
    pub late_bound: bool,
    /// The name the model sees.
    pub wire_name: Option<WireName>,
    /// Where the wire name comes from.
    pub wire_origin: Origin,
    /// What the model is told of it.
    pub description: Option<String>,
    /// The arguments.
    pub input: Option<Arc<SchemaSource>>,
    /// What comes back.
    pub result: Option<bailiwick_bundles::documents::phrony::DelegateResult>,
    /// Policies for this delegation.
    pub policies: Vec<Ask>,
    /// `x-` keys.
    pub extensions: Map<String, Value>,
}

/// A document, lowered.
#[derive(Clone, Debug)]
pub enum Manifest {
    /// An agent.
    Agent(Arc<AgentManifest>),
    /// A tool.
    Tool(Arc<ToolManifest>),
    /// A policy.
    Policy(Arc<PolicyManifest>),
}

impl Manifest {
    /// What every document has.
    pub fn head(&self) -> &Head {
        match self {
            Self::Agent(manifest) => &manifest.head,
            Self::Tool(manifest) => &manifest.head,
            Self::Policy(manifest) => &manifest.head,
        }
    }
}
