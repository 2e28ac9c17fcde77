//! Content digests: SHA-256, written `sha256:` and 64 lower-case hex digits.
//!
//! Not here: what is hashed. The snapshot format says which bytes; this module only names the result.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::as_text;

/// A SHA-256 digest of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Why a text is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestError;

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The 64 hex digits, without the algorithm.
    pub fn hex(&self) -> String {
        use fmt::Write as _;
        self.0.iter().fold(String::with_capacity(64), |mut hex, byte| {
            // INVARIANT: writing to a `String` cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// `sha256:3f8a…c21e`: enough for a person to compare, not to look up.
    pub fn short(&self) -> String {
        let hex = self.hex();
        let head: String = hex.chars().take(4).collect();
        let tail: String = hex.chars().skip(60).collect();
        format!("sha256:{head}…{tail}")
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for DigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a digest is `sha256:` followed by 64 lower-case hex digits")
    }
}

impl std::error::Error for DigestError {}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix("sha256:").ok_or(DigestError)?;
        if hex.len() != 64 {
            return Err(DigestError);
        }
        let mut bytes = [0_u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let [high, low] = *pair else { return Err(DigestError) };
            *byte = nibble(high)? << 4 | nibble(low)?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, DigestError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(DigestError),
    }
}

as_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_is_the_published_vector() {
        let expected = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), expected);
        assert_eq!(expected.parse(), Ok(Digest::of(b"")));
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["", "sha256:", "sha1:00", "SHA256:e3b0", &format!("sha256:{}", "E".repeat(64))] {
            assert_eq!(text.parse::<Digest>(), Err(DigestError), "{text}");
        }
    }
}
