//! Deciding one call of one binding.
//!
//! A [`Decider`] is made once for a binding and decides any number of calls from any number of threads. It holds the
//! policies of its binding alone, so that a decision costs nothing for policies elsewhere. Everything that is not
//! understood is a denial: arguments that are no JSON object or that the input schema refuses, and any error on the way.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{DecisionType, Field, Operator, Step};
use bailiwick_narrowing::Schema;
use serde_json::Value;

use crate::arguments::read_arguments;
use crate::cedar::{CedarText, Compiler, Effect, Rule, Slice};
use crate::declared::declared_arguments;
use crate::phase::Phase;
use crate::prepared::{Clause, PreparedCondition};
use crate::requirements::Requirements;
use crate::ruling::{DenyReason, Ruling};
use crate::{AttachedBy, Comparison, Condition, Policy, PolicyId, Truth};

/// One binding and every policy at it.
#[derive(Clone, Copy, Debug)]
pub struct DeciderInput<'i> {
    /// The agent: `namespace.name`.
    pub agent: &'i str,
    /// The name under which the model calls it.
    pub tool: &'i str,
    /// The effective input schema.
    pub input: &'i Arc<Schema>,
    /// Every policy at the binding and how it came there; one that came twice is there twice.
    pub policies: &'i [(AttachedBy, &'i Policy)],
}

/// Why a binding has no decider. Its calls are denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeciderError(String);

/// Decides the calls of one binding.
#[derive(Debug)]
pub struct Decider {
    input: Arc<Schema>,
    /// Sorted by id.
    policies: Vec<Prepared>,
    slice: Slice,
}

#[derive(Debug)]
struct Prepared {
    policy: Policy,
    attached_by: Vec<AttachedBy>,
    condition: Option<PreparedCondition>,
    effect: Effect,
}

/// A policy that was looked at for a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Considered {
    /// Which.
    pub policy: PolicyId,
    /// What it decides where it applies.
    pub decision: DecisionType,
    /// How it came to the binding, in order.
    pub attached_by: Vec<AttachedBy>,
    /// Whether its condition holds; true where it has none.
    pub truth: Truth,
    /// Whether it restricts this call.
    pub applies: bool,
    /// The comparisons that make its condition what it is.
    pub clauses: Vec<Clause>,
}

/// A decision and everything that was looked at for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What is decided.
    pub ruling: Ruling,
    /// Every policy at the binding, those that apply first, the strictest before the others. None where the arguments
    /// were refused before any policy was asked.
    pub considered: Vec<Considered>,
}

/// Makes deciders, and shares between them what bindings have in common.
#[derive(Debug, Default)]
pub struct DeciderCompiler {
    cedar: Compiler,
}

impl DeciderCompiler {
    /// Prepares the policies of a binding.
    ///
    /// # Errors
    /// A policy that cannot be compiled: one that no bundle that compiles has.
    pub fn compile(&mut self, input: &DeciderInput<'_>) -> Result<Decider, DeciderError> {
        with_stack(|| self.prepare(input))
    }

    fn prepare(&mut self, input: &DeciderInput<'_>) -> Result<Decider, DeciderError> {
        let schema = input.input.value();
        let mut by_id: BTreeMap<&PolicyId, (&Policy, Vec<AttachedBy>)> = BTreeMap::new();
        for (by, policy) in input.policies {
            by_id.entry(&policy.id).or_insert_with(|| (policy, Vec::new())).1.push(by.clone());
        }
        let mut policies = Vec::with_capacity(by_id.len());
        for (id, (policy, mut attached_by)) in by_id {
            attached_by.sort();
            attached_by.dedup();
            let said = |error: String| DeciderError(format!("`{id}`: {error}"));
            let condition = condition_of(policy, schema).map_err(said)?;
            let condition = condition.as_ref().map(PreparedCondition::new).transpose();
            let condition = condition.map_err(|error| said(error.to_string()))?;
            let effect = effect(policy.decision.kind, condition.is_some());
            policies.push(Prepared { policy: policy.clone(), attached_by, condition, effect });
        }
        let rules: Vec<Rule<'_>> = policies.iter().map(|prepared| prepared.rule(input.tool)).collect();
        let slice = self
            .cedar
            .compile(input.agent, input.tool, &rules, schema)
            .map_err(|error| DeciderError(format!("the policies of `{}`: {error}", input.tool)))?;
        Ok(Decider { input: Arc::clone(input.input), policies, slice })
    }
}

