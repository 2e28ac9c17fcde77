use proptest::prelude::*;
use serde_json::json;

use super::*;

fn canonical(value: &Value) -> String {
    String::from_utf8(to_canonical(value).expect("has a canonical form")).expect("UTF-8")
}

/// RFC 8785, 3.2.2 and 3.2.3: the example of the text.
#[test]
fn the_example_of_the_rfc() {
    let input = r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
    let expected = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
        \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(canonical(&serde_json::from_str(input).expect("JSON")), expected);
}

/// RFC 8785, 3.2.3: the sorting example.
#[test]
fn keys_sort_by_utf16() {
    let value = json!({
        "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
        "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control", "\u{f6}": "Latin Small Letter O"
    });
    let text = canonical(&value);
    let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"];
    let places: Vec<_> = order.iter().map(|word| text.find(word).expect("present")).collect();
    assert!(places.is_sorted(), "{text}");
}

/// RFC 8785, appendix B: IEEE 754 bits and what they print as.
#[test]
fn the_numbers_of_appendix_b() {
    for (bits, expected) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let text = canonical(&json!(f64::from_bits(bits)));
        assert_eq!(text, expected, "{bits:016x}");
        assert!(is_canonical(text.as_bytes()));
        assert_eq!(from_canonical(text.as_bytes()).map(|again| canonical(&again)), Ok(text));
    }
}

#[test]
fn integers_beyond_two_to_the_53_are_refused_with_their_place() {
    assert_eq!(
        canonical(&json!([9_007_199_254_740_992_u64, -9_007_199_254_740_992_i64])),
        "[9007199254740992,-9007199254740992]"
    );
    for number in [
        json!(9_007_199_254_740_993_u64),
        json!(-9_007_199_254_740_993_i64),
        json!(u64::MAX),
        json!(i64::MIN),
    ] {
        let error = to_canonical(&json!({"a/b": [0, {"~": number}]})).expect_err("rounds");
        assert_eq!(
            error,
            CanonicalError::Inexact { pointer: "/a~1b/1/~0".to_owned(), number: number.to_string() }
        );
    }
}

#[test]
fn depth_is_bounded_and_what_is_written_can_be_read() {
    let nested = |depth: usize| (1..depth).fold(json!([]), |inner, _| json!([inner]));
    let bytes = to_canonical(&nested(MAX_DEPTH)).expect("at the bound");
    assert_eq!(from_canonical(&bytes), Ok(nested(MAX_DEPTH)));
    assert!(is_canonical(&bytes));
    let error = to_canonical(&nested(MAX_DEPTH + 1)).expect_err("beyond it");
    assert_eq!(error, CanonicalError::TooDeep { pointer: "/0".repeat(MAX_DEPTH) });
    let deep = "[".repeat(100_000);
    assert!(from_canonical(deep.as_bytes()).is_err() && !is_canonical(deep.as_bytes()));
    let one_more = format!("[{}]", String::from_utf8_lossy(&bytes));
    assert!(from_canonical(one_more.as_bytes()).is_err() && !is_canonical(one_more.as_bytes()));
}

#[test]
fn other_spellings_are_refused() {
    for text in [
        "{\"a\":1,\"a\":1}",
        "{\"b\":1,\"a\":1}",
        "{ }",
        "[1.0]",
        "[-0]",
        "[1e2]",
        "[1E+30]",
        "[9007199254740993]",
        "[\"\\u0041\"]",
        "[\"\\u001F\"]",
        "[\"\\/\"]",
        "[]\n",
        "\u{feff}[]",
        "",
        "[",
        "[\"\\ud800\"]",
    ] {
        assert!(from_canonical(text.as_bytes()).is_err(), "{text}");
        assert!(!is_canonical(text.as_bytes()), "{text}");
    }
    assert!(from_canonical(b"\"\xff\"").is_err() && !is_canonical(b"\"\xff\""));
    assert_eq!(from_canonical(b"[1, 2]"), Err(CanonicalError::OtherSpelling { offset: 3 }));
}

#[test]
fn a_refusal_reads_as_a_sentence() {
    let error = to_canonical(&json!({"max": u64::MAX})).expect_err("rounds");
    assert_eq!(
        error.to_string(),
        "the integer 18446744073709551615 at `/max` cannot be held exactly (beyond 2^53)"
    );
    assert_eq!(from_canonical(b"{").expect_err("cut").to_string(), "not JSON (line 1, column 1)");
}

/// Any JSON value whose integers are exact, with keys and floats from the awkward corners.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_992_i64..=9_007_199_254_740_992).prop_map(Value::from),
        any::<u64>()
            .prop_map(|bits| Number::from_f64(f64::from_bits(bits)).map_or(Value::Null, Value::Number)),
        (any::<i32>(), -30..30)
            .prop_map(|(digits, exponent)| json!(f64::from(digits) * 10_f64.powi(exponent))),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_another_implementation(value in values()) {
        let theirs = serde_json_canonicalizer::to_vec(&value).expect("no fault known for these");
        prop_assert_eq!(to_canonical(&value), Ok(theirs));
    }

    #[test]
    fn what_is_written_reads_back(value in values()) {
        let bytes = to_canonical(&value).expect("in range");
        let again = from_canonical(&bytes).expect("canonical");
        prop_assert!(is_canonical(&bytes));
        prop_assert_eq!(to_canonical(&again), Ok(bytes));
    }

    #[test]
    fn reading_never_panics_and_accepts_one_spelling(text in "[\\[\\]{}\",:0-9eE+.\\-a \\\\u]{0,40}") {
        prop_assert_eq!(is_canonical(text.as_bytes()), from_canonical(text.as_bytes()).is_ok());
        if let Ok(value) = from_canonical(text.as_bytes()) {
            prop_assert_eq!(to_canonical(&value), Ok(text.into_bytes()));
        }
    }

    #[test]
    fn a_changed_byte_is_seen_by_both_readers_alike(value in values(), at: prop::sample::Index, byte: u8) {
        let mut bytes = to_canonical(&value).expect("in range");
        let at = at.index(bytes.len());
        bytes[at] = byte;
        prop_assert_eq!(is_canonical(&bytes), from_canonical(&bytes).is_ok());
    }

    #[test]
    fn strings_and_keys_are_read_alike(keys in prop::collection::vec("(\\\\u00[01][0-9a-fA-F]|\\\\[bfnrt\"/u]|[ax\u{e000}\u{10000}]){0,3}", 0..4)) {
        let members: Vec<_> = keys.iter().map(|key| format!("\"{key}\":0")).collect();
        let text = format!("{{{}}}", members.join(","));
        prop_assert_eq!(is_canonical(text.as_bytes()), from_canonical(text.as_bytes()).is_ok(), "{}", text);
    }

    #[test]
    fn numbers_are_read_alike(text in "-?[0-9]{1,22}(\\.[0-9]{1,18})?(e[+-]?[0-9]{1,3})?") {
        prop_assert_eq!(is_canonical(text.as_bytes()), from_canonical(text.as_bytes()).is_ok());
    }
}
