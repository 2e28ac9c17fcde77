//! The arguments of a call, from the text that a model wrote.
//!
//! Read by the strict JSON reader: duplicate keys, numbers that a double does not hold, and more levels or bytes than
//! are read anywhere else are refused. A text that is refused is a call that is denied.

use bailiwick_bundles::{Diagnostic, MAX_BYTES, SourceMap, read_json};
use serde_json::Value;

/// Reads the arguments of a call.
///
/// # Errors
/// What is wrong with the text, in words, with line and column.
pub(crate) fn read_arguments(text: &[u8]) -> Result<Value, Vec<String>> {
    if text.len() > MAX_BYTES {
        return Err(vec![format!("the arguments are {} bytes long, more than {MAX_BYTES}", text.len())]);
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return Err(vec!["the arguments are not UTF-8".to_owned()]);
    };
    let mut sources = SourceMap::new();
    let mut found = Vec::new();
    // Only where something is wrong is the text kept to count its lines.
    let file = sources.add("arguments", "");
    let node = read_json(file, text, &mut found);
    if !found.is_empty() {
        sources = SourceMap::new();
        sources.add("arguments", text);
    }
    let faults: Vec<String> = found.iter().map(|fault| said(fault, &sources)).collect();
    match node {
        Some(node) if faults.is_empty() => {
            let value = node.to_json();
            if value.is_object() {
                Ok(value)
            } else {
                Err(vec!["the arguments are no JSON object".to_owned()])
            }
        }
        _ if faults.is_empty() => Err(vec!["the arguments are no JSON".to_owned()]),
        _ => Err(faults),
    }
}

fn said(fault: &Diagnostic, sources: &SourceMap) -> String {
    let place = fault
        .labels
        .first()
        .and_then(|label| sources.get(label.span.file).map(|file| file.line_column(label.span.start)));
    match place {
        Some(place) => {
            format!("the arguments: {} (line {}, column {})", fault.message, place.line, place.column)
        }
        None => format!("the arguments: {}", fault.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_held_as_it_is_written_or_refused() {
        for text in [
            "0.1",
            "1e300",
            "250.00000000000000000000",
            "1.0e2",
            "-0.000000000000000000001",
            "123456789012.345",
        ] {
            assert!(read_arguments(format!("{{\"a\": {text}}}").as_bytes()).is_ok(), "{text}");
        }
        for text in [
            "250.00000000000000001",
            "0.1000000000000000055",
            "9007199254740993",
            "1e400",
            "1e-400",
            "01",
            "-",
        ] {
            assert!(read_arguments(format!("{{\"a\": [{text}]}}").as_bytes()).is_err(), "{text}");
        }
    }
}
