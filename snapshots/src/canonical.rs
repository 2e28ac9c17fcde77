//! Canonical JSON: one spelling per document, as RFC 8785 defines it.
//!
//! The digest of a snapshot is the digest of these bytes, so two writers that differ in one byte name two
//! different snapshots. The rules: no white space; object members in the order of their keys' UTF-16 code units;
//! strings with the shortest escapes; numbers as ECMAScript prints them.
//!
//! Stricter than the RFC in one place: it rounds integers beyond 2^53, and two documents that differ would then
//! have one digest. Here such an integer is refused. A number that was written as a float (`1e20`) is exactly
//! what it is and passes.
//!
//! Law (property test below): what `to_canonical` writes, `from_canonical` reads, and writing that again gives the
//! same bytes.

mod check;

use std::cmp::Ordering;
use std::fmt;

use bailiwick_bundles::{Digest, escape};
use serde_json::{Number, Value};

pub(crate) use check::is_canonical;

/// How many arrays and objects may be open at once: less than the JSON parser's own bound, so that whatever is
/// written can be read.
const MAX_DEPTH: usize = 120;

/// 2^53: up to here every integer is a distinct double.
const EXACT: u64 = 1 << 53;

/// Why a value has no canonical form, or why bytes are not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CanonicalError {
    /// An integer beyond ±2^53, at this JSON Pointer: canonical JSON would round it.
    Inexact {
        /// Where it stands.
        pointer: String,
        /// Its digits.
        number: String,
    },
    /// More than 120 arrays and objects inside each other.
    TooDeep {
        /// Where the first one too many stands.
        pointer: String,
    },
    /// The bytes are not JSON.
    NotJson {
        /// The line of the fault, from 1.
        line: usize,
        /// The column of the fault in bytes, from 1.
        column: usize,
    },
    /// The bytes are JSON, but in another spelling: white space, order, escapes, numbers or a duplicate key.
    OtherSpelling {
        /// The first byte that differs from the canonical form, from 0.
        offset: usize,
    },
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inexact { pointer, number } => {
                write!(f, "the integer {number} at {} cannot be held exactly (beyond 2^53)", Place(pointer))
            }
            Self::TooDeep { pointer } => {
                write!(f, "more than {MAX_DEPTH} nested arrays and objects at {}", Place(pointer))
            }
            Self::NotJson { line, column } => write!(f, "not JSON (line {line}, column {column})"),
            Self::OtherSpelling { offset } => write!(f, "not in canonical form (from byte {offset} on)"),
        }
    }
}

impl std::error::Error for CanonicalError {}

/// A pointer for people: the empty one means the whole document.
struct Place<'a>(&'a str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("the top") } else { write!(f, "`{}`", self.0) }
    }
}

/// The canonical bytes of `value` (RFC 8785), UTF-8 without a final newline.
///
/// # Errors
/// An integer beyond ±2^53, or more than 120 levels; both with the place.
pub fn to_canonical(value: &Value) -> Result<Vec<u8>, CanonicalError> {
    let mut writer = Writer { out: Vec::with_capacity(1024), numbers: ryu_js::Buffer::new() };
    match writer.value(value, 0) {
        Ok(()) => Ok(writer.out),
        Err(refusal) => Err(refusal.into_error()),
    }
}

/// The digest of the canonical bytes of `value`.
///
/// # Errors
/// As [`to_canonical`].
pub fn canonical_digest(value: &Value) -> Result<Digest, CanonicalError> {
    to_canonical(value).map(|bytes| Digest::of(&bytes))
}

/// [`canonical_digest`] of the object with these members, each key once. Nothing is copied.
///
/// # Errors
/// As [`to_canonical`].
pub fn members_digest<'a>(
    members: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> Result<Digest, CanonicalError> {
    let mut writer = Writer { out: Vec::with_capacity(1024), numbers: ryu_js::Buffer::new() };
    match writer.members(members.into_iter().collect(), 0) {
        Ok(()) => Ok(Digest::of(&writer.out)),
        Err(refusal) => Err(refusal.into_error()),
    }
}

/// Reads bytes that are canonical already, and refuses every other spelling of the same document.
///
/// A duplicate key is one of those spellings, so it is refused as well. An integer beyond 2^53 in canonical bytes is
/// how a float of that size is printed, and comes back as that float.
///
/// # Errors
/// Bytes that are not JSON, not canonical, or too deep.
pub fn from_canonical(bytes: &[u8]) -> Result<Value, CanonicalError> {
    let mut value: Value = serde_json::from_slice(bytes)
        .map_err(|error| CanonicalError::NotJson { line: error.line(), column: error.column() })?;
    floats_again(&mut value);
    let again = to_canonical(&value)?;
    if again == bytes {
        return Ok(value);
    }
    let offset = again.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    Err(CanonicalError::OtherSpelling { offset })
}

