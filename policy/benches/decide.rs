//! How long a decision takes, and compiling what decides: `cargo bench -p bailiwick-policy`.
//!
//! Each row is the median and the 99th percentile of many runs on one thread.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench prints its rows, and fails loudly"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_narrowing::Schema;
use bailiwick_policy::{AttachedBy, Decider, DeciderCompiler, DeciderInput, Phase, Policy};
use serde_json::{Value, json};

const ARGUMENTS: &[u8] = br#"{"order_id": "A-1027", "amount": 180, "currency": "EUR", "reason": "damaged", "note": "asked twice"}"#;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "order_id": { "type": "string", "maxLength": 40 },
            "amount": { "type": "integer", "minimum": 1, "maximum": 10000 },
            "currency": { "type": "string", "enum": ["EUR", "USD", "GBP"] },
            "reason": { "type": "string" },
            "note": { "type": "string", "maxLength": 500 }
        },
        "required": ["order_id", "amount", "currency"],
        "additionalProperties": false
    })
}

/// Five kinds of policy, over and over.
fn policies(n: usize) -> Vec<Policy> {
    let kinds = [
        json!({ "conditions": { "field": "amount", "op": "gt", "value": 5000 }, "decision": { "type": "deny" } }),
        json!({ "conditions": { "field": "amount", "op": "gt", "value": 250 },
            "decision": { "type": "require_approval", "approvals_required": 1 } }),
        json!({ "conditions": { "field": "currency", "op": "in", "value": ["EUR", "USD"] }, "decision": { "type": "allow" } }),
        json!({ "conditions": { "all": [
            { "field": "reason", "op": "exists" }, { "field": "reason", "op": "eq", "value": "fraud" },
            { "field": "amount", "op": "gte", "value": 100 } ] }, "decision": { "type": "escalate" } }),
        json!({ "conditions": { "all": [
            { "field": "note", "op": "exists" }, { "field": "note", "op": "contains", "value": "chargeback" } ] },
            "decision": { "type": "require_approval", "approvals_required": 2 } }),
    ];
    let policy = |(at, mut policy): (usize, Value)| {
        policy["id"] = json!(format!("support.rule-{at}@1.0.0"));
        serde_json::from_value(policy).expect("a policy")
    };
    kinds.into_iter().cycle().take(n).enumerate().map(policy).collect()
}

fn decider(tool: &str, input: &Arc<Schema>, policies: &[Policy]) -> Decider {
    compile(&mut DeciderCompiler::default(), tool, input, policies)
}

fn compile(compiler: &mut DeciderCompiler, tool: &str, input: &Arc<Schema>, policies: &[Policy]) -> Decider {
    let attached: Vec<(AttachedBy, &Policy)> =
        policies.iter().map(|policy| (AttachedBy::Agent, policy)).collect();
    compiler
        .compile(&DeciderInput { agent: "support.desk", tool, input, policies: &attached })
        .expect("a decider")
}

fn row(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index"
        )]
        let at = ((times.len() - 1) as f64 * share) as usize;
        times.get(at).map_or(f64::NAN, Duration::as_secs_f64) * 1e6
    };
    println!("{name:<58} p50 {:>9.1} us   p99 {:>9.1} us", at(0.5), at(0.99));
}

fn measure(n: usize, mut run: impl FnMut()) -> Vec<Duration> {
    for _ in 0..n / 10 {
        run();
    }
    let time = || {
        let begun = Instant::now();
        run();
        begun.elapsed()
    };
    std::iter::repeat_with(time).take(n).collect()
}

fn main() {
    let input = Arc::new(Schema::compile(&schema()).expect("a schema"));
    let five = policies(5);
    let one = decider("issue_refund", &input, &five);
    assert_eq!(one.decide(ARGUMENTS, Phase::CALL).word(), "allow");
    row(
        "decide, 5 policies, JSON arguments in, decision out",
        &mut measure(20_000, || {
            black_box(one.decide(black_box(ARGUMENTS), Phase::CALL));
        }),
    );
    let many: Vec<Decider> = (0..200).map(|at| decider(&format!("tool_{at}"), &input, &five)).collect();
    let mut next = 0;
    row(
        "the same among 1,000 policies over 200 bindings",
        &mut measure(20_000, || {
            next = (next + 7) % many.len();
            if let Some(decider) = many.get(next) {
                black_box(decider.decide(black_box(ARGUMENTS), Phase::CALL));
            }
        }),
    );
    let ten = policies(10);
    row(
        "compile 10 policies for 20 bindings, one at each",
        &mut measure(200, || {
            let mut compiler = DeciderCompiler::default();
            for at in 0..20 {
                let slice = ten.get(at % 10..=at % 10).unwrap_or_default();
                black_box(compile(&mut compiler, "issue_refund", &input, slice));
            }
        }),
    );
    row(
        "compile 10 policies for 20 bindings, all at each",
        &mut measure(100, || {
            let mut compiler = DeciderCompiler::default();
            for _ in 0..20 {
                black_box(compile(&mut compiler, "issue_refund", &input, &ten));
            }
        }),
    );
    row(
        "the text of 5 policies",
        &mut measure(1000, || {
            black_box(one.to_cedar().expect("a text"));
        }),
    );
}
