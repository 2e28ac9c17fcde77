//! What a verdict shows: the rule, the offending part with both places, the reason.

#![allow(clippy::panic, reason = "a failing test says so by panicking")]

use bailiwick_narrowing::{Budget, Offence, Schema, SchemaErrorKind, Side, Verdict, contains};
use serde_json::{Value, json};

fn verdict(outer: &Value, inner: &Value) -> Verdict {
    let compile = |value| Schema::compile(value).unwrap_or_else(|error| panic!("{value}: {error}"));
    contains(&compile(outer), &compile(inner), &Budget::default())
}

fn offence(outer: &Value, inner: &Value) -> (Value, Offence) {
    let Verdict::Escapes(witness) = verdict(outer, inner) else { panic!("{inner} in {outer}") };
    (witness.instance().clone(), witness.offence().clone())
}

#[test]
fn a_proof_names_its_rules() {
    let check = |outer: Value, inner: Value, expected: &str| {
        let Verdict::Contained(proof) = verdict(&outer, &inner) else { panic!("{inner} in {outer}") };
        assert_eq!(proof.summary(), expected, "{:?}", proof.rules());
    };
    check(json!({"type": "string"}), json!({"type": "string"}), "equal");
    check(
        json!({"type": "string", "pattern": "^https?://"}),
        json!({"type": "string", "pattern": "^https://api\\."}),
        "string language",
    );
    check(json!({"type": "integer", "maximum": 9}), json!({"type": "integer", "maximum": 8}), "number range");
    check(json!({"type": "string"}), json!({"enum": ["a", "b"]}), "listed values");
    check(
        json!({"items": {"type": "number"}}),
        json!({"type": "array", "items": {"type": "integer"}}),
        "array rules",
    );
    check(
        json!({"type": "object", "properties": {"a": {"type": "number"}}}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}}}),
        "object rules",
    );
}

#[test]
fn an_offence_names_both_places() {
    let (instance, found) = offence(
        &json!({"type": "object", "properties": {"q": {"type": "string"}}}),
        &json!({"type": "object", "properties": {"p": {"type": "string"}}}),
    );
    assert_eq!(instance, json!({"q": 0}));
    assert_eq!((found.instance_path.as_str(), found.keyword.as_str()), ("/q", "type"));
    assert_eq!(
        (found.outer_pointer.as_str(), found.inner_pointer.as_deref()),
        ("/properties/q/type", Some(""))
    );
    assert!(found.message.contains("leaves the object open"), "{}", found.message);

    let (_, found) = offence(
        &json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}}),
        &json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 10}}}),
    );
    assert_eq!((found.keyword.as_str(), found.inner_pointer.as_deref()), ("maximum", Some("/properties/n")));

    let (_, found) = offence(
        &json!({"type": "object", "properties": {"a": true}, "additionalProperties": false}),
        &json!({"type": "object", "properties": {"a": true, "b": true}, "additionalProperties": false}),
    );
    assert_eq!((found.instance_path.as_str(), found.outer_pointer.as_str()), ("/b", "/additionalProperties"));
    assert_eq!(found.inner_pointer.as_deref(), Some("/properties/b"));
}

#[test]
fn a_union_blames_the_branch_that_fits_best() {
    let union = |limit: u32| {
        json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer", "maximum": 5}}, "required": ["kind", "n"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "n": {"type": "integer", "maximum": limit}}, "required": ["kind", "n"]},
        ]})
    };
    let (instance, found) = offence(&union(3), &union(4));
    assert_eq!(instance, json!({"kind": "b", "n": 4}));
    assert_eq!(found.outer_pointer, "/oneOf/1/properties/n/maximum");
}

#[test]
fn without_tags_the_branch_with_the_fewest_failures_is_blamed() {
    let union = |limit: u32| {
        json!({"type": "object", "anyOf": [
            {"properties": {"url": {"type": "string"}}, "required": ["url", "method"]},
            {"properties": {"id": {"type": "integer", "maximum": limit}}, "required": ["id"]},
            {"required": ["path", "mode"]},
        ]})
    };
    let inner = json!({"type": "object", "properties": {"id": {"const": 9}}, "required": ["id"], "additionalProperties": false});
    let (instance, found) = offence(&union(8), &inner);
    assert_eq!(instance, json!({"id": 9}));
    assert_eq!(found.outer_pointer, "/anyOf/1/properties/id/maximum");
    let (_, found) = offence(
        &json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"id": {"maximum": 1}}, "required": ["to"]}]}),
        &inner,
    );
    assert!(found.outer_pointer.starts_with("/anyOf/1/"), "{}", found.outer_pointer);
}

