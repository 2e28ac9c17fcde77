mod concurrent;
mod crash;
mod damage;
mod identity;

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::canonical::to_canonical;

/// A document with an identity and some content.
struct Document {
    kind: ArtifactKind,
    id: LogicalId,
    version: Version,
    bytes: Vec<u8>,
}

impl Document {
    fn of(kind: ArtifactKind, id: &str, version: &str, content: &str) -> Self {
        let id: LogicalId = id.parse().expect("an id");
        let identity = json!({ "namespace": id.namespace(), "name": id.name(), "version": version });
        let value = json!({ "kind": kind.as_str(), "identity": identity, "content": content });
        let bytes = to_canonical(&value).expect("canonical");
        Self { kind, id, version: version.parse().expect("a version"), bytes }
    }

    fn agent(id: &str, version: &str, content: &str) -> Self {
        Self::of(ArtifactKind::Agent, id, version, content)
    }

    fn artifact(&self) -> Artifact<'_> {
        Artifact { kind: self.kind, id: &self.id, version: &self.version, bytes: &self.bytes }
    }

    fn digest(&self) -> Digest {
        Digest::of(&self.bytes)
    }
}

/// A directory of its own for one test.
fn directory() -> (TempDir, Utf8PathBuf) {
    let guard = TempDir::new().expect("a temporary directory");
    let path = Utf8PathBuf::from_path_buf(guard.path().join("store")).expect("UTF-8");
    (guard, path)
}

fn store_with(documents: &[&Document]) -> (TempDir, Store) {
    let (guard, path) = directory();
    let store = Store::open_or_create(&path).expect("made");
    for document in documents {
        let published = store.publish(&document.artifact()).expect("published");
        assert_eq!(published, Published::New(document.digest()));
    }
    (guard, store)
}

fn listing(store: &Store) -> Vec<String> {
    store.entries().expect("readable").iter().map(ToString::to_string).collect()
}

/// Every file under `path` with its content.
fn tree(path: &Utf8Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut pending = vec![path.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in directory.read_dir_utf8().expect("listable") {
            let entry = entry.expect("readable");
            if entry.file_type().expect("typed").is_dir() {
                pending.push(entry.path().to_owned());
            } else {
                let name = entry.path().strip_prefix(path).expect("below").to_string();
                files.insert(name, fs::read(entry.path()).expect("readable"));
            }
        }
    }
    files
}

fn blob_files(store: &Store) -> Vec<Utf8PathBuf> {
    disk::names(&store.blobs()).expect("listable").iter().map(|name| store.blobs().join(name)).collect()
}

#[test]
fn a_published_document_reads_back() {
    let agent = Document::agent("weather.assistant", "2.4.0", "hello");
    let tool = Document::of(ArtifactKind::Tool, "weather.send-alert", "1.0.3", "");
    let (_guard, store) = store_with(&[&agent, &tool]);
    assert_eq!(store.read(&agent.digest()).expect("there"), agent.bytes);
    let entry = store.entry(&tool.id, &tool.version).expect("readable").expect("there");
    assert_eq!((entry.kind, entry.digest), (ArtifactKind::Tool, tool.digest()));
    let verification = store.verify().expect("verifiable");
    assert_eq!(verification, Verification { entries: 2, blobs: 5, faults: Vec::new() });
    assert!(matches!(store.read(&Digest::of(b"other")), Err(StoreError::Missing { .. })));
}

#[test]
fn entries_are_sorted_by_id_and_precedence() {
    let versions = ["1.10.0", "1.9.0", "1.10.0-rc.1", "2.0.0-alpha.10", "2.0.0-alpha.9"];
    let documents: Vec<_> = versions.iter().map(|version| Document::agent("b.b", version, version)).collect();
    let first = Document::agent("a.z", "9.0.0", "");
    let mut all: Vec<&Document> = documents.iter().collect();
    all.push(&first);
    let (_guard, store) = store_with(&all);
    let expected = [
        "a.z@9.0.0",
        "b.b@1.9.0",
        "b.b@1.10.0-rc.1",
        "b.b@1.10.0",
        "b.b@2.0.0-alpha.9",
        "b.b@2.0.0-alpha.10",
    ];
    assert_eq!(listing(&store), expected);
}

#[test]
fn the_order_of_publishing_leaves_no_trace() {
    let documents = [
        Document::agent("a.a", "1.0.0", "x"),
        Document::agent("a.a", "1.1.0", "y"),
        Document::of(ArtifactKind::Bundle, "a.b", "1.0.0", "z"),
        Document::of(ArtifactKind::Policy, "b.a", "1.0.0", "z"),
    ];
    let mut order: Vec<&Document> = documents.iter().collect();
    let (_guard, store) = store_with(&order);
    let expected = tree(store.path());
    for _ in 1..order.len() {
        order.rotate_left(1);
        let (_guard, store) = store_with(&order);
        assert_eq!(tree(store.path()), expected);
    }
    order.reverse();
    let (_guard, store) = store_with(&order);
    assert_eq!(tree(store.path()), expected);
}

