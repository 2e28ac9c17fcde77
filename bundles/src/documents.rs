//! The documents of the manifest dialects, as written: every field with its place, nothing resolved.
//!
//! One folder per dialect. A document here is the result of reading *one* YAML document; what several mean
//! together is the compiler's business.

pub mod phrony;
