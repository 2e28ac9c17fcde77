//! Stores and what their faults are called.

use bailiwick_bundles::{Code, Diagnostic, code};
use bailiwick_snapshots::{FindError, PublishError, Snapshot, SnapshotError, Store, StoreError};

use crate::source::StorePlace;

/// The code under which a fault of a store is reported.
pub(crate) fn code_of(error: &StoreError) -> &'static Code {
    match error {
        StoreError::Corrupt { .. } => &code::CORRUPT_BLOB,
        StoreError::Missing { .. } => &code::MISSING_BLOB,
        StoreError::Index { .. } | StoreError::Damaged { .. } => &code::CORRUPT_INDEX,
        StoreError::UnknownLayout { .. } => &code::UNKNOWN_FORMAT,
        StoreError::NotAStore { .. }
        | StoreError::NotAFile { .. }
        | StoreError::TooLarge { .. }
        | StoreError::Io { .. }
        | _ => &code::STORE_IO,
    }
}

/// What to do about a store whose own files are damaged: publishing would refuse it as well.
pub(crate) const RESTORE: &str = "restore it from a copy of the store, or name another store with `--store`";

/// A fault of a store, as a diagnostic.
pub(crate) fn store_diagnostic(error: &StoreError, place: &StorePlace) -> Diagnostic {
    let help = match error {
        StoreError::Corrupt { .. } | StoreError::Missing { .. } => {
            "`bailiwick verify` names everything that is damaged; restore it from a copy, or publish again"
        }
        StoreError::Damaged { .. } | StoreError::Index { .. } => RESTORE,
        StoreError::NotAStore { .. } => {
            "name the store with `--store`; `bailiwick publish` makes one where there is nothing"
        }
        StoreError::UnknownLayout { .. } => "use a newer version of bailiwick",
        StoreError::NotAFile { .. } | StoreError::TooLarge { .. } | StoreError::Io { .. } | _ => {
            "check the path, its permissions and the free space; nothing was recorded"
        }
    };
    Diagnostic::new(code_of(error), in_words(error, place)).help(help)
}

/// An error in words, with the store as the user calls it.
fn in_words(error: &impl std::fmt::Display, place: &StorePlace) -> String {
    error.to_string().replace(place.path.as_str(), &place.shown)
}

/// Why nothing was published, as a diagnostic.
pub(crate) fn publish_diagnostic(error: &PublishError, place: &StorePlace) -> Diagnostic {
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
        PublishError::Store(error) => store_diagnostic(error, place),
    }
}

/// Why a digest names nothing, as a diagnostic.
pub(crate) fn find_diagnostic(error: &FindError, place: &StorePlace) -> Diagnostic {
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
        FindError::Store(error) => store_diagnostic(error, place),
    }
}

/// Reads the snapshot with this digest.
pub(crate) fn read_snapshot(
    store: &Store,
    digest: &bailiwick_bundles::Digest,
    place: &StorePlace,
) -> Result<Snapshot, Diagnostic> {
    let bytes = store.read(digest).map_err(|error| store_diagnostic(&error, place))?;
    Snapshot::from_canonical(&bytes).map_err(|error| {
        let code = match error {
            SnapshotError::UnknownFormat(_) => &code::UNKNOWN_FORMAT,
            SnapshotError::Canonical(_) | SnapshotError::Shape(_) | _ => &code::CORRUPT_BLOB,
        };
        Diagnostic::new(code, error.to_string()).note(format!("the snapshot is {digest}"))
    })
}

/// A document that is not what the index of its store calls it.
pub(crate) fn relabelled(snapshot: &Snapshot, called: &str) -> Diagnostic {
    let identity = &snapshot.identity;
    let message =
        format!("the store calls it `{called}`, but it is `{}@{}`", identity.id(), identity.version);
    Diagnostic::new(&code::CORRUPT_INDEX, message).help("`bailiwick verify` names everything that is damaged")
}
