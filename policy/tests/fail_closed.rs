//! Every way in which an engine is known to fail open, tried: the call is denied, or the policy is refused.
//!
//! Each runs on a small stack and on a large one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(missing_docs, clippy::needless_pass_by_value, reason = "tests")]

use std::sync::Arc;

use bailiwick_narrowing::Schema;
use bailiwick_policy::{
    AttachedBy, Comparison, Condition, Decider, DeciderInput, Phase, Policy, PreparedCondition, Ruling,
};
use serde_json::{Value, json};

/// Runs `test` where 256 KiB, 2 MiB and 8 MiB of stack are left.
fn on_each_stack(test: impl Fn() + Send + Sync + Copy + 'static) {
    for bytes in [256 << 10, 2 << 20, 8 << 20] {
        std::thread::Builder::new()
            .stack_size(bytes)
            .spawn(test)
            .expect("a thread")
            .join()
            .expect("no panic");
    }
}

fn policy(rule: Value) -> Policy {
    let mut policy = json!({ "id": "acme.rule@1.0.0" });
    policy.as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
    serde_json::from_value(policy).expect("a policy")
}

fn deny(conditions: Value) -> Policy {
    policy(json!({ "conditions": conditions, "decision": { "type": "deny" } }))
}

fn try_decider(schema: &Value, policies: &[Policy]) -> Result<Decider, String> {
    let attached: Vec<(AttachedBy, &Policy)> =
        policies.iter().map(|policy| (AttachedBy::Binding, policy)).collect();
    let input = Arc::new(Schema::compile(schema).expect("a schema"));
    let input = DeciderInput { agent: "acme.desk", tool: "pay", input: &input, policies: &attached };
    Decider::new(&input).map_err(|error| error.to_string())
}

fn decide(schema: &Value, policies: &[Policy], arguments: &str) -> Ruling {
    try_decider(schema, policies).expect("policies that compile").decide(arguments.as_bytes(), Phase::CALL)
}

fn open() -> Value {
    json!({ "type": "object" })
}

fn check_denied(schema: &Value, policies: &[Policy], arguments: &str) {
    let ruling = decide(schema, policies, arguments);
    assert!(matches!(ruling, Ruling::Deny { .. }), "{ruling:?} for {arguments:.80}");
}

#[test]
fn rows_1_and_5_and_6_a_missing_argument_does_not_lift_a_deny() {
    on_each_stack(|| {
        for condition in [
            json!({ "field": "amount", "op": "gt", "value": 10 }),
            json!({ "not": { "field": "amount", "op": "lte", "value": 10 } }),
            json!({ "any": [{ "field": "amount", "op": "gt", "value": 10 }, { "field": "b", "op": "eq", "value": 1 }] }),
        ] {
            check_denied(&open(), &[deny(condition)], "{}");
        }
    });
}

#[test]
fn rows_2_and_7_an_argument_of_another_type_does_not_lift_a_deny() {
    on_each_stack(|| {
        let policy = deny(json!({ "field": "amount", "op": "gt", "value": 10 }));
        for value in ["\"11\"", "\"9\"", "null", "true", "[]", "{}", "[11]", "{\"amount\":1}"] {
            check_denied(&open(), std::slice::from_ref(&policy), &format!("{{\"amount\": {value}}}"));
        }
    });
}

#[test]
fn row_3_no_number_overflows() {
    on_each_stack(|| {
        let policies = [deny(json!({ "field": "amount", "op": "gt", "value": 10 }))];
        for (schema, n) in [(open(), "9007199254740992"), (open(), "1e308"), (open(), "922337203685477.6")] {
            check_denied(&schema, &policies, &format!("{{\"amount\": {n}}}"));
        }
        let integer = json!({ "type": "object", "properties": { "amount": { "type": "integer" } } });
        for n in ["9007199254740992", "1e300", "9.3e18"] {
            check_denied(&integer, &policies, &format!("{{\"amount\": {n}}}"));
        }
        let below = [deny(json!({ "field": "amount", "op": "lt", "value": 10 }))];
        check_denied(&integer, &below, "{\"amount\": -1e300}");
        assert_eq!(decide(&integer, &below, "{\"amount\": 1e300}"), Ruling::Allow);
        // Not a number that anything holds exactly: no call at all.
        check_denied(&integer, &below, "{\"amount\": 1e400}");
        check_denied(&integer, &below, "{\"amount\": 9223372036854775808}");
    });
}

