//! Schemas made to cost time, memory or stack. Each must end in a verdict or a typed error.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    reason = "a failing test says so by panicking; times are printed on demand"
)]

use std::fmt::Write as _;
use std::time::Instant;

use bailiwick_narrowing::{Budget, Emptiness, Schema, SchemaErrorKind, Verdict, contains, is_empty};
use serde_json::{Value, json};

#[derive(Debug, PartialEq)]
enum Expected {
    Contained,
    Escapes,
    Undecided,
    /// Not decided now, and if ever, as contained.
    NotEscapes,
    /// Not decided now, and if ever, as escaping.
    NotContained,
}

fn check(name: &str, outer: &Value, inner: &Value, expected: &Expected) {
    let start = Instant::now();
    let compile = |value| Schema::compile(value).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (outer, inner) = (compile(outer), compile(inner));
    let verdict = contains(&outer, &inner, &Budget::default());
    println!(
        "{name}: {:?} {}",
        start.elapsed(),
        match &verdict {
            Verdict::Contained(_) => "contained".to_owned(),
            Verdict::Escapes(_) => "escapes".to_owned(),
            Verdict::Undecided(reason) => format!("undecided: {}", reason.message),
        }
    );
    match (&verdict, expected) {
        (Verdict::Contained(_), Expected::Contained | Expected::NotEscapes)
        | (Verdict::Escapes(_), Expected::Escapes | Expected::NotContained)
        | (Verdict::Undecided(_), Expected::Undecided | Expected::NotEscapes | Expected::NotContained) => {}
        _ => panic!("{name}: {verdict:?}"),
    }
}

fn union(n: u32, change: impl Fn(u32) -> i64) -> Value {
    let branch = |at: u32| {
        json!({"type": "object", "required": ["t", "v"], "additionalProperties": false,
               "properties": {"t": {"const": format!("k{at}")}, "v": {"type": "integer", "minimum": change(at)}}})
    };
    json!({"oneOf": (0..n).map(branch).collect::<Vec<_>>()})
}

fn combinations(n: u32, limit: u32) -> Value {
    let either = |at: u32| {
        let field = |name: &str| json!({"required": [format!("{name}{at}")], "properties": {format!("{name}{at}"): {"type": "integer", "maximum": limit}}});
        json!({"anyOf": [field("a"), field("b")]})
    };
    json!({"type": "object", "allOf": (0..n).map(either).collect::<Vec<_>>()})
}

fn fields(n: u32, limit: u32) -> Value {
    let fields: serde_json::Map<_, _> =
        (0..n).map(|at| (format!("field_{at}"), json!({"type": "integer", "maximum": limit + at}))).collect();
    json!({"type": "object", "properties": fields, "additionalProperties": false})
}

