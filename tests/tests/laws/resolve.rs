//! Resolving against a second statement of the rule, over catalogs of every kind of version.
//!
//! The statement here works on numbers and lists, and shares nothing with the compiler.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bailiwick_tests::fleet::File;
use proptest::prelude::*;

use crate::bundle::{Scratch, file, outcome};
use crate::cases;

/// One version in a catalog.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offer {
    pub(crate) numbers: [u64; 3],
    pub(crate) pre: Option<&'static str>,
    pub(crate) yanked: bool,
}

impl Offer {
    fn version(&self) -> String {
        let [major, minor, patch] = self.numbers;
        let pre = self.pre.map_or(String::new(), |pre| format!("-{pre}"));
        format!("{major}.{minor}.{patch}{pre}")
    }
}

/// The pre-releases, lowest first by the rule of semantic versions.
const PRE: [&str; 6] = ["1", "alpha", "alpha.2", "alpha.10", "beta", "rc.1"];

pub(crate) fn settings() -> File {
    file("bailiwick.toml", "[catalogs.shop]\npath = \"catalog\"\nnamespaces = [\"shop\"]\n")
}

pub(crate) fn catalog_files(offers: &[Offer]) -> Vec<File> {
    let document = |offer: &Offer| {
        let version = offer.version();
        let yanked =
            if offer.yanked { "  annotations:\n    bailiwick.dev/yanked: \"it was wrong\"\n" } else { "" };
        file(
            format!("catalog/pay-{version}.yaml"),
            format!(
                "apiVersion: phrony.com/v1\nkind: Tool\nmetadata:\n  name: pay\n  namespace: shop\n  \
                 version: \"{version}\"\n{yanked}spec:\n  description: Pays.\n  side_effect_class: read_only\n  \
                 input_schema:\n    inline: {{ type: object }}\n"
            ),
        )
    };
    offers.iter().map(document).collect()
}

pub(crate) fn agent_asking(constraint: Option<&str>) -> File {
    let at = constraint.map_or(String::new(), |constraint| format!("@{constraint}"));
    file(
        "bundle/agent.yaml",
        format!(
            "apiVersion: phrony.com/v1\nkind: Agent\nmetadata:\n  name: clerk\n  namespace: shop\n  version: 1.0.0\n\
             spec:\n  purpose: Pay.\n  instructions:\n    text: Pay.\n  tools:\n    - ref: \"shop.pay{at}\"\n      as: pay\n"
        ),
    )
}

/// A comparator: an operator, and one to three numbers, the last of which may have a pre-release.
#[derive(Clone, Debug)]
struct Comparator {
    operator: &'static str,
    numbers: Vec<u64>,
    pre: Option<&'static str>,
}

impl Comparator {
    fn text(&self) -> String {
        if self.numbers.is_empty() {
            return "*".to_owned();
        }
        let numbers: Vec<String> = self.numbers.iter().map(ToString::to_string).collect();
        let pre = self.pre.map_or(String::new(), |pre| format!("-{pre}"));
        format!("{}{}{pre}", self.operator, numbers.join("."))
    }

    /// Whether it holds, the rule about pre-releases aside.
    fn holds(&self, offer: &Offer) -> bool {
        let filled = [0, 1, 2].map(|at| self.numbers.get(at).copied().unwrap_or(0));
        let against = compare(offer, filled, self.pre);
        // Of the numbers that were written: below, within, above. Pre-releases of the next one are past it.
        let written = offer.numbers[..self.numbers.len()].cmp(&self.numbers);
        let is_full = self.numbers.len() == 3;
        match self.operator {
            _ if self.numbers.is_empty() => true,
            "" | "=" if is_full => against == Ordering::Equal,
            "" | "=" => written == Ordering::Equal && against != Ordering::Less,
            ">" if is_full => against == Ordering::Greater,
            // From the first full version past all that begin like it.
            ">" => written == Ordering::Greater && !(offer.pre.is_some() && first_past(offer, &self.numbers)),
            ">=" => against != Ordering::Less,
            "<" if is_full => against == Ordering::Less,
            "<" => written == Ordering::Less,
            "<=" if is_full => against != Ordering::Greater,
            "<=" => written != Ordering::Greater,
            "~" => {
                let kept = self.numbers.len().min(2);
                against != Ordering::Less && offer.numbers[..kept] == self.numbers[..kept]
            }
            "^" => {
                let last = self.numbers.len() - 1;
                let kept = self.numbers.iter().position(|number| *number > 0).unwrap_or(last) + 1;
                against != Ordering::Less && offer.numbers[..kept] == self.numbers[..kept]
            }
            other => panic!("`{other}` is no operator"),
        }
    }
}

