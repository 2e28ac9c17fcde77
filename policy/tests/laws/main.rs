//! Laws of deciding, over policies, schemas and calls at random.
//!
//! A default run decides more than 100,000 calls by Cedar; `PROPTEST_CASES=20000` makes a longer one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "PROPTEST_CASES asks for a longer run")]
#![allow(clippy::wildcard_enum_match_arm, missing_docs, unreachable_pub, reason = "tests")]

mod generate;
mod reference;
mod text;

use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{OnModify, OnReject, TimeoutDefault};
use bailiwick_narrowing::Schema;
use bailiwick_policy::{
    AttachedBy, Decider, DeciderInput, Phase, Policy, PreparedCondition, Requirements, Ruling, Truth,
    certainly_false, certainly_true,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

/// Calls that each set of policies decides.
const N_CALLS: usize = 100;

fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 4_000, ..ProptestConfig::default() }
}

fn decider(policies: &[Policy], schema: &Value) -> Decider {
    let attached: Vec<(AttachedBy, &Policy)> =
        policies.iter().map(|policy| (AttachedBy::Agent, policy)).collect();
    let input = Arc::new(Schema::compile(schema).expect("a schema"));
    let input = DeciderInput { agent: "acme.desk", tool: "pay", input: &input, policies: &attached };
    Decider::new(&input).expect("policies that compile")
}

/// The policies that a ruling names, sorted.
fn named(ruling: &Ruling) -> Vec<String> {
    let mut ids: Vec<String> = match ruling {
        Ruling::Allow | Ruling::Error { .. } => Vec::new(),
        Ruling::RequireApproval { requirements } | Ruling::Escalate { requirements } => {
            requirements.asked_by.iter().map(|asker| asker.policy.to_string()).collect()
        }
        Ruling::Deny { reasons } => {
            reasons.iter().filter_map(|reason| Some(reason.policy.as_ref()?.to_string())).collect()
        }
    };
    ids.sort();
    ids
}

