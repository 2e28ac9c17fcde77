//! placeholder
use std::fmt;
/// v
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(semver::Version);
impl std::str::FromStr for Version {
    type Err = semver::Error;
    fn from_str(t: &str) -> Result<Self, semver::Error> {
        semver::Version::parse(t).map(Self)
    }
}
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
