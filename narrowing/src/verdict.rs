//! What a comparison answers: a proof, a witness, or a reason.
//!
//! `Undecided` is not a soft yes: whoever asks must refuse it. A [`Witness`] can only be made from an instance that
//! the validators confirmed.

use serde_json::Value;

/// Whether every instance of the inner schema is an instance of the outer one.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is, and this is why.
    Contained(Proof),
    /// It is not: this instance is accepted by the inner schema and rejected by the outer one.
    Escapes(Witness),
    /// Neither could be established. Treat it as a refusal.
    Undecided(Reason),
}

/// Whether a schema has any instance.
#[derive(Debug, Clone, PartialEq)]
pub enum Emptiness {
    /// It has none.
    Empty(Proof),
    /// It has this one.
    Inhabited(Value),
    /// Neither could be established.
    Undecided(Reason),
}

/// One of the two schemas of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The schema that is to hold the other.
    Outer,
    /// The schema that is to be held; also the only one, where there is one only.
    Inner,
}

/// One part of a proof: at `pointer` of one schema, the rule left no instance to escape.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// The schema that `pointer` is of: the outer one, or the inner one where that alone left nothing.
    pub side: Side,
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// The rule's name, such as `string language`.
    pub name: &'static str,
}

/// Why no instance escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    rules: Vec<Rule>,
}

impl Proof {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        Self { rules }
    }

    /// The rules that closed each part, in the order they were first used.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// One short name for the whole proof: the rule that closed the schema as a whole, or the last one kept of a very
    /// long proof.
    pub fn summary(&self) -> &'static str {
        self.rules.last().map_or("equal", |rule| rule.name)
    }
}

/// An instance that the inner schema accepts and the outer one rejects, confirmed by both validators.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    instance: Value,
    offence: Offence,
}

/// Where and why the outer schema rejects a witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offence {
    /// JSON pointer into the witness: the part that offends.
    pub instance_path: String,
    /// The keyword of the outer schema that rejects it, or that holds the subschema `false`; empty where the whole
    /// schema is `false`.
    pub keyword: String,
    /// JSON pointer to that keyword, or to that subschema, in the outer schema.
    pub outer_pointer: String,
    /// JSON pointer to the subschema of the inner schema that lets the part through, where one could be found.
    pub inner_pointer: Option<String>,
    /// What the outer schema says about it, in words.
    pub message: String,
}

impl Witness {
    pub(crate) fn new(instance: Value, offence: Offence) -> Self {
        Self { instance, offence }
    }

    /// The instance itself.
    pub fn instance(&self) -> &Value {
        &self.instance
    }

    /// Where and why the outer schema rejects it.
    pub fn offence(&self) -> &Offence {
        &self.offence
    }
}

/// Why a comparison could not be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The keyword that defeats the proof; empty where it is a schema as a whole.
    pub keyword: String,
    /// Where in the outer schema: that keyword, or what the inner schema's is compared with.
    pub outer_pointer: Option<String>,
    /// Where in the inner schema: that keyword, or what the outer schema's is compared with.
    pub inner_pointer: Option<String>,
    /// What could not be shown, in plain words.
    pub message: String,
    /// What to write instead.
    pub advice: String,
}
