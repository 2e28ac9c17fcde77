//! Emitting: the snapshot of a program that narrows.
//!
//! Pure: no clock, no environment, no host path. The same program gives the same bytes on every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::Reference;
use bailiwick_bundles::{Digest, SecretName};
use bailiwick_narrowing::{Schema, contract_form};
use bailiwick_policy::{CedarText, DeciderCompiler, DeciderError, DeciderInput, PolicyId};
use bailiwick_snapshots::{
    Agent, Binding, CanonicalError, DocumentKey, FORMAT, Grant, PolicyReference, SideEffectCase, Snapshot,
    Tool, members_digest,
};
use serde_json::{Value, json};

use crate::check::Checked;
use crate::decide::attached;
use crate::link::{LinkedAgent, LinkedBinding, Program};
use crate::manifest::{Ask, ToolManifest};
use crate::narrow::NarrowedBinding;

/// Why a program has no snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EmitError {
    /// A number cannot be written canonically, or a schema nests too deeply.
    Canonical(CanonicalError),
    /// The policies of a binding have no text.
    Policies(DeciderError),
    /// A key names one thing here and another in a closure that was published before.
    Clash {
        /// The key.
        key: String,
        /// The published closure.
        published: String,
    },
}

impl From<DeciderError> for EmitError {
    fn from(error: DeciderError) -> Self {
        Self::Policies(error)
    }
}

impl From<CanonicalError> for EmitError {
    fn from(error: CanonicalError) -> Self {
        Self::Canonical(error)
    }
}

/// The snapshot of `checked`.
pub(crate) fn emit(checked: &Checked) -> Result<Snapshot, EmitError> {
    let narrowed = checked.narrowed();
    let program = narrowed.program();
    let mut snapshot = Snapshot {
        format: FORMAT,
        kind: program.kind,
        identity: program.identity.clone(),
        members: program.members.clone(),
        agents: BTreeMap::new(),
        tools: BTreeMap::new(),
        policies: program.policies.clone(),
        secrets: program.secrets.clone(),
        pins: program.pins.clone(),
        evidence: program.evidence.clone(),
    };
    for (key, tool) in &program.tools {
        snapshot.tools.insert(key.clone(), emit_tool(tool, program)?);
    }
    let mut compiler = DeciderCompiler::default();
    for ((agent, bindings), inputs) in program.agents.iter().zip(narrowed.bindings()).zip(checked.inputs()) {
        let bindings: Vec<(&NarrowedBinding, &Arc<Schema>)> = bindings.iter().zip(inputs).collect();
        let emitted = emit_agent(agent, &bindings, &snapshot, &mut compiler)?;
        snapshot.agents.insert(agent.manifest.head.key(), emitted);
    }
    for frozen in &program.frozen {
        graft(&mut snapshot, frozen)?;
    }
    Ok(snapshot)
}

/// Adds a closure that was compiled before. What both have must be the same to the last field: one agent compiled
/// twice with other pins is two agents under one key.
fn graft(snapshot: &mut Snapshot, frozen: &Snapshot) -> Result<(), EmitError> {
    fn add<K, V>(
        into: &mut BTreeMap<K, V>,
        from: &BTreeMap<K, V>,
        published: &Snapshot,
    ) -> Result<(), EmitError>
    where
        K: Ord + Clone + ToString,
        V: Clone + PartialEq,
    {
        for (key, value) in from {
            if into.get(key).is_some_and(|known| known != value) {
                let published = format!("{}@{}", published.identity.id(), published.identity.version);
                return Err(EmitError::Clash { key: key.to_string(), published });
            }
            into.entry(key.clone()).or_insert_with(|| value.clone());
        }
        Ok(())
    }
    add(&mut snapshot.agents, &frozen.agents, frozen)?;
    add(&mut snapshot.tools, &frozen.tools, frozen)?;
    add(&mut snapshot.policies, &frozen.policies, frozen)?;
    snapshot.pins.extend(frozen.pins.iter().cloned());
    snapshot.pins.sort();
    snapshot.pins.dedup();
    Ok(())
}

