//! Exact numbers.
//!
//! A JSON number is read as the decimal it prints as, which is how the validator reads it: `0.1` is one tenth. All
//! arithmetic is checked; what does not fit is `None`, never rounded.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// The largest magnitude up to which every integer is a float of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Decimal places beyond which a number is refused, so that comparisons of two numbers always fit.
const MAX_PLACES: u32 = 18;

/// A fraction in lowest terms, denominator positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rational {
    numerator: i128,
    denominator: i128,
}

impl Rational {
    pub(crate) const ONE: Self = Self { numerator: 1, denominator: 1 };

    pub(crate) fn integer(value: i128) -> Self {
        Self { numerator: value, denominator: 1 }
    }

    pub(crate) fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = i128::try_from(gcd(numerator.unsigned_abs(), denominator.unsigned_abs())).ok()?.max(1);
        let sign = if denominator < 0 { -1 } else { 1 };
        Some(Self {
            numerator: (numerator / divisor).checked_mul(sign)?,
            denominator: (denominator / divisor).checked_mul(sign)?,
        })
    }

    /// The exact value, if this module can hold it.
    pub(crate) fn read(number: &Number) -> Option<Self> {
        if let Some(value) = number.as_i64() {
            return Some(Self::integer(value.into()));
        }
        if let Some(value) = number.as_u64() {
            return Some(Self::integer(value.into()));
        }
        let value = number.as_f64()?;
        if value.abs() > EXACT {
            return None;
        }
        decimal(&number.to_string())
    }

    pub(crate) fn is_integer(self) -> bool {
        self.denominator == 1
    }

    pub(crate) fn is_positive(self) -> bool {
        self.numerator > 0
    }

    pub(crate) fn numerator(self) -> i128 {
        self.numerator
    }

    pub(crate) fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    pub(crate) fn checked_mul(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.numerator)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    pub(crate) fn checked_div(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.denominator)?,
            self.denominator.checked_mul(other.numerator)?,
        )
    }

    /// Whether `self` is a whole number of `step`s; `None` when the division does not fit.
    pub(crate) fn is_multiple_of(self, step: Self) -> Option<bool> {
        self.checked_div(step).map(Self::is_integer)
    }

    /// The least positive number that is a multiple of both.
    pub(crate) fn least_common_multiple(self, other: Self) -> Option<Self> {
        let shared = gcd(self.denominator.unsigned_abs(), other.denominator.unsigned_abs());
        let divisor = gcd(self.numerator.unsigned_abs(), other.numerator.unsigned_abs());
        if divisor == 0 {
            return None;
        }
        let numerator = self.numerator.checked_abs()?.checked_div(i128::try_from(divisor).ok()?)?;
        Self::new(numerator.checked_mul(other.numerator.checked_abs()?)?, i128::try_from(shared).ok()?)
    }

    /// As a JSON number, if one holds it exactly. `as_float` writes an integer as `1.0`.
    pub(crate) fn write(self, as_float: bool) -> Option<Value> {
        if self.is_integer() && !as_float {
            let small = i64::try_from(self.numerator).map(Number::from);
            return small
                .or_else(|_| u64::try_from(self.numerator).map(Number::from))
                .ok()
                .map(Value::Number);
        }
        let text = self.decimal_text()?;
        let number = Number::from_f64(text.parse().ok()?)?;
        (Self::read(&number) == Some(self)).then_some(Value::Number(number))
    }

    fn decimal_text(self) -> Option<String> {
        let mut scale = 1_i128;
        for places in 0..=MAX_PLACES {
            if scale % self.denominator == 0 {
                let digits = self.numerator.checked_mul(scale / self.denominator)?;
                return Some(format!("{digits}e-{places}"));
            }
            scale = scale.checked_mul(10)?;
        }
        None
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    /// By continued fractions, so that nothing can overflow.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.denominator == other.denominator {
            return self.numerator.cmp(&other.numerator);
        }
        let (mut left, mut right, mut flipped) = (*self, *other, false);
        loop {
            let order = left.floor().cmp(&right.floor());
            let rest = |value: Self| value.numerator.rem_euclid(value.denominator);
            let (left_rest, right_rest) = (rest(left), rest(right));
            let order = order.then_with(|| match (left_rest, right_rest) {
                (0, 0) => Ordering::Equal,
                (0, _) => Ordering::Less,
                (_, 0) => Ordering::Greater,
                _ => Ordering::Equal,
            });
            if order != Ordering::Equal || left_rest == 0 {
                return if flipped { order.reverse() } else { order };
            }
            left = Self { numerator: left.denominator, denominator: left_rest };
            right = Self { numerator: right.denominator, denominator: right_rest };
            flipped = !flipped;
        }
    }
}

pub(crate) fn gcd(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Reads `-12.5e-3`.
fn decimal(text: &str) -> Option<Rational> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    if digits == 0 {
        return Some(Rational::integer(0));
    }
    if places <= 0 {
        let scale = 10_i128.checked_pow(places.unsigned_abs())?;
        return Some(Rational::integer(digits.checked_mul(scale)?));
    }
    let places = u32::try_from(places).ok()?;
    if places > MAX_PLACES {
        return None;
    }
    Rational::new(digits, 10_i128.checked_pow(places)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Rational> {
        Rational::read(&text.parse::<Number>().unwrap())
    }

    #[test]
    fn reads_what_it_prints() {
        assert_eq!(read("0.1"), Rational::new(1, 10));
        assert_eq!(read("-2.50"), Rational::new(-5, 2));
        assert_eq!(read("1.0"), Some(Rational::ONE));
        assert_eq!(read("1e-7"), Rational::new(1, 10_000_000));
        assert_eq!(read("18446744073709551615"), Some(Rational::integer(u64::MAX.into())));
        assert_eq!(read("1e300"), None);
        assert_eq!(read("1e-300"), None);
        assert_eq!(
            Rational::new(1, 4).and_then(|quarter| quarter.write(false)),
            Some(serde_json::json!(0.25))
        );
        assert_eq!(Rational::new(1, 3).and_then(|third| third.write(false)), None);
    }

    #[test]
    fn orders_without_overflow() {
        let big = Rational::new(i128::MAX, i128::MAX - 1).unwrap();
        assert!(big > Rational::ONE);
        assert!(Rational::new(-1, 3) < Rational::new(-1, 4));
        assert!(Rational::new(1, 3) > Rational::new(1, 4));
        assert!(Rational::new(7, 2) > Rational::new(10, 3));
        assert_eq!(Rational::new(2, 4).cmp(&Rational::new(1, 2)), Ordering::Equal);
    }
}
