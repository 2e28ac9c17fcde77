//! Bundles on disk, and what comes of them.

use std::fs;

use bailiwick::{LockMode, OpenCatalogs, Session, compile};
use bailiwick_bundles::{Digest, Severity};
use bailiwick_snapshots::Snapshot;
pub(crate) use bailiwick_tests::command;
use bailiwick_tests::fleet::{File, Fleet};
use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;

/// A directory that is removed with the value.
pub(crate) struct Scratch {
    _guard: tempfile::TempDir,
    /// Where it is.
    pub(crate) path: Utf8PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
        Self { _guard: guard, path }
    }

    /// One with `files` in it.
    pub(crate) fn with(files: &[File]) -> Self {
        let scratch = Self::new();
        scratch.write(files);
        scratch
    }

    pub(crate) fn write(&self, files: &[File]) {
        for file in files {
            let path = self.path.join(&file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.text).unwrap();
        }
    }

    /// One with the samples in it.
    pub(crate) fn samples() -> Self {
        Self::with(&samples())
    }
}

pub(crate) fn file(path: impl Into<String>, text: impl Into<String>) -> File {
    File { path: path.into(), text: text.into() }
}

/// Every file of the samples.
pub(crate) fn samples() -> Vec<File> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../bundles/samples");
    let mut files = Vec::new();
    let mut pending = vec![root.clone()];
    while let Some(folder) = pending.pop() {
        for entry in folder.read_dir_utf8().unwrap() {
            let path = entry.unwrap().into_path();
            let name = path.strip_prefix(&root).unwrap().as_str().replace('\\', "/");
            if name.starts_with('.') || name.contains("/.") {
                continue;
            }
            if path.is_dir() {
                pending.push(path);
            } else {
                files.push(file(name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The bundles of the samples.
pub(crate) const SAMPLES: [&str; 2] = ["weather-assistant", "payment-desk"];

/// The files of one generated bundle.
pub(crate) fn generated() -> impl Strategy<Value = Vec<File>> {
    (any::<u64>(), 0_usize..5, 0_usize..4).prop_map(|(seed, tools, policies)| {
        Fleet { bundles: 1, tools, narrowed: tools / 2, policies, seed }.bundle(0)
    })
}

/// What comes of a bundle: a snapshot, or everything that was said.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The snapshot, its bytes and their digest.
    pub(crate) compiled: Option<(Snapshot, Vec<u8>, Digest)>,
    /// Codes and messages, sorted.
    pub(crate) said: Vec<(Severity, &'static str, String)>,
    /// The lock as it should be.
    pub(crate) lock: Option<String>,
}

impl Outcome {
    pub(crate) fn digest(&self) -> Digest {
        self.compiled.as_ref().unwrap_or_else(|| panic!("compiles: {:?}", self.said)).2
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.compiled.as_ref().unwrap_or_else(|| panic!("compiles: {:?}", self.said)).0
    }
}

/// Compiles `path`, seen from `cwd`, in a run of its own.
pub(crate) fn outcome(cwd: &Utf8Path, path: &str) -> Outcome {
    outcome_in(&mut Session::new(), &mut OpenCatalogs::default(), cwd, path)
}

/// Compiles `path` in a run that may have compiled others.
pub(crate) fn outcome_in(
    session: &mut Session,
    open: &mut OpenCatalogs,
    cwd: &Utf8Path,
    path: &str,
) -> Outcome {
    let before = session.diagnostics.len();
    let compilation = compile(session, open, Utf8Path::new(path), cwd, &LockMode::Keep);
    let mut said: Vec<_> = session.diagnostics[before..]
        .iter()
        .map(|diagnostic| (diagnostic.severity, diagnostic.code.id, diagnostic.message.clone()))
        .collect();
    said.sort();
    Outcome {
        compiled: compilation.compiled.map(|compiled| (compiled.snapshot, compiled.bytes, compiled.digest)),
        said,
        lock: compilation.resolved.map(|resolved| resolved.new_lock.to_text()),
    }
}
