//! Short words for what a snapshot holds.

use bailiwick_policy::{AttachedBy, Policy, describe};
use bailiwick_snapshots::{Binding, Grant, InputNarrowing, Snapshot};
use serde_json::Value;

/// `1 tool`, `2 tools`, `2 policies`.
pub(super) fn count(n: usize, word: &str) -> String {
    match (n, word.strip_suffix('y')) {
        (1, _) => format!("1 {word}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        (_, None) => format!("{n} {word}s"),
    }
}

/// What is granted, by name.
pub(super) fn grant(grant: &Grant) -> String {
    match grant {
        Grant::Tool(key) => key.to_string(),
        Grant::Mcp { server, tool, .. } => format!("{tool} of MCP server {server}"),
        Grant::Delegate { agent, .. } => format!("agent {agent}"),
        Grant::LateBound { agent, .. } => format!("agent {agent}, chosen at run time"),
    }
}

/// The policies of a binding in words.
pub(super) fn decision(snapshot: &Snapshot, binding: &Binding) -> String {
    let mut seen: Vec<&bailiwick_policy::PolicyId> = Vec::new();
    let policies: Vec<&Policy> = binding
        .policies
        .iter()
        .filter(|attachment| {
            let new = !seen.contains(&&attachment.policy);
            seen.push(&attachment.policy);
            new
        })
        .filter_map(|attachment| snapshot.policies.get(&attachment.policy))
        .map(|record| &record.rule)
        .collect();
    one_line(&describe(policies))
}

/// A text that may hold anything, on one line: what a model wrote must not look like a line of ours.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => line.extend(character.escape_unicode()),
            _ => line.push(character),
        }
    }
    line
}

/// How a policy came to a binding.
pub(super) fn attached_by(by: &AttachedBy) -> String {
    match by {
        AttachedBy::Tool => "the tool's defaults".to_owned(),
        AttachedBy::Binding => "the binding".to_owned(),
        AttachedBy::Agent => "the agent's defaults".to_owned(),
        AttachedBy::AgentBoundary(boundary) => format!("boundary {boundary} of the agent"),
        AttachedBy::ToolBoundary(boundary) => format!("boundary {boundary} of the tool"),
    }
}

/// How a binding relates to its contract: `input: severity 1…5 → 1…4 (proven); class read_only (same)`.
pub(super) fn narrowing(snapshot: &Snapshot, binding: &Binding) -> String {
    let contract = match &binding.grants {
        Grant::Tool(key) => snapshot.tools.get(key),
        Grant::Mcp { .. } | Grant::Delegate { .. } | Grant::LateBound { .. } => None,
    };
    let input = match (binding.narrowing.input, contract) {
        (InputNarrowing::Narrower, Some(tool)) => {
            let changes = changes(&tool.input_schema, &binding.input_schema);
            let words = if changes.is_empty() { "as the contract".to_owned() } else { changes.join(", ") };
            format!("input: {words} (proven)")
        }
        (InputNarrowing::Same, _) => "input: as the contract".to_owned(),
        (InputNarrowing::Narrower | InputNarrowing::Own, _) => "input: its own".to_owned(),
    };
    let class = match binding.narrowing.class_from {
        Some(from) => format!("class {from} → {}", binding.side_effect_class),
        None => format!("class {} (same)", binding.side_effect_class),
    };
    format!("{input}; {class}")
}

/// The properties whose schema differs, at most a few of them.
fn changes(contract: &Value, effective: &Value) -> Vec<String> {
    const SHOWN: usize = 4;
    let empty = serde_json::Map::new();
    let properties =
        |schema: &Value| schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let (before, after) = (properties(contract), properties(effective));
    let mut words: Vec<String> = after
        .iter()
        .filter(|(name, schema)| before.get(*name) != Some(*schema))
        .map(|(name, schema)| {
            let old = before.get(name).map_or_else(|| "open".to_owned(), sketch);
            let new = sketch(schema);
            if old == new { format!("{name} narrowed") } else { format!("{name} {old} → {new}") }
        })
        .collect();
    let rest = |schema: &Value| {
        let mut rest = schema.as_object().unwrap_or(&empty).clone();
        rest.remove("properties");
        bailiwick_narrowing::contract_form(&Value::Object(rest))
    };
    if rest(contract) != rest(effective) {
        words.push("the object as a whole narrowed".to_owned());
    }
    let n_more = words.len().saturating_sub(SHOWN);
    if n_more > 0 {
        words.truncate(SHOWN);
        words.push(format!("{n_more} more"));
    }
    words
}

/// A schema in a word or two: `1…5`, `a|b|c`, `string`.
fn sketch(schema: &Value) -> String {
    let number = |key: &str| schema.get(key).map(ToString::to_string);
    if let Some(Value::Array(values)) = schema.get("enum") {
        let words: Vec<String> = values
            .iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        let text = words.join("|");
        return if text.chars().count() > 40 { format!("{} values", values.len()) } else { text };
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    for (low, high, unit) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ] {
        match (number(low), number(high)) {
            (Some(low), Some(high)) => return format!("{low}…{high}{unit}"),
            (None, Some(high)) => return format!("≤ {high}{unit}"),
            (Some(low), None) => return format!("≥ {low}{unit}"),
            (None, None) => {}
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(other) => other.to_string(),
        None => "anything".to_owned(),
    }
}
