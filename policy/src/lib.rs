//! Policies: conditions over the arguments of a call, and what happens when they hold.
//!
//! The types here are free of places, and are what a snapshot carries. Text for people is made
//! from them in [`describe`].
//!
//! Not here: reading documents, and which policies reach which binding (the compiler links them).

mod condition;
mod decision;
mod describe;
mod policy;

pub use condition::{Comparison, Condition};
pub use decision::{Decision, Timeout};
pub use describe::describe;
pub use policy::{AttachedBy, Attachment, Policy, PolicyId, PolicyIdError, Scope};
