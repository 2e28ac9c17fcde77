//! Three JSON texts, one a line: two schemas and an instance. No verdict may be refuted by a validator.

#![no_main]

use bailiwick_narrowing::{
    Budget, Emptiness, Schema, Verdict, contains, contract_form, effective, flatten, intent, is_empty,
};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fuzz_target!(|text: &str| {
    let mut lines = text.lines().map(serde_json::from_str::<Value>);
    let (Some(Ok(outer)), Some(Ok(inner))) = (lines.next(), lines.next()) else { return };
    let instances: Vec<Value> = lines.flatten().collect();
    let (Ok(left), Ok(right)) = (Schema::compile(&outer), Schema::compile(&inner)) else { return };
    let accepts =
        |value: &Value, instance: &Value| Schema::compile(value).map(|schema| schema.accepts(instance)).ok();
    match contains(&left, &right, &Budget::default()) {
        Verdict::Contained(_) => {
            assert!(instances.iter().all(|instance| !right.accepts(instance) || left.accepts(instance)));
        }
        Verdict::Escapes(witness) => {
            assert!(right.accepts(witness.instance()) && !left.accepts(witness.instance()));
        }
        Verdict::Undecided(_) => {}
    }
    match is_empty(&right, &Budget::default()) {
        Emptiness::Empty(_) => assert!(!instances.iter().any(|instance| right.accepts(instance))),
        Emptiness::Inhabited(instance) => assert!(right.accepts(&instance)),
        Emptiness::Undecided(_) => {}
    }
    // What states nothing means the tool.
    let draft = outer.get("$schema").map(|draft| ("$schema".to_owned(), draft.clone()));
    let meant = intent(&outer, &Value::Object(draft.into_iter().collect::<Map<_, _>>()));
    intent(&outer, &inner);
    for instance in &instances {
        assert_eq!(accepts(&meant, instance), Some(left.accepts(instance)));
        let both = effective(&outer, &inner);
        if let Some(accepted) = accepts(&both, instance) {
            assert_eq!(accepted, left.accepts(instance) && right.accepts(instance));
        }
        assert_eq!(accepts(&flatten(&inner), instance), Some(right.accepts(instance)));
        assert_eq!(accepts(&contract_form(&inner), instance), Some(right.accepts(instance)));
    }
});