fn emit_agent(
    agent: &LinkedAgent,
    checked: &[(&NarrowedBinding, &Arc<Schema>)],
    snapshot: &Snapshot,
    compiler: &mut DeciderCompiler,
) -> Result<Agent, EmitError> {
    let manifest = &agent.manifest;
    let bindings = agent
        .bindings
        .iter()
        .zip(checked)
        .map(|(binding, checked)| emit_binding(agent, binding, *checked, (snapshot, &mut *compiler)))
        .collect::<Result<Vec<_>, _>>()?;
    let secrets: BTreeMap<SecretName, String> =
        manifest.secrets.iter().map(|(name, env, _)| (name.clone(), env.clone())).collect();
    Ok(Agent {
        content_hash: manifest.head.content_hash,
        purpose: manifest.purpose.clone(),
        instructions: manifest.instructions.clone(),
        model: manifest.model.clone(),
        bindings,
        servers: manifest.servers.clone(),
        secrets,
        limits: manifest.limits.clone(),
        capabilities: manifest.capabilities.clone(),
        output: manifest.output.clone(),
        boundaries: boundaries(&manifest.head),
        evidence: manifest.head.evidence.clone(),
    })
}

fn boundaries(head: &crate::manifest::Head) -> Vec<bailiwick_bundles::BoundaryId> {
    let mut boundaries: Vec<_> = head.boundaries.iter().map(|(boundary, _)| boundary.clone()).collect();
    boundaries.sort();
    boundaries.dedup();
    boundaries
}

fn emit_binding(
    agent: &LinkedAgent,
    binding: &LinkedBinding,
    (narrowed, input): (&NarrowedBinding, &Arc<Schema>),
    (snapshot, compiler): (&Snapshot, &mut DeciderCompiler),
) -> Result<Binding, EmitError> {
    let tool = binding.tool.as_ref().and_then(|tool| snapshot.tools.get(&tool.head.key()));
    let description = binding.description.clone().or_else(|| tool.and_then(|tool| tool.description.clone()));
    let output_schema = tool.and_then(|tool| tool.output_schema.clone());
    let contract = members_digest([
        ("class", &json!(narrowed.class)),
        ("grants", &enforced_grant(agent, &binding.grant, tool)),
        ("input", &contract_form(&narrowed.input)),
        ("output", &output_schema.as_ref().map_or(Value::Null, contract_form)),
        ("policies", &Value::Array(enforced_policies(binding, snapshot))),
    ])?;
    let definition = definition(
        binding.wire_name.as_str(),
        description.as_deref(),
        &narrowed.input,
        output_schema.as_ref(),
    )?;
    Ok(Binding {
        wire_name: binding.wire_name.clone(),
        grants: binding.grant.clone(),
        description,
        input_schema: narrowed.input.clone(),
        output_schema,
        side_effect_class: narrowed.class,
        policies: binding.policies.clone(),
        not_concerned: binding.not_concerned.clone(),
        cedar: cedar(agent, binding, input, (snapshot, compiler))?,
        narrowing: narrowed.narrowing.clone(),
        contract,
        definition,
        extensions: binding.extensions.clone(),
    })
}

/// The policies of a binding as text: compiled, validated, and written.
fn cedar(
    agent: &LinkedAgent,
    binding: &LinkedBinding,
    input: &Arc<Schema>,
    (snapshot, compiler): (&Snapshot, &mut DeciderCompiler),
) -> Result<CedarText, DeciderError> {
    let policies = attached(snapshot, &binding.policies)?;
    let agent = agent.manifest.head.id.to_string();
    let input = DeciderInput { agent: &agent, tool: binding.wire_name.as_str(), input, policies: &policies };
    compiler.compile(&input)?.to_cedar()
}

/// What is granted, apart from labels: a tool by its contract, an MCP tool by where it is, an agent by its key.
fn enforced_grant(agent: &LinkedAgent, grant: &Grant, tool: Option<&Tool>) -> Value {
    match grant {
        Grant::Tool(_) => json!({ "tool": tool.map(|tool| tool.contract) }),
        Grant::Mcp { server, tool, .. } => {
            let url =
                agent.manifest.servers.iter().find(|known| known.name == *server).map(|known| &known.url);
            json!({ "mcp": { "url": url, "tool": tool } })
        }
        Grant::Delegate { .. } | Grant::LateBound { .. } => json!(grant),
    }
}

