//! Checking policies: every condition against the contracts that it is about, and all policies of a binding compiled.
//!
//! What can never be compared is a fault. What can never hold, or always does, is worth a warning; so is a list of
//! allowed values that nothing meets. A policy for many tools is a fault only where no tool fits it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::DecisionType;
use bailiwick_bundles::{Code, Diagnostic, Outcome, SchemaSource, Severity, code, did_you_mean};
use bailiwick_narrowing::Schema;
use bailiwick_policy::{
    AttachedBy, ComparisonFault, Constancy, Policy, PolicyId, PreparedCondition, Scope, comparison_faults,
    condition_of, constancy, none_meets, unknown_call,
};

use crate::link::{LinkedBinding, Program};
use crate::manifest::PolicyManifest;
use crate::narrow::{Narrowed, NarrowedBinding};
use crate::origin::Origin;
use crate::session::Session;

/// A program whose policies make sense of the contracts that they are about.
#[derive(Debug)]
pub struct Checked {
    narrowed: Narrowed,
    /// By agent, by binding.
    inputs: Vec<Vec<Arc<Schema>>>,
}

impl Checked {
    /// The program with what is enforced at each binding.
    pub fn narrowed(&self) -> &Narrowed {
        &self.narrowed
    }

    /// The effective input schemas, by agent and binding of the program.
    pub fn inputs(&self) -> &[Vec<Arc<Schema>>] {
        &self.inputs
    }
}

/// Checks every policy of `narrowed` at every binding it is attached to.
pub(crate) fn check(session: &mut Session, narrowed: Narrowed) -> Outcome<Checked> {
    let before = session.diagnostics.len();
    let program = narrowed.program();
    let mut inputs: Vec<Vec<Arc<Schema>>> = Vec::with_capacity(program.agents.len());
    for (agent, bindings) in program.agents.iter().zip(narrowed.bindings()) {
        let sites: Vec<Site<'_>> = agent
            .bindings
            .iter()
            .zip(bindings)
            .filter_map(|(binding, narrowed)| site(session, binding, narrowed, program))
            .collect();
        let mut checker = Checker { session, program, comparisons: BTreeMap::new() };
        for site in &sites {
            checker.site(site);
        }
        checker.say_comparisons();
        inputs.push(sites.into_iter().map(|site| site.input).collect());
    }
    let is_whole =
        inputs.iter().zip(narrowed.bindings()).all(|(made, bindings)| made.len() == bindings.len());
    Outcome::new(is_whole.then_some(Checked { narrowed, inputs }), session.diagnostics.split_off(before))
}

/// A binding, with what its policies are checked against.
struct Site<'p> {
    binding: &'p LinkedBinding,
    /// What is enforced.
    input: Arc<Schema>,
    /// What the contract says, where the binding narrows it.
    contract: Option<Arc<Schema>>,
    /// Each policy once, with how it came here.
    policies: Vec<(&'p Policy, Vec<&'p AttachedBy>)>,
}

fn site<'p>(
    session: &mut Session,
    binding: &'p LinkedBinding,
    narrowed: &'p NarrowedBinding,
    program: &'p Program,
) -> Option<Site<'p>> {
    let input = session.compile(&SchemaSource::synthetic(narrowed.input.clone()), binding.origin)?;
    let narrows = binding.input.is_some();
    let contract = binding.tool.as_ref().filter(|_| narrows);
    let contract = contract.and_then(|tool| session.compile(&tool.input, tool.head.origin));
    let mut policies: Vec<(&Policy, Vec<&AttachedBy>)> = Vec::new();
    for attachment in &binding.policies {
        let policy = &program.policies.get(&attachment.policy)?.rule;
        match policies.iter_mut().find(|(known, _)| known.id == policy.id) {
            Some((_, by)) => by.push(&attachment.by),
            None => policies.push((policy, vec![&attachment.by])),
        }
    }
    Some(Site { binding, input, contract, policies })
}

/// Where one comparison of a policy that is meant for many tools finds nothing to compare.
struct Misfit {
    fault: ComparisonFault,
    origin: Origin,
    /// The binding where it was found first.
    wire_name: String,
    n_bindings: usize,
}

struct Checker<'c, 'p> {
    session: &'c mut Session,
    program: &'p Program,
    /// For policies of the agent as a whole: how many bindings they are attached to, and the comparisons that fit not
    /// all of them.
    comparisons: BTreeMap<&'p PolicyId, (usize, BTreeMap<usize, Misfit>)>,
}

