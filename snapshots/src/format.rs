//! Format 1 of the snapshot: the fields of the one canonical JSON document.
//!
//! # Specification
//!
//! A snapshot is one JSON object in the canonical form of RFC 8785. Its digest is the SHA-256 of those bytes.
//! It is self-contained: nothing in it is looked up elsewhere. Absent optional fields are left out, never `null`
//! (except inside schemas and values that people wrote). A reader refuses a `format` other than 1, fields that it
//! does not know, and bytes that it would write differently. The structs below name every field.
//!
//! * `format`: `1`.
//! * `kind`: `agent` and `bundle` for what can be deployed, `tool` and `policy` for one published contract.
//! * `identity`: `namespace`, `name`, `version` of the published document.
//! * `members`: keys of `agents` in closure order (depth first, the root first); absent in a contract.
//! * `agents`, `tools`, `policies`: maps keyed `namespace.name@version` (and `boundary:ID` for policies that
//!   stand in for an undefined boundary).
//! * `secrets`: secret name → environment variable, over the whole closure.
//! * `pins`: one row for each reference by name: `id`, `constraint` (`*` for none), `version`, `from` (`bundle` or
//!   `catalog`), `content_hash`; sorted.
//! * `evidence`: descriptive metadata of the published document; agents, tools and policies have their own.
//!
//! # Cedar
//!
//! `cedar` of a binding is its policies once more, for people and for other engines: `schema`, and `policies`, each with its
//! id as the annotation `id`. It is made from `policies` and `input_schema`, and decides as they do, for arguments that
//! the input schema accepts.
//!
//! * `principal` is `Agent::"namespace.name"`, `resource` is `Tool::"wire name"`.
//! * There are three actions: `unattended`, `approved` (people have agreed) and `reviewed` (a higher authority has). The
//!   first that is permitted says what a call needs: nothing, approvals, an escalation; where none is, it is denied.
//! * `context.phase` is `call`, or how the dispatch went wrong (a value of `dispatch.outcome`).
//! * `context.arguments` has an attribute for each path that is compared (`customer.country`), absent where the call has no
//!   value of its type there: strings and booleans as they are; integers where the input schema declares one, beyond 64 bits
//!   the nearest; other numbers as `floor` and `ceil` in ten-thousandths, beyond 64 bits the nearest. A path that is
//!   compared as a type that the schema does not declare plainly has an attribute for that: `path#string`,
//!   `path#boolean`, `path#number`. `path#exists` says whether there is any value.
//! * `context.facts` has comparisons that Cedar cannot make: whether each holds, absent where that is unknown. A policy
//!   carries those it needs as annotations: the name of the fact, and the comparison as JSON.
//!
//! # Digests
//!
//! Maps and sets are sorted; bindings are sorted by wire name. Digests inside are of canonical JSON:
//!
//! * `content_hash`: of the document as JSON, with each schema object replaced by `{"inline": …}` and each
//!   instructions object by `{"text": …}` holding what its file holds, schemas made self-contained, and without
//!   `metadata.version` and the annotation `bailiwick.dev/yanked`.
//! * `definition`, what a model reads: of `{"description", "input", "name", "output"}`, where absent ones are `null`;
//!   the name is the wire name of a binding and `metadata.name` of a tool.
//! * `contract` of a tool, what is enforced: of `{"boundaries", "capabilities", "cases", "class", "input",
//!   "on_failure", "output", "policies", "strict", "terminal"}`, absent ones `null`; schemas without annotations
//!   (`title`, `description`, `default`, `examples`, `$comment`, `deprecated`, `readOnly`, `writeOnly`, `x-*`).
//! * `contract` of a binding: of `{"class", "grants", "input", "output", "policies"}`: the tool's contract, the MCP
//!   server's address and tool, or the agent's key; and the rules without what is only said to people.

use std::collections::BTreeMap;

