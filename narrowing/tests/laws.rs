//! Laws over generated schemas and instances.
//!
//! `PROPTEST_CASES=4000 cargo test -p bailiwick-narrowing --release --test laws` runs longer.

#![expect(clippy::disallowed_methods, reason = "PROPTEST_CASES asks for a longer run")]
#![allow(clippy::panic, clippy::indexing_slicing, reason = "a failing test says so by panicking")]

use bailiwick_narrowing::{
    Budget, Emptiness, Schema, Verdict, contains, contract_form, effective, flatten, intent, is_empty,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// Schemas compared with one another in one case: all ordered pairs of them.
const N_SCHEMAS: usize = 16;
/// Instances each verdict is tried against.
const N_INSTANCES: usize = 60;
/// Pairs of a default run: `CASES * N_SCHEMAS * N_SCHEMAS`, a little over 100,000.
const CASES: u32 = 400;

const NAMES: [&str; 4] = ["a", "b", "ab", "x-1"];
const TEXTS: [&str; 9] = ["", "a", "b", "ab", "ba", "abc", "x-1", "2024-02-29", "\n"];
const PATTERNS: [&str; 8] = ["^a", "b$", "^[ab]*$", "^x-", "a", "^(a|b)$", "^a?b?$", "^[^a]+$"];

fn number() -> impl Strategy<Value = Value> {
    select(vec![
        json!(-2),
        json!(-1),
        json!(0),
        json!(0.5),
        json!(1),
        json!(1.5),
        json!(2),
        json!(3),
        json!(6),
        json!(1.0),
    ])
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        select(TEXTS.to_vec()).prop_map(|text| json!(text)),
    ]
}

fn instance() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            2 => vec(inner.clone(), 0..4).prop_map(Value::Array),
            3 => btree_map(select(NAMES.to_vec()), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())),
        ]
    })
}

fn types() -> impl Strategy<Value = Value> {
    let names = vec!["null", "boolean", "integer", "number", "string", "array", "object"];
    prop_oneof![
        select(names.clone()).prop_map(|name| json!(name)),
        subsequence(names, 2..4).prop_map(|names| json!(names)),
    ]
}

/// One to three keywords that look at nothing below.
fn flat_keyword() -> impl Strategy<Value = (String, Value)> {
    let count = || 0..4_u64;
    let pair = |name: &'static str, value: BoxedStrategy<Value>| {
        value.prop_map(move |value| (name.to_owned(), value))
    };
    prop_oneof![
        6 => pair("type", types().boxed()),
        2 => pair("enum", vec(scalar(), 1..4).prop_map(|mut list| { list.dedup(); Value::Array(list) }).boxed()),
        1 => pair("const", instance().boxed()),
        1 => pair("minimum", number().boxed()),
        1 => pair("maximum", number().boxed()),
        1 => pair("exclusiveMinimum", number().boxed()),
        1 => pair("exclusiveMaximum", number().boxed()),
        1 => pair("multipleOf", select(vec![json!(1), json!(2), json!(3), json!(0.5), json!(1.5)]).boxed()),
        1 => pair("minLength", count().prop_map(|n| json!(n)).boxed()),
        1 => pair("maxLength", count().prop_map(|n| json!(n)).boxed()),
        2 => pair("pattern", select(PATTERNS.to_vec()).prop_map(|pattern| json!(pattern)).boxed()),
        1 => pair("format", select(vec![json!("date"), json!("ipv4"), json!("x-none")]).boxed()),
        1 => pair("minItems", count().prop_map(|n| json!(n)).boxed()),
        1 => pair("maxItems", count().prop_map(|n| json!(n)).boxed()),
        1 => pair("uniqueItems", any::<bool>().prop_map(Value::Bool).boxed()),
        1 => pair("minProperties", count().prop_map(|n| json!(n)).boxed()),
        1 => pair("maxProperties", count().prop_map(|n| json!(n)).boxed()),
        3 => pair("required", subsequence(NAMES.to_vec(), 1..3).prop_map(|names| json!(names)).boxed()),
        1 => pair("title", Just(json!("a title")).boxed()),
        1 => pair("description", Just(json!("words")).boxed()),
    ]
}

fn deep_keyword(inner: &BoxedStrategy<Value>) -> BoxedStrategy<(String, Value)> {
    let list = |max: usize| vec(inner.clone(), 1..max).prop_map(Value::Array);
    let map = |names: Vec<&'static str>| {
        btree_map(select(names), inner.clone(), 1..3).prop_map(|map| {
            Value::Object(
                map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>(),
            )
        })
    };
    let pair = |name: &'static str, value: BoxedStrategy<Value>| {
        value.prop_map(move |value| (name.to_owned(), value))
    };
    prop_oneof![
        6 => pair("properties", map(NAMES.to_vec()).boxed()),
        2 => pair("patternProperties", map(PATTERNS.to_vec()).boxed()),
        3 => pair("additionalProperties", prop_oneof![Just(Value::Bool(false)).boxed(), inner.clone()].boxed()),
        1 => pair("propertyNames", inner.clone()),
        3 => pair("items", inner.clone()),
        1 => pair("prefixItems", list(3).boxed()),
        1 => pair("contains", inner.clone()),
        1 => pair("minContains", (0..3_u64).prop_map(|n| json!(n)).boxed()),
        1 => pair("maxContains", (0..3_u64).prop_map(|n| json!(n)).boxed()),
        2 => pair("allOf", list(3).boxed()),
        3 => pair("anyOf", list(4).boxed()),
        2 => pair("oneOf", list(4).boxed()),
        1 => pair("not", inner.clone()),
        1 => pair("if", inner.clone()),
        1 => pair("then", inner.clone()),
        1 => pair("else", inner.clone()),
        1 => pair("dependentSchemas", map(NAMES.to_vec()).boxed()),
        1 => pair("dependentRequired",
            (select(NAMES.to_vec()), subsequence(NAMES.to_vec(), 1..3)).prop_map(|(name, names)| json!({name: names})).boxed()),
        1 => pair("unevaluatedProperties", prop_oneof![Just(Value::Bool(false)).boxed(), inner.clone()].boxed()),
        1 => pair("unevaluatedItems", prop_oneof![Just(Value::Bool(false)).boxed(), inner.clone()].boxed()),
    ]
    .boxed()
}

