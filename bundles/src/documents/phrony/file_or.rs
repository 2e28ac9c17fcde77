//! What is written in exactly one of two ways: as a file of the bundle, or in place.
//!
//! Not here: reading the file.

use super::VersionTag;
use crate::decode::Decoder;
use crate::diagnostics::{Diagnostic, code};
use crate::node::Node;
use crate::source::{Span, Spanned};

/// A file of the bundle, or the thing itself.
pub(super) enum FileOr<T> {
    File { reference: Spanned<String>, version: Option<Spanned<VersionTag>> },
    InPlace(Spanned<T>),
}

/// The map as written, before the exclusion is checked.
pub(super) struct Written<T> {
    pub(super) reference: Option<Spanned<String>>,
    pub(super) version: Option<Spanned<VersionTag>>,
    pub(super) in_place: Option<Spanned<T>>,
    pub(super) span: Span,
}

/// How messages speak of it.
pub(super) struct Words {
    /// The map.
    pub(super) owner: &'static str,
    /// The key of the thing in place.
    pub(super) key: &'static str,
    /// The thing.
    pub(super) thing: &'static str,
    /// What to do where neither is there.
    pub(super) help: &'static str,
}

/// The one way in which the map at `node` is written; `None` where an error was pushed.
pub(super) fn either<T>(
    node: &Node,
    written: Written<T>,
    words: &Words,
    cx: &mut Decoder<'_>,
) -> Option<FileOr<T>> {
    let Words { owner, key, thing, help } = words;
    // A `version` that failed to decode would name another file.
    if written.version.is_none() && node.get("version").is_some() {
        return None;
    }
    let diagnostic = match (written.reference, written.in_place, written.version) {
        (Some(reference), None, version) => return Some(FileOr::File { reference, version }),
        (None, Some(in_place), None) => return Some(FileOr::InPlace(in_place)),
        (None, Some(_), Some(version)) => {
            Diagnostic::new(&code::EXCLUSIVE_FIELDS, format!("`version` belongs to `ref`, not to `{key}`"))
                .label(version.span, "no file to choose")
                .help("remove `version`")
        }
        (Some(reference), Some(in_place), _) => {
            Diagnostic::new(&code::EXCLUSIVE_FIELDS, format!("{owner} holds `ref` or `{key}`, not both"))
                .label(reference.span, format!("one {thing}"))
                .label(in_place.span, "and another")
                .help("keep the one that is meant")
        }
        // What failed to decode has been reported already.
        (None, None, _) if node.get("ref").is_some() || node.get(key).is_some() => return None,
        (None, None, _) => Diagnostic::new(&code::MISSING_FIELD, format!("{owner} needs `ref` or `{key}`"))
            .label(written.span, "neither is here")
            .help(*help),
    };
    cx.push(diagnostic);
    None
}

/// The JSON Schema of a map of the keys that `fields` describes.
pub(super) fn either_schema(fields: &schemars::Schema, words: &Words) -> schemars::Schema {
    schemars::json_schema!({
        "allOf": [fields],
        "oneOf": [{ "required": ["ref"] }, { "required": [words.key], "not": { "required": ["version"] } }]
    })
}
