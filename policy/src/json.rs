//! Equality and order of JSON values.
//!
//! Numbers are compared by value, exactly: `1` equals `1.0`, and no integer is rounded to a double on the way.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// JSON equality (as in JSON Schema): numbers by value, maps without regard to order.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => order(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// The order of two numbers; `None` never happens for numbers of JSON.
pub(crate) fn order(a: &Number, b: &Number) -> Option<Ordering> {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(a), None) => order_mixed(a, b.as_f64()?),
        (None, Some(b)) => order_mixed(b, a.as_f64()?).map(Ordering::reverse),
        (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// The first number in `value` that a schema does not compare exactly: beyond 2^53, or with more than 18 decimals.
pub(crate) fn inexact(value: &Value) -> Option<&Number> {
    match value {
        Value::Number(number) => (!is_exact(number)).then_some(number),
        Value::Array(items) => items.iter().find_map(inexact),
        Value::Object(members) => members.values().find_map(inexact),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

fn is_exact(number: &Number) -> bool {
    const LIMIT: u64 = 1 << 53;
    if let Some(integer) = integer(number) {
        return integer.unsigned_abs() <= u128::from(LIMIT);
    }
    let Some(value) = number.as_f64() else { return false };
    let digits = format!("{value:e}");
    let Some((mantissa, exponent)) = digits.split_once('e') else { return false };
    let decimals = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let exponent: i64 = exponent.parse().unwrap_or(i64::MIN);
    #[expect(clippy::cast_precision_loss, reason = "2^53 is a double")]
    let is_near = value.abs() <= LIMIT as f64;
    is_near && i64::try_from(decimals).is_ok_and(|decimals| decimals - exponent <= 18)
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// A 64-bit integer against a double.
fn order_mixed(a: i128, b: f64) -> Option<Ordering> {
    // Beyond ±2^64 no integer that is held lies.
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    if b.is_nan() {
        return None;
    }
    if b.abs() > LIMIT {
        return Some(if b > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    #[expect(clippy::cast_possible_truncation, reason = "the floor of a double within ±2^64 is an i128")]
    let floor = b.floor() as i128;
    Some(a.cmp(&floor).then(if b > b.floor() { Ordering::Less } else { Ordering::Equal }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(&json!({"a": [1, 2.0]}), &json!({"a": [1.0, 2]})));
        assert!(!equal(&json!(1), &json!("1")));
        let order = |a: Value, b: Value| match (a, b) {
            (Value::Number(a), Value::Number(b)) => order(&a, &b),
            _ => None,
        };
        assert_eq!(
            order(json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992.0)),
            Some(Ordering::Greater)
        );
        assert_eq!(order(json!(u64::MAX), json!(1e300)), Some(Ordering::Less));
        assert_eq!(order(json!(-1e300), json!(i64::MIN)), Some(Ordering::Less));
        assert_eq!(order(json!(-3), json!(-2.5)), Some(Ordering::Less));
        assert_eq!(order(json!(-2), json!(-2.5)), Some(Ordering::Greater));
    }
}
