//! The JSON that `--format json` prints.

use std::io::Write;

use serde_json::{Value, json};

use super::CliError;

/// Raised when a field changes its meaning or goes away.
pub(super) const SCHEMA_VERSION: u64 = 1;

/// Prints a value, indented, its members sorted, with a line end.
pub(super) fn write_json(out: &mut dyn Write, value: &Value) -> Result<(), CliError> {
    let mut value = value.clone();
    value.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&value).map_err(std::io::Error::other)?;
    text.push('\n');
    out.write_all(text.as_bytes())?;
    Ok(())
}

/// The JSON Schema of reports.
pub(super) fn schema() -> Value {
    let place = json!({
        "type": "object",
        "properties": {
            "byte": { "type": "integer", "minimum": 0, "description": "Offset from the beginning of the file." },
            "line": { "type": ["integer", "null"], "minimum": 1 },
            "column": { "type": ["integer", "null"], "minimum": 1, "description": "In Unicode scalar values." }
        },
        "required": ["byte", "line", "column"]
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of bailiwick",
        "type": "object",
        "properties": {
            "schema_version": { "const": SCHEMA_VERSION },
            "diagnostics": { "type": "array", "items": { "$ref": "#/$defs/diagnostic" } },
            "summary": {
                "type": "object",
                "properties": {
                    "errors": { "type": "integer", "minimum": 0 },
                    "warnings": { "type": "integer", "minimum": 0 },
                    "notes": { "type": "integer", "minimum": 0 }
                },
                "required": ["errors", "warnings", "notes"]
            }
        },
        "required": ["schema_version", "diagnostics", "summary"],
        "$defs": {
            "place": place,
            "diagnostic": {
                "type": "object",
                "properties": {
                    "code": { "type": "string", "pattern": "^[a-z]+::[a-z0-9-]+$" },
                    "severity": { "enum": ["error", "warning", "note"] },
                    "message": { "type": "string" },
                    "spans": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "file": { "type": "string" },
                                "primary": { "type": "boolean" },
                                "start": { "$ref": "#/$defs/place" },
                                "end": { "$ref": "#/$defs/place" },
                                "label": { "type": "string" }
                            },
                            "required": ["file", "primary", "start", "end", "label"]
                        }
                    },
                    "example": { "type": "string", "description": "An instance that shows the fault." },
                    "notes": { "type": "array", "items": { "type": "string" } },
                    "help": { "type": ["string", "null"] }
                },
                "required": ["code", "severity", "message", "spans", "notes", "help"]
            }
        }
    })
}
