//! Is the inner schema contained in the outer one?
//!
//! Asked as: is there a value of the inner schema that the outer one rejects? The solver answers; what it finds counts only
//! when both validators agree.

use serde_json::Value;

use crate::budget::Budget;
use crate::schema::Schema;
use crate::solve::{Answer, Cause, Doubt, Literal, Side, Solver};
use crate::verdict::{Emptiness, Offence, Proof, Reason, Rule, Verdict, Witness};

/// Whether every instance of `inner` is an instance of `outer`.
pub fn contains(outer: &Schema, inner: &Schema, budget: &Budget) -> Verdict {
    if outer.value() == inner.value() {
        return Verdict::Contained(Proof::new(vec![Rule { pointer: String::new(), name: "equal" }]));
    }
    let mut solver = Solver::new(inner.graph(), Some(outer.graph()), budget);
    let state = vec![
        Literal::new(Side::Inner, inner.graph().root),
        Literal::new(Side::Outer, outer.graph().root).negated(),
    ];
    match solver.decide(state) {
        Answer::Empty if solver.steps_left() > 0 => Verdict::Contained(proof(&solver)),
        Answer::Found(instance) if inner.accepts(&instance) && !outer.accepts(&instance) => {
            let offence = offence(outer, &instance);
            Verdict::Escapes(Witness::new(instance, offence))
        }
        Answer::Found(_) => {
            Verdict::Undecided(reason(&solver, Doubt { cause: Cause::Keyword, literal: None }))
        }
        Answer::Empty => Verdict::Undecided(reason(&solver, Doubt { cause: Cause::Steps, literal: None })),
        Answer::Doubt(doubt) => Verdict::Undecided(reason(&solver, doubt)),
    }
}

/// Whether `schema` has any instance at all.
pub fn is_empty(schema: &Schema, budget: &Budget) -> Emptiness {
    let mut solver = Solver::new(schema.graph(), None, budget);
    match solver.decide(vec![Literal::new(Side::Inner, schema.graph().root)]) {
        Answer::Empty if solver.steps_left() > 0 => Emptiness::Empty(proof(&solver)),
        Answer::Found(instance) if schema.accepts(&instance) => Emptiness::Inhabited(instance),
        Answer::Found(_) => {
            Emptiness::Undecided(reason(&solver, Doubt { cause: Cause::Keyword, literal: None }))
        }
        Answer::Empty => Emptiness::Undecided(reason(&solver, Doubt { cause: Cause::Steps, literal: None })),
        Answer::Doubt(doubt) => Emptiness::Undecided(reason(&solver, doubt)),
    }
}

fn proof(solver: &Solver<'_>) -> Proof {
    let mut rules: Vec<Rule> = Vec::new();
    for (literal, name) in solver.rules() {
        let rule = Rule { pointer: solver.graph(*literal).pointer(literal.id()), name };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Proof::new(rules)
}

fn offence(outer: &Schema, instance: &Value) -> Offence {
    let violation = outer.violations(instance).into_iter().next();
    let (instance_path, outer_pointer, message) = violation
        .map(|violation| (violation.instance_path, violation.schema_path, violation.message))
        .unwrap_or_default();
    let keyword = outer_pointer.rsplit('/').next().unwrap_or_default().to_owned();
    Offence { instance_path, keyword, outer_pointer, inner_pointer: None, message }
}

fn reason(_solver: &Solver<'_>, doubt: Doubt) -> Reason {
    Reason {
        keyword: String::new(),
        outer_pointer: None,
        inner_pointer: None,
        message: format!("{doubt:?}"),
        advice: "write the same schema".to_owned(),
    }
}
