//! `kind: Agent`.

use bailiwick_bundles::documents::phrony::{
    self, AgentDocument, Binding, Delegation, Instructions, McpServer, SchemaObject, Transport,
};
use bailiwick_bundles::{Count, Spanned};
use bailiwick_snapshots::{Auth, Limits, Model, Output, Server};
use serde_json::Value;

use super::{Content, Place, head, instructions_file, pointer, policies, schema, value};
use crate::manifest::{AgentManifest, Ask, BindingManifest, DelegationManifest};
use crate::session::Session;

/// What `max_subagent_depth` is where an agent does not say.
const DEFAULT_SUBAGENT_DEPTH: u64 = 5;

pub(super) fn lower(
    session: &mut Session,
    place: Place<'_>,
    agent: &AgentDocument,
    content: &mut Content,
) -> Option<AgentManifest> {
    let spec = &agent.spec;
    let instructions = spec.instructions.as_ref().and_then(|instructions| match instructions {
        Instructions::Text(text) => Some(text.value.clone()),
        Instructions::File { reference, version } => {
            let origin = session.origin(reference.span);
            let text = instructions_file(session, place, reference, version.as_ref());
            let text = session.or_refuse(text, origin, "the instructions")?;
            content.replace(&pointer(&["spec", "instructions"]), "text", Value::String(text.clone()));
            Some(text)
        }
    });
    let tools = spec
        .tools
        .iter()
        .enumerate()
        .map(|(at, binding)| lower_binding(session, place, binding, at, content))
        .collect();
    let delegates = spec
        .agents
        .iter()
        .enumerate()
        .map(|(at, delegation)| lower_delegation(session, place, delegation, at, content))
        .collect();
    let output = agent.output.as_ref().map(|output| Output {
        format: value(output.format.as_ref()),
        schema: output
            .schema
            .as_ref()
            .and_then(|object| schema(session, place, object, &pointer(&["output", "schema"]), content))
            .map(|source| source.value().clone()),
        strict: value(output.strict.as_ref()),
        on_invalid: value(output.on_invalid.as_ref()),
    });
    let head = head::lower(session, place, &agent.metadata, &content.value)?;
    let mut servers: Vec<Server> = spec.mcp_servers.iter().map(lower_server).collect();
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    let mut capabilities: Vec<String> = spec.capabilities.iter().map(|name| name.value.clone()).collect();
    capabilities.sort();
    capabilities.dedup();
    let secrets = agent.secrets.iter().flat_map(|secrets| &secrets.0);
    Some(AgentManifest {
        purpose: spec.purpose.value.clone(),
        instructions,
        model: spec.model.as_ref().map(lower_model),
        tools,
        delegates,
        servers,
        default_policies: policies(session, &spec.default_policies),
        capabilities,
        limits: lower_limits(spec.limits.as_ref()),
        secrets: secrets
            .map(|(name, secret)| {
                (name.value.clone(), secret.from_env.value.clone(), session.origin(secret.from_env.span))
            })
            .collect(),
        output,
        head,
    })
}

fn lower_binding(
    session: &mut Session,
    place: Place<'_>,
    binding: &Binding,
    at: usize,
    content: &mut Content,
) -> BindingManifest {
    let at = pointer(&["spec", "tools", &at.to_string(), "input_schema"]);
    let wire_span = binding.wire_name.as_ref().map_or(binding.reference.span, |name| name.span);
    let class_span = binding.side_effect_class.as_ref().map_or(binding.reference.span, |class| class.span);
    BindingManifest {
        ask: Ask {
            reference: binding.reference.value.clone(),
            origin: session.origin(binding.reference.span),
        },
        wire_name: binding.wire_name.as_ref().map(|name| name.value.clone()),
        wire_origin: session.origin(wire_span),
        description: binding.description.as_ref().map(|text| text.value.clone()),
        input: binding_schema(session, place, binding.input_schema.as_ref(), &at, content),
        class: value(binding.side_effect_class.as_ref()),
        class_origin: session.origin(class_span),
        policies: policies(session, &binding.policies),
        mcp: binding.mcp.as_ref().map(|mcp| (mcp.server.value.clone(), mcp.tool.value.clone())),
        extensions: binding.extensions.to_json(),
    }
}

