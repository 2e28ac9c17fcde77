//! What is published is what is read back, and the store stays sound.

use bailiwick_bundles::Digest;
use bailiwick_snapshots::{Artifact, Published, Snapshot, Store};
use proptest::prelude::*;

use crate::bundle::{SAMPLES, Scratch, command, generated, outcome};
use crate::cases;

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn published_is_read_back(files in generated()) {
        let there = Scratch::with(&files);
        let (snapshot, bytes, digest) = outcome(&there.path, ".").compiled.unwrap();
        prop_assert_eq!(digest, Digest::of(&bytes));
        prop_assert_eq!(&Snapshot::from_canonical(&bytes).unwrap(), &snapshot);

        let store = Store::open_or_create(&there.path.join("store")).unwrap();
        let artifact = Artifact {
            kind: snapshot.kind,
            id: &snapshot.identity.id(),
            version: &snapshot.identity.version,
            bytes: &bytes,
        };
        prop_assert_eq!(store.publish(&artifact).unwrap(), Published::New(digest));
        prop_assert_eq!(store.publish(&artifact).unwrap(), Published::Already(digest));
        prop_assert_eq!(&store.read(&digest).unwrap(), &bytes);
        let entries = store.entries().unwrap();
        prop_assert_eq!(entries.len(), 1);
        prop_assert_eq!(entries[0].digest, digest);
        let verification = store.verify().unwrap();
        prop_assert!(verification.is_sound(), "{:?}", verification);
    }

    #[test]
    fn the_command_publishes_what_is_compiled(files in generated()) {
        let there = Scratch::with(&files);
        let digest = outcome(&there.path, ".").digest();
        let first = command(&there.path, &["publish"]);
        prop_assert_eq!(first.code, 0, "{}", first.stderr);
        prop_assert!(first.stdout.contains(&digest.to_string()), "{}", first.stdout);
        let second = command(&there.path, &["publish"]);
        prop_assert_eq!(second.code, 0, "{}", second.stderr);
        prop_assert!(second.stdout.contains("already published"), "{}", second.stdout);
        // The store lies in the bundle: it is not read as a part of it.
        prop_assert_eq!(digest, outcome(&there.path, ".").digest());
        prop_assert_eq!(command(&there.path, &["verify"]).code, 0);
    }
}

#[test]
fn samples_are_read_back() {
    let there = Scratch::samples();
    for sample in SAMPLES {
        let (snapshot, bytes, _) = outcome(&there.path, sample).compiled.unwrap();
        assert_eq!(Snapshot::from_canonical(&bytes).unwrap(), snapshot);
        assert_eq!(snapshot.to_canonical().unwrap(), bytes);
        assert_eq!(command(&there.path, &["publish", sample]).code, 0);
    }
    assert_eq!(command(&there.path, &["verify"]).code, 0);
}