use bailiwick_bundles::documents::phrony::{
    AuthScheme, DelegateResult, OnInvalid, OnLimit, OutputFormat, ReasoningEffort, SideEffectClass, Transport,
};
use bailiwick_bundles::{BoundaryId, Digest, LogicalId, Name, SecretName, Version, WireName};
use bailiwick_policy::{Attachment, CedarText, Policy, PolicyId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::store::ArtifactKind;

/// The format this crate writes and reads.
pub const FORMAT: u64 = 1;

/// The frozen artifact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Always [`FORMAT`].
    pub format: u64,
    /// What was published.
    pub kind: ArtifactKind,
    /// Who it is.
    pub identity: Identity,
    /// Keys of `agents`, the root first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<DocumentKey>,
    /// The agents of the closure.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<DocumentKey, Agent>,
    /// The contracts that bindings grant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<DocumentKey, Tool>,
    /// The policies that are attached.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub policies: BTreeMap<PolicyId, PolicyRecord>,
    /// Secrets of the closure and the environment variables they are read from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<SecretName, String>,
    /// What was chosen among versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Pin>,
    /// Descriptive metadata of the published document.
    pub evidence: Evidence,
}

/// Who a snapshot is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The namespace.
    pub namespace: Name,
    /// The name.
    pub name: Name,
    /// The semantic version.
    pub version: Version,
}

impl Identity {
    /// `namespace.name`.
    pub fn id(&self) -> LogicalId {
        LogicalId::new(self.namespace.clone(), self.name.clone())
    }
}

/// `namespace.name@version`: the key of a document in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentKey {
    /// The logical id.
    pub id: LogicalId,
    /// The version.
    pub version: Version,
}

impl DocumentKey {
    /// The key of `id` at `version`.
    pub fn new(id: LogicalId, version: Version) -> Self {
        Self { id, version }
    }
}

impl std::fmt::Display for DocumentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.id, self.version)
    }
}

impl std::str::FromStr for DocumentKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const RULE: &str = "must be `namespace.name@version`";
        let (id, version) = text.split_once('@').ok_or(RULE)?;
        Ok(Self { id: id.parse().map_err(|_| RULE)?, version: version.parse().map_err(|_| RULE)? })
    }
}

bailiwick_bundles::as_text!(DocumentKey);

/// An agent of the closure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Digest of the document as read.
    pub content_hash: Digest,
    /// What it is for.
    pub purpose: String,
    /// What the model is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The model that drives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// What it may call, sorted by wire name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// MCP servers, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// Secrets and their environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<SecretName, String>,
    /// Bounds of a run.
    pub limits: Limits,
    /// What tools may ask for, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// What a run gives back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// Authority boundaries, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boundaries: Vec<BoundaryId>,
    /// Descriptive metadata.
    pub evidence: Evidence,
}

/// The model that drives an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Who serves it.
    pub provider: String,
    /// Which one.
    pub name: String,
    /// Where it is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The secret that opens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Number>,
    /// Nucleus sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<Number>,
    /// Bound of one answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Texts that end an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// How much it reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Carried to the provider as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_options: Option<Value>,
}

/// One thing an agent may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Under which name the model sees it.
    pub wire_name: WireName,
    /// What is granted.
    pub grants: Grant,
    /// What the model is told of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The effective input schema: enforced, and shown to the model.
    pub input_schema: Value,
    /// The result's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The effective class.
    pub side_effect_class: SideEffectClass,
    /// Every policy here and how it came, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<Attachment>,
    /// Policies of the agent whose conditions name no argument that the binding has, sorted; they do not apply here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_concerned: Vec<PolicyId>,
    /// The policies here as Cedar, for people and for other engines; made from `policies` and `input_schema`.
    pub cedar: CedarText,
    /// How it is known that the binding narrows.
    pub narrowing: Narrowing,
    /// What is enforced.
    pub contract: Digest,
    /// What a model reads.
    pub definition: Digest,
    /// `x-` keys of the binding.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, Value>,
}

