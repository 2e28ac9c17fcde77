use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::node::NodeValue;
use crate::reading::text::{TextFault, decode_text};
use crate::source::SourceMap;

type Read = (Vec<Node>, Vec<Diagnostic>, SourceMap);
/// Code and text under the first label of each fault.
type Expected<'a> = &'a [(&'a str, &'a str)];

fn yaml(text: &str) -> Read {
    let mut sources = SourceMap::new();
    let file = sources.add("a.yaml", text);
    let mut diagnostics = Vec::new();
    let nodes = read_yaml(file, text, &mut diagnostics);
    (nodes, diagnostics, sources)
}

fn json(text: &str) -> Read {
    let mut sources = SourceMap::new();
    let file = sources.add("a.json", text);
    let mut diagnostics = Vec::new();
    let node = read_json(file, text, &mut diagnostics);
    (node.into_iter().collect(), diagnostics, sources)
}

/// Code and text under the first label of each fault.
fn faults((_, diagnostics, sources): &Read) -> Vec<(&'static str, String)> {
    let shown = |d: &Diagnostic| (d.code.id, sources.snippet(d.labels[0].span).to_owned());
    diagnostics.iter().map(shown).collect()
}

fn check_faults(read: &Read, text: &str, expected: Expected<'_>) {
    let found = faults(read);
    let found: Vec<(&str, &str)> = found.iter().map(|(code, snippet)| (*code, snippet.as_str())).collect();
    assert_eq!(found, expected, "{text}");
    for diagnostic in &read.1 {
        assert!(diagnostic.help.is_some(), "{diagnostic:?}");
    }
}

fn values(read: &Read) -> Vec<Value> {
    read.0.iter().map(Node::to_json).collect()
}

/// Spans lie in the text, on borders of characters, and inside those of their parents; keys are unique.
fn check_tree(read: &Read, text: &str) {
    fn inside(node: &Node, outer: Span, text: &str) {
        check_span(node.span, outer, text);
        match &node.value {
            NodeValue::Sequence(items) => items.iter().for_each(|item| inside(item, node.span, text)),
            NodeValue::Mapping(entries) => {
                let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.value.as_str()).collect();
                keys.sort_unstable();
                assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{text:?}");
                for (key, value) in entries {
                    check_span(key.span, node.span, text);
                    assert!(key.span.end <= value.span.start, "{text:?}: {key:?} {value:?}");
                    inside(value, node.span, text);
                }
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::String(_) => {}
        }
    }
    fn check_span(span: Span, outer: Span, text: &str) {
        assert!(outer.start <= span.start && span.end <= outer.end, "{text:?}: {span:?} in {outer:?}");
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{text:?}: {span:?}");
    }
    for node in &read.0 {
        let whole = Span { start: 0, end: offset(text.len()), ..node.span };
        inside(node, whole, text);
    }
    for diagnostic in &read.1 {
        for label in &diagnostic.labels {
            check_span(label.span, Span { start: 0, end: offset(text.len()), ..label.span }, text);
        }
    }
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    let rows = [
        ("null", json!(null)),
        ("~", json!(null)),
        ("true", json!(true)),
        ("False", json!(false)),
        ("1", json!(1)),
        ("+1", json!(1)),
        ("-12", json!(-12)),
        ("0", json!(0)),
        ("-0", json!(-0.0)),
        ("9007199254740992", json!(9_007_199_254_740_992_u64)),
        ("-9007199254740992", json!(-9_007_199_254_740_992_i64)),
        ("0.1", json!(0.1)),
        (".5", json!(0.5)),
        ("5.", json!(5.0)),
        ("1e3", json!(1000.0)),
        ("1.10", json!(1.1)),
        ("-1.5E-3", json!(-0.0015)),
        ("0.0", json!(0.0)),
        ("0e5", json!(0.0)),
    ];
    for (text, expected) in rows {
        let read = yaml(text);
        assert_eq!(values(&read), [expected], "{text}");
        check_faults(&read, text, &[]);
    }
}

