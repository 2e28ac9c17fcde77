//! Diagnostics for people and for programs. Both say the same.

mod human;
mod json;

pub(crate) use human::{Style, render};
pub(crate) use json::diagnostic_json;
