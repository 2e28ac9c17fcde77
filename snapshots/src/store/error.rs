//! What can go wrong with a store, in words for the person at the terminal.

use std::{error, fmt, io};

use bailiwick_bundles::Version;
use bailiwick_bundles::{Digest, LogicalId};
use camino::{Utf8Path, Utf8PathBuf};

use super::{ArtifactKind, Entry};
use crate::CanonicalError;

/// The store cannot be used, or what it holds is damaged.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory is not there or is something else than a store.
    NotAStore {
        /// The directory.
        path: Utf8PathBuf,
        /// What is amiss, as half a sentence.
        reason: String,
    },
    /// The layout has a version that this program does not know.
    UnknownLayout {
        /// The `oci-layout` file.
        path: Utf8PathBuf,
        /// The version it states.
        found: String,
    },
    /// The directory says it is a store, but lacks what a store has.
    Damaged {
        /// The directory.
        path: Utf8PathBuf,
        /// What is amiss, as half a sentence.
        reason: String,
    },
    /// `index.json` cannot be understood.
    Index {
        /// The file.
        path: Utf8PathBuf,
        /// What is amiss, as half a sentence.
        reason: String,
    },
    /// No blob has this digest.
    Missing {
        /// The digest asked for.
        digest: Digest,
    },
    /// The blob's content is not what its name says.
    Corrupt {
        /// The file.
        path: Utf8PathBuf,
        /// The digest asked for.
        digest: Digest,
        /// The digest of what is there.
        actual: Digest,
    },
    /// A directory, link, pipe or device stands where a regular file is due.
    NotAFile {
        /// The place.
        path: Utf8PathBuf,
    },
    /// A file is larger than the store's limit for it.
    TooLarge {
        /// The file.
        path: Utf8PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system refused an operation.
    Io {
        /// What was attempted, as a verb: `write`, `read`, `lock`, …
        action: &'static str,
        /// On what.
        path: Utf8PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: &Utf8Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    /// Whether the store's content is at fault, rather than the place or the system.
    pub fn is_integrity(&self) -> bool {
        match self {
            Self::UnknownLayout { .. }
            | Self::Damaged { .. }
            | Self::Index { .. }
            | Self::Missing { .. }
            | Self::Corrupt { .. }
            | Self::NotAFile { .. }
            | Self::TooLarge { .. } => true,
            Self::NotAStore { .. } | Self::Io { .. } => false,
        }
    }
}

/// The system's answer in plain words.
pub(super) fn plain(error: &io::Error) -> String {
    use io::ErrorKind as Kind;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the standard library's list is open; the rest has its own text"
    )]
    let known = match error.kind() {
        Kind::NotFound => "there is no such file or directory",
        Kind::PermissionDenied => "permission denied",
        Kind::ReadOnlyFilesystem => "the file system is read-only",
        Kind::StorageFull => "the disk is full",
        Kind::QuotaExceeded => "the disk quota is used up",
        Kind::FileTooLarge => "the file would exceed the size limit",
        Kind::IsADirectory => "it is a directory",
        Kind::NotADirectory => "it is not a directory",
        Kind::Unsupported => "the file system cannot do this",
        _ => return error.to_string(),
    };
    known.to_owned()
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAStore { path, reason } => write!(f, "`{path}` is not a store: {reason}"),
            Self::UnknownLayout { path, found } => {
                write!(f, "`{path}` states layout version `{found}`, but only `1.0.0` is known")
            }
            Self::Damaged { path, reason } | Self::Index { path, reason } => {
                write!(f, "`{path}` is damaged: {reason}")
            }
            Self::Missing { digest } => write!(f, "the store has no blob {digest}"),
            Self::Corrupt { path, digest, actual } => {
                write!(f, "`{path}` is damaged: its content should have digest {digest}, but has {actual}")
            }
            Self::NotAFile { path } => write!(f, "`{path}` is not a regular file"),
            Self::TooLarge { path, limit } => write!(f, "`{path}` is larger than {limit} bytes"),
            Self::Io { action, path, source } => write!(f, "cannot {action} `{path}`: {}", plain(source)),
        }
    }
}

// No `source`: the text of an `Io` holds its cause already.
impl error::Error for StoreError {}

/// Why nothing was published.
#[derive(Debug)]
pub enum PublishError {
    /// The version is published with other content: it needs a new version.
    VersionTaken {
        /// The id.
        id: LogicalId,
        /// The version as it was published.
        version: Version,
        /// What it is bound to.
        existing: Digest,
    },
    /// The content is published under another version of the same id, and is bound to it.
    ContentTaken {
        /// The id.
        id: LogicalId,
        /// The version that has this content.
        existing: Version,
        /// The content's digest.
        digest: Digest,
    },
    /// The id belongs to a document of another kind.
    KindTaken {
        /// The id.
        id: LogicalId,
        /// The kind it has in the store.
        existing: ArtifactKind,
    },
    /// The bytes are not a canonical document.
    NotCanonical(CanonicalError),
    /// The document says another identity than it is published as.
    OtherIdentity(Disagreement),
    /// The document is larger than a blob may be.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The store failed. What was there before is still there.
    Store(StoreError),
}

/// A member of a document that contradicts what the store says about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Disagreement {
    /// The JSON Pointer of the member.
    pub pointer: &'static str,
    /// What the store says.
    pub stored: String,
    /// What the document says; nothing when the member is absent or not a string.
    pub found: Option<String>,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, stored, found } = self;
        match found {
            Some(found) => write!(f, "the document says `{found}` at `{pointer}`, the store `{stored}`"),
            None => write!(f, "the document has no text at `{pointer}`, the store says `{stored}`"),
        }
    }
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VersionTaken { id, version, existing } => {
                write!(f, "`{id}@{version}` is already published with other content ({existing})")
            }
            Self::ContentTaken { id, existing, digest } => {
                write!(f, "this content is already published as `{id}@{existing}` ({digest})")
            }
            Self::KindTaken { id, existing } => {
                write!(f, "`{id}` is already published, with kind `{existing}`")
            }
            Self::NotCanonical(error) => write!(f, "the document cannot be published: {error}"),
            Self::OtherIdentity(disagreement) => {
                write!(f, "the document cannot be published: {disagreement}")
            }
            Self::TooLarge { size, limit } => {
                write!(f, "the document has {size} bytes, more than the {limit} that a store takes")
            }
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl error::Error for PublishError {}

impl From<StoreError> for PublishError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Why a digest or the beginning of one names no entry.
#[derive(Debug)]
pub enum FindError {
    /// The text is not `sha256:` and 12 to 64 lower-case hex digits.
    NotADigest {
        /// The text.
        text: String,
    },
    /// No entry's digest begins like this.
    NotFound {
        /// The text.
        text: String,
    },
    /// Several entries' digests begin like this.
    Ambiguous {
        /// The text.
        text: String,
        /// All of them, in the store's order.
        candidates: Vec<Entry>,
    },
    /// The store failed.
    Store(StoreError),
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADigest { text } => {
                write!(f, "`{text}` is not `sha256:` followed by 12 to 64 lower-case hex digits")
            }
            Self::NotFound { text } => write!(f, "the store has nothing with digest `{text}`"),
            Self::Ambiguous { text, candidates } => {
                write!(f, "`{text}` begins the digests of several:")?;
                for (at, entry) in candidates.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma} `{}@{}` ({})", entry.id, entry.version, entry.digest)?;
                }
                Ok(())
            }
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl error::Error for FindError {}

impl From<StoreError> for FindError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