#[test]
fn strings_are_ambiguous_only_where_other_readers_differ() {
    let ambiguous = "no No NO yes on off y N 010 00 -010 010.5 1_000 1_000.5 0x1F 0o17 0b11 1:30 190:20:30 1:30.5 \
                     2001-12-14 2001-12-14t21:59:43.10-05:00 = <<";
    let plain = "none nope yep a-b 1.2.3 v1.2.3 1.5.0-rc.1 1:90 10.0.0.1 2001-12 2001-12-145 -a .a 1e 1e+ 12ab + \
                 +.nan _1 ^1.2 tRue nULL a_b";
    for (texts, expected) in [(ambiguous, true), (plain, false)] {
        for text in texts.split_whitespace() {
            for (shown, expected) in [(text.to_owned(), expected), (format!("\"{text}\""), false)] {
                let read = yaml(&format!("a: {shown}\n"));
                let node = read.0[0].get("a").expect("an entry");
                let NodeValue::String(found) = &node.value else {
                    panic!("{shown}: {node:?}");
                };
                assert_eq!((found.text.as_str(), found.ambiguous), (text, expected), "{shown}");
                assert_eq!(read.2.snippet(node.span), shown);
            }
        }
    }
}

#[test]
fn the_strict_profile_says_every_fault_and_goes_on() {
    let rows: &[(&str, Expected<'_>, Value)] = &[
        ("a: 1\nb: 2\na: 3\n", &[("read::duplicate-key", "a")], json!([{"a": 1, "b": 2}])),
        (
            "{a: 1, \"a\": 2, 'a': 3}",
            &[("read::duplicate-key", "\"a\""), ("read::duplicate-key", "'a'")],
            json!([{"a": 1}]),
        ),
        ("a: &x 1\nb: *x\n", &[("read::anchor", "&x"), ("read::anchor", "*x")], json!([{"a": 1, "b": null}])),
        ("a: *x\n", &[("read::anchor", "*x")], json!([])),
        ("a: !foo x\n", &[("read::tag", "!foo")], json!([{"a": "x"}])),
        ("a: !!str 1\n", &[("read::tag", "!!str")], json!([{"a": 1}])),
        (
            "!<tag:yaml.org,2002:str> a: !!map\n",
            &[("read::tag", "!<tag:yaml.org,2002:str>"), ("read::tag", "!!map")],
            json!([{"a": null}]),
        ),
        ("!!seq &x\n- a\n", &[("read::tag", "!!seq"), ("read::anchor", "&x")], json!([["a"]])),
        (
            "base: &b {x: 1}\n<<: *b\n\"<<\": 1\n",
            &[("read::anchor", "&b"), ("read::merge-key", "<<"), ("read::anchor", "*b")],
            json!([{"base": {"x": 1}, "<<": 1}]),
        ),
        (
            "1: a\n\"1\": b\n",
            &[("read::non-string-key", "1"), ("read::duplicate-key", "\"1\"")],
            json!([{"1": "a"}]),
        ),
        (
            "null: a\ntrue: b\n~: c\n1.5: d\n.inf: e\n",
            &[
                ("read::non-string-key", "null"),
                ("read::non-string-key", "true"),
                ("read::non-string-key", "~"),
                ("read::non-string-key", "1.5"),
                ("read::non-string-key", ".inf"),
            ],
            json!([{"null": "a", "true": "b", "~": "c", "1.5": "d", ".inf": "e"}]),
        ),
        ("on: a\n010: b\n", &[], json!([{"on": "a", "010": "b"}])),
        (": a\n", &[("read::non-string-key", "")], json!([{"": "a"}])),
        ("? [1, 2]\n: a\nb: 1\n", &[("read::non-string-key", "[")], json!([{"b": 1}])),
        ("{a: b}: c\n", &[("read::non-string-key", "{")], json!([{}])),
        ("? a\n: b\n", &[], json!([{"a": "b"}])),
        (
            "a: 12345678901234567890123\nb: 9007199254740993\nc: -9007199254740993\n",
            &[
                ("read::inexact-number", "12345678901234567890123"),
                ("read::inexact-number", "9007199254740993"),
                ("read::inexact-number", "-9007199254740993"),
            ],
            json!([{"a": 1.234_567_890_123_456_8e22, "b": 9_007_199_254_740_992.0, "c": -9_007_199_254_740_992.0}]),
        ),
        (
            "[.inf, -.INF, .nan, 1e400, 1e-400]",
            &[
                ("read::inexact-number", ".inf"),
                ("read::inexact-number", "-.INF"),
                ("read::inexact-number", ".nan"),
                ("read::inexact-number", "1e400"),
                ("read::inexact-number", "1e-400"),
            ],
            json!([[0, 0, 0, 0, 0.0]]),
        ),
        ("a: 1\n---\nb: 2\n...\n# end\n---\n", &[], json!([{"a": 1}, {"b": 2}])),
        ("a: \"x\n---\nb: 2\n", &[("read::syntax", "\"")], json!([{"b": 2}])),
        ("a: b: c\n---\nb: 2\n", &[("read::syntax", ":")], json!([{"b": 2}])),
        ("a:\n\t- b\n", &[("read::syntax", "-")], json!([])),
        ("a: \"\0\"\n", &[("read::syntax", "\"")], json!([])),
        ("%YAML 1.2\n---\na: 1\n", &[], json!([{"a": 1}])),
        ("%YAML 1.1 # x\n---\na: 1\n", &[("read::syntax", "%YAML 1.1 # x")], json!([{"a": 1}])),
        ("%TAG ! tag:x,2000:\n---\na: 1\n", &[("read::tag", "%TAG ! tag:x,2000:")], json!([{"a": 1}])),
        ("# only\n\n", &[], json!([])),
        ("", &[], json!([])),
        ("---\n", &[], json!([])),
        ("# a\rb: 1\n", &[], json!([{"b": 1}])),
        ("a: 1\r\nb: x\r\n", &[], json!([{"a": 1, "b": "x"}])),
        ("\u{FEFF}a: 1\n", &[], json!([{"a": 1}])),
        ("a: 1\nb: 2\na: 3\nc: \"\n", &[("read::syntax", "\""), ("read::duplicate-key", "a")], json!([])),
    ];
    for (text, expected, tree) in rows {
        let read = yaml(text);
        check_faults(&read, text, expected);
        assert_eq!(Value::Array(values(&read)), *tree, "{text}");
        check_tree(&read, text);
    }
}

#[test]
fn a_syntax_fault_says_what_to_do_in_words() {
    let rows = [
        ("a: b: c\n", "no key can stand before this `:`"),
        ("a: 1\n b: 2\n", "no key can stand before this `:`"),
        ("a:\n  b: 1\n c: 2\n", "a line among the entries of a map that is none"),
        ("- a\nb: c\n", "a line among list items that is none"),
        ("a: [1, 2\nb: 3\n", "a `:` is missing or out of place here"),
        ("a: [1 2\n", "a list in brackets that is not closed here"),
        ("a: {b: 1\n", "a map in braces that is not closed here"),
        ("a: {b}}\n", "a bracket that closes nothing"),
        ("a: 'x\n", "the string that begins here does not end"),
        ("a: 'x' y\n", "text after the closing quote"),
        ("a: \"\\q\"\n", "an unknown escape in a double-quoted string"),
        ("a: \"\\u12\"\n", "an incomplete escape in a double-quoted string"),
        ("a: @x\n", "an unquoted value cannot begin like this"),
        ("a: `x`\n", "an unquoted value cannot begin like this"),
        ("a: !x!y z\n", "a tag that is not declared"),
        ("a: & x\n", "an anchor or alias that is not written as one"),
        ("a:\n\tb: 1\n", "a tab where only spaces may indent"),
        ("a: | x\n", "a block of text that is not indented as one"),
        ("a: x # y\n  z\n", "a comment inside an unquoted value of several lines"),
        ("a: - b\n", "no list item can stand here"),
        ("a\n---\nx: \0\n", "a character that YAML does not allow"),
    ];
    for (text, message) in rows {
        let (_, diagnostics, _) = yaml(text);
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, [message], "{text}");
    }
}

