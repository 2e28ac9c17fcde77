//! Damaged bundles: whatever is done to their bytes, the compiler says something or publishes, never both, and
//! never falls over.

use std::fs;

use bailiwick_snapshots::Store;
use bailiwick_tests::fleet::File;
use proptest::prelude::*;

use crate::bundle::{SAMPLES, Scratch, command, samples};
use crate::cases;

/// One thing that may happen to a file.
#[derive(Clone, Debug)]
enum Damage {
    Flip { at: prop::sample::Index, bit: u8 },
    Cut { at: prop::sample::Index },
    Remove { line: prop::sample::Index },
    Repeat { line: prop::sample::Index },
    Swap { one: prop::sample::Index, other: prop::sample::Index },
    Indent { line: prop::sample::Index },
    Insert { at: prop::sample::Index, text: &'static str },
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let texts = vec![
        "\t",
        ":",
        "- ",
        "{",
        "]",
        "\"",
        "#",
        "&a ",
        "*a",
        "!!x ",
        "\u{0}",
        "\u{202e}",
        "null",
        "1e999",
        "-0.0",
        "..",
        "/",
        "@",
        "<<: ",
        "---\n",
        "\r",
        "é",
        "||",
        "$ref",
        "9007199254740993",
    ];
    prop_oneof![
        (index(), 0_u8..8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        index().prop_map(|at| Damage::Cut { at }),
        index().prop_map(|line| Damage::Remove { line }),
        index().prop_map(|line| Damage::Repeat { line }),
        (index(), index()).prop_map(|(one, other)| Damage::Swap { one, other }),
        index().prop_map(|line| Damage::Indent { line }),
        (index(), prop::sample::select(texts)).prop_map(|(at, text)| Damage::Insert { at, text }),
    ]
}

impl Damage {
    fn done_to(&self, bytes: &[u8]) -> Vec<u8> {
        if bytes.is_empty() {
            return Vec::new();
        }
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let n = lines.len();
        match self {
            Self::Flip { at, bit } => {
                let mut bytes = bytes.to_vec();
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
                return bytes;
            }
            Self::Cut { at } => return bytes[..at.index(bytes.len())].to_vec(),
            Self::Insert { at, text } => {
                let (before, after) = bytes.split_at(at.index(bytes.len()));
                return [before, text.as_bytes(), after].concat();
            }
            Self::Remove { line } => {
                lines.remove(line.index(n));
            }
            Self::Repeat { line } => {
                let line = line.index(n);
                lines.insert(line, lines[line].clone());
            }
            Self::Swap { one, other } => lines.swap(one.index(n), other.index(n)),
            Self::Indent { line } => lines[line.index(n)].splice(0..0, *b"  ").for_each(drop),
        }
        lines.concat()
    }
}

/// The files of the samples that something can be done to, their locks among them.
fn damageable() -> Vec<File> {
    let mut files = samples();
    files.retain(|file| !file.path.ends_with("README.md"));
    files
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn damage_is_said_or_harmless(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec(damage(), 1..4),
        json in any::<bool>(),
    ) {
        static FILES: std::sync::OnceLock<Vec<File>> = std::sync::OnceLock::new();
        let files = FILES.get_or_init(damageable);
        let there = Scratch::with(files);
        let hit = &files[which.index(files.len())];
        let bytes = damage.iter().fold(hit.text.clone().into_bytes(), |bytes, damage| damage.done_to(&bytes));
        fs::write(there.path.join(&hit.path), bytes).unwrap();
        let format = if json { "json" } else { "human" };
        for sample in SAMPLES {
            let store = format!("store-of-{sample}");
            let checked = command(&there.path, &["check", sample, "--format", format]);
            let published = command(&there.path, &["publish", sample, "--format", format, "--store", &store]);
            prop_assert!([0, 1, 3].contains(&checked.code), "{}", checked.stderr);
            prop_assert_eq!(checked.code, published.code, "{}\n{}", checked.stderr, published.stderr);
            let entries = Store::open(&there.path.join(&store)).and_then(|store| store.entries());
            let n_published = entries.map_or(0, |entries| entries.len());
            prop_assert_eq!(n_published, usize::from(published.code == 0), "{}", published.stderr);
            if json {
                let report: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
                let errors = report["summary"]["errors"].as_u64().unwrap();
                prop_assert_eq!(errors == 0, checked.code == 0);
            }
        }
    }
}
