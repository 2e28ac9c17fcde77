//! Old or new, never between: a publisher stopped after any step, at any byte of a write, or refused by the disk.

use std::fs::File;
use std::io;

use super::*;
use crate::store::disk::{Disk, FileSystem};

/// One step of writing, with the last part of each path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Lock,
    Make(String),
    Write(usize),
    Rename(String),
    Sync(String),
    Remove,
}

/// What happens to a publisher.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Lives,
    /// Is killed at this step, which does nothing, or writes only so many bytes. No later step happens.
    Killed {
        at: usize,
        written: usize,
    },
    /// Is told this at one step, and goes on.
    Refused {
        at: usize,
        kind: io::ErrorKind,
    },
}

/// The file system until fate strikes.
struct Fated {
    fate: Fate,
    steps: Vec<Step>,
}

impl Fated {
    fn new(fate: Fate) -> Self {
        Self { fate, steps: Vec::new() }
    }

    fn step(&mut self, step: Step) -> io::Result<()> {
        let now = self.steps.len();
        self.steps.push(step);
        match self.fate {
            Fate::Killed { at, .. } if now >= at => Err(io::Error::other("killed")),
            Fate::Refused { at, kind } if now == at => Err(kind.into()),
            Fate::Lives | Fate::Killed { .. } | Fate::Refused { .. } => Ok(()),
        }
    }
}

fn last(path: &Utf8Path) -> String {
    path.file_name().unwrap_or_default().to_owned()
}

impl Disk for Fated {
    fn lock(&mut self, path: &Utf8Path) -> io::Result<File> {
        self.step(Step::Lock)?;
        FileSystem.lock(path)
    }

    fn make_directory(&mut self, path: &Utf8Path) -> io::Result<()> {
        self.step(Step::Make(last(path)))?;
        FileSystem.make_directory(path)
    }

    fn write(&mut self, files: &[(&Utf8Path, &[u8])]) -> io::Result<()> {
        let now = self.steps.len();
        let length = files.iter().map(|(_, bytes)| bytes.len()).sum();
        let outcome = self.step(Step::Write(length));
        let mut left = match self.fate {
            Fate::Killed { at, written } if now == at => written,
            Fate::Refused { at, .. } if now == at => length / 2,
            // A test that outlives its machine needs no flush.
            Fate::Lives | Fate::Killed { .. } | Fate::Refused { .. } => {
                if outcome.is_ok() {
                    length
                } else {
                    0
                }
            }
        };
        for (path, bytes) in files {
            let part = left.min(bytes.len());
            if part > 0 {
                fs::write(path, &bytes[..part]).expect("written");
            }
            left -= part;
        }
        outcome
    }

    fn rename(&mut self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
        self.step(Step::Rename(last(to)))?;
        FileSystem.rename(from, to)
    }

    fn sync_directory(&mut self, path: &Utf8Path) -> io::Result<()> {
        self.step(Step::Sync(last(path)))
    }

    fn remove(&mut self, path: &Utf8Path) -> io::Result<()> {
        self.step(Step::Remove)?;
        FileSystem.remove(path)
    }
}

/// A copy of a store's directory.
fn copy(files: &BTreeMap<String, Vec<u8>>) -> (TempDir, Store) {
    let (guard, root) = directory();
    fs::create_dir_all(root.join("blobs/sha256")).expect("made");
    for (name, bytes) in files {
        fs::write(root.join(name), bytes).expect("written");
    }
    (guard, Store { root })
}

/// Every way to be killed on the way that `steps` shows.
fn deaths(steps: &[Step]) -> Vec<Fate> {
    let mut fates = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let length = if let Step::Write(length) = step { *length } else { 0 };
        let cuts = (0..length).step_by(11).chain([1, length.saturating_sub(1), length]);
        fates.extend(cuts.map(|written| Fate::Killed { at, written }));
    }
    // Killed after the last step.
    fates.push(Fate::Killed { at: steps.len(), written: 0 });
    fates
}

fn steps_of_publishing(files: &BTreeMap<String, Vec<u8>>, document: &Document) -> Vec<Step> {
    let (_guard, store) = copy(files);
    let mut disk = Fated::new(Fate::Lives);
    publish::publish(&store, &mut disk, &document.artifact()).expect("published");
    disk.steps
}

#[test]
fn the_steps_are_those_of_the_specification() {
    let agent = Document::agent("a.a", "1.0.0", "");
    let (_guard, store) = store_with(&[]);
    let steps = steps_of_publishing(&tree(store.path()), &agent);
    let rename = |name: &str| Step::Rename(name.to_owned());
    let sync = |name: &str| Step::Sync(name.to_owned());
    let [lock, clear @ .., write, layer, config, manifest, blobs, index, top] = steps.as_slice() else {
        panic!("{steps:?}");
    };
    assert_eq!((lock, clear), (&Step::Lock, [const { Step::Remove }; 4].as_slice()));
    assert!(matches!(write, Step::Write(_)));
    assert_eq!(layer, &rename(&agent.digest().hex()));
    assert_eq!(config, &rename(&Digest::of(layout::EMPTY).hex()));
    assert!(matches!(manifest, Step::Rename(_)));
    assert_eq!((blobs, index, top), (&sync("sha256"), &rename("index.json"), &sync("store")));
}

