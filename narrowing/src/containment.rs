//! Is the inner schema contained in the outer one?
//!
//! Asked as: is there a value that the inner schema accepts and the outer one rejects? The solver answers; what it finds
//! counts only when both validators agree.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::budget::Budget;
use crate::compile::children;
use crate::evaluate;
use crate::node::Kind;
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
    let (solver, answer) = search(schema, budget);
    match answer {
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
    let (solver, answer) = search(schema, budget);
    match answer {
        Answer::Empty => Some(proof(&solver)),
        Answer::Found(_) | Answer::Doubt(_) => None,
    }
}

/// Looks for an instance.
fn search<'s>(schema: &'s Schema, budget: &Budget) -> (Solver<'s>, Answer) {
    evaluate::begin();
    let mut solver = Solver::new(schema.graph(), None, budget);
    let answer = solver.decide(vec![Literal::new(Side::Inner, schema.graph().root)]);
    (solver, answer)
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
    let places =
        [doubt.literal, doubt.beside].map(|literal| literal.map(|at| culprit(solver, doubt.cause, at)));
    let keyword_of = |literal: Literal| solver.node(literal).map_or("", |node| node.keyword);
    let keyword =
        places.into_iter().flatten().map(keyword_of).find(|keyword| !keyword.is_empty()).unwrap_or("");
    let pointer_on = |side: Side| {
        let literal = places.into_iter().flatten().find(|literal| literal.side() == side)?;
        Some(solver.graph(literal).pointer(literal.id()))
    };
    let for_validator =
        places.into_iter().flatten().map(|at| solver.kind(at)).find(|kind| kind.is_for_validator());
    let (message, advice) = match (doubt.cause, for_validator) {
        (Cause::Strings | Cause::Keyword, Some(kind)) => of_strings(kind),
        (Cause::Steps, _) => of_steps(solver, places),
        (Cause::Keyword, None) => of_keyword(keyword),
        (cause, _) => of_cause(cause),
    };
    Reason {
        keyword: keyword.to_owned(),
        outer_pointer: pointer_on(Side::Outer),
        inner_pointer: pointer_on(Side::Inner),
        message,
        advice: advice.to_owned(),
    }
}

/// Where the doubt is about a schema as a whole: the one assertion in it that it must be about.
fn culprit(solver: &Solver<'_>, cause: Cause, literal: Literal) -> Literal {
    if cause != Cause::Keyword || solver.node(literal).is_none_or(|node| !node.keyword.is_empty()) {
        return literal;
    }
    let graph = solver.graph(literal);
    let mut seen = BTreeSet::new();
    let mut waiting = vec![literal.id()];
    let mut found = Vec::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let kind = graph.kind(id);
        if matches!(kind, Kind::Opaque(_)) || kind.is_for_validator() {
            found.push(id);
        }
        children(kind, &mut waiting);
    }
    match found.as_slice() {
        [id] => literal.sibling(*id),
        [] | [_, _, ..] => literal,
    }
}

type Words = (String, &'static str);

fn of_strings(kind: &Kind) -> Words {
    if let Kind::Format(format) = kind {
        let message = format!(
            "the format `{}` is known to the validator only, so no string could be shown to pass or fail",
            format.name
        );
        (message, "use the same format on both sides, or a pattern on both")
    } else {
        let message =
            "the pattern is known to the validator only, so no string could be shown to pass or fail";
        (message.to_owned(), "write the pattern without look-around, `\\b` and large counted repetitions")
    }
}

fn of_steps(solver: &Solver<'_>, places: [Option<Literal>; 2]) -> Words {
    let are_told_apart = |literal: Literal| {
        let (Kind::Any(parts) | Kind::One(parts)) = solver.kind(literal) else { return false };
        let graph = solver.graph(literal);
        parts.iter().all(|part| graph.node(*part).is_some_and(|node| !node.tags.is_empty()))
    };
    if places.into_iter().flatten().any(are_told_apart) {
        let message = "the schemas have too many alternatives to compare each with each";
        (message.to_owned(), "split the schema, so that fewer alternatives stand side by side")
    } else {
        of_cause(Cause::Steps)
    }
}

fn of_keyword(keyword: &str) -> Words {
    let message = if keyword.is_empty() {
        "a keyword is not modelled, so nothing that rests on it can be shown".to_owned()
    } else {
        format!("`{keyword}` is not modelled here, so nothing that rests on it can be shown")
    };
    let otherwise = "repeat the keyword as it stands in the outer schema, or express it with other keywords";
    (message, instead_of(keyword).unwrap_or(otherwise))
}

fn of_cause(cause: Cause) -> Words {
    let (message, advice) = match cause {
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
        Cause::Keyword => return of_keyword(""),
        Cause::Strings => (
            "the patterns or formats are known to the validator only, so no string could be shown to pass or fail",
            "use the same pattern or format on both sides",
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
    (message.to_owned(), advice)
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
        "format" => Some("use the same format on both sides, or a pattern on both"),
        _ => None,
    }
}