#[test]
fn cedar_and_the_reference_never_disagree() {
    let config = config(1_150);
    let is_whole = config.cases >= 1_150;
    let n_decided = std::cell::Cell::new(0);
    let strategy = (
        generate::policies(0..6),
        generate::schema(),
        vec((generate::arguments(), generate::phase(), any::<u8>()), N_CALLS),
    );
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let ran = runner.run(&strategy, |(policies, schema, calls)| {
        let decider = decider(&policies, &schema);
        let input = Schema::compile(&schema).expect("a schema");
        for (arguments, phase, roll) in calls {
            // Most calls are made to fit, the others are left to be refused or not.
            let arguments = if roll < 240 { generate::fitted(arguments, &schema) } else { arguments };
            let ruling = decider.decide(arguments.to_string().as_bytes(), phase.parse().expect("a phase"));
            let (word, mut ids) = if input.accepts(&arguments) {
                n_decided.set(n_decided.get() + 1);
                reference::decide(&policies, &arguments, phase)
            } else {
                ("deny", Vec::new())
            };
            ids.sort();
            prop_assert_eq!(ruling.word(), word, "{:?} for {} at {}", ruling, arguments, phase);
            prop_assert_eq!(named(&ruling), ids, "{:?} for {} at {}", ruling, arguments, phase);
        }
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
    assert!(!is_whole || n_decided.get() >= 100_000, "only {} calls were decided by Cedar", n_decided.get());
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_condition_and_its_schemas_agree(
        condition in generate::condition(),
        calls in vec(generate::arguments(), 40),
        phase in generate::phase(),
    ) {
        let condition = serde_json::from_value(condition).expect("a condition");
        let phase: Phase = phase.parse().expect("a phase");
        let prepared = PreparedCondition::new(&condition).expect("a condition that compiles");
        let compile = |schema: Value| Schema::compile(&schema).expect("a schema");
        let is_true = compile(certainly_true(&prepared, phase));
        let is_false = compile(certainly_false(&prepared, phase));
        for arguments in calls {
            let truth = prepared.truth(&arguments, phase);
            let known = reference::holds(&condition, &arguments, phase.as_str());
            prop_assert_eq!(truth, known.map_or(Truth::Unknown, Truth::from), "{}", arguments);
            prop_assert_eq!(is_true.accepts(&arguments), truth == Truth::True, "{}", arguments);
            prop_assert_eq!(is_false.accepts(&arguments), truth == Truth::False, "{}", arguments);
        }
    }

    #[test]
    fn the_text_alone_decides_the_same(
        policies in generate::policies(0..4),
        schema in generate::schema(),
        calls in vec((generate::arguments(), generate::phase()), 20),
    ) {
        let decider = decider(&policies, &schema);
        let engine = text::Engine::new(&decider.to_cedar().expect("a text"));
        let input = Schema::compile(&schema).expect("a schema");
        for (arguments, phase) in calls.into_iter().filter(|(arguments, _)| input.accepts(arguments)) {
            let ruling = decider.decide(arguments.to_string().as_bytes(), phase.parse().expect("a phase"));
            prop_assert_eq!(engine.decide(&arguments, phase), ruling.word(), "{} at {}", arguments, phase);
        }
    }

    #[test]
    fn one_more_policy_never_permits_more_and_the_order_does_not_matter(
        policies in generate::policies(1..6),
        schema in generate::schema(),
        calls in vec((generate::arguments(), generate::phase()), 20),
    ) {
        let all = decider(&policies, &schema);
        let fewer = decider(&policies[1..], &schema);
        let mut twice: Vec<Policy> = policies.iter().rev().cloned().collect();
        twice.extend(policies.iter().cloned());
        let twice = decider(&twice, &schema);
        for (arguments, phase) in calls {
            let (text, phase) = (arguments.to_string(), phase.parse().expect("a phase"));
            let ruling = all.decide(text.as_bytes(), phase);
            prop_assert!(fewer.decide(text.as_bytes(), phase).strictness() <= ruling.strictness());
            prop_assert_eq!(&twice.decide(text.as_bytes(), phase), &ruling);
            prop_assert_eq!(&all.explain(text.as_bytes(), phase).ruling, &ruling);
            prop_assert!(!matches!(ruling, Ruling::Error { .. }), "{:?}", ruling);
        }
    }

    #[test]
    fn requirements_merge_in_any_order_to_the_strictest(policies in generate::policies(3..4)) {
        let of = |policy: &Policy| Requirements::of(&policy.id, &policy.decision);
        let [a, b, c] = [of(&policies[0]), of(&policies[1]), of(&policies[2])];
        let merge = Requirements::merge;
        prop_assert_eq!(merge(a.clone(), b.clone()), merge(b.clone(), a.clone()));
        prop_assert_eq!(merge(merge(a.clone(), b.clone()), c.clone()), merge(a.clone(), merge(b.clone(), c.clone())));
        prop_assert_eq!(merge(a.clone(), a.clone()), a.clone());
        let both = merge(a.clone(), b.clone());
        prop_assert_eq!(merge(both.clone(), a.clone()), both.clone());
        let accepts = |one: &Requirements| one.on_modify == OnModify::Accept;
        prop_assert_eq!(accepts(&both), accepts(&a) && accepts(&b));
        let is_told = |one: &Requirements| one.on_reject == OnReject::ReturnToAgent;
        prop_assert_eq!(is_told(&both), is_told(&a) && is_told(&b));
        let goes_ahead = |one: &Requirements| one.timeout.is_some_and(|timeout| timeout.default == TimeoutDefault::Allow);
        prop_assert_eq!(goes_ahead(&both), goes_ahead(&a) && goes_ahead(&b));
        let minutes = |one: &Requirements| one.timeout.map_or(u64::MAX, |timeout| timeout.after_minutes);
        prop_assert_eq!(minutes(&both), minutes(&a).min(minutes(&b)));
        for one in [&a, &b] {
            prop_assert!(both.approvals_required >= one.approvals_required);
            prop_assert!(both.comprehension_required >= one.comprehension_required);
            prop_assert!(one.asked_by.iter().all(|asker| both.asked_by.contains(asker)));
        }
    }
}
