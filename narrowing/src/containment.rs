//! Is the inner schema contained in the outer one?
//!
//! Asked as: is there a value that the inner schema accepts and the outer one rejects? The solver answers; what it finds
//! counts only when both validators agree.

use serde_json::Value;

use crate::budget::Budget;
use crate::evaluate;
use crate::offence::offence;
use crate::schema::Schema;
use crate::solve::{Answer, Cause, Doubt, Literal, Solver};
use crate::verdict::{Emptiness, Offence, Proof, Reason, Rule, Side, Verdict, Witness};

/// Whether every instance of `inner` is an instance of `outer`.
///
/// `Undecided` must be treated as a refusal. The verdict depends on the schemas and the budget alone.
///
/// ```
/// use bailiwick_narrowing::{Budget, Schema, Verdict, contains};
/// use serde_json::json;
///
/// let outer = Schema::compile(&json!({"type": "string", "pattern": "^https?://"}))?;
/// let inner = Schema::compile(&json!({"type": "string", "pattern": "^https://api\\."}))?;
/// assert!(matches!(contains(&outer, &inner, &Budget::default()), Verdict::Contained(_)));
///
/// let Verdict::Escapes(witness) = contains(&inner, &outer, &Budget::default()) else { panic!() };
/// assert_eq!(witness.instance(), "http://");
/// assert_eq!(witness.offence().keyword, "pattern");
/// # Ok::<(), bailiwick_narrowing::SchemaError>(())
/// ```
pub fn contains(outer: &Schema, inner: &Schema, budget: &Budget) -> Verdict {
    evaluate::begin();
    if outer.value() == inner.value() {
        return Verdict::Contained(Proof::new(vec![Rule {
            side: Side::Outer,
            pointer: String::new(),
            name: "equal",
        }]));
    }
    let mut solver = Solver::new(inner.graph(), Some(outer.graph()), budget);
    let rejected = Literal::new(Side::Outer, outer.graph().root).negated();
    let state = vec![Literal::new(Side::Inner, inner.graph().root), rejected];
    match solver.decide(state) {
        Answer::Empty => Verdict::Contained(proof(&solver)),
        Answer::Found(instance) => match (inner.opinion(&instance), outer.opinion(&instance)) {
            (Some(true), Some(false)) => {
                let offence = offence(outer.graph(), inner.graph(), &instance)
                    .unwrap_or_else(|| reported_offence(outer, &instance));
                Verdict::Escapes(Witness::new(instance, offence))
            }
            (None, _) => undecided(reason(&solver, unasked(Side::Inner, inner))),
            (_, None) => undecided(reason(&solver, unasked(Side::Outer, outer))),
            (Some(_), Some(_)) => undecided(reason(&solver, unmodelled(&solver))),
        },
        Answer::Doubt(doubt) => undecided(reason(&solver, doubt)),
    }
}

/// A reason names a place in both schemas: the whole of one, where no part of it is known to matter.
fn undecided(mut reason: Reason) -> Verdict {
    reason.outer_pointer.get_or_insert_default();
    reason.inner_pointer.get_or_insert_default();
    Verdict::Undecided(reason)
}

/// Whether `schema` has any instance at all.
///
/// ```
/// use bailiwick_narrowing::{Budget, Emptiness, Schema, is_empty};
/// use serde_json::json;
///
/// let schema = Schema::compile(&json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1}))?;
/// assert!(matches!(is_empty(&schema, &Budget::default()), Emptiness::Empty(_)));
/// # Ok::<(), bailiwick_narrowing::SchemaError>(())
/// ```
pub fn is_empty(schema: &Schema, budget: &Budget) -> Emptiness {
    evaluate::begin();
    let mut solver = Solver::new(schema.graph(), None, budget);
    match solver.decide(vec![Literal::new(Side::Inner, schema.graph().root)]) {
        Answer::Empty => Emptiness::Empty(proof(&solver)),
        Answer::Found(instance) => match schema.opinion(&instance) {
            Some(true) => Emptiness::Inhabited(instance),
            Some(false) => Emptiness::Undecided(reason(&solver, unmodelled(&solver))),
            None => Emptiness::Undecided(reason(&solver, unasked(Side::Inner, schema))),
        },
        Answer::Doubt(doubt) => Emptiness::Undecided(reason(&solver, doubt)),
    }
}

/// The proof that `schema` has no instance, where there is one. Cheaper than [`is_empty`]: an instance that is found is not
/// confirmed, since nobody is shown it.
pub fn emptiness_proof(schema: &Schema, budget: &Budget) -> Option<Proof> {
    evaluate::begin();
    let mut solver = Solver::new(schema.graph(), None, budget);
    match solver.decide(vec![Literal::new(Side::Inner, schema.graph().root)]) {
        Answer::Empty => Some(proof(&solver)),
        Answer::Found(_) | Answer::Doubt(_) => None,
    }
}