#[test]
fn a_rule_says_which_schema_its_pointer_is_of() {
    let outer = json!({"type": "object", "required": ["b"], "maxProperties": 3});
    let inner =
        json!({"type": "object", "properties": {"a": {"type": "string", "enum": [1]}}, "required": ["a"]});
    let Verdict::Contained(proof) = verdict(&outer, &inner) else { panic!("nothing is of the inner schema") };
    assert!(
        proof.rules().iter().any(|rule| rule.side == Side::Inner && inner.pointer(&rule.pointer).is_some())
    );
    assert!(proof.rules().iter().all(|rule| {
        let schema = if rule.side == Side::Inner { &inner } else { &outer };
        schema.pointer(&rule.pointer).is_some()
    }));
}

#[test]
fn a_reason_names_both_places() {
    let check = |outer: Value, inner: Value, expected: [&str; 3]| {
        let Verdict::Undecided(reason) = verdict(&outer, &inner) else { panic!("{inner} in {outer}") };
        let found =
            [Some(reason.keyword.as_str()), reason.outer_pointer.as_deref(), reason.inner_pointer.as_deref()];
        assert_eq!(found, expected.map(Some), "{reason:?}");
    };
    let field = |of: Value| json!({"type": "object", "properties": {"f": of}, "required": ["f"]});
    check(
        field(json!({"type": "string", "pattern": "(?<=a)b"})),
        field(json!({"type": "string", "pattern": "^ab$"})),
        ["pattern", "/properties/f/pattern", "/properties/f/pattern"],
    );
    check(
        json!({"type": "array", "maxItems": 3}),
        json!({"type": "array", "minItems": 1_000_000_000}),
        ["minItems", "/maxItems", "/minItems"],
    );
}

#[test]
fn a_reason_says_what_to_write_instead() {
    let outer = json!({"type": "string", "pattern": "(?<=a)b"});
    let Verdict::Undecided(reason) = verdict(&outer, &json!({"type": "string", "pattern": "^ab$"})) else {
        panic!("look-behind is not modelled");
    };
    assert_eq!((reason.keyword.as_str(), reason.outer_pointer.as_deref()), ("pattern", Some("/pattern")));
    assert!(reason.advice.contains("look-around"), "{}", reason.advice);
}

#[test]
fn a_bad_schema_names_the_place() {
    use SchemaErrorKind::{Invalid, NumberTooLarge, RemoteReference, UnknownDialect, UnresolvedReference};
    let check = |schema: Value, kind: SchemaErrorKind, pointer: &str| {
        let Err(error) = Schema::compile(&schema) else { panic!("{schema} compiles") };
        assert_eq!((error.kind, error.pointer.as_str()), (kind, pointer), "{error}");
    };
    check(json!({"$schema": "https://example.com/mine"}), UnknownDialect, "/$schema");
    check(
        json!({"properties": {"a": {"$ref": "https://example.com/b"}}}),
        RemoteReference,
        "/properties/a/$ref",
    );
    check(json!({"items": {"$ref": "#/$defs/none"}}), UnresolvedReference, "/items/$ref");
    check(json!({"properties": {"a": {"type": "dict"}}}), Invalid, "/properties/a/type");
    check(json!({"pattern": 3}), Invalid, "/pattern");
    check(json!({"maximum": 1e300}), NumberTooLarge, "/maximum");
    check(json!({"anyOf": [{"const": {"a": [1e17]}}]}), NumberTooLarge, "/anyOf/0/const");
    check(json!([]), Invalid, "");
    check(
        json!({"$defs": {"a/b": {"$schema": "https://example.com/mine"}}}),
        UnknownDialect,
        "/$defs/a~1b/$schema",
    );
    let draft = "https://json-schema.org/draft/2020-12/schema";
    check(json!({"allOf": [true, {"$schema": draft}]}), Invalid, "/allOf/1/$schema");
    check(json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}), Invalid, "/$defs/b");
    let deep = (0..300).fold(json!(1), |inside, _| json!([inside]));
    let error = Schema::compile(&json!({"$defs": {"a": {"const": deep}}})).map(|_| ()).unwrap_err();
    assert_eq!(error.kind, SchemaErrorKind::TooDeep);
    assert!(error.pointer.starts_with("/$defs/a/const/0/0/"), "{}", error.pointer);
}

/// More patterns, each with an automaton, than a validator is built for.
fn heavy() -> Value {
    let pattern = |at: u32| (format!("p{at}"), json!({"pattern": format!("^a{{100}}{at}$")}));
    let fields: serde_json::Map<_, _> = (0..500).map(pattern).collect();
    json!({"type": "object", "properties": fields})
}

#[test]
fn what_only_the_validator_checks_is_not_skipped() {
    let check = |schema: Value, pointer: &str| {
        let Err(error) = Schema::compile(&schema) else { panic!("{schema} compiles") };
        assert_eq!((error.kind, error.pointer.as_str()), (SchemaErrorKind::TooLarge, pointer), "{error}");
    };
    // Whether the identifier is one, only the validator says.
    let mut named = heavy();
    named["$id"] = json!("not a ^ URI");
    check(named, "/properties/p100/pattern");
    // Whichever is read first.
    let (look_behind, large) = (json!({"pattern": "(?<=a)b"}), json!({"pattern": "^x{50000}$"}));
    check(json!({"properties": {"a": look_behind, "b": large}}), "/properties/b/pattern");
    check(json!({"properties": {"a": large, "b": look_behind}}), "/properties/a/pattern");
    check(json!({"patternProperties": {"^x{50000}$": true, "(?<=a)b": true}}), "/patternProperties");
}

