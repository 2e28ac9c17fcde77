//! Emitting: the snapshot of a program that narrows.
//!
//! Pure: no clock, no environment, no host path. The same program gives the same bytes on every machine.

use std::collections::BTreeMap;

use bailiwick_bundles::documents::phrony::Reference;
use bailiwick_bundles::{Digest, SecretName};
use bailiwick_narrowing::contract_form;
use bailiwick_snapshots::{
    Agent, Binding, CanonicalError, DocumentKey, FORMAT, PolicyReference, SideEffectCase, Snapshot, Tool,
    members_digest,
};
use serde_json::{Value, json};

use crate::link::{LinkedAgent, LinkedBinding, Program};
use crate::manifest::{Ask, ToolManifest};
use crate::narrow::{Narrowed, NarrowedBinding};

/// The snapshot of `narrowed`. Fails only where a number cannot be written canonically.
pub(crate) fn emit(narrowed: &Narrowed) -> Result<Snapshot, CanonicalError> {
    let program = narrowed.program();
    let mut snapshot = Snapshot {
        format: FORMAT,
        kind: program.kind,
        identity: program.identity.clone(),
        members: program.agents.iter().map(|agent| agent.manifest.head.key()).collect(),
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
    for (agent, bindings) in program.agents.iter().zip(narrowed.bindings()) {
        snapshot.agents.insert(agent.manifest.head.key(), emit_agent(agent, bindings, &snapshot.tools)?);
    }
    for frozen in &program.frozen {
        graft(&mut snapshot, frozen);
    }
    Ok(snapshot)
}

/// Adds a closure that was compiled before. Keys name content, so what is there already is the same.
fn graft(snapshot: &mut Snapshot, frozen: &Snapshot) {
    for member in &frozen.members {
        if !snapshot.members.contains(member) {
            snapshot.members.push(member.clone());
        }
    }
    for (key, agent) in &frozen.agents {
        snapshot.agents.entry(key.clone()).or_insert_with(|| agent.clone());
    }
    for (key, tool) in &frozen.tools {
        snapshot.tools.entry(key.clone()).or_insert_with(|| tool.clone());
    }
    for (id, record) in &frozen.policies {
        snapshot.policies.entry(id.clone()).or_insert_with(|| record.clone());
    }
    snapshot.pins.extend(frozen.pins.iter().cloned());
    snapshot.pins.sort();
    snapshot.pins.dedup();
}

fn emit_agent(
    agent: &LinkedAgent,
    narrowed: &[NarrowedBinding],
    tools: &BTreeMap<DocumentKey, Tool>,
) -> Result<Agent, CanonicalError> {
    let manifest = &agent.manifest;
    let bindings = agent
        .bindings
        .iter()
        .zip(narrowed)
        .map(|(binding, narrowed)| emit_binding(binding, narrowed, tools))
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
    binding: &LinkedBinding,
    narrowed: &NarrowedBinding,
    tools: &BTreeMap<DocumentKey, Tool>,
) -> Result<Binding, CanonicalError> {
    let tool = binding.tool.as_ref().and_then(|tool| tools.get(&tool.head.key()));
    let description = binding.description.clone().or_else(|| tool.and_then(|tool| tool.description.clone()));
    let output_schema = tool.and_then(|tool| tool.output_schema.clone());
    let contract = members_digest([
        ("class", &json!(narrowed.class)),
        ("input", &contract_form(&narrowed.input)),
        ("output", &output_schema.as_ref().map_or(Value::Null, contract_form)),
        ("policies", &json!(binding.policies)),
        ("tool", &json!(tool.map(|tool| tool.contract))),
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
        narrowing: narrowed.narrowing.clone(),
        contract,
        definition,
        extensions: binding.extensions.clone(),
    })
}

fn emit_tool(tool: &ToolManifest, program: &Program) -> Result<Tool, CanonicalError> {
    let class = tool.effective_class();
    let input = tool.input.value();
    let output = tool.output.as_ref().map(|schema| schema.value().clone());
    let mut default_policies: Vec<PolicyReference> =
        tool.default_policies.iter().filter_map(|ask| policy_reference(ask, program)).collect();
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

/// A default policy by name; a path is named by the policy that it leads to.
fn policy_reference(ask: &Ask, program: &Program) -> Option<PolicyReference> {
    match &ask.reference {
        Reference::Logical { id, constraint } => {
            Some(PolicyReference { id: id.clone(), constraint: constraint.as_ref().map(ToString::to_string) })
        }
        Reference::Path(path) => {
            program.policy_paths.get(path).map(|id| PolicyReference { id: id.clone(), constraint: None })
        }
    }
}
