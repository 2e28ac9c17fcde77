//! Diagnostics as JSON: the same data as on a terminal, with byte and line/column ranges.

use bailiwick_bundles::{Diagnostic, SourceFile, SourceMap};
use serde_json::{Map, Value, json};

/// One diagnostic.
pub fn diagnostic_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let spans: Vec<Value> = diagnostic
        .labels
        .iter()
        .enumerate()
        .map(|(at, label)| {
            let file = sources.get(label.span.file);
            json!({
                "file": sources.path(label.span.file),
                "primary": at == 0,
                "start": place(file, label.span.start),
                "end": place(file, label.span.end),
                "label": label.text,
            })
        })
        .collect();
    let mut object = Map::new();
    object.insert("code".into(), diagnostic.code.id.into());
    object.insert("severity".into(), diagnostic.severity.as_str().into());
    object.insert("message".into(), diagnostic.message.as_str().into());
    object.insert("spans".into(), spans.into());
    if let Some(example) = &diagnostic.example {
        object.insert("example".into(), example.as_str().into());
    }
    object.insert("notes".into(), diagnostic.notes.clone().into());
    object.insert("help".into(), diagnostic.help.clone().into());
    Value::Object(object)
}

fn place(file: Option<&SourceFile>, offset: u32) -> Value {
    let at = file.map(|file| file.line_column(offset));
    json!({
        "byte": offset,
        "line": at.map(|at| at.line),
        "column": at.map(|at| at.column),
    })
}