/// The rules at a binding, each once, without what is only said to people.
fn enforced_policies(binding: &LinkedBinding, snapshot: &Snapshot) -> Vec<Value> {
    let ids: BTreeSet<&PolicyId> = binding.policies.iter().map(|attachment| &attachment.policy).collect();
    let rules = ids.into_iter().filter_map(|id| snapshot.policies.get(id)).map(|record| &record.rule);
    rules
        .map(|rule| {
            let mut decision = rule.decision.clone();
            (decision.reason, decision.runtime) = (None, None);
            json!({ "allow": rule.allow, "conditions": rule.conditions, "decision": decision, "id": rule.id, "scope": rule.scope })
        })
        .collect()
}

fn emit_tool(tool: &ToolManifest, program: &Program) -> Result<Tool, CanonicalError> {
    let class = tool.effective_class();
    let input = tool.input.value();
    let output = tool.output.as_ref().map(|schema| schema.value().clone());
    let paths = program.policy_paths.get(&tool.head.key());
    let mut default_policies: Vec<PolicyReference> =
        tool.default_policies.iter().filter_map(|ask| policy_reference(ask, paths)).collect();
    default_policies.sort();
    default_policies.dedup();
    let cases: Vec<SideEffectCase> = tool
        .cases
        .iter()
        .map(|case| SideEffectCase { when: case.when.value().clone(), class: case.class })
        .collect();
    let enforced_cases: Vec<Value> =
        cases.iter().map(|case| json!({ "class": case.class, "when": contract_form(&case.when) })).collect();
    let boundaries = boundaries(&tool.head);
    let contract = members_digest([
        ("boundaries", &json!(boundaries)),
        ("capabilities", &json!(tool.requires_capabilities)),
        ("cases", &Value::Array(enforced_cases)),
        ("class", &json!(class)),
        ("input", &contract_form(input)),
        ("on_failure", &json!(tool.on_failure)),
        ("output", &output.as_ref().map_or(Value::Null, contract_form)),
        ("policies", &json!(default_policies)),
        ("strict", &json!(tool.strict)),
        ("terminal", &json!(tool.terminal)),
    ])?;
    let definition =
        definition(tool.head.id.name().as_str(), tool.description.as_deref(), input, output.as_ref())?;
    Ok(Tool {
        content_hash: tool.head.content_hash,
        description: tool.description.clone(),
        side_effect_class: class,
        class_assumed: tool.class.is_none(),
        input_schema: input.clone(),
        output_schema: output,
        default_policies,
        requires_capabilities: tool.requires_capabilities.clone(),
        strict: tool.strict,
        on_failure: tool.on_failure.clone(),
        terminal: tool.terminal,
        boundaries,
        side_effect_cases: cases,
        contract,
        definition,
        evidence: tool.head.evidence.clone(),
    })
}

/// Everything that a model reads of a tool.
fn definition(
    name: &str,
    description: Option<&str>,
    input: &Value,
    output: Option<&Value>,
) -> Result<Digest, CanonicalError> {
    members_digest([
        ("description", &json!(description)),
        ("input", input),
        ("name", &json!(name)),
        ("output", output.unwrap_or(&Value::Null)),
    ])
}

/// A default policy by name; a path is the one version that it leads to.
fn policy_reference(ask: &Ask, paths: Option<&BTreeMap<String, DocumentKey>>) -> Option<PolicyReference> {
    match &ask.reference {
        Reference::Logical { id, constraint } => {
            Some(PolicyReference { id: id.clone(), constraint: constraint.as_ref().map(ToString::to_string) })
        }
        Reference::Path(path) => paths?
            .get(path)
            .map(|key| PolicyReference { id: key.id.clone(), constraint: Some(format!("={}", key.version)) }),
    }
}
