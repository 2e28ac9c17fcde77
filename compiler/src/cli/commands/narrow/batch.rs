//! `narrow --batch`: many pairs, a JSON line for each.
//!
//! A pair that cannot be read is answered like every other one, as `invalid`, and the next one is read. Members other than
//! `id`, `old` and `new` are taken no notice of.

use std::cell::RefCell;
use std::fmt;
use std::time::Instant;

use bailiwick_bundles::{Diagnostic, code};
use bailiwick_narrowing::{Budget, Schema, contains};
use camino::Utf8Path;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use super::super::super::{CliError, Context};
use super::{object, verdict_json};
use crate::write::plain;

/// A pair that was read, or why it was not.
type Pair = Result<Value, Fault>;

#[derive(Debug, PartialEq)]
struct Fault {
    id: Option<Value>,
    reason: String,
}

/// Pairs as a JSON array or as JSON lines, each `{id, old, new}`: `new` is asked to be within `old`.
///
/// 3 where a pair could not be read and nobody can say which one it is, 1 where one is not contained.
pub(super) fn run(context: &mut Context<'_, '_>, path: &Utf8Path) -> Result<u8, CliError> {
    let pairs = read(context, path).and_then(|text| read_pairs(&text));
    let pairs = match pairs {
        Ok(pairs) => pairs,
        Err(reason) => {
            let message = format!("`{path}` cannot be read: {reason}");
            context.session.push(
                Diagnostic::new(&code::UNREADABLE, message)
                    .help("a JSON array, or a JSON object a line, of `id`, `old`, `new`"),
            );
            return context.fail();
        }
    };
    if pairs.is_empty() {
        writeln!(context.io.stderr, "no pairs in `{path}`")?;
    }
    let mut exit = 0;
    for pair in pairs {
        let is_lost = pair.as_ref().is_err_and(|fault| fault.id.is_none());
        let row = answer(pair);
        let is_contained = row.get("verdict").is_some_and(|verdict| verdict == "contained");
        exit = exit.max(if is_lost { 3 } else { u8::from(!is_contained) });
        writeln!(context.io.stdout, "{}", Value::Object(row))?;
    }
    Ok(exit)
}

fn read(context: &mut Context<'_, '_>, path: &Utf8Path) -> Result<String, String> {
    let read = if path == "-" {
        std::io::read_to_string(&mut *context.io.stdin)
    } else {
        std::fs::read_to_string(context.io.cwd.join(path))
    };
    read.map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            "there is no such file".to_owned()
        } else if error.kind() == std::io::ErrorKind::InvalidData {
            "it is not UTF-8".to_owned()
        } else {
            plain(&error)
        }
    })
}

/// The line that is printed for a pair.
fn answer(pair: Pair) -> Map<String, Value> {
    let begun = Instant::now();
    let (id, compared) = match pair {
        Ok(pair) => (pair.get("id").cloned(), compare(&pair)),
        Err(fault) => (fault.id, Err(fault.reason)),
    };
    let mut row = match compared {
        Ok(mut row) => {
            let micros = begun.elapsed().as_secs_f64() * 1e6;
            row.insert("micros".into(), json!((micros * 10.0).round() / 10.0));
            row
        }
        Err(reason) => object([("verdict", "invalid".into()), ("reason", reason.into())]),
    };
    row.insert("id".into(), id.unwrap_or_default());
    row
}

fn compare(pair: &Value) -> Result<Map<String, Value>, String> {
    let compiled = |key: &str| {
        let value = pair.get(key).ok_or_else(|| format!("the pair has no `{key}`"))?;
        Schema::compile(value).map_err(|error| format!("`{key}`: {error}"))
    };
    let (outer, inner) = (compiled("old")?, compiled("new")?);
    let mut row = verdict_json(&contains(&outer, &inner, &Budget::default()));
    row.remove("proof");
    row.remove("offence");
    Ok(row)
}

