//! `kind: Agent`: what it is for, what it may call, and within which limits.

mod rules;

use serde_json::Number;

use super::file_or::{FileOr, Words, Written, either, either_schema};
use super::{Kind, Metadata, PolicyReference, Reference, SchemaObject, SideEffectClass, VersionTag};
use crate::decode::{Count, Decode, Decoder, Refusal, document, keywords, none_refused};
use crate::diagnostics::{Diagnostic, code};
use crate::names::{SecretName, WireName};
use crate::node::Node;
use crate::source::Spanned;

document! {
    /// An Agent document.
    pub struct AgentDocument as "an Agent", refusing none_refused {
        /// `phrony.com/v1`.
        "apiVersion" => api_version: Spanned<String>,
        /// `Agent`.
        "kind" => kind: Spanned<Kind>,
        /// Who it is.
        "metadata" => metadata: Metadata,
        /// What it does.
        "spec" => spec: AgentSpec,
        /// Secrets by name, each read from the environment at run time.
        "secrets" => secrets: Option<Secrets>,
        /// What a run gives back.
        "output" => output: Option<Output>,
    }
}

document! {
    /// What an agent does.
    pub struct AgentSpec as "an Agent's `spec`", refusing compiled_only {
        /// What it is for.
        "purpose" => purpose: Spanned<String>,
        /// What the model is told.
        "instructions" => instructions: Option<Instructions>,
        /// The model that drives it.
        "model" => model: Option<Model>,
        /// Tools it may call.
        "tools" => tools: Vec<Binding>,
        /// Agents it may delegate to.
        "agents" => agents: Vec<Delegation>,
        /// MCP servers that bindings may be backed by.
        "mcp_servers" => mcp_servers: Vec<McpServer>,
        /// Policies for every binding.
        "default_policies" => default_policies: Vec<Spanned<PolicyReference>>,
        /// What tools' `available_when` may ask for.
        "capabilities" => capabilities: Vec<Spanned<String>>,
        /// Bounds of a run.
        "limits" => limits: Option<Limits>,
    }
}

fn compiled_only(key: &str) -> Option<Refusal> {
    let (why, help) = match key {
        "policies" => (
            "is written by the compiler, not by authors",
            "attach policies with `default_policies`, or with `policies` on one binding",
        ),
        "hitl" => (
            "is written by the compiler, not by authors",
            "write a Policy whose decision is `require_approval`, and attach it",
        ),
        _ => return None,
    };
    Some(Refusal { code: &code::COMPILED_ONLY, why, help })
}

document! {
    /// As written, before the exclusion is checked.
    struct InstructionFields as "`instructions`", refusing none_refused {
        /// A file of the bundle.
        "ref" => reference: Option<Spanned<String>>,
        /// Part of the file's name.
        "version" => version: Option<Spanned<VersionTag>>,
        /// The text itself.
        "text" => text: Option<Spanned<String>>,
    }
}

/// What the model is told: exactly one of a file and a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Instructions {
    /// A file of the bundle.
    File {
        /// Its path, with or without an extension.
        reference: Spanned<String>,
        /// Part of its name.
        version: Option<Spanned<VersionTag>>,
    },
    /// The text itself.
    Text(Spanned<String>),
}

const INSTRUCTIONS: Words = Words {
    owner: "`instructions`",
    key: "text",
    thing: "text",
    help: "write the text under `text:`, or name its file with `ref:`",
};

impl Decode for Instructions {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let InstructionFields { reference, version, text, span, .. } = InstructionFields::decode(node, cx)?;
        Some(match either(node, Written { reference, version, in_place: text, span }, &INSTRUCTIONS, cx)? {
            FileOr::File { reference, version } => Self::File { reference, version },
            FileOr::InPlace(text) => Self::Text(text),
        })
    }
}

impl schemars::JsonSchema for Instructions {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Instructions".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        either_schema(&generator.subschema_for::<InstructionFields>(), &INSTRUCTIONS)
    }
}

document! {
    /// The model that drives an agent.
    pub struct Model as "`model`", refusing none_refused {
        /// Who serves it.
        "provider" => provider: Spanned<String>,
        /// Which one.
        "name" => name: Spanned<String>,
        /// Where it is served; only and always with `openai-compatible`.
        "base_url" => base_url: Option<Spanned<String>>,
        /// The key of `secrets` that opens it.
        "secret" => secret: Option<Spanned<String>>,
        /// Sampling.
        "parameters" => parameters: Option<ModelParameters>,
        /// Reasoning.
        "reasoning" => reasoning: Option<Reasoning>,
        /// Carried to the provider as written.
        "provider_options" => provider_options: Option<Node>,
    }
}

document! {
    /// Sampling parameters.
    pub struct ModelParameters as "`parameters`", refusing none_refused {
        /// Not together with `top_p`.
        "temperature" => temperature: Option<Spanned<Number>>,
        /// Not together with `temperature`.
        "top_p" => top_p: Option<Spanned<Number>>,
        /// Bound of one answer, in tokens.
        "max_output_tokens" => max_output_tokens: Option<Spanned<Count>>,
        /// Texts that end an answer.
        "stop_sequences" => stop_sequences: Vec<Spanned<String>>,
    }
}

