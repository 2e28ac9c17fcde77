//! Laws over schemas of all drafts, pairs of different drafts included, with references and recursion.

#![expect(clippy::disallowed_methods, reason = "PROPTEST_CASES asks for a longer run")]
#![allow(clippy::panic, clippy::indexing_slicing, reason = "a failing test says so by panicking")]

use bailiwick_narrowing::{Budget, Schema, Verdict, contains, contract_form, effective, flatten, intent};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

const DIALECTS: [&str; 6] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "",
];

fn leaf() -> impl Strategy<Value = Value> {
    select(vec![
        json!({}),
        json!({"type": "integer"}),
        json!({"type": "number", "minimum": 1}),
        json!({"type": ["string", "null"]}),
        json!({"enum": [1, 1.0, "a"]}),
        json!({"minimum": 0, "exclusiveMinimum": true}),
        json!({"exclusiveMinimum": 0}),
        json!({"const": 1}),
        json!({"enum": [{"a": 1}, [1], [1.0, {"n": null}], 1]}),
        json!({"enum": [{"a": 1.0, "n": ["a"]}, {}, []]}),
        json!({"not": {"enum": [[1], {"a": [1.0]}, [[]], "a"]}}),
        json!({"const": {"a": [1.0]}}),
        json!({"type": "array", "items": {"enum": [[1], {"a": 1}, 1.0]}, "uniqueItems": true, "minItems": 2}),
        json!({"type": "string", "format": "uuid"}),
        json!({"type": "string", "format": "hostname"}),
        json!({"contentMediaType": "application/json"}),
        json!({"required": ["a"]}),
        json!({"type": "object", "required": ["a", "n"]}),
        json!({"$ref": "#/definitions/n"}),
        json!({"$ref": "#/definitions/n", "type": "string"}),
        json!({"maxLength": 1}),
        json!({"$ref": "#/definitions/m"}),
        json!({"properties": {"a": {"$ref": "#"}}}),
        json!({"propertyNames": {"maxLength": 1}}),
        json!({"minItems": 1, "maxItems": 2}),
        json!({"contains": {"type": "integer"}, "minContains": 2}),
        json!({"items": [{"type": "integer"}], "additionalItems": false}),
        json!({"prefixItems": [{"type": "integer"}], "items": false}),
        json!({"dependencies": {"a": ["n"]}}),
        json!({"dependentRequired": {"a": ["n"]}}),
        json!({"if": {"required": ["a"]}, "then": {"maxProperties": 1}}),
        json!({"type": "array", "uniqueItems": true}),
        json!({"additionalProperties": false}),
        json!({"title": "t"}),
    ])
}

fn schema() -> impl Strategy<Value = Value> {
    let deep = leaf().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, n)| json!({"properties": {"a": a, "n": n}})),
            (inner.clone(), inner.clone())
                .prop_map(|(a, n)| json!({"properties": {"a": a}, "additionalProperties": n})),
            (inner.clone(), inner.clone()).prop_map(|(a, n)| json!({"allOf": [a, n]})),
            (inner.clone(), inner.clone()).prop_map(|(a, n)| json!({"anyOf": [a, n]})),
            (inner.clone(), inner.clone())
                .prop_map(|(a, n)| json!({"oneOf": [a, n], "type": ["object", "integer", "string"]})),
            inner.clone().prop_map(|a| json!({"not": a})),
            inner.clone().prop_map(|a| json!({"type": "array", "items": a})),
            inner.prop_map(|a| json!({"allOf": [{"properties": {"a": a}}], "unevaluatedProperties": false})),
        ]
    });
    (deep.clone(), deep, leaf(), select(DIALECTS.to_vec()), any::<bool>()).prop_map(
        |(mut root, n, m, dialect, named)| {
            let object = root.as_object_mut().unwrap_or_else(|| panic!("schemas are objects"));
            // Inside a property, so that a definition may point back to the others.
            object.insert(
                "definitions".to_owned(),
                json!({"n": {"type": "object", "properties": {"n": n}}, "m": m}),
            );
            if !dialect.is_empty() {
                object.insert("$schema".to_owned(), json!(dialect));
            }
            if named {
                object.insert("$id".to_owned(), json!("https://example.com/schema"));
            }
            root
        },
    )
}

