//! Whether bytes are canonical, without building what they say.
//!
//! A store asks this of every document it takes, and a tree of a document costs five times as much as its bytes.
//! Says only yes or no: `from_canonical` finds out what is wrong. Law (tests): both accept the same bytes.

use super::{MAX_DEPTH, key_order, to_escape};

/// Whether `bytes` are one JSON document in canonical form.
pub(crate) fn is_canonical(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    let mut check = Check { rest: text, numbers: ryu_js::Buffer::new() };
    check.value(0).is_some() && check.rest.is_empty()
}

/// What is left of the text. Every method takes its part from the front, or returns nothing when that part is not there
/// in canonical form.
struct Check<'a> {
    rest: &'a str,
    numbers: ryu_js::Buffer,
}

impl<'a> Check<'a> {
    fn first(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.first()? {
            b'n' => self.take("null"),
            b't' => self.take("true"),
            b'f' => self.take("false"),
            b'"' => self.string().map(|_| ()),
            b'[' if depth < MAX_DEPTH => self.array(depth + 1),
            b'{' if depth < MAX_DEPTH => self.object(depth + 1),
            _ => self.number(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.take("[")?;
        if self.take("]").is_some() {
            return Some(());
        }
        loop {
            self.value(depth)?;
            if self.take(",").is_none() {
                return self.take("]");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.take("{")?;
        if self.take("}").is_some() {
            return Some(());
        }
        let mut before: Option<&str> = None;
        loop {
            let key = self.string()?;
            if !before.is_none_or(|before| comes_before(before, key)) {
                return None;
            }
            before = Some(key);
            self.take(":")?;
            self.value(depth)?;
            if self.take(",").is_none() {
                return self.take("}");
            }
        }
    }

    /// The text between the quotes, as it is written.
    fn string(&mut self) -> Option<&'a str> {
        self.take("\"")?;
        let whole = self.rest;
        loop {
            self.rest = self.rest.get(to_escape(self.rest.as_bytes())?..)?;
            if self.first()? == b'"' {
                break;
            }
            self.rest = self.rest.get(escape(self.rest)?.1..)?;
        }
        let text = whole.get(..whole.len() - self.rest.len())?;
        self.take("\"")?;
        Some(text)
    }

    fn number(&mut self) -> Option<()> {
        let rest = self.rest;
        let of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e');
        let length = rest.bytes().take_while(of_number).count();
        let (number, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        // The common case: up to 15 digits are always exact.
        let digits = number.strip_prefix('-').unwrap_or(number);
        let is_integer = digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_integer && (number == "0" || (!digits.is_empty() && !digits.starts_with('0'))) {
            return Some(());
        }
        let float = number.parse::<f64>().ok().filter(|float| float.is_finite())?;
        (self.numbers.format_finite(float) == number).then_some(())
    }
}

/// The character that a canonical escape at the front stands for, and the escape's length.
fn escape(text: &str) -> Option<(char, usize)> {
    let short = match text.as_bytes().get(..2)? {
        b"\\\"" => '"',
        b"\\\\" => '\\',
        b"\\b" => '\u{8}',
        b"\\t" => '\t',
        b"\\n" => '\n',
        b"\\f" => '\u{c}',
        b"\\r" => '\r',
        b"\\u" => {
            let digits = text.strip_prefix("\\u00")?.get(..2)?;
            let code = u8::from_str_radix(digits, 16).ok().filter(|code| *code < 0x20)?;
            let is_short = matches!(code, 0x8 | 0x9 | 0xa | 0xc | 0xd);
            let is_lower = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            return (is_lower && !is_short).then_some((char::from(code), 6));
        }
        _ => return None,
    };
    Some((short, 2))
}

/// Whether two keys, as they are written, differ and are in order.
fn comes_before(a: &str, b: &str) -> bool {
    if a.contains('\\') || b.contains('\\') {
        key_order(&unescaped(a), &unescaped(b)).is_lt()
    } else {
        key_order(a, b).is_lt()
    }
}

fn unescaped(mut text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    while let Some((plain, rest)) = text.find('\\').and_then(|at| text.split_at_checked(at)) {
        out.push_str(plain);
        let Some((character, length)) = escape(rest) else { break };
        out.push(character);
        text = rest.get(length..).unwrap_or_default();
    }
    out + text
}
