//! The store: published documents in a directory, each one bound for ever to its version and its digest.
//!
//! This page is the specification of what is on disk, enough for a second implementation
//! (`vectors/check.py` is one, for reading).
//!
//! # Layout
//! A store is an OCI image layout directory (OCI Image Format 1.1, "Image Layout"):
//!
//! ```text
//! oci-layout                 {"imageLayoutVersion":"1.0.0"}, written last when a store is made
//! index.json                 the index: what is published
//! blobs/sha256/HEX           content; HEX is the SHA-256 of the file in lower-case hex
//! index.lock                 empty; whoever changes the store holds an exclusive advisory lock on it (`flock`)
//! publish-ROLE.tmp           a write in progress, or what a killed one left (ROLE: layer, config, manifest, index);
//!                            no reader looks at it
//! ```
//!
//! All JSON that a store's writer makes is canonical (RFC 8785), without a final newline. Nothing in it depends on
//! when, where or in what order it was made: two stores to which the same documents were published are equal byte
//! for byte, writes in progress aside. The directories `blobs` and `blobs/sha256` and every file are what they seem,
//! never links. Other names in the directory belong to others and are left alone.
//!
//! # An artifact
//! Each published document is three blobs:
//!
//! 1. the *layer*: the document itself, canonical JSON, at most 64 MiB. Its digest is **the digest** that people,
//!    pins and this crate's interface use. It has at least these members, all strings: `kind` (`agent`, `bundle`,
//!    `tool` or `policy`), `identity.namespace`, `identity.name`, `identity.version`.
//! 2. the *config*: the two bytes `{}`, the empty descriptor of OCI 1.1.
//! 3. the *manifest*, an OCI image manifest with exactly these members:
//!
//! ```text
//! { "schemaVersion": 2,
//!   "mediaType": "application/vnd.oci.image.manifest.v1+json",
//!   "artifactType": TYPE,
//!   "config": { "mediaType": "application/vnd.oci.empty.v1+json", "digest": "sha256:44136f…8a", "size": 2 },
//!   "layers": [ { "mediaType": TYPE, "digest": DIGEST, "size": n, "annotations":
//!                 { "org.opencontainers.image.title": "snapshot.json" or "contract.json" } } ],
//!   "annotations": { "bailiwick.dev/id": "NAMESPACE.NAME", "bailiwick.dev/version": VERSION,
//!                    "bailiwick.dev/kind": KIND, "bailiwick.dev/digest": DIGEST } }
//! ```
//!
//! TYPE is `application/vnd.bailiwick.snapshot.v1+json` (title `snapshot.json`) for an agent or a bundle and
//! `application/vnd.bailiwick.contract.v1+json` (title `contract.json`) for a tool or a policy. VERSION is a semantic
//! version without a leading `v`.
//!
//! # The index
//! `index.json` is an OCI image index of at most 64 MiB: `schemaVersion` 2, `mediaType`
//! `application/vnd.oci.image.index.v1+json`, and `manifests`, a descriptor for each artifact with exactly these
//! members: `mediaType` (an image manifest's), `artifactType` TYPE, `digest` and `size` of the manifest, and
//! `annotations`: the four of the manifest, `org.opencontainers.image.ref.name`, which is
//! `NAMESPACE.NAME-MAJOR.MINOR.PATCH[-PRERELEASE]` (a tag cannot hold `@` or `+`), and `bailiwick.dev/content`, the
//! digest of the document's canonical text in which the version of `identity` is empty (in every
//! `"identity":{"name":…,"namespace":…,"version":…}` that is its own) and every string or key that is its own
//! `"NAMESPACE.NAME@VERSION"` is `"NAMESPACE.NAME"`, in the place where it stands. They are sorted by namespace, name
//! (both bytewise) and version (precedence, then build metadata).
//!
//! A descriptor that has neither one of our two artifact types nor an annotation beginning with `bailiwick.dev/`
//! belongs to another program. So does one that differs from an earlier one of ours in
//! `org.opencontainers.image.ref.name` only: it is a tag that a registry client added. A writer keeps such descriptors,
//! after ours, and other members of the index. Any other descriptor that is not as above makes the index invalid, and
//! nothing is read by way of it. A reader passes over what `ref.name` says.
//!
//! # Identity
//! Version and digest are both written once, and nothing is ever replaced or taken out. To publish a document, first
//! of these that applies:
//!
//! | in the index, under the same id | result |
//! |---|---|
//! | a document of another kind | refused: an id has one kind |
//! | the same version, the same digest | already published: success, nothing is written |
//! | the same version, another digest | refused |
//! | another version, the same content | refused: the content is bound to that version |
//! | none of these | published |
//!
//! Two versions are the same when their precedence is: build metadata does not tell them apart.
//!
//! # Writing
//! 1. Take the lock. Read the index, decide by the table, remove every `publish-ROLE.tmp`.
//! 2. Write the new index, and each of layer, config and manifest that is not there with the right content, to
//!    its `publish-ROLE.tmp`, and flush these files.
//! 3. Rename the blobs to their names and flush the directory `blobs/sha256`. So a blob and its name are on the medium
//!    before the index speaks of them.
//! 4. Rename the new index to `index.json` and flush the top directory.
//!
//! The rename of step 4 is the moment of publication: whoever is stopped before it leaves the old state, and at
//! most some blobs that nothing names. The temporary files are at the top, on the same file system, so that
//! `blobs/sha256` never holds a file whose name is not its digest; the lock makes one name for each role enough.
//!
//! # Reading
//! Readers take no lock: each file is replaced whole. Every blob is hashed on every read, and one whose content is
//! not what its name says is never returned. A layout version other than `1.0.0` is refused.
//!
//! Not here: what a document means; removing; catalogs; talking to a registry.