document! {
    /// Reasoning.
    pub struct Reasoning as "`reasoning`", refusing none_refused {
        /// How much.
        "effort" => effort: Option<Spanned<ReasoningEffort>>,
    }
}

keywords! {
    /// How much a model reasons.
    pub enum ReasoningEffort as "reasoning effort" {
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
    }
}

document! {
    /// A tool the agent may call.
    pub struct Binding as "a tool binding", refusing misplaced_in_binding {
        /// Which tool.
        "ref" => reference: Spanned<Reference>,
        /// Under which name the model sees it.
        "as" => wire_name: Option<Spanned<WireName>>,
        /// Said to the model instead of the Tool's description.
        "description" => description: Option<Spanned<String>>,
        /// Arguments: may only narrow the Tool's.
        "input_schema" => input_schema: Option<SchemaObject>,
        /// Recovery: may only be stricter than the Tool's.
        "side_effect_class" => side_effect_class: Option<Spanned<SideEffectClass>>,
        /// Policies for this binding.
        "policies" => policies: Vec<Spanned<PolicyReference>>,
        /// The MCP tool that backs it.
        "mcp" => mcp: Option<McpTarget>,
    }
}

fn misplaced_in_binding(key: &str) -> Option<Refusal> {
    let (code, why, help) = match key {
        "agent" => (
            &code::COMPILED_ONLY,
            "is written by the compiler, not by authors",
            "list delegates under `spec.agents`",
        ),
        "version" => (&code::MISPLACED_FIELD, "has no meaning", "pin on `ref`: `namespace.name@^1.0`"),
        "name" => (&code::MISPLACED_FIELD, "has no meaning", "set the name the model sees with `as`"),
        "parameters" => (&code::MISPLACED_FIELD, "has no meaning", "narrow arguments with `input_schema`"),
        "policy" => (&code::MISPLACED_FIELD, "has no meaning", "list policies under `policies`"),
        _ => return None,
    };
    Some(Refusal { code, why, help })
}

document! {
    /// A tool of an MCP server.
    pub struct McpTarget as "`mcp`", refusing none_refused {
        /// A name of `mcp_servers`.
        "server" => server: Spanned<String>,
        /// The tool's name there.
        "tool" => tool: Spanned<String>,
    }
}

document! {
    /// An agent that may be delegated to.
    pub struct Delegation as "a delegation", refusing misplaced_in_delegation {
        /// Which agent: a path in the bundle, `ns.name@1.4.0`, or `ns.name` with `late_bound`.
        "ref" => reference: Spanned<Reference>,
        /// Chosen at run time, not pinned.
        "late_bound" => late_bound: Option<Spanned<bool>>,
        /// Under which name the model sees it.
        "as" => wire_name: Option<Spanned<WireName>>,
        /// What the model is told of it.
        "description" => description: Option<Spanned<String>>,
        /// Arguments; one required string `task` by default.
        "input_schema" => input_schema: Option<SchemaObject>,
        /// What comes back.
        "result" => result: Option<Spanned<DelegateResult>>,
        /// Policies for this delegation.
        "policies" => policies: Vec<Spanned<PolicyReference>>,
    }
}

fn misplaced_in_delegation(key: &str) -> Option<Refusal> {
    let (why, help) = match key {
        "version" => ("has no meaning", "pin on `ref`: `namespace.name@1.4.0`"),
        "name" => ("has no meaning", "set the name the model sees with `as`"),
        "side_effect_class" => ("is fixed", "a delegation is always `non_idempotent_write`"),
        "policy" => ("has no meaning", "list policies under `policies`"),
        _ => return None,
    };
    Some(Refusal { code: &code::MISPLACED_FIELD, why, help })
}

keywords! {
    /// What a delegate gives back.
    pub enum DelegateResult as "delegate result" {
        /// A summary.
        Summary = "summary",
        /// Everything.
        Full = "full",
    }
}

document! {
    /// An MCP server.
    pub struct McpServer as "an MCP server", refusing none_refused {
        /// Its name in this agent.
        "name" => name: Spanned<String>,
        /// Where it is; https only.
        "url" => url: Spanned<String>,
        /// How it is spoken to.
        "transport" => transport: Option<Spanned<Transport>>,
        /// How the agent shows who it is.
        "auth" => auth: Option<Auth>,
    }
}

keywords! {
    /// How an MCP server is spoken to.
    pub enum Transport as "MCP transport" {
        /// Streamable HTTP.
        StreamableHttp = "streamable_http",
    }
}

document! {
    /// How the agent shows an MCP server who it is.
    pub struct Auth as "`auth`", refusing none_refused {
        /// The scheme.
        "scheme" => scheme: Spanned<AuthScheme>,
        /// A key of `secrets`.
        "secret" => secret: Spanned<String>,
        /// The header's name, with scheme `header`.
        "header" => header: Option<Spanned<String>>,
    }
}

