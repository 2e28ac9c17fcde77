//! Versions of documents: semver 2.0 (<https://semver.org>).
//!
//! `v1.2.3` is read with the `v` dropped. Precedence is semver's, in which build metadata never decides
//! ([`Version::cmp_precedence`]); equality is exact, so two versions that differ in build metadata alone are two
//! labels, of which none goes before the other.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::as_text;

/// A semver 2.0 version.
///
/// Displayed without `v`. Sorts by precedence; versions that differ in build metadata alone sort by it, only so
/// that an order of versions is the same everywhere.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(semver::Version);

/// Why a text is not a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionError {
    text: String,
    reason: &'static str,
}

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.text, self.reason)
    }
}

impl std::error::Error for VersionError {}

impl Version {
    /// `major.minor.patch` without more.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self(semver::Version::new(major, minor, patch))
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.0.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.0.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.0.patch
    }

    /// What follows `-`; empty if nothing does.
    pub fn pre_release(&self) -> &str {
        self.0.pre.as_str()
    }

    /// Whether something follows `-`.
    pub fn is_pre_release(&self) -> bool {
        !self.0.pre.is_empty()
    }

    /// What follows `+`; empty if nothing does.
    pub fn build(&self) -> &str {
        self.0.build.as_str()
    }

    /// Semver's precedence (11.): build metadata is not looked at.
    pub fn cmp_precedence(&self, other: &Self) -> Ordering {
        self.0.cmp_precedence(&other.0)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let error = |reason| VersionError { text: text.to_owned(), reason };
        let digits = text.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        semver::Version::parse(digits.unwrap_or(text))
            .map(Self)
            .map_err(|_| error(reason(digits.unwrap_or(text))))
    }
}

/// Why `text`, which is no version, is none.
fn reason(text: &str) -> &'static str {
    if text.is_empty() {
        return "is empty: a version is `major.minor.patch`";
    }
    if text.contains(char::is_whitespace) {
        return "must not hold white space";
    }
    let numbers = text.split(['-', '+']).next().unwrap_or(text);
    let parts: Vec<&str> = numbers.split('.').collect();
    if !parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())) {
        return "is not `major.minor.patch`, three numbers";
    }
    if parts.len() != 3 {
        return "must have three numbers: `major.minor.patch`";
    }
    if parts.iter().any(|part| part.len() > 1 && part.starts_with('0')) {
        return "has a number with a needless leading zero";
    }
    if parts.iter().any(|part| part.parse::<u64>().is_err()) {
        return "has a number above 18446744073709551615";
    }
    "has a pre-release or build part that is not dot-separated letters, digits and `-`, without needless zeros"
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

as_text!(Version);

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn a_leading_v_is_dropped() {
        assert_eq!(version("v1.2.3"), version("1.2.3"));
        assert_eq!(version("v1.2.3-rc.1+b").to_string(), "1.2.3-rc.1+b");
        assert_eq!(serde_json::to_string(&version("v1.2.3")).expect("a string"), "\"1.2.3\"");
        assert_eq!(serde_json::from_str::<Version>("\"v1.2.3\"").expect("a version"), version("1.2.3"));
        assert!(serde_json::from_str::<Version>("1").is_err());
    }

    #[test]
    fn what_is_no_version_says_why() {
        let rows = [
            ("", "empty"),
            ("1", "three numbers"),
            ("1.2", "three numbers"),
            ("1.2.3.4", "three numbers"),
            ("vv1.2.3", "three numbers"),
            ("V1.2.3", "three numbers"),
            ("1.x.0", "three numbers"),
            ("latest", "three numbers"),
            ("01.2.3", "leading zero"),
            ("18446744073709551616.0.0", "above"),
            ("1.2.3-", "pre-release"),
            ("1.2.3-01", "pre-release"),
            ("1.2.3-a_b", "pre-release"),
            (" 1.2.3", "white space"),
        ];
        for (text, part) in rows {
            let error = text.parse::<Version>().expect_err(text);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn build_metadata_never_decides_and_never_is_equal() {
        let order =
            ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0"];
        for pair in order.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
        let (a, b) = (version("1.0.0+a"), version("1.0.0+b"));
        assert_eq!(a.cmp_precedence(&b), Ordering::Equal);
        assert_ne!(a, b);
        assert!(version("1.0.0+z") < version("1.0.1-a+a"));
    }
}
