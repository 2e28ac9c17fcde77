//! Cedar: what decides a call.
//!
//! The only module that names `cedar_policy`. Cedar skips a policy that errs, so a `forbid` that errs does not forbid.
//! Therefore:
//!
//! * policies are built as trees, never as text, and are total: no arithmetic, every optional attribute guarded, every
//!   `forbid` applies *unless* what lifts it is certain;
//! * they are validated strictly, warnings included, against a schema made for the binding;
//! * arguments enter as restricted expressions by the type of their attribute, never through Cedar's JSON;
//! * the request is validated, and any error or diagnostic is the caller's to deny;
//! * whoever calls sees to it that there is stack enough: Cedar errs where there is none.
//!
//! What a request looks like is part of the snapshot format, and told there. All that applies to a call forbids the
//! action `unattended`, so one request tells all of it.

mod context;
mod lower;
mod shape;

use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy::{
    Authorizer, Decision as CedarDecision, Entities, EntityUid, Policy as CedarPolicy, PolicyId as CedarId,
    PolicySet, Request, Schema, ValidationMode, Validator, pst,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::phase::Phase;
use crate::prepared::PreparedCondition;
use lower::Lowering;
use shape::Shape;

/// What a rule does to the actions of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing: an unconditional `allow`.
    None,
    /// Forbids `unattended`.
    Approval,
    /// Forbids `unattended` and `approved`.
    Escalation,
    /// Forbids all three.
    Denial,
    /// Forbids all three unless the condition is certain.
    AllowList,
}

/// One rule of a slice.
#[derive(Debug)]
pub(crate) struct Rule<'r> {
    /// Unique in the slice.
    pub(crate) id: String,
    pub(crate) effect: Effect,
    pub(crate) condition: Option<&'r PreparedCondition>,
    /// Said in annotations.
    pub(crate) annotations: Vec<(&'static str, String)>,
}

/// The policies of one binding, compiled.
#[derive(Debug)]
pub(crate) struct Slice {
    authorizer: Authorizer,
    entities: Entities,
    policies: PolicySet,
    validator: Arc<Validator>,
    shape: Shape,
    ids: Vec<CedarId>,
    principal: EntityUid,
    action: EntityUid,
    resource: EntityUid,
}

/// A slice as text, for people and for other engines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CedarText {
    /// The schema in Cedar's own syntax.
    pub schema: String,
    /// The policies; each carries its id as an annotation.
    pub policies: String,
}

/// The actions in the order of how much human say they have had.
const ACTIONS: [&str; 3] = ["unattended", "approved", "reviewed"];

/// Compiles slices, each schema once: many bindings of an agent compare the same arguments.
#[derive(Debug, Default)]
pub(crate) struct Compiler {
    /// By the text of their schema.
    validators: BTreeMap<String, Arc<Validator>>,
}

impl Compiler {
    /// Compiles the rules of the binding `tool` of `agent`, whose effective input schema is `input`.
    ///
    /// The error is in words. It is a fault of this crate, never of what somebody wrote.
    pub(crate) fn compile(
        &mut self,
        agent: &str,
        tool: &str,
        rules: &[Rule<'_>],
        input: &Value,
    ) -> Result<Slice, String> {
        let mut shape = Shape::default();
        let (principal, resource) = (lower::uid("Agent", agent)?, lower::uid("Tool", tool)?);
        let mut policies = PolicySet::new();
        let grant = lower::grant(&principal, &resource, tool)?;
        policies.add(static_policy(grant)?).map_err(|error| error.to_string())?;
        let mut ids = Vec::with_capacity(rules.len());
        let mut lowering = Lowering {
            principal: &principal,
            resource: &resource,
            input,
            shape: &mut shape,
            facts: BTreeMap::new(),
        };
        for rule in rules {
            ids.push(CedarId::new(&rule.id));
            if let Some(template) = lowering.forbid(rule)? {
                policies.add(static_policy(template)?).map_err(|error| error.to_string())?;
            }
        }
        let validator = self.validator(&shape)?;
        let validated = validator.validate(&policies, ValidationMode::Strict);
        if let Some(error) = validated.validation_errors().next() {
            return Err(error.to_string());
        }
        if let Some(warning) = validated.validation_warnings().next() {
            return Err(warning.to_string());
        }
        Ok(Slice {
            authorizer: Authorizer::new(),
            entities: Entities::empty(),
            policies,
            validator,
            shape,
            ids,
            principal: entity("Agent", agent)?,
            action: entity("Action", "unattended")?,
            resource: entity("Tool", tool)?,
        })
    }

    fn validator(&mut self, shape: &Shape) -> Result<Arc<Validator>, String> {
        let key = shape.to_text();
        if let Some(known) = self.validators.get(&key) {
            return Ok(Arc::clone(known));
        }
        let schema = Schema::from_json_value(shape.to_schema()).map_err(|error| error.to_string())?;
        let validator = Arc::new(Validator::new(schema));
        self.validators.insert(key, Arc::clone(&validator));
        Ok(validator)
    }
}

impl Slice {
    /// The rules that apply to a call, by their place in the slice; none where it may be made unattended.
    ///
    /// An error is in words, and means that nothing is known: deny.
    pub(crate) fn applying(&self, arguments: &Value, phase: Phase) -> Result<Vec<usize>, String> {
        let context = self.shape.context(arguments, phase)?;
        let request = Request::new(
            self.principal.clone(),
            self.action.clone(),
            self.resource.clone(),
            context,
            Some(self.validator.schema()),
        )
        .map_err(|error| error.to_string())?;
        let response = self.authorizer.is_authorized(&request, &self.policies, &self.entities);
        if let Some(error) = response.diagnostics().errors().next() {
            return Err(error.to_string());
        }
        if response.decision() == CedarDecision::Allow {
            return Ok(Vec::new());
        }
        let mut applying: Vec<usize> = Vec::new();
        for reason in response.diagnostics().reason() {
            let at = self.ids.iter().position(|id| id == reason);
            applying.push(at.ok_or_else(|| format!("`{reason}` decides, and is no rule of the binding"))?);
        }
        if applying.is_empty() {
            return Err("nothing permits the call and nothing forbids it".to_owned());
        }
        applying.sort_unstable();
        Ok(applying)
    }

    /// The slice as text.
    pub(crate) fn text(&self) -> Result<CedarText, String> {
        let mut texts: Vec<(String, String)> = Vec::new();
        for policy in self.policies.policies() {
            texts.push((policy.id().to_string(), policy.to_cedar().ok_or("a policy has no text")?));
        }
        texts.sort();
        let policies: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
        Ok(CedarText { schema: self.shape.to_text(), policies: policies.join("\n\n") + "\n" })
    }
}

fn static_policy(template: pst::Template) -> Result<CedarPolicy, String> {
    let policy = pst::StaticPolicy::try_from(template).map_err(|error| error.to_string())?;
    CedarPolicy::from_pst(pst::Policy::Static(policy)).map_err(|error| error.to_string())
}

fn entity(kind: &str, id: &str) -> Result<EntityUid, String> {
    let kind = kind.parse().map_err(|error: cedar_policy::ParseErrors| error.to_string())?;
    Ok(EntityUid::from_type_name_and_id(kind, cedar_policy::EntityId::new(id)))
}
