//! JSON Schema containment: a proof, a witness, or an honest reason.
//!
//! [`contains`] asks whether every instance of one schema is an instance of another. It answers with a [`Proof`], with a
//! [`Witness`] that the validators confirmed, or with a [`Reason`] why neither was found; it never guesses.
//!
//! Not here: documents, spans, files, the network. A schema is a [`serde_json::Value`].

mod budget;
mod compile;
mod containment;
mod data;
mod dialect;
mod effort;
mod error;
mod evaluate;
mod keyword;
mod language;
mod node;
mod offence;
mod rational;
mod rewrite;
mod schema;
mod solve;
mod validator;
mod verdict;

pub use budget::Budget;
pub use containment::{contains, emptiness_proof, is_empty};
pub use error::{SchemaError, SchemaErrorKind};
pub use rewrite::{contract_form, effective, flatten, intent};
pub use schema::Schema;
pub use validator::Violation;
pub use verdict::{Emptiness, Offence, Proof, Reason, Rule, Side, Verdict, Witness};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
