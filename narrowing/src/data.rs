//! JSON values as data: one spelling for equal values, and an order.
//!
//! JSON Schema compares numbers by value, so `1`, `1.0` and `10e-1` are one constant. In canonical data every integer is
//! written as one.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use crate::rational::Rational;

/// `value` in its one spelling; `None` when it holds a number that cannot be held exactly.
pub(crate) fn canonical(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) if number.is_f64() => Rational::read(number)?.write(false),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value.clone()),
        Value::Array(items) => items.iter().map(canonical).collect::<Option<_>>().map(Value::Array),
        Value::Object(object) => {
            let entries = object.iter().map(|(name, value)| Some((name.clone(), canonical(value)?)));
            entries.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
    }
}

/// A total order on canonical data; equal exactly when JSON Schema calls the values equal.
pub(crate) fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => left.len().cmp(&right.len()).then_with(|| {
            let orders = left.iter().zip(right).map(|(left, right)| order(left, right));
            orders.fold(Ordering::Equal, Ordering::then)
        }),
        (Value::Object(left), Value::Object(right)) => objects(left, right),
        _ => rank(left).cmp(&rank(right)),
    }
}

pub(crate) fn same(left: &Value, right: &Value) -> bool {
    order(left, right) == Ordering::Equal
}

pub(crate) fn contains(sorted: &[Value], value: &Value) -> bool {
    sorted.binary_search_by(|member| order(member, value)).is_ok()
}

fn numbers(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return left.cmp(&right);
    }
    if let (Some(left), Some(right)) = (Rational::read(left), Rational::read(right)) {
        return left.cmp(&right);
    }
    // Only data that is no part of a schema can be inexact; its order is that of floats.
    let read = |number: &Number| number.as_f64().unwrap_or(0.0);
    read(left).total_cmp(&read(right))
}

fn objects(left: &Map<String, Value>, right: &Map<String, Value>) -> Ordering {
    let sorted = |map: &Map<String, Value>| {
        let mut names: Vec<String> = map.keys().cloned().collect();
        names.sort_unstable();
        names
    };
    left.len().cmp(&right.len()).then_with(|| {
        let (names, others) = (sorted(left), sorted(right));
        names.cmp(&others).then_with(|| {
            names
                .iter()
                .map(|name| match (left.get(name), right.get(name)) {
                    (Some(left), Some(right)) => order(left, right),
                    (left, right) => left.is_some().cmp(&right.is_some()),
                })
                .fold(Ordering::Equal, Ordering::then)
        })
    })
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}
