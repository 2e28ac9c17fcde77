//! Diagnostics for people and for programs. Both say the same.

mod human;
mod json;

pub use human::{Style, render};
pub use json::diagnostic_json;
