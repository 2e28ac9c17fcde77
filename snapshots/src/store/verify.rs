//! Verification: everything that the store promises, checked in full, every fault named.
//!
//! Nothing is trusted because something else was right: a blob that no valid entry needs is hashed as well, and a
//! damaged index does not keep the blobs from being checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bailiwick_bundles::Digest;
use serde_json::Value;

use super::disk;
use super::index::Index;
use super::layout::{self, Descriptor, EMPTY, MANIFEST_TYPE, Manifest};
use crate::canonical::to_canonical;
use crate::content::content_digest;

use super::{BLOB_LIMIT, Disagreement, Entry, Store, StoreError};

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// How many entries the index has.
    pub entries: usize,
    /// How many blobs were hashed.
    pub blobs: usize,
    /// Everything that is wrong or worth a note, sorted by place.
    pub faults: Vec<Fault>,
}

impl Verification {
    /// Whether the store keeps every promise. Notes do not count against it.
    pub fn is_sound(&self) -> bool {
        self.faults.iter().all(|fault| fault.kind.is_note())
    }
}

/// One thing that is wrong at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, relative to the store, with `/`: `index.json` or `blobs/sha256/…`.
    pub place: String,
    /// What is wrong with it.
    pub kind: FaultKind,
    /// The entries that need the file, as `namespace.name@version`, sorted.
    pub needed_by: Vec<String>,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// There is no such file.
    Missing,
    /// A directory, link, pipe or device stands in its place.
    NotAFile,
    /// The system does not let it be read; its answer.
    Unreadable(String),
    /// It is larger than a blob may be.
    TooLarge,
    /// Its content has this digest, not the one in its name.
    Corrupt(Digest),
    /// Its content is right, but what names it states another size.
    WrongSize {
        /// The size stated, in bytes.
        stated: u64,
        /// The size of the file, in bytes.
        actual: u64,
    },
    /// A manifest or the index is not as it must be; why.
    Malformed(String),
    /// A document is not in canonical form.
    NotCanonical(String),
    /// A document says another kind or identity than the store.
    Disagrees(Disagreement),
    /// A note: a right blob that nothing names. An interrupted publication leaves such.
    Unreferenced,
    /// A note: a file whose name is not a digest's.
    Stray,
}

impl FaultKind {
    /// Whether it takes nothing from the store's promises.
    pub fn is_note(&self) -> bool {
        match self {
            Self::Unreferenced | Self::Stray => true,
            Self::Missing
            | Self::NotAFile
            | Self::Unreadable(_)
            | Self::TooLarge
            | Self::Corrupt(_)
            | Self::WrongSize { .. }
            | Self::Malformed(_)
            | Self::NotCanonical(_)
            | Self::Disagrees(_) => false,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the file is missing"),
            Self::NotAFile => f.write_str("not a regular file"),
            Self::Unreadable(answer) => write!(f, "cannot be read: {answer}"),
            Self::TooLarge => write!(f, "larger than {BLOB_LIMIT} bytes"),
            Self::Corrupt(actual) => {
                write!(f, "the content is not what the name says: it has digest {actual}")
            }
            Self::WrongSize { stated, actual } => {
                write!(f, "the file has {actual} bytes, but {stated} are stated for it")
            }
            Self::Malformed(reason) => write!(f, "damaged: {reason}"),
            Self::NotCanonical(reason) => write!(f, "the document is not canonical: {reason}"),
            Self::Disagrees(disagreement) => disagreement.fmt(f),
            Self::Unreferenced => f.write_str("nothing in the index names this blob"),
            Self::Stray => f.write_str("the name is not a digest"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)?;
        for (at, entry) in self.needed_by.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { " (needed by " })?;
            f.write_str(entry)?;
        }
        if self.needed_by.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

pub(super) fn verify(store: &Store) -> Result<Verification, StoreError> {
    store.check_layout()?;
    // Before the index: what is published meanwhile is then at worst read, never called unreferenced.
    let listed = disk::names(&store.blobs())?;
    let mut check = Check { store, seen: BTreeMap::new(), faults: BTreeMap::new() };
    let read = store.index_bytes().map_err(from_read);
    let index = check.index(&read);
    for (entry, size) in index.entries().zip(index.manifest_sizes()) {
        check.entry(entry, size);
    }
    for descriptor in index.foreign() {
        check.foreign(descriptor, 0);
    }
    for name in listed {
        check.listed(&name);
    }
    Ok(Verification {
        entries: index.entries().count(),
        blobs: check.seen.values().filter(|&&hashed| hashed).count(),
        faults: check.faults.into_iter().map(into_fault).collect(),
    })
}

fn into_fault(((place, kind), needed_by): ((String, FaultKind), BTreeSet<String>)) -> Fault {
    Fault { place, kind, needed_by: needed_by.into_iter().collect() }
}

fn place(digest: &Digest) -> String {
    format!("blobs/sha256/{}", digest.hex())
}

struct Check<'a> {
    store: &'a Store,
    /// Every blob that was looked at, and whether it could be hashed.
    seen: BTreeMap<Digest, bool>,
    faults: BTreeMap<(String, FaultKind), BTreeSet<String>>,
}

