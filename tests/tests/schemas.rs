//! The published JSON Schemas and the readers agree: what one accepts, the other does.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use bailiwick_bundles::documents::phrony::read_document;
use bailiwick_bundles::{Decoder, Diagnostic, Node, SourceMap, read_yaml};
use bailiwick_tests::command;
use camino::Utf8Path;
use serde_json::Value;

fn schema(kind: &str) -> jsonschema::Validator {
    let printed = command(Utf8Path::new("."), ["schema", kind]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let schema: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    assert!(jsonschema::meta::is_valid(&schema), "{kind} is no valid schema");
    jsonschema::validator_for(&schema).expect("a schema that compiles")
}

/// The documents of a text, and whether the reader takes each of them.
fn read(text: &str) -> Vec<(Node, bool)> {
    let mut sources = SourceMap::new();
    let file = sources.add("document.yaml", text);
    let mut diagnostics = Vec::new();
    let nodes = read_yaml(file, text, &mut diagnostics);
    assert_eq!(diagnostics, []);
    nodes
        .into_iter()
        .map(|node| {
            let mut decoder = Decoder::new(&sources);
            read_document(&node, &mut decoder);
            let accepted = !decoder.diagnostics.iter().any(Diagnostic::is_error);
            (node, accepted)
        })
        .collect()
}

/// The one document of a text, and whether the reader takes it.
fn read_one(text: &str) -> (Node, bool) {
    let mut documents = read(text);
    assert_eq!(documents.len(), 1, "{text}");
    documents.remove(0)
}

fn errors(validator: &jsonschema::Validator, node: &Node) -> Vec<String> {
    validator.iter_errors(&node.to_json()).map(|error| error.to_string()).collect()
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("listable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|end| end == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_sample_document_is_valid() {
    let validator = schema("document");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bundles/samples");
    let mut n_documents = 0;
    for path in yaml_files(&samples) {
        let text = std::fs::read_to_string(&path).expect("text");
        if !text.contains("apiVersion") {
            continue;
        }
        for (node, accepted) in read(&text) {
            assert!(accepted, "{} is not read", path.display());
            assert_eq!(errors(&validator, &node), Vec::<String>::new(), "{}", path.display());
            n_documents += 1;
        }
    }
    assert!(n_documents > 20, "only {n_documents} documents were found");
}

fn document(kind: &str, spec: &str) -> String {
    let metadata = "metadata: {name: a, namespace: b, version: 1.0.0}";
    format!("apiVersion: phrony.com/v1\nkind: {kind}\n{metadata}\nspec: {spec}\n")
}

#[test]
fn what_the_reader_refuses_by_shape_the_schema_refuses() {
    let validator = schema("document");
    for (kind, spec) in [
        ("Tool", "{}"),
        ("Tool", "{input_schema: {}}"),
        ("Tool", "{input_schema: {ref: a, inline: {}}}"),
        ("Tool", "{input_schema: {inline: {}, version: 1}}"),
        ("Tool", "{input_schema: {inline: {}}, side_effect_clas: read_only}"),
        ("Tool", "{input_schema: {inline: {}}, side_effect_class: readonly}"),
        ("Tool", "{input_schema: {inline: {}}, url: x}"),
        ("Tool", "{input_schema: {inline: {}}, strict: 1}"),
        ("Tool", "{input_schema: {inline: {}}, available_when: [{a: b}]}"),
        ("Policy", "{}"),
        ("Policy", "{decision: {type: maybe}}"),
        ("Policy", "{decision: {type: require_approval, approvals_required: 0}}"),
        ("Policy", "{decision: {type: deny}, conditions: {}}"),
        ("Policy", "{decision: {type: deny}, conditions: {any: []}}"),
        ("Policy", "{decision: {type: deny}, conditions: {field: a}}"),
        ("Policy", "{decision: {type: deny}, scope: b.a}"),
        ("Agent", "{}"),
        ("Agent", "{purpose: x, policies: []}"),
        ("Agent", "{purpose: x, tools: [{as: a}]}"),
        ("Agent", "{purpose: x, tools: [{ref: a.b, as: 'a b'}]}"),
        ("Agent", "{purpose: x, instructions: {text: a, ref: b}}"),
        ("Agent", "{purpose: x, limits: {max_loop_iterations: 0}}"),
        ("Bundle", "{}"),
        ("Bundle", "{root: [a]}"),
    ] {
        let (node, accepted) = read_one(&document(kind, spec));
        assert!(!accepted, "{kind} is read: {spec}");
        assert!(!validator.is_valid(&node.to_json()), "{kind} is valid by schema: {spec}");
    }
}

#[test]
fn what_the_reader_takes_the_schema_takes() {
    let validator = schema("document");
    for (kind, spec) in [
        ("Tool", "{input_schema: {inline: {}}, x-note: 1}"),
        ("Tool", "{input_schema: {ref: a, version: 1}, available_when: ['agent.capability: a']}"),
        ("Policy", "{decision: {type: block}, conditions: {not: {field: a, op: exists}}}"),
        ("Agent", "{purpose: x, default_policies: [a.b, {ref: policies/x}]}"),
        ("Bundle", "{root: agents/desk.yaml}"),
    ] {
        let (node, accepted) = read_one(&document(kind, spec));
        assert!(accepted, "{kind} is not read: {spec}");
        assert_eq!(errors(&validator, &node), Vec::<String>::new(), "{kind}: {spec}");
    }
}
