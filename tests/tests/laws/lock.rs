//! The lock: writing it twice changes nothing, its check agrees, and pins stay until somebody moves them.

use std::fs;

use proptest::prelude::*;

use crate::bundle::{SAMPLES, Scratch, command, generated};
use crate::cases;
use crate::resolve::{Offer, agent_asking, catalog_files, settings};

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn locking_is_idempotent(files in generated()) {
        let there = Scratch::with(&files);
        locks_once(&there, ".");
    }

    #[test]
    fn pins_stay_until_they_are_moved(patch in 0_u64..4, higher in 1_u64..4, all in any::<bool>()) {
        let (there, locked) = pinned(patch);
        let newer = patch + higher;
        there.write(&catalog_files(&[offer(patch), offer(newer)]));
        locks_once(&there, "bundle");
        prop_assert_eq!(&locked, &fs::read(there.path.join("bundle/bundle.lock.json")).unwrap());
        prop_assert_eq!(command(&there.path, &["check", "--locked", "bundle"]).code, 0);

        let update = if all { "--update" } else { "--update=shop.pay" };
        let moved = command(&there.path, &["lock", update, "bundle"]);
        // `--update` takes no value but with `=`, so the bundle is an argument of its own.
        prop_assert_eq!(moved.code, 0, "{}", moved.stderr);
        let text = fs::read_to_string(there.path.join("bundle/bundle.lock.json")).unwrap();
        let version = format!("\"1.2.{newer}\"");
        prop_assert!(text.contains(&version), "{}", text);
        locks_once(&there, "bundle");
    }

    #[test]
    fn a_lock_that_would_change_is_refused_and_left(patch in 0_u64..4) {
        let (there, locked) = pinned(patch);
        there.write(&[agent_asking(Some("~1.2"))]);
        prop_assert_eq!(command(&there.path, &["lock", "--check", "bundle"]).code, 1);
        prop_assert_eq!(command(&there.path, &["publish", "--locked", "bundle"]).code, 1);
        prop_assert_eq!(&locked, &fs::read(there.path.join("bundle/bundle.lock.json")).unwrap());
    }
}

/// A version of the tool that the catalog offers.
fn offer(patch: u64) -> Offer {
    Offer { numbers: [1, 2, patch], pre: None, yanked: false }
}

/// A bundle that asks for `^1.2` where there is one such version, and its lock.
fn pinned(patch: u64) -> (Scratch, Vec<u8>) {
    let mut files = catalog_files(&[offer(patch)]);
    files.push(settings());
    files.push(agent_asking(Some("^1.2")));
    let there = Scratch::with(&files);
    locks_once(&there, "bundle");
    let locked = fs::read(there.path.join("bundle/bundle.lock.json")).unwrap();
    (there, locked)
}

#[test]
fn samples_lock_once() {
    let there = Scratch::samples();
    for sample in SAMPLES {
        locks_once(&there, sample);
    }
}

#[test]
fn a_lock_makes_no_other_program() {
    let there = Scratch::samples();
    let bare = Scratch::samples();
    for sample in SAMPLES {
        assert_eq!(command(&there.path, ["lock", sample]).code, 0);
        fs::remove_file(bare.path.join(sample).join("bundle.lock.json")).unwrap();
        let digest = |at: &Scratch| crate::bundle::outcome(&at.path, sample).digest();
        assert_eq!(digest(&there), digest(&bare));
    }
}

/// Locks a bundle twice, and checks that the second time and the checks find nothing to do.
fn locks_once(there: &Scratch, bundle: &str) {
    let path = there.path.join(bundle).join("bundle.lock.json");
    let first = command(&there.path, &["lock", bundle]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let written = fs::read(&path).unwrap();
    let second = command(&there.path, &["lock", bundle]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(second.stdout.contains("is up to date"), "{}", second.stdout);
    let check = command(&there.path, &["lock", "--check", bundle]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    assert_eq!(written, fs::read(&path).unwrap());
}
