//! The labelled pairs: all of them decided, none wrongly, and never against `jsonschema::canonical`.

use bailiwick_narrowing::{Budget, Schema, Verdict, contains};
use jsonschema::canonical::{self, Containment};
use serde_json::Value;

#[test]
fn every_labelled_pair_is_decided_rightly() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/narrowing.json")).unwrap();
    let mut faults = Vec::new();
    for case in &cases {
        let outer = Schema::compile(&case["old"]).unwrap();
        let inner = Schema::compile(&case["new"]).unwrap();
        let narrows = case["truth"] == "narrows";
        match contains(&outer, &inner, &Budget::default()) {
            Verdict::Contained(_) if narrows => {}
            Verdict::Escapes(witness) if !narrows => {
                assert!(inner.accepts(witness.instance()) && !outer.accepts(witness.instance()));
            }
            verdict @ (Verdict::Contained(_) | Verdict::Escapes(_) | Verdict::Undecided(_)) => {
                faults.push(format!("{}: {verdict:?}", case["id"]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_verdict_contradicts_the_canonical_form() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/narrowing.json")).unwrap();
    let canonical = |value: &Value| canonical::options().should_validate_formats(true).canonicalize(value);
    // The largest ones take the canonical form seconds each.
    for case in cases.iter().filter(|case| case["family"] != "scale") {
        for (outer, inner) in [(&case["old"], &case["new"]), (&case["new"], &case["old"])] {
            let (Ok(left), Ok(right)) = (canonical(outer), canonical(inner)) else { continue };
            let verdict = contains(
                &Schema::compile(outer).unwrap(),
                &Schema::compile(inner).unwrap(),
                &Budget::default(),
            );
            let contradicts = match left.covers(&right) {
                Ok(Containment::Yes) => matches!(verdict, Verdict::Escapes(_)),
                Ok(Containment::No) => matches!(verdict, Verdict::Contained(_)),
                Ok(Containment::Unknown) | Err(_) => false,
            };
            assert!(!contradicts, "{}: {verdict:?}", case["id"]);
        }
    }
}