#[test]
fn a_digest_is_found_by_its_beginning() {
    let agent = Document::agent("weather.assistant", "2.4.0", "hello");
    let (_guard, store) = store_with(&[&agent]);
    let digest = agent.digest().to_string();
    for length in ["sha256:".len() + PREFIX, 30, digest.len()] {
        let text: String = digest.chars().take(length).collect();
        assert_eq!(store.find(&text).expect("unique").version, agent.version);
    }
    let eleven: String = digest.chars().take("sha256:".len() + PREFIX - 1).collect();
    for text in ["", "sha256:", &eleven, &agent.digest().hex(), &digest.to_uppercase(), &format!("{digest}0")]
    {
        assert!(matches!(store.find(text), Err(FindError::NotADigest { .. })), "{text}");
    }
    assert!(matches!(store.find("sha256:000000000000"), Err(FindError::NotFound { .. })));
}

/// No pair of documents with a common prefix of 48 bits can be made, so the index is.
#[test]
fn a_beginning_of_several_digests_names_them_all() {
    let agent = Document::agent("a.a", "1.0.0", "");
    let (_guard, store) = store_with(&[&agent]);
    let bytes = store.index_bytes().expect("readable");
    let mut index = store.parse_index(&bytes).expect("valid");
    let hex = agent.digest().hex();
    let (head, tail) = hex.split_at(PREFIX);
    let near = format!("sha256:{head}{}", tail.chars().rev().collect::<String>());
    let entry = store.entries().expect("readable").remove(0);
    let other = Entry { version: Version::new(2, 0, 0), digest: near.parse().expect("a digest"), ..entry };
    index.add(other, 1).expect("canonical");
    fs::write(store.index_path(), index.to_bytes().expect("canonical")).expect("written");
    let error = store.find(&format!("sha256:{head}")).expect_err("two");
    assert!(
        error.to_string().contains("`a.a@1.0.0`") && error.to_string().contains("`a.a@2.0.0`"),
        "{error}"
    );
    assert!(store.find(&near).is_ok() && store.find(&agent.digest().to_string()).is_ok());
}

#[test]
fn what_other_programs_wrote_is_kept() {
    let (_guard, store) = store_with(&[&Document::agent("a.a", "1.0.0", "")]);
    let mut value: Value =
        serde_json::from_slice(&fs::read(store.index_path()).expect("readable")).expect("JSON");
    let signature = json!({
        "mediaType": layout::EMPTY_TYPE, "digest": Digest::of(layout::EMPTY), "size": 2, "data": "e30=",
    });
    value["annotations"] = json!({ "org.example": "kept" });
    value["manifests"].as_array_mut().expect("a list").insert(0, signature.clone());
    fs::write(store.index_path(), serde_json::to_vec_pretty(&value).expect("JSON")).expect("written");

    store.publish(&Document::agent("b.b", "1.0.0", "").artifact()).expect("published");
    let value: Value =
        serde_json::from_slice(&fs::read(store.index_path()).expect("readable")).expect("JSON");
    assert_eq!(value["annotations"], json!({ "org.example": "kept" }));
    assert_eq!(value["manifests"][2], signature);
    assert_eq!(listing(&store), ["a.a@1.0.0", "b.b@1.0.0"]);
    assert!(store.verify().expect("verifiable").is_sound());
    // Also what is ours is in canonical form again.
    assert_eq!(to_canonical(&value), Ok(fs::read(store.index_path()).expect("readable")));
}

#[test]
fn a_tag_of_a_registry_client_is_no_second_entry() {
    let (_guard, store) = store_with(&[&Document::agent("a.a", "1.0.0", "")]);
    let mut value: Value =
        serde_json::from_slice(&fs::read(store.index_path()).expect("readable")).expect("JSON");
    let mut tag = value["manifests"][0].clone();
    tag["annotations"]["org.opencontainers.image.ref.name"] = json!("latest");
    value["manifests"].as_array_mut().expect("a list").push(tag.clone());
    fs::write(store.index_path(), value.to_string()).expect("written");

    assert_eq!(listing(&store), ["a.a@1.0.0"]);
    store.publish(&Document::agent("b.b", "1.0.0", "").artifact()).expect("published");
    let value: Value =
        serde_json::from_slice(&fs::read(store.index_path()).expect("readable")).expect("JSON");
    assert_eq!(value["manifests"][2], tag);
    assert!(store.verify().expect("verifiable").is_sound());
}

#[test]
fn only_an_empty_place_becomes_a_store() {
    let (_guard, path) = directory();
    assert!(matches!(Store::open(&path), Err(StoreError::NotAStore { .. })));
    fs::create_dir(&path).expect("made");
    assert!(matches!(Store::open(&path), Err(StoreError::NotAStore { .. })));
    fs::write(path.join("bundle.yaml"), "").expect("written");
    let error = Store::open_or_create(&path).expect_err("somebody's directory");
    assert!(error.to_string().ends_with("it has no file `oci-layout`, and it is not empty"), "{error}");
    assert_eq!(tree(&path).len(), 1, "nothing is left in it");
    fs::remove_file(path.join("bundle.yaml")).expect("removed");
    Store::open_or_create(&path).expect("made");
    Store::open(&path).expect("there");

    let nested = path.parent().expect("a parent").join("x/y/z");
    Store::open_or_create(&nested).expect("made with those above it");
}