#[test]
fn combinations_end() {
    check("2^10 combinations, same", &combinations(10, 5), &combinations(10, 5), &Expected::Contained);
    check("2^10 combinations, narrower", &combinations(10, 5), &combinations(10, 4), &Expected::Contained);
    check("2^10 combinations, wider", &combinations(10, 4), &combinations(10, 5), &Expected::Escapes);
    check("2^40 combinations", &combinations(40, 5), &combinations(40, 4), &Expected::Contained);
    check("200 properties, narrower", &fields(200, 9), &fields(200, 8), &Expected::Contained);
    check("200 properties, wider", &fields(200, 8), &fields(200, 9), &Expected::Escapes);
    check(
        "60 branches, narrower",
        &union(60, |_| 0),
        &union(60, |at| i64::from(at % 3)),
        &Expected::Contained,
    );
    check("60 branches, wider", &union(60, |at| i64::from(at % 3)), &union(60, |_| 0), &Expected::Escapes);
    check("300 branches", &union(300, |_| 0), &union(300, |_| 1), &Expected::NotEscapes);
    let members = |n: u32| json!({"enum": (0..n).map(|at| format!("member {at}")).collect::<Vec<_>>()});
    check("5,000 members, narrower", &members(5_000), &members(4_999), &Expected::Contained);
    check("5,000 members, wider", &members(4_999), &members(5_000), &Expected::Escapes);
    let pattern = json!({"type": "string", "pattern": "^member [0-9]{1,4}$"});
    check("5,000 members in a pattern", &pattern, &members(5_000), &Expected::Contained);
    check("a pattern in 5,000 members", &members(5_000), &pattern, &Expected::Escapes);
    let options = |n: u32| json!({"oneOf": (0..n).map(|at| json!({"minimum": at})).collect::<Vec<_>>()});
    check("oneOf of 200 overlapping", &options(200), &options(199), &Expected::NotEscapes);
    let doubled = (0..40).fold(
        json!({"type": "integer"}),
        |inside, at| json!({"$defs": {format!("d{at}"): inside}, "allOf": [true, true]}),
    );
    check("nested definitions", &doubled, &json!({"type": "integer"}), &Expected::Contained);
    let mut doubling = serde_json::Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        doubling.insert(format!("d{at}"), json!({"allOf": [next, next], "anyOf": [next, next]}));
    }
    doubling.insert("d40".to_owned(), json!({"type": "integer"}));
    let doubling = json!({"$defs": doubling, "$ref": "#/$defs/d0"});
    check("doubling references", &doubling, &json!({"type": "integer", "minimum": 1}), &Expected::NotEscapes);
    check("doubling references, inner", &json!({"type": "integer"}), &doubling, &Expected::Contained);
    let twice = |last: Value| {
        let mut all = serde_json::Map::from_iter([("d30".to_owned(), last)]);
        for at in 0..30 {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            all.insert(format!("d{at}"), json!({"allOf": [next, next]}));
        }
        json!({"$defs": all, "$ref": "#/$defs/d0"})
    };
    check(
        "a witness of doubling references",
        &json!({"minimum": 1}),
        &twice(json!({"type": "integer"})),
        &Expected::Undecided,
    );
    check(
        "a witness against them",
        &twice(json!({"minimum": 1})),
        &json!({"type": "integer"}),
        &Expected::Undecided,
    );
    check(
        "a value they list",
        &json!({"minimum": 1}),
        &twice(json!({"enum": [0, {"a": 1}]})),
        &Expected::Undecided,
    );
    let unevaluated = |n: u32, keyword: &str| {
        (0..n).fold(json!({"properties": {"a": {"type": "integer"}}}), |inside, _| {
            json!({"type": "object", "unevaluatedProperties": false, keyword: [inside, {"minProperties": 3}]})
        })
    };
    for (keyword, expected) in [("allOf", Expected::Contained), ("anyOf", Expected::NotContained)] {
        check("unevaluated, 5 levels", &json!({"maxProperties": 0}), &unevaluated(5, keyword), &expected);
        check("unevaluated, 30 levels", &json!({"maxProperties": 0}), &unevaluated(30, keyword), &expected);
    }
    let listed = json!({"enum": (0..5_000).map(|at| format!("a{at}b")).collect::<Vec<_>>()});
    let behind = json!({"pattern": "(?<=a[0-9]{1,4})b"});
    check("5,000 members behind a look-behind", &behind, &listed, &Expected::Contained);
}

#[test]
fn counts_end() {
    let huge = 1_000_000_000_u64;
    for (keyword, of) in [
        ("minItems", "array"),
        ("minLength", "string"),
        ("minProperties", "object"),
        ("minContains", "array"),
    ] {
        let inner = json!({"type": of, keyword: huge, "contains": true});
        check(keyword, &json!(false), &inner, &Expected::NotContained);
    }
    check(
        "unique",
        &json!(false),
        &json!({"type": "array", "uniqueItems": true, "minItems": 100_000}),
        &Expected::NotContained,
    );
    check(
        "unique 100",
        &json!(false),
        &json!({"type": "array", "uniqueItems": true, "minItems": 100, "items": {"type": "integer"}}),
        &Expected::Escapes,
    );
    check(
        "tiny step",
        &json!({"multipleOf": 3}),
        &json!({"type": "number", "multipleOf": 1e-18}),
        &Expected::Escapes,
    );
    check(
        "coprime steps",
        &json!({"not": {"multipleOf": 7}}),
        &json!({"type": "integer", "multipleOf": 999_983, "minimum": 1}),
        &Expected::Escapes,
    );
    let patterns: serde_json::Map<_, _> =
        (0..20).map(|at| (format!("^{at}"), json!({"maximum": at}))).collect();
    check(
        "20 patterns",
        &json!({"patternProperties": patterns, "additionalProperties": false}),
        &json!({"type": "object"}),
        &Expected::Escapes,
    );
}