/// The same schema, its definitions called otherwise.
fn renamed(schema: &Value) -> Value {
    match schema {
        Value::String(text) => match text.strip_prefix("#/definitions/") {
            Some(name) => json!(format!("#/definitions/tool_{name}")),
            None => schema.clone(),
        },
        Value::Array(items) => items.iter().map(renamed).collect(),
        Value::Object(object) => {
            let name = |keyword: &String, value: &Value| match (keyword.as_str(), value) {
                ("definitions", Value::Object(all)) => {
                    all.iter().map(|(name, value)| (format!("tool_{name}"), renamed(value))).collect()
                }
                _ => renamed(value),
            };
            object.iter().map(|(keyword, value)| (keyword.clone(), name(keyword, value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => schema.clone(),
    }
}

fn instance() -> impl Strategy<Value = Value> {
    let scalar = select(vec![
        json!(null),
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(-1),
        json!(""),
        json!("a"),
        json!("ab"),
        json!("{}"),
        json!([1]),
        json!([1.0]),
        json!({"a": 1}),
        json!({"a": 1.0}),
        json!([1, {"n": null}]),
        json!([[]]),
        json!("2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
        json!(true),
    ]);
    scalar.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            inner.clone().prop_map(|a| json!({"a": a})),
            inner.clone().prop_map(|n| json!({"n": n})),
            (inner.clone(), inner.clone()).prop_map(|(a, n)| json!({"a": a, "n": n})),
            (inner.clone(), inner).prop_map(|(a, n)| json!({"a": a, "zz": n})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600),
        failure_persistence: None, max_shrink_iters: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn drafts_agree_with_their_validators(values in vec(schema(), 8), instances in vec(instance(), 40)) {
        let schemas: Vec<Schema> = values.iter().filter_map(|value| Schema::compile(value).ok()).collect();
        for schema in &schemas {
            // A schema that compiles has a validator.
            let null = Value::Null;
            prop_assert!(schema.accepts(&null) || !schema.violations(&null).is_empty(), "{}", schema.value());
        }
        for inner in &schemas {
            for rewritten in [flatten(inner.value()), contract_form(inner.value())] {
                let Ok(other) = Schema::compile(&rewritten) else { panic!("{} became {rewritten}", inner.value()) };
                for instance in &instances {
                    prop_assert_eq!(inner.accepts(instance), other.accepts(instance), "{} / {} / {}", inner.value(), rewritten, instance);
                }
            }
            for outer in &schemas {
                let refuting = instances.iter().find(|instance| inner.accepts(instance) && !outer.accepts(instance));
                match contains(outer, inner, &Budget::default()) {
                    Verdict::Contained(_) => {
                        prop_assert!(refuting.is_none(), "{} in {}: {:?}", inner.value(), outer.value(), refuting);
                    }
                    Verdict::Escapes(witness) => {
                        prop_assert!(inner.accepts(witness.instance()) && !outer.accepts(witness.instance()));
                    }
                    Verdict::Undecided(_) => {}
                }
            }
        }
        for (tool, binding) in schemas.iter().zip(schemas.iter().skip(1)) {
            let both = effective(tool.value(), binding.value());
            let compiled = Schema::compile(&both);
            if compiled.is_err() && tool.value().get("$schema") != binding.value().get("$schema") {
                // One draft says what the other cannot: refused, never widened.
                continue;
            }
            let Ok(compiled) = compiled else { panic!("{} and {} = {both}: {compiled:?}", tool.value(), binding.value()) };
            for instance in &instances {
                let expected = tool.accepts(instance) && binding.accepts(instance);
                prop_assert_eq!(compiled.accepts(instance), expected, "{} and {} = {} / {}", tool.value(), binding.value(), both, instance);
            }
        }
    }
    #[test]
    fn a_definition_is_known_by_its_name_to_its_own_schema_only(
        tool in schema(), binding in schema(), instances in vec(instance(), 60)
    ) {
        let same_draft = tool.get("$schema") == binding.get("$schema");
        let compiled = |value: &Value| Schema::compile(value).ok();
        let (plain, other) = (intent(&tool, &binding), intent(&renamed(&tool), &binding));
        if compiled(&tool).is_some() && compiled(&binding).is_some() {
            let (Some(plain), Some(other)) = (compiled(&plain), compiled(&other)) else {
                panic!("{tool} and {binding}: {plain} / {other}");
            };
            for instance in &instances {
                prop_assert_eq!(plain.accepts(instance), other.accepts(instance), "{} and {} = {} / {} / {}", tool, binding, plain.value(), other.value(), instance);
            }
        }
        // What states nothing means the tool.
        if let Some(tool) = compiled(&tool).filter(|_| same_draft) {
            let mut nothing = json!({});
            if let (Some(nothing), Some(dialect)) = (nothing.as_object_mut(), tool.value().get("$schema")) {
                nothing.insert("$schema".to_owned(), dialect.clone());
            }
            let meant = intent(tool.value(), &nothing);
            let Some(same) = compiled(&meant) else { panic!("{} became {meant}", tool.value()) };
            for instance in &instances {
                prop_assert_eq!(tool.accepts(instance), same.accepts(instance), "{} = {} / {}", tool.value(), meant, instance);
            }
        }
    }
}
