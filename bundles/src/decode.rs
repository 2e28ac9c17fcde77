//! From the spanned tree to typed documents, telling every fault on the way.
//!
//! A decoder that stops at the first fault would make a user run the compiler once per typing error, so
//! this is not serde: a field that fails is reported and left out, and decoding goes on. Whether a field may be
//! left out is decided by its type: `Option` and `Vec` may, anything else may not.
//!
//! INVARIANT: whenever something written is not in the result, an error was pushed.

use crate::diagnostics::{Diagnostic, code};
use crate::names::{did_you_mean, nearest};
use crate::node::{Node, NodeValue};
use crate::source::{SourceMap, Span, Spanned};

/// What a decoder knows and what it has found.
#[derive(Debug)]
pub struct Decoder<'s> {
    /// The texts, for showing what was written.
    pub sources: &'s SourceMap,
    /// What was found so far.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'s> Decoder<'s> {
    /// A decoder of texts in `sources`.
    pub fn new(sources: &'s SourceMap) -> Self {
        Self { sources, diagnostics: Vec::new() }
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Says that `node` is not `wanted`.
    pub fn wrong_type(&mut self, node: &Node, wanted: &str) {
        let diagnostic =
            Diagnostic::new(&code::WRONG_TYPE, format!("expected {wanted}, found {}", node.describe()))
                .label(node.span, format!("should be {wanted}"));
        let help = match &node.value {
            NodeValue::Null => Some("give it a value, or leave the key out".to_owned()),
            NodeValue::Number(_) | NodeValue::Bool(_) if wanted == "a string" => {
                Some(format!("quote it: `\"{}\"`", self.sources.snippet(node.span)))
            }
            NodeValue::Bool(_)
            | NodeValue::Number(_)
            | NodeValue::String(_)
            | NodeValue::Sequence(_)
            | NodeValue::Mapping(_) => None,
        };
        self.push(diagnostic.maybe_help(help));
    }

    /// Says that the string at `node` is another thing for other YAML readers and no `wanted` for this one.
    fn ambiguous(&mut self, node: &Node, text: &str, wanted: &str) {
        self.push(
            Diagnostic::new(
                &code::AMBIGUOUS_SCALAR,
                format!("`{text}` is a string in YAML 1.2, not {wanted}"),
            )
            .label(node.span, format!("should be {wanted}"))
            .help("write `true`, `false` or a plain decimal number; quote it if a string is meant"),
        );
    }

    /// The string at `node`, reported where it is none.
    pub fn string<'n>(&mut self, node: &'n Node) -> Option<&'n str> {
        let text = node.as_str();
        if text.is_none() {
            self.wrong_type(node, "a string");
        }
        text
    }
}

/// A type that can be read from a [`Node`].
pub trait Decode: Sized + schemars::JsonSchema {
    /// Whether a key of this type may be left out.
    const OPTIONAL: bool = false;

    /// Reads it; `None` where an error was pushed.
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self>;

    /// What it is when its key is not there. By default that is an error.
    fn absent(owner: &Owner, key: &'static str, cx: &mut Decoder<'_>) -> Option<Self> {
        cx.push(
            Diagnostic::new(&code::MISSING_FIELD, format!("{} has no `{key}`", owner.what))
                .label(owner.span, format!("`{key}` is missing here"))
                .help(format!("add `{key}`")),
        );
        None
    }

    /// What it is when it was there and failed to decode. By default the owner fails with it.
    fn failed() -> Option<Self> {
        None
    }

    /// The JSON Schema of a key of this type that is there. A key without a value is refused, so `null` is not in it.
    fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<Self>()
    }
}

/// The map a field belongs to, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// What it is: `a tool binding`.
    pub what: &'static str,
    /// Where it is.
    pub span: Span,
}

impl<T: Decode> Decode for Option<T> {
    const OPTIONAL: bool = true;

    fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::schema(generator)
    }

    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        Some(T::decode(node, cx))
    }

    fn absent(_: &Owner, _: &'static str, _: &mut Decoder<'_>) -> Option<Self> {
        Some(None)
    }
}

impl<T: Decode> Decode for Vec<T> {
    const OPTIONAL: bool = true;

    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let NodeValue::Sequence(items) = &node.value else {
            cx.wrong_type(node, "a list");
            return None;
        };
        Some(items.iter().filter_map(|item| T::decode(item, cx)).collect())
    }

    fn absent(_: &Owner, _: &'static str, _: &mut Decoder<'_>) -> Option<Self> {
        Some(Self::new())
    }

    fn failed() -> Option<Self> {
        Some(Self::new())
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        T::decode(node, cx).map(Self::new)
    }
}

impl<T: Decode> Decode for Spanned<T> {
    const OPTIONAL: bool = T::OPTIONAL;

    fn absent(owner: &Owner, key: &'static str, cx: &mut Decoder<'_>) -> Option<Self> {
        T::absent(owner, key, cx).map(|value| Self::new(value, owner.span))
    }

    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        T::decode(node, cx).map(|value| Self::new(value, node.span))
    }
}

impl Decode for Node {
    fn decode(node: &Node, _: &mut Decoder<'_>) -> Option<Self> {
        Some(node.clone())
    }
}

impl Decode for String {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        cx.string(node).map(str::to_owned)
    }
}

impl Decode for bool {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        match &node.value {
            NodeValue::Bool(value) => return Some(*value),
            NodeValue::String(text) if text.ambiguous => cx.ambiguous(node, &text.text, "a boolean"),
            NodeValue::Null
            | NodeValue::Number(_)
            | NodeValue::String(_)
            | NodeValue::Sequence(_)
            | NodeValue::Mapping(_) => cx.wrong_type(node, "`true` or `false`"),
        }
        None
    }
}

impl Decode for serde_json::Number {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        match &node.value {
            NodeValue::Number(number) => return Some(number.clone()),
            NodeValue::String(text) if text.ambiguous => cx.ambiguous(node, &text.text, "a number"),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::String(_)
            | NodeValue::Sequence(_)
            | NodeValue::Mapping(_) => cx.wrong_type(node, "a number"),
        }
        None
    }
}

/// Reports every string below `node` that other YAML readers take for something else, where any type is due.
pub(crate) fn refuse_ambiguous(node: &Node, diagnostics: &mut Vec<Diagnostic>) {
    node.each_string(&mut |text, span| {
        if text.ambiguous {
            diagnostics.push(
                Diagnostic::new(
                    &code::AMBIGUOUS_SCALAR,
                    format!("`{}` is a string here, and something else elsewhere", text.text),
                )
                .label(span, "quote it, or write what it should be")
                .help(format!(
                    "write `\"{}\"` for the string; `true`, `false` or a plain decimal number otherwise",
                    text.text
                )),
            );
        }
    });
}

/// An integer of at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Count(#[schemars(range(min = 1))] pub u64);

impl Decode for Count {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let number = serde_json::Number::decode(node, cx)?;
        match number.as_u64() {
            Some(value @ 1..) => Some(Self(value)),
            Some(0) | None => {
                cx.push(
                    Diagnostic::new(
                        &code::INVALID_VALUE,
                        format!("`{number}` is no whole number of at least 1"),
                    )
                    .label(node.span, "should be 1 or more"),
                );
                None
            }
        }
    }
}

/// Why a key that looks meant is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    /// The code to report.
    pub(crate) code: &'static crate::Code,
    /// Why, as the rest of a sentence after the key.
    pub(crate) why: &'static str,
    /// What to write instead.
    pub(crate) help: &'static str,
}