#[test]
fn a_killed_publisher_leaves_the_old_state_or_the_new() {
    let old = Document::agent("a.a", "1.0.0", "old");
    let new = Document::agent("a.a", "1.1.0", "new");
    let (_guard, store) = store_with(&[&old]);
    let before = tree(store.path());
    let (_guard, store) = store_with(&[&old, &new]);
    let after = tree(store.path());

    let (mut n_old, mut n_new) = (0, 0);
    for fate in deaths(&steps_of_publishing(&before, &new)) {
        let (_guard, store) = copy(&before);
        let _ = publish::publish(&store, &mut Fated::new(fate), &new.artifact());
        let verification = store.verify().expect("verifiable");
        assert!(verification.is_sound(), "{fate:?}: {:?}", verification.faults);
        assert_eq!(store.read(&old.digest()).expect("there"), old.bytes);
        let is_new = match listing(&store).as_slice() {
            [_] => false,
            [_, _] => true,
            other => panic!("{fate:?}: {other:?}"),
        };
        *(if is_new { &mut n_new } else { &mut n_old }) += 1;
        let again =
            publish::publish(&store, &mut Fated::new(Fate::Lives), &new.artifact()).expect("no repair");
        let expected = if is_new { Published::Already(new.digest()) } else { Published::New(new.digest()) };
        assert_eq!(again, expected, "{fate:?}");
        assert_eq!(tree(store.path()), after, "{fate:?}");
    }
    assert!(n_old > 100 && n_new > 1, "{n_old} {n_new}");
}

#[test]
fn a_store_killed_in_the_making_is_finished_by_the_next() {
    let (_guard, root) = directory();
    let mut disk = Fated::new(Fate::Lives);
    publish::create(&Store { root: root.clone() }, &mut disk).expect("made");
    let whole = tree(&root);
    for fate in deaths(&disk.steps) {
        let (_guard, root) = directory();
        let _ = publish::create(&Store { root: root.clone() }, &mut Fated::new(fate));
        match Store::open(&root) {
            Ok(store) => assert!(store.verify().expect("verifiable").is_sound()),
            Err(error) => assert!(matches!(error, StoreError::NotAStore { .. }), "{fate:?}: {error}"),
        }
        Store::open_or_create(&root).expect("finished");
        assert_eq!(tree(&root), whole, "{fate:?}");
    }
}

#[test]
fn a_refusal_by_the_disk_leaves_no_partial_write() {
    let old = Document::agent("a.a", "1.0.0", "old");
    let new = Document::agent("a.a", "1.1.0", "new");
    let (_guard, store) = store_with(&[&old]);
    let before = tree(store.path());
    let n_steps = steps_of_publishing(&before, &new).len();
    for (kind, words) in [
        (io::ErrorKind::StorageFull, "the disk is full"),
        (io::ErrorKind::ReadOnlyFilesystem, "the file system is read-only"),
        (io::ErrorKind::PermissionDenied, "permission denied"),
    ] {
        for at in 0..n_steps {
            let (_guard, store) = copy(&before);
            let mut disk = Fated::new(Fate::Refused { at, kind });
            let error = publish::publish(&store, &mut disk, &new.artifact()).expect_err("told");
            assert!(matches!(error, PublishError::Store(StoreError::Io { .. })), "{error:?}");
            assert!(error.to_string().ends_with(words), "{error}");
            assert!(temporary(&store).is_empty(), "step {at}");
            assert!(store.verify().expect("verifiable").is_sound(), "step {at}");
            // The flush after the last rename is the one step whose failure comes too late.
            assert_eq!(listing(&store).len(), if at == n_steps - 1 { 2 } else { 1 }, "step {at}");
        }
    }
}

#[test]
fn leftovers_of_a_killed_publisher_are_cleaned() {
    let (_guard, store) = store_with(&[]);
    for role in ["layer", "config", "manifest", "index"] {
        fs::write(store.path().join(format!("publish-{role}.tmp")), "half").expect("written");
    }
    assert_eq!(temporary(&store).len(), 4);
    assert!(store.verify().expect("verifiable").is_sound());
    store.publish(&Document::agent("a.a", "1.0.0", "").artifact()).expect("published");
    assert!(temporary(&store).is_empty());
}

/// Writes in progress, or left.
fn temporary(store: &Store) -> Vec<String> {
    let names = disk::names(store.path()).expect("listable");
    names.into_iter().filter(|name| name.starts_with("publish-")).collect()
}
