//! Instances likely to tell schemas apart: constants, values around bounds, and objects and arrays made of them.

use serde_json::{Map, Value, json};

/// Instances made from what the schemas mention, without duplicates.
pub(crate) fn instances<'a>(schemas: &[&'a Value], known: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut pool = vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(0.5),
        json!(1.0),
        json!(1e10),
        json!(""),
        json!("a"),
        json!("ab"),
        json!("\n"),
        json!("x-a"),
        json!("2024-01-01"),
        json!("zzzzzzzzzzzzzzzzzzzz"),
        json!([]),
        json!([1]),
        json!([1, 1]),
        json!(["a", 1]),
        json!([null, null, null]),
        json!([[], {}]),
        json!({}),
        json!({"a": 1}),
        json!({"a": "", "b": ""}),
        json!({"x-a": 1}),
        json!({"zz": null, "yy": null, "xx": null}),
    ];
    pool.extend(known.cloned());
    for schema in schemas {
        harvest(schema, &mut pool);
    }
    pool.sort_by_cached_key(Value::to_string);
    pool.dedup();
    pool
}

fn harvest(schema: &Value, pool: &mut Vec<Value>) {
    pool.extend(samples(schema));
    if let Some(Value::Object(fields)) = schema.get("properties") {
        let mut whole = Map::new();
        for (name, field) in fields.iter().take(12) {
            let inside = samples(field);
            whole.insert(name.clone(), inside.first().cloned().unwrap_or(json!("a")));
            pool.extend(
                inside.iter().take(3).chain([&json!(1), &json!("a")]).map(|value| json!({name: value})),
            );
        }
        pool.push(Value::Object(whole.clone()));
        whole.insert("unknown".to_owned(), json!(1));
        pool.push(Value::Object(whole));
    }
    if let Some(items) = schema.get("items") {
        pool.extend(samples(items).iter().take(4).flat_map(|item| [json!([item]), json!([item, item])]));
    }
    schema.as_array().into_iter().flatten().for_each(|value| harvest(value, pool));
    schema.as_object().into_iter().flat_map(Map::values).for_each(|value| harvest(value, pool));
}

/// Values around what one schema object states.
fn samples(schema: &Value) -> Vec<Value> {
    let mut samples = Vec::new();
    if let Some(Value::Array(members)) = schema.get("enum") {
        samples.extend(members.iter().take(8).cloned());
    }
    samples.extend(["const", "default"].iter().filter_map(|keyword| schema.get(*keyword)).cloned());
    for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] {
        if let Some(limit) = schema.get(keyword).and_then(Value::as_i64) {
            samples.extend([limit - 1, limit, limit + 1].map(|value| json!(value)));
        }
        if let Some(limit) = schema.get(keyword).and_then(Value::as_f64) {
            samples.extend([limit, limit + 0.25, limit - 0.25].map(|value| json!(value)));
        }
    }
    for keyword in ["minLength", "maxLength"] {
        if let Some(limit) = schema.get(keyword).and_then(Value::as_u64) {
            let limit = usize::try_from(limit.min(300)).unwrap_or(0);
            samples
                .extend([limit.saturating_sub(1), limit, limit + 1].map(|length| json!("a".repeat(length))));
        }
    }
    samples
}