#[test]
fn a_duplicate_key_shows_both_places() {
    for read in [yaml("é: 1\né: 2\n"), json("{\"é\": 1,\n\"é\": 2}")] {
        let places: Vec<String> = read.1[0].labels.iter().map(|label| read.2.place(label.span)).collect();
        let file = read.2.path(read.1[0].labels[0].span.file);
        assert_eq!(places, [format!("{file}:2"), format!("{file}:1")]);
    }
    let many: Vec<String> = (0..20).map(|n| format!("k{n}: {n}\n")).chain(["k3: x\n".to_owned()]).collect();
    let many = many.concat();
    check_faults(&yaml(&many), &many, &[("read::duplicate-key", "k3")]);
}

/// The span of `pointer` in `text` is `expected`.
fn check_span(text: &str, pointer: &str, expected: &str) {
    let read = yaml(text);
    assert_eq!(read.1, [], "{text}");
    let node = read.0[0].pointer(pointer).expect("a node");
    assert_eq!(read.2.snippet(node.span), expected, "{text} {pointer}");
    check_tree(&read, text);
}

#[test]
fn spans_are_what_was_written() {
    let text = "é: ü # ö\nlist:\n  - 'it''s' # x\n  - \"a\\\"b\"   \n  -   [ 1, 'b' ]  # y\nsame:\n- p\n- q\n\n# tail\n";
    check_span(text, "/é", "ü");
    check_span(text, "/list/0", "'it''s'");
    check_span(text, "/list/1", "\"a\\\"b\"");
    check_span(text, "/list/2", "[ 1, 'b' ]");
    check_span(text, "/list/2/1", "'b'");
    check_span(text, "/list", "- 'it''s' # x\n  - \"a\\\"b\"   \n  -   [ 1, 'b' ]");
    check_span(text, "/same", "- p\n- q");
    check_span(text, "", text.trim_end().trim_end_matches("\n\n# tail"));
    check_span("a: |\n  één\n  twee  \n\n\nb: 1\n", "/a", "één\n  twee  ");
    check_span("a: >-\n\n   x\n   y\nb: 1\n", "/a", "x\n   y");
    check_span("a: plain\n  goes on\nb: 1\n", "/a", "plain\n  goes on");
    check_span("a:\nb: 1\n", "/a", "");
    check_span("- - x\n  - y\n- z\n", "/0", "- x\n  - y");
    check_span("a:\n- - x\n", "/a", "- - x");
    check_span("[a: 1, b]", "/0", "a: 1");
    check_span("{a: {b: 1 } , c: 2}", "/a", "{b: 1 }");
    let read = yaml("k:   # note\n  -\n  - \n");
    let (key, value) = read.0[0].entry("k").expect("an entry");
    assert_eq!((read.2.snippet(key.span), read.2.snippet(value.span)), ("k", "-\n  -"));
}

