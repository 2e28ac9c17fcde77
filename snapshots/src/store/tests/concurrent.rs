//! Publishers at the same time. Each has a `Store` and a lock file handle of its own, as processes have.

use std::sync::Barrier;
use std::thread;

use super::*;

/// Publishes every document from a thread of its own, all at once, into a store that is not there yet.
fn race(documents: &[Document]) -> (TempDir, Store, Vec<Result<Published, PublishError>>) {
    let (guard, path) = directory();
    let start = Barrier::new(documents.len());
    let outcomes = thread::scope(|scope| {
        let publish = |document: &Document| {
            start.wait();
            Store::open_or_create(&path)?.publish(&document.artifact())
        };
        let threads: Vec<_> =
            documents.iter().map(|document| scope.spawn(move || publish(document))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let store = Store::open(&path).expect("made");
    assert!(store.verify().expect("verifiable").is_sound());
    (guard, store, outcomes)
}

#[test]
fn two_hundred_publishers_all_succeed() {
    let documents: Vec<_> =
        (0..200).map(|n| Document::agent(&format!("fleet.a{n:03}"), "1.0.0", "")).collect();
    let (_guard, store, outcomes) = race(&documents);
    for (outcome, document) in outcomes.iter().zip(&documents) {
        assert!(matches!(outcome, Ok(Published::New(digest)) if *digest == document.digest()), "{outcome:?}");
    }
    let expected: Vec<_> = documents.iter().map(|document| format!("{}@1.0.0", document.id)).collect();
    assert_eq!(listing(&store), expected);
}

#[test]
fn one_content_wins_a_version() {
    let documents: Vec<_> = (0..64).map(|n| Document::agent("a.a", "1.0.0", &n.to_string())).collect();
    let (_guard, store, outcomes) = race(&documents);
    let winner = store.entries().expect("readable").remove(0).digest;
    let mut n_won = 0;
    for outcome in outcomes {
        match outcome {
            Ok(Published::New(digest)) => {
                assert_eq!(digest, winner);
                n_won += 1;
            }
            Err(PublishError::VersionTaken { existing, .. }) => assert_eq!(existing, winner),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(n_won, 1);
}

#[test]
fn the_same_content_is_new_once() {
    let documents: Vec<_> = (0..64).map(|_| Document::agent("a.a", "1.0.0", "")).collect();
    let (_guard, _store, outcomes) = race(&documents);
    let new = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Published::New(_)))).count();
    let already = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Published::Already(_)))).count();
    assert_eq!((new, already), (1, 63));
}