#[test]
fn row_4_more_decimals_than_a_grid_has_are_compared_exactly() {
    on_each_stack(|| {
        let policies = [deny(json!({ "field": "amount", "op": "gt", "value": 10.1234 }))];
        check_denied(&open(), &policies, "{\"amount\": 10.12345}");
        assert_eq!(decide(&open(), &policies, "{\"amount\": 10.12335}"), Ruling::Allow);
        let finer = [deny(json!({ "field": "amount", "op": "gt", "value": 10.12345 }))];
        check_denied(&open(), &finer, "{\"amount\": 10.123451}");
        assert_eq!(decide(&open(), &finer, "{\"amount\": 10.12345}"), Ruling::Allow);
    });
}

#[test]
fn row_8_an_allow_list_that_is_unknown_lets_nothing_pass() {
    on_each_stack(|| {
        let list = policy(json!({
            "conditions": { "field": "amount", "op": "lte", "value": 10 }, "decision": { "type": "allow" }
        }));
        for arguments in ["{}", "{\"amount\": \"1\"}", "{\"amount\": null}", "{\"amount\": 11}"] {
            check_denied(&open(), std::slice::from_ref(&list), arguments);
        }
        assert_eq!(decide(&open(), &[list], "{\"amount\": 10}"), Ruling::Allow);
    });
}

#[test]
fn row_9_a_long_condition_is_evaluated_or_refused() {
    on_each_stack(|| {
        let terms = |n: i64| {
            let terms: Vec<Value> =
                (0..n).map(|at| json!({ "field": "amount", "op": "neq", "value": at })).collect();
            json!({ "all": terms })
        };
        check_denied(&open(), &[deny(terms(256))], "{\"amount\": -1}");
        assert_eq!(decide(&open(), &[deny(terms(256))], "{\"amount\": 255}"), Ruling::Allow);
        let error = try_decider(&open(), &[deny(terms(257))]).expect_err("too long");
        assert!(error.contains("too many comparisons"), "{error}");
    });
}

#[test]
fn row_10_a_deep_condition_is_evaluated_or_refused() {
    on_each_stack(|| {
        // `n` conditions inside each other, the comparison counted.
        let nested = |n: usize| {
            (1..n).fold(json!({ "field": "amount", "op": "gt", "value": 1 }), |inner, at| match at % 3 {
                0 => json!({ "all": [inner] }),
                1 => json!({ "any": [inner, { "field": "b", "op": "exists", "value": true }] }),
                _ => json!({ "not": inner }),
            })
        };
        check_denied(&open(), &[deny(nested(32))], "{}");
        assert!(
            try_decider(&open(), &[deny(nested(33))]).expect_err("too deep").contains("inside each other")
        );
        // One that nobody could even walk by recursion is refused before it is.
        let leaf = Condition::Leaf(Comparison {
            field: "a".to_owned(),
            op: bailiwick_bundles::documents::phrony::Operator::Exists,
            value: None,
        });
        let mut deep = leaf;
        for _ in 0..200 {
            deep = Condition::Not { not: Box::new(deep) };
        }
        assert!(PreparedCondition::new(&deep).is_err());
    });
}

#[test]
fn row_11_no_argument_becomes_an_entity_or_an_extension() {
    on_each_stack(|| {
        let policies = [deny(json!({ "not": { "field": "owner", "op": "eq", "value": "me" } }))];
        for arguments in [
            r#"{"owner": {"__entity": {"type": "Agent", "id": "acme.desk"}}}"#,
            r#"{"owner": {"__extn": {"fn": "decimal", "arg": "1.0"}}}"#,
            r#"{"owner": {"__expr": "\"me\""}}"#,
            r#"{"__entity": {"type": "Tool", "id": "pay"}}"#,
        ] {
            check_denied(&open(), &policies, arguments);
        }
    });
}

