//! A schema in one form for all drafts: a graph of assertions, each about one thing.
//!
//! A schema object is the conjunction of its keywords; references are edges, so recursion is a cycle. Every node knows
//! which keyword at which place it came from.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::language::{FormatLanguage, Pattern};
use crate::rational::Rational;
use crate::validator::FormatCheck;

/// A node of a [`Graph`].
pub(crate) type Id = u32;

/// The kinds of JSON values, numbers split by how they are written: draft 04 does not count `1.0` as an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const STRING: Self = Self(4);
    pub(crate) const ARRAY: Self = Self(8);
    pub(crate) const OBJECT: Self = Self(16);
    /// An integer without a fraction part: `1`.
    pub(crate) const PLAIN: Self = Self(32);
    /// An integer with one: `1.0`.
    pub(crate) const WHOLE: Self = Self(64);
    /// Not an integer.
    pub(crate) const FRACTION: Self = Self(128);
    pub(crate) const INTEGER: Self = Self(32 | 64);
    pub(crate) const NUMBER: Self = Self(32 | 64 | 128);
    pub(crate) const ALL: Self = Self(255);

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn complement(self) -> Self {
        Self(!self.0)
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
            Value::Number(number) if !number.is_f64() => Self::PLAIN,
            Value::Number(number) => {
                if number.as_f64().is_some_and(|value| value.fract() == 0.0) {
                    Self::WHOLE
                } else {
                    Self::FRACTION
                }
            }
        }
    }
}

/// What a node asserts. Those about one type hold for values of all other types.
#[derive(Debug)]
pub(crate) enum Kind {
    Anything,
    Nothing,
    All(Vec<Id>),
    Any(Vec<Id>),
    One(Vec<Id>),
    Not(Id),
    If {
        test: Id,
        then: Id,
        otherwise: Id,
    },
    Types(Types),
    /// Equal to one of these; sorted and without duplicates, numbers in one spelling.
    Members {
        values: Vec<Value>,
        /// The arrays and objects among them, spelled out as assertions.
        structured: Vec<Id>,
    },

    Bound {
        limit: Rational,
        exclusive: bool,
        upper: bool,
    },
    MultipleOf(Rational),

    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    Format(FormatCheck),

    /// The first items each by their own schema, the others by `rest`.
    Items {
        prefix: Vec<Id>,
        rest: Id,
    },
    Contains {
        item: Id,
        min: u64,
        max: Option<u64>,
    },
    MinItems(u64),
    MaxItems(u64),
    Unique,

    Fields(Fields),
    Required(Vec<Box<str>>),
    Names(Id),
    MinFields(u64),
    MaxFields(u64),
    /// Where `name` is present, the object satisfies `then`.
    Dependent {
        name: Box<str>,
        then: Id,
    },

    /// `unevaluatedProperties` or `unevaluatedItems`, spelled out for every way its neighbours can hold.
    Unevaluated(Id),
    /// An assertion that is not modelled. Never taken as true or false.
    Opaque(Types),
}

impl Kind {
    /// Whether only the validator knows all strings that satisfy it.
    pub(crate) fn is_for_validator(&self) -> bool {
        if let Self::Pattern(pattern) = self {
            pattern.parts().is_none()
        } else if let Self::Format(format) = self {
            !FormatLanguage::of(&format.name).exact
        } else {
            false
        }
    }
}

/// `properties`, `patternProperties` and `additionalProperties`, which depend on one another.
#[derive(Debug)]
pub(crate) struct Fields {
    /// Sorted by name.
    pub(crate) named: Vec<(Box<str>, Id)>,
    pub(crate) patterns: Vec<(Pattern, Id)>,
    /// For names that are neither named nor matched.
    pub(crate) rest: Option<Id>,
}

impl Fields {
    pub(crate) fn named(&self, name: &str) -> Option<Id> {
        let at = self.named.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.named.get(at).map(|(_, id)| *id)
    }
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) keyword: &'static str,
    /// Index into [`Graph::places`].
    pub(crate) place: u32,
    /// Types outside this have no instance.
    pub(crate) accepts: Types,
    /// Types outside this have no counterexample.
    pub(crate) rejects: Types,
    /// Properties that every object must have with one of a few values: the name, and a [`Kind::Members`] node.
    pub(crate) tags: Vec<(Box<str>, Id)>,
}

/// Where a subschema stands: a step below another place.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) parent: u32,
    pub(crate) keyword: &'static str,
    pub(crate) name: Option<Box<str>>,
}

#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) places: Vec<Place>,
    pub(crate) root: Id,
    /// The schema of each `unevaluated*` keyword, by the keyword's node.
    pub(crate) rests: BTreeMap<Id, Id>,
    /// Rough size of all patterns, as the validator builds them.
    pub(crate) pattern_weight: u64,
    /// Draft 04 `integer` occurs, so `1` and `1.0` differ.
    pub(crate) tells_spellings_apart: bool,
    /// Something is only known to the validator, so it must be asked at compile time whether it can be.
    pub(crate) relies_on_validator: bool,
}

impl Graph {
    pub(crate) fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(id as usize)
    }

    pub(crate) fn kind(&self, id: Id) -> &Kind {
        self.node(id).map_or(&Kind::Opaque(Types::ALL), |node| &node.kind)
    }

    pub(crate) fn set(&mut self, id: Id, kind: Kind) {
        if let Some(node) = self.nodes.get_mut(id as usize) {
            node.kind = kind;
        }
    }

    /// The values a node admits, if it lists them.
    pub(crate) fn members(&self, id: Id) -> Option<&[Value]> {
        let listed = |id| {
            if let Kind::Members { values, .. } = self.kind(id) { Some(values.as_slice()) } else { None }
        };
        if let Kind::All(parts) = self.kind(id) {
            parts.iter().find_map(|part| listed(*part))
        } else {
            listed(id)
        }
    }

    /// The JSON pointer to the subschema at `place`.
    pub(crate) fn pointer_to_place(&self, place: u32) -> String {
        let mut steps = Vec::new();
        let mut at = place;
        while let Some(step) = self.places.get(at as usize).filter(|_| at != 0) {
            if let Some(name) = &step.name {
                steps.push(escaped(name));
            }
            if !step.keyword.is_empty() {
                steps.push(step.keyword.to_owned());
            }
            at = step.parent;
        }
        steps.iter().rev().fold(String::new(), |pointer, step| pointer + "/" + step)
    }

    /// The JSON pointer to the keyword a node came from.
    pub(crate) fn pointer(&self, id: Id) -> String {
        let Some(node) = self.node(id) else { return String::new() };
        let place = self.pointer_to_place(node.place);
        if node.keyword.is_empty() { place } else { place + "/" + node.keyword }
    }
}

/// A name as a step of a JSON pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