/// What a binding grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Grant {
    /// A tool of [`Snapshot::tools`].
    Tool(DocumentKey),
    /// A tool of an MCP server; the binding is its own contract.
    Mcp {
        /// What the author calls it.
        id: LogicalId,
        /// A name of [`Agent::servers`].
        server: String,
        /// Its name there.
        tool: String,
    },
    /// An agent of [`Snapshot::agents`].
    Delegate {
        /// Which.
        agent: DocumentKey,
        /// What comes back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<DelegateResult>,
    },
    /// An agent chosen at run time.
    LateBound {
        /// Which, in whatever version is there.
        agent: LogicalId,
        /// What comes back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<DelegateResult>,
    },
}

/// How it is known that a binding narrows what it grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Narrowing {
    /// `same` as the contract, `narrower` (proven), or `own` where the binding is the contract.
    pub input: InputNarrowing,
    /// The rule that closed the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// The class of the contract, where the binding's is stricter (or milder by a proven case).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_from: Option<SideEffectClass>,
}

/// How a binding's input relates to the contract's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputNarrowing {
    /// The binding says nothing of its own.
    Same,
    /// The binding's schema is proven to be within the contract's.
    Narrower,
    /// There is no other contract than the binding.
    Own,
}

/// An MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its name in the agent.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// How it is spoken to.
    pub transport: Transport,
    /// How the agent shows who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
}

/// How an agent shows a server who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The scheme.
    pub scheme: AuthScheme,
    /// The secret.
    pub secret: String,
    /// The header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
}

/// Bounds of a run; an absent one is no bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens_per_run: Option<u64>,
    /// Turns of the loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_loop_iterations: Option<u64>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wall_clock_seconds: Option<u64>,
    /// Minutes spent waiting for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hitl_wait_minutes: Option<u64>,
    /// Delegations within delegations.
    pub max_subagent_depth: u64,
    /// What happens at a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_limit: Option<OnLimit>,
}

/// What a run gives back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Text or JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// The shape of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Whether the model host enforces the shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// What happens to another shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_invalid: Option<OnInvalid>,
}

/// The contract of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Digest of the document as read.
    pub content_hash: Digest,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The class; the safe default where the document has none.
    pub side_effect_class: SideEffectClass,
    /// Whether the class was assumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub class_assumed: bool,
    /// The arguments.
    pub input_schema: Value,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Policies attached wherever the tool is bound, as references.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_policies: Vec<PolicyReference>,
    /// Capabilities the agent must have, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires_capabilities: Vec<String>,
    /// Whether the model host enforces the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// What happens when the tool fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    /// Whether a call ends the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<bool>,
    /// Authority boundaries, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boundaries: Vec<BoundaryId>,
    /// Parts of the input for which a milder class is granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_effect_cases: Vec<SideEffectCase>,
    /// What is enforced.
    pub contract: Digest,
    /// What a model reads.
    pub definition: Digest,
    /// Descriptive metadata.
    pub evidence: Evidence,
}

/// A part of a tool's input with a class of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideEffectCase {
    /// The part, as a schema.
    pub when: Value,
    /// Its class.
    pub class: SideEffectClass,
}

/// A policy and what is recorded beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRecord {
    /// The rule, as written.
    pub rule: Policy,
    /// Descriptive metadata.
    pub evidence: Evidence,
}

/// A reference to a policy by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyReference {
    /// Which policy.
    pub id: LogicalId,
    /// Which versions will do; absent means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
}

/// What was chosen for one reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// What was asked for.
    pub id: LogicalId,
    /// Which versions would have done; `*` for any.
    pub constraint: String,
    /// What was chosen.
    pub version: Version,
    /// `bundle` or `catalog`. Which catalog is a matter of local settings.
    pub from: String,
    /// Digest of the document that was chosen.
    pub content_hash: Digest,
}

/// Descriptive metadata: recorded, and never part of a decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Which dialect the document was written in.
    pub dialect: String,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Risk tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_tier: Option<String>,
    /// Classifications, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classifications: Vec<String>,
    /// Framework packs by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub frameworks: BTreeMap<String, Framework>,
    /// `x-` keys of the document, by JSON pointer into it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, Value>,
}

/// The payload of a framework pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framework {
    /// As written.
    pub payload: Value,
    /// Whether the pack is known and the payload was validated.
    pub validated: bool,
}
