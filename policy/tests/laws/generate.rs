//! Policies, schemas and arguments at random.

use bailiwick_narrowing::Schema;
use bailiwick_policy::Policy;
use proptest::collection::{btree_map, vec};
use proptest::option::of as maybe;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

const FIELDS: [&str; 12] = [
    "amount",
    "rate",
    "currency",
    "note",
    "flag",
    "customer",
    "customer.country",
    "customer.age",
    "items[*].price",
    "items[*].tags[*]",
    "items",
    "absent.deep[*]",
];

const TEXTS: [&str; 12] =
    ["", "a", "EUR", "eur", "US", "a*b", "ab\nc", "é", "e\u{301}", "\u{202e}", "__entity", "päöü*"];

const PHASES: [&str; 3] = ["call", "dispatch:no_handler", "limit:escalate"];

pub fn phase() -> impl Strategy<Value = &'static str> {
    select(&PHASES[..])
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (-3_i64..4).prop_map(Value::from),
        2 => select(vec![json!(0.5), json!(-0.5), json!(2.0), json!(0.1), json!(0.00001), json!(0.00012), json!(250.25)]),
        1 => select(vec![
            json!(9_007_199_254_740_992_i64), json!(-9_007_199_254_740_992_i64), json!(1e15), json!(922_337_203_685_477.5),
            json!(1e18), json!(1e19), json!(-1e19), json!(1e300), json!(-1e300), json!(1e-300), json!(5e-324),
        ]),
    ]
}

/// A number that a condition may hold.
fn bound() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (-3_i64..4).prop_map(Value::from),
        2 => select(vec![
            json!(0.5), json!(-0.5), json!(2.0), json!(0.1), json!(0.00001), json!(0.00012), json!(250.25), json!(1e-18),
            json!(9_007_199_254_740_992_i64), json!(-9_007_199_254_740_992_i64), json!(1e15), json!(922_337_203_685_477.5),
        ]),
    ]
}

/// What a condition may compare with.
fn operand() -> impl Strategy<Value = Value> {
    value().prop_filter_map("a number that is compared exactly", |value| {
        let text = value.to_string();
        (!["e+", "e-", "1000000000000000000"].iter().any(|part| text.contains(part))).then_some(value)
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => number(),
        4 => select(&TEXTS[..]).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(select(&["a", "__entity", "__extn", "id", "type"][..]), inner, 0..3)
                .prop_map(|members| json!(members)),
        ]
    })
}

fn item() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (maybe(value()), maybe(vec(scalar(), 0..3))).prop_map(|(price, tags)| {
            let mut item = serde_json::Map::new();
            item.extend(price.map(|price| ("price".to_owned(), price)));
            item.extend(tags.map(|tags| ("tags".to_owned(), tags.into())));
            item.into()
        }),
        1 => value(),
    ]
}

fn customer() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => btree_map(select(&["country", "age"][..]), scalar(), 0..3).prop_map(|members| json!(members)),
        1 => value(),
    ]
}

pub fn arguments() -> impl Strategy<Value = Value> {
    (
        maybe(prop_oneof![3 => number(), 1 => value()]),
        maybe(prop_oneof![3 => number(), 1 => value()]),
        maybe(prop_oneof![3 => select(&TEXTS[..]).prop_map(Value::from), 1 => value()]),
        maybe(value()),
        maybe(prop_oneof![any::<bool>().prop_map(Value::from), value()]),
        maybe(customer()),
        maybe(prop_oneof![4 => vec(item(), 0..4).prop_map(Value::from), 1 => value()]),
    )
        .prop_map(|(amount, rate, currency, note, flag, customer, items)| {
            let members = [
                ("amount", amount),
                ("rate", rate),
                ("currency", currency),
                ("note", note),
                ("flag", flag),
                ("customer", customer),
                ("items", items),
            ];
            let there = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(there.collect())
        })
}

pub fn schema() -> impl Strategy<Value = Value> {
    let typed = |kinds: &[Value]| maybe(select(kinds.to_vec()));
    let required = proptest::sample::subsequence(vec!["amount", "rate", "currency", "customer"], 0..3);
    (
        typed(&[json!({"type": "integer"}), json!({"type": "number"}), json!({"type": ["integer", "null"]}), json!({})]),
        typed(&[json!({"type": "number"}), json!({"type": "number", "minimum": 0})]),
        typed(&[json!({"type": "string"}), json!({"enum": ["EUR", "US", ""]}), json!({"type": "string", "maxLength": 3})]),
        typed(&[json!({"type": "boolean"}), json!({"type": "string"}), json!({"type": "array", "items": {"type": "string"}})]),
        typed(&[json!({"type": "object", "properties": {"country": {"type": "string"}, "age": {"type": "integer"}}, "required": ["country"]})]),
        required,
        any::<bool>(),
    )
        .prop_map(|(amount, rate, currency, note, customer, required, typed)| {
            let members =
                [("amount", amount), ("rate", rate), ("currency", currency), ("note", note), ("customer", customer)];
            let there = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            let properties = Value::Object(there.collect());
            if typed {
                json!({"type": "object", "properties": properties, "required": required})
            } else {
                json!({"properties": properties, "required": required})
            }
        })
}

