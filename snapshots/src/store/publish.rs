//! Publishing: the identity rules, and the steps of writing.
//!
//! Law (tests/crash.rs): stopped after any step, or at any byte of a write, the store is as before or as after, and
//! the next publisher needs no repair.

use std::io;

use bailiwick_bundles::Version;
use bailiwick_bundles::{Digest, LogicalId};
use camino::Utf8Path;

use super::disk::{self, Disk};
use super::index::Index;
use super::layout::{self, EMPTY};
use super::{ArtifactKind, BLOB_LIMIT, Entry, INDEX_LIMIT, LAYOUT, PublishError, Store, StoreError};
use crate::canonical::to_canonical;
use crate::content::content_digest;

/// A document to be published.
#[derive(Clone, Copy, Debug)]
pub struct Artifact<'a> {
    /// What it is.
    pub kind: ArtifactKind,
    /// What it is called.
    pub id: &'a LogicalId,
    /// Its version.
    pub version: &'a Version,
    /// Its canonical bytes, which say the same kind, id and version.
    pub bytes: &'a [u8],
}

/// That a document is in the store, under this digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// It was published now.
    New(Digest),
    /// It was there before.
    Already(Digest),
}

impl Published {
    /// The digest of the document.
    pub fn digest(&self) -> Digest {
        match self {
            Self::New(digest) | Self::Already(digest) => *digest,
        }
    }
}

/// The three blobs of an artifact, and the entry that names them.
struct Blobs<'a> {
    layer: &'a [u8],
    manifest: Vec<u8>,
    entry: Entry,
}

impl<'a> Blobs<'a> {
    fn of(artifact: &Artifact<'a>) -> Result<Self, PublishError> {
        let Artifact { kind, id, version, bytes } = *artifact;
        let size = bytes.len() as u64;
        if size > BLOB_LIMIT {
            return Err(PublishError::TooLarge { size, limit: BLOB_LIMIT });
        }
        let digest = Digest::of(bytes);
        let manifest = layout::manifest(id, version, kind, &digest, size);
        let manifest = to_canonical(&manifest).map_err(PublishError::NotCanonical)?;
        let content = content_digest(bytes, id, version);
        let entry = Entry {
            id: id.clone(),
            version: version.clone(),
            kind,
            digest,
            manifest: Digest::of(&manifest),
            content,
        };
        Ok(Self { layer: bytes, manifest, entry })
    }

    fn each(&self) -> [(Digest, &[u8]); 3] {
        [
            (self.entry.digest, self.layer),
            (Digest::of(EMPTY), EMPTY),
            (self.entry.manifest, self.manifest.as_slice()),
        ]
    }

    /// Whether all three are in the store with the right content.
    fn are_stored(&self, store: &Store) -> bool {
        self.each().into_iter().all(|(digest, bytes)| is_stored(store, &digest, bytes))
    }
}

fn is_stored(store: &Store, digest: &Digest, bytes: &[u8]) -> bool {
    matches!(disk::read(&store.blob(digest), BLOB_LIMIT), Ok(Some(found)) if found == bytes)
}

pub(super) fn publish(
    store: &Store,
    disk: &mut dyn Disk,
    artifact: &Artifact<'_>,
) -> Result<Published, PublishError> {
    let blobs = Blobs::of(artifact)?;
    let digest = blobs.entry.digest;
    // A first look without the lock: most refusals and repetitions end here, on a store that cannot be written too.
    let seen = store.index_bytes()?;
    let index = store.parse_index(&seen)?;
    if decide(&index, &blobs.entry)? && blobs.are_stored(store) {
        return Ok(Published::Already(digest));
    }
    check_document(artifact)?;

    let path = store.root.join("index.lock");
    let lock = disk.lock(&path).map_err(|error| StoreError::io("lock", &path, error))?;
    let now = store.index_bytes()?;
    let mut index = if now == seen { index } else { store.parse_index(&now)? };
    let already = decide(&index, &blobs.entry)?;
    let index = if already {
        None
    } else {
        index.add(blobs.entry.clone(), blobs.manifest.len() as u64).map_err(PublishError::NotCanonical)?;
        Some(index)
    };
    let mut writer = Writer { store, disk };
    writer.clear()?;
    writer.install(&blobs, index)?;
    drop(lock);
    Ok(if already { Published::Already(digest) } else { Published::New(digest) })
}

/// The identity rules: whether the document is published already; an error where it may not be.
fn decide(index: &Index<'_>, new: &Entry) -> Result<bool, PublishError> {
    let same_id = || index.entries().filter(|entry| entry.id == new.id);
    if let Some(other) = same_id().find(|entry| entry.kind != new.kind) {
        return Err(PublishError::KindTaken { id: new.id.clone(), existing: other.kind });
    }
    if let Some(same) = same_id().find(|entry| entry.version.cmp_precedence(&new.version).is_eq()) {
        if same.digest == new.digest {
            return Ok(true);
        }
        let (version, existing) = (same.version.clone(), same.digest);
        return Err(PublishError::VersionTaken { id: new.id.clone(), version, existing });
    }
    match same_id().find(|entry| entry.content == new.content) {
        Some(bound) => {
            let (existing, digest) = (bound.version.clone(), bound.digest);
            Err(PublishError::ContentTaken { id: new.id.clone(), existing, digest })
        }
        None => Ok(false),
    }
}

