//! The same bundle gives the same bytes: in another directory, again in the same process, beside others.

use bailiwick::{OpenCatalogs, Session};
use proptest::prelude::*;

use crate::bundle::{SAMPLES, Scratch, generated, outcome, outcome_in};
use crate::cases;

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn directories_and_repetition_do_not_matter(files in generated()) {
        let (here, there) = (Scratch::with(&files), Scratch::with(&files));
        let first = outcome(&here.path, ".");
        prop_assert!(first.compiled.is_some(), "{:?}", first.said);
        prop_assert_eq!(&first, &outcome(&there.path, "."));
        prop_assert_eq!(&first, &outcome(&here.path, "."));
        let mut session = Session::new();
        let mut open = OpenCatalogs::default();
        for _ in 0..2 {
            let again = outcome_in(&mut session, &mut open, &here.path, ".");
            prop_assert_eq!(&first.compiled, &again.compiled);
        }
    }
}

#[test]
fn samples_are_the_same_in_any_company() {
    let (here, there) = (Scratch::samples(), Scratch::samples());
    let alone: Vec<_> = SAMPLES.iter().map(|sample| outcome(&here.path, sample)).collect();
    for order in [[0, 1], [1, 0]] {
        let mut session = Session::new();
        let mut open = OpenCatalogs::default();
        for at in order {
            assert_eq!(alone[at], outcome_in(&mut session, &mut open, &there.path, SAMPLES[at]));
        }
    }
}
