//! Names as types: what `metadata` and references may hold, checked where text enters.
//!
//! Source of the rules: the manifest format `phrony.com/v1`, "metadata" and "Refs".

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use crate::as_text;

/// Why a text is not a name of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    text: String,
    rule: &'static str,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.text, self.rule)
    }
}

impl std::error::Error for NameError {}

macro_rules! name {
    ($(#[$meta:meta])* $Name:ident, $rule:literal, $valid:expr) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Name(Box<str>);

        impl $Name {
            /// What the type accepts, as half a sentence.
            pub const RULE: &'static str = $rule;

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $Name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(NameError { text: text.to_owned(), rule: Self::RULE })
                }
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl Borrow<str> for $Name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        as_text!($Name);
    };
}

name!(
    /// A document's `name` or `namespace`.
    Name,
    "must begin with a letter or digit and hold only letters, digits, `_` and `-` (at most 128)",
    |text| {
        text.len() <= 128
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    }
);

name!(
    /// The name under which a model sees a tool.
    WireName,
    "must be 1 to 64 letters, digits, `_` or `-`",
    |text| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    }
);

name!(
    /// A key of an agent's `secrets`.
    SecretName,
    "must begin with a lower-case letter and hold only lower-case letters, digits, `_` and `-`",
    |text| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
    }
);

name!(
    /// An authority boundary, as agents and tools name it and policies implement it.
    BoundaryId,
    "must be 1 to 256 characters without white space",
    |text| { !text.is_empty() && text.len() <= 256 && !text.contains(char::is_whitespace) }
);

/// `namespace.name`: what a document is called across catalogs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogicalId {
    namespace: Name,
    name: Name,
}

impl LogicalId {
    /// The id of a document with this `metadata`.
    pub fn new(namespace: Name, name: Name) -> Self {
        Self { namespace, name }
    }

    /// The part before the dot.
    pub fn namespace(&self) -> &Name {
        &self.namespace
    }

    /// The part after the dot.
    pub fn name(&self) -> &Name {
        &self.name
    }
}

impl FromStr for LogicalId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let error = || NameError { text: text.to_owned(), rule: "must be `namespace.name`" };
        let (namespace, name) = text.split_once('.').ok_or_else(error)?;
        Ok(Self {
            namespace: namespace.parse().map_err(|_| error())?,
            name: name.parse().map_err(|_| error())?,
        })
    }
}

impl fmt::Display for LogicalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_some() {
            return f.pad(&format!("{}.{}", self.namespace, self.name));
        }
        write!(f, "{}.{}", self.namespace, self.name)
    }
}

impl fmt::Debug for LogicalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

as_text!(LogicalId);

impl WireName {
    /// The wire name of a reference that sets no `as`: every other character becomes `_`, cut at 64.
    pub fn derived(reference: &str) -> Option<Self> {
        let text: String = reference
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
            .take(64)
            .collect();
        text.parse().ok()
    }
}

/// What a label says of a name that is not known: the near one, or `otherwise`.
pub fn did_you_mean(near: Option<&str>, otherwise: &str) -> String {
    near.map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
}

/// The candidate nearest to `text` by spelling, if one is near enough to be meant.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (text.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != text)
        .map(|candidate| (strsim::osa_distance(&text.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_split_at_the_first_dot() {
        let id: LogicalId = "weather.send-alert".parse().expect("valid");
        assert_eq!((id.namespace().as_str(), id.name().as_str()), ("weather", "send-alert"));
        for text in ["weather", "weather.", ".x", "a.b.c", "-a.b", "a b.c", ""] {
            assert!(text.parse::<LogicalId>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_bounded() {
        assert!("a".repeat(128).parse::<Name>().is_ok());
        assert!("a".repeat(129).parse::<Name>().is_err());
        assert!("été".parse::<Name>().is_err());
        assert!("a".repeat(65).parse::<WireName>().is_err());
        assert!("A".parse::<SecretName>().is_err());
    }

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        let known = ["side_effect_class", "description", "strict"];
        assert_eq!(nearest("side_effect_clas", known), Some("side_effect_class"));
        assert_eq!(nearest("Strict", known), Some("strict"));
        assert_eq!(nearest("color", known), None);
    }
}
