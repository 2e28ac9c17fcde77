//! Pairs that once were, or easily are, taken for contained: none of them is.
//!
//! `data/traps.json` says why for each. A typed error counts as a refusal too.

use bailiwick_narrowing::{Budget, Schema, Verdict, contains};
use serde_json::Value;

#[test]
fn none_is_contained() {
    let pairs: Vec<Value> = serde_json::from_str(include_str!("data/traps.json")).expect("JSON");
    assert!(pairs.len() > 10);
    let mut refused = Vec::new();
    for pair in &pairs {
        let (Ok(outer), Ok(inner)) = (Schema::compile(&pair["old"]), Schema::compile(&pair["new"])) else {
            refused.push(pair["id"].as_str().expect("named"));
            continue;
        };
        let verdict = contains(&outer, &inner, &Budget::default());
        assert!(!matches!(verdict, Verdict::Contained(_)), "{}: {}", pair["id"], pair["why"]);
    }
    assert_eq!(refused, ["a4", "a4b", "r13", "r16"], "these do not compile, the others are compared");
}