/// Looks for keys of `node` that `known` does not list. `x-` keys are given back; the rest is reported.
pub(crate) fn unknown_keys(
    owner: &Owner,
    entries: &[(Spanned<String>, Node)],
    known: &[&'static str],
    refused: fn(&str) -> Option<Refusal>,
    cx: &mut Decoder<'_>,
) -> Extensions {
    let mut extensions = Extensions::default();
    for (key, node) in entries {
        if known.contains(&key.value.as_str()) {
            continue;
        }
        if key.value.starts_with("x-") {
            refuse_ambiguous(node, &mut cx.diagnostics);
            extensions.0.push((key.clone(), node.clone()));
            continue;
        }
        let what = owner.what;
        let diagnostic = if let Some(Refusal { code, why, help }) = refused(&key.value) {
            Diagnostic::new(code, format!("`{}` in {what} {why}", key.value))
                .label(key.span, "not here")
                .help(help)
        } else {
            let near = nearest(&key.value, known.iter().copied());
            Diagnostic::new(&code::UNKNOWN_FIELD, format!("unknown field `{}` in {what}", key.value))
                .label(key.span, did_you_mean(near, "not known"))
                .help(match near {
                    Some(near) => format!("write `{near}`, or begin the key with `x-` to carry it along"),
                    None => format!("known here: {}", known.join(", ")),
                })
        };
        cx.push(diagnostic);
    }
    extensions
}

/// The `x-` keys of a map: carried, never interpreted here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extensions(pub Vec<(Spanned<String>, Node)>);

impl Extensions {
    /// The value of an `x-` key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|(k, _)| k.value == key).map(|(_, node)| node)
    }

    /// All of them as a JSON object.
    pub fn to_json(&self) -> serde_json::Map<String, serde_json::Value> {
        self.0.iter().map(|(key, node)| (key.value.clone(), node.to_json())).collect()
    }
}

/// Nothing is refused with words of its own.
pub(crate) fn none_refused(_: &str) -> Option<Refusal> {
    None
}

/// Declares a map with known keys: the struct, its reader, and its JSON Schema, from one list of fields.
macro_rules! document {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident as $what:literal, refusing $refused:path {
            $( $(#[doc = $fdoc:literal])* $key:literal => $field:ident : $ty:ty, )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name {
            $( $(#[doc = $fdoc])* pub $field: $ty, )*
            /// The `x-` keys.
            pub extensions: $crate::decode::Extensions,
            /// The whole map.
            pub span: $crate::source::Span,
        }

        impl $crate::decode::Decode for $Name {
            fn decode(node: &$crate::node::Node, cx: &mut $crate::decode::Decoder<'_>) -> Option<Self> {
                let Some(entries) = node.as_mapping() else {
                    cx.wrong_type(node, "a map");
                    return None;
                };
                let owner = $crate::decode::Owner { what: $what, span: $crate::decode::head(node, entries) };
                let extensions = $crate::decode::unknown_keys(&owner, entries, &[$($key),*], $refused, cx);
                $( let $field = $crate::decode::field::<$ty>(node, &owner, $key, cx); )*
                Some(Self { $( $field: $field?, )* extensions, span: node.span })
            }
        }

        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut map = $crate::decode::MapSchema::default();
                $( map.key::<$ty>($key, &[$($fdoc),*], generator); )*
                map.finish(&[$($doc),*])
            }
        }
    };
}
pub(crate) use document;

/// The JSON Schema of a map with known keys.
#[derive(Default)]
pub(crate) struct MapSchema {
    properties: serde_json::Map<String, serde_json::Value>,
    required: Vec<&'static str>,
}

impl MapSchema {
    /// Adds a key of type `T`, described by `doc`.
    pub(crate) fn key<T: Decode>(
        &mut self,
        key: &'static str,
        doc: &[&str],
        generator: &mut schemars::SchemaGenerator,
    ) {
        let mut schema = T::schema(generator);
        schema.insert("description".to_owned(), sentence(doc).into());
        self.properties.insert(key.to_owned(), schema.into());
        if !T::OPTIONAL {
            self.required.push(key);
        }
    }

    /// The schema, described by `doc`.
    pub(crate) fn finish(self, doc: &[&str]) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": sentence(doc),
            "properties": self.properties,
            "required": self.required,
            "patternProperties": { "^x-": {} },
            "additionalProperties": false
        })
    }
}

