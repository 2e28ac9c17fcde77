//! placeholder
use std::fmt;
/// v
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint(semver::VersionReq);
impl std::str::FromStr for Constraint {
    type Err = semver::Error;
    fn from_str(t: &str) -> Result<Self, semver::Error> {
        semver::VersionReq::parse(t).map(Self)
    }
}
impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
