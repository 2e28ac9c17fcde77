//! `kind: Policy`.

use bailiwick_bundles::documents::phrony::{self, ConditionDoc, DecisionDoc, Leaf, PolicyDocument};
use bailiwick_bundles::{Diagnostic, Node, code};
use bailiwick_policy::{
    Comparison, Condition, ConditionError, Decision, Policy, PolicyId, PreparedCondition, Scope, Timeout,
};

use serde_json::Value;

use super::{Content, Place, head, value};
use crate::manifest::{ComparisonOrigin, PolicyManifest};
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
    let written = spec.conditions.as_ref().map_or_else(Vec::new, ConditionDoc::leaves);
    if let Some(condition) = &policy.conditions {
        for (comparison, leaf) in condition.comparisons().zip(&written) {
            refuse(session, comparison, leaf);
        }
    }
    if let (Some(values), Some(allow)) = (&policy.allow, &spec.allow) {
        // The field is that of the tool's one argument; here only the values count.
        let listed = Comparison {
            field: "argument".to_owned(),
            op: phrony::Operator::In,
            value: Some(Value::Array(values.clone())),
        };
        if let Err(error @ ConditionError::Number(_)) = listed.check() {
            let diagnostic = Diagnostic::new(&code::INVALID_CONDITION, error.to_string());
            session.push(diagnostic.label(allow.span, "in this list").help(help(&error)));
        }
    }
    let prepared = policy.conditions.as_ref().and_then(|condition| PreparedCondition::new(condition).ok());
    let scope_span = spec.scope.as_ref().map_or(document.metadata.name.span, |scope| scope.span);
    let allow_span = spec.allow.as_ref().map(|allow| allow.span);
    let condition_span = spec.conditions.as_ref().map(ConditionDoc::span).or(allow_span);
    let condition_span = condition_span.unwrap_or(document.metadata.name.span);
    let spans = written.iter().map(|leaf| (leaf.field.span, leaf.op.span));
    // A list of allowed values is one comparison.
    let spans = spans.chain(allow_span.map(|span| (span, span)));
    let comparisons = spans
        .map(|(field, op)| ComparisonOrigin { field: session.origin(field), op: session.origin(op) })
        .collect();
    Some(PolicyManifest {
        head,
        policy,
        scope_origin: session.origin(scope_span),
        condition: prepared,
        condition_origin: session.origin(condition_span),
        comparisons,
    })
}

/// Says what reading cannot see of a comparison: whether its expression and its numbers can be used.
fn refuse(session: &mut Session, comparison: &Comparison, leaf: &Leaf) {
    let Err(error) = comparison.check() else { return };
    let span = leaf.value.as_ref().map_or(leaf.span, |value| value.span);
    // The others were said by reading.
    if matches!(error, ConditionError::Pattern(_) | ConditionError::Number(_)) {
        let diagnostic = Diagnostic::new(&code::INVALID_CONDITION, error.to_string());
        session.push(diagnostic.label(span, "here").help(help(&error)));
    }
}

fn help(error: &ConditionError) -> &'static str {
    match error {
        ConditionError::Pattern(_) => {
            "write an expression without look-around and back-references, and with small repetitions"
        }
        ConditionError::Number(_) => {
            "write a number within ±9007199254740992, with at most 18 decimal places"
        }
        ConditionError::Field(_)
        | ConditionError::Value(..)
        | ConditionError::Dispatch(_)
        | ConditionError::TooDeep
        | ConditionError::TooManyTerms
        | ConditionError::Empty => "correct the comparison",
    }
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
