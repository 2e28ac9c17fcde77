//! What the formats of the specification accept, as far as it is regular.
//!
//! Each format has a language that surely holds every accepted string, and one that surely holds only accepted strings.
//! Where the two are the same expression the format is decided exactly; elsewhere a proof may use either, and a
//! witness is asked of the validator.

use std::sync::OnceLock;

use super::pattern::Pattern;

#[derive(Debug)]
pub(crate) struct FormatLanguage {
    /// Accepts every string of the format, and perhaps more.
    pub(crate) at_most: Option<Pattern>,
    /// Accepts only strings of the format, and perhaps not all.
    pub(crate) at_least: Option<Pattern>,
    pub(crate) exact: bool,
    /// Strings worth trying as witnesses.
    pub(crate) samples: &'static [&'static str],
}

/// Every day that exists: leap years are those divisible by 4 but not by 100, or by 400.
const DATE: &str = "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)\
                    |02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])\
                    |(?:[02468][048]|[13579][26])00)-02-29)";
const CLOCK: &str = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";
const OFFSET: &str = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
const OCTET: &str = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";

const URI_CHARACTER: &str = "[!#$%&'()*+,./0-9:;=?@A-Z\\[\\]_a-z~-]";

/// Built on first use, once for all schemas.
static KNOWN: [(&str, OnceLock<FormatLanguage>); 13] = [
    ("date", OnceLock::new()),
    ("time", OnceLock::new()),
    ("date-time", OnceLock::new()),
    ("duration", OnceLock::new()),
    ("ipv4", OnceLock::new()),
    ("ipv6", OnceLock::new()),
    ("uuid", OnceLock::new()),
    ("json-pointer", OnceLock::new()),
    ("relative-json-pointer", OnceLock::new()),
    ("hostname", OnceLock::new()),
    ("email", OnceLock::new()),
    ("uri", OnceLock::new()),
    ("uri-reference", OnceLock::new()),
];

static OTHER: OnceLock<FormatLanguage> = OnceLock::new();

impl FormatLanguage {
    /// The language of a format the validator asserts.
    pub(crate) fn of(name: &str) -> &'static Self {
        let known = KNOWN.iter().find(|(known, _)| *known == name).map_or(&OTHER, |(_, language)| language);
        known.get_or_init(|| Self::build(name))
    }

    fn build(name: &str) -> Self {
        let exactly = |expression: String, samples| Self {
            at_most: Some(Pattern::own(&expression)),
            at_least: None,
            exact: true,
            samples,
        };
        let between = |at_most: &str, at_least: &str, samples| Self {
            at_most: Some(Pattern::own(&format!("^(?:{at_most})$"))),
            at_least: Some(Pattern::own(&format!("^(?:{at_least})$"))),
            exact: false,
            samples,
        };
        // A leap second is only there at the end of a UTC day, which depends on the offset.
        let time = format!("{CLOCK}:(?:[0-5][0-9]|60)(?:\\.[0-9]+)?{OFFSET}");
        let sure_time = format!("(?:{CLOCK}:[0-5][0-9](?:\\.[0-9]+)?{OFFSET}|23:59:60(?:\\.[0-9]+)?[Zz])");
        match name {
            "date" => exactly(format!("^{DATE}$"), &[]),
            "time" => between(&time, &sure_time, &["12:00:00Z"]),
            "date-time" => between(
                &format!("{DATE}[Tt]{time}"),
                &format!("{DATE}[Tt]{sure_time}"),
                &["2024-01-01T12:00:00Z"],
            ),
            "duration" => {
                exactly(format!("^P(?:[0-9]+W|{DURATION_DATE}(?:T{DURATION_TIME})?|T{DURATION_TIME})$"), &[])
            }
            "ipv4" => exactly(format!("^{OCTET}(?:\\.{OCTET}){{3}}$"), &[]),
            "ipv6" => between(
                "[0-9A-Fa-f:.]{2,45}",
                "(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|::(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?",
                &["::", "::1", "2001:db8::1"],
            ),
            "uuid" => exactly(
                "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$".into(),
                &[],
            ),
            "json-pointer" => exactly("^(?:/(?:[^~/]|~[01])*)*$".into(), &[]),
            "relative-json-pointer" => exactly("^(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)$".into(), &[]),
            "hostname" => between(
                "[A-Za-z0-9.-]{1,253}",
                "[A-Za-z0-9]{1,20}(?:\\.[A-Za-z0-9]{1,20}){0,3}",
                &["example.com", "a", "a.b"],
            ),
            "email" => between(
                "[\\x00-\\x7f]+@[\\x00-\\x7f]+",
                "[A-Za-z0-9]{1,20}@[A-Za-z0-9]{1,20}(?:\\.[A-Za-z]{2,6})",
                &["a@b.cc", "user@example.com"],
            ),
            "uri" => between(
                &format!("[A-Za-z][A-Za-z0-9+.-]*:{URI_CHARACTER}*"),
                "[a-z][a-z0-9]*:(?://[a-z0-9.-]*)?(?:/[A-Za-z0-9._~-]+)*(?:\\?[A-Za-z0-9._~=&-]*)?",
                &["https://example.com/", "a:b", "http://a", "mailto:a@b.cc"],
            ),
            "uri-reference" => between(
                &format!("{URI_CHARACTER}*"),
                "(?:/?[A-Za-z0-9._~-]+)(?:/[A-Za-z0-9._~-]+)*",
                &["/a", "https://example.com/", ""],
            ),
            _ => Self {
                at_most: None,
                at_least: None,
                exact: false,
                samples: &["a", "example", "a@b.cc", "https://example.com/", "/a", "{a}", "", "example.com"],
            },
        }
    }
}

