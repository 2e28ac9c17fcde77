//! `apiVersion: phrony.com/v1`: Agent, Tool, Policy and Bundle.

mod agent;
mod bundle;
mod condition;
mod field;
mod file_or;
mod metadata;
mod policy;
mod reference;
mod schema_object;
mod tool;

pub use agent::{
    AgentDocument, AgentSpec, Auth, AuthScheme, Binding, DelegateResult, Delegation, Instructions, Limits,
    McpServer, McpTarget, Model, ModelParameters, OnInvalid, OnLimit, Output, OutputFormat, Reasoning,
    ReasoningEffort, Secret, Secrets, Transport,
};
pub use bundle::{BundleDocument, BundleSpec};
pub use condition::{ConditionDoc, DISPATCH_VALUES, Leaf, MAX_CONDITION_DEPTH, MAX_TERMS, Operator};
pub use field::{Field, FieldError, FieldPath, Step};
pub use metadata::{Framework, Frameworks, Governance, Metadata, StringMap};
pub use policy::{
    DecisionDoc, DecisionType, OnModify, OnReject, PolicyDocument, PolicySpec, Scope, Timeout, TimeoutDefault,
};
pub use reference::{PolicyRef, PolicyReference, Reference, VersionTag};
pub use schema_object::SchemaObject;
pub use tool::{Predicate, SideEffectClass, ToolDocument, ToolSpec};

use crate::credential::refuse_credentials_below;
use crate::decode::{Decode, Decoder, Owner, field, head, keywords};
use crate::diagnostics::{Diagnostic, code};
use crate::names::{did_you_mean, nearest};
use crate::node::Node;
use crate::source::Span;

/// The `apiVersion` of this dialect.
pub const API_VERSION: &str = "phrony.com/v1";

keywords! {
    /// The kinds of document.
    pub enum Kind as "kind of document" {
        /// An agent.
        Agent = "Agent",
        /// The contract of one callable capability.
        Tool = "Tool",
        /// A rule about calls.
        Policy = "Policy",
        /// A closure of agents with one root.
        Bundle = "Bundle",
    }
}

/// A document of any kind.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "documents are few and live in one list")]
pub enum Document {
    /// `kind: Agent`.
    Agent(AgentDocument),
    /// `kind: Tool`.
    Tool(ToolDocument),
    /// `kind: Policy`.
    Policy(PolicyDocument),
    /// `kind: Bundle`.
    Bundle(BundleDocument),
}

impl Document {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Agent(_) => Kind::Agent,
            Self::Tool(_) => Kind::Tool,
            Self::Policy(_) => Kind::Policy,
            Self::Bundle(_) => Kind::Bundle,
        }
    }

    /// Its metadata.
    pub fn metadata(&self) -> &Metadata {
        match self {
            Self::Agent(document) => &document.metadata,
            Self::Tool(document) => &document.metadata,
            Self::Policy(document) => &document.metadata,
            Self::Bundle(document) => &document.metadata,
        }
    }

    /// The whole document.
    pub fn span(&self) -> Span {
        match self {
            Self::Agent(document) => document.span,
            Self::Tool(document) => document.span,
            Self::Policy(document) => document.span,
            Self::Bundle(document) => document.span,
        }
    }
}

/// Reads one document, whose `apiVersion` and `kind` decide what it is.
pub fn read_document(node: &Node, cx: &mut Decoder<'_>) -> Option<Document> {
    let Some(entries) = node.as_mapping() else {
        cx.wrong_type(node, "a document (a map with `apiVersion` and `kind`)");
        return None;
    };
    let owner = Owner { what: "a document", span: head(node, entries) };
    let version: Option<Node> = field(node, &owner, "apiVersion", cx);
    let kind: Option<Node> = field(node, &owner, "kind", cx);
    let (version, kind) = (version?, kind?);
    let text = cx.string(&version)?;
    if text != API_VERSION {
        let near = nearest(text, [API_VERSION]);
        cx.push(
            Diagnostic::new(&code::UNKNOWN_API_VERSION, format!("unknown apiVersion `{text}`"))
                .label(version.span, did_you_mean(near, "not known"))
                .help(format!("known: {API_VERSION}")),
        );
        return None;
    }
    let word = cx.string(&kind)?;
    let Some(known) = Kind::from_word(word) else {
        let near = nearest(word, Kind::WORDS.iter().copied());
        cx.push(
            Diagnostic::new(&code::UNKNOWN_KIND, format!("unknown kind `{word}`"))
                .label(kind.span, did_you_mean(near, "not known"))
                .help(format!("one of: {}", Kind::WORDS.join(", "))),
        );
        return None;
    };
    // A secret that is written out where secrets are named is refused with words of its own.
    for (_, value) in entries.iter().filter(|(key, _)| key.value != "secrets") {
        refuse_credentials_below(value, &mut cx.diagnostics);
    }
    match known {
        Kind::Agent => AgentDocument::decode(node, cx).map(|document| {
            document.check(cx);
            Document::Agent(document)
        }),
        Kind::Tool => ToolDocument::decode(node, cx).map(Document::Tool),
        Kind::Policy => PolicyDocument::decode(node, cx).map(|document| {
            document.check(cx);
            Document::Policy(document)
        }),
        Kind::Bundle => BundleDocument::decode(node, cx).map(Document::Bundle),
    }
}

/// The JSON Schema of any document: one branch per kind, chosen by `kind`, so that an editor shows faults of the one
/// branch that is meant.
pub fn document_schema() -> serde_json::Value {
    let mut generator = schemars::SchemaGenerator::default();
    let branches = [
        (Kind::Agent, generator.subschema_for::<AgentDocument>()),
        (Kind::Tool, generator.subschema_for::<ToolDocument>()),
        (Kind::Policy, generator.subschema_for::<PolicyDocument>()),
        (Kind::Bundle, generator.subschema_for::<BundleDocument>()),
    ];
    let branches: Vec<serde_json::Value> = branches
        .into_iter()
        .map(|(kind, schema)| {
            serde_json::json!({
                "if": { "properties": { "kind": { "const": kind.as_str() } }, "required": ["kind"] },
                "then": schema
            })
        })
        .collect();
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Document of an agent bundle",
        "type": "object",
        "properties": { "apiVersion": { "const": API_VERSION }, "kind": { "enum": Kind::WORDS } },
        "required": ["apiVersion", "kind"],
        "allOf": branches,
        "$defs": generator.take_definitions(true)
    })
}