/// The arguments with whatever the schema refuses taken out or put right.
pub fn fitted(mut arguments: Value, schema: &Value) -> Value {
    let properties = schema["properties"].as_object().expect("properties");
    for (name, property) in properties {
        let compiled = Schema::compile(property).expect("a schema");
        let is_required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        let fits = arguments.get(name).map(|value| compiled.accepts(value));
        if fits == Some(false) || (fits.is_none() && is_required) {
            arguments[name] = sample(property);
        }
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if arguments.get(name).is_none() {
            arguments[name] = json!(1);
        }
    }
    arguments
}

fn sample(property: &Value) -> Value {
    if let Some(values) = property["enum"].as_array() {
        return values[0].clone();
    }
    match property["type"].as_str() {
        Some("integer" | "number") => json!(3),
        Some("string") => json!("US"),
        Some("boolean") => json!(true),
        Some("array") => json!(["a", "b"]),
        Some("object") => json!({"country": "US", "age": 30}),
        _ => Value::Null,
    }
}

fn leaf() -> impl Strategy<Value = Value> {
    let field = select(&FIELDS[..]);
    prop_oneof![
        4 => (field.clone(), select(&["gt", "gte", "lt", "lte"][..]), bound())
            .prop_map(|(field, op, value)| json!({"field": field, "op": op, "value": value})),
        4 => (field.clone(), select(&["eq", "neq", "contains"][..]), operand())
            .prop_map(|(field, op, value)| json!({"field": field, "op": op, "value": value})),
        2 => (field.clone(), select(&["in", "not_in"][..]), vec(prop_oneof![bound(), select(&TEXTS[..]).prop_map(Value::from), any::<bool>().prop_map(Value::from), Just(Value::Null)], 1..4))
            .prop_map(|(field, op, value)| json!({"field": field, "op": op, "value": value})),
        2 => (field.clone(), select(&["starts_with", "ends_with", "contains"][..]), select(&TEXTS[..]))
            .prop_map(|(field, op, value)| json!({"field": field, "op": op, "value": value})),
        1 => (field.clone(), select(&["^a", "R$", "[A-Z]{2}", "^$", "^[^a]+$", "b|U"][..]))
            .prop_map(|(field, value)| json!({"field": field, "op": "matches", "value": value})),
        2 => (field, any::<bool>()).prop_map(|(field, value)| json!({"field": field, "op": "exists", "value": value})),
        1 => (
            select(&["dispatch.outcome", "phrony.dispatch.trigger"][..]),
            select(&["eq", "neq"][..]),
            select(&["dispatch:no_handler", "dispatch:lease_expired", "limit:escalate"][..]),
        )
            .prop_map(|(field, op, value)| json!({"field": field, "op": op, "value": value})),
        1 => any::<bool>().prop_map(|value| json!({"field": "dispatch.outcome", "op": "exists", "value": value})),
    ]
}

pub fn condition() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..4).prop_map(|all| json!({"all": all})),
            vec(inner.clone(), 1..4).prop_map(|any| json!({"any": any})),
            inner.prop_map(|not| json!({"not": not})),
        ]
    })
}

fn decision() -> impl Strategy<Value = Value> {
    (
        select(&["allow", "require_approval", "require_approval", "escalate", "deny"][..]),
        maybe(1_u64..4),
        maybe((1_u64..4, maybe(select(&["allow", "escalate", "deny"][..])))),
        maybe(select(&["fail", "return_to_agent"][..])),
        maybe(select(&["revalidate", "accept"][..])),
        maybe(any::<bool>()),
    )
        .prop_map(|(kind, approvals, timeout, on_reject, on_modify, comprehension)| {
            let timeout = timeout.map(|(after, default)| match default {
                Some(default) => json!({"after_minutes": after, "default": default}),
                None => json!({"after_minutes": after}),
            });
            let members = [
                ("approvals_required", approvals.map(Value::from)),
                ("timeout", timeout),
                ("on_reject", on_reject.map(Value::from)),
                ("on_modify", on_modify.map(Value::from)),
                ("comprehension_required", comprehension.map(Value::from)),
            ];
            let mut decision = json!({"type": kind});
            for (name, value) in members {
                if let Some(value) = value {
                    decision[name] = value;
                }
            }
            decision
        })
}

/// Policies with ids of their own.
pub fn policies(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Policy>> {
    vec((proptest::option::weighted(0.9, condition()), decision()), n).prop_map(|rules| {
        rules
            .into_iter()
            .enumerate()
            .map(|(at, (conditions, decision))| {
                let mut policy = json!({"id": format!("acme.rule-{at}@1.0.0"), "decision": decision});
                if let Some(conditions) = conditions {
                    policy["conditions"] = conditions;
                }
                serde_json::from_value(policy).expect("a policy")
            })
            .collect()
    })
}
