//! Linking: names become ids, and every binding learns all that applies to it ([`attach`]).
//!
//! Not here: whether a binding narrows, and what a policy decides.

mod attach;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{Reference, SideEffectClass};
use bailiwick_bundles::{
    BoundaryId, Diagnostic, LogicalId, Outcome, SchemaSource, SecretName, WireName, code, nearest,
};
use bailiwick_policy::{Attachment, PolicyId};
use bailiwick_snapshots::{
    ArtifactKind, DocumentKey, Evidence, Grant, Identity, Pin, PolicyRecord, Snapshot,
};
use serde_json::{Map, Value, json};

use self::attach::Site;
use crate::bundle::{Bundle, Named};
use crate::manifest::{AgentManifest, Home, Manifest, PolicyManifest, ToolManifest};
use crate::origin::Origin;
use crate::resolve::{Resolution, ResolvedAgent};
use crate::session::Session;

/// A bundle in which every name is resolved.
#[derive(Debug)]
pub struct Program {
    /// What it publishes as.
    pub kind: ArtifactKind,
    /// Who it is.
    pub identity: Identity,
    /// Descriptive metadata of the published document.
    pub evidence: Evidence,
    /// The agents, the root first.
    pub agents: Vec<LinkedAgent>,
    /// Closures that were compiled before.
    pub frozen: Vec<Arc<Snapshot>>,
    /// The tools that bindings grant, or the one that is published.
    pub tools: BTreeMap<DocumentKey, Arc<ToolManifest>>,
    /// What the paths among the tools' default policies lead to.
    pub policy_paths: BTreeMap<DocumentKey, BTreeMap<String, DocumentKey>>,
    /// The keys of all agents in closure order.
    pub members: Vec<DocumentKey>,
    /// The policies that are attached, or the one that is published.
    pub policies: BTreeMap<PolicyId, PolicyRecord>,
    /// Where those policies come from that a document is behind.
    pub policy_manifests: BTreeMap<PolicyId, Arc<PolicyManifest>>,
    /// Secrets of the closure.
    pub secrets: BTreeMap<SecretName, String>,
    /// What was chosen.
    pub pins: Vec<Pin>,
}

/// An agent with its bindings.
#[derive(Debug)]
pub struct LinkedAgent {
    /// The agent.
    pub manifest: Arc<AgentManifest>,
    /// Everything it may call, sorted by wire name.
    pub bindings: Vec<LinkedBinding>,
}

/// One thing an agent may call.
#[derive(Debug)]
pub struct LinkedBinding {
    /// The name the model sees.
    pub wire_name: WireName,
    /// Where the reference stands.
    pub origin: Origin,
    /// What is granted.
    pub grant: Grant,
    /// The tool, if it is one.
    pub tool: Option<Arc<ToolManifest>>,
    /// What the model is told.
    pub description: Option<String>,
    /// What the binding says of its arguments.
    pub input: Option<Arc<SchemaSource>>,
    /// What the binding says of its class.
    pub class: Option<SideEffectClass>,
    /// Where it says it.
    pub class_origin: Origin,
    /// Every policy here, sorted.
    pub policies: Vec<Attachment>,
    /// Policies of the agent that do not concern it, sorted.
    pub not_concerned: Vec<PolicyId>,
    /// `x-` keys.
    pub extensions: Map<String, Value>,
}

impl LinkedBinding {
    /// The names in `properties` of its own schema and of its contract.
    fn arguments(&self) -> impl Iterator<Item = &str> {
        let contract = self.tool.as_ref().map(|tool| &tool.input);
        let schemas = self.input.iter().chain(contract).map(|source| source.value());
        let properties = schemas.filter_map(|schema| schema.get("properties").and_then(Value::as_object));
        properties.flat_map(|properties| properties.keys().map(String::as_str))
    }
}

/// Links a resolution. `None` where there is nothing to publish.
pub(crate) fn link(session: &mut Session, bundle: &Bundle, resolution: Resolution) -> Outcome<Program> {
    let before = session.diagnostics.len();
    let value = Linker {
        session,
        policies: BTreeMap::new(),
        policy_manifests: BTreeMap::new(),
        said: BTreeSet::new(),
        not_concerned: Vec::new(),
    }
    .program(bundle, resolution);
    Outcome::new(value, session.diagnostics.split_off(before))
}

