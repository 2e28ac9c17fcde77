//! One comparison, prepared: the field parsed, the expression compiled.
//!
//! Total: for any arguments it is true, false or unknown, never an error.

use std::fmt;

use bailiwick_bundles::documents::phrony::{Field, Operator, Step};
use serde_json::{Number, Value};

use crate::kind::Kind;
use crate::pattern::{Pattern, PatternError};
use crate::{Comparison, Phase, Truth, json};

/// A comparison, prepared.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) field: Field,
    pub(crate) test: Test,
    /// As written, for people.
    pub(crate) written: Comparison,
}

/// What is asked of the value at the field.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// It equals one of these, or none of them where `negated`.
    OneOf {
        values: Vec<Value>,
        negated: bool,
    },
    /// It is on one side of a number.
    Bound {
        side: Side,
        bound: Number,
    },
    Matches(Pattern),
    Contains(Value),
    StartsWith(String),
    EndsWith(String),
    /// It is there, or not.
    Exists(bool),
}

/// A side of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Why a condition cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionError {
    /// Its field is no path.
    Field(String),
    /// The operator takes another value: which, in words.
    Value(Operator, &'static str),
    /// The operator is not for dispatch fields, which are one of a few words.
    Dispatch(Operator),
    /// A number that cannot be compared exactly.
    Number(Number),
    /// `matches` has an expression that is refused.
    Pattern(PatternError),
    /// More conditions inside each other than are evaluated.
    TooDeep,
    /// More comparisons than are evaluated.
    TooManyTerms,
    /// `all` or `any` of nothing.
    Empty,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(field) => write!(f, "`{field}` is no path into the arguments"),
            Self::Value(op, wanted) => write!(f, "`{op}` compares with {wanted}"),
            Self::Dispatch(op) => write!(f, "`{op}` is not for a dispatch field"),
            Self::Number(number) => {
                write!(f, "`{number}` cannot be compared exactly: stay within 2^53 and 18 decimal places")
            }
            Self::Pattern(error) => write!(f, "the expression of `matches` is refused: {error}"),
            Self::TooDeep => f.write_str("too many conditions inside each other"),
            Self::TooManyTerms => f.write_str("too many comparisons in one condition"),
            Self::Empty => f.write_str("`all` or `any` of nothing"),
        }
    }
}

impl std::error::Error for ConditionError {}

impl Comparison {
    /// Whether it has a meaning.
    ///
    /// # Errors
    /// Its field, value or expression is refused.
    pub fn check(&self) -> Result<(), ConditionError> {
        Leaf::new(self).map(|_| ())
    }
}

impl Leaf {
    pub(crate) fn new(comparison: &Comparison) -> Result<Self, ConditionError> {
        let field = comparison.field.parse().map_err(|_| ConditionError::Field(comparison.field.clone()))?;
        if let Some(number) = comparison.value.as_ref().and_then(json::inexact) {
            return Err(ConditionError::Number(number.clone()));
        }
        let test = test(comparison.op, comparison.value.as_ref())?;
        let word_test = matches!(test, Test::OneOf { .. } | Test::Exists(_));
        if field == Field::Dispatch && !word_test {
            return Err(ConditionError::Dispatch(comparison.op));
        }
        Ok(Self { field, test, written: comparison.clone() })
    }

    /// Whether it holds for a call.
    pub(crate) fn truth(&self, arguments: &Value, phase: Phase) -> Truth {
        match &self.field {
            Field::Dispatch => self.dispatch(phase),
            Field::Argument(path) => self.at(path.steps(), arguments),
        }
    }

    fn dispatch(&self, phase: Phase) -> Truth {
        match &self.test {
            Test::Exists(wanted) => (*wanted != phase.is_call()).into(),
            Test::OneOf { values, negated } => {
                let is_one = values.iter().any(|value| value.as_str() == Some(phase.as_str()));
                // Before the dispatch there is no word that a value could equal.
                ((is_one && !phase.is_call()) != *negated).into()
            }
            // INVARIANT of `new`: a dispatch field has no other test.
            Test::Bound { .. }
            | Test::Matches(_)
            | Test::Contains(_)
            | Test::StartsWith(_)
            | Test::EndsWith(_) => Truth::Unknown,
        }
    }

    /// The truth of the rest of the way, from `value` on.
    fn at(&self, steps: &[Step], value: &Value) -> Truth {
        let Some((step, rest)) = steps.split_first() else { return self.of(value) };
        match (step, value) {
            (Step::Name(name), Value::Object(members)) => {
                members.get(name).map_or_else(|| self.absent(), |member| self.at(rest, member))
            }
            (Step::Each, Value::Array(items)) => {
                items.iter().fold(Truth::False, |truth, item| truth.or(self.at(rest, item)))
            }
            (Step::Name(_) | Step::Each, _) => self.absent(),
        }
    }

    fn absent(&self) -> Truth {
        match self.test {
            Test::Exists(wanted) => (!wanted).into(),
            Test::OneOf { .. }
            | Test::Bound { .. }
            | Test::Matches(_)
            | Test::Contains(_)
            | Test::StartsWith(_)
            | Test::EndsWith(_) => Truth::Unknown,
        }
    }