/// Refuses what `verify` would find fault with.
fn check_document(artifact: &Artifact<'_>) -> Result<(), PublishError> {
    let Artifact { kind, id, version, bytes } = *artifact;
    let found = layout::disagreements(bytes, id, version, kind).map_err(PublishError::NotCanonical)?;
    match found.into_iter().next() {
        Some(disagreement) => Err(PublishError::OtherIdentity(disagreement)),
        None => Ok(()),
    }
}

/// Makes a store where there is nothing, or finishes one. What stands in an index is kept.
pub(super) fn create(store: &Store, disk: &mut dyn Disk) -> Result<(), StoreError> {
    let changed = disk::make_directories(&store.root)?;
    let own = ["blobs", "index.json", "index.lock", "oci-layout"];
    let foreign = |name: &str| !own.contains(&name) && !TEMPORARY.contains(&name);
    if disk::names(&store.root)?.iter().any(|name| foreign(name)) {
        return Err(store.not_a_store("it has no file `oci-layout`, and it is not empty"));
    }
    let path = store.root.join("index.lock");
    let _lock = disk.lock(&path).map_err(|error| StoreError::io("lock", &path, error))?;
    for path in [store.root.join("blobs"), store.blobs()] {
        disk.make_directory(&path).map_err(|error| StoreError::io("create", &path, error))?;
    }
    let mut writer = Writer { store, disk };
    writer.clear()?;
    for path in changed {
        writer.sync(path)?;
    }
    writer.sync(&store.root.join("blobs"))?;
    if disk::read(&store.index_path(), INDEX_LIMIT)?.is_none() {
        writer.replace(&store.index_path(), &index_bytes(store, &Index::empty())?)?;
    }
    // Last: whoever sees it sees a whole store.
    if disk::read(&store.layout_path(), super::LAYOUT_LIMIT)?.is_none() {
        writer.replace(&store.layout_path(), LAYOUT)?;
    }
    writer.sync(&store.root)
}

/// The names of writes in progress, one for each file that a publisher may write.
const TEMPORARY: [&str; 4] =
    ["publish-layer.tmp", "publish-config.tmp", "publish-manifest.tmp", INDEX_TEMPORARY];
const INDEX_TEMPORARY: &str = "publish-index.tmp";

/// Writes by the steps of the specification. Held only with the lock.
struct Writer<'a> {
    store: &'a Store,
    disk: &'a mut dyn Disk,
}

impl Writer<'_> {
    /// Removes what a killed publisher left.
    fn clear(&mut self) -> Result<(), StoreError> {
        for name in TEMPORARY {
            let path = self.store.root.join(name);
            self.disk.remove(&path).map_err(|error| StoreError::io("remove", &path, error))?;
        }
        Ok(())
    }

    /// Puts the blobs that are not there into the store, then the index, if there is a new one.
    fn install(&mut self, blobs: &Blobs<'_>, index: Option<Index<'_>>) -> Result<(), StoreError> {
        let store = self.store;
        let index = index.map(|index| index_bytes(store, &index)).transpose()?;
        let index_temporary = store.root.join(INDEX_TEMPORARY);

        let due: Vec<_> = TEMPORARY
            .iter()
            .zip(blobs.each())
            .filter(|(_, (digest, bytes))| !is_stored(store, digest, bytes))
            .map(|(name, (digest, bytes))| (store.root.join(name), store.blob(&digest), bytes))
            .collect();
        let mut files: Vec<_> =
            due.iter().map(|(temporary, _, bytes)| (temporary.as_path(), *bytes)).collect();
        files.extend(index.iter().map(|bytes| (index_temporary.as_path(), bytes.as_slice())));

        self.write(&files)?;
        for (temporary, path, _) in &due {
            self.rename(temporary, path)?;
        }
        // Also when no blob was due: a publisher that was killed may have renamed without flushing.
        self.sync(&store.blobs())?;
        if index.is_some() {
            self.rename(&index_temporary, &store.index_path())?;
            self.sync(&store.root)?;
        }
        Ok(())
    }

    fn replace(&mut self, path: &Utf8Path, bytes: &[u8]) -> Result<(), StoreError> {
        let temporary = self.store.root.join(INDEX_TEMPORARY);
        self.write(&[(&temporary, bytes)])?;
        self.rename(&temporary, path)
    }

    fn write(&mut self, files: &[(&Utf8Path, &[u8])]) -> Result<(), StoreError> {
        let outcome = self.disk.write(files);
        outcome.map_err(|error| self.give_up("write to", &self.store.root, error))
    }

    fn rename(&mut self, temporary: &Utf8Path, path: &Utf8Path) -> Result<(), StoreError> {
        let outcome = self.disk.rename(temporary, path);
        outcome.map_err(|error| self.give_up("write", path, error))
    }

    fn sync(&mut self, path: &Utf8Path) -> Result<(), StoreError> {
        let outcome = self.disk.sync_directory(path);
        outcome.map_err(|error| self.give_up("flush", path, error))
    }

    /// The first error is the one to tell; a file that stays is removed by the next publisher.
    fn give_up(&mut self, action: &'static str, path: &Utf8Path, error: io::Error) -> StoreError {
        let _ = self.clear();
        StoreError::io(action, path, error)
    }
}

fn index_bytes(store: &Store, index: &Index<'_>) -> Result<Vec<u8>, StoreError> {
    let bytes = index.to_bytes().map_err(|error| store.invalid_index(error.to_string()))?;
    if bytes.len() as u64 > INDEX_LIMIT {
        return Err(StoreError::TooLarge { path: store.index_path(), limit: INDEX_LIMIT });
    }
    Ok(bytes)
}
