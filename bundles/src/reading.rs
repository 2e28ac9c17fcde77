//! Bytes to spanned trees, strictly.
//!
//! [`text`] turns bytes into a text that is safe to show and to point into; [`yaml`] and [`json`] read a text
//! into the same [`Node`](crate::Node) tree. Each goes on after a fault where the rest still means something,
//! so one run shows all of them. All three take time and memory linear in the text, which is at most
//! [`MAX_BYTES`], and none recurses deeper than [`MAX_DEPTH`].
//!
//! Here: the rules both readers share (numbers, depth, duplicate keys). Not here: what a document must hold.

mod json;
mod text;
mod yaml;

use std::collections::HashMap;

use crate::diagnostics::{Code, Diagnostic, code};
use crate::node::Node;
use crate::source::{FileId, Span, Spanned, offset};

pub use json::read_json;
pub use text::{add_text, is_obeyed};
pub use yaml::read_yaml;

/// The most bytes a file may have: 1 MiB.
pub const MAX_BYTES: usize = 1 << 20;

/// How many lists and maps may be open at once.
pub const MAX_DEPTH: usize = 64;

/// The largest integer up to which every integer is a double: 2^53 (RFC 8785 prints larger ones rounded).
const MAX_INTEGER: u64 = 1 << 53;

/// Faults shown of one file. A hostile megabyte could else make a million.
const MAX_FAULTS: usize = 1000;

/// Where the faults of one file go; counts those past [`MAX_FAULTS`] instead of keeping them.
struct Faults<'d> {
    file: FileId,
    sink: &'d mut Vec<Diagnostic>,
    n_shown: usize,
    n_dropped: usize,
}

impl<'d> Faults<'d> {
    fn new(file: FileId, sink: &'d mut Vec<Diagnostic>) -> Self {
        Self { file, sink, n_shown: 0, n_dropped: 0 }
    }

    /// The bytes `start..end` of the file.
    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: offset(start), end: offset(end.max(start)) }
    }

    /// Keeps what `make` gives while there is room.
    fn push(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.n_shown < MAX_FAULTS {
            self.n_shown += 1;
            self.sink.push(make());
        } else {
            self.n_dropped += 1;
        }
    }

    fn number(&mut self, text: &str, span: Span) {
        self.push(|| {
            Diagnostic::new(
                &code::INEXACT_NUMBER,
                format!("`{}` is a number that a double does not hold exactly", excerpt(text)),
            )
            .label(span, "")
            .help("write an integer within ±9007199254740992 or a decimal of at most 17 digits, or quote it if it is text")
        });
    }

    fn too_deep(&mut self, span: Span) {
        self.push(|| {
            Diagnostic::new(
                &code::TOO_DEEP,
                format!("more than {MAX_DEPTH} lists and maps inside each other"),
            )
            .label(span, "one too many")
            .help("flatten the value")
        });
    }

    fn one(&mut self, code: &'static Code, message: String, span: Span, help: &str) {
        self.push(|| Diagnostic::new(code, message).label(span, "").help(help));
    }

    /// Reports keys that are written again and takes their entries out: the first one stays.
    fn settle_keys(&mut self, entries: &mut Vec<(Spanned<String>, Node)>) {
        let again: Vec<(usize, Span)> = if entries.len() <= 8 {
            let earlier = |at: usize, key: &str| {
                entries.iter().take(at).find(|(k, _)| k.value == key).map(|(k, _)| (at, k.span))
            };
            entries.iter().enumerate().filter_map(|(at, (key, _))| earlier(at, &key.value)).collect()
        } else {
            let mut first: HashMap<&str, (usize, Span)> = HashMap::with_capacity(entries.len());
            let mut again = Vec::new();
            for (at, (key, _)) in entries.iter().enumerate() {
                let (earliest, span) = *first.entry(&key.value).or_insert((at, key.span));
                if earliest != at {
                    again.push((at, span));
                }
            }
            again
        };
        for (at, first) in &again {
            let Some((key, _)) = entries.get(*at) else { continue };
            self.push(|| {
                Diagnostic::new(
                    &code::DUPLICATE_KEY,
                    format!("key `{}` is written more than once", excerpt(&key.value)),
                )
                .label(key.span, "again here")
                .label(*first, "first here")
                .help("keep one of the two")
            });
        }
        if !again.is_empty() {
            let mut again = again.into_iter().map(|(at, _)| at).peekable();
            let mut at = 0;
            entries.retain(|_| {
                at += 1;
                again.next_if_eq(&(at - 1)).is_none()
            });
        }
    }

    /// Says on the last fault shown how many there are besides.
    fn finish(self) {
        if self.n_dropped > 0
            && let Some(last) = self.sink.last_mut()
        {
            last.notes.push(format!("{} more faults of this file are not shown", self.n_dropped));
        }
    }
}

/// A number that cannot be held, with the nearest one that can.
struct Inexact(serde_json::Number);

/// The number written as `text`: `[-+]? digits [. digits] [e digits]`, either run of digits perhaps empty.
///
/// An integer is held exactly up to 2^53 either way. Another number is the double whose shortest digits are those that
/// are written: one with more digits than a double keeps would be another number, and a limit another limit.
fn number(text: &str) -> Result<serde_json::Number, Inexact> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let integral = unsigned.bytes().all(|b| b.is_ascii_digit());
    if integral
        && let Ok(value) = text.parse::<i64>()
        && value.unsigned_abs() <= MAX_INTEGER
        && (value != 0 || !text.starts_with('-'))
    {
        return Ok(value.into());
    }
    let value = text.parse::<f64>().unwrap_or(f64::NAN);
    let mantissa = unsigned.split(['e', 'E']).next().unwrap_or(unsigned);
    let written_as_zero = mantissa.bytes().all(|b| b == b'0' || b == b'.');
    match serde_json::Number::from_f64(value) {
        Some(held) if value == 0.0 && written_as_zero => Ok(held),
        Some(held) if value != 0.0 && !integral && has_all_digits(text, &held) => Ok(held),
        Some(near) => Err(Inexact(near)),
        None => Err(Inexact(0.into())),
    }
}

/// Whether the shortest digits of a double are those of the text.
fn has_all_digits(text: &str, held: &serde_json::Number) -> bool {
    // So few digits are told apart by any double that is not subnormal.
    const ALWAYS: usize = 15;
    text.len() <= ALWAYS && !text.contains(['e', 'E']) || digits(text) == digits(&held.to_string())
}

/// The significant digits of a number and its power of ten.
fn digits(text: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let mantissa = mantissa.trim_start_matches(['-', '+']);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let shown = all.trim_end_matches('0');
    let n_zeros = i64::try_from(all.len() - shown.len()).ok()?;
    let power = exponent.parse::<i64>().ok()? - i64::try_from(fraction.len()).ok()? + n_zeros;
    Some((shown.trim_start_matches('0').to_owned(), power))
}

/// `text` on one line and at most 60 characters long, for a message.
fn excerpt(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    let mut shown: String = line.chars().take(60).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
