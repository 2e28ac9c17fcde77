//! Damaged stores: every fault is found, named, and told in plain words.

use crate::content::content_digest;

use super::*;

fn three() -> (TempDir, Store) {
    store_with(&[
        &Document::agent("a.a", "1.0.0", "one"),
        &Document::agent("a.a", "1.1.0", "two"),
        &Document::of(ArtifactKind::Tool, "b.b", "1.0.0", "three"),
    ])
}

fn digest_of(path: &Utf8Path) -> Digest {
    format!("sha256:{}", path.file_name().expect("named")).parse().expect("a digest")
}

fn faults(store: &Store) -> Vec<(String, FaultKind)> {
    let faults = store.verify().expect("verifiable").faults;
    faults.into_iter().map(|fault| (fault.place, fault.kind)).collect()
}

fn place(path: &Utf8Path) -> String {
    format!("blobs/sha256/{}", path.file_name().expect("named"))
}

#[test]
fn a_flipped_byte_in_any_blob_is_found() {
    let (_guard, store) = three();
    for path in blob_files(&store) {
        let bytes = fs::read(&path).expect("readable");
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).expect("written");
            assert!(matches!(store.read(&digest_of(&path)), Err(StoreError::Corrupt { .. })), "{path} {at}");
            if at % 97 == 0 {
                let expected = (place(&path), FaultKind::Corrupt(Digest::of(&flipped)));
                assert_eq!(faults(&store), [expected], "{path} {at}");
            }
        }
        fs::write(&path, bytes).expect("written");
    }
    assert!(faults(&store).is_empty());
}

#[test]
fn every_bad_blob_is_named_with_what_needs_it() {
    let (_guard, store) = three();
    let files = blob_files(&store);
    assert_eq!(files.len(), 7);
    for path in &files {
        fs::write(path, "damage").expect("written");
    }
    let verification = store.verify().expect("verifiable");
    assert_eq!((verification.entries, verification.blobs), (3, 7));
    let places: Vec<_> = verification.faults.iter().map(|fault| fault.place.clone()).collect();
    assert_eq!(places, files.iter().map(|path| place(path)).collect::<Vec<_>>());
    let needed: usize = verification.faults.iter().map(|fault| fault.needed_by.len()).sum();
    assert_eq!(needed, 9, "three blobs for each entry");
}

#[test]
fn a_missing_blob_is_found() {
    let (_guard, store) = three();
    for path in blob_files(&store) {
        let bytes = fs::read(&path).expect("readable");
        fs::remove_file(&path).expect("removed");
        assert!(matches!(store.read(&digest_of(&path)), Err(StoreError::Missing { .. })));
        assert_eq!(faults(&store), [(place(&path), FaultKind::Missing)]);
        fs::write(&path, bytes).expect("written");
    }
}

#[test]
fn a_truncated_index_is_told_at_every_length() {
    let (_guard, store) = three();
    let bytes = fs::read(store.index_path()).expect("readable");
    let new = Document::agent("c.c", "1.0.0", "");
    for length in 0..bytes.len() {
        fs::write(store.index_path(), &bytes[..length]).expect("written");
        let error = store.entries().expect_err("damaged");
        assert!(matches!(error, StoreError::Index { .. }) && error.is_integrity(), "{length}: {error}");
        assert!(store.publish(&new.artifact()).is_err(), "{length}");
        if length % 53 == 0 {
            let verification = store.verify().expect("verifiable");
            assert!(!verification.is_sound());
            assert_eq!(verification.blobs, 7, "the blobs are checked all the same");
        }
    }
    assert!(!store.blob(&new.digest()).exists(), "nothing was written");
    fs::remove_file(store.index_path()).expect("removed");
    assert!(store.entries().is_err() && !store.verify().expect("verifiable").is_sound());
}

