//! Checking policies: every condition against the contracts that it is about, and all policies of a binding compiled.
//!
//! What can never be compared is a fault. What can never hold, or always does, is worth a warning; so is a list of
//! allowed values that nothing meets. A policy for many tools is a fault only where no tool fits it.

use std::borrow::Cow;
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
        let mut checker = Checker { session, spreads: BTreeMap::new() };
        for site in &sites {
            checker.site(site);
        }
        checker.say_spreads();
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
    /// The policies with a condition, each once.
    policies: Vec<SitePolicy<'p>>,
}

/// A policy with a condition, at one binding.
struct SitePolicy<'p> {
    rule: &'p Policy,
    manifest: &'p PolicyManifest,
    /// What is written, or what a list of allowed values means here.
    condition: Cow<'p, PreparedCondition>,
    /// Whether it is meant for all tools of the agent.
    is_wide: bool,
}

impl SitePolicy<'_> {
    fn field(&self, at: usize) -> &str {
        self.condition.field(at).unwrap_or_default()
    }
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
    let mut site = Site { binding, input, contract, policies: Vec::new() };
    let mut by_policy: BTreeMap<&PolicyId, Vec<&AttachedBy>> = BTreeMap::new();
    for attachment in &binding.policies {
        by_policy.entry(&attachment.policy).or_default().push(&attachment.by);
    }
    for (id, by) in by_policy {
        let rule = &program.policies.get(id)?.rule;
        if let Some(policy) = site_policy(session, program, &site, rule, &by) {
            site.policies.push(policy);
        }
    }
    Some(site)
}

/// `None` for a policy without a condition, and for one in whose file a fault was said: what was read of it is not what
/// somebody meant.
fn site_policy<'p>(
    session: &mut Session,
    program: &'p Program,
    site: &Site<'p>,
    rule: &'p Policy,
    by: &[&AttachedBy],
) -> Option<SitePolicy<'p>> {
    let manifest = program.policy_manifests.get(&rule.id)?;
    if session.origins.span(manifest.head.origin).is_some_and(|span| session.has_said(span.file)) {
        return None;
    }
    let condition = if rule.allow.is_some() {
        let listed = condition_of(rule, site.input.value());
        let prepared = listed.and_then(|condition| {
            condition.as_ref().map(PreparedCondition::new).transpose().map_err(|error| error.to_string())
        });
        match prepared {
            Ok(condition) => Cow::Owned(condition?),
            Err(error) => {
                several_arguments(session, manifest, rule, site, &error);
                return None;
            }
        }
    } else {
        Cow::Borrowed(manifest.condition.as_ref()?)
    };
    let is_wide = by.iter().all(|by| matches!(by, AttachedBy::Agent | AttachedBy::AgentBoundary(_)))
        && !matches!(rule.scope, Some(Scope::Tool(_)));
    Some(SitePolicy { rule, manifest, condition, is_wide })
}

fn several_arguments(
    session: &mut Session,
    manifest: &PolicyManifest,
    policy: &Policy,
    site: &Site<'_>,
    error: &str,
) {
    let message = format!("`{}` cannot be used for `{}`: {error}", policy.id, site.binding.wire_name);
    let diagnostic = Diagnostic::new(&code::INVALID_CONDITION, message);
    let diagnostic = session.label(diagnostic, manifest.scope_origin, "which argument?");
    let diagnostic = session.label(diagnostic, site.binding.origin, "attached here");
    session.push(diagnostic.help("write `conditions` with `field`, `op: in` and `value`"));
}

/// Where one comparison of a policy that is meant for many tools finds nothing to compare.
struct Misfit {
    fault: ComparisonFault,
    field: String,
    origin: Origin,
    /// The binding where it was found first.
    wire_name: String,
    n_bindings: usize,
}

/// What was found of one policy that is meant for many tools.
#[derive(Default)]
struct Spread {
    n_bindings: usize,
    /// By comparison, those that no call there can answer before those that merely nothing declares.
    misfits: BTreeMap<(usize, bool), Misfit>,
}

struct Checker<'c, 'p> {
    session: &'c mut Session,
    spreads: BTreeMap<&'p PolicyId, Spread>,
}

