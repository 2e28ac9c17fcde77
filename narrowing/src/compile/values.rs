//! Reading the values of keywords, and saying what is wrong with them.

use serde_json::Value;

use super::{At, Compiler};
use crate::data;
use crate::dialect::Dialect;
use crate::error::{SchemaError, SchemaErrorKind};
use crate::language::{Pattern, PatternFault};
use crate::node::{Fields, Id, Kind, Types};
use crate::rational::Rational;

impl<'v> Compiler<'v> {
    pub(super) fn types(&mut self, value: &Value, at: At) -> Result<Types, SchemaError> {
        let one = |value: &Value| {
            Some(match value.as_str()? {
                "null" => Types::NULL,
                "boolean" => Types::BOOLEAN,
                "string" => Types::STRING,
                "array" => Types::ARRAY,
                "object" => Types::OBJECT,
                "number" => Types::NUMBER,
                "integer" if at.dialect == Dialect::Draft04 => Types::PLAIN,
                "integer" => Types::INTEGER,
                _ => return None,
            })
        };
        let names = match value {
            Value::Array(names) if !names.is_empty() => names.as_slice(),
            Value::Array(_) => return Err(self.wrong(at, "type", "must not be an empty list")),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                std::slice::from_ref(value)
            }
        };
        let mut types = Types::NONE;
        for (number, name) in names.iter().enumerate() {
            let unknown = || {
                let known = "`null`, `boolean`, `integer`, `number`, `string`, `array` and `object`";
                self.wrong(at, "type", format!("`{name}` is not a type: there are {known}"))
            };
            types = types.union(one(name).ok_or_else(unknown)?);
            if names.iter().take(number).any(|earlier| earlier == name) {
                return Err(self.wrong(at, "type", format!("names {name} twice")));
            }
        }
        let integer_alone = types.intersects(Types::PLAIN) && !types.intersects(Types::WHOLE);
        self.graph.tells_spellings_apart |= integer_alone;
        Ok(types)
    }

    pub(super) fn members(
        &mut self,
        members: impl Iterator<Item = &'v Value>,
        keyword: &str,
        at: At,
    ) -> Result<Kind, SchemaError> {
        let canonical = members.map(|member| {
            data::canonical(member).ok_or_else(|| {
                let message = "holds a number that cannot be compared exactly";
                SchemaError::new(SchemaErrorKind::NumberTooLarge, self.pointer(at, keyword), message)
            })
        });
        let mut members = canonical.collect::<Result<Vec<_>, _>>()?;
        members.sort_by(data::order);
        let n_stated = members.len();
        members.dedup_by(|left, right| data::same(left, right));
        if members.len() < n_stated && at.dialect <= Dialect::Draft06 {
            return Err(self.wrong(at, keyword, "must not name a value twice in this draft"));
        }
        let mut structured = Vec::new();
        for member in members.iter().filter(|member| member.is_array() || member.is_object()) {
            structured.push(self.spelled_out(member, at)?);
        }
        Ok(Kind::Members { values: members, structured })
    }

    /// A constant as assertions on its parts, for when it is to be avoided.
    fn spelled_out(&mut self, value: &Value, at: At) -> Result<Id, SchemaError> {
        let (types, part) = match value {
            Value::Array(items) => {
                let prefix =
                    items.iter().map(|item| self.spelled_out(item, at)).collect::<Result<Vec<_>, _>>()?;
                let length = u64::try_from(items.len()).unwrap_or(u64::MAX);
                let rest = self.push(Kind::Nothing, "", at)?;
                let shortest = self.push(Kind::MinItems(length), "", at)?;
                (Types::ARRAY, [self.push(Kind::Items { prefix, rest }, "", at)?, shortest])
            }
            Value::Object(object) => {
                let mut named: Vec<(Box<str>, Id)> = Vec::with_capacity(object.len());
                for (name, value) in object {
                    named.push((name.as_str().into(), self.spelled_out(value, at)?));
                }
                named.sort();
                let required = named.iter().map(|(name, _)| name.clone()).collect();
                let rest = Some(self.push(Kind::Nothing, "", at)?);
                let fields = Kind::Fields(Fields { named, patterns: Vec::new(), rest });
                (Types::OBJECT, [self.push(fields, "", at)?, self.push(Kind::Required(required), "", at)?])
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return self.push(
                    Kind::Members { values: vec![value.clone()], structured: Vec::new() },
                    "",
                    at,
                );
            }
        };
        let types = self.push(Kind::Types(types), "", at)?;
        let [first, second] = part;
        self.push(Kind::All(vec![types, first, second]), "", at)
    }

    pub(super) fn names(&self, value: &Value, keyword: &str, at: At) -> Result<Vec<Box<str>>, SchemaError> {
        let wrong = || self.wrong(at, keyword, "must be a list of different property names");
        let Value::Array(list) = value else { return Err(wrong()) };
        let mut names: Vec<Box<str>> = Vec::with_capacity(list.len());
        for name in list {
            names.push(name.as_str().ok_or_else(wrong)?.into());
        }
        names.sort_unstable();
        let n_stated = names.len();
        names.dedup();
        if names.len() == n_stated { Ok(names) } else { Err(wrong()) }
    }

    pub(super) fn count(&self, value: &Value, keyword: &str, at: At) -> Result<u64, SchemaError> {
        let Value::Number(number) = value else {
            return Err(self.wrong(at, keyword, "must be a whole number"));
        };
        if let Some(count) = number.as_u64() {
            return Ok(count);
        }
        let written_as_float = number.is_f64() && at.dialect != Dialect::Draft04;
        let whole = self.number(value, keyword, at)?;
        match u64::try_from(whole.numerator()) {
            Ok(count) if written_as_float && whole.is_integer() => Ok(count),
            _ => Err(self.wrong(at, keyword, "must be a whole number, zero or more")),
        }
    }

    pub(super) fn number(&self, value: &Value, keyword: &str, at: At) -> Result<Rational, SchemaError> {
        let Value::Number(number) = value else { return Err(self.wrong(at, keyword, "must be a number")) };
        Rational::read(number).ok_or_else(|| {
            let message =
                format!("`{number}` cannot be compared exactly: stay within 2^53 and 18 decimal places");
            SchemaError::new(SchemaErrorKind::NumberTooLarge, self.pointer(at, keyword), message)
        })
    }

    pub(super) fn pattern(&mut self, source: &'v str, keyword: &str, at: At) -> Result<Pattern, SchemaError> {
        let pattern = Pattern::compile(source).map_err(|fault| {
            let (kind, message) = match fault {
                PatternFault::Invalid => {
                    (SchemaErrorKind::Invalid, format!("`{source}` is not a regular expression"))
                }
                PatternFault::Backreference => (
                    SchemaErrorKind::UnsupportedPattern,
                    format!("`{source}` uses a back-reference, which cannot be decided: write the alternatives out"),
                ),
            };
            SchemaError::new(kind, self.pointer(at, keyword), message)
        })?;
        if self.weighed.insert(source) {
            self.graph.pattern_weight = self.graph.pattern_weight.saturating_add(pattern.weight());
        }
        self.graph.relies_on_validator |= pattern.parts().is_none();
        Ok(pattern)
    }

    fn pointer(&self, at: At, keyword: &str) -> String {
        let place = self.graph.pointer_to_place(at.place);
        if keyword.is_empty() { place } else { format!("{place}/{keyword}") }
    }

    pub(super) fn wrong(&self, at: At, keyword: &str, message: impl std::fmt::Display) -> SchemaError {
        let message = if keyword.is_empty() { message.to_string() } else { format!("`{keyword}` {message}") };
        SchemaError::new(SchemaErrorKind::Invalid, self.pointer(at, keyword), message)
    }
}