    fn of(&self, value: &Value) -> Truth {
        match (&self.test, value) {
            (Test::Exists(wanted), _) => (*wanted).into(),
            (Test::OneOf { values, negated }, value) => {
                if !self.compares(Kind::of(value)) {
                    return Truth::Unknown;
                }
                (values.iter().any(|known| json::equal(known, value)) != *negated).into()
            }
            (Test::Bound { side, bound }, Value::Number(number)) => {
                json::order(number, bound).map_or(Truth::Unknown, |order| side.holds(order).into())
            }
            (Test::Matches(pattern), Value::String(text)) => pattern.is_match(text).into(),
            (Test::Contains(Value::String(part)), Value::String(text)) => text.contains(part.as_str()).into(),
            (Test::Contains(wanted), Value::Array(items)) => {
                items.iter().any(|item| json::equal(item, wanted)).into()
            }
            (Test::StartsWith(start), Value::String(text)) => text.starts_with(start.as_str()).into(),
            (Test::EndsWith(end), Value::String(text)) => text.ends_with(end.as_str()).into(),
            (
                Test::Bound { .. }
                | Test::Matches(_)
                | Test::Contains(_)
                | Test::StartsWith(_)
                | Test::EndsWith(_),
                _,
            ) => Truth::Unknown,
        }
    }

    /// Whether a value of this type makes it true or false.
    pub(crate) fn compares(&self, kind: Kind) -> bool {
        match &self.test {
            Test::Exists(_) => true,
            Test::OneOf { values, .. } => values.iter().any(|value| Kind::of(value) == kind),
            Test::Bound { .. } => kind == Kind::Number,
            Test::Matches(_) | Test::StartsWith(_) | Test::EndsWith(_) => kind == Kind::String,
            Test::Contains(value) => kind == Kind::Array || (kind == Kind::String && value.is_string()),
        }
    }

    /// The value that decided it, where one did: the word of the phase, the value at the field, or the first element
    /// that settles it.
    pub(crate) fn deciding(&self, arguments: &Value, phase: Phase) -> Option<Value> {
        match &self.field {
            Field::Dispatch => Some(phase.as_str().into()),
            Field::Argument(path) => {
                let truth = self.at(path.steps(), arguments);
                self.first(path.steps(), arguments, truth).cloned()
            }
        }
    }

    fn first<'v>(&self, steps: &[Step], value: &'v Value, truth: Truth) -> Option<&'v Value> {
        let Some((step, rest)) = steps.split_first() else { return Some(value) };
        match (step, value) {
            (Step::Name(name), Value::Object(members)) => self.first(rest, members.get(name)?, truth),
            (Step::Each, Value::Array(items)) => {
                let item = items.iter().find(|item| self.at(rest, item) == truth)?;
                self.first(rest, item, truth)
            }
            (Step::Name(_) | Step::Each, _) => None,
        }
    }
}

impl Test {
    /// The texts that values are compared with.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let (values, text): (&[Value], Option<&str>) = match self {
            Self::OneOf { values, .. } => (values, None),
            Self::Contains(value) => (std::slice::from_ref(value), None),
            Self::StartsWith(text) | Self::EndsWith(text) => (&[], Some(text)),
            Self::Bound { .. } | Self::Matches(_) | Self::Exists(_) => (&[], None),
        };
        values.iter().filter_map(Value::as_str).chain(text)
    }
}

impl Side {
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Above => Self::AtMost,
            Self::AtLeast => Self::Below,
            Self::Below => Self::AtLeast,
            Self::AtMost => Self::Above,
        }
    }

    fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
        }
    }
}

fn test(op: Operator, value: Option<&Value>) -> Result<Test, ConditionError> {
    let refuse = |wanted| Err(ConditionError::Value(op, wanted));
    let text = || value.and_then(Value::as_str).map(str::to_owned);
    let bounded = |side| match value {
        Some(Value::Number(bound)) => Ok(Test::Bound { side, bound: bound.clone() }),
        _ => Err(ConditionError::Value(op, "a number")),
    };
    Ok(match op {
        Operator::Exists => match value {
            None | Some(Value::Bool(true)) => Test::Exists(true),
            Some(Value::Bool(false)) => Test::Exists(false),
            Some(_) => return refuse("`true`, `false`, or no `value`"),
        },
        Operator::Eq | Operator::Neq => {
            let Some(value) = value else { return refuse("a `value`") };
            Test::OneOf { values: vec![value.clone()], negated: op == Operator::Neq }
        }
        Operator::In | Operator::NotIn => match value {
            Some(Value::Array(values)) if !values.is_empty() => {
                Test::OneOf { values: values.clone(), negated: op == Operator::NotIn }
            }
            _ => return refuse("a list of at least one value"),
        },
        Operator::Gt => bounded(Side::Above)?,
        Operator::Gte => bounded(Side::AtLeast)?,
        Operator::Lt => bounded(Side::Below)?,
        Operator::Lte => bounded(Side::AtMost)?,
        Operator::Matches => {
            let Some(source) = text() else { return refuse("a string") };
            Test::Matches(Pattern::new(&source).map_err(ConditionError::Pattern)?)
        }
        Operator::Contains => {
            let Some(value) = value else { return refuse("a `value`") };
            Test::Contains(value.clone())
        }
        Operator::StartsWith | Operator::EndsWith => {
            let Some(text) = text() else { return refuse("a string") };
            if op == Operator::StartsWith { Test::StartsWith(text) } else { Test::EndsWith(text) }
        }
    })
}
