//! Output in which nothing commands the terminal.
//!
//! What people wrote is printed by many commands. An escape sequence in a description could rewrite what a reviewer
//! reads, and a bidirectional control could turn it around, so both are printed as escapes.

use std::io::{self, Write};

use bailiwick_bundles::is_obeyed;

/// Passes text on; control characters other than line ends and tabs become `\u{…}`.
pub(super) struct Plain<'a> {
    inner: &'a mut dyn Write,
    /// Whether the text is JSON, which has its own escapes.
    json: bool,
    /// The beginning of a character that the last write cut in two.
    cut: Vec<u8>,
}

impl<'a> Plain<'a> {
    pub(super) fn new(inner: &'a mut dyn Write, json: bool) -> Self {
        Self { inner, json, cut: Vec::new() }
    }
}

impl Write for Plain<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.cut);
        all.extend_from_slice(bytes);
        let valid = match std::str::from_utf8(&all) {
            Ok(text) => text,
            Err(error) => {
                self.cut = all.get(error.valid_up_to()..).unwrap_or_default().to_vec();
                // INVARIANT: the bytes up to there are valid.
                std::str::from_utf8(all.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
            }
        };
        if valid.chars().any(commands) {
            let escape = |c: char| {
                if !commands(c) {
                    c.to_string()
                } else if self.json {
                    // All of them are below U+10000.
                    format!("\\u{:04x}", u32::from(c))
                } else {
                    c.escape_unicode().to_string()
                }
            };
            let escaped: String = valid.chars().map(escape).collect();
            self.inner.write_all(escaped.as_bytes())?;
        } else {
            self.inner.write_all(valid.as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Whether a terminal acts on a character instead of showing it. A carriage return would write over the line.
fn commands(c: char) -> bool {
    is_obeyed(c) || c == '\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_shown_not_obeyed() {
        let mut out = Vec::new();
        let mut plain = Plain::new(&mut out, false);
        plain.write_all("a\u{1b}[2Kb\n".as_bytes()).expect("written");
        let bytes = "é\u{202e}".as_bytes();
        for byte in bytes {
            plain.write_all(&[*byte]).expect("written");
        }
        let mut json = Vec::new();
        Plain::new(&mut json, true).write_all("\"\u{85}\"".as_bytes()).expect("written");
        assert_eq!(json, b"\"\\u0085\"");
        assert_eq!(String::from_utf8(out).as_deref(), Ok("a\\u{1b}[2Kb\né\\u{202e}"));
    }
}