keywords! {
    /// An authentication scheme.
    pub enum AuthScheme as "authentication scheme" {
        /// `Authorization: Bearer …`.
        Bearer = "bearer",
        /// A header of its own.
        Header = "header",
    }
}

document! {
    /// Bounds of a run.
    pub struct Limits as "`limits`", refusing none_refused {
        /// Tokens.
        "max_tokens_per_run" => max_tokens_per_run: Option<Spanned<Count>>,
        /// Turns of the loop.
        "max_loop_iterations" => max_loop_iterations: Option<Spanned<Count>>,
        /// Seconds.
        "max_wall_clock_seconds" => max_wall_clock_seconds: Option<Spanned<Count>>,
        /// Minutes spent waiting for people.
        "max_hitl_wait_minutes" => max_hitl_wait_minutes: Option<Spanned<Count>>,
        /// Delegations within delegations; 5 by default.
        "max_subagent_depth" => max_subagent_depth: Option<Spanned<Count>>,
        /// What happens at a limit.
        "on_limit" => on_limit: Option<Spanned<OnLimit>>,
    }
}

keywords! {
    /// What happens at a limit.
    pub enum OnLimit as "limit action" {
        /// The run ends.
        Halt = "halt",
        /// A person decides.
        Escalate = "escalate",
    }
}

/// Secrets by name, in the order written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Secrets(
    /// Those that could be read.
    pub Vec<(Spanned<SecretName>, Secret)>,
    /// Names of the others: what refers to one of them is no fault of its own.
    pub Vec<SecretName>,
);

document! {
    /// Where a secret comes from.
    pub struct Secret as "a secret", refusing plaintext {
        /// The environment variable that holds it at run time.
        "fromEnv" => from_env: Spanned<String>,
    }
}

fn plaintext(key: &str) -> Option<Refusal> {
    matches!(key, "value" | "plaintext" | "plainText").then_some(Refusal {
        code: &code::PLAINTEXT_SECRET,
        why: "would publish the secret with the snapshot",
        help: "name an environment variable with `fromEnv`, and revoke the secret if it was real",
    })
}

impl Secrets {
    /// Every name, also of secrets that could not be read.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let read = self.0.iter().map(|(name, _)| &name.value);
        read.chain(&self.1).map(SecretName::as_str)
    }
}

impl Decode for Secrets {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let Some(entries) = node.as_mapping() else {
            cx.wrong_type(node, "a map of secrets by name");
            return None;
        };
        let (mut secrets, mut refused) = (Vec::with_capacity(entries.len()), Vec::new());
        for (key, value) in entries {
            let name = match key.value.parse::<SecretName>() {
                Ok(name) => Some(Spanned::new(name, key.span)),
                Err(error) => {
                    cx.push(Diagnostic::new(&code::INVALID_NAME, error.to_string()).label(key.span, ""));
                    None
                }
            };
            match (name, decode_secret(value, cx)) {
                (Some(name), Some(secret)) => secrets.push((name, secret)),
                (Some(name), None) => refused.push(name.value),
                (None, _) => {}
            }
        }
        Some(Self(secrets, refused))
    }
}

/// A secret. One that is written out lacks `fromEnv` for that reason, which is not said as well.
fn decode_secret(node: &Node, cx: &mut Decoder<'_>) -> Option<Secret> {
    let before = cx.diagnostics.len();
    let secret = Secret::decode(node, cx);
    let written_out = cx.diagnostics.iter().skip(before).any(|d| *d.code == code::PLAINTEXT_SECRET);
    if written_out {
        let mut at = 0;
        cx.diagnostics.retain(|d| {
            at += 1;
            at <= before || *d.code != code::MISSING_FIELD
        });
    }
    secret
}

impl schemars::JsonSchema for Secrets {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Secrets".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let secret = generator.subschema_for::<Secret>();
        schemars::json_schema!({
            "type": "object",
            "patternProperties": { "^[a-z][a-z0-9_-]*$": secret },
            "additionalProperties": false
        })
    }
}

document! {
    /// What a run gives back.
    pub struct Output as "`output`", refusing none_refused {
        /// Text or JSON.
        "format" => format: Option<Spanned<OutputFormat>>,
        /// The shape of JSON.
        "schema" => schema: Option<SchemaObject>,
        /// Whether the model host enforces the shape.
        "strict" => strict: Option<Spanned<bool>>,
        /// What happens to an answer of another shape.
        "on_invalid" => on_invalid: Option<Spanned<OnInvalid>>,
    }
}

keywords! {
    /// The form of an output.
    pub enum OutputFormat as "output format" {
        /// Text.
        Text = "text",
        /// JSON.
        Json = "json",
    }
}

keywords! {
    /// What happens to an output of another shape.
    pub enum OnInvalid as "action on invalid output" {
        /// Ask again.
        Retry = "retry",
        /// Mend it.
        Repair = "repair",
        /// A person decides.
        Escalate = "escalate",
        /// The run fails.
        Fail = "fail",
    }
}

impl AgentDocument {
    /// Checks what single fields cannot show.
    pub(super) fn check(&self, cx: &mut Decoder<'_>) {
        rules::check(self, cx);
    }
}