impl<'p> Checker<'_, 'p> {
    fn site(&mut self, site: &Site<'p>) {
        let mut lists: Vec<&PreparedCondition> = Vec::new();
        for (policy, by) in &site.policies {
            let program = self.program;
            // A list that is about no tool was refused when it was read.
            if matches!((&policy.allow, &policy.scope), (Some(_), Some(Scope::Tool(_))))
                && let Err(error) = condition_of(policy, site.input.value())
            {
                several_arguments(self.session, program, policy, site, &error);
            }
            let Some(manifest) = program.policy_manifests.get(&policy.id) else { continue };
            let Some(condition) = &manifest.condition else { continue };
            let is_wide = by.iter().all(|by| matches!(by, AttachedBy::Agent | AttachedBy::AgentBoundary(_)))
                && !matches!(policy.scope, Some(Scope::Tool(_)));
            let faults = comparison_faults(condition, &site.input);
            let (fits, is_declared) = (
                faults.iter().all(|(_, fault)| matches!(fault, ComparisonFault::Undeclared { .. })),
                faults.is_empty(),
            );
            self.faults(site, policy, manifest, faults, is_wide);
            if policy.decision.kind == DecisionType::Allow {
                lists.push(condition);
            }
            // A call for which it is unknown is one for which it is not the same as for others.
            let may_be_unknown = is_declared && self.absence(site, policy, manifest, condition);
            if fits && !may_be_unknown {
                self.constancy(site, policy, manifest, condition);
            }
        }
        if !lists.is_empty() && none_meets(lists, &site.input) {
            let diagnostic = Diagnostic::new(
                &code::NO_CALL_PASSES,
                format!("no call of `{}` passes the policies that allow", site.binding.wire_name),
            );
            let mut diagnostic = self.session.label(diagnostic, site.binding.origin, "can never be called");
            for (policy, _) in
                site.policies.iter().filter(|(policy, _)| policy.decision.kind == DecisionType::Allow)
            {
                if let Some(manifest) = self.program.policy_manifests.get(&policy.id) {
                    diagnostic =
                        self.session.label(diagnostic, manifest.condition_origin, "allows only these");
                }
            }
            self.session.push(diagnostic.help("loosen one of the policies, or drop the binding"));
        }
    }

    fn faults(
        &mut self,
        site: &Site<'p>,
        policy: &'p Policy,
        manifest: &PolicyManifest,
        faults: Vec<(usize, ComparisonFault)>,
        is_wide: bool,
    ) {
        if is_wide {
            self.comparisons.entry(&policy.id).or_default().0 += 1;
        }
        for (at, fault) in faults {
            let origin = manifest.comparisons.get(at).map_or(manifest.head.origin, |origins| match fault {
                ComparisonFault::Mismatch { .. } => origins.op,
                ComparisonFault::NoSuchField { .. } | ComparisonFault::Undeclared { .. } => origins.field,
            });
            let wire_name = site.binding.wire_name.to_string();
            if is_wide {
                let (_, misfits) = self.comparisons.entry(&policy.id).or_default();
                let misfit = misfits.entry(at).or_insert(Misfit { fault, origin, wire_name, n_bindings: 0 });
                misfit.n_bindings += 1;
            } else {
                let field = field(policy, at);
                self.session.push(said(self.session, &fault, &field, origin, &policy.id, &wire_name));
            }
        }
    }

    /// Says of policies for many tools what fits none of those that they are attached to, and warns of the rest.
    fn say_comparisons(&mut self) {
        for (id, (n_attached, misfits)) in std::mem::take(&mut self.comparisons) {
            let Some(record) = self.program.policies.get(id) else { continue };
            for (at, misfit) in misfits {
                let field = field(&record.rule, at);
                let mut diagnostic =
                    said(self.session, &misfit.fault, &field, misfit.origin, id, &misfit.wire_name);
                if misfit.n_bindings < n_attached && diagnostic.is_error() {
                    diagnostic.severity = Severity::Warning;
                    diagnostic = diagnostic.note(format!(
                        "so it is with {} of the {n_attached} bindings that the policy is attached to; there the \
                         comparison is unknown",
                        misfit.n_bindings
                    ));
                }
                self.session.push(diagnostic);
            }
        }
    }

    fn constancy(
        &mut self,
        site: &Site<'p>,
        policy: &Policy,
        manifest: &PolicyManifest,
        condition: &PreparedCondition,
    ) {
        let Some(found) = constancy(condition, &site.input) else { return };
        let is_list = policy.decision.kind == DecisionType::Allow;
        let by_contract =
            site.contract.as_ref().is_none_or(|contract| constancy(condition, contract) == Some(found));
        let wire_name = &site.binding.wire_name;
        let (code, message, text, help): (&'static Code, String, &str, &str) = match (found, is_list) {
            // That nothing passes is said for all lists together.
            (Constancy::Never, true) => return,
            (Constancy::Never, false) => (
                &code::NEVER_HOLDS,
                format!("`{}` never applies to a call of `{wire_name}`", policy.id),
                "false for every call",
                "correct the condition, or do not attach the policy here",
            ),
            (Constancy::Always, true) => (
                &code::ALWAYS_HOLDS,
                format!("`{}` allows every call of `{wire_name}`", policy.id),
                "true for every call",
                "correct the condition, or do not attach the policy here",
            ),
            (Constancy::Always, false) => (
                &code::ALWAYS_HOLDS,
                format!("`{}` applies to every call of `{wire_name}`", policy.id),
                "true for every call",
                "leave `conditions` out if that is meant",
            ),
        };
        let mut diagnostic = Diagnostic::new(code, message);
        if !by_contract {
            diagnostic.severity = Severity::Note;
            diagnostic = diagnostic.note("so it is since the binding narrows the contract");
        }
        let diagnostic = self.session.label(diagnostic, manifest.condition_origin, text);
        let diagnostic = self.session.label(diagnostic, site.binding.origin, "for this binding");
        self.session.push(diagnostic.help(help));
    }

    /// Says where calls without an argument are unknown to a condition.
    fn absence(
        &mut self,
        site: &Site<'p>,
        policy: &Policy,
        manifest: &PolicyManifest,
        condition: &PreparedCondition,
    ) -> bool {
        let Some((at, call)) = unknown_call(condition, &site.input) else { return false };
        let field = field(policy, at);
        let wire_name = &site.binding.wire_name;
        let (message, help) = match policy.decision.kind {
            DecisionType::Allow => (
                format!("`{}` refuses calls of `{wire_name}` without `{field}`", policy.id),
                format!(
                    "if such calls may pass, add `{{ field: {field}, op: exists, value: false }}` beside it under `any`"
                ),
            ),
            DecisionType::RequireApproval | DecisionType::Escalate | DecisionType::Deny => (
                format!("`{}` also applies to calls of `{wire_name}` without `{field}`", policy.id),
                format!(
                    "if such calls are not meant, add `{{ field: {field}, op: exists, value: true }}` beside it under `all`"
                ),
            ),
        };
        let origin = manifest.comparisons.get(at).map_or(manifest.head.origin, |origins| origins.field);
        let diagnostic = Diagnostic::new(&code::ABSENT_FIELD, message).example(call.to_string());
        let diagnostic = self.session.label(diagnostic, origin, "not required by the contract");
        self.session.push(diagnostic.help(help));
        true
    }
}

