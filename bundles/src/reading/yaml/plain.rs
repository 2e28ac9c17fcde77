//! What an unquoted scalar is.
//!
//! The core schema (YAML 1.2.2, 10.3.2) decides, but three kinds of text that it or others read as numbers are
//! strings here and marked *ambiguous*, so that they pass only where a string is due: numbers with a needless
//! leading zero (`010` is ten here and eight there), `0x`, `0o` and `0b`, and whatever the YAML 1.1 types take for a
//! boolean, integer, float, timestamp, value or merge (<https://yaml.org/type/>): `no`, `on`, `1_000`, `1:30`,
//! `2001-12-14`, `=`, `<<`.

/// What a plain scalar stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    /// `[-+]? digits [. digits] [e digits]` without a needless zero.
    Number,
    /// An infinity or no number.
    NotFinite,
    Text {
        ambiguous: bool,
    },
}

pub(super) fn resolve(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Plain::Null,
        "true" | "True" | "TRUE" => Plain::Bool(true),
        "false" | "False" | "FALSE" => Plain::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Plain::NotFinite,
        "y" | "Y" | "yes" | "Yes" | "YES" | "n" | "N" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off"
        | "Off" | "OFF" | "=" | "<<" => Plain::Text { ambiguous: true },
        _ => numeric(text),
    }
}

fn numeric(text: &str) -> Plain {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Plain::Text { ambiguous: false };
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Plain::NotFinite;
    }
    match number(unsigned) {
        Some(needless_zero) if !needless_zero => Plain::Number,
        Some(_) => Plain::Text { ambiguous: true },
        None => Plain::Text {
            ambiguous: prefixed(unsigned)
                || grouped(unsigned)
                || sexagesimal(unsigned)
                || (unsigned.len() == text.len() && timestamp(text)),
        },
    }
}

/// Takes the digits off the front.
fn digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at(end)
}

/// Whether a number of the core schema has a needless leading zero; `None` if the text is none.
fn number(unsigned: &str) -> Option<bool> {
    let (integer, mut rest) = digits(unsigned);
    let mut any = !integer.is_empty();
    if let Some(tail) = rest.strip_prefix('.') {
        let (fraction, tail) = digits(tail);
        any |= !fraction.is_empty();
        rest = tail;
    }
    if let Some(tail) = rest.strip_prefix(['e', 'E']) {
        let (exponent, tail) = digits(tail.strip_prefix(['-', '+']).unwrap_or(tail));
        any &= !exponent.is_empty();
        rest = tail;
    }
    (any && rest.is_empty()).then(|| integer.len() > 1 && integer.starts_with('0'))
}

/// `0x1F`, `0o17`, `0b11`.
fn prefixed(unsigned: &str) -> bool {
    let hex = |b: u8| b.is_ascii_hexdigit() || b == b'_';
    match (unsigned.get(..2), unsigned.get(2..)) {
        (Some("0x" | "0X" | "0o" | "0O" | "0b" | "0B"), Some(rest)) => {
            !rest.is_empty() && rest.bytes().all(hex)
        }
        _ => false,
    }
}

/// `1_000`, `1_000.5`, `1_0e+3`.
fn grouped(unsigned: &str) -> bool {
    unsigned.contains('_') && number(&unsigned.replace('_', "")).is_some()
}

/// `1:30`, `190:20:30.15`: base 60.
fn sexagesimal(unsigned: &str) -> bool {
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or("");
    let mut rest = parts.peekable();
    let whole = !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    if !whole || rest.peek().is_none() {
        return false;
    }
    while let Some(part) = rest.next() {
        let last = rest.peek().is_none();
        let (place, tail) = digits(part);
        let fraction =
            tail.strip_prefix('.').is_some_and(|t| t.bytes().all(|b| b.is_ascii_digit() || b == b'_'));
        let valid = place.len() == 1 || (place.len() == 2 && place < "60");
        if !valid || !(tail.is_empty() || (last && fraction)) {
            return false;
        }
    }
    true
}

/// `2001-12-14`, `2001-12-14t21:59:43.10-05:00`.
fn timestamp(text: &str) -> bool {
    let mut parts = text.splitn(3, '-').map(digits);
    let (Some((year, "")), Some((month, "")), Some((day, time))) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let time = time.strip_prefix(['T', 't']).unwrap_or_else(|| time.trim_start_matches([' ', '\t']));
    year.len() == 4
        && (1..=2).contains(&month.len())
        && (1..=2).contains(&day.len())
        && (time.is_empty() || time.starts_with(|c: char| c.is_ascii_digit()))
}
