//! Instances likely to tell schemas apart: constants, values around bounds, and objects and arrays made of them.

use serde_json::{Map, Value, json};

/// Instances made from what the schemas mention, without duplicates.
pub(crate) fn instances<'a>(schemas: &[&'a Value], known: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut pool: Vec<Value> = vec![
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
    let Value::Object(object) = schema else { return };
    for (keyword, value) in object {
        match (keyword.as_str(), value) {
            ("enum" | "examples", Value::Array(members)) => pool.extend(members.iter().take(8).cloned()),
            ("const" | "default", value) => pool.push(value.clone()),
            (
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf",
                Value::Number(limit),
            ) => {
                if let Some(limit) = limit.as_i64() {
                    pool.extend([limit - 1, limit, limit + 1].map(|value| json!(value)));
                    pool.push(json!(f64::from(i32::try_from(limit).unwrap_or(0)) + 0.5));
                } else if let Some(limit) = limit.as_f64() {
                    pool.extend([limit, limit + 0.25, limit - 0.25].map(|value| json!(value)));
                }
            }
            ("minLength" | "maxLength", Value::Number(limit)) => {
                let limit = limit.as_u64().unwrap_or(0).min(300) as usize;
                pool.extend(
                    [limit.saturating_sub(1), limit, limit + 1].map(|length| json!("a".repeat(length))),
                );
            }
            ("properties", Value::Object(fields)) => {
                let mut whole = Map::new();
                for (name, field) in fields.iter().take(12) {
                    let mut inside = Vec::new();
                    harvest(field, &mut inside);
                    whole.insert(name.clone(), inside.first().cloned().unwrap_or(json!("a")));
                    for value in inside.iter().take(3).chain([&json!(1), &json!("a")]) {
                        pool.push(json!({name: value}));
                    }
                }
                pool.push(Value::Object(whole.clone()));
                whole.insert("unknown".to_owned(), json!(1));
                pool.push(Value::Object(whole));
            }
            ("items", Value::Object(_)) => {
                let mut inside = Vec::new();
                harvest(value, &mut inside);
                pool.extend(inside.iter().take(4).flat_map(|item| [json!([item]), json!([item, item])]));
            }
            _ => {}
        }
        harvest(value, pool);
        value.as_array().into_iter().flatten().for_each(|value| harvest(value, pool));
        value.as_object().into_iter().flat_map(Map::values).for_each(|value| harvest(value, pool));
    }
}