struct Linker<'s> {
    session: &'s mut Session,
    policies: BTreeMap<PolicyId, PolicyRecord>,
    policy_manifests: BTreeMap<PolicyId, Arc<PolicyManifest>>,
    /// Undefined boundaries that were warned of.
    said: BTreeSet<(BoundaryId, LogicalId)>,
    /// Of the agent at hand: the policies that do not concern a binding, and what there is to say of that.
    not_concerned: Vec<(PolicyId, Diagnostic)>,
}

impl Linker<'_> {
    fn program(mut self, bundle: &Bundle, resolution: Resolution) -> Option<Program> {
        let head = match (&bundle.named_by, &bundle.root) {
            (Named::Bundle(head), _) => head,
            (Named::Root, Some(root)) => root.head(),
            (Named::Root, None) => return None,
        };
        let identity = Identity {
            namespace: head.id.namespace().clone(),
            name: head.id.name().clone(),
            version: head.version.clone(),
        };
        if let Some(Manifest::Policy(policy)) = &resolution.contract {
            self.keep(policy);
        }
        let policy_paths =
            resolution.tools.iter().map(|(key, tool)| (key.clone(), tool.policy_paths.clone())).collect();
        let agents = resolution.agents.iter().map(|agent| self.agent(agent, &resolution)).collect();
        self.unattached(bundle);
        let secrets = self.secrets(&resolution);
        let pins = pins(&resolution);
        Some(Program {
            kind: bundle.kind,
            identity,
            evidence: head.evidence.clone(),
            agents,
            frozen: resolution.frozen,
            tools: resolution.tools.into_iter().map(|(key, tool)| (key, tool.manifest)).collect(),
            policy_paths,
            members: resolution.members,
            policies: self.policies,
            policy_manifests: self.policy_manifests,
            secrets,
            pins,
        })
    }

    fn agent(&mut self, agent: &ResolvedAgent, resolution: &Resolution) -> LinkedAgent {
        let manifest = Arc::clone(&agent.manifest);
        let ids = called(agent, resolution);
        let mut bindings = Vec::new();
        for (at, binding) in manifest.tools.iter().enumerate() {
            let tool = agent.tools.get(at).and_then(Option::as_ref).and_then(|key| resolution.tools.get(key));
            let (id, grant) = match (&binding.mcp, tool, &binding.ask.reference) {
                (Some((server, tool)), _, Reference::Logical { id, .. }) => {
                    (id.clone(), Grant::Mcp { id: id.clone(), server: server.clone(), tool: tool.clone() })
                }
                (None, Some(tool), _) => {
                    let key = tool.manifest.head.key();
                    (key.id.clone(), Grant::Tool(key))
                }
                // Neither was found, which was said.
                (Some(_), _, Reference::Path(_)) | (None, None, _) => continue,
            };
            let Some(wire_name) =
                binding.wire_name.clone().or_else(|| WireName::derived(&binding.ask.reference.target()))
            else {
                continue;
            };
            if let Some(tool) = tool {
                self.capabilities(&manifest, &tool.manifest, binding.ask.origin);
            }
            let own = agent.binding_policies.get(at).map_or(&[][..], Vec::as_slice);
            let input = binding.input.as_deref().or_else(|| tool.map(|tool| &*tool.manifest.input));
            let contract = tool.map(|tool| &*tool.manifest.input);
            let schemas = [input, contract].map(|schema| schema.map(SchemaSource::value));
            let site =
                Site { id: &id, all: &ids, wire_name: &wire_name, origin: binding.wire_origin, schemas };
            let (policies, not_concerned) = self.attach(agent, tool, own, &site);
            bindings.push(LinkedBinding {
                wire_name,
                origin: binding.wire_origin,
                policies,
                not_concerned,
                tool: tool.filter(|_| matches!(grant, Grant::Tool(_))).map(|tool| Arc::clone(&tool.manifest)),
                grant,
                description: binding.description.clone(),
                input: binding.input.clone(),
                class: binding.class,
                class_origin: binding.class_origin,
                extensions: binding.extensions.clone(),
            });
        }
        for (at, delegation) in manifest.delegates.iter().enumerate() {
            let result = delegation.result;
            let grant = match (agent.delegates.get(at).and_then(Option::as_ref), &delegation.ask.reference) {
                (Some(key), _) => Grant::Delegate { agent: key.clone(), result },
                (None, Reference::Logical { id, .. }) if delegation.late_bound => {
                    Grant::LateBound { agent: id.clone(), result }
                }
                (None, Reference::Logical { .. } | Reference::Path(_)) => continue,
            };
            let id = delegate_id(&delegation.ask.reference, &grant);
            let Some(wire_name) = delegation
                .wire_name
                .clone()
                .or_else(|| WireName::derived(&delegation.ask.reference.target()))
            else {
                continue;
            };
            let own = agent.delegation_policies.get(at).map_or(&[][..], Vec::as_slice);
            let input = delegation.input.clone();
            let input = input.unwrap_or_else(|| Arc::new(SchemaSource::synthetic(task_schema())));
            let schemas = [Some(input.value()), None];
            let site =
                Site { id: &id, all: &ids, wire_name: &wire_name, origin: delegation.wire_origin, schemas };
            let (policies, not_concerned) = self.attach(agent, None, own, &site);
            bindings.push(LinkedBinding {
                wire_name,
                origin: delegation.wire_origin,
                policies,
                not_concerned,
                tool: None,
                grant,
                description: delegation.description.clone(),
                input: Some(input),
                class: Some(SideEffectClass::NonIdempotentWrite),
                class_origin: delegation.ask.origin,
                extensions: delegation.extensions.clone(),
            });
        }
        self.wire_names(&bindings);
        self.scopes(agent, &ids);
        self.say_not_concerned(agent, &bindings);
        bindings.sort_by(|a, b| a.wire_name.cmp(&b.wire_name));
        LinkedAgent { manifest, bindings }
    }

    /// A policy that nothing names has no effect, which nobody means who writes one.
    fn unattached(&mut self, bundle: &Bundle) {
        // Where something was refused, it may be what names it.
        let refused = self.session.diagnostics.iter().any(Diagnostic::is_error);
        if refused || !bundle.is_whole() || bundle.has_unknown || !bundle.refused.is_empty() {
            return;
        }
        for manifest in bundle.documents.values() {
            let Manifest::Policy(policy) = manifest else { continue };
            if self.policies.contains_key(&policy.policy.id) {
                continue;
            }
            let message = format!("nothing attaches `{}`", policy.head.id);
            let diagnostic = Diagnostic::new(&code::UNATTACHED, message);
            let diagnostic = self.session.label(diagnostic, policy.head.origin, "has no effect");
            let help = "name it under `policies` of a binding or `default_policies` of an agent or tool, or delete it";
            self.session.push(diagnostic.help(help));
        }
    }

    fn wire_names(&mut self, bindings: &[LinkedBinding]) {
        let mut first: BTreeMap<&WireName, Origin> = BTreeMap::new();
        for binding in bindings {
            if let Some(earlier) = first.insert(&binding.wire_name, binding.origin) {
                let diagnostic = Diagnostic::new(
                    &code::WIRE_NAME_CLASH,
                    format!("the model would see two tools called `{}`", binding.wire_name),
                );
                let diagnostic = self.session.label(diagnostic, binding.origin, "again here");
                let diagnostic = self.session.label(diagnostic, earlier, "first here");
                self.session.push(diagnostic.help("set another name with `as` on one of them"));
            }
        }
    }

    fn capabilities(&mut self, agent: &AgentManifest, tool: &ToolManifest, origin: Origin) {
        for wanted in tool.requires_capabilities.iter().filter(|wanted| !agent.capabilities.contains(wanted))
        {
            let near = nearest(wanted, agent.capabilities.iter().map(String::as_str));
            let diagnostic = Diagnostic::new(
                &code::UNMET_CAPABILITY,
                format!("`{}` is available only to agents with capability `{wanted}`", tool.head.id),
            );
            let text = near.map_or_else(
                || format!("`{}` has no such capability", agent.head.id),
                |near| format!("`{}` has `{near}`: the same?", agent.head.id),
            );
            let diagnostic = self.session.label(diagnostic, origin, text);
            self.session
                .push(diagnostic.help(format!("add `{wanted}` to `spec.capabilities`, or drop the binding")));
        }
    }

    fn secrets(&mut self, resolution: &Resolution) -> BTreeMap<SecretName, String> {
        let mut union: BTreeMap<SecretName, (String, LogicalId, Origin)> = BTreeMap::new();
        let own = resolution.agents.iter().flat_map(|agent| {
            let id = &agent.manifest.head.id;
            agent.manifest.secrets.iter().map(move |(name, env, origin)| (name, env, id, *origin))
        });
        let frozen =
            resolution.frozen.iter().flat_map(|snapshot| &snapshot.agents).flat_map(|(key, agent)| {
                agent.secrets.iter().map(move |(name, env)| (name, env, &key.id, Origin::NOWHERE))
            });
        for (name, env, id, origin) in own.chain(frozen) {
            let Some((first, owner, earlier)) = union.get(name) else {
                union.insert(name.clone(), (env.clone(), id.clone(), origin));
                continue;
            };
            if first == env {
                continue;
            }
            let diagnostic = Diagnostic::new(
                &code::SECRET_CONFLICT,
                format!("secret `{name}` is `{first}` for `{owner}` and `{env}` for `{id}`"),
            );
            let diagnostic = self.session.label(diagnostic, origin, format!("`{env}` here"));
            let diagnostic = self.session.label(diagnostic, *earlier, format!("`{first}` here"));
            self.session.push(diagnostic.help("rename one of the secrets, or read both from one variable"));
        }
        union.into_iter().map(|(name, (env, ..))| (name, env)).collect()
    }
}