/// Whether the numbers of `offer` are the least that are past `numbers`.
fn first_past(offer: &Offer, numbers: &[u64]) -> bool {
    let mut least = [0; 3];
    least[..numbers.len()].copy_from_slice(numbers);
    least[numbers.len() - 1] += 1;
    offer.numbers == least
}

fn compare(offer: &Offer, numbers: [u64; 3], pre: Option<&str>) -> Ordering {
    let rank = |pre: Option<&str>| pre.map_or(PRE.len(), |pre| PRE.iter().position(|p| *p == pre).unwrap());
    (offer.numbers, rank(offer.pre)).cmp(&(numbers, rank(pre)))
}

fn group_takes(group: &[Comparator], offer: &Offer) -> bool {
    let names = |comparator: &Comparator| comparator.pre.is_some() && comparator.numbers == offer.numbers;
    group.iter().all(|comparator| comparator.holds(offer)) && (offer.pre.is_none() || group.iter().any(names))
}

/// The rule: the highest that is wanted and not withdrawn.
fn expected<'o>(offers: &'o [Offer], groups: Option<&[Vec<Comparator>]>) -> Option<&'o Offer> {
    let wanted = |offer: &&Offer| match groups {
        Some(groups) => groups.iter().any(|group| group_takes(group, offer)),
        None => offer.pre.is_none(),
    };
    offers.iter().filter(|offer| !offer.yanked).filter(wanted).max_by(|a, b| compare(a, b.numbers, b.pre))
}

fn comparator() -> impl Strategy<Value = Comparator> {
    let operator = prop::sample::select(vec!["", "=", ">", ">=", "<", "<=", "~", "^", "^"]);
    let numbers = prop::collection::vec(0_u64..3, 0..=3);
    let pre = prop::option::weighted(0.3, prop::sample::select(PRE.to_vec()));
    (operator, numbers, pre).prop_map(|(operator, numbers, pre)| {
        let pre = pre.filter(|_| numbers.len() == 3);
        Comparator { operator, numbers, pre }
    })
}

fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let pre = prop::option::weighted(0.4, prop::sample::select(PRE.to_vec()));
    let offer = ((0_u64..3, 0_u64..3, 0_u64..3), pre, prop::bool::weighted(0.2));
    prop::collection::vec(offer, 1..14).prop_map(|offers| {
        let offers: BTreeMap<_, _> = offers
            .into_iter()
            .map(|((major, minor, patch), pre, yanked)| (([major, minor, patch], pre), yanked))
            .collect();
        offers.into_iter().map(|((numbers, pre), yanked)| Offer { numbers, pre, yanked }).collect()
    })
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn what_is_pinned_is_what_the_rule_says(
        offers in offers(),
        groups in prop::option::weighted(
            0.9,
            prop::collection::vec(prop::collection::vec(comparator(), 1..3), 1..3),
        ),
        comma in any::<bool>(),
    ) {
        let join = if comma { ", " } else { " " };
        let text = groups.as_ref().map(|groups| {
            let group = |group: &Vec<Comparator>| {
                group.iter().map(Comparator::text).collect::<Vec<_>>().join(join)
            };
            groups.iter().map(group).collect::<Vec<_>>().join(" || ")
        });
        let mut files = catalog_files(&offers);
        files.extend([settings(), agent_asking(text.as_deref())]);
        let there = Scratch::with(&files);
        let outcome = outcome(&there.path, "bundle");
        match expected(&offers, groups.as_deref()) {
            Some(offer) => {
                let pins = &outcome.snapshot().pins;
                prop_assert_eq!(pins.len(), 1);
                prop_assert_eq!(pins[0].version.to_string(), offer.version(), "{:?}", text);
            }
            None => {
                prop_assert!(outcome.compiled.is_none(), "{:?} of {:?}", text, offers);
                let codes: Vec<_> = outcome.said.iter().map(|(_, code, _)| *code).collect();
                prop_assert_eq!(codes, vec!["resolve::no-match"], "{:?}", outcome.said);
            }
        }
    }
}