/// A value was found that the validator rejects, so what was left out decides.
fn unmodelled(solver: &Solver<'_>) -> Doubt {
    Doubt::new(Cause::Keyword, solver.left_out())
}

/// A value was found that the validator is not asked about.
fn unasked(side: Side, schema: &Schema) -> Doubt {
    Doubt::new(Cause::Effort, Some(Literal::new(side, schema.graph().root)))
}

fn proof(solver: &Solver<'_>) -> Proof {
    let mut rules: Vec<Rule> = Vec::new();
    for (literal, name) in solver.rules() {
        let pointer = solver.graph(*literal).pointer(literal.id());
        let rule = Rule { side: literal.side(), pointer, name };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Proof::new(rules)
}

/// The validator's own account, where an assertion is not modelled here.
fn reported_offence(outer: &Schema, instance: &Value) -> Offence {
    let violation = outer.violations(instance).into_iter().next();
    let (instance_path, outer_pointer, message) = violation
        .map(|violation| (violation.instance_path, violation.schema_path, violation.message))
        .unwrap_or_default();
    let keyword = outer_pointer.rsplit('/').next().unwrap_or_default().to_owned();
    Offence { instance_path, keyword, outer_pointer, inner_pointer: None, message }
}

fn reason(solver: &Solver<'_>, doubt: Doubt) -> Reason {
    let (message, advice) = match doubt.cause {
        Cause::Steps => (
            "the schemas leave too many combinations to go through",
            "write fewer alternatives side by side, or give each alternative a constant property that tells it apart",
        ),
        Cause::Depth => (
            "the schemas nest, or choose, too many levels deep",
            "flatten the schema, or let the inner schema repeat the outer one with fewer changes",
        ),
        Cause::States => (
            "the patterns need too many states to compare",
            "shorten counted repetitions such as `.{20}`, or repeat the outer pattern and add a second one",
        ),
        Cause::Keyword => (
            "the keyword is not modelled, so nothing that rests on it can be shown",
            "repeat the keyword as it stands in the outer schema, or express it with other keywords",
        ),
        Cause::Strings => (
            "the pattern or format is known to the validator only, so no string could be shown to pass or fail",
            "use a pattern without look-around, or the same format on both sides",
        ),
        Cause::Numbers => (
            "no number was found, and that there is none could not be shown",
            "use bounds and steps within 2^53 and few decimal places",
        ),
        Cause::Effort => (
            "a value was found, but to check it would take too many steps, or its patterns too much memory",
            "let references fan out less, nest fewer `unevaluatedProperties`, and shorten counted repetitions",
        ),
        Cause::Counting => (
            "the items or properties that must exist, or may, could not all be gone through",
            "use smaller counts, or state `items` and `properties` instead of `contains` and patterns",
        ),
    };
    let places = [doubt.literal, doubt.beside];
    let keyword_of = |literal: Literal| solver.node(literal).map_or("", |node| node.keyword);
    let keyword =
        places.into_iter().flatten().map(keyword_of).find(|keyword| !keyword.is_empty()).unwrap_or("");
    let pointer_on = |side: Side| {
        let literal = places.into_iter().flatten().find(|literal| literal.side() == side)?;
        Some(solver.graph(literal).pointer(literal.id()))
    };
    let advice = if doubt.cause == Cause::Keyword { instead_of(keyword).unwrap_or(advice) } else { advice };
    Reason {
        keyword: keyword.to_owned(),
        outer_pointer: pointer_on(Side::Outer),
        inner_pointer: pointer_on(Side::Inner),
        message: message.to_owned(),
        advice: advice.to_owned(),
    }
}

/// What to write instead of a keyword that is not modelled.
fn instead_of(keyword: &str) -> Option<&'static str> {
    match keyword {
        "$dynamicRef" | "$recursiveRef" => Some("write a `$ref` to the one schema that is meant"),
        "unevaluatedProperties" => Some(
            "write `additionalProperties` beside `properties`, or let fewer alternatives stand beside the keyword",
        ),
        "unevaluatedItems" => {
            Some("write `items` beside `prefixItems`, or let fewer alternatives stand beside the keyword")
        }
        "contentEncoding" | "contentMediaType" => Some(
            "write the schema in draft 2019-09 or later, where the keyword only describes, and add a `pattern`",
        ),
        "pattern" | "patternProperties" => Some("write the pattern without look-around"),
        _ => None,
    }
}
