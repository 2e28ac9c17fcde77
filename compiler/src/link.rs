//! Linking: names become ids, and every binding learns all that applies to it.
//!
//! Policies are attached in the order tool, binding, agent, boundaries; attachments add up, none replaces another.
//! A boundary that no policy implements is not ignored: calls under it need an approval.
//!
//! Not here: whether a binding narrows, and what a policy decides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{DecisionType, Reference, SideEffectClass};
use bailiwick_bundles::{
    BoundaryId, Diagnostic, Digest, LogicalId, Outcome, SchemaSource, SecretName, WireName, code, nearest,
};
use bailiwick_policy::{AttachedBy, Attachment, Decision, Policy, PolicyId, Scope};
use bailiwick_snapshots::{
    ArtifactKind, DocumentKey, Evidence, Grant, Identity, Pin, PolicyRecord, Snapshot,
};
use serde_json::{Map, Value, json};

use crate::bundle::{Bundle, Named};
use crate::manifest::{AgentManifest, Manifest, PolicyManifest, ToolManifest};
use crate::origin::Origin;
use crate::resolve::{Resolution, ResolvedAgent, ResolvedTool};
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
    /// The default policies of a tool that is published alone, where they were given as paths.
    pub policy_paths: BTreeMap<String, LogicalId>,
    /// The policies that are attached, or the one that is published.
    pub policies: BTreeMap<PolicyId, PolicyRecord>,
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
    /// `x-` keys.
    pub extensions: Map<String, Value>,
}

/// Links a resolution. `None` where there is nothing to publish.
pub(crate) fn link(session: &mut Session, bundle: &Bundle, resolution: Resolution) -> Outcome<Program> {
    let before = session.diagnostics.len();
    let value =
        Linker { session, policies: BTreeMap::new(), said: BTreeSet::new() }.program(bundle, resolution);
    Outcome::new(value, session.diagnostics.split_off(before))
}

