//! Stores and what their faults are called.

use bailiwick_bundles::{Code, Diagnostic, code};
use bailiwick_snapshots::{FindError, PublishError, Snapshot, SnapshotError, Store, StoreError};

/// The code under which a fault of a store is reported.
pub fn code_of(error: &StoreError) -> &'static Code {
    match error {
        StoreError::Corrupt { .. } => &code::CORRUPT_BLOB,
        StoreError::Missing { .. } => &code::MISSING_BLOB,
        StoreError::Index { .. } | StoreError::Damaged { .. } => &code::CORRUPT_INDEX,
        StoreError::UnknownLayout { .. } => &code::UNKNOWN_FORMAT,
        _ => &code::STORE_IO,
    }
}

/// A fault of a store, as a diagnostic.
pub fn store_diagnostic(error: &StoreError) -> Diagnostic {
    let help = match error {
        StoreError::Corrupt { .. }
        | StoreError::Missing { .. }
        | StoreError::Damaged { .. }
        | StoreError::Index { .. } => {
            "`bailiwick verify` names everything that is damaged; restore it from a copy, or publish again"
        }
        StoreError::NotAStore { .. } => "publish something first, or name the store with `--store`",
        StoreError::UnknownLayout { .. } => "use a newer version of bailiwick",
        _ => "check the path, its permissions and the free space; nothing was recorded",
    };
    Diagnostic::new(code_of(error), error.to_string()).help(help)
}

/// Why nothing was published, as a diagnostic.
pub fn publish_diagnostic(error: &PublishError) -> Diagnostic {
    match error {
        PublishError::VersionTaken { .. } => {
            Diagnostic::new(&code::VERSION_TAKEN, error.to_string()).help("raise `metadata.version`")
        }
        PublishError::ContentTaken { existing, .. } => {
            Diagnostic::new(&code::CONTENT_TAKEN, error.to_string())
                .help(format!("nothing but the version differs: use {existing}"))
        }
        PublishError::KindTaken { .. } => {
            Diagnostic::new(&code::VERSION_TAKEN, error.to_string()).help("rename one of the documents")
        }
        PublishError::NotCanonical(_) | PublishError::OtherIdentity(_) | PublishError::TooLarge { .. } => {
            Diagnostic::new(&code::STORE_IO, error.to_string())
        }
        PublishError::Store(error) => store_diagnostic(error),
    }
}

/// Why a digest names nothing, as a diagnostic.
pub fn find_diagnostic(error: &FindError) -> Diagnostic {
    match error {
        FindError::NotADigest { .. } | FindError::NotFound { .. } => {
            Diagnostic::new(&code::SOURCE_NOT_FOUND, error.to_string())
        }
        FindError::Ambiguous { candidates, .. } => {
            let diagnostic = Diagnostic::new(&code::AMBIGUOUS_SOURCE, error.to_string());
            candidates
                .iter()
                .fold(diagnostic, |diagnostic, entry| diagnostic.note(format!("{entry} is {}", entry.digest)))
                .help("give more of the digest")
        }
        FindError::Store(error) => store_diagnostic(error),
    }
}

/// Reads the snapshot with this digest.
pub fn read_snapshot(store: &Store, digest: &bailiwick_bundles::Digest) -> Result<Snapshot, Diagnostic> {
    let bytes = store.read(digest).map_err(|error| store_diagnostic(&error))?;
    Snapshot::from_canonical(&bytes).map_err(|error| {
        let code = match error {
            SnapshotError::UnknownFormat(_) => &code::UNKNOWN_FORMAT,
            _ => &code::CORRUPT_BLOB,
        };
        Diagnostic::new(code, error.to_string()).note(format!("the snapshot is {digest}"))
    })
}
