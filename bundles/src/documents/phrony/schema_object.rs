//! A schema object: exactly one of `ref` (with an optional `version`) and `inline`.

use super::VersionTag;
use super::file_or::{FileOr, Words, Written, either, either_schema};
use crate::decode::{Decode, Decoder, document, none_refused};
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
        "inline" => inline: Option<Spanned<Node>>,
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

const WORDS: Words = Words {
    owner: "a schema object",
    key: "inline",
    thing: "schema",
    help: "put the schema under `inline:`, or name its file with `ref:`",
};

impl Decode for SchemaObject {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let SchemaFields { reference, version, inline, span, .. } = SchemaFields::decode(node, cx)?;
        Some(match either(node, Written { reference, version, in_place: inline, span }, &WORDS, cx)? {
            FileOr::File { reference, version } => Self::File { reference, version, span },
            FileOr::InPlace(schema) => Self::Inline { schema: schema.value, span },
        })
    }
}

impl schemars::JsonSchema for SchemaObject {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SchemaObject".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        either_schema(&generator.subschema_for::<SchemaFields>(), &WORDS)
    }
}
