//! The vectors of `snapshots/vectors`, which `check.py` there checks with an implementation of its own.

use std::collections::BTreeMap;
use std::fs;

use bailiwick_bundles::Version;
use bailiwick_bundles::{Digest, LogicalId};
use bailiwick_snapshots::{Artifact, ArtifactKind, Published, Store, from_canonical, to_canonical};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct CanonicalVectors {
    canonical: Vec<Accepted>,
    refused: Vec<Refused>,
    other_spellings: Vec<Refused>,
}

#[derive(Deserialize)]
struct Accepted {
    name: String,
    input: String,
    canonical: String,
    sha256: Digest,
}

#[derive(Deserialize)]
struct Refused {
    name: String,
    input: String,
}

#[derive(Deserialize)]
struct StoreVector {
    documents: Vec<String>,
    files: BTreeMap<String, String>,
}

fn folder() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

#[expect(clippy::expect_used, reason = "a test may stop at a vector that is not one")]
fn read<T: for<'de> Deserialize<'de>>(name: &str) -> T {
    serde_json::from_slice(&fs::read(folder().join(name)).expect("readable")).expect("a vector")
}

#[test]
fn canonical_texts() {
    let vectors: CanonicalVectors = read("canonical.json");
    for Accepted { name, input, canonical, sha256 } in vectors.canonical {
        let value: Value = serde_json::from_str(&input).expect("JSON");
        let bytes = to_canonical(&value).expect("has a canonical form");
        assert_eq!(String::from_utf8_lossy(&bytes), canonical, "{name}");
        assert_eq!(Digest::of(&bytes), sha256, "{name}");
        assert!(from_canonical(&bytes).is_ok(), "{name}");
    }
    for Refused { name, input } in vectors.refused {
        let value: Value = serde_json::from_str(&input).expect("JSON");
        assert!(to_canonical(&value).is_err(), "{name}");
    }
    for Refused { name, input } in vectors.other_spellings {
        assert!(from_canonical(input.as_bytes()).is_err(), "{name}");
    }
}

#[test]
fn a_store_byte_for_byte() {
    let vector: StoreVector = read("store.json");
    let guard = tempfile::tempdir().expect("a temporary directory");
    let root = Utf8PathBuf::from_path_buf(guard.path().join("store")).expect("UTF-8");
    let store = Store::open_or_create(&root).expect("made");
    for text in &vector.documents {
        let document: Value = serde_json::from_str(text).expect("JSON");
        let member = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).expect("text");
        let id: LogicalId =
            format!("{}.{}", member("/identity/namespace"), member("/identity/name")).parse().expect("an id");
        let version: Version = member("/identity/version").parse().expect("a version");
        let kind: ArtifactKind = member("/kind").parse().expect("a kind");
        let published = store
            .publish(&Artifact { kind, id: &id, version: &version, bytes: text.as_bytes() })
            .expect("published");
        assert_eq!(published, Published::New(Digest::of(text.as_bytes())));
    }
    let mut files = BTreeMap::new();
    for directory in ["", "blobs/sha256"] {
        for entry in root.join(directory).read_dir_utf8().expect("listable") {
            let entry = entry.expect("readable");
            if entry.file_type().expect("typed").is_file() {
                let name = entry.path().strip_prefix(&root).expect("below").as_str().replace('\\', "/");
                files.insert(name, fs::read_to_string(entry.path()).expect("text"));
            }
        }
    }
    assert_eq!(files, vector.files);
}

/// `snapshot-NAME.json` is a whole snapshot, `snapshot-NAME.sha256` its digest.
#[test]
fn whole_snapshots() {
    let mut n_snapshots = 0;
    for entry in folder().read_dir_utf8().expect("listable") {
        let entry = entry.expect("readable");
        let path = entry.path();
        if path.extension() == Some("json") && entry.file_name().starts_with("snapshot-") {
            n_snapshots += 1;
            let bytes = fs::read(path).expect("readable");
            let stated = fs::read_to_string(path.with_extension("sha256")).expect("its digest");
            assert_eq!(Digest::of(&bytes).hex(), stated.trim().trim_start_matches("sha256:"), "{path}");
            assert!(from_canonical(&bytes).is_ok(), "{path}");
        }
    }
    assert!(n_snapshots > 0, "no snapshot-*.json");
}