fn lower_delegation(
    session: &mut Session,
    place: Place<'_>,
    delegation: &Delegation,
    at: usize,
    content: &mut Content,
) -> DelegationManifest {
    let at = pointer(&["spec", "agents", &at.to_string(), "input_schema"]);
    let wire_span = delegation.wire_name.as_ref().map_or(delegation.reference.span, |name| name.span);
    DelegationManifest {
        ask: Ask {
            reference: delegation.reference.value.clone(),
            origin: session.origin(delegation.reference.span),
        },
        late_bound: value(delegation.late_bound.as_ref()).unwrap_or(false),
        wire_name: delegation.wire_name.as_ref().map(|name| name.value.clone()),
        wire_origin: session.origin(wire_span),
        description: delegation.description.as_ref().map(|text| text.value.clone()),
        input: binding_schema(session, place, delegation.input_schema.as_ref(), &at, content),
        result: value(delegation.result.as_ref()),
        policies: policies(session, &delegation.policies),
        extensions: delegation.extensions.to_json(),
    }
}

fn binding_schema(
    session: &mut Session,
    place: Place<'_>,
    object: Option<&SchemaObject>,
    at: &str,
    content: &mut Content,
) -> Option<std::sync::Arc<bailiwick_bundles::SchemaSource>> {
    object.and_then(|object| schema(session, place, object, at, content))
}

fn lower_model(model: &phrony::Model) -> Model {
    let parameters = model.parameters.as_ref();
    Model {
        provider: model.provider.value.clone(),
        name: model.name.value.clone(),
        base_url: model.base_url.as_ref().map(|url| url.value.clone()),
        secret: model.secret.as_ref().map(|secret| secret.value.clone()),
        temperature: parameters.and_then(|p| p.temperature.as_ref()).map(|number| number.value.clone()),
        top_p: parameters.and_then(|p| p.top_p.as_ref()).map(|number| number.value.clone()),
        max_output_tokens: parameters.and_then(|p| count(p.max_output_tokens.as_ref())),
        stop_sequences: parameters
            .iter()
            .flat_map(|p| &p.stop_sequences)
            .map(|sequence| sequence.value.clone())
            .collect(),
        reasoning_effort: model.reasoning.as_ref().and_then(|reasoning| value(reasoning.effort.as_ref())),
        provider_options: model.provider_options.as_ref().map(bailiwick_bundles::Node::to_json),
    }
}

fn lower_limits(limits: Option<&phrony::Limits>) -> Limits {
    let read = |field: fn(&phrony::Limits) -> Option<&Spanned<Count>>| {
        limits.and_then(|limits| count(field(limits)))
    };
    Limits {
        max_tokens_per_run: read(|limits| limits.max_tokens_per_run.as_ref()),
        max_loop_iterations: read(|limits| limits.max_loop_iterations.as_ref()),
        max_wall_clock_seconds: read(|limits| limits.max_wall_clock_seconds.as_ref()),
        max_hitl_wait_minutes: read(|limits| limits.max_hitl_wait_minutes.as_ref()),
        max_subagent_depth: read(|limits| limits.max_subagent_depth.as_ref())
            .unwrap_or(DEFAULT_SUBAGENT_DEPTH),
        on_limit: limits.and_then(|limits| value(limits.on_limit.as_ref())),
    }
}

fn lower_server(server: &McpServer) -> Server {
    Server {
        name: server.name.value.clone(),
        url: server.url.value.clone(),
        transport: value(server.transport.as_ref()).unwrap_or(Transport::StreamableHttp),
        auth: server.auth.as_ref().map(|auth| Auth {
            scheme: auth.scheme.value,
            secret: auth.secret.value.clone(),
            header: auth.header.as_ref().map(|header| header.value.clone()),
        }),
    }
}

fn count(field: Option<&Spanned<Count>>) -> Option<u64> {
    field.map(|count| count.value.0)
}