/// Turns integers beyond 2^53 into the floats they stand for. One that stands for no float's canonical form is
/// rounded, and the comparison of bytes then refuses it.
fn floats_again(value: &mut Value) {
    match value {
        Value::Number(number) if !is_exact(number) => {
            if let Some(float) = number.as_f64().and_then(Number::from_f64) {
                *number = float;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(floats_again),
        Value::Object(members) => members.values_mut().for_each(floats_again),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether `number` is a float or an integer within ±2^53.
fn is_exact(number: &Number) -> bool {
    match (number.as_u64(), number.as_i64()) {
        (Some(positive), _) => positive <= EXACT,
        (None, Some(negative)) => negative.unsigned_abs() <= EXACT,
        (None, None) => true,
    }
}

struct Writer {
    out: Vec<u8>,
    numbers: ryu_js::Buffer,
}

/// A refusal on its way up: the path is collected backwards, so that a document without fault pays nothing for it.
struct Refusal {
    inexact: Option<String>,
    path: Vec<String>,
}

impl Refusal {
    fn below(mut self, segment: &str) -> Self {
        self.path.push(escape(segment).into_owned());
        self
    }

    fn into_error(self) -> CanonicalError {
        let pointer = self.path.iter().rev().fold(String::new(), |pointer, segment| pointer + "/" + segment);
        match self.inexact {
            Some(number) => CanonicalError::Inexact { pointer, number },
            None => CanonicalError::TooDeep { pointer },
        }
    }
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Refusal> {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(true) => self.out.extend_from_slice(b"true"),
            Value::Bool(false) => self.out.extend_from_slice(b"false"),
            Value::Number(number) => self.number(number)?,
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                let depth = deeper(depth)?;
                self.out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.out.push(b',');
                    }
                    self.value(item, depth).map_err(|refusal| refusal.below(&at.to_string()))?;
                }
                self.out.push(b']');
            }
            Value::Object(members) => {
                self.members(members.iter().map(|(key, member)| (key.as_str(), member)).collect(), depth)?;
            }
        }
        Ok(())
    }

    fn members(&mut self, mut members: Vec<(&str, &Value)>, depth: usize) -> Result<(), Refusal> {
        let depth = deeper(depth)?;
        if !members.is_sorted_by(|(a, _), (b, _)| key_order(a, b).is_lt()) {
            members.sort_unstable_by(|(a, _), (b, _)| key_order(a, b));
        }
        self.out.push(b'{');
        for (at, (key, member)) in members.into_iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            self.string(key);
            self.out.push(b':');
            self.value(member, depth).map_err(|refusal| refusal.below(key))?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn number(&mut self, number: &Number) -> Result<(), Refusal> {
        use std::io::Write as _;
        if !is_exact(number) {
            return Err(Refusal { inexact: Some(number.to_string()), path: Vec::new() });
        }
        // INVARIANT: writing to a `Vec` cannot fail.
        if let Some(integer) = number.as_i64() {
            let _ = write!(self.out, "{integer}");
            return Ok(());
        }
        match number.as_f64().filter(|float| float.is_finite()) {
            Some(float) => self.out.extend_from_slice(self.numbers.format_finite(float).as_bytes()),
            None => return Err(Refusal { inexact: Some(number.to_string()), path: Vec::new() }),
        }
        Ok(())
    }

    /// RFC 8785, 3.2.2.2: only the two quoting characters and the controls are escaped.
    fn string(&mut self, text: &str) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        self.out.push(b'"');
        let mut plain = text.as_bytes();
        while let Some(at) = to_escape(plain) {
            let (run, rest) = plain.split_at(at);
            self.out.extend_from_slice(run);
            let Some((&byte, rest)) = rest.split_first() else { break };
            plain = rest;
            match byte {
                b'"' => self.out.extend_from_slice(b"\\\""),
                b'\\' => self.out.extend_from_slice(b"\\\\"),
                0x08 => self.out.extend_from_slice(b"\\b"),
                b'\t' => self.out.extend_from_slice(b"\\t"),
                b'\n' => self.out.extend_from_slice(b"\\n"),
                0x0c => self.out.extend_from_slice(b"\\f"),
                b'\r' => self.out.extend_from_slice(b"\\r"),
                control => {
                    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
                    self.out.extend_from_slice(b"\\u00");
                    self.out.extend_from_slice(&[digit(control >> 4), digit(control & 0xf)]);
                }
            }
        }
        self.out.extend_from_slice(plain);
        self.out.push(b'"');
    }
}

/// Where the first byte that needs an escape is. Whole chunks without one are passed without a branch per byte.
fn to_escape(text: &[u8]) -> Option<usize> {
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let clean = |chunk: &[u8]| !chunk.iter().fold(false, |any, &byte| any | special(byte));
    let start = text.chunks_exact(16).take_while(|chunk| clean(chunk)).count() * 16;
    let at = text.iter().skip(start).position(|&byte| special(byte))?;
    Some(start + at)
}

fn deeper(depth: usize) -> Result<usize, Refusal> {
    if depth < MAX_DEPTH { Ok(depth + 1) } else { Err(Refusal { inexact: None, path: Vec::new() }) }
}

/// RFC 8785, 3.2.3: by UTF-16 code units. ASCII keys sort the same way by their bytes.
pub(crate) fn key_order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

#[cfg(test)]
mod tests;
