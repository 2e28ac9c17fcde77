//! The labelled pairs: no wrong answer, ever.

use bailiwick_narrowing::{Budget, Schema, Verdict, contains};
use serde_json::Value;

#[test]
fn no_labelled_pair_is_answered_wrongly() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/narrowing.json")).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let outer = Schema::compile(&case["old"]).unwrap();
        let inner = Schema::compile(&case["new"]).unwrap();
        let narrows = case["truth"] == "narrows";
        match contains(&outer, &inner, &Budget::default()) {
            Verdict::Contained(_) if narrows => {}
            Verdict::Escapes(witness) if !narrows => {
                assert!(inner.accepts(witness.instance()) && !outer.accepts(witness.instance()));
            }
            Verdict::Undecided(_) => {}
            Verdict::Contained(_) | Verdict::Escapes(_) => wrong.push(case["id"].to_string()),
        }
    }
    assert!(wrong.is_empty(), "wrong answers: {wrong:?}");
}
