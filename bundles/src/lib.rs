//! What people write, up to typed documents with places.
//!
//! Names, versions and digests; sources and spans; diagnostics as data; the YAML and JSON readers; the
//! documents of the manifest dialects; finding files; settings and directory catalogs.
//!
//! Not here: what documents mean together. Resolving, linking and narrowing are the compiler's; this crate
//! decides only what one document, read alone, can get wrong.

mod as_text;
mod constraint;
mod credential;
mod decode;
pub mod diagnostics;
mod digest;
pub mod documents;
mod files;
mod names;
mod node;
mod reading;
mod schema_source;
mod settings;
mod source;
mod version;

pub use constraint::{Constraint, ConstraintError, Mismatch};
pub use credential::credential_shape;
pub use decode::{Count, Decode, Decoder, Extensions, Owner};
pub use diagnostics::{Code, Diagnostic, Label, Outcome, Severity, code};
pub use digest::{Digest, DigestError};
pub use files::{FileFault, Folder, OutsideHow, RefKind};
pub use names::{BoundaryId, LogicalId, Name, NameError, SecretName, WireName, did_you_mean, nearest};
pub use node::{Node, NodeValue, Text, escape};
pub use reading::{MAX_BYTES, MAX_DEPTH, add_text, is_obeyed, read_json, read_yaml};
pub use schema_source::SchemaSource;
pub use settings::{CatalogPlace, CatalogSetting, SETTINGS_FILE, Settings, find_settings};
pub use source::{FileId, LineColumn, SourceFile, SourceMap, Span, Spanned};
pub use version::{Version, VersionError};