impl Decider {
    /// [`DeciderCompiler::compile`] for one binding alone.
    ///
    /// # Errors
    /// As there.
    pub fn new(input: &DeciderInput<'_>) -> Result<Self, DeciderError> {
        DeciderCompiler::default().compile(input)
    }

    /// Decides a call from the text of its arguments.
    pub fn decide(&self, arguments: &[u8], phase: Phase) -> Ruling {
        with_stack(|| match self.accept(arguments) {
            Ok(arguments) => self.rule(&arguments, phase),
            Err(ruling) => ruling,
        })
    }

    /// Decides a call, and says what was looked at.
    pub fn explain(&self, arguments: &[u8], phase: Phase) -> Explanation {
        with_stack(|| self.explain_here(arguments, phase))
    }

    fn explain_here(&self, arguments: &[u8], phase: Phase) -> Explanation {
        let arguments = match self.accept(arguments) {
            Ok(arguments) => arguments,
            Err(ruling) => return Explanation { ruling, considered: Vec::new() },
        };
        let applying = match self.slice.applying(&arguments, phase) {
            Ok(applying) => applying,
            Err(message) => return Explanation { ruling: Ruling::Error { message }, considered: Vec::new() },
        };
        let mut considered: Vec<Considered> =
            self.policies.iter().map(|prepared| prepared.consider(&arguments, phase)).collect();
        // What is explained must be what was decided.
        let explained = considered.iter().enumerate().filter(|(_, found)| found.applies).map(|(at, _)| at);
        let ruling = if explained.eq(applying.iter().copied()) {
            self.merge(&applying, &arguments, phase)
        } else {
            Ruling::Error { message: "the explanation contradicts the decision".to_owned() }
        };
        considered.sort_by(|a, b| {
            let rank = |found: &Considered| (!found.applies, std::cmp::Reverse(found.decision));
            rank(a).cmp(&rank(b)).then_with(|| a.policy.cmp(&b.policy))
        });
        Explanation { ruling, considered }
    }

    /// The policies as Cedar text.
    ///
    /// # Errors
    /// Cedar cannot write what it has read.
    pub fn to_cedar(&self) -> Result<CedarText, DeciderError> {
        self.slice.text().map_err(DeciderError)
    }

    /// The arguments, where the input schema accepts them.
    fn accept(&self, arguments: &[u8]) -> Result<Value, Ruling> {
        let arguments = read_arguments(arguments).map_err(refused)?;
        if self.input.accepts(&arguments) {
            return Ok(arguments);
        }
        let violations = self.input.violations(&arguments);
        let said = violations.into_iter().map(|violation| match violation.instance_path.as_str() {
            "" => format!("the input schema refuses the arguments: {}", violation.message),
            path => format!("the input schema refuses the arguments at `{path}`: {}", violation.message),
        });
        Err(refused(said.collect()))
    }

    fn rule(&self, arguments: &Value, phase: Phase) -> Ruling {
        match self.slice.applying(arguments, phase) {
            Ok(applying) => self.merge(&applying, arguments, phase),
            Err(message) => Ruling::Error { message },
        }
    }

    /// What the policies that apply come to.
    fn merge(&self, applying: &[usize], arguments: &Value, phase: Phase) -> Ruling {
        let found: Option<Vec<&Prepared>> = applying.iter().map(|at| self.policies.get(*at)).collect();
        // INVARIANT of a slice: a rule is at the place of its policy. One that is lost must not open anything.
        let Some(applying) = found else {
            return Ruling::Error { message: "a rule applies that no policy is behind".to_owned() };
        };
        let of = |effect| applying.iter().filter(move |prepared| prepared.effect == effect);
        let mut denials = of(Effect::Denial).chain(of(Effect::AllowList)).peekable();
        if denials.peek().is_some() {
            let mut reasons: Vec<DenyReason> =
                denials.map(|prepared| prepared.denial(arguments, phase)).collect();
            reasons.sort_by(|a, b| a.policy.cmp(&b.policy));
            return Ruling::Deny { reasons };
        }
        let is_escalated = of(Effect::Escalation).next().is_some();
        let merged = applying
            .iter()
            .map(|prepared| Requirements::of(&prepared.policy.id, &prepared.policy.decision))
            .reduce(Requirements::merge);
        match merged {
            None => Ruling::Allow,
            Some(requirements) if is_escalated => Ruling::Escalate { requirements },
            Some(requirements) => Ruling::RequireApproval { requirements },
        }
    }
}

/// Runs `run` where there is stack enough for everything here, however little the caller has left. All of it is bounded
/// in depth: conditions, arguments, and the policies made of them.
fn with_stack<T>(run: impl FnOnce() -> T) -> T {
    const LEAST: usize = 1 << 20;
    const MADE: usize = 4 << 20;
    stacker::maybe_grow(LEAST, MADE, run)
}