mod disk;
mod error;
mod index;
mod layout;
mod publish;
mod verify;

use bailiwick_bundles::Version;
use bailiwick_bundles::{Digest, LogicalId};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

pub use error::{Disagreement, FindError, PublishError, StoreError};
pub use layout::{ArtifactKind, ArtifactKindError, Entry};
pub use publish::{Artifact, Published};
pub use verify::{Fault, FaultKind, Verification};

use disk::{FileSystem, Found};
use index::Index;

const LAYOUT_VERSION: &str = "1.0.0";
const LAYOUT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;
const LAYOUT_LIMIT: u64 = 4096;
const INDEX_LIMIT: u64 = 64 << 20;
const BLOB_LIMIT: u64 = 64 << 20;
/// The fewest hex digits that may stand for a digest.
const PREFIX: usize = 12;

/// A store at a directory. Holds no file open; every call sees what is published at that time.
///
/// ```
/// use bailiwick_snapshots::{Artifact, ArtifactKind, Published, Store, to_canonical};
/// # let directory = tempfile::tempdir()?;
/// # let path = camino::Utf8PathBuf::try_from(directory.path().join("store"))?;
/// let store = Store::open_or_create(&path)?;
/// let identity = serde_json::json!({ "namespace": "weather", "name": "send-alert", "version": "1.0.3" });
/// let bytes = to_canonical(&serde_json::json!({ "kind": "tool", "identity": identity }))?;
/// let (id, version) = ("weather.send-alert".parse()?, "1.0.3".parse()?);
/// let tool = Artifact { kind: ArtifactKind::Tool, id: &id, version: &version, bytes: &bytes };
///
/// let digest = store.publish(&tool)?.digest();
/// assert_eq!(store.publish(&tool)?, Published::Already(digest));
/// assert_eq!(store.read(&digest)?, bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    root: Utf8PathBuf,
}

impl Store {
    /// The store at `path`.
    ///
    /// # Errors
    /// There is no such directory, it is not a store, or one of a version not known. The index is not read yet.
    pub fn open(path: &Utf8Path) -> Result<Self, StoreError> {
        let store = Self { root: path.to_owned() };
        store.check_layout()?;
        Ok(store)
    }

    /// The store at `path`, made first when there is nothing, an empty directory, or a store that was never finished.
    ///
    /// # Errors
    /// As [`Store::open`]; or the directory holds other things than a store's; or it cannot be written.
    pub fn open_or_create(path: &Utf8Path) -> Result<Self, StoreError> {
        match Self::open(path) {
            Err(StoreError::NotAStore { .. }) => {}
            other => return other,
        }
        let store = Self { root: path.to_owned() };
        publish::create(&store, &mut FileSystem)?;
        store.check_layout()?;
        Ok(store)
    }

    /// The directory.
    pub fn path(&self) -> &Utf8Path {
        &self.root
    }

    /// Publishes a document, or says that it is published already.
    ///
    /// When this returns `New`, the document survives a loss of power. Publishers in other threads and processes are
    /// waited for. A document that is published already needs no right to write, unless one of its blobs is
    /// damaged or lost, and is then put back.
    ///
    /// # Errors
    /// The identity rules, a document that is not canonical or says another identity, or the store. The store is
    /// then as it was, or, when the very last flush failed, holds the document whole.
    pub fn publish(&self, artifact: &Artifact<'_>) -> Result<Published, PublishError> {
        publish::publish(self, &mut FileSystem, artifact)
    }

