//! A schema object: exactly one of `ref` (with an optional `version`) and `inline`.

use super::VersionTag;
use crate::decode::{Decode, Decoder, document, none_refused};
use crate::diagnostics::{Diagnostic, code};
use crate::node::Node;
use crate::source::{Span, Spanned};

document! {
    /// As written, before the exclusion is checked.
    struct SchemaFields as "a schema object", refusing none_refused {
        /// A schema file of the bundle.
        "ref" => reference: Option<Spanned<String>>,
        /// Part of the file's name.
        "version" => version: Option<Spanned<VersionTag>>,
        /// The schema itself.
        "inline" => inline: Option<Node>,
    }
}

/// A schema by file or in place.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaObject {
    /// A file of the bundle.
    File {
        /// Its path, with or without an extension.
        reference: Spanned<String>,
        /// Part of its name.
        version: Option<Spanned<VersionTag>>,
        /// The whole schema object.
        span: Span,
    },
    /// The schema itself.
    Inline {
        /// The schema.
        schema: Node,
        /// The whole schema object.
        span: Span,
    },
}

impl SchemaObject {
    /// The whole schema object.
    pub fn span(&self) -> Span {
        match self {
            Self::File { span, .. } | Self::Inline { span, .. } => *span,
        }
    }
}

impl Decode for SchemaObject {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let fields = SchemaFields::decode(node, cx)?;
        // A `version` that failed to decode would name another file.
        if fields.version.is_none() && node.get("version").is_some() {
            return None;
        }
        let span = fields.span;
        match (fields.reference, fields.inline, fields.version) {
            (Some(reference), None, version) => Some(Self::File { reference, version, span }),
            (None, Some(schema), None) => Some(Self::Inline { schema, span }),
            (None, Some(_), Some(version)) => {
                cx.push(
                    Diagnostic::new(&code::EXCLUSIVE_FIELDS, "`version` belongs to `ref`, not to `inline`")
                        .label(version.span, "no file to choose")
                        .help("remove `version`"),
                );
                None
            }
            (Some(reference), Some(inline), _) => {
                cx.push(
                    Diagnostic::new(
                        &code::EXCLUSIVE_FIELDS,
                        "a schema object holds `ref` or `inline`, not both",
                    )
                    .label(reference.span, "one schema")
                    .label(inline.span, "and another")
                    .help("keep the one that is meant"),
                );
                None
            }
            (None, None, _) => {
                // A `ref` or `inline` that failed to decode has been reported already.
                if node.get("ref").is_none() && node.get("inline").is_none() {
                    cx.push(
                        Diagnostic::new(&code::MISSING_FIELD, "a schema object needs `ref` or `inline`")
                            .label(span, "neither is here")
                            .help("put the schema under `inline:`, or name its file with `ref:`"),
                    );
                }
                None
            }
        }
    }
}

impl schemars::JsonSchema for SchemaObject {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SchemaObject".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let fields = generator.subschema_for::<SchemaFields>();
        schemars::json_schema!({
            "allOf": [fields],
            "oneOf": [{ "required": ["ref"] }, { "required": ["inline"], "not": { "required": ["version"] } }]
        })
    }
}