impl Check<'_> {
    fn fault(&mut self, place: String, kind: FaultKind, needed_by: Option<&str>) {
        self.faults.entry((place, kind)).or_default().extend(needed_by.map(str::to_owned));
    }

    /// What can be read of the index.
    fn index<'b>(&mut self, read: &'b Result<Vec<u8>, FaultKind>) -> Index<'b> {
        let place = || "index.json".to_owned();
        let index = match read {
            Ok(bytes) => Index::read(bytes).map_err(FaultKind::Malformed),
            Err(kind) => Err(kind.clone()),
        };
        match index {
            Ok((index, mut reasons)) => {
                // One damage is said once.
                if reasons.is_empty() && !is_as_written(&index, read.as_deref().unwrap_or_default()) {
                    reasons.push(OTHER_WRITER.to_owned());
                }
                for reason in reasons {
                    self.fault(place(), FaultKind::Malformed(reason), None);
                }
                index
            }
            Err(kind) => {
                self.fault(place(), kind, None);
                Index::empty()
            }
        }
    }

    fn entry(&mut self, entry: &Entry, size: u64) {
        let name = entry.to_string();
        let manifest =
            self.blob(&entry.manifest, Some(size), &name).map(|bytes| read_manifest(&bytes, entry));
        let (config_size, layer_size) = match manifest {
            Some(Ok(manifest)) => (Some(manifest.config.size), Some(manifest.layer.size)),
            Some(Err(reason)) => {
                self.fault(place(&entry.manifest), FaultKind::Malformed(reason), Some(&name));
                (None, None)
            }
            None => (None, None),
        };
        // Every entry has these two, so a lost manifest does not hide that they are damaged.
        self.blob(&Digest::of(EMPTY), config_size, &name);
        let Some(bytes) = self.blob(&entry.digest, layer_size, &name) else { return };
        match layout::disagreements(&bytes, &entry.id, &entry.version, entry.kind) {
            Ok(disagreements) => {
                for found in disagreements {
                    self.fault(place(&entry.digest), FaultKind::Disagrees(found), Some(&name));
                }
            }
            Err(error) => {
                self.fault(place(&entry.digest), FaultKind::NotCanonical(error.to_string()), Some(&name));
                return;
            }
        }
        if content_digest(&bytes, &entry.id, &entry.version) != entry.content {
            let reason = format!("`{}` of `{name}` is not its document's", layout::CONTENT);
            self.fault("index.json".to_owned(), FaultKind::Malformed(reason), Some(&name));
        }
    }

    /// Follows what another program put into the index, as far as OCI says how.
    fn foreign(&mut self, descriptor: &Value, depth: usize) {
        let name = "another program's artifact";
        let Ok(Descriptor { media_type, digest, size }) = Descriptor::read(descriptor) else {
            let reason = "a manifest of another program has no valid descriptor".to_owned();
            self.fault("index.json".to_owned(), FaultKind::Malformed(reason), None);
            return;
        };
        let seen = self.seen.contains_key(&digest);
        let Some(bytes) = self.blob(&digest, Some(size), name) else { return };
        let nests = media_type == MANIFEST_TYPE || media_type == layout::INDEX_TYPE;
        let Ok(document) = serde_json::from_slice::<Value>(&bytes) else { return };
        if seen || !nests || depth > 8 {
            return;
        }
        let lists = ["layers", "manifests"].into_iter().filter_map(|list| document.get(list)?.as_array());
        let below: Vec<&Value> = document.get("config").into_iter().chain(lists.flatten()).collect();
        for descriptor in below {
            self.foreign(descriptor, depth + 1);
        }
    }

    /// A file of the directory that may have been looked at already.
    fn listed(&mut self, name: &str) {
        let Ok(digest) = format!("sha256:{name}").parse::<Digest>() else {
            return self.fault(format!("blobs/sha256/{name}"), FaultKind::Stray, None);
        };
        if !self.seen.contains_key(&digest) && self.hash(&digest, None).is_some() {
            self.fault(place(&digest), FaultKind::Unreferenced, None);
        }
    }

    /// The content of a blob that `name` needs, if it is right.
    fn blob(&mut self, digest: &Digest, stated: Option<u64>, name: &str) -> Option<Vec<u8>> {
        let bytes = self.hash(digest, Some(name))?;
        let actual = bytes.len() as u64;
        if let Some(stated) = stated.filter(|&stated| stated != actual) {
            self.fault(place(digest), FaultKind::WrongSize { stated, actual }, Some(name));
        }
        Some(bytes)
    }

    fn hash(&mut self, digest: &Digest, needed_by: Option<&str>) -> Option<Vec<u8>> {
        match self.store.read(digest) {
            Ok(bytes) => {
                self.seen.insert(*digest, true);
                Some(bytes)
            }
            Err(error) => {
                self.seen.insert(*digest, matches!(error, StoreError::Corrupt { .. }));
                self.fault(place(digest), from_read(error), needed_by);
                None
            }
        }
    }
}