#[test]
fn where_there_is_no_validator_violations_say_so() {
    let schema = Schema::compile(&heavy()).unwrap_or_else(|error| panic!("{error}"));
    let violations = schema.violations(&json!({}));
    assert!(!schema.accepts(&json!({})));
    assert_eq!(violations.len(), 1);
    assert!(violations.iter().all(|violation| violation.message.contains("too large")), "{violations:?}");
    let light = Schema::compile(&json!({"type": "object"})).unwrap_or_else(|error| panic!("{error}"));
    assert!(light.accepts(&json!({})) && light.violations(&json!({})).is_empty());
}

#[test]
fn limits_and_names_are_not_distributed_greedily() {
    let check = |outer: Value, inner: Value| {
        assert!(!matches!(verdict(&outer, &inner), Verdict::Contained(_)), "{inner} in {outer}");
    };
    // `[0, 1]`: one of the two different items must be the limited one.
    check(
        json!({"maxItems": 1}),
        json!({"type": "array", "items": {"enum": [0, 1]}, "uniqueItems": true, "contains": {"const": 0}, "minContains": 0, "maxContains": 1}),
    );
    // `[0, 0]`: two equal items, both limited.
    check(
        json!({"uniqueItems": true}),
        json!({"type": "array", "prefixItems": [{"enum": [0, 1]}, {"enum": [0, 2]}], "items": false, "contains": {"const": 0}, "minContains": 0, "maxContains": 2}),
    );
    // One item far back is both what is contained and what escapes.
    check(
        json!({"prefixItems": [true, true, true], "items": {"maximum": 5}}),
        json!({"type": "array", "contains": {"type": "number"}, "maxContains": 1, "items": {"type": ["number", "null"]}}),
    );
    // One name breaks both rules.
    check(
        json!({"anyOf": [{"propertyNames": {"maxLength": 2}}, {"propertyNames": {"pattern": "^b"}}]}),
        json!({"type": "object", "maxProperties": 1}),
    );
}

#[test]
fn the_ways_to_refuse_a_pattern_share_one_budget() {
    let parts = (30..42).fold("^".to_owned(), |text, length| format!("{text}(?=x{{{length}}})"));
    let compile = |pattern: &str| {
        let schema = json!({"type": "string", "pattern": pattern});
        Schema::compile(&schema).unwrap_or_else(|error| panic!("{error}"))
    };
    let (outer, inner) = (compile(&parts), compile("^x{50}$"));
    let check = |budget: Budget, expected: &str| {
        let found = match contains(&outer, &inner, &budget) {
            Verdict::Contained(_) => "contained".to_owned(),
            Verdict::Escapes(_) => "escapes".to_owned(),
            Verdict::Undecided(reason) => reason.message,
        };
        assert!(found.contains(expected), "{found}");
    };
    check(Budget::default(), "contained");
    check(Budget::default().with_states(300), "too many states");
    check(Budget::default().with_steps(60), "too many combinations");
}

#[test]
fn an_identifier_is_of_one_part_and_effective_names_cannot_be_taken() {
    let two =
        json!({"$defs": {"a": {"$id": "urn:x", "type": "string"}, "b": {"$id": "urn:x"}}, "$ref": "urn:x"});
    assert!(Schema::compile(&two).is_err());
    assert!(Schema::compile(&json!({"$defs": {"a": {"$id": "urn:%78"}}})).is_err());
    let tool = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "string", "maxLength": 3}}});
    let binding = json!({"$defs": {"q": {"$id": "urn:bailiwick:tool", "$defs": {"a": {}}}}});
    let enforced = bailiwick_narrowing::effective(&tool, &binding);
    let accepts = |instance| Schema::compile(&enforced).is_ok_and(|schema| schema.accepts(&instance));
    assert!(!accepts(json!({"p": 5})), "{enforced}");
    assert!(accepts(json!({"p": "abc"})), "{enforced}");
}

#[test]
fn equal_items_that_are_spelt_apart_are_no_proof() {
    let draft = "http://json-schema.org/draft-04/schema#";
    let outer = Schema::compile(&json!({"$schema": draft, "uniqueItems": true})).unwrap();
    let inner = json!({"$schema": draft, "type": "array", "minItems": 2, "maxItems": 2,
        "items": [{"type": "integer"}, {"type": "number", "not": {"type": "integer"}}]});
    let inner = Schema::compile(&inner).unwrap();
    let verdict = contains(&outer, &inner, &Budget::default());
    assert!(!matches!(verdict, Verdict::Contained(_)), "{verdict:?}");
}
