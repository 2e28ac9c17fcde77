//! The context of a request, from the arguments of a call.

use bailiwick_bundles::documents::phrony::{FieldPath, Step};
use cedar_policy::{Context, RestrictedExpression};
use serde_json::{Number, Value};

use super::shape::{Attribute, Shape, Slot};
use crate::Truth;
use crate::phase::Phase;

impl Shape {
    /// The context of a call. The error is in words, and means: deny.
    pub(super) fn context(&self, arguments: &Value, phase: Phase) -> Result<Context, String> {
        let mut attributes = Vec::with_capacity(self.arguments.len());
        for (name, attribute) in &self.arguments {
            if let Some(value) = attribute.value(arguments)? {
                attributes.push((name.clone(), value));
            }
        }
        let facts = self.facts.iter().filter_map(|(name, leaf)| {
            let holds = match leaf.truth(arguments, phase) {
                Truth::Unknown => return None,
                Truth::True => true,
                Truth::False => false,
            };
            Some((name.clone(), RestrictedExpression::new_bool(holds)))
        });
        Context::from_pairs([
            ("arguments".to_owned(), record(attributes)?),
            ("facts".to_owned(), record(facts.collect())?),
            ("phase".to_owned(), RestrictedExpression::new_string(phase.as_str().to_owned())),
        ])
        .map_err(|error| error.to_string())
    }
}

fn record(attributes: Vec<(String, RestrictedExpression)>) -> Result<RestrictedExpression, String> {
    RestrictedExpression::new_record(attributes).map_err(|error| error.to_string())
}

impl Attribute {
    fn value(&self, arguments: &Value) -> Result<Option<RestrictedExpression>, String> {
        let found = at(&self.path, arguments);
        Ok(match (self.slot, found) {
            (Slot::Exists, found) => Some(RestrictedExpression::new_bool(found.is_some())),
            (Slot::Boolean, Some(Value::Bool(value))) => Some(RestrictedExpression::new_bool(*value)),
            (Slot::String, Some(Value::String(text))) => Some(RestrictedExpression::new_string(text.clone())),
            (Slot::Long, Some(Value::Number(number))) => {
                Some(RestrictedExpression::new_long(integer(number)?))
            }
            (Slot::Decimal, Some(Value::Number(number))) => {
                let Decimal { floor, ceil } = decimal(number);
                let ends = [("ceil", ceil), ("floor", floor)];
                let ends = ends.map(|(end, value)| (end.to_owned(), RestrictedExpression::new_long(value)));
                Some(record(ends.into())?)
            }
            (Slot::Boolean | Slot::String | Slot::Long | Slot::Decimal, _) => None,
        })
    }
}

fn at<'v>(path: &FieldPath, arguments: &'v Value) -> Option<&'v Value> {
    path.steps().iter().try_fold(arguments, |value, step| match step {
        Step::Name(name) => value.as_object()?.get(name),
        Step::Each => None,
    })
}

/// An integer, or the nearest that 64 bits hold. What is compared with it lies within them.
fn integer(number: &Number) -> Result<i64, String> {
    if let Some(value) = number.as_i64() {
        return Ok(value);
    }
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, which is what is meant")]
        Some(value) if value.fract() == 0.0 => Ok(value as i64),
        _ => Err(format!("{number} is no integer, and the schema accepted it as one")),
    }
}

/// A number between two neighbours on the grid of ten-thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) floor: i64,
    pub(super) ceil: i64,
}

/// The decimal digits of `number` on the grid, exactly; beyond 64 bits the ends.
pub(super) fn decimal(number: &Number) -> Decimal {
    const SCALE: i128 = 10_000;
    let clamp = |value: i128| i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX });
    if let Some(value) = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)) {
        let scaled = clamp(value * SCALE);
        return Decimal { floor: scaled, ceil: scaled };
    }
    // The shortest digits that give the double back: what was written, for anything that a double tells apart.
    let text = format!("{:e}", number.as_f64().unwrap_or(f64::NAN));
    let parsed = text.split_once('e').and_then(|(mantissa, exponent)| {
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let fraction = i32::try_from(fraction.len()).ok()?;
        Some((digits, exponent.parse::<i32>().ok()? - fraction + 4))
    });
    // INVARIANT: a JSON number is finite, so its digits parse; the widest range is what may be anything.
    let Some((digits, exponent)) = parsed else { return Decimal { floor: i64::MIN, ceil: i64::MAX } };
    let end = if digits < 0 { i64::MIN } else { i64::MAX };
    match u32::try_from(exponent) {
        // Seventeen digits and nineteen more are beyond 64 bits, and within 128.
        Ok(up) if up > 19 => Decimal { floor: end, ceil: end },
        Ok(up) => {
            let value = clamp(digits * 10_i128.pow(up));
            Decimal { floor: value, ceil: value }
        }
        Err(_) => {
            let down = exponent.unsigned_abs();
            if down > 30 {
                let (floor, ceil) = if digits < 0 { (-1, 0) } else { (0, 1) };
                return if digits == 0 { Decimal { floor: 0, ceil: 0 } } else { Decimal { floor, ceil } };
            }
            let unit = 10_i128.pow(down);
            let floor = digits.div_euclid(unit);
            let ceil = floor + i128::from(digits.rem_euclid(unit) != 0);
            Decimal { floor: clamp(floor), ceil: clamp(ceil) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_lies_between_its_neighbours_on_the_grid() {
        for (value, floor, ceil) in [
            (json!(250), 2_500_000, 2_500_000),
            (json!(250.5), 2_505_000, 2_505_000),
            (json!(0.1), 1000, 1000),
            (json!(0.00001), 0, 1),
            (json!(-0.00001), -1, 0),
            (json!(250.00005), 2_500_000, 2_500_001),
            (json!(-250.00005), -2_500_001, -2_500_000),
            (json!(1e-300), 0, 1),
            (json!(1e300), i64::MAX, i64::MAX),
            (json!(-1e300), i64::MIN, i64::MIN),
            (json!(1e15), 10_000_000_000_000_000_000_i128.try_into().unwrap_or(i64::MAX), i64::MAX),
            (json!(u64::MAX), i64::MAX, i64::MAX),
            (json!(0.0), 0, 0),
        ] {
            let Value::Number(number) = &value else { panic!("{value}") };
            assert_eq!(decimal(number), Decimal { floor, ceil }, "{value}");
        }
    }
}
