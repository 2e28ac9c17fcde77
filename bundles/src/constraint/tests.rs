use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

fn constraint(text: &str) -> Constraint {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn version(text: &str) -> Version {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_operator_on_full_and_partial_versions() {
    // Constraint, what it takes, what it does not.
    let rows = [
        ("1.2.3", "1.2.3 1.2.3+b", "1.2.4 1.2.2 1.2.3-rc.1"),
        ("=1.2.3", "1.2.3", "1.2.4 1.3.0"),
        ("v1.2.3", "1.2.3", "1.2.4"),
        ("1", "1.0.0 1.9.9", "0.9.9 2.0.0 1.0.0-a 2.0.0-a"),
        ("1.2", "1.2.0 1.2.9", "1.1.9 1.3.0 1.2.3-a"),
        ("1.x", "1.0.0 1.9.9", "2.0.0"),
        ("1.X.x", "1.0.0 1.9.9", "2.0.0"),
        ("1.2.*", "1.2.0 1.2.9", "1.3.0"),
        ("=1.2", "1.2.0 1.2.9", "1.1.9 1.3.0"),
        ("=0", "0.0.0 0.9.0", "1.0.0"),
        ("^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0 0.9.0 1.2.3-rc.1 1.5.0-rc.1 2.0.0-rc.1"),
        ("^1.2", "1.2.0 1.9.0", "1.1.9 2.0.0"),
        ("^1", "1.0.0 1.9.0", "2.0.0 0.9.0"),
        ("^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0"),
        ("^0.2", "0.2.0 0.2.9", "0.3.0 0.1.0"),
        ("^0.0.3", "0.0.3", "0.0.2 0.0.4"),
        ("^0.0", "0.0.0 0.0.9", "0.1.0"),
        ("^0.0.0", "0.0.0", "0.0.1"),
        ("^0", "0.0.0 0.9.9", "1.0.0"),
        ("^0.x", "0.0.0 0.9.9", "1.0.0"),
        ("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0"),
        ("~1.2", "1.2.0 1.2.9", "1.3.0"),
        ("~1", "1.0.0 1.9.9", "2.0.0"),
        ("~0.0.3", "0.0.3 0.0.9", "0.1.0"),
        (">1.2.3", "1.2.4 9.0.0", "1.2.3 1.2.3+z 1.2.2"),
        (">1.2", "1.3.0 2.0.0", "1.2.9 1.2.0"),
        (">1", "2.0.0", "1.9.9 1.0.0"),
        (">=1.2.3", "1.2.3 2.0.0", "1.2.2"),
        (">=1.2", "1.2.0 2.0.0", "1.1.9"),
        ("<1.2.3", "1.2.2 0.0.0", "1.2.3 1.2.3-rc.1"),
        ("<1.2", "1.1.9", "1.2.0 1.2.0-a"),
        ("<1", "0.9.9", "1.0.0"),
        ("<=1.2.3", "1.2.3 1.2.3+z", "1.2.4"),
        ("<=1.2", "1.2.9 1.0.0", "1.3.0"),
        ("<=1", "1.9.9", "2.0.0"),
        ("*", "0.0.0 9.9.9", "1.0.0-a"),
        ("x", "0.0.0 9.9.9", "1.0.0-a"),
        (">=1.2, <1.5", "1.2.0 1.4.9", "1.1.0 1.5.0"),
        (">=1.2 <1.5", "1.2.0 1.4.9", "1.1.0 1.5.0"),
        (">= 1.2 , < 1.5", "1.2.0 1.4.9", "1.1.0 1.5.0"),
        ("^1.2 || ^3.1", "1.2.0 3.1.0", "2.0.0 3.0.0 4.0.0"),
        ("1.0.0||2.0.0", "1.0.0 2.0.0", "1.0.1"),
        ("<0.0.0", "", "0.0.0 1.0.0"),
        ("^1.2.3-rc.2", "1.2.3-rc.2 1.2.3-rc.10 1.2.3 1.4.0", "1.2.3-rc.1 1.2.4-rc.3 2.0.0"),
        ("1.2.3-rc.2", "1.2.3-rc.2", "1.2.3-rc.3 1.2.3"),
        (">1.2.3-rc.2 <1.2.3", "1.2.3-rc.3", "1.2.3-rc.2 1.2.3"),
        ("^1.2 || 2.0.0-rc.1", "1.2.0 2.0.0-rc.1", "2.0.0-rc.2 1.5.0-rc.1"),
        // The one that names the pre-release has to be of the same group.
        ("^1.2.3 || >=1.5.0-rc.1 <1.5.0-rc.2", "1.2.3 1.5.0-rc.1", "1.5.0-rc.2"),
        ("^1.2, >=2.0.0-a", "", "2.0.0-b 1.9.0 2.0.0"),
        ("^18446744073709551615", "18446744073709551615.0.1", "1.0.0"),
        (">18446744073709551615", "", "18446744073709551615.18446744073709551615.18446744073709551615"),
        ("<=18446744073709551615", "18446744073709551615.1.0 0.0.0", "1.0.0-a"),
        ("~1.18446744073709551615", "1.18446744073709551615.7", "2.0.0 1.0.0"),
        (">1.18446744073709551615", "2.0.0", "1.18446744073709551615.7"),
        ("^0.0.18446744073709551615", "0.0.18446744073709551615", "0.1.0"),
    ];
    for (text, inside, outside) in rows {
        let constraint = constraint(text);
        for inside in inside.split_whitespace() {
            assert!(constraint.matches(&version(inside)), "{inside} is in {text}");
        }
        for outside in outside.split_whitespace() {
            assert!(!constraint.matches(&version(outside)), "{outside} is not in {text}");
        }
    }
}

#[test]
fn a_mismatch_tells_pre_releases_from_what_is_outside() {
    let rows = [
        ("^1.0", "1.5.0-rc.1", Some(Mismatch::PreRelease)),
        ("^1.0", "2.0.0", Some(Mismatch::Outside)),
        ("^1.0", "2.0.0-rc.1", Some(Mismatch::Outside)),
        ("^1.0", "1.0.0-rc.1", Some(Mismatch::Outside)),
        ("*", "1.0.0-rc.1", Some(Mismatch::PreRelease)),
        ("^1.0", "1.5.0", None),
        ("2.0.0 || ^1.0", "1.5.0-rc.1", Some(Mismatch::PreRelease)),
    ];
    for (text, candidate, expected) in rows {
        assert_eq!(constraint(text).why_not(&version(candidate)), expected, "{text} {candidate}");
    }
}

#[test]
fn exact_is_one_full_version() {
    for (text, exact) in [("1.2.3", "1.2.3"), ("= v1.2.3-rc.1", "1.2.3-rc.1"), ("1.2.3+b", "1.2.3+b")] {
        assert_eq!(constraint(text).exact(), Some(&version(exact)), "{text}");
    }
    for text in ["1.2", "^1.2.3", ">=1.2.3", "<=1.2.3", "1.2.3 || 1.2.4", "1.2.3, 1.2.3", "*", "~1.2.3"] {
        assert!(!constraint(text).is_exact(), "{text}");
    }
}

#[test]
fn it_prints_what_was_written() {
    let rows = [(" ^ 1.2 ,<2||  >= 3.x   <4 ", "^1.2, <2 || >=3.x <4"), ("v1.2.3+b", "v1.2.3+b"), ("*", "*")];
    for (text, expected) in rows {
        let read = constraint(text);
        assert_eq!(read.to_string(), expected);
        assert_eq!(constraint(expected), read);
        assert_eq!(serde_json::to_value(&read).expect("a string"), expected);
    }
    assert_eq!(Constraint::any(), constraint("*"));
    assert_eq!(format!("{:>4}", constraint("^1")), "  ^1");
}

#[test]
fn what_is_no_constraint_says_where_and_why() {
    let rows = [
        ("", 0, "version is due"),
        ("  ", 2, "version is due"),
        ("^", 1, "version is due"),
        ("1.2,", 4, "version is due"),
        (",1.2", 0, "version is due"),
        ("1.2,,1.3", 4, "version is due"),
        ("1.2 ||", 6, "version is due"),
        ("|| 1", 0, "version is due"),
        ("1 | 2", 2, "version is due"),
        ("1|2", 1, "a comma or a space"),
        ("1.2.3.4", 6, "at most three"),
        ("1..2", 2, "numbers with dots"),
        ("latest", 0, "numbers with dots"),
        ("1.2.é", 4, "numbers with dots"),
        ("^1.02", 3, "leading zero"),
        ("18446744073709551616", 0, "at most 18446744073709551615"),
        ("1.2-rc.1", 3, "three numbers"),
        ("1.x.3", 4, "follow"),
        ("1.*+b", 3, "three numbers"),
        ("^*", 0, "takes no operator"),
        (">= x", 0, "takes no operator"),
        ("1.2.3-", 5, "pre-release"),
        ("1.2.3-a..b", 5, "pre-release"),
        ("1.0 - 2.0", 4, "not with `-`"),
        ("==1.2", 0, "operators are"),
        ("~>1.2", 0, "operators are"),
        ("=>1.2", 0, "operators are"),
        ("!=1.2", 0, "numbers with dots"),
        (">=1.2<2", 5, "a comma or a space"),
    ];
    for (text, offset, part) in rows {
        let error = text.parse::<Constraint>().expect_err(text);
        assert!(error.message().contains(part), "{error}");
        assert_eq!(error.offset(), offset, "{error}");
    }
}

/// What the rules say, number by number and without bounds.
fn rule_holds(operator: &str, parts: &[u64], pre: &str, version: &Version) -> bool {
    let found = numbers(version);
    let shared = parts.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let under = shared == parts.len();
    let order = || {
        let written: Vec<String> =
            parts.iter().map(u64::to_string).chain(["0".to_owned(), "0".to_owned()]).take(3).collect();
        let dash = if pre.is_empty() { "" } else { "-" };
        let written = format!("{}{dash}{pre}", written.join("."));
        version.cmp_precedence(&written.parse().expect("a version"))
    };
    let full = parts.len() == 3;
    match operator {
        "" | "=" if full => order() == Ordering::Equal,
        "" | "=" => under && order() != Ordering::Less,
        ">" if full => order() == Ordering::Greater,
        // Past everything under it; the pre-releases of the first one past come before it.
        ">" => {
            let next = shared + 1 == parts.len() && found[shared] == parts[shared] + 1;
            let first = next && found[parts.len()..].iter().all(|n| *n == 0);
            order() == Ordering::Greater && !under && !(first && version.is_pre_release())
        }
        ">=" => order() != Ordering::Less,
        "<" if full => order() == Ordering::Less,
        "<" => order() == Ordering::Less && !under,
        "<=" if full => order() != Ordering::Greater,
        "<=" => order() == Ordering::Less || under,
        "~" => order() != Ordering::Less && shared >= parts.len().min(2),
        "^" => {
            let fixed = parts.iter().position(|n| *n != 0).map_or(parts.len(), |at| at + 1);
            order() != Ordering::Less && shared >= fixed
        }
        other => panic!("{other}"),
    }
}

type Written = (&'static str, Vec<u64>, &'static str);

fn comparator() -> impl Strategy<Value = Written> {
    let operator = prop::sample::select(vec!["", "=", "^", "~", ">", ">=", "<", "<="]);
    let pre = prop::sample::select(vec!["", "", "a", "a.1", "b"]);
    (operator, prop::collection::vec(0_u64..3, 1..=3), pre)
        .prop_map(|(operator, parts, pre)| (operator, parts.clone(), if parts.len() == 3 { pre } else { "" }))
}

fn write((operator, parts, pre): &Written) -> String {
    let parts: Vec<String> = parts.iter().map(u64::to_string).collect();
    let dash = if pre.is_empty() { "" } else { "-" };
    format!("{operator}{}{dash}{pre}", parts.join("."))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_takes_what_the_rules_take(
        groups in prop::collection::vec(prop::collection::vec(comparator(), 1..3), 1..3),
        comma: bool,
    ) {
        let separator = if comma { ", " } else { " " };
        let written: Vec<String> =
            groups.iter().map(|group| group.iter().map(write).collect::<Vec<_>>().join(separator)).collect();
        let text = written.join(" || ");
        let constraint = constraint(&text);
        prop_assert_eq!(constraint.to_string(), text.as_str());
        for numbers in (0..64).map(|n| [n / 16, n / 4 % 4, n % 4]) {
            for pre in ["", "-a", "-a.1", "-a.2", "-b", "-b+x", "+x"] {
                let version = version(&format!("{}.{}.{}{pre}", numbers[0], numbers[1], numbers[2]));
                let inside: Vec<_> = groups
                    .iter()
                    .filter(|group| group.iter().all(|(op, parts, pre)| rule_holds(op, parts, pre, &version)))
                    .collect();
                let named = |(_, parts, pre): &Written| !pre.is_empty() && *parts == numbers;
                let expected = if inside.iter().any(|group| !version.is_pre_release() || group.iter().any(named)) {
                    None
                } else if inside.is_empty() {
                    Some(Mismatch::Outside)
                } else {
                    Some(Mismatch::PreRelease)
                };
                prop_assert_eq!(constraint.why_not(&version), expected, "{} {}", text, version);
            }
        }
    }

    #[test]
    fn no_text_upsets_it(text in "[0-9vx*.^~=<>|, +a-]{0,12}|.{0,8}") {
        match text.parse::<Constraint>() {
            Ok(read) => prop_assert_eq!(read.to_string().parse::<Constraint>(), Ok(read)),
            Err(error) => prop_assert!(text.is_char_boundary(error.offset()), "{}", error),
        }
    }
}
