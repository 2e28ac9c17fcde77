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
    BoundaryId, Diagnostic, LogicalId, Outcome, SchemaSource, SecretName, WireName, code, did_you_mean,
    nearest,
};
use bailiwick_policy::{AttachedBy, Attachment, Decision, Policy, PolicyId, Scope};
use bailiwick_snapshots::{
    ArtifactKind, DocumentKey, Evidence, Grant, Identity, Pin, PolicyRecord, Snapshot,
};
use serde_json::{Map, Value, json};

use crate::bundle::{Bundle, Named};
use crate::manifest::{AgentManifest, Home, Manifest, PolicyManifest, ToolManifest};
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
    /// What the paths among the tools' default policies lead to.
    pub policy_paths: BTreeMap<DocumentKey, BTreeMap<String, DocumentKey>>,
    /// The keys of all agents in closure order.
    pub members: Vec<DocumentKey>,
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
    /// Policies of the agent that do not concern it, sorted.
    pub not_concerned: Vec<PolicyId>,
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
        if let Some(Manifest::Policy(policy)) = &resolution.contract {
            self.keep(policy);
        }
        let policy_paths =
            resolution.tools.iter().map(|(key, tool)| (key.clone(), tool.policy_paths.clone())).collect();
        let agents = resolution.agents.iter().map(|agent| self.agent(agent, &resolution)).collect();
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

    /// Everything that applies to a binding, and what does not concern it.
    fn attach(
        &mut self,
        agent: &ResolvedAgent,
        tool: Option<&ResolvedTool>,
        own: &[Arc<PolicyManifest>],
        site: &Site<'_>,
    ) -> (Vec<Attachment>, Vec<PolicyId>) {
        let mut attached = Attached::default();
        let defaults = tool.map_or(&[][..], |tool| tool.default_policies.as_slice());
        for (by, policies) in [(AttachedBy::Tool, defaults), (AttachedBy::Binding, own)] {
            for policy in policies {
                // Attached to this binding alone, so a scope that names something else would leave it without effect.
                if !concerns_tool(policy, site.id) {
                    self.unknown_scope(policy, &agent.manifest.head.id, [site.id.to_string()].iter());
                }
                self.attach_one(policy, by.clone(), site, &mut attached);
            }
        }
        for policy in &agent.default_policies {
            self.attach_one(policy, AttachedBy::Agent, site, &mut attached);
        }
        for (boundary, origin, policies) in &agent.boundaries {
            // A policy that is about another of the agent's tools implements the boundary there.
            let covered = policies.iter().any(|policy| site.all.iter().any(|id| concerns_tool(policy, id)));
            let policies = if covered { policies.as_slice() } else { &[] };
            let by = AttachedBy::AgentBoundary(boundary.clone());
            self.attach_boundary(
                &agent.manifest.head.id,
                (boundary, *origin),
                policies,
                by,
                site,
                &mut attached,
            );
        }
        for (boundary, origin, policies) in tool.iter().flat_map(|tool| &tool.boundaries) {
            let covered = policies.iter().any(|policy| concerns_tool(policy, site.id));
            let policies = if covered { policies.as_slice() } else { &[] };
            let by = AttachedBy::ToolBoundary(boundary.clone());
            self.attach_boundary(site.id, (boundary, *origin), policies, by, site, &mut attached);
        }
        let here: BTreeSet<&PolicyId> = attached.here.iter().map(|attachment| &attachment.policy).collect();
        let not_concerned = attached.elsewhere.iter().filter(|id| !here.contains(id)).cloned().collect();
        (attached.here.into_iter().collect(), not_concerned)
    }

    fn attach_one(
        &mut self,
        policy: &Arc<PolicyManifest>,
        by: AttachedBy,
        site: &Site<'_>,
        attached: &mut Attached,
    ) {
        if !concerns_tool(policy, site.id) {
            return;
        }
        let agent_wide = matches!(by, AttachedBy::Agent | AttachedBy::AgentBoundary(_));
        if agent_wide && !concerns_arguments(&policy.policy, site) {
            self.keep(policy);
            if attached.elsewhere.insert(policy.policy.id.clone()) {
                self.not_concerned(policy, site);
            }
            return;
        }
        if policy.policy.allow.is_some() && !has_one_argument(site) {
            let message = format!(
                "`{}` lists values of one argument, and `{}` has several or none",
                policy.head.id, site.id
            );
            let diagnostic = Diagnostic::new(&code::INVALID_CONDITION, message);
            let diagnostic = self.session.label(diagnostic, policy.scope_origin, "which argument?");
            self.session.push(diagnostic.help("write `conditions` with `field`, `op: in` and `value`"));
        }
        self.keep(policy);
        attached.here.insert(Attachment { by, policy: policy.policy.id.clone() });
    }

    fn not_concerned(&mut self, policy: &PolicyManifest, site: &Site<'_>) {
        let diagnostic = Diagnostic::new(
            &code::NOT_CONCERNED,
            format!(
                "`{}` does not concern `{}`: it has none of the arguments",
                policy.head.id, site.wire_name
            ),
        );
        let diagnostic = self.session.label(diagnostic, site.origin, "not attached here");
        let diagnostic = self.session.label(diagnostic, policy.head.origin, "an agent-wide policy");
        self.session
            .push(diagnostic.help("attach it to the binding, or give it a `scope`, if it is meant to apply"));
    }

    fn attach_boundary(
        &mut self,
        owner: &LogicalId,
        (boundary, origin): (&BoundaryId, Origin),
        policies: &[Arc<PolicyManifest>],
        by: AttachedBy,
        site: &Site<'_>,
        attached: &mut Attached,
    ) {
        if !policies.is_empty() {
            for policy in policies {
                self.attach_one(policy, by.clone(), site, attached);
            }
            return;
        }
        if self.said.insert((boundary.clone(), owner.clone())) {
            let message = format!("no policy implements the boundary `{boundary}` here");
            let diagnostic = Diagnostic::new(&code::UNDEFINED_BOUNDARY, message);
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
        attached.here.insert(Attachment { by, policy: stand_in });
    }

    fn keep(&mut self, policy: &Arc<PolicyManifest>) {
        self.policies.entry(policy.policy.id.clone()).or_insert_with(|| PolicyRecord {
            rule: policy.policy.clone(),
            evidence: policy.head.evidence.clone(),
        });
    }

    /// An agent-wide policy whose scope names nothing the agent calls would never apply.
    fn scopes(&mut self, agent: &ResolvedAgent, ids: &[LogicalId]) {
        for policy in &agent.default_policies {
            if !ids.iter().any(|id| concerns_tool(policy, id)) {
                let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
                self.unknown_scope(policy, &agent.manifest.head.id, names.iter());
            }
        }
    }

    fn unknown_scope<'n>(
        &mut self,
        policy: &PolicyManifest,
        agent: &LogicalId,
        ids: impl Iterator<Item = &'n String>,
    ) {
        let Some(Scope::Tool(scope)) = &policy.policy.scope else { return };
        let near = nearest(&scope.to_string(), ids.map(String::as_str)).map(str::to_owned);
        let diagnostic = Diagnostic::new(
            &code::UNKNOWN_SCOPE,
            format!("`{}` is about `{scope}`, which is not what `{agent}` attaches it to", policy.head.id),
        );
        let text = did_you_mean(near.as_deref(), "would never apply");
        let diagnostic = self.session.label(diagnostic, policy.scope_origin, text);
        self.session.push(diagnostic.help("correct the scope, or attach the policy where it is about"));
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

/// Where a policy may be attached.
struct Site<'a> {
    /// What is called.
    id: &'a LogicalId,
    /// Everything the agent calls.
    all: &'a [LogicalId],
    wire_name: &'a WireName,
    origin: Origin,
    /// The binding's own schema and the contract's.
    schemas: [Option<&'a Value>; 2],
}

/// What was attached to one binding.
#[derive(Default)]
struct Attached {
    here: BTreeSet<Attachment>,
    elsewhere: BTreeSet<PolicyId>,
}

/// Whether the scope of a policy takes in the calls of `id`.
fn concerns_tool(policy: &PolicyManifest, id: &LogicalId) -> bool {
    match &policy.policy.scope {
        None | Some(Scope::Agent) => true,
        Some(Scope::Tool(scope)) => scope == id,
    }
}

/// Whether an agent-wide policy is about calls of this binding: it is scoped, unconditional, about the dispatch, or
/// names an argument that the binding's schemas declare. A schema that declares nothing may have any argument.
fn concerns_arguments(policy: &Policy, site: &Site<'_>) -> bool {
    if policy.scope.is_some() {
        return true;
    }
    let Some(conditions) = &policy.conditions else { return true };
    let properties = |schema: &'_ Value| schema.get("properties").and_then(Value::as_object).cloned();
    let [own, contract] = site.schemas;
    let mut declared: BTreeSet<String> = BTreeSet::new();
    if let Some(base) = contract.or(own) {
        // Without a list of properties any argument is possible.
        let Some(properties) = properties(base).filter(|_| is_plain(base)) else { return true };
        declared.extend(properties.into_iter().map(|(name, _)| name));
    }
    if let Some(own) = own {
        if !is_plain(own) {
            return true;
        }
        declared.extend(properties(own).into_iter().flatten().map(|(name, _)| name));
    }
    conditions.fields().any(|field| {
        let name = field.split(['.', '[']).next().unwrap_or(field);
        field.starts_with("dispatch.") || field.starts_with("phrony.") || declared.contains(name)
    })
}

/// Whether the contract declares exactly one argument, so that a list of values has one meaning.
fn has_one_argument(site: &Site<'_>) -> bool {
    let [own, contract] = site.schemas;
    contract.or(own).is_some_and(|schema| {
        is_plain(schema)
            && schema
                .get("properties")
                .and_then(Value::as_object)
                .is_some_and(|properties| properties.len() == 1)
    })
}

/// Whether a schema declares all its arguments under `properties`.
fn is_plain(schema: &Value) -> bool {
    const ELSEWHERE: [&str; 9] = [
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "not",
        "patternProperties",
        "dependentSchemas",
    ];
    !ELSEWHERE.iter().any(|keyword| schema.get(keyword).is_some())
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