fn refused(messages: Vec<String>) -> Ruling {
    let reasons = messages.into_iter().map(|message| DenyReason { policy: None, message }).collect();
    Ruling::Deny { reasons }
}

/// The condition of a policy: what is written, or what its list of allowed values means for the binding's one argument.
///
/// # Errors
/// A list of values where the schema declares no argument or several, in words.
pub fn condition_of(policy: &Policy, input: &Value) -> Result<Option<Condition>, String> {
    let Some(values) = &policy.allow else { return Ok(policy.conditions.clone()) };
    let names = declared_arguments(input).unwrap_or_default();
    let mut names = names.into_iter();
    let (Some(name), None) = (names.next(), names.next()) else {
        return Err(
            "it lists values of one argument, and the tool has several, or none that it declares plainly"
                .to_owned(),
        );
    };
    // A name that cannot be written as a path is not the argument that the path leads to.
    let is_itself = matches!(
        name.parse(),
        Ok(Field::Argument(path)) if matches!(path.steps(), [Step::Name(step)] if step == name)
    );
    if !is_itself {
        return Err(format!("the argument `{name}` cannot be compared: its name is no path"));
    }
    let listed = Condition::Leaf(Comparison {
        field: name.to_owned(),
        op: Operator::In,
        value: Some(Value::Array(values.clone())),
    });
    Ok(Some(match &policy.conditions {
        None => listed,
        Some(condition) => Condition::All { all: vec![condition.clone(), listed] },
    }))
}

fn effect(kind: DecisionType, is_conditional: bool) -> Effect {
    match kind {
        DecisionType::Allow if is_conditional => Effect::AllowList,
        DecisionType::Allow => Effect::None,
        DecisionType::RequireApproval => Effect::Approval,
        DecisionType::Escalate => Effect::Escalation,
        DecisionType::Deny => Effect::Denial,
    }
}

impl Prepared {
    fn rule(&self, tool: &str) -> Rule<'_> {
        let mut annotations = vec![("decision", self.policy.decision.kind.to_string())];
        if let Some(condition) = &self.policy.conditions {
            annotations.push(("condition", condition.to_string()));
        }
        Rule {
            id: format!("{}#{tool}", self.policy.id),
            effect: self.effect,
            condition: self.condition.as_ref(),
            annotations,
        }
    }

    fn consider(&self, arguments: &Value, phase: Phase) -> Considered {
        let (truth, clauses) = match &self.condition {
            Some(condition) => (condition.truth(arguments, phase), condition.deciding(arguments, phase)),
            None => (Truth::True, Vec::new()),
        };
        let applies = match self.effect {
            Effect::None => false,
            Effect::AllowList => truth != Truth::True,
            Effect::Approval | Effect::Escalation | Effect::Denial => truth.is_possible(),
        };
        Considered {
            policy: self.policy.id.clone(),
            decision: self.policy.decision.kind,
            attached_by: self.attached_by.clone(),
            truth,
            applies,
            clauses,
        }
    }

    fn denial(&self, arguments: &Value, phase: Phase) -> DenyReason {
        let because = self.policy.decision.reason.clone();
        let mut message = because.unwrap_or_else(|| match (self.effect, &self.policy.conditions) {
            (Effect::AllowList, Some(condition)) => format!("allowed only when {condition}"),
            (Effect::AllowList, None) => "not one of the values that are allowed".to_owned(),
            (_, Some(condition)) => format!("denied when {condition}"),
            (_, None) => "denied always".to_owned(),
        });
        // What is not known restricts, and is not what the reason says.
        if let Some(condition) = &self.condition
            && condition.truth(arguments, phase) == Truth::Unknown
        {
            let clauses = condition.deciding(arguments, phase);
            let unknown = clauses.iter().find(|clause| clause.truth == Truth::Unknown);
            let unknown = unknown.map(|clause| match clause.value {
                None => format!(" (`{}` is absent, so it may be)", clause.field),
                Some(_) => format!(" (`{}` is of another type, so it may be)", clause.field),
            });
            message.push_str(&unknown.unwrap_or_default());
        }
        DenyReason { policy: Some(self.policy.id.clone()), message }
    }
}

impl DeciderError {
    /// A binding names a policy that nobody has.
    pub fn missing(policy: &PolicyId) -> Self {
        Self(format!("`{policy}` is attached and not there"))
    }
}

impl std::fmt::Display for DeciderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DeciderError {}
