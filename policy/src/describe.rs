//! The policies of a binding, in words.

use bailiwick_bundles::documents::phrony::DecisionType;

use crate::Policy;

/// One sentence for all policies of a binding: the strictest first, then what is left.
///
/// `denied when amount > 5000; 1 approval when amount > 250; otherwise allowed`
pub fn describe<'p>(policies: impl IntoIterator<Item = &'p Policy>) -> String {
    let mut clauses: Vec<Clause> = policies.into_iter().map(clause).collect();
    clauses.sort_by(|a, b| b.kind.cmp(&a.kind).then_with(|| a.text.cmp(&b.text)));
    clauses.dedup();
    // After a rule that always applies, or an allow-list, nothing is left that would be allowed otherwise.
    let is_settled = |clause: &Clause| match clause.kind {
        DecisionType::Allow => clause.is_conditional,
        DecisionType::RequireApproval | DecisionType::Escalate | DecisionType::Deny => !clause.is_conditional,
    };
    let settled = clauses.iter().any(is_settled);
    let all_allow = clauses.iter().all(|clause| clause.kind == DecisionType::Allow);
    let mut words: Vec<String> = clauses
        .into_iter()
        .filter(|clause| clause.kind != DecisionType::Allow || clause.is_conditional)
        .map(|clause| clause.text)
        .collect();
    if all_allow && words.is_empty() {
        return "allowed".to_owned();
    }
    if !settled {
        words.push("otherwise allowed".to_owned());
    }
    words.join("; ")
}

/// One policy in words.
#[derive(PartialEq)]
struct Clause {
    kind: DecisionType,
    is_conditional: bool,
    text: String,
}

fn clause(policy: &Policy) -> Clause {
    let decision = &policy.decision;
    let kind = decision.kind;
    let action = match kind {
        DecisionType::Allow if policy.conditions.is_none() && policy.allow.is_none() => "allowed".to_owned(),
        DecisionType::Allow => "allowed only".to_owned(),
        DecisionType::RequireApproval => match decision.approvals_required.unwrap_or(1) {
            1 => "1 approval".to_owned(),
            n_approvals => format!("{n_approvals} approvals"),
        },
        DecisionType::Escalate => "escalated".to_owned(),
        DecisionType::Deny => "denied".to_owned(),
    };
    let when = match (&policy.conditions, &policy.allow) {
        (Some(condition), _) => format!(" when {condition}"),
        (None, Some(values)) => {
            format!(" when the argument is one of {}", serde_json::Value::Array(values.clone()))
        }
        (None, None) if kind == DecisionType::Allow => String::new(),
        (None, None) => " always".to_owned(),
    };
    let is_conditional = policy.conditions.is_some() || policy.allow.is_some();
    Clause { kind, is_conditional, text: format!("{action}{when}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(policies: &[serde_json::Value], expected: &str) {
        let policies: Vec<Policy> =
            policies.iter().map(|policy| serde_json::from_value(policy.clone()).expect("a policy")).collect();
        assert_eq!(describe(&policies), expected);
        let reversed: Vec<&Policy> = policies.iter().rev().collect();
        assert_eq!(describe(reversed), expected, "the order of attachments does not show");
    }

    #[test]
    fn the_strictest_comes_first() {
        let deny = json!({
            "id": "a.cap@1.0.0",
            "conditions": { "field": "amount", "op": "gt", "value": 5000 },
            "decision": { "type": "deny" }
        });
        let approve = json!({
            "id": "a.review@1.0.0",
            "conditions": { "all": [
                { "field": "amount", "op": "gt", "value": 250 },
                { "any": [
                    { "field": "currency", "op": "neq", "value": "EUR" },
                    { "not": { "field": "note", "op": "exists" } }
                ] }
            ] },
            "decision": { "type": "require_approval", "approvals_required": 2 }
        });
        check(&[], "allowed");
        check(
            &[approve, deny],
            "denied when amount > 5000; 2 approvals when amount > 250 and (currency ≠ \"EUR\" or not (note is present)); \
             otherwise allowed",
        );
    }

    #[test]
    fn an_allow_list_leaves_nothing_otherwise() {
        let list = json!({
            "id": "a.currencies@1.0.0",
            "conditions": { "field": "currency", "op": "in", "value": ["EUR"] },
            "decision": { "type": "allow" }
        });
        check(&[list], "allowed only when currency in [\"EUR\"]");
        check(&[json!({ "id": "a.audit@1.0.0", "decision": { "type": "allow" } })], "allowed");
    }

    #[test]
    fn an_unconditional_deny_leaves_nothing() {
        check(&[json!({ "id": "boundary:a.b", "decision": { "type": "deny" } })], "denied always");
    }
}
