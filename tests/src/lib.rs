//! What the tests, the benches and anyone who wants to repeat them share.
//!
//! Not here: the tests themselves.

mod command;
pub mod fleet;

pub use command::{Ran, command};
