//! Bytes to text that is safe to show and to point into.
//!
//! UTF-8 only, at most 1 MiB. A byte order mark at the beginning is taken off *before* the text enters the
//! [`SourceMap`], so spans are ranges of the text that is held, and lines and columns are those an editor shows.
//! Refused are characters that make a text look other than it is: bidirectional controls (Unicode UAX #9;
//! CVE-2021-42574), the C0 and C1 controls but tab and line feed, and a carriage return that no line feed
//! follows, which one reader takes for the end of a line (or of a comment) and the next one does not.

use std::sync::Arc;

use crate::diagnostics::{Diagnostic, code};
use crate::reading::{Faults, MAX_BYTES};
use crate::source::{FileId, SourceMap, Span};

/// Why bytes are not a text that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextFault {
    /// More than [`MAX_BYTES`].
    TooLarge {
        /// How many there are.
        n_bytes: usize,
    },
    /// Not UTF-8.
    NotUtf8 {
        /// The first byte that does not fit, counted from 0 at the beginning of the file.
        offset: usize,
        /// Its line, counted from 1.
        line: usize,
        /// Whether the bytes begin as UTF-16 does.
        utf16: bool,
    },
    /// Characters that make the text look other than it is.
    ControlCharacters {
        /// The text, without byte order mark, to be pointed into and not to be read.
        text: String,
        /// Byte offset in `text` and character, in order; at least one.
        found: Vec<(usize, char)>,
    },
}

impl TextFault {
    /// Says the fault of `file`, which holds the text of [`TextFault::ControlCharacters`] and else nothing.
    pub(super) fn report(&self, file: FileId, diagnostics: &mut Vec<Diagnostic>) {
        let whole = Span::of_file(file);
        match self {
            Self::TooLarge { n_bytes } => diagnostics.push(
                Diagnostic::new(
                    &code::TOO_LARGE,
                    format!("the file has {n_bytes} bytes, more than {MAX_BYTES} (1 MiB)"),
                )
                .label(whole, "")
                .help("split the file, or leave out what is not a document"),
            ),
            Self::NotUtf8 { offset, line, utf16 } => diagnostics.push(
                Diagnostic::new(
                    &code::NOT_UTF8,
                    format!("the file is not UTF-8: byte {offset} (line {line}) does not fit"),
                )
                .label(whole, "")
                .help(if *utf16 {
                    "it looks like UTF-16: save it as UTF-8"
                } else {
                    "save it as UTF-8"
                }),
            ),
            Self::ControlCharacters { found, .. } => {
                let mut faults = Faults::new(file, diagnostics);
                for (at, c) in found {
                    let span = faults.span(*at, at + c.len_utf8());
                    faults.one(
                        &code::CONTROL_CHARACTER,
                        format!("{} `U+{:04X}`", control_kind(*c), u32::from(*c)),
                        span,
                        if *c == '\r' {
                            "end lines with a line feed"
                        } else {
                            "remove it, or write it as an escape in a double-quoted string"
                        },
                    );
                }
                faults.finish();
            }
        }
    }
}

/// The text of `bytes`, without a byte order mark.
pub(super) fn decode_text(bytes: Vec<u8>) -> Result<String, TextFault> {
    if bytes.len() > MAX_BYTES {
        return Err(TextFault::TooLarge { n_bytes: bytes.len() });
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = bytes.iter().take(offset).filter(|b| **b == b'\n').count() + 1;
        let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
        TextFault::NotUtf8 { offset, line, utf16 }
    })?;
    if text.starts_with('\u{FEFF}') {
        text.drain(..'\u{FEFF}'.len_utf8());
    }
    let found = forbidden(&text);
    if found.is_empty() { Ok(text) } else { Err(TextFault::ControlCharacters { text, found }) }
}

/// Puts the text of `bytes` into `sources` as `path`. With a fault, which is said, the text is `None` and what
/// the map holds is only there to be pointed at: nothing, or the text with the characters that are refused.
pub fn add_text(
    sources: &mut SourceMap,
    path: impl Into<String>,
    bytes: Vec<u8>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (FileId, Option<Arc<str>>) {
    match decode_text(bytes) {
        Ok(text) => {
            let text: Arc<str> = text.into();
            (sources.add(path, text.clone()), Some(text))
        }
        Err(mut fault) => {
            let shown = match &mut fault {
                TextFault::ControlCharacters { text, .. } => std::mem::take(text),
                TextFault::TooLarge { .. } | TextFault::NotUtf8 { .. } => String::new(),
            };
            let file = sources.add(path, shown);
            fault.report(file, diagnostics);
            (file, None)
        }
    }
}

fn forbidden(text: &str) -> Vec<(usize, char)> {
    // Bytes below 0x20, 0x7F, and the lead bytes of the ranges below: all other text passes without decoding.
    let suspect =
        |b: u8| (b < 0x20 && b != b'\n' && b != b'\t') || matches!(b, 0x7F | 0xC2 | 0xD8 | 0xE2 | 0xEF);
    if !text.bytes().any(suspect) {
        return Vec::new();
    }
    let bytes = text.as_bytes();
    let lone = |at: usize| bytes.get(at + 1) != Some(&b'\n');
    text.char_indices().filter(|(at, c)| if *c == '\r' { lone(*at) } else { is_forbidden(*c) }).collect()
}

fn is_forbidden(c: char) -> bool {
    is_obeyed(c) || matches!(c, '\u{FFFE}' | '\u{FFFF}')
}

/// Whether a terminal or an editor obeys a character in place of showing it: a bidirectional control, or a C0 or C1
/// control but tab, line feed and carriage return.
pub fn is_obeyed(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r')) || is_bidi(c)
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn control_kind(c: char) -> &'static str {
    if c == '\r' {
        "carriage return without a line feed"
    } else if is_bidi(c) {
        "bidirectional control character"
    } else {
        "control character"
    }
}