#[test]
fn publishing_again_puts_a_damaged_blob_back() {
    let agent = Document::agent("a.a", "1.0.0", "");
    let (_guard, store) = store_with(&[&agent]);
    let whole = tree(store.path());
    for path in blob_files(&store) {
        for damage in [true, false] {
            if damage {
                fs::write(&path, "damage").expect("written");
            } else {
                fs::remove_file(&path).expect("removed");
            }
            let published = store.publish(&agent.artifact()).expect("put back");
            assert_eq!(published, Published::Already(agent.digest()));
            assert_eq!(tree(store.path()), whole);
        }
    }
}

/// Changes the index as a whole and returns what is said about it.
fn index_with(change: impl Fn(&mut Value)) -> String {
    let (_guard, store) = three();
    let mut value: Value =
        serde_json::from_slice(&fs::read(store.index_path()).expect("readable")).expect("JSON");
    change(&mut value);
    fs::write(store.index_path(), value.to_string()).expect("written");
    let error = store.entries().expect_err("damaged");
    assert!(!store.verify().expect("verifiable").is_sound(), "{error}");
    let text = error.to_string();
    text.split_once(" is damaged: ").expect("the index is named").1.to_owned()
}

#[test]
fn an_index_that_is_not_as_specified_is_refused() {
    type Change = fn(&mut Value);
    let cases: &[(Change, &str)] = &[
        (|v| *v = json!([]), "it is not an object"),
        (|v| v["schemaVersion"] = json!(1), "its `schemaVersion` is not 2"),
        (
            |v| v["mediaType"] = json!("text/plain"),
            "its `mediaType` is not `application/vnd.oci.image.index.v1+json`",
        ),
        (|v| v["manifests"] = json!({}), "it has no list `manifests`"),
        (
            |v| v["manifests"][1]["digest"] = json!("sha256:00"),
            "manifest 1 is not a valid entry: `digest`: a digest is `sha256:` followed by 64 lower-case hex digits",
        ),
        (|v| v["manifests"][1]["size"] = json!(-1), "manifest 1 is not a valid entry: it has no `size`"),
        (
            |v| v["manifests"][0]["annotations"] = json!({}),
            "manifest 0 is not a valid entry: it has no `bailiwick.dev/id`",
        ),
        (
            |v| v["manifests"][0]["artifactType"] = json!("text/plain"),
            "manifest 0 is not a valid entry: `artifactType` is `text/plain`, not `application/vnd.bailiwick.snapshot.v1+json`",
        ),
        (
            |v| v["manifests"][0]["annotations"]["bailiwick.dev/kind"] = json!("robot"),
            "manifest 0 is not a valid entry: `bailiwick.dev/kind`: a stored document is an `agent`, a `bundle`, a `tool` or a `policy`",
        ),
        (
            |v| v["manifests"][0]["annotations"]["bailiwick.dev/id"] = json!("../x"),
            "manifest 0 is not a valid entry: `bailiwick.dev/id`: `../x` must be `namespace.name`",
        ),
        (
            |v| v["manifests"][0]["annotations"]["bailiwick.dev/version"] = json!("v1"),
            "manifest 0 is not a valid entry: `bailiwick.dev/version`: `v1` must have three numbers: `major.minor.patch`",
        ),
        (
            |v| v["manifests"][1]["annotations"]["bailiwick.dev/version"] = json!("1.0.0"),
            "`a.a@1.0.0` is listed twice",
        ),
        (
            |v| v["manifests"][0]["annotations"]["bailiwick.dev/kind"] = json!("bundle"),
            "`a.a` has the kinds `bundle` and `agent`",
        ),
        (
            |v| v["manifests"][0]["urls"] = json!(["https://example.com"]),
            "manifest 0 is not a valid entry: it has members that no writer of this store writes",
        ),
        (
            |v| v["manifests"][0]["annotations"]["bailiwick.dev/approved"] = json!("yes"),
            "manifest 0 is not a valid entry: it has members that no writer of this store writes",
        ),
        (
            |v| {
                let again = v["manifests"][0].clone();
                v["manifests"].as_array_mut().expect("a list").push(again);
            },
            "`a.a@1.0.0` is listed twice",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(index_with(change), *expected);
    }
}

/// Publishes by hand what `publish` would refuse, and returns the faults.
fn forged(document: &Document, manifest: impl Fn(&mut Value)) -> Vec<FaultKind> {
    let (_guard, store) = store_with(&[]);
    let Document { kind, id, version, bytes } = document;
    let mut value = layout::manifest(id, version, *kind, &Digest::of(bytes), bytes.len() as u64);
    manifest(&mut value);
    let manifest = to_canonical(&value).expect("canonical");
    for bytes in [bytes.as_slice(), &manifest, layout::EMPTY] {
        fs::write(store.blob(&Digest::of(bytes)), bytes).expect("written");
    }
    let (id, version, digest) = (id.clone(), version.clone(), Digest::of(bytes));
    let content = content_digest(bytes, &id, &version);
    let bytes = store.index_bytes().expect("readable");
    let mut index = store.parse_index(&bytes).expect("valid");
    let entry = Entry { id, version, kind: *kind, digest, manifest: Digest::of(&manifest), content };
    index.add(entry, manifest.len() as u64).expect("canonical");
    fs::write(store.index_path(), index.to_bytes().expect("canonical")).expect("written");
    faults(&store).into_iter().map(|(_, kind)| kind).filter(|kind| !kind.is_note()).collect()
}

#[test]
fn a_manifest_that_contradicts_the_index_is_found() {
    type Change = fn(&mut Value);
    let agent = Document::agent("a.a", "1.0.0", "");
    assert_eq!(forged(&agent, |_| {}), []);
    let cases: &[Change] = &[
        |v| v["schemaVersion"] = json!(3),
        |v| v["mediaType"] = json!(layout::INDEX_TYPE),
        |v| v["artifactType"] = json!("text/plain"),
        |v| v["config"]["digest"] = json!(Digest::of(b"other")),
        |v| v["layers"] = json!([]),
        |v| v["layers"][0]["digest"] = json!(Digest::of(b"other")),
        |v| v["layers"][0]["mediaType"] = json!("text/plain"),
        |v| v["annotations"]["bailiwick.dev/version"] = json!("1.0.1"),
        |v| *v = json!("{}"),
        |v| v["subject"] = json!({}),
        |v| v["layers"][0]["urls"] = json!(["https://example.com"]),
        |v| v["annotations"]["bailiwick.dev/approved"] = json!("yes"),
    ];
    for change in cases {
        let found = forged(&agent, change);
        assert!(matches!(found.as_slice(), [FaultKind::Malformed(_)]), "{found:?}");
    }
    let actual = agent.bytes.len() as u64;
    assert_eq!(
        forged(&agent, |v| v["layers"][0]["size"] = json!(1)),
        [FaultKind::WrongSize { stated: 1, actual }]
    );
}

#[test]
fn a_document_that_is_not_what_the_store_says_is_found() {
    let agent = Document::agent("a.a", "1.0.0", "");
    let renamed = Document { id: "a.b".parse().expect("an id"), ..agent };
    let found = forged(&renamed, |_| {});
    assert!(
        matches!(found.as_slice(), [FaultKind::Disagrees(at)] if at.pointer == "/identity/name"),
        "{found:?}"
    );
    let spaced = Document { bytes: b"{ }".to_vec(), ..renamed };
    assert!(matches!(forged(&spaced, |_| {}).as_slice(), [FaultKind::NotCanonical(_)]));
    let identity = r#"{"name":"b","namespace":"a","version":"1.0.0"}"#;
    let listed = Document { bytes: format!(r#"[{identity},"agent"]"#).into_bytes(), ..spaced };
    assert_eq!(forged(&listed, |_| {}).len(), 4, "a list has no members");
    let listed = Document { bytes: format!(r#"["agent",{identity}]"#).into_bytes(), ..listed };
    assert_eq!(forged(&listed, |_| {}).len(), 4, "a list has no members");
}

#[test]
fn blobs_that_nothing_names_are_notes_unless_damaged() {
    let (_guard, store) = three();
    fs::write(store.blob(&Digest::of(b"left")), "left").expect("written");
    fs::write(store.blobs().join(".DS_Store"), "").expect("written");
    let verification = store.verify().expect("verifiable");
    let kinds: Vec<_> = verification.faults.iter().map(|fault| fault.kind.clone()).collect();
    assert_eq!(kinds, [FaultKind::Stray, FaultKind::Unreferenced]);
    assert!(verification.is_sound());
    fs::write(store.blob(&Digest::of(b"left")), "lift").expect("written");
    assert!(!store.verify().expect("verifiable").is_sound());
}

#[test]
fn other_layouts_are_refused() {
    let (_guard, store) = three();
    for (content, words) in [
        (r#"{"imageLayoutVersion":"2.0.0"}"#, "states layout version `2.0.0`, but only `1.0.0` is known"),
        (r#"{"imageLayoutVersion":1}"#, "is damaged: its file `oci-layout` states no version"),
        ("", "is damaged: its file `oci-layout` states no version"),
    ] {
        fs::write(store.layout_path(), content).expect("written");
        for error in [Store::open(store.path()), Store::open_or_create(store.path())].map(Result::unwrap_err)
        {
            assert!(error.to_string().ends_with(words), "{error}");
        }
    }
    fs::remove_file(store.layout_path()).expect("removed");
    assert!(matches!(Store::open(store.path()), Err(StoreError::NotAStore { .. })));
    // Only the mark was lost: what is published is kept.
    Store::open_or_create(store.path()).expect("finished");
    assert_eq!(listing(&store).len(), 3);

    fs::remove_dir_all(store.blobs()).expect("removed");
    let error = Store::open(store.path()).expect_err("no blobs");
    assert!(error.to_string().ends_with("is not a directory"), "{error}");
    assert!(matches!(Store::open(&store.layout_path()), Err(StoreError::NotAStore { .. })));
}

#[test]
fn oversized_files_are_not_read() {
    let (_guard, store) = three();
    let path = blob_files(&store).remove(0);
    let file = fs::File::create(&path).expect("made");
    file.set_len(BLOB_LIMIT + 1).expect("sparse");
    assert!(matches!(store.read(&digest_of(&path)), Err(StoreError::TooLarge { .. })));
    assert_eq!(faults(&store), [(place(&path), FaultKind::TooLarge)]);
    let file = fs::File::create(store.index_path()).expect("made");
    file.set_len(INDEX_LIMIT + 1).expect("sparse");
    assert!(matches!(store.entries(), Err(StoreError::TooLarge { .. })));
}

#[cfg(unix)]
#[test]
fn no_link_is_followed_and_no_pipe_waited_for() {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    let (guard, store) = three();
    let outside = guard.path().join("outside");
    for path in blob_files(&store) {
        fs::rename(&path, &outside).expect("moved");
        symlink(&outside, &path).expect("linked");
        assert!(matches!(store.read(&digest_of(&path)), Err(StoreError::NotAFile { .. })));
        assert_eq!(faults(&store), [(place(&path), FaultKind::NotAFile)]);
        fs::remove_file(&path).expect("removed");
        assert!(Command::new("mkfifo").arg(&path).status().expect("runs").success());
        assert!(matches!(store.read(&digest_of(&path)), Err(StoreError::NotAFile { .. })));
        fs::remove_file(&path).expect("removed");
        fs::rename(&outside, &path).expect("moved back");
    }
    for name in ["index.json", "oci-layout", "blobs/sha256", "blobs"] {
        let path = store.path().join(name);
        fs::rename(&path, &outside).expect("moved");
        symlink(&outside, &path).expect("linked");
        let opened = Store::open(store.path()).and_then(|store| store.entries());
        assert!(opened.is_err(), "{name}");
        fs::remove_file(&path).expect("removed");
        fs::rename(&outside, &path).expect("moved back");
    }
    let lock = store.path().join("index.lock");
    fs::remove_file(&lock).expect("removed");
    symlink(&outside, &lock).expect("linked");
    assert!(store.publish(&Document::agent("c.c", "1.0.0", "").artifact()).is_err());
    assert!(!outside.exists(), "nothing was made outside");
}