#[test]
fn witnesses_end() {
    let array = |n: u32, items: Value| json!({"type": "array", "minItems": n, "items": items});
    let short = json!({"maxItems": 3});
    let nested = |n: u32| array(n, array(n, array(n, json!(true))));
    check("8,000 items within items", &short, &nested(20), &Expected::Escapes);
    check("27 million items within items", &short, &nested(300), &Expected::Undecided);
    let long = json!({"type": "string", "minLength": 1_000_000});
    check("5,000 strings of a megabyte", &short, &array(5_000, long.clone()), &Expected::Undecided);
    check("a string of a megabyte", &json!({"maxLength": 3}), &long, &Expected::Undecided);
    check(
        "a string of 400,000",
        &json!({"maxLength": 3}),
        &json!({"type": "string", "minLength": 400_000}),
        &Expected::Escapes,
    );
    let constant = json!({"const": "x".repeat(200_000)});
    check("4,000 times 200 KB", &short, &array(4_000, constant.clone()), &Expected::Undecided);
    check("4 times 200 KB", &short, &array(4, constant.clone()), &Expected::Escapes);
    let fields: serde_json::Map<_, _> =
        (0..500).map(|at| (format!("f{at}"), json!({"$ref": "#/$defs/c"}))).collect();
    let names: Vec<String> = fields.keys().cloned().collect();
    check(
        "500 properties of 200 KB",
        &json!({"maxProperties": 3}),
        &json!({"type": "object", "properties": fields, "required": names, "$defs": {"c": constant}}),
        &Expected::Undecided,
    );
    let different = json!({"type": "array", "minItems": 100, "uniqueItems": true,
        "items": {"type": "array", "minItems": 4_000, "items": {"type": "integer"}}});
    check("100 different arrays of 4,000", &short, &different, &Expected::Undecided);
}

#[test]
fn patterns_end() {
    let pattern = |source: &str| json!({"type": "string", "pattern": source});
    check("a.{12}b", &pattern("a.{12}b"), &pattern("xa.{12}b"), &Expected::Contained);
    check("a.{12}b, wider", &pattern("xa.{12}b"), &pattern("a.{12}b"), &Expected::Escapes);
    check("a.{30}b", &pattern("a.{30}b"), &pattern("a.{29}b"), &Expected::Escapes);
    check("nested stars", &pattern("^(((a*)*)*)*b$"), &pattern("^a{0,50}b$"), &Expected::Contained);
    check(
        "a long alternation",
        &pattern(
            &(0..300)
                .fold("^(x".to_owned(), |mut text, at| {
                    let _ = write!(text, "|word{at}");
                    text
                })
                .add_end(),
        ),
        &pattern("^word7$"),
        &Expected::Contained,
    );
    check("letters", &pattern(r"^\p{L}+$"), &pattern("^[a-z]+$"), &Expected::Contained);
    check(
        "length",
        &json!({"type": "string", "maxLength": 200}),
        &pattern("^.{1,150}$"),
        &Expected::Contained,
    );
    check(
        "length, wider",
        &pattern("^.{1,150}$"),
        &json!({"type": "string", "minLength": 1, "maxLength": 200}),
        &Expected::Escapes,
    );
    for (source, kind) in [
        ("(a)\\1", SchemaErrorKind::UnsupportedPattern),
        ("^(?=a)(a)\\1$", SchemaErrorKind::UnsupportedPattern),
        ("(?<=a)(a)\\1$", SchemaErrorKind::UnsupportedPattern),
        ("(a)\\1(?=b)", SchemaErrorKind::UnsupportedPattern),
        ("(?<n>a)\\k<n>", SchemaErrorKind::UnsupportedPattern),
        ("[", SchemaErrorKind::Invalid),
        ("^((a{1,50}){1,50}){1,50}$", SchemaErrorKind::TooLarge),
    ] {
        let error = Schema::compile(&pattern(source)).map(|_| ()).unwrap_err();
        assert_eq!((error.kind, error.pointer.as_str()), (kind, "/pattern"), "{source}");
    }
}

trait AddEnd {
    fn add_end(self) -> String;
}

impl AddEnd for String {
    fn add_end(mut self) -> String {
        self.push_str(")$");
        self
    }
}

