//! Is the inner schema contained in the outer one?

use serde_json::json;

use crate::budget::Budget;
use crate::schema::Schema;
use crate::verdict::{Emptiness, Offence, Proof, Reason, Rule, Verdict, Witness};

/// Whether every instance of `inner` is an instance of `outer`.
pub fn contains(outer: &Schema, inner: &Schema, _budget: &Budget) -> Verdict {
    if outer.value() == inner.value() {
        return Verdict::Contained(Proof::new(vec![Rule { pointer: String::new(), name: "equal" }]));
    }
    let samples = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(0.5),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
    ];
    for instance in samples {
        if inner.accepts(&instance)
            && let Some(violation) = outer.violations(&instance).into_iter().next()
        {
            let keyword = violation.schema_path.rsplit('/').next().unwrap_or_default().to_owned();
            let offence = Offence {
                instance_path: violation.instance_path,
                keyword,
                outer_pointer: violation.schema_path,
                inner_pointer: None,
                message: violation.message,
            };
            return Verdict::Escapes(Witness::new(instance, offence));
        }
    }
    Verdict::Undecided(undecided())
}

/// Whether `schema` has any instance at all.
pub fn is_empty(_schema: &Schema, _budget: &Budget) -> Emptiness {
    Emptiness::Undecided(undecided())
}

fn undecided() -> Reason {
    Reason {
        keyword: String::new(),
        outer_pointer: None,
        inner_pointer: None,
        message: "the schemas differ".to_owned(),
        advice: "write the same schema".to_owned(),
    }
}
