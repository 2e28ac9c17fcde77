//! `kind: Policy`.

use bailiwick_bundles::Node;
use bailiwick_bundles::documents::phrony::{self, ConditionDoc, DecisionDoc, PolicyDocument};
use bailiwick_policy::{Comparison, Condition, Decision, Policy, PolicyId, Scope, Timeout};

use serde_json::Value;

use super::{Content, Place, head, value};
use crate::manifest::PolicyManifest;
use crate::session::Session;

pub(super) fn lower(
    session: &mut Session,
    place: Place<'_>,
    document: &PolicyDocument,
    content: &Content,
) -> Option<PolicyManifest> {
    let spec = &document.spec;
    let head = head::lower(session, place, &document.metadata, &content.value)?;
    let mut implements: Vec<_> = head.boundaries.iter().map(|(boundary, _)| boundary.clone()).collect();
    implements.sort();
    implements.dedup();
    let policy = Policy {
        id: PolicyId::Document(head.id.clone(), head.version.clone()),
        description: spec.description.as_ref().map(|text| text.value.clone()),
        scope: spec.scope.as_ref().map(|scope| match &scope.value {
            phrony::Scope::Agent => Scope::Agent,
            phrony::Scope::Tool(id) => Scope::Tool(id.clone()),
        }),
        conditions: spec.conditions.as_ref().map(condition),
        allow: spec.allow.as_ref().map(|values| values.value.iter().map(Node::to_json).collect()),
        decision: decision(&spec.decision),
        implements,
        content_hash: Some(head.content_hash),
    };
    let scope_span = spec.scope.as_ref().map_or(document.metadata.name.span, |scope| scope.span);
    Some(PolicyManifest { head, policy, scope_origin: session.origin(scope_span) })
}

fn condition(document: &ConditionDoc) -> Condition {
    match document {
        ConditionDoc::All(conditions, _) => {
            Condition::All { all: conditions.iter().map(condition).collect() }
        }
        ConditionDoc::Any(conditions, _) => {
            Condition::Any { any: conditions.iter().map(condition).collect() }
        }
        ConditionDoc::Not(inner, _) => Condition::Not { not: Box::new(condition(inner)) },
        ConditionDoc::Leaf(leaf) => Condition::Leaf(Comparison {
            field: leaf.field.value.clone(),
            op: leaf.op.value,
            value: leaf.value.as_ref().map(|value| dispatch_value(&leaf.field.value, value.to_json())),
        }),
    }
}

/// `dispatch.outcome: indeterminate` is short for `dispatch:indeterminate`.
fn dispatch_value(field: &str, value: Value) -> Value {
    match value {
        Value::String(text) if field == "dispatch.outcome" && text == "indeterminate" => {
            Value::String("dispatch:indeterminate".to_owned())
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| dispatch_value(field, item)).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => value,
    }
}

fn decision(document: &DecisionDoc) -> Decision {
    Decision {
        kind: document.kind.value,
        authority_ref: document.authority_ref.as_ref().map(|boundary| boundary.value.clone()),
        approvals_required: value(document.approvals_required.as_ref()).map(|count| count.0),
        timeout: document.timeout.as_ref().map(|timeout| Timeout {
            after_minutes: timeout.after_minutes.value.0,
            default: value(timeout.default.as_ref()),
        }),
        on_reject: value(document.on_reject.as_ref()),
        on_modify: value(document.on_modify.as_ref()),
        comprehension_required: value(document.comprehension_required.as_ref()),
        reason: document.reason.as_ref().map(|reason| reason.value.clone()),
        runtime: document.runtime.as_ref().map(Node::to_json),
    }
}