fn object_of(keywords: Vec<(String, Value)>) -> Value {
    Value::Object(keywords.into_iter().collect())
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::Bool),
        9 => vec(flat_keyword(), 1..4).prop_map(object_of),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let inner = inner.boxed();
        (vec(flat_keyword(), 0..3), vec(deep_keyword(&inner), 1..4)).prop_map(|(mut flat, deep)| {
            flat.extend(deep);
            object_of(flat)
        })
    })
}

fn compiled(values: &[Value]) -> Vec<Schema> {
    values
        .iter()
        .map(|value| Schema::compile(value).unwrap_or_else(|error| panic!("{value}: {error}")))
        .collect()
}

/// Both schemas accept the same instances.
fn assert_same(left: &Value, right: &Value, instances: &[Value]) -> Result<(), TestCaseError> {
    let (one, other) = (compiled(std::slice::from_ref(left)), compiled(std::slice::from_ref(right)));
    for instance in instances {
        prop_assert_eq!(
            one[0].accepts(instance),
            other[0].accepts(instance),
            "{} / {} / {}",
            left,
            right,
            instance
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES),
        failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_instance_refutes_a_verdict(values in vec(schema(), N_SCHEMAS), instances in vec(instance(), N_INSTANCES)) {
        let schemas = compiled(&values);
        let accepted: Vec<Vec<bool>> =
            schemas.iter().map(|schema| instances.iter().map(|instance| schema.accepts(instance)).collect()).collect();
        for (inner, inside) in schemas.iter().zip(&accepted) {
            match is_empty(inner, &Budget::default()) {
                Emptiness::Empty(_) => prop_assert!(!inside.contains(&true), "{} is not empty", inner.value()),
                Emptiness::Inhabited(instance) => prop_assert!(inner.accepts(&instance)),
                Emptiness::Undecided(_) => {}
            }
            for (outer, outside) in schemas.iter().zip(&accepted) {
                match contains(outer, inner, &Budget::default()) {
                    Verdict::Contained(_) => {
                        let refuting = inside.iter().zip(outside).position(|(inside, outside)| *inside && !*outside);
                        let shown = refuting.map(|at| &instances[at]);
                        prop_assert!(shown.is_none(), "{} in {}: {:?}", inner.value(), outer.value(), shown);
                    }
                    Verdict::Escapes(witness) => {
                        let instance = witness.instance();
                        prop_assert!(inner.accepts(instance) && !outer.accepts(instance));
                    }
                    Verdict::Undecided(_) => {}
                }
            }
        }
    }

    #[test]
    fn effective_is_the_conjunction(tool in schema(), binding in schema(), instances in vec(instance(), N_INSTANCES)) {
        let both = effective(&tool, &binding);
        let schemas = compiled(&[tool.clone(), binding.clone(), both.clone()]);
        for instance in &instances {
            let expected = schemas[0].accepts(instance) && schemas[1].accepts(instance);
            prop_assert_eq!(schemas[2].accepts(instance), expected, "{} and {} = {} / {}", tool, binding, both, instance);
        }
        prop_assert!(!matches!(contains(&schemas[0], &schemas[2], &Budget::default()), Verdict::Escapes(_)));
    }

    #[test]
    fn rewriting_keeps_the_meaning(value in schema(), instances in vec(instance(), N_INSTANCES)) {
        assert_same(&value, &flatten(&value), &instances)?;
        assert_same(&value, &contract_form(&value), &instances)?;
        assert_same(&value, &intent(&value, &json!({})), &instances)?;
        prop_assert_eq!(contract_form(&contract_form(&value)), contract_form(&value));
    }

    #[test]
    fn order_of_contained_is_transitive(values in vec(schema(), 6)) {
        let schemas = compiled(&values);
        let holds = |outer: &Schema, inner: &Schema| matches!(contains(outer, inner, &Budget::default()), Verdict::Contained(_));
        for a in &schemas {
            prop_assert!(holds(a, a));
            for b in &schemas {
                for c in schemas.iter().filter(|c| holds(b, a) && holds(c, b)) {
                    prop_assert!(!matches!(contains(c, a, &Budget::default()), Verdict::Escapes(_)));
                }
            }
        }
    }
}