/// What is wrong with a file of ours that is right in every member, and yet not the bytes that follow from them.
const OTHER_WRITER: &str = "it is not what a writer of this store writes";

/// Whether an index that only our writers have touched is what they write, to the last byte.
fn is_as_written(index: &Index<'_>, bytes: &[u8]) -> bool {
    !index.is_all_ours() || index.again().as_deref() == Ok(bytes)
}

/// The manifest of `entry`. All of it follows from the entry and the sizes; a wrong size is the blob's fault to say.
fn read_manifest(bytes: &[u8], entry: &Entry) -> Result<Manifest, String> {
    let manifest = Manifest::read(bytes, entry)?;
    let due = layout::manifest(&entry.id, &entry.version, entry.kind, &entry.digest, manifest.layer.size);
    let is_due = manifest.config.size != EMPTY.len() as u64 || to_canonical(&due).as_deref() == Ok(bytes);
    if is_due { Ok(manifest) } else { Err(OTHER_WRITER.to_owned()) }
}

fn from_read(error: StoreError) -> FaultKind {
    match error {
        StoreError::Missing { .. } => FaultKind::Missing,
        StoreError::Corrupt { actual, .. } => FaultKind::Corrupt(actual),
        StoreError::NotAFile { .. } => FaultKind::NotAFile,
        StoreError::TooLarge { .. } => FaultKind::TooLarge,
        StoreError::Io { source, .. } => FaultKind::Unreadable(super::error::plain(&source)),
        StoreError::Index { reason, .. }
        | StoreError::Damaged { reason, .. }
        | StoreError::NotAStore { reason, .. } => FaultKind::Malformed(reason),
        StoreError::UnknownLayout { found, .. } => FaultKind::Malformed(format!("layout version `{found}`")),
    }
}
