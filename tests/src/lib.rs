//! What the tests, the benches and anyone who wants to repeat them share.
//!
//! Not here: the tests themselves.

pub mod fleet;