const DURATION_DATE: &str = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)";
const DURATION_TIME: &str = "(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::validator::FormatCheck;

    const TEXTS: [&str; 64] = [
        "",
        "a",
        "a.b",
        "-a",
        "a-",
        "a..b",
        "example.com",
        "xn--a",
        "ab--c",
        "a_b",
        "1.2.3.4",
        "01.2.3.4",
        "1.2.3",
        "256.1.1.1",
        "255.255.255.255",
        "::",
        "::1",
        "1::",
        ":1",
        "1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7",
        "::ffff:1.2.3.4",
        "1::2::3",
        "12345::",
        "2024-02-29",
        "2023-02-29",
        "1900-02-29",
        "2000-02-29",
        "2024-13-01",
        "2024-04-31",
        "0000-01-01",
        "2024-1-1",
        "12:00:00Z",
        "23:59:60Z",
        "23:59:60+00:00",
        "12:00:60Z",
        "24:00:00Z",
        "12:00:00.5-01:30",
        "12:00:00",
        "2024-02-29T12:00:00z",
        "2024-02-30T12:00:00Z",
        "2024-02-29 12:00:00Z",
        "P1D",
        "P1Y2D",
        "P1Y2M3D",
        "PT1H",
        "PT1H1S",
        "P1W",
        "P1W1D",
        "P",
        "PT",
        "P1DT",
        "/",
        "/a/~0",
        "/~2",
        "0",
        "0#",
        "01",
        "1/a",
        "a@b.cc",
        "a b@c.dd",
        "\"a b\"@c.dd",
        "https://a/?b#c d",
        "http://[::1]/%41",
    ];

    /// Each text and what a slip of the hand makes of it.
    fn texts() -> impl Iterator<Item = String> {
        let marks =
            ['0', '9', 'a', 'Z', '-', '.', ':', '/', '~', '@', '%', ' ', '\n', 'é', '#', '[', '{', 'T'];
        TEXTS.iter().flat_map(move |text| {
            let read: Vec<char> = text.chars().collect();
            let at = 0..=read.len();
            let changed = at.flat_map(move |at| {
                let (before, after) = read.split_at(at);
                let without: String = before.iter().chain(after.iter().skip(1)).collect();
                let (before, after) = (before.to_vec(), after.to_vec());
                let with =
                    marks.into_iter().map(move |mark| before.iter().chain([&mark]).chain(&after).collect());
                with.chain([without]).collect::<Vec<String>>()
            });
            changed.chain([(*text).to_owned()]).collect::<Vec<String>>()
        })
    }

    #[test]
    fn languages_agree_with_the_validator() {
        let matches = |pattern: &Option<Pattern>, text: &str| {
            pattern.as_ref().and_then(|pattern| pattern.matches(text))
        };
        for (name, _) in &KNOWN {
            let language = FormatLanguage::of(name);
            let check = FormatCheck::new(name, Dialect::Draft2020).unwrap();
            for sample in language.samples {
                assert!(check.accepts(sample), "{name}: {sample:?}");
            }
            for text in texts() {
                let accepted = check.accepts(&text);
                let at_most = matches(&language.at_most, &text).unwrap();
                assert!(at_most || !accepted, "{name} accepts {text:?}");
                if language.exact {
                    assert_eq!(at_most, accepted, "{name}: {text:?}");
                } else {
                    let at_least = matches(&language.at_least, &text).unwrap();
                    assert!(accepted || !at_least, "{name} does not accept {text:?}");
                }
            }
        }
    }
}
