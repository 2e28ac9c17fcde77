//! The same document in another hand: key order, block style, flow style, JSON.

use std::fmt::Write as _;

use bailiwick_bundles::{FileId, NodeValue, SourceMap, read_yaml};
use bailiwick_bundles::{Node, Span};
use serde_json::Value;

/// How a document is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hand {
    /// Decides the order of keys; 0 leaves it.
    pub(crate) order: u64,
    /// So many levels are written as blocks, the rest as flow; none is JSON.
    pub(crate) blocks: usize,
    /// Spaces of one level.
    pub(crate) indent: usize,
}

/// `text`, a stream of YAML documents, in another hand.
pub(crate) fn rewrite(text: &str, hand: Hand) -> String {
    let mut documents = Vec::new();
    for node in parse(text) {
        let mut out = String::new();
        if hand.blocks == 0 {
            out = flow(&node, hand);
            out.push('\n');
        } else {
            block(&node, hand, 0, &mut out);
        }
        documents.push(out);
    }
    documents.join("---\n")
}

fn parse(text: &str) -> Vec<Node> {
    let mut sources = SourceMap::new();
    let file: FileId = sources.add("written.yaml", text);
    let mut found = Vec::new();
    let nodes = read_yaml(file, text, &mut found);
    assert!(found.is_empty(), "{found:?}");
    nodes
}

/// Texts are quoted, as JSON quotes them: what an unquoted one means is not the question here.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn entries(node: &Node, hand: Hand) -> Option<Vec<(String, &Node)>> {
    let NodeValue::Mapping(entries) = &node.value else { return None };
    let mut entries: Vec<_> = entries.iter().map(|(key, value)| (key.value.clone(), value)).collect();
    if hand.order > 0 {
        entries.sort_by_key(|(key, _)| {
            key.bytes()
                .fold(hand.order, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
        });
    }
    Some(entries)
}

fn flow(node: &Node, hand: Hand) -> String {
    if let Some(entries) = entries(node, hand) {
        let rows: Vec<_> =
            entries.iter().map(|(key, value)| format!("{}: {}", quoted(key), flow(value, hand))).collect();
        return format!("{{{}}}", rows.join(", "));
    }
    match &node.value {
        NodeValue::Null => "null".to_owned(),
        NodeValue::Bool(value) => value.to_string(),
        NodeValue::Number(number) => number.to_string(),
        NodeValue::String(text) => quoted(&text.text),
        NodeValue::Sequence(items) => {
            let items: Vec<_> = items.iter().map(|item| flow(item, hand)).collect();
            format!("[{}]", items.join(", "))
        }
        NodeValue::Mapping(_) => String::new(),
    }
}

fn block(node: &Node, hand: Hand, level: usize, out: &mut String) {
    let pad = " ".repeat(level * hand.indent);
    let nested = |value: &Node| {
        level + 1 < hand.blocks
            && match &value.value {
                NodeValue::Mapping(entries) => !entries.is_empty(),
                NodeValue::Sequence(items) => !items.is_empty(),
                NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::String(_) => false,
            }
    };
    if let Some(entries) = entries(node, hand) {
        for (key, value) in entries {
            if nested(value) {
                let _ = writeln!(out, "{pad}{}:", quoted(&key));
                block(value, hand, level + 1, out);
            } else {
                let _ = writeln!(out, "{pad}{}: {}", quoted(&key), flow(value, hand));
            }
        }
    } else if let NodeValue::Sequence(items) = &node.value {
        for item in items {
            if nested(item) {
                let _ = writeln!(out, "{pad}-");
                block(item, hand, level + 1, out);
            } else {
                let _ = writeln!(out, "{pad}- {}", flow(item, hand));
            }
        }
    } else {
        let _ = writeln!(out, "{pad}{}", flow(node, hand));
    }
}

/// `text` with comments and empty lines between its lines and comments at their ends, where `choose` says so.
///
/// Left alone: anything in a document that has a block scalar, where a `#` would be content.
pub(crate) fn with_comments(text: &str, mut choose: impl FnMut() -> u8) -> String {
    let block_scalar = text.lines().any(|line| {
        let line = line.trim_end();
        line.ends_with('|') || line.ends_with('>') || line.ends_with("|-") || line.ends_with(">-")
    });
    if block_scalar {
        return text.to_owned();
    }
    let mut out = String::new();
    for line in text.lines() {
        let choice = choose();
        if choice & 1 == 1 {
            out.push_str("   # key: value, \"quoted\" - and so on\n");
        }
        if choice & 2 == 2 {
            out.push('\n');
        }
        out.push_str(line);
        // A line may go on in the next one, as text; one that ends a value or opens a map does not.
        let whole = line.ends_with([':', ']', '}', '"']);
        if choice & 4 == 4 && whole {
            out.push_str("  # said in passing: {");
        }
        out.push('\n');
    }
    out
}

#[test]
fn a_document_in_another_hand_is_the_same_document() {
    let strip = |node: &Node| {
        let mut node = node.clone();
        strip(&mut node);
        node
    };
    for sample in crate::bundle::samples().iter().filter(|sample| sample.path.ends_with(".yaml")) {
        let before: Vec<_> = parse(&sample.text).iter().map(strip).collect();
        for blocks in [0, 1, 3, 99] {
            let text = rewrite(&sample.text, Hand { order: 0, blocks, indent: 2 });
            let after: Vec<_> = parse(&text).iter().map(strip).collect();
            assert_eq!(before, after, "{}:\n{text}", sample.path);
        }
    }
}

/// Takes the places, and what hangs on quoting, out of a tree.
fn strip(node: &mut Node) {
    let nowhere = Span { start: 0, end: 0, ..node.span };
    node.span = nowhere;
    match &mut node.value {
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
        NodeValue::String(text) => text.ambiguous = false,
        NodeValue::Sequence(items) => items.iter_mut().for_each(strip),
        NodeValue::Mapping(entries) => {
            for (key, value) in entries {
                key.span = nowhere;
                strip(value);
            }
        }
    }
}
