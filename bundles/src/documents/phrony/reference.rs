//! References: a logical id with a constraint, or a path in the bundle.

use crate::constraint::Constraint;
use crate::decode::{Decode, Decoder, Owner, document, none_refused};
use crate::diagnostics::{Diagnostic, code};
use crate::names::LogicalId;
use crate::node::{Node, NodeValue};
use crate::version::Version;

/// `namespace.name[@constraint]`, or a bundle path.
///
/// A text with a `/`, or one that ends in `.yaml` or `.yml`, is a path; anything else is a logical reference.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// By name, from the bundle or a catalog.
    Logical {
        /// What is asked for.
        id: LogicalId,
        /// Which versions will do; absent means any.
        constraint: Option<Constraint>,
    },
    /// By place in the bundle.
    Path(String),
}

impl Reference {
    /// The reference without its constraint, as written.
    pub fn target(&self) -> String {
        match self {
            Self::Logical { id, .. } => id.to_string(),
            Self::Path(path) => path.clone(),
        }
    }
}

fn is_path(text: &str) -> bool {
    text.contains(['/', '\\'])
        || std::path::Path::new(text)
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("yaml") || end.eq_ignore_ascii_case("yml"))
}

impl Decode for Reference {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let text = cx.string(node)?;
        let (target, constraint) = match text.split_once('@') {
            Some((target, constraint)) => (target, Some(constraint)),
            None => (text, None),
        };
        if is_path(target) {
            if constraint.is_some() {
                cx.push(
                    Diagnostic::new(
                        &code::INVALID_CONSTRAINT,
                        format!("`{text}` puts a constraint on a bundle path"),
                    )
                    .label(node.span, "a path has one version: the file's")
                    .help(format!("write `{target}`, or refer to the document by `namespace.name`")),
                );
                return None;
            }
            return Some(Self::Path(target.to_owned()));
        }
        let id = match target.parse() {
            Ok(id) => id,
            Err(error) => {
                cx.push(
                    Diagnostic::new(&code::INVALID_NAME, format!("{error}"))
                        .label(node.span, "neither an id nor a path")
                        .help("write `namespace.name@constraint`, or a path in the bundle such as `tools/send-alert`"),
                );
                return None;
            }
        };
        let constraint = match constraint.map(str::parse::<Constraint>).transpose() {
            Ok(constraint) => constraint,
            Err(error) => {
                cx.push(
                    Diagnostic::new(&code::INVALID_CONSTRAINT, error.to_string())
                        .label(node.span, "")
                        .help("constraints are written like `^1.2`, `~1.2.3`, `>=1, <3`, `1.2 || 2` or `*`"),
                );
                return None;
            }
        };
        Some(Self::Logical { id, constraint })
    }
}

impl schemars::JsonSchema for Reference {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reference".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "minLength": 1 })
    }
}

/// A policy by name, or by path as `{ref: policies/x}`.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub enum PolicyReference {
    /// A logical reference.
    Named(Reference),
    /// A map with `ref`.
    At(PolicyRef),
}

document! {
    /// A policy by path or name.
    pub struct PolicyRef as "a policy reference", refusing none_refused {
        /// The path or name.
        "ref" => reference: Reference,
    }
}

impl PolicyReference {
    /// What is referred to.
    pub fn reference(&self) -> &Reference {
        match self {
            Self::Named(reference) => reference,
            Self::At(map) => &map.reference,
        }
    }
}

impl Decode for PolicyReference {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        if node.as_mapping().is_some() {
            return PolicyRef::decode(node, cx).map(Self::At);
        }
        match Reference::decode(node, cx)? {
            Reference::Path(path) => {
                cx.push(
                    Diagnostic::new(
                        &code::INVALID_VALUE,
                        format!("`{path}` is a path where a policy's name is due"),
                    )
                    .label(node.span, "should be a logical id")
                    .help(format!("write `{{ref: {path}}}`")),
                );
                None
            }
            logical @ Reference::Logical { .. } => Some(Self::Named(logical)),
        }
    }
}

/// The `version` beside a file `ref`: part of the file's name, written as a string or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionTag(pub String);

impl Decode for VersionTag {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let text = match &node.value {
            NodeValue::String(text) => text.text.clone(),
            NodeValue::Number(_) => cx.sources.snippet(node.span).to_owned(),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Sequence(_) | NodeValue::Mapping(_) => {
                cx.wrong_type(node, "a version (a string or a number)");
                return None;
            }
        };
        let fits = !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'+'))
            && !text.starts_with('.');
        if !fits {
            cx.push(
                Diagnostic::new(&code::INVALID_VERSION, format!("`{text}` cannot be part of a file name"))
                    .label(node.span, "letters, digits, `.`, `-`, `_` and `+`"),
            );
            return None;
        }
        Some(Self(text))
    }
}

impl schemars::JsonSchema for VersionTag {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "VersionTag".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number"] })
    }
}

impl Decode for Version {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        if let NodeValue::Number(_) = &node.value {
            let written = cx.sources.snippet(node.span);
            let parts = written.split('.').count();
            let full = format!("{written}{}", ".0".repeat(3_usize.saturating_sub(parts)));
            cx.push(
                Diagnostic::new(
                    &code::INVALID_VERSION,
                    format!("`{written}` is a number here, not a version"),
                )
                .label(node.span, "YAML reads this as a number")
                .help(format!("write all three parts: `\"{full}\"`")),
            );
            return None;
        }
        let text = cx.string(node)?;
        match text.parse() {
            Ok(version) => Some(version),
            Err(error) => {
                cx.push(
                    Diagnostic::new(
                        &code::INVALID_VERSION,
                        format!("`{text}` is no semantic version: {error}"),
                    )
                    .label(node.span, "")
                    .help("write MAJOR.MINOR.PATCH, such as `1.4.2` or `2.0.0-rc.1`"),
                );
                None
            }
        }
    }

    fn absent(owner: &Owner, key: &'static str, cx: &mut Decoder<'_>) -> Option<Self> {
        cx.push(
            Diagnostic::new(&code::MISSING_FIELD, format!("{} has no `{key}`", owner.what))
                .label(owner.span, format!("`{key}` is missing here"))
                .help("add a semantic version, such as `version: 1.0.0`"),
        );
        None
    }
}

impl schemars::JsonSchema for Version {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Version".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^v?\\d+\\.\\d+\\.\\d+([-+].*)?$" })
    }
}
