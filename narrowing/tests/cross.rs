//! Every ordered pair of the distinct schemas of the case file, tried against a pool of instances.
//!
//! No `Contained` may be refuted by an instance, and no witness may fail validation.

mod pool;

use bailiwick_narrowing::{Budget, Emptiness, Schema, Verdict, contains, is_empty};
use serde_json::Value;

#[test]
fn no_instance_refutes_a_verdict() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/narrowing.json")).unwrap();
    let mut values: Vec<&Value> = Vec::new();
    for value in cases.iter().flat_map(|case| [&case["old"], &case["new"]]) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let instances = pool::instances(&values, cases.iter().filter_map(|case| case.get("witness")));
    let schemas: Vec<Schema> = values.iter().map(|value| Schema::compile(value).unwrap()).collect();
    let accepted: Vec<Vec<bool>> = schemas
        .iter()
        .map(|schema| instances.iter().map(|instance| schema.accepts(instance)).collect())
        .collect();

    let mut tally = [0_usize; 3];
    let mut faults = Vec::new();
    let mut missed = 0_usize;
    for (inner, inside) in schemas.iter().zip(&accepted) {
        if let Emptiness::Empty(_) = is_empty(inner, &Budget::default())
            && let Some(at) = inside.iter().position(|accepts| *accepts)
        {
            faults.push(format!("`{}` is not empty: {}", inner.value(), instances[at]));
        }
        for (outer, outside) in schemas.iter().zip(&accepted) {
            let refuting = inside.iter().zip(outside).position(|(inside, outside)| *inside && !*outside);
            match contains(outer, inner, &Budget::default()) {
                Verdict::Contained(_) => {
                    tally[0] += 1;
                    if let Some(at) = refuting {
                        faults.push(format!(
                            "{} in {}: refuted by {}",
                            inner.value(),
                            outer.value(),
                            instances[at]
                        ));
                    }
                }
                Verdict::Escapes(witness) => {
                    tally[1] += 1;
                    if !inner.accepts(witness.instance()) || outer.accepts(witness.instance()) {
                        faults.push(format!(
                            "{} in {}: {}",
                            inner.value(),
                            outer.value(),
                            witness.instance()
                        ));
                    }
                }
                Verdict::Undecided(reason) => {
                    let stands = |schema: &Schema, pointer: &Option<String>| {
                        pointer.as_deref().is_some_and(|pointer| schema.value().pointer(pointer).is_some())
                    };
                    if !stands(outer, &reason.outer_pointer) || !stands(inner, &reason.inner_pointer) {
                        faults.push(format!("{} in {}: {reason:?}", inner.value(), outer.value()));
                    }
                    tally[2] += 1;
                    missed += usize::from(refuting.is_some());
                }
            }
        }
    }
    println!("{} schemas, {} instances", schemas.len(), instances.len());
    println!(
        "contained {}, escapes {}, undecided {} ({missed} refuted by the pool)",
        tally[0], tally[1], tally[2]
    );
    assert!(
        faults.is_empty(),
        "{} faults, for example:\n{}",
        faults.len(),
        faults[..faults.len().min(10)].join("\n")
    );
    // A guard against deciding less, not a target.
    assert!(tally[2] * 1_000 < tally.iter().sum::<usize>(), "too much is undecided: {}", tally[2]);
}