#[test]
fn recursion_ends() {
    let mutual = |limit: u32| {
        json!({"$ref": "#/$defs/a", "$defs": {
            "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}, "n": {"maximum": limit}}},
            "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "array", "items": {"$ref": "#/$defs/b"}}]}}})
    };
    check("mutual recursion, narrower", &mutual(9), &mutual(8), &Expected::Contained);
    check("mutual recursion, wider", &mutual(8), &mutual(9), &Expected::Escapes);
    let endless = Schema::compile(&json!({"$ref": "#"})).map(|_| ()).unwrap_err();
    assert_eq!(endless.kind, SchemaErrorKind::EndlessReference);
    let endless = Schema::compile(
        &json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
    );
    assert_eq!(endless.map(|_| ()).unwrap_err().kind, SchemaErrorKind::EndlessReference);
    let empty =
        Schema::compile(&json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}))
            .unwrap();
    assert!(matches!(is_empty(&empty, &Budget::default()), Emptiness::Empty(_)));
    let definitions = |n: u32| -> Value {
        let chain: serde_json::Map<_, _> = (0..n)
            .map(|at| {
                (
                    format!("d{at}"),
                    json!({"properties": {"a": {"$ref": format!("#/$defs/d{}", (at + 1) % n)}}}),
                )
            })
            .collect();
        json!({"$ref": "#/$defs/d0", "$defs": chain})
    };
    check("a ring of 100", &definitions(100), &definitions(50), &Expected::Contained);
    assert_eq!(Schema::compile(&definitions(10_000)).map(|_| ()).unwrap_err().kind, SchemaErrorKind::TooDeep);
}

#[test]
fn nesting_ends() {
    // Building and dropping such values needs more stack than a test has.
    let build = || {
        for (depth, wrap) in [(10_000, "allOf"), (100_000, "not"), (100_000, "enum")] {
            let nested = (0..depth).fold(json!({"type": "string"}), |inside, _| {
                let inside = if wrap == "not" { inside } else { Value::Array(vec![inside]) };
                Value::Object(serde_json::Map::from_iter([(wrap.to_owned(), inside)]))
            });
            let error = Schema::compile(&nested).map(|_| ()).unwrap_err();
            assert_eq!(error.kind, SchemaErrorKind::TooDeep);
        }
    };
    std::thread::Builder::new().stack_size(512 << 20).spawn(build).unwrap().join().unwrap();
    let nested = |depth: u32, limit: u32| {
        (0..depth).fold(
            json!({"type": "integer", "maximum": limit}),
            |inside, _| json!({"type": "object", "properties": {"c": inside}, "required": ["c"]}),
        )
    };
    check("60 deep, narrower", &nested(60, 9), &nested(60, 8), &Expected::Contained);
    check("60 deep, wider", &nested(60, 8), &nested(60, 9), &Expected::Escapes);
    let alls = |depth: u32, limit: u32| {
        (0..depth).fold(json!({"maximum": limit}), |inside, _| json!({"allOf": [inside]}))
    };
    check("90 allOf deep", &alls(90, 9), &alls(90, 8), &Expected::Contained);
    let choices = |depth: u32| {
        (0..depth).fold(json!({"maximum": 1}), |inside, _| json!({"anyOf": [inside, {"minimum": 4}]}))
    };
    check("90 anyOf deep", &choices(90), &choices(89), &Expected::Contained);
    let nots = |depth: u32| (0..depth).fold(json!({"maximum": 1}), |inside, _| json!({"not": inside}));
    check("90 not deep", &nots(90), &nots(88), &Expected::Contained);
}

#[test]
fn a_megabyte_ends() {
    let fields = |limit: u32| -> Value {
        let fields: serde_json::Map<_, _> = (0..9_000)
            .map(|at| {
                (
                    format!("some_property_with_a_long_name_{at}"),
                    json!({"type": "integer", "minimum": 0, "maximum": limit + at % 10}),
                )
            })
            .collect();
        json!({"type": "object", "properties": fields})
    };
    assert!(fields(1).to_string().len() > 700_000);
    check("a megabyte, equal", &fields(9), &fields(9), &Expected::Contained);
    check("a megabyte, narrower", &fields(9), &fields(8), &Expected::Contained);
    check("a megabyte, wider", &fields(8), &fields(9), &Expected::Escapes);
}
