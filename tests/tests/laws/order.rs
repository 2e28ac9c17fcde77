//! Neither how files are called and made, nor how documents are written, reaches the bytes; every word of a prompt
//! does.

use bailiwick_tests::fleet::File;
use proptest::prelude::*;

use crate::bundle::{SAMPLES, Scratch, generated, outcome, samples};
use crate::cases;
use crate::writing::{Hand, rewrite, with_comments};

fn hand() -> impl Strategy<Value = Hand> {
    (any::<u64>(), prop_oneof![Just(0), 1_usize..6, Just(99)], 1_usize..5)
        .prop_map(|(order, blocks, indent)| Hand { order, blocks, indent })
}

fn is_document(file: &File) -> bool {
    file.path.ends_with(".yaml")
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn names_and_order_of_files_do_not_matter(
        files in generated(),
        numbers in prop::collection::vec(any::<u32>(), 16),
    ) {
        let before = outcome(&Scratch::with(&files).path, ".");
        let mut moved: Vec<(u32, File)> = files
            .iter()
            .zip(numbers.iter().cycle())
            .enumerate()
            .map(|(at, (file, number))| {
                let mut file = file.clone();
                if let Some((folder @ ("tools" | "policies"), _)) = file.path.split_once('/') {
                    let below = if number % 3 == 0 { "some/deeper/" } else { "" };
                    let ending = if number % 2 == 0 { "yaml" } else { "yml" };
                    file.path = format!("{folder}/{below}{number}-{at}.{ending}");
                }
                (number.rotate_left(7), file)
            })
            .collect();
        moved.sort_by_key(|(number, _)| *number);
        let moved: Vec<File> = moved.into_iter().map(|(_, file)| file).collect();
        let after = outcome(&Scratch::with(&moved).path, ".");
        prop_assert_eq!(before.digest(), after.digest());
        prop_assert_eq!(before.lock, after.lock);
    }

    #[test]
    fn one_file_or_many_does_not_matter(files in generated()) {
        let before = outcome(&Scratch::with(&files).path, ".");
        let (documents, mut rest): (Vec<File>, Vec<File>) = files
            .into_iter()
            .partition(|file| is_document(file) && file.path != "agent.yaml");
        if !documents.is_empty() {
            let texts: Vec<String> = documents.into_iter().map(|file| file.text).collect();
            rest.push(crate::bundle::file("all.yaml", texts.join("---\n")));
        }
        prop_assert_eq!(before.digest(), outcome(&Scratch::with(&rest).path, ".").digest());
    }

    #[test]
    fn the_hand_does_not_matter(mut files in generated(), hand in hand()) {
        let before = outcome(&Scratch::with(&files).path, ".");
        for file in files.iter_mut().filter(|file| is_document(file)) {
            file.text = rewrite(&file.text, hand);
        }
        let after = outcome(&Scratch::with(&files).path, ".");
        prop_assert_eq!(before.digest(), after.digest());
    }

    #[test]
    fn the_hand_of_the_samples_does_not_matter(hand in hand()) {
        let mut files = samples();
        let there = Scratch::with(&files);
        let before: Vec<_> = SAMPLES.iter().map(|sample| outcome(&there.path, sample)).collect();
        for file in files.iter_mut().filter(|file| is_document(file)) {
            file.text = rewrite(&file.text, hand);
        }
        let there = Scratch::with(&files);
        for (sample, before) in SAMPLES.iter().zip(before) {
            let after = outcome(&there.path, sample);
            prop_assert_eq!(before.compiled, after.compiled, "{:?}", after.said);
            prop_assert_eq!(before.lock, after.lock);
        }
    }

    #[test]
    fn comments_do_not_matter(
        mut files in generated(),
        choices in prop::collection::vec(0_u8..8, 97),
    ) {
        let before = outcome(&Scratch::with(&files).path, ".");
        let mut choices = choices.into_iter().cycle();
        for file in files.iter_mut().filter(|file| is_document(file)) {
            file.text = with_comments(&file.text, || choices.next().unwrap_or(0));
        }
        let after = outcome(&Scratch::with(&files).path, ".");
        prop_assert!(after.compiled.is_some(), "{:?}", after.said);
        prop_assert_eq!(before.compiled, after.compiled);
    }

    #[test]
    fn a_changed_letter_of_the_prompt_matters(mut files in generated(), at in any::<prop::sample::Index>()) {
        let before = outcome(&Scratch::with(&files).path, ".");
        let prompt = files.iter_mut().find(|file| file.path == "prompts/system.md").unwrap();
        let letters: Vec<usize> = prompt
            .text
            .char_indices()
            .filter(|(_, letter)| letter.is_ascii_alphabetic())
            .map(|(at, _)| at)
            .collect();
        let at = letters[at.index(letters.len())];
        let other = if prompt.text.get(at..).is_some_and(|rest| rest.starts_with('q')) { "z" } else { "q" };
        prompt.text.replace_range(at..=at, other);
        let after = outcome(&Scratch::with(&files).path, ".");
        prop_assert_ne!(before.digest(), after.digest());
    }
}