fn sentence(doc: &[&str]) -> String {
    doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Where a map begins, for pointing at what it lacks: its first key.
pub(crate) fn head(node: &Node, entries: &[(Spanned<String>, Node)]) -> Span {
    entries.first().map_or(node.span, |(key, _)| key.span)
}

/// The field at `key`, absent or not.
pub(crate) fn field<T: Decode>(
    node: &Node,
    owner: &Owner,
    key: &'static str,
    cx: &mut Decoder<'_>,
) -> Option<T> {
    match node.get(key) {
        Some(value) => T::decode(value, cx).or_else(T::failed),
        None => T::absent(owner, key, cx),
    }
}

/// Declares a closed list of words: the enum, its reader, its text and its JSON Schema.
macro_rules! keywords {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident as $what:literal { $( $(#[$vmeta:meta])* $Variant:ident = $word:literal $(| $alias:literal)*, )* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        $vis enum $Name {
            $( $(#[$vmeta])* #[serde(rename = $word $(, alias = $alias)*)] $Variant, )*
        }

        impl $Name {
            /// Every word, in the order of the list.
            $vis const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word for it.
            $vis fn as_str(self) -> &'static str {
                match self { $( Self::$Variant => $word, )* }
            }

            /// The value of a word.
            $vis fn from_word(word: &str) -> Option<Self> {
                match word { $( $word $(| $alias)* => Some(Self::$Variant), )* _ => None }
            }
        }

        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "enum": [$($word $(, $alias)*),*] })
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::decode::Decode for $Name {
            fn decode(node: &$crate::node::Node, cx: &mut $crate::decode::Decoder<'_>) -> Option<Self> {
                let word = cx.string(node)?;
                let value = Self::from_word(word);
                if value.is_none() {
                    $crate::decode::unknown_word(node, word, $what, Self::WORDS, cx);
                }
                value
            }
        }
    };
}
pub(crate) use keywords;

/// Reports a word that a closed list does not have.
pub(crate) fn unknown_word(
    node: &Node,
    word: &str,
    what: &str,
    known: &[&'static str],
    cx: &mut Decoder<'_>,
) {
    let near = nearest(word, known.iter().copied());
    cx.push(
        Diagnostic::new(&code::INVALID_VALUE, format!("`{word}` is no {what}"))
            .label(node.span, did_you_mean(near, "not known"))
            .help(format!("one of: {}", known.join(", "))),
    );
}

/// Reads a string through its `FromStr`, reporting the error under `code`.
pub(crate) fn parse<T>(node: &Node, code: &'static crate::Code, cx: &mut Decoder<'_>) -> Option<T>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = cx.string(node)?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            cx.push(Diagnostic::new(code, error.to_string()).label(node.span, ""));
            None
        }
    }
}

macro_rules! decode_by_parsing {
    ($($T:ty: $code:ident, $pattern:literal;)*) => {$(
        impl Decode for $T {
            fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
                parse(node, &code::$code, cx)
            }
        }

        impl schemars::JsonSchema for $T {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($T).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    )*};
}

use crate::names::{BoundaryId, LogicalId, Name, SecretName, WireName};

decode_by_parsing! {
    Name: INVALID_NAME, "^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$";
    WireName: INVALID_NAME, "^[A-Za-z0-9_-]{1,64}$";
    SecretName: INVALID_NAME, "^[a-z][a-z0-9_-]*$";
    BoundaryId: INVALID_NAME, "^\\S{1,256}$";
    LogicalId: INVALID_NAME, "^[A-Za-z0-9][A-Za-z0-9_-]{0,127}\\.[A-Za-z0-9][A-Za-z0-9_-]{0,127}$";
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Spanned<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

impl schemars::JsonSchema for Node {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Any".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({})
    }
}
