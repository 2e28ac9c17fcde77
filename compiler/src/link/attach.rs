//! Which policies apply at a binding, and how each came there.
//!
//! Policies are attached in the order tool, binding, agent, boundaries; attachments add up, none replaces another.
//! A boundary that no policy implements is not ignored: calls under it need an approval.

use std::collections::BTreeSet;
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{DecisionType, Field, Step};
use bailiwick_bundles::{BoundaryId, Diagnostic, LogicalId, Severity, WireName, code, did_you_mean, nearest};
use bailiwick_policy::{
    AttachedBy, Attachment, Condition, Decision, Phase, Policy, PolicyId, PreparedCondition, Scope, Truth,
    declared_arguments,
};
use bailiwick_snapshots::{Evidence, PolicyRecord};
use serde_json::Value;

use super::{LinkedBinding, Linker};
use crate::manifest::PolicyManifest;
use crate::origin::Origin;
use crate::resolve::{ResolvedAgent, ResolvedTool};

impl Linker<'_> {
    /// Everything that applies to a binding, and what does not concern it.
    pub(super) fn attach(
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
                self.note_not_concerned(policy, site);
            }
            return;
        }
        self.keep(policy);
        attached.here.insert(Attachment { by, policy: policy.policy.id.clone() });
    }

    fn note_not_concerned(&mut self, policy: &PolicyManifest, site: &Site<'_>) {
        let diagnostic = Diagnostic::new(
            &code::NOT_CONCERNED,
            format!(
                "`{}` does not concern `{}`: it has none of the arguments",
                policy.head.id, site.wire_name
            ),
        );
        let diagnostic = self.session.label(diagnostic, site.origin, "not attached here");
        let diagnostic = self.session.label(diagnostic, policy.head.origin, "an agent-wide policy");
        let diagnostic = diagnostic.help("attach it to the binding if it is meant to apply there");
        self.not_concerned.push((policy.policy.id.clone(), diagnostic));
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

    pub(super) fn keep(&mut self, policy: &Arc<PolicyManifest>) {
        self.policy_manifests.entry(policy.policy.id.clone()).or_insert_with(|| Arc::clone(policy));
        self.policies.entry(policy.policy.id.clone()).or_insert_with(|| PolicyRecord {
            rule: policy.policy.clone(),
            evidence: policy.head.evidence.clone(),
        });
    }

    /// Says which policies do not concern which bindings of an agent. One that concerns none of them protects nothing:
    /// that is said once, as a warning.
    pub(super) fn say_not_concerned(&mut self, agent: &ResolvedAgent, bindings: &[LinkedBinding]) {
        let concerns_none = |policy: &&Arc<PolicyManifest>| {
            let id = &policy.policy.id;
            !bindings.is_empty() && bindings.iter().all(|binding| binding.not_concerned.contains(id))
        };
        let idle: Vec<&Arc<PolicyManifest>> = agent.default_policies.iter().filter(concerns_none).collect();
        for (id, note) in std::mem::take(&mut self.not_concerned) {
            if !idle.iter().any(|policy| policy.policy.id == id) {
                self.session.push(note);
            }
        }
        for policy in idle {
            self.warn_concerns_none(policy, &agent.manifest.head.id, bindings);
        }
    }

    fn warn_concerns_none(&mut self, policy: &PolicyManifest, agent: &LogicalId, bindings: &[LinkedBinding]) {
        let message = format!("`{}` concerns nothing that `{agent}` calls", policy.head.id);
        let mut diagnostic = Diagnostic::new(&code::NOT_CONCERNED, message);
        diagnostic.severity = Severity::Warning;
        let known: BTreeSet<&str> = bindings.iter().flat_map(LinkedBinding::arguments).collect();
        let fields = policy.policy.conditions.iter().flat_map(Condition::comparisons);
        let near = fields.zip(&policy.comparisons).find_map(|(comparison, origins)| {
            nearest(&comparison.field, known.iter().copied()).map(|near| (near, origins.field))
        });
        let (origin, text) = match near {
            Some((near, origin)) => (origin, format!("did you mean `{near}`?")),
            None => (policy.condition_origin, "none of these arguments is declared".to_owned()),
        };
        let diagnostic = self.session.label(diagnostic, origin, text);
        self.session.push(diagnostic.help("correct the fields, or drop the policy from `default_policies`"));
    }

    /// An agent-wide policy whose scope names nothing the agent calls would never apply.
    pub(super) fn scopes(&mut self, agent: &ResolvedAgent, ids: &[LogicalId]) {
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
}

/// Where a policy may be attached.
pub(super) struct Site<'a> {
    /// What is called.
    pub(super) id: &'a LogicalId,
    /// Everything the agent calls.
    pub(super) all: &'a [LogicalId],
    pub(super) wire_name: &'a WireName,
    pub(super) origin: Origin,
    /// The binding's own schema and the contract's.
    pub(super) schemas: [Option<&'a Value>; 2],
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
    let [own, contract] = site.schemas;
    // Without a list of properties any argument is possible; a binding's own schema may leave that to the contract.
    let lists = |base: &Value| {
        let properties = base.get("properties").and_then(Value::as_object);
        let is_closed = base.get("additionalProperties") == Some(&Value::Bool(false));
        is_closed || properties.is_some_and(|properties| !properties.is_empty())
    };
    if contract.or(own).is_some_and(|base| !lists(base)) {
        return true;
    }
    // What holds of a call without any of its arguments, such as that one is absent, is about that call.
    let nothing = Value::Object(serde_json::Map::new());
    let without = PreparedCondition::new(conditions).map(|condition| condition.truth(&nothing, Phase::CALL));
    if !matches!(without, Ok(Truth::False | Truth::Unknown)) {
        return true;
    }
    let mut declared = BTreeSet::new();
    for schema in [own, contract].into_iter().flatten() {
        let Some(arguments) = declared_arguments(schema) else { return true };
        declared.extend(arguments);
    }
    conditions.comparisons().any(|comparison| match comparison.field.parse() {
        Ok(Field::Argument(path)) => match path.steps().first() {
            Some(Step::Name(name)) => declared.contains(name.as_str()),
            Some(Step::Each) | None => true,
        },
        // What is not understood is not passed over.
        Ok(Field::Dispatch) | Err(_) => true,
    })
}