#[test]
fn depth_ends_at_sixty_four() {
    let nested = |open: &str, close: &str, n: usize| open.repeat(n) + &close.repeat(n);
    for (read, reader) in [(yaml as fn(&str) -> Read, "yaml"), (json, "json")] {
        assert_eq!(read(&nested("[", "]", 64)).1, [], "{reader}");
        for n in [65, 300, 100_000] {
            let text = nested("[", "]", n);
            let read = read(&text);
            check_faults(&read, reader, &[("read::too-deep", "[")]);
            assert_eq!(read.1[0].labels[0].span.start, 64, "{reader}: the first one too many");
        }
    }
    let text = format!("é: '[['\nb: {}", nested("[{a: ", "}]", 200));
    let read = yaml(&text);
    check_faults(&read, "after others", &[("read::too-deep", "{")]);
    // The whole is a map, so the 32nd list holds the first map too many.
    assert_eq!(read.1[0].labels[0].span.start as usize, "é: '[['\nb: ".len() + 31 * "[{a: ".len() + 1);
    let blocks: Vec<String> = (0..70).map(|n| " ".repeat(n) + "a:\n").collect();
    check_faults(&yaml(&(blocks.concat() + "---\nb: 1\n")), "blocks", &[("read::too-deep", "a")]);
}

#[test]
fn hostile_texts_end_soon() {
    let mut laughs = "a0: &a0 [lol, lol]\n".to_owned();
    for n in 1..20 {
        let (own, below) = (n.to_string(), (n - 1).to_string());
        laughs.push_str(&["a", &own, ": &a", &own, " [*a", &below, ", *a", &below, "]\n"].concat());
    }
    let unclosed = format!("[ {}\n---\n", "a".repeat(3000)).repeat(340);
    let units = [
        "[", "{", "- ", "? ", "\"", "'", "a: ", "a:\n", "&a ", "*a ", "!t ", "---\n", "---\na\n", "...\n",
        "%A\n", "#\n", "# ", ",", "1: ", "{a,", "[a,", "a\n", "é\n", "|\n", "- |\n", "\\", "\t", "\n", " ",
        "[\n---\n", "a: *x\n", "1,", "[]: ", "0",
    ];
    let repeated = units.iter().map(|unit| unit.repeat(MAX_BYTES / 4 / unit.len()));
    let keys = (0..100_000).map(|n| format!("k{n}: 1")).collect::<Vec<_>>().join("\n");
    let flow_keys = format!("{{{}", "1,".repeat(500_000));
    for text in repeated.chain([laughs, unclosed, keys, flow_keys]) {
        for read in [yaml as fn(&str) -> Read, json] {
            let start = Instant::now();
            let (_, diagnostics, _) = read(&text);
            // An order of magnitude above what a debug build needs; quadratic time is four above.
            assert!(start.elapsed() < Duration::from_secs(20), "{:.20}: {:?}", text, start.elapsed());
            assert!(diagnostics.len() <= MAX_FAULTS);
        }
    }
}

