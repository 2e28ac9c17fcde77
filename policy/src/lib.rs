//! Policies: conditions over the arguments of a call, and what happens when they hold.
//!
//! A condition is true, false or unknown for a call: unknown where an argument that it compares is absent or of a type
//! that it does not compare. What restricts (`deny`, `escalate`, `require_approval`) applies where its condition is
//! possibly true; an `allow` policy lets a call pass only where it is certainly true. So an unknown never opens
//! anything. Policies add up: the strictest that applies decides, and none ever takes another away.
//!
//! [`Decider`] decides calls by Cedar. [`certainly_true`] and [`certainly_false`] say a condition as a JSON Schema.
//! The types are free of places, and are what a snapshot carries. Text for people is made from them in [`describe`].
//!
//! Not here: reading documents, and which policies reach which binding (the compiler links them).

mod arguments;
mod cedar;
mod comparison;
mod condition;
mod decider;
mod decision;
mod declared;
mod describe;
mod json;
mod kind;
mod pattern;
mod phase;
mod policy;
mod prepared;
mod requirements;
mod ruling;
mod schema;
mod truth;
mod typing;

pub use cedar::CedarText;
pub use comparison::ConditionError;
pub use condition::{Comparison, Condition};
pub use decider::{
    Considered, Decider, DeciderCompiler, DeciderError, DeciderInput, Explanation, condition_of,
};
pub use decision::{Decision, Timeout};
pub use declared::declared_arguments;
pub use describe::describe;
pub use pattern::PatternError;
pub use phase::{Phase, PhaseError};
pub use policy::{AttachedBy, Attachment, Policy, PolicyId, PolicyIdError, Scope};
pub use prepared::{Clause, PreparedCondition};
pub use requirements::{Asker, MergedTimeout, Requirements};
pub use ruling::{DenyReason, Ruling};
pub use schema::{certainly_false, certainly_true};
pub use truth::Truth;
pub use typing::{ComparisonFault, Constancy, comparison_faults, constancy, none_meets, unknown_call};