struct Linker<'s> {
    session: &'s mut Session,
    policies: BTreeMap<PolicyId, PolicyRecord>,
    /// Undefined boundaries that were warned of.
    said: BTreeSet<(BoundaryId, LogicalId)>,
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
        let mut policy_paths = BTreeMap::new();
        match &resolution.contract {
            Some(Manifest::Policy(policy)) => self.keep(policy),
            Some(Manifest::Tool(tool)) => policy_paths = named_policies(tool, &resolution),
            Some(Manifest::Agent(_)) | None => {}
        }
        let agents = resolution.agents.iter().map(|agent| self.agent(agent, &resolution)).collect();
        self.frozen(&resolution);
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
            policies: self.policies,
            secrets,
            pins,
        })
    }

    fn agent(&mut self, agent: &ResolvedAgent, resolution: &Resolution) -> LinkedAgent {
        let manifest = Arc::clone(&agent.manifest);
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
            bindings.push(LinkedBinding {
                wire_name,
                origin: binding.wire_origin,
                policies: self.attach(agent, tool, own, &id),
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
            let id = match &grant {
                Grant::Delegate { agent, .. } => agent.id.clone(),
                Grant::LateBound { agent, .. } => agent.clone(),
                Grant::Tool(key) => key.id.clone(),
                Grant::Mcp { id, .. } => id.clone(),
            };
            let Some(wire_name) = delegation
                .wire_name
                .clone()
                .or_else(|| WireName::derived(&delegation.ask.reference.target()))
            else {
                continue;
            };
            let own = agent.delegation_policies.get(at).map_or(&[][..], Vec::as_slice);
            bindings.push(LinkedBinding {
                wire_name,
                origin: delegation.wire_origin,
                policies: self.attach(agent, None, own, &id),
                tool: None,
                grant,
                description: delegation.description.clone(),
                input: Some(
                    delegation
                        .input
                        .clone()
                        .unwrap_or_else(|| Arc::new(SchemaSource::synthetic(task_schema()))),
                ),
                class: Some(SideEffectClass::NonIdempotentWrite),
                class_origin: delegation.ask.origin,
                extensions: delegation.extensions.clone(),
            });
        }
        self.wire_names(&bindings);
        self.scopes(agent, &bindings);
        bindings.sort_by(|a, b| a.wire_name.cmp(&b.wire_name));
        LinkedAgent { manifest, bindings }
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

    /// Everything that applies to a binding of what is called `id`.
    fn attach(
        &mut self,
        agent: &ResolvedAgent,
        tool: Option<&ResolvedTool>,
        own: &[Arc<PolicyManifest>],
        id: &LogicalId,
    ) -> Vec<Attachment> {
        let mut attached = BTreeSet::new();
        let defaults = tool.map_or(&[][..], |tool| tool.default_policies.as_slice());
        for (by, policies) in [
            (AttachedBy::Tool, defaults),
            (AttachedBy::Binding, own),
            (AttachedBy::Agent, agent.default_policies.as_slice()),
        ] {
            for policy in policies {
                self.attach_one(policy, by.clone(), id, &mut attached);
            }
        }
        for (boundary, origin, policies) in &agent.boundaries {
            let by = AttachedBy::AgentBoundary(boundary.clone());
            self.attach_boundary(
                &agent.manifest.head.id,
                *origin,
                boundary,
                policies,
                (by, id),
                &mut attached,
            );
        }
        if let Some(tool) = tool {
            for (boundary, origin, policies) in &tool.boundaries {
                let by = AttachedBy::ToolBoundary(boundary.clone());
                self.attach_boundary(
                    &tool.manifest.head.id,
                    *origin,
                    boundary,
                    policies,
                    (by, id),
                    &mut attached,
                );
            }
        }
        attached.into_iter().collect()
    }

    fn attach_one(
        &mut self,
        policy: &Arc<PolicyManifest>,
        by: AttachedBy,
        id: &LogicalId,
        attached: &mut BTreeSet<Attachment>,
    ) {
        let concerns = match &policy.policy.scope {
            None | Some(Scope::Agent) => true,
            Some(Scope::Tool(scope)) => scope == id,
        };
        if concerns {
            self.keep(policy);
            attached.insert(Attachment { by, policy: policy.policy.id.clone() });
        }
    }

    fn attach_boundary(
        &mut self,
        owner: &LogicalId,
        origin: Origin,
        boundary: &BoundaryId,
        policies: &[Arc<PolicyManifest>],
        (by, id): (AttachedBy, &LogicalId),
        attached: &mut BTreeSet<Attachment>,
    ) {
        if policies.is_empty() {
            if self.said.insert((boundary.clone(), owner.clone())) {
                let diagnostic = Diagnostic::new(
                    &code::UNDEFINED_BOUNDARY,
                    format!("no policy implements the boundary `{boundary}`"),
                );
                let diagnostic =
                    self.session.label(diagnostic, origin, "every call under it will need an approval");
                self.session.push(diagnostic.help(format!(
                    "write a Policy whose `metadata.governance.authority_boundaries` lists `{boundary}`"
                )));
            }
            let stand_in = PolicyId::Boundary(boundary.clone());
            self.policies.entry(stand_in.clone()).or_insert_with(|| PolicyRecord {
                rule: Policy {
                    id: stand_in.clone(),
                    description: None,
                    scope: None,
                    conditions: None,
                    allow: None,
                    decision: Decision {
                        authority_ref: Some(boundary.clone()),
                        ..Decision::bare(DecisionType::RequireApproval)
                    },
                    implements: vec![boundary.clone()],
                    content_hash: None,
                },
                evidence: Evidence::default(),
            });
            attached.insert(Attachment { by, policy: stand_in });
            return;
        }
        for policy in policies {
            self.attach_one(policy, by.clone(), id, attached);
        }
    }

    /// A closure that was compiled before brings its own documents. A key names one content.
    fn frozen(&mut self, resolution: &Resolution) {
        let mut contents: BTreeMap<String, (Option<Digest>, String)> = BTreeMap::new();
        let own_agents = resolution.agents.iter().map(|agent| &agent.manifest.head);
        let own_tools = resolution.tools.values().map(|tool| &tool.manifest.head);
        for head in own_agents.chain(own_tools) {
            contents.insert(head.key().to_string(), (Some(head.content_hash), head.home.to_string()));
        }
        for (id, record) in &self.policies {
            contents.insert(id.to_string(), (record.rule.content_hash, "this closure".to_owned()));
        }
        for snapshot in &resolution.frozen {
            let owner = snapshot.identity.id();
            let agents =
                snapshot.agents.iter().map(|(key, agent)| (key.to_string(), Some(agent.content_hash)));
            let tools = snapshot.tools.iter().map(|(key, tool)| (key.to_string(), Some(tool.content_hash)));
            let policies =
                snapshot.policies.iter().map(|(id, record)| (id.to_string(), record.rule.content_hash));
            for (key, hash) in agents.chain(tools).chain(policies) {
                match contents.get(&key) {
                    Some((known, home)) if *known != hash => self.session.push(
                        Diagnostic::new(
                            &code::DUPLICATE_DOCUMENT,
                            format!("`{key}` is one document in {home} and another in published `{owner}`"),
                        )
                        .help("give the document of the bundle another id or version"),
                    ),
                    Some(_) => {}
                    None => {
                        contents.insert(key, (hash, format!("published `{owner}`")));
                    }
                }
            }
        }
    }

    fn keep(&mut self, policy: &Arc<PolicyManifest>) {
        self.policies.entry(policy.policy.id.clone()).or_insert_with(|| PolicyRecord {
            rule: policy.policy.clone(),
            evidence: policy.head.evidence.clone(),
        });
    }

    /// A policy that an agent attaches and whose scope names nothing the agent calls would never apply.
    fn scopes(&mut self, agent: &ResolvedAgent, bindings: &[LinkedBinding]) {
        let ids: BTreeSet<String> = bindings
            .iter()
            .map(|binding| match &binding.grant {
                Grant::Tool(key) | Grant::Delegate { agent: key, .. } => key.id.to_string(),
                Grant::Mcp { id, .. } | Grant::LateBound { agent: id, .. } => id.to_string(),
            })
            .collect();
        let attached = agent
            .default_policies
            .iter()
            .chain(agent.binding_policies.iter().flatten())
            .chain(agent.delegation_policies.iter().flatten());
        let mut said = BTreeSet::new();
        for policy in attached {
            let Some(Scope::Tool(scope)) = &policy.policy.scope else { continue };
            if ids.contains(&scope.to_string()) || !said.insert(policy.policy.id.clone()) {
                continue;
            }
            let near = nearest(&scope.to_string(), ids.iter().map(String::as_str)).map(str::to_owned);
            let diagnostic = Diagnostic::new(
                &code::UNKNOWN_SCOPE,
                format!(
                    "`{}` is about `{scope}`, which `{}` does not call",
                    policy.head.id, agent.manifest.head.id
                ),
            );
            let text =
                near.map_or_else(|| "names no binding".to_owned(), |near| format!("did you mean `{near}`?"));
            let diagnostic = self.session.label(diagnostic, policy.scope_origin, text);
            self.session.push(diagnostic.help("correct the scope, or do not attach the policy here"));
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

/// What a delegate takes where the delegation does not say.
fn task_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "task": { "type": "string", "description": "What the delegate is to do." } },
        "required": ["task"],
        "additionalProperties": false
    })
}

/// The ids behind the policy paths of a tool that is published alone.
fn named_policies(tool: &ToolManifest, resolution: &Resolution) -> BTreeMap<String, LogicalId> {
    let paths = tool.default_policies.iter().filter_map(|ask| match &ask.reference {
        Reference::Path(path) => Some(path.clone()),
        Reference::Logical { .. } => None,
    });
    let resolved =
        resolution.tools.get(&tool.head.key()).map_or(&[][..], |tool| tool.default_policies.as_slice());
    paths.zip(resolved.iter().map(|policy| policy.head.id.clone())).collect()
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
            from: choice.home.to_string(),
            content_hash: choice.content_hash,
        })
        .collect();
    pins.sort();
    pins.dedup();
    pins
}