#[test]
fn rows_12_and_13_arguments_that_the_schema_refuses_are_no_call() {
    on_each_stack(|| {
        let schema = json!({
            "type": "object",
            "properties": { "amount": { "type": "integer" } },
            "required": ["amount"],
            "additionalProperties": false
        });
        for arguments in [
            "{}",
            r#"{"amount": "1"}"#,
            r#"{"amount": 1.5}"#,
            r#"{"amount": 1, "extra": 2}"#,
            r#"{"amount": {"__entity": {"type": "Agent", "id": "a"}}}"#,
        ] {
            check_denied(&schema, &[], arguments);
        }
        assert_eq!(decide(&schema, &[], r#"{"amount": 1.0}"#), Ruling::Allow);
    });
}

#[test]
fn row_14_floats_nulls_and_huge_integers_are_denied_or_compared_never_skipped() {
    on_each_stack(|| {
        let policies = [deny(json!({ "field": "amount", "op": "gte", "value": 0.5 }))];
        for value in ["0.5", "null", "1e18", "9007199254740993", "0.50000000000000001e1"] {
            check_denied(&open(), &policies, &format!("{{\"amount\": {value}}}"));
        }
        assert_eq!(decide(&open(), &policies, "{\"amount\": 0.4999}"), Ruling::Allow);
    });
}

#[test]
fn row_15_a_key_that_stands_twice_is_no_call() {
    on_each_stack(|| {
        let policies = [deny(json!({ "field": "amount", "op": "gt", "value": 10 }))];
        for arguments in [
            r#"{"amount": 11, "amount": 1}"#,
            r#"{"amount": 1, "amount": 11}"#,
            r#"{"amount": 1, "am\u006funt": 11}"#,
            r#"{"amount": 1, "b": {"c": 1, "c": 1}}"#,
        ] {
            check_denied(&open(), &policies, arguments);
        }
    });
}

#[test]
fn rows_16_and_17_what_is_compiled_is_scoped_and_total() {
    on_each_stack(|| {
        let policies = [
            deny(json!({ "field": "amount", "op": "gt", "value": 10 })),
            policy(json!({ "id": "acme.other@1.0.0", "decision": { "type": "escalate" } })),
        ];
        let text = try_decider(&open(), &policies).unwrap().to_cedar().unwrap();
        let heads = text.policies.matches("\nforbid(").count() + text.policies.matches("\npermit(").count();
        assert_eq!(text.policies.matches("principal == Agent::\"acme.desk\"").count(), heads);
        assert_eq!(text.policies.matches("action in [").count(), heads);
        assert_eq!(text.policies.matches("resource == Tool::\"pay\"").count(), heads);
        assert_eq!(heads, 3, "{}", text.policies);
        for arithmetic in [" + ", " - ", " * "] {
            assert!(!text.policies.contains(arithmetic));
        }
    });
}

#[test]
fn an_unconditional_deny_is_honoured_and_arguments_that_are_none_are_denied() {
    on_each_stack(|| {
        check_denied(&open(), &[policy(json!({ "decision": { "type": "deny" } }))], "{}");
        let long = format!("{{\"a\": \"{}\"}}", "a".repeat(10 << 20));
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        for arguments in ["", "null", "[]", "1", "{", "{} {}", "{\"a\": NaN}", "\u{feff}{}", &long, &deep] {
            check_denied(&open(), &[], arguments);
        }
        let decider = try_decider(&open(), &[]).unwrap();
        assert!(matches!(decider.decide(b"{\"a\": \"\xff\"}", Phase::CALL), Ruling::Deny { .. }));
        assert_eq!(decider.decide(b"{}", Phase::CALL), Ruling::Allow);
    });
}

#[test]
fn a_decider_is_shared_between_threads() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    let decider =
        try_decider(&open(), &[deny(json!({ "field": "amount", "op": "gt", "value": 10 }))]).unwrap();
    is_shared(&decider);
    std::thread::scope(|scope| {
        for at in 0..8 {
            let decider = &decider;
            scope.spawn(move || {
                for n in 0..50 {
                    let word =
                        decider.decide(format!("{{\"amount\": {}}}", at + n).as_bytes(), Phase::CALL).word();
                    assert_eq!(word == "deny", at + n > 10);
                }
            });
        }
    });
}