impl<'p> Checker<'_, 'p> {
    fn site(&mut self, site: &Site<'p>) {
        for policy in &site.policies {
            let faults = comparison_faults(&policy.condition, &site.input);
            let is_declared = faults.is_empty();
            let fits = faults.iter().all(|(_, fault)| !is_hard(fault));
            self.faults(site, policy, faults);
            // A call for which it is unknown is one for which it is not the same as for others.
            let may_be_unknown = is_declared && self.say_absent(site, policy);
            if fits && !may_be_unknown {
                self.constancy(site, policy);
            }
        }
        let lists: Vec<&SitePolicy<'_>> =
            site.policies.iter().filter(|policy| policy.rule.decision.kind == DecisionType::Allow).collect();
        if none_meets(lists.iter().map(|policy| &*policy.condition), &site.input) {
            let diagnostic = Diagnostic::new(
                &code::NO_CALL_PASSES,
                format!("no call of `{}` passes the policies that allow", site.binding.wire_name),
            );
            let mut diagnostic = self.session.label(diagnostic, site.binding.origin, "can never be called");
            for policy in lists {
                let origin = policy.manifest.condition_origin;
                diagnostic = self.session.label(diagnostic, origin, "allows only these");
            }
            self.session.push(diagnostic.help("loosen one of the policies, or drop the binding"));
        }
    }

    fn faults(&mut self, site: &Site<'p>, policy: &SitePolicy<'p>, faults: Vec<(usize, ComparisonFault)>) {
        if policy.is_wide {
            self.spreads.entry(&policy.rule.id).or_default().n_bindings += 1;
        }
        for (at, fault) in faults {
            let origins = policy.manifest.comparisons.get(at);
            let origin = origins.map_or(policy.manifest.head.origin, |origins| match fault {
                ComparisonFault::Mismatch { .. } => origins.op,
                ComparisonFault::NoSuchField { .. } | ComparisonFault::Undeclared { .. } => origins.field,
            });
            let is_hard = is_hard(&fault);
            let wire_name = site.binding.wire_name.to_string();
            let field = policy.field(at).to_owned();
            let misfit = Misfit { fault, field, origin, wire_name, n_bindings: 0 };
            if policy.is_wide {
                let spread = self.spreads.entry(&policy.rule.id).or_default();
                spread.misfits.entry((at, !is_hard)).or_insert(misfit).n_bindings += 1;
            } else {
                self.session.push(said(self.session, &misfit, &policy.rule.id));
            }
        }
    }

    /// Says of policies for many tools what fits none of those that they are attached to, and warns of the rest.
    fn say_spreads(&mut self) {
        for (id, spread) in std::mem::take(&mut self.spreads) {
            for misfit in spread.misfits.into_values() {
                let mut diagnostic = said(self.session, &misfit, id);
                if misfit.n_bindings < spread.n_bindings && diagnostic.is_error() {
                    diagnostic.severity = Severity::Warning;
                    diagnostic = diagnostic.note(format!(
                        "so it is with {} of the {} bindings that the policy is attached to; there the comparison is \
                         unknown, and the policy may restrict every call",
                        misfit.n_bindings, spread.n_bindings
                    ));
                }
                self.session.push(diagnostic);
            }
        }
    }

    fn constancy(&mut self, site: &Site<'p>, policy: &SitePolicy<'p>) {
        let SitePolicy { rule, manifest, condition, .. } = policy;
        let Some(found) = constancy(condition, &site.input) else { return };
        let is_list = rule.decision.kind == DecisionType::Allow;
        let by_contract =
            site.contract.as_ref().is_none_or(|contract| constancy(condition, contract) == Some(found));
        let wire_name = &site.binding.wire_name;
        let (code, message, text, help): (&'static Code, String, &str, &str) = match (found, is_list) {
            // That nothing passes is said for all lists together.
            (Constancy::Never, true) => return,
            (Constancy::Never, false) => (
                &code::NEVER_HOLDS,
                format!("`{}` never applies to a call of `{wire_name}`", rule.id),
                "false for every call",
                "correct the condition, or do not attach the policy here",
            ),
            (Constancy::Always, true) => (
                &code::ALWAYS_HOLDS,
                format!("`{}` allows every call of `{wire_name}`", rule.id),
                "true for every call",
                "correct the condition, or do not attach the policy here",
            ),
            (Constancy::Always, false) => (
                &code::ALWAYS_HOLDS,
                format!("`{}` applies to every call of `{wire_name}`", rule.id),
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

    /// Says where calls without an argument are unknown to a condition; whether there are any.
    fn say_absent(&mut self, site: &Site<'p>, policy: &SitePolicy<'p>) -> bool {
        let SitePolicy { rule, manifest, condition, .. } = policy;
        let Some((at, call)) = unknown_call(condition, &site.input) else { return false };
        let field = policy.field(at);
        let shown = quoted(field);
        let wire_name = &site.binding.wire_name;
        let (message, help) = match rule.decision.kind {
            DecisionType::Allow => (
                format!("`{}` refuses calls of `{wire_name}` without `{field}`", rule.id),
                format!(
                    "if such calls may pass, add `{{ field: {shown}, op: exists, value: false }}` beside it under `any`"
                ),
            ),
            DecisionType::RequireApproval | DecisionType::Escalate | DecisionType::Deny => (
                format!("`{}` also applies to calls of `{wire_name}` without `{field}`", rule.id),
                format!(
                    "if such calls are not meant, add `{{ field: {shown}, op: exists, value: true }}` beside it under `all`"
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

/// A field as YAML takes it.
fn quoted(field: &str) -> String {
    if field.contains(['[', ']', '#', ':', ' ']) { format!("\"{field}\"") } else { field.to_owned() }
}

/// Whether no call can answer the comparison.
fn is_hard(fault: &ComparisonFault) -> bool {
    match fault {
        ComparisonFault::NoSuchField { .. } | ComparisonFault::Mismatch { .. } => true,
        ComparisonFault::Undeclared { .. } => false,
    }
}

fn said(session: &Session, misfit: &Misfit, policy: &PolicyId) -> Diagnostic {
    let Misfit { fault, field, origin, wire_name, .. } = misfit;
    let origin = *origin;
    match fault {
        ComparisonFault::NoSuchField { nearest } => {
            let message = format!("no call of `{wire_name}` has `{field}`, which `{policy}` compares");
            let text = did_you_mean(nearest.as_deref(), "the contract has no such field");
            session
                .label(Diagnostic::new(&code::NO_SUCH_FIELD, message), origin, text)
                .help("compare a field of the contract, or attach the policy only where the field is")
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
            let is = declared.map_or_else(|| "none of these".to_owned(), article);
            let compares = compares.join(" or ");
            let message =
                format!("`{field}` of `{wire_name}` is {is}, and `{policy}` compares it as {compares}");
            session
                .label(Diagnostic::new(&code::MISMATCHED_TYPE, message), origin, "always unknown")
                .help("use an operator and a value for the declared type")
        }
    }
}

fn article(kind: &'static str) -> String {
    if kind.starts_with(['a', 'o']) { format!("an {kind}") } else { format!("a {kind}") }
}
