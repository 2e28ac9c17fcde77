//! Two tables: every keyword of every draft, and what adding or removing a property does.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a failing test says so by panicking")]

use bailiwick_narrowing::{Budget, Schema, Verdict, contains};
use serde_json::{Map, Value, json};

fn dialect(draft: &str) -> &'static str {
    match draft {
        "04" => "http://json-schema.org/draft-04/schema#",
        "06" => "http://json-schema.org/draft-06/schema#",
        "07" => "http://json-schema.org/draft-07/schema#",
        "2019-09" => "https://json-schema.org/draft/2019-09/schema",
        _ => "https://json-schema.org/draft/2020-12/schema",
    }
}

fn compile(value: &Value) -> Schema {
    Schema::compile(value).unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// `narrows`, `widens`, or why neither.
fn relation(outer: &Schema, inner: &Schema) -> String {
    match contains(outer, inner, &Budget::default()) {
        Verdict::Contained(_) => "narrows".to_owned(),
        Verdict::Escapes(_) => "widens".to_owned(),
        Verdict::Undecided(reason) => format!("undecided: {reason:?}"),
    }
}

#[test]
fn every_keyword_of_every_draft() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("data/keywords.json")).unwrap();
    let mut faults = Vec::new();
    for row in &rows {
        for draft in row["drafts"].as_array().unwrap() {
            let draft = draft.as_str().unwrap();
            let in_draft = |name: &str| {
                let mut value = row[name].clone();
                value.as_object_mut().unwrap().insert("$schema".to_owned(), json!(dialect(draft)));
                compile(&value)
            };
            let outer = in_draft("outer");
            let mut check = |what: &str, found: String, expected: &str| {
                if found != expected {
                    faults.push(format!("{} {draft}: {what} {found}", row["keyword"]));
                }
            };
            check("narrower", relation(&outer, &in_draft("narrower")), "narrows");
            check("wider", relation(&outer, &in_draft("wider")), "widens");
            check("equal", relation(&outer, &in_draft("equal")), "narrows");
            check("equal, turned around,", relation(&in_draft("equal"), &outer), "narrows");
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Open or closed × added or removed × required or optional × with or without a default.
///
/// A default is an annotation and changes nothing. Every expectation is about the change from `before` to `after`.
#[test]
fn properties_added_and_removed() {
    let schema = |closed: bool, with_property: bool, required: bool, default: bool| {
        let mut fields = Map::from_iter([("kept".to_owned(), json!({"type": "string"}))]);
        if with_property {
            let mut field = json!({"type": "integer"});
            if default {
                field["default"] = json!(1);
            }
            fields.insert("changed".to_owned(), field);
        }
        let required: &[&str] = if required { &["kept", "changed"] } else { &["kept"] };
        let mut schema = json!({"type": "object", "properties": fields, "required": required});
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        compile(&schema)
    };
    // closed, required, added narrows, removed narrows
    let table = [
        // A name that was free is constrained now; removed, it is free again.
        (false, false, true, false),
        // The same, and objects without it are refused now; removed, they are back.
        (false, true, true, false),
        // Objects with it were refused and are not now; removed, they are refused again.
        (true, false, false, true),
        // Before, no object had it; after, every object has it: neither way is a narrowing.
        (true, true, false, false),
    ];
    for (closed, required, added, removed) in table {
        for default in [false, true] {
            let (without, with) =
                (schema(closed, false, false, default), schema(closed, true, required, default));
            let name = |narrows: bool| if narrows { "narrows" } else { "widens" };
            let shown = format!("closed {closed}, required {required}, default {default}");
            assert_eq!(relation(&without, &with), name(added), "added: {shown}");
            assert_eq!(relation(&with, &without), name(removed), "removed: {shown}");
            // Opening widens and closing narrows, whatever else is there.
            let (open, shut) =
                (schema(false, true, required, default), schema(true, true, required, default));
            assert_eq!(relation(&open, &shut), "narrows", "closed: {shown}");
            assert_eq!(relation(&shut, &open), "widens", "opened: {shown}");
            let (optional, needed) =
                (schema(closed, true, false, default), schema(closed, true, true, default));
            assert_eq!(relation(&optional, &needed), "narrows", "made required: {shown}");
            assert_eq!(relation(&needed, &optional), "widens", "made optional: {shown}");
            let (bare, defaulted) =
                (schema(closed, true, required, false), schema(closed, true, required, true));
            assert_eq!(relation(&bare, &defaulted), "narrows", "given a default: {shown}");
            assert_eq!(relation(&defaulted, &bare), "narrows", "default taken away: {shown}");
        }
    }
}
