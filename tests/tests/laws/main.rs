//! What holds for every bundle, as property tests over the whole of the compiler.
//!
//! Bundles come from `bailiwick_tests::fleet`, from the samples, and from generators here. Not here: single cases
//! (`tests/cases`), and the laws of one crate, which are in it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop where it finds a fault"
)]

mod bundle;
mod determinism;
mod digests;
mod lock;
mod mutation;
mod order;
mod resolve;
mod schemas;
mod store;
mod writing;

use proptest::test_runner::Config;

/// So many cases, without files of past failures: a failure prints its input, and that becomes a case.
fn cases(n: u32) -> Config {
    Config { cases: n, failure_persistence: None, max_shrink_iters: 400, ..Config::default() }
}
