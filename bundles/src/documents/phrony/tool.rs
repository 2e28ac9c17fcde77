//! `kind: Tool`: the contract of one callable capability.
//!
//! Deliberately absent from it is how the tool is reached; those keys are refused with a word on where they go.

use super::{Kind, Metadata, PolicyReference, SchemaObject};
use crate::decode::{Decode, Decoder, Refusal, document, keywords};
use crate::diagnostics::{Diagnostic, code};
use crate::names::{did_you_mean, nearest};
use crate::node::{Node, NodeValue};
use crate::source::Spanned;

document! {
    /// A Tool document.
    pub struct ToolDocument as "a Tool", refusing misplaced {
        /// `phrony.com/v1`.
        "apiVersion" => api_version: Spanned<String>,
        /// `Tool`.
        "kind" => kind: Spanned<Kind>,
        /// Who it is.
        "metadata" => metadata: Metadata,
        /// The contract.
        "spec" => spec: ToolSpec,
    }
}

document! {
    /// The contract.
    pub struct ToolSpec as "a Tool's `spec`", refusing misplaced {
        /// What the tool does, for the model.
        "description" => description: Option<Spanned<String>>,
        /// May a call be run again when it is unknown whether it ran?
        "side_effect_class" => side_effect_class: Option<Spanned<SideEffectClass>>,
        /// The arguments.
        "input_schema" => input_schema: SchemaObject,
        /// The result.
        "output_schema" => output_schema: Option<SchemaObject>,
        /// Policies attached wherever the tool is bound.
        "default_policies" => default_policies: Vec<Spanned<PolicyReference>>,
        /// What the agent must have for the tool to be bound.
        "available_when" => available_when: Vec<Spanned<Predicate>>,
        /// Whether the model host enforces the schema.
        "strict" => strict: Option<Spanned<bool>>,
        /// What happens when the tool fails.
        "on_failure" => on_failure: Option<Spanned<String>>,
        /// Whether a call ends the run.
        "terminal" => terminal: Option<Spanned<bool>>,
    }
}

fn misplaced(key: &str) -> Option<Refusal> {
    const CONNECTION: &str = "would tie the contract to one place to run";
    const RUNTIME: &str = "workers register for the tool at run time; keep it in the runtime's installation";
    let folded = key.to_ascii_lowercase().replace('-', "_");
    let (why, help) = match folded.as_str() {
        "url" | "uri" | "endpoint" | "endpoints" | "base_url" | "host" | "port" | "address"
        | "connection" | "connection_string" | "dsn" | "server" | "transport" | "headers" | "method" => {
            (CONNECTION, RUNTIME)
        }
        "credential" | "credentials" | "secret" | "secrets" | "api_key" | "apikey" | "token" | "password"
        | "auth" | "authentication" => (
            "would put a credential into the contract",
            "name secrets under `secrets` on the Agent, or keep them with the worker",
        ),
        "execute"
        | "handler"
        | "hook"
        | "hooks"
        | "command"
        | "script"
        | "run"
        | "impl"
        | "implementation"
        | "implementation_hash"
        | "image"
        | "binary"
        | "worker"
        | "worker_id"
        | "worker_ids" => ("would tie the contract to one implementation", RUNTIME),
        "policies" => ("is a binding's field", "write `default_policies` on a Tool"),
        "parameters" => {
            ("is not how a Tool declares arguments", "write `input_schema` with `inline` or `ref`")
        }
        _ => return None,
    };
    Some(Refusal { code: &code::MISPLACED_FIELD, why, help })
}

keywords! {
    /// What recovery is allowed when it is unknown whether a call ran; in the direction of narrowing.
    pub enum SideEffectClass as "side-effect class" {
        /// Redispatch freely.
        ReadOnly = "read_only",
        /// Redispatch with the same `call_id`.
        IdempotentWrite = "idempotent_write",
        /// Never silently run twice.
        NonIdempotentWrite = "non_idempotent_write",
        /// A human decides.
        IrreversibleAction = "irreversible_action",
    }
}

/// One entry of `available_when`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// `agent.capability: X`: the agent lists X under `capabilities`.
    Capability(String),
}

impl Decode for Predicate {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        const KNOWN: &str = "agent.capability";
        let (key, value, span) = match &node.value {
            NodeValue::Mapping(entries) => match entries.as_slice() {
                [(key, value)] => (key.value.clone(), cx.string(value)?.to_owned(), key.span),
                _ => {
                    cx.push(
                        Diagnostic::new(&code::INVALID_VALUE, "a predicate is one `key: value`")
                            .label(node.span, format!("{} entries", entries.len()))
                            .help("make each predicate its own list item; all of them must hold"),
                    );
                    return None;
                }
            },
            NodeValue::String(text) => match text.text.split_once(':') {
                Some((key, value)) => (key.trim().to_owned(), value.trim().to_owned(), node.span),
                None => {
                    cx.push(
                        Diagnostic::new(&code::INVALID_VALUE, format!("`{}` is no predicate", text.text))
                            .label(node.span, "should be `key: value`")
                            .help(format!("write `{KNOWN}: NAME`")),
                    );
                    return None;
                }
            },
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Sequence(_) => {
                cx.wrong_type(node, "a predicate (`key: value`)");
                return None;
            }
        };
        if key != KNOWN {
            let near = nearest(&key, [KNOWN]);
            cx.push(
                Diagnostic::new(&code::INVALID_VALUE, format!("unknown predicate `{key}`"))
                    .label(span, did_you_mean(near, "not known"))
                    .help(format!("known: {KNOWN}")),
            );
            return None;
        }
        if value.is_empty() {
            cx.push(
                Diagnostic::new(&code::INVALID_VALUE, "the predicate names no capability").label(span, ""),
            );
            return None;
        }
        Some(Self::Capability(value))
    }
}

impl schemars::JsonSchema for Predicate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Predicate".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [
                {
                    "type": "object",
                    "properties": { "agent.capability": { "type": "string", "minLength": 1 } },
                    "required": ["agent.capability"],
                    "additionalProperties": false
                },
                { "type": "string", "pattern": "^\\s*agent\\.capability\\s*:\\s*\\S" }
            ]
        })
    }
}
