//! JSON (RFC 8259) into the spanned tree.
//!
//! Beyond the RFC: duplicate keys, lone surrogates, numbers that a double does not hold and more than
//! [`MAX_DEPTH`] levels are refused. Duplicate keys and numbers are reported and reading goes on; the rest ends
//! it. Recursion is bounded by the depth.

use crate::diagnostics::{Diagnostic, code};
use crate::node::{Node, NodeValue, Text};
use crate::reading::{Faults, Inexact, MAX_DEPTH, excerpt, number};
use crate::source::{FileId, Spanned};

/// The value that `text`, all of it, is; `None` if it is none, which `diagnostics` then says.
///
/// A tree may be there beside faults: of keys that are there twice the first is kept, of a number too large the
/// nearest.
pub fn read_json(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut reader = Reader { text, at: 0, depth: 0, faults: Faults::new(file, diagnostics) };
    let node = reader.document().ok();
    reader.faults.finish();
    node
}

/// Reading has ended; the fault is said.
struct Ended;

struct Reader<'t, 'd> {
    text: &'t str,
    at: usize,
    depth: usize,
    faults: Faults<'d>,
}

impl Reader<'_, '_> {
    fn document(&mut self) -> Result<Node, Ended> {
        self.skip_space();
        let node = self.value()?;
        self.skip_space();
        if self.at < self.text.len() {
            return self.wrong("text after the value", "remove it: a JSON file holds one value");
        }
        Ok(node)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Ends reading at the character here.
    fn wrong<T>(&mut self, message: &str, help: &str) -> Result<T, Ended> {
        let width = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.wrong_at(self.at, self.at + width, message, help)
    }

    fn wrong_at<T>(&mut self, start: usize, end: usize, message: &str, help: &str) -> Result<T, Ended> {
        let span = self.faults.span(start, end);
        self.faults.one(&code::SYNTAX, message.to_owned(), span, help);
        Err(Ended)
    }

    fn value(&mut self) -> Result<Node, Ended> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => NodeValue::String(Text { text: self.string()?, ambiguous: false }),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't' | b'f' | b'n') => self.word()?,
            Some(_) => return self.wrong("a value is due here", "strings and keys stand in double quotes"),
            None => return self.wrong("the file ends where a value is due", "complete the value"),
        };
        Ok(Node { span: self.faults.span(start, self.at), value })
    }

    fn enter(&mut self) -> Result<(), Ended> {
        if self.depth == MAX_DEPTH {
            let span = self.faults.span(self.at, self.at + 1);
            self.faults.too_deep(span);
            return Err(Ended);
        }
        self.depth += 1;
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn object(&mut self) -> Result<NodeValue, Ended> {
        self.enter()?;
        let mut entries = Vec::new();
        if !self.take(b'}') {
            // The keys so far are looked at even where reading ends in the middle.
            let read = self.members(&mut entries);
            self.faults.settle_keys(&mut entries);
            read?;
        }
        self.depth -= 1;
        Ok(NodeValue::Mapping(entries))
    }

    fn members(&mut self, entries: &mut Vec<(Spanned<String>, Node)>) -> Result<(), Ended> {
        loop {
            let start = self.at;
            if self.peek() != Some(b'"') {
                return self.wrong("a key in double quotes is due here", "quote the key, or remove a comma");
            }
            let key = self.string()?;
            let key = Spanned::new(key, self.faults.span(start, self.at));
            self.skip_space();
            if !self.take(b':') {
                return self.wrong("`:` is due here", "write `:` between key and value");
            }
            self.skip_space();
            let value = self.value()?;
            entries.push((key, value));
            self.skip_space();
            if self.take(b'}') {
                return Ok(());
            }
            if !self.take(b',') {
                return self
                    .wrong("`,` or `}` is due here", "separate entries with `,`, or close the object");
            }
            self.skip_space();
        }
    }

    fn array(&mut self) -> Result<NodeValue, Ended> {
        self.enter()?;
        let mut items = Vec::new();
        if !self.take(b']') {
            loop {
                items.push(self.value()?);
                self.skip_space();
                if self.take(b']') {
                    break;
                }
                if !self.take(b',') {
                    return self
                        .wrong("`,` or `]` is due here", "separate items with `,`, or close the list");
                }
                self.skip_space();
            }
        }
        self.depth -= 1;
        Ok(NodeValue::Sequence(items))
    }

    fn word(&mut self) -> Result<NodeValue, Ended> {
        let rest = self.text.get(self.at..).unwrap_or("");
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let value = match rest.get(..length) {
            Some("true") => NodeValue::Bool(true),
            Some("false") => NodeValue::Bool(false),
            Some("null") => NodeValue::Null,
            _ => {
                let word = excerpt(rest.get(..length).unwrap_or(""));
                return self.wrong_at(
                    self.at,
                    self.at + length,
                    &format!("`{word}` is no JSON value"),
                    "write `true`, `false` or `null`, or quote it",
                );
            }
        };
        self.at += length;
        Ok(value)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<NodeValue, Ended> {
        let start = self.at;
        self.take(b'-');
        let leading_zero = self.peek() == Some(b'0');
        let n_digits = self.digits();
        if n_digits == 0 {
            return self.wrong("a digit is due here", "complete the number");
        }
        if leading_zero && n_digits > 1 {
            return self.wrong_at(
                start,
                self.at,
                "a number does not begin with a needless 0",
                "remove the 0, or quote the text",
            );
        }
        if self.take(b'.') && self.digits() == 0 {
            return self.wrong("a digit is due here", "write a digit after `.`");
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            if self.digits() == 0 {
                return self.wrong("a digit is due here", "complete the exponent");
            }
        }
        let text = self.text.get(start..self.at).unwrap_or("");
        Ok(NodeValue::Number(number(text).unwrap_or_else(|Inexact(near)| {
            let span = self.faults.span(start, self.at);
            self.faults.number(text, span);
            near
        })))
    }

    fn string(&mut self) -> Result<String, Ended> {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            let run = self.at;
            while self.peek().is_some_and(|b| b >= 0x20 && b != b'"' && b != b'\\') {
                self.at += 1;
            }
            value.push_str(self.text.get(run..self.at).unwrap_or(""));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(value);
                }
                Some(b'\\') => value.push(self.escape()?),
                Some(_) => {
                    return self
                        .wrong("a control character in a string", "write it as an escape, such as `\\n`");
                }
                None => {
                    return self.wrong_at(
                        start,
                        start + 1,
                        "the string that begins here does not end",
                        "close it with `\"`",
                    );
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Ended> {
        let start = self.at;
        self.at += 1;
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => {
                return self.wrong_at(
                    start,
                    start + 1,
                    "no JSON escape begins like this",
                    "write `\\\\` for a backslash",
                );
            }
        };
        self.at += 1;
        Ok(c)
    }

    /// The character of `\uXXXX`, or of two of them; `self.at` is at the `u`.
    fn unicode(&mut self, start: usize) -> Result<char, Ended> {
        const LONE: &str = "half of a surrogate pair is no character";
        const BOTH: &str = "write both halves, or the character itself";
        let high = self.hex(start)?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let end = self.at;
        if !(0xD800..0xDC00).contains(&high) || !self.take(b'\\') || self.peek() != Some(b'u') {
            return self.wrong_at(start, end, LONE, BOTH);
        }
        let low = self.hex(end)?;
        if !(0xDC00..0xE000).contains(&low) {
            return self.wrong_at(start, end, LONE, BOTH);
        }
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)).ok_or(Ended)
    }

    fn hex(&mut self, start: usize) -> Result<u32, Ended> {
        let digits =
            self.text.get(self.at + 1..self.at + 5).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(value) => {
                self.at += 5;
                Ok(value)
            }
            None => self.wrong_at(
                start,
                start + 2,
                "four hexadecimal digits are due after `\\u`",
                "complete the escape",
            ),
        }
    }
}