/// Everything an agent calls.
fn called(agent: &ResolvedAgent, resolution: &Resolution) -> Vec<LogicalId> {
    let by_name = |reference: &Reference| match reference {
        Reference::Logical { id, .. } => Some(id.clone()),
        Reference::Path(_) => None,
    };
    let tools = agent.manifest.tools.iter().enumerate().filter_map(|(at, binding)| {
        let tool = agent.tools.get(at).and_then(Option::as_ref).and_then(|key| resolution.tools.get(key));
        tool.map(|tool| tool.manifest.head.id.clone()).or_else(|| by_name(&binding.ask.reference))
    });
    let delegates = agent.manifest.delegates.iter().enumerate().filter_map(|(at, delegation)| {
        let key = agent.delegates.get(at).and_then(Option::as_ref);
        by_name(&delegation.ask.reference).or_else(|| key.map(|key| key.id.clone()))
    });
    tools.chain(delegates).collect()
}

/// What a delegation is to policies: what it names. A bundle is called by its own id, not by that of its root.
fn delegate_id(reference: &Reference, grant: &Grant) -> LogicalId {
    match (reference, grant) {
        (Reference::Logical { id, .. }, _) => id.clone(),
        (Reference::Path(_), Grant::Delegate { agent, .. }) => agent.id.clone(),
        (Reference::Path(_), Grant::LateBound { agent, .. }) => agent.clone(),
        (Reference::Path(_), Grant::Tool(key)) => key.id.clone(),
        (Reference::Path(_), Grant::Mcp { id, .. }) => id.clone(),
    }
}

/// What a delegate takes where the delegation does not say.
fn task_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "task": { "type": "string", "description": "What the delegate is to do." } },
        "required": ["task"],
        "additionalProperties": false
    })
}

fn pins(resolution: &Resolution) -> Vec<Pin> {
    let mut pins: Vec<Pin> = resolution
        .choices
        .iter()
        .filter(|choice| choice.by_name)
        .map(|choice| Pin {
            id: choice.id.clone(),
            constraint: choice.constraint.clone().unwrap_or_else(|| "*".to_owned()),
            version: choice.version.clone(),
            from: match choice.home {
                Home::Bundle => "bundle".to_owned(),
                Home::Catalog(_) => "catalog".to_owned(),
            },
            content_hash: choice.content_hash,
        })
        .collect();
    pins.sort();
    pins.dedup();
    pins
}