#[test]
fn json_is_read_to_the_letter() {
    let rows: &[(&str, Expected<'_>, Value)] = &[
        (
            " {\"a\": [1, -0.5e1, true, null, \"\\u00e9\\ud83d\\ude00\\n\"]} ",
            &[],
            json!([{"a": [1, -5.0, true, null, "é😀\n"]}]),
        ),
        ("{\"a\": 1, \"a\": 2}", &[("read::duplicate-key", "\"a\"")], json!([{"a": 1}])),
        ("{\"a\": 1, \"a\": 2", &[("read::syntax", ""), ("read::duplicate-key", "\"a\"")], json!([])),
        (
            "[9007199254740993, 1e400]",
            &[("read::inexact-number", "9007199254740993"), ("read::inexact-number", "1e400")],
            json!([[9_007_199_254_740_992.0, 0]]),
        ),
        ("\"\\ud800\"", &[("read::syntax", "\\ud800")], json!([])),
        ("\"\\ud800\\u0041\"", &[("read::syntax", "\\ud800")], json!([])),
        ("\"\\udc00\"", &[("read::syntax", "\\udc00")], json!([])),
        ("\"\\u12g4\"", &[("read::syntax", "\\u")], json!([])),
        ("\"\\x\"", &[("read::syntax", "\\")], json!([])),
        ("\"a\nb\"", &[("read::syntax", "\n")], json!([])),
        ("\"a", &[("read::syntax", "\"")], json!([])),
        ("1 2", &[("read::syntax", "2")], json!([])),
        ("[1,]", &[("read::syntax", "]")], json!([])),
        ("{\"a\":1,}", &[("read::syntax", "}")], json!([])),
        ("{a: 1}", &[("read::syntax", "a")], json!([])),
        ("{\"a\" 1}", &[("read::syntax", "1")], json!([])),
        ("[1 é]", &[("read::syntax", "é")], json!([])),
        ("01", &[("read::syntax", "01")], json!([])),
        ("-", &[("read::syntax", "")], json!([])),
        ("1.", &[("read::syntax", "")], json!([])),
        ("1e", &[("read::syntax", "")], json!([])),
        ("nul", &[("read::syntax", "nul")], json!([])),
        ("True", &[("read::syntax", "T")], json!([])),
        ("", &[("read::syntax", "")], json!([])),
        ("// x\n1", &[("read::syntax", "/")], json!([])),
    ];
    for (text, expected, tree) in rows {
        let read = json(text);
        check_faults(&read, text, expected);
        assert_eq!(Value::Array(values(&read)), *tree, "{text}");
        check_tree(&read, text);
    }
}

#[test]
fn texts_are_safe_to_show() {
    assert_eq!(decode_text(b"\xEF\xBB\xBFa\r\n\tb".to_vec()).as_deref(), Ok("a\r\n\tb"));
    assert_eq!(decode_text("zwj 👩‍🚀 nbsp\u{A0}".into()).as_deref(), Ok("zwj 👩‍🚀 nbsp\u{A0}"));
    assert!(decode_text(vec![b'a'; MAX_BYTES]).is_ok());
    assert_eq!(decode_text(vec![b'a'; MAX_BYTES + 1]), Err(TextFault::TooLarge { n_bytes: MAX_BYTES + 1 }));
    assert_eq!(
        decode_text(b"a\nb\xFF".to_vec()),
        Err(TextFault::NotUtf8 { offset: 3, line: 2, utf16: false })
    );
    let rows: &[(&[u8], &str, Expected<'_>)] = &[
        (b"\xFF\xFEa\0", "", &[("read::not-utf8", "")]),
        (
            "é: \u{202E}x\u{2066}\n".as_bytes(),
            "é: \u{202E}x\u{2066}\n",
            &[("read::control-character", "\u{202E}"), ("read::control-character", "\u{2066}")],
        ),
        (b"a\0\x7F", "a\0\x7F", &[("read::control-character", "\0"), ("read::control-character", "\x7F")]),
        (b"# a\rb: 1\r\n", "# a\rb: 1\r\n", &[("read::control-character", "\r")]),
        ("\u{85}".as_bytes(), "\u{85}", &[("read::control-character", "\u{85}")]),
    ];
    for (bytes, held, expected) in rows {
        let mut sources = SourceMap::new();
        let mut diagnostics = Vec::new();
        let (file, text) = add_text(&mut sources, "a.yaml", bytes.to_vec(), &mut diagnostics);
        assert_eq!(text, None);
        assert_eq!(sources.get(file).map(|f| f.text().to_string()).as_deref(), Some(*held));
        check_faults(&(Vec::new(), diagnostics, sources), held, expected);
    }
    let mut diagnostics = Vec::new();
    let (_, text) = add_text(&mut SourceMap::new(), "a", vec![0; MAX_BYTES], &mut diagnostics);
    assert_eq!((text, diagnostics.len()), (None, MAX_FAULTS));
    assert_eq!(diagnostics[MAX_FAULTS - 1].notes.len(), 1);
}

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        (-9_007_199_254_740_992_i64..=9_007_199_254_740_992).prop_map(Value::from),
        any::<i16>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        any::<String>().prop_map(Value::from),
        "[a-z: #'\"\\-\\[\\]{},&*!|>%@`]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-z~é1-]{0,4}", inner, 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Texts that come near to YAML.
fn near_yaml() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "a", "b", "é", ": ", ":", "\n", "\n  ", "\n- ", "- ", "  ", " ", "[", "]", "{", "}", ", ", "\"", "'",
        "|\n", ">-\n", "? ", "&x ", "*x", "!t ", "!", "#", " # c", "---", "\n---\n", "...", "%YAML", "\t",
        "\r", "\r\n", "1", "0x", "<<", "~", "\u{FEFF}", "\u{85}", "\\", "\u{2028}", "😀", "\0",
    ]);
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_upsets_a_reader(text in prop_oneof![near_yaml(), any::<String>()]) {
        check_tree(&yaml(&text), &text);
        check_tree(&json(&text), &text);
    }

    #[test]
    fn no_bytes_upset_the_decoder(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64),
        any::<String>().prop_map(String::into_bytes),
        any::<String>().prop_map(|text| format!("\u{FEFF}{text}").into_bytes()),
    ]) {
        let read = String::from_utf8(bytes.clone());
        if let Ok(text) = decode_text(bytes) {
            let read = read.expect("it was decoded");
            prop_assert_eq!(read.strip_prefix('\u{FEFF}').unwrap_or(&read), text);
        }
    }

    #[test]
    fn json_says_what_serde_json_says(value in any_json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("it is JSON");
        let read = json(&text);
        check_faults(&read, &text, &[]);
        prop_assert_eq!(values(&read), [value]);
        check_tree(&read, &text);
    }

    #[test]
    fn both_readers_agree_on_json(value in any_json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("it is JSON");
        let read = yaml(&text);
        if read.1.is_empty() {
            prop_assert_eq!(&read.0, &json(&text).0, "{}", text);
        } else {
            // What YAML does not allow in a text at all.
            let refused = |c: char| c == '\u{7F}' || c == '\u{FEFF}' || c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
            prop_assert!(text.contains(refused), "{}: {:?}", text, read.1);
        }
    }

    #[test]
    fn a_plain_scalar_is_its_snippet(text in "[a-zé😀0-9_./+-][a-zé😀0-9 _./+-]{0,12}") {
        let text = text.trim();
        let read = yaml(&format!("ü:\n  - {text}\n"));
        prop_assume!(read.1.is_empty());
        let node = read.0[0].pointer("/ü/0").expect("an item");
        if let Some(value) = node.as_str() {
            prop_assert_eq!(value, text);
            prop_assert_eq!(read.2.snippet(node.span), text);
        }
    }
}
