//! What a partial binding means, and what is enforced, printed as people will read it.

use bailiwick_narrowing::{contract_form, effective, flatten, intent};
use serde_json::{Value, json};

const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

#[test]
fn a_binding_inherits_what_it_leaves_out() {
    let check = |tool: Value, binding: Value, expected: Value| {
        assert_eq!(intent(&tool, &binding), expected, "{tool} / {binding}");
    };
    let tool = json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}, "m": {"type": "string"}}, "required": ["n"]});
    check(
        tool.clone(),
        json!({"properties": {"n": {"maximum": 3}}}),
        json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}, "m": {"type": "string"}}, "required": ["n"]}),
    );
    // A closed object does not take over what it does not name.
    check(
        tool.clone(),
        json!({"properties": {"n": {}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "additionalProperties": false, "required": ["n"]}),
    );
    check(tool.clone(), json!({}), tool);
    // What is stated stands, even where it is wider.
    check(json!({"maximum": 3}), json!({"maximum": 9}), json!({"maximum": 9}));
    check(json!({"enum": ["a", "b"]}), json!({"const": "c"}), json!({"const": "c"}));
    check(
        json!({"if": {"type": "string"}, "then": {"minLength": 1}}),
        json!({"if": true, "then": {"type": "string"}}),
        json!({"if": true, "then": {"type": "string"}}),
    );
    check(
        json!({"items": {"type": "string", "maxLength": 9}, "title": "list"}),
        json!({"items": {"maxLength": 3}}),
        json!({"items": {"type": "string", "maxLength": 3}}),
    );
    // Definitions come along with the references to them; drafts are brought together.
    check(
        json!({"$defs": {"p": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/p"}}}),
        json!({"properties": {"a": {"maxLength": 3}}}),
        json!({"$defs": {"p": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/p", "maxLength": 3}}}),
    );
    // Both use one name for two things: each reference keeps to the definitions it was written beside.
    let own = json!({"properties": {"b": {"$ref": "#/$defs/p"}}, "$defs": {"p": {"type": "integer"}}});
    let tool =
        json!({"properties": {"a": {"$ref": "#/$defs/p"}, "b": true}, "$defs": {"p": {"type": "string"}}});
    check(
        tool,
        own,
        json!({
            "properties": {"a": {"$ref": "#/$defs/tool/$defs/p"}, "b": {"$ref": "#/$defs/p"}},
            "$defs": {
                "p": {"type": "integer"},
                "tool": {
                    "properties": {"a": {"$ref": "#/$defs/tool/$defs/p"}, "b": true},
                    "$defs": {"p": {"type": "string"}},
                },
            },
        }),
    );
    // A reference to the whole is to the tool as it was.
    check(
        json!({"properties": {"in": {"$ref": "#"}, "n": {"maximum": 9}}}),
        json!({"properties": {"n": {"maximum": 3}}}),
        json!({
            "properties": {"in": {"$ref": "#/$defs/tool"}, "n": {"maximum": 3}},
            "$defs": {"tool": {"properties": {"in": {"$ref": "#/$defs/tool"}, "n": {"maximum": 9}}}},
        }),
    );
    // A reference is one keyword, in every draft.
    let referring = |name: &str, all: Value| json!({"$schema": DRAFT_07, "$ref": format!("#/definitions/{name}"), "definitions": all});
    check(
        referring("p", json!({"p": {"maximum": 3}})),
        referring("q", json!({"q": {"maximum": 9}})),
        referring("q", json!({"p": {"maximum": 3}, "q": {"maximum": 9}})),
    );
    check(
        json!({"$schema": DRAFT_07, "type": "array", "items": [{"type": "string"}], "additionalItems": false}),
        json!({"maxItems": 1}),
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false, "maxItems": 1}),
    );
}

#[test]
fn the_conjunction_is_flat_where_it_can_be() {
    let check = |tool: Value, binding: Value, expected: Value| {
        assert_eq!(effective(&tool, &binding), expected, "{tool} / {binding}");
    };
    check(
        json!({"type": ["string", "number"], "enum": ["a", 1, "b"], "title": "tool"}),
        json!({"type": "string", "enum": ["b", "c"], "title": "binding"}),
        json!({"type": "string", "enum": ["b"], "title": "binding"}),
    );
    check(
        json!({"type": "object", "properties": {"a": {"minimum": 1}, "b": true}, "additionalProperties": false}),
        json!({"properties": {"a": {"minimum": 2}, "c": {"type": "string"}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"minimum": 2}, "b": true}, "additionalProperties": false, "required": ["a"]}),
    );
    // Two patterns cannot be one keyword.
    check(
        json!({"type": "string", "pattern": "^a"}),
        json!({"pattern": "z$"}),
        json!({"allOf": [{"type": "string", "pattern": "^a"}, {"pattern": "z$"}]}),
    );
    check(
        json!({"$schema": DRAFT_07, "$id": "https://example.com/tool", "type": "integer"}),
        json!({"maximum": 3}),
        json!({"type": "integer", "maximum": 3}),
    );
    // Both use one name for two things: they move apart, and their references with them.
    check(
        json!({"$defs": {"p": {"minimum": 1}}, "$ref": "#/$defs/p"}),
        json!({"$defs": {"p": {"maximum": 9}}, "$ref": "#/$defs/p"}),
        json!({"allOf": [
            {"$defs": {"p": {"minimum": 1}}, "$ref": "#/allOf/0/$defs/p"},
            {"$defs": {"p": {"maximum": 9}}, "$ref": "#/allOf/1/$defs/p"},
        ]}),
    );
    assert_eq!(
        flatten(&json!({"title": "t", "allOf": [{"minimum": 1}, {"maximum": 3, "description": "d"}]})),
        json!({"title": "t", "minimum": 1, "maximum": 3, "description": "d"}),
    );
    // What asserts nothing still evaluates every property.
    let open = json!({"allOf": [{"properties": {"a": true}}, {"additionalProperties": true}]});
    assert_eq!(
        flatten(&json!({"unevaluatedProperties": false, "allOf": [open]})),
        json!({"unevaluatedProperties": false, "allOf": [{"properties": {"a": true}, "additionalProperties": true}]}),
    );
}

#[test]
fn the_contract_form_leaves_data_alone() {
    let schema = json!({
        "title": "t", "x-order": 1, "default": {"title": "data"}, "type": "object",
        "properties": {"title": {"description": "d", "type": "string"}, "x-id": {"const": {"title": "kept"}}},
        "required": ["title"],
    });
    assert_eq!(
        contract_form(&schema),
        json!({
            "type": "object",
            "properties": {"title": {"type": "string"}, "x-id": {"const": {"title": "kept"}}},
            "required": ["title"],
        })
    );
    // What a reference points to is no annotation.
    let pointed = json!({"x-parts": {"a": {"type": "string"}}, "$ref": "#/x-parts/a"});
    assert_eq!(contract_form(&pointed), pointed);
}