/// The pairs of a text; an array that is no JSON has none.
fn read_pairs(text: &str) -> Result<Vec<Pair>, String> {
    if text.trim_start().starts_with('[') {
        let faults = RefCell::default();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let pairs = deserializer.deserialize_seq(Pairs(&faults)).and_then(|pairs| {
            deserializer.end()?;
            Ok(pairs)
        });
        return pairs
            .map_err(|error| format!("line {}, column {}: {}", error.line(), error.column(), words(&error)));
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    Ok(lines.map(|(number, line)| read_line(number, line)).collect())
}

fn read_line(number: usize, line: &str) -> Pair {
    let (faults, id) = (RefCell::default(), RefCell::default());
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let read = PairSeed { faults: &faults, id: &id }.deserialize(&mut deserializer).and_then(|pair| {
        deserializer.end()?;
        Ok(pair)
    });
    match read {
        Ok(pair) => {
            pair.map_err(|fault| Fault { reason: format!("line {number}: {}", fault.reason), ..fault })
        }
        Err(error) => {
            let reason = format!("line {number}, column {}: {}", error.column(), words(&error));
            Err(Fault { id: id.into_inner(), reason })
        }
    }
}

/// What is wrong, without the place.
fn words(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// Keys that stand twice in one object: which of the two counts, nobody could say.
type Faults = RefCell<Vec<String>>;

struct Pairs<'f>(&'f Faults);

impl<'de> Visitor<'de> for Pairs<'_> {
    type Value = Vec<Pair>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of pairs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Pair>, A::Error> {
        let mut pairs = Vec::new();
        loop {
            let id = RefCell::default();
            match items.next_element_seed(PairSeed { faults: self.0, id: &id })? {
                Some(pair) => pairs.push(pair),
                None => return Ok(pairs),
            }
        }
    }
}

/// One pair. Its id is known as soon as it is read, whatever comes after it.
struct PairSeed<'f> {
    faults: &'f Faults,
    id: &'f RefCell<Option<Value>>,
}

impl<'de> DeserializeSeed<'de> for PairSeed<'_> {
    type Value = Pair;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Pair, D::Error> {
        let pair = deserializer.deserialize_any(Strict { faults: self.faults, id: Some(self.id) })?;
        Ok(match self.faults.take().into_iter().next() {
            Some(reason) => Err(Fault { id: self.id.take(), reason }),
            None if pair.is_object() => Ok(pair),
            None => Err(Fault { id: None, reason: "a pair is an object of `id`, `old`, `new`".to_owned() }),
        })
    }
}

/// A JSON value that is read to its end and whose faults are noted.
///
/// Not the reader of documents: pairs may hold larger numbers and nest deeper than a document may, as far as the engine
/// compares them.
#[derive(Clone, Copy)]
struct Strict<'f> {
    faults: &'f Faults,
    /// Where the member `id` goes.
    id: Option<&'f RefCell<Option<Value>>>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Strict { id: None, ..self })? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(Strict { id: None, ..self })?;
            if let Some(id) = self.id.filter(|_| key == "id") {
                id.borrow_mut().get_or_insert_with(|| value.clone());
            }
            if object.contains_key(&key) {
                self.faults.borrow_mut().push(format!("the key `{key}` stands twice"));
            }
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{answer, read_pairs};

    fn rows(text: &str) -> Vec<Value> {
        let without_time = |pair| {
            let mut row = answer(pair);
            row.remove("micros");
            Value::Object(row)
        };
        read_pairs(text).expect("pairs").into_iter().map(without_time).collect()
    }

    #[test]
    fn a_line_that_cannot_be_read_is_invalid_and_the_next_one_is_compared() {
        let text = "{\"id\": \"a\", \"old\": {}, \"new\": \n\n{\"old\": true, \"new\": false, \"id\": 2, \"truth\": 1}\n7\n";
        let expected = [
            json!({"id": "a", "verdict": "invalid", "reason": "line 1, column 30: EOF while parsing a value"}),
            json!({"id": 2, "verdict": "contained"}),
            json!({"id": null, "verdict": "invalid", "reason": "line 4: a pair is an object of `id`, `old`, `new`"}),
        ];
        assert_eq!(rows(text), expected);
    }

    #[test]
    fn a_key_that_stands_twice_makes_a_pair_invalid() {
        let pair = "{\"old\": {\"type\": \"string\", \"type\": \"null\"}, \"new\": {}, \"id\": 1}";
        let fault = |reason: &str| json!({"id": 1, "verdict": "invalid", "reason": reason});
        assert_eq!(rows(pair), [fault("line 1: the key `type` stands twice")]);
        assert_eq!(rows(&format!("[{pair}]")), [fault("the key `type` stands twice")]);
        let twice = "{\"id\": 1, \"id\": 2}";
        assert_eq!(rows(twice), [fault("line 1: the key `id` stands twice")]);
    }

    #[test]
    fn an_array_that_is_no_json_has_no_pairs() {
        let fault = read_pairs("[{\"id\": 1},\n {\"id\": 2}").expect_err("no JSON");
        assert_eq!(fault, "line 2, column 10: EOF while parsing a list");
        assert_eq!(read_pairs(" \n").expect("lines"), []);
        let text = "{\"a\": [1, -1, 1.5, null, true, \"b\", {\"c\": {}}]}\n";
        let pairs = read_pairs(text).expect("lines");
        assert_eq!(pairs, [Ok(json!({"a": [1, -1, 1.5, null, true, "b", {"c": {}}]}))]);
    }
}
