//! The compiler: from a bundle of documents to one immutable snapshot, or to every fault at once.
//!
//! The stages are modules, in the order in which they run: `bundle` (reading), `lower`, `resolve`, `link`, `narrow`,
//! `check` (policies), `emit`. Nothing flows back. `pipeline` runs them; `cli` is a thin layer over it.
//!
//! Not here: reading YAML and JSON (`bailiwick-bundles`), comparing schemas (`bailiwick-narrowing`), the store
//! (`bailiwick-snapshots`).

mod bundle;
mod catalogs;
mod check;
pub mod cli;
mod decide;
mod emit;
mod link;
mod lock;
mod lower;
mod manifest;
mod narrow;
mod origin;
mod pipeline;
mod render;
mod resolve;
mod session;
mod source;
mod store;
mod thaw;
mod write;

pub use decide::{decide, decider};
pub use pipeline::{Compilation, Compiled, LockMode, OpenCatalogs, check, compile, exit_code};
pub use session::Session;