    /// Everything published, sorted by id, then by version.
    ///
    /// # Errors
    /// An index that cannot be read or is invalid in any part.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        self.parse_index(&self.index_bytes()?).map(Index::into_entries)
    }

    /// The document of this id and version, if it is published. Build metadata is not looked at.
    ///
    /// # Errors
    /// As [`Store::entries`].
    pub fn entry(&self, id: &LogicalId, version: &Version) -> Result<Option<Entry>, StoreError> {
        let bytes = self.index_bytes()?;
        let index = self.parse_index(&bytes)?;
        Ok(index
            .entries()
            .find(|entry| entry.id == *id && entry.version.cmp_precedence(version).is_eq())
            .cloned())
    }

    /// The entry whose digest is, or begins with, `text`: `sha256:` and 12 to 64 lower-case hex digits.
    ///
    /// # Errors
    /// Another text, no such entry, several of them, or as [`Store::entries`].
    pub fn find(&self, text: &str) -> Result<Entry, FindError> {
        let hex = text.strip_prefix("sha256:").filter(|hex| {
            (PREFIX..=64).contains(&hex.len()) && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        });
        let Some(hex) = hex else { return Err(FindError::NotADigest { text: text.to_owned() }) };
        let mut candidates = self.entries()?;
        candidates.retain(|entry| entry.digest.hex().starts_with(hex));
        match candidates.pop() {
            None => Err(FindError::NotFound { text: text.to_owned() }),
            Some(only) if candidates.is_empty() => Ok(only),
            Some(last) => {
                candidates.push(last);
                Err(FindError::Ambiguous { text: text.to_owned(), candidates })
            }
        }
    }

    /// The canonical bytes of the document with this digest.
    ///
    /// # Errors
    /// No such blob, one that is damaged, or one that cannot be read.
    pub fn read(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        let path = self.blob(digest);
        let bytes = disk::read(&path, BLOB_LIMIT)?.ok_or(StoreError::Missing { digest: *digest })?;
        let actual = Digest::of(&bytes);
        if actual == *digest { Ok(bytes) } else { Err(StoreError::Corrupt { path, digest: *digest, actual }) }
    }

    /// Hashes every blob and checks everything that this module's page promises, and returns all that is wrong.
    ///
    /// A damaged index is one of the faults: the blobs are checked all the same.
    ///
    /// # Errors
    /// Only when the directory itself cannot be listed or its layout is not one.
    pub fn verify(&self) -> Result<Verification, StoreError> {
        verify::verify(self)
    }

    fn layout_path(&self) -> Utf8PathBuf {
        self.root.join("oci-layout")
    }

    fn index_path(&self) -> Utf8PathBuf {
        self.root.join("index.json")
    }

    fn blobs(&self) -> Utf8PathBuf {
        self.root.join("blobs").join("sha256")
    }

    fn blob(&self, digest: &Digest) -> Utf8PathBuf {
        self.blobs().join(digest.hex())
    }

    fn not_a_store(&self, reason: &str) -> StoreError {
        StoreError::NotAStore { path: self.root.clone(), reason: reason.to_owned() }
    }

    /// Refuses what is not a layout of the version that this module writes.
    fn check_layout(&self) -> Result<(), StoreError> {
        // The store's own path may lead through links: it is the user's. What is under it may not.
        if disk::look(&self.root.join("."))? != Found::Directory {
            let reason = match disk::look(&self.root)? {
                Found::Nothing => "there is no such directory",
                Found::File | Found::Directory | Found::Other => "it is not a directory",
            };
            return Err(self.not_a_store(reason));
        }
        let path = self.layout_path();
        let Some(bytes) = disk::read(&path, LAYOUT_LIMIT)? else {
            return Err(self.not_a_store("it has no file `oci-layout`"));
        };
        let stated = serde_json::from_slice::<Value>(&bytes).ok();
        match stated.as_ref().and_then(|layout| layout.get("imageLayoutVersion")).and_then(Value::as_str) {
            Some(LAYOUT_VERSION) => {}
            Some(found) => return Err(StoreError::UnknownLayout { path, found: found.to_owned() }),
            None => return Err(self.damaged("its file `oci-layout` states no version")),
        }
        for path in [self.root.join("blobs"), self.blobs()] {
            if disk::look(&path)? != Found::Directory {
                return Err(self.damaged(&format!("`{path}` is not a directory")));
            }
        }
        Ok(())
    }

    fn damaged(&self, reason: &str) -> StoreError {
        StoreError::Damaged { path: self.root.clone(), reason: reason.to_owned() }
    }

    fn invalid_index(&self, reason: String) -> StoreError {
        StoreError::Index { path: self.index_path(), reason }
    }

    fn index_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let bytes = disk::read(&self.index_path(), INDEX_LIMIT)?;
        bytes.ok_or_else(|| self.invalid_index("the file is missing".to_owned()))
    }

    /// The index in these bytes, all of it valid.
    fn parse_index<'a>(&self, bytes: &'a [u8]) -> Result<Index<'a>, StoreError> {
        let (index, faults) = Index::read(bytes).map_err(|reason| self.invalid_index(reason))?;
        match faults.into_iter().next() {
            Some(reason) => Err(self.invalid_index(reason)),
            None => Ok(index),
        }
    }
}

#[cfg(test)]
mod tests;
