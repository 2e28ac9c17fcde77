//! Schemas made from schemas: what a binding means, what is enforced, and what is digested.
//!
//! These work on JSON, not on compiled schemas, because their results are printed for people and models and so keep
//! the author's words. None changes what the result says beyond what its name promises.

mod contract;
mod effective;
mod intent;
mod merge;
mod modern;
mod references;
mod trim;

pub use contract::contract_form;
pub use effective::{effective, flatten};
pub use intent::intent;
pub(crate) use trim::without_absent;