fn field(policy: &Policy, at: usize) -> String {
    let comparison = policy.conditions.as_ref().and_then(|condition| condition.comparisons().nth(at));
    comparison.map(|comparison| comparison.field.clone()).unwrap_or_default()
}

fn said(
    session: &Session,
    fault: &ComparisonFault,
    field: &str,
    origin: Origin,
    policy: &PolicyId,
    wire_name: &str,
) -> Diagnostic {
    match fault {
        ComparisonFault::NoSuchField { nearest } => {
            let message = format!("no call of `{wire_name}` has `{field}`, which `{policy}` compares");
            let text = did_you_mean(nearest.as_deref(), "the contract has no such field");
            session
                .label(Diagnostic::new(&code::NO_SUCH_FIELD, message), origin, text)
                .help("compare a field of the contract, or give the policy a `scope`")
        }
        ComparisonFault::Undeclared { nearest } => {
            let message = format!(
                "the contract of `{wire_name}` does not declare `{field}`, which `{policy}` compares"
            );
            let text = did_you_mean(nearest.as_deref(), "not among the declared properties");
            session
                .label(Diagnostic::new(&code::UNDECLARED_FIELD, message), origin, text)
                .help("correct the field, or declare it; without it in a call the policy restricts")
        }
        ComparisonFault::Mismatch { compares, declared } => {
            let is = declared.map_or_else(|| "none of these".to_owned(), |kind| format!("a {kind}"));
            let compares = compares.join(" or ");
            let message =
                format!("`{field}` of `{wire_name}` is {is}, and `{policy}` compares it as {compares}");
            session
                .label(Diagnostic::new(&code::MISMATCHED_TYPE, message), origin, "always unknown")
                .help("use an operator and a value for the declared type")
        }
    }
}

fn several_arguments(
    session: &mut Session,
    program: &Program,
    policy: &Policy,
    site: &Site<'_>,
    error: &str,
) {
    let message = format!("`{}` cannot be used for `{}`: {error}", policy.id, site.binding.wire_name);
    let mut diagnostic = Diagnostic::new(&code::INVALID_CONDITION, message);
    if let Some(manifest) = program.policy_manifests.get(&policy.id) {
        diagnostic = session.label(diagnostic, manifest.scope_origin, "which argument?");
    }
    let diagnostic = session.label(diagnostic, site.binding.origin, "attached here");
    session.push(diagnostic.help("write `conditions` with `field`, `op: in` and `value`"));
}
