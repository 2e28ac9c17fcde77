//! A JSON Schema as written, made self-contained.
//!
//! A local `$ref` to another file is replaced by a pointer into `$defs`, where that file's schema is put. A `$ref` to an
//! `$id` of the same file stays. A remote `$ref` is never fetched. Every place in the result is known by its JSON
//! pointer, so that a verdict about the schema can point at the text it is about.
//!
//! Not here: whether the result is a valid schema, and what it means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::credential::refuse_credentials_below;
use crate::decode::refuse_ambiguous;
use crate::diagnostics::{Diagnostic, code};
use crate::files::steps;
use crate::names::{did_you_mean, nearest};
use crate::node::{Node, escape};
use crate::source::{Span, Spanned};

/// A self-contained schema and where its parts were written.
#[derive(Clone, Debug)]
pub struct SchemaSource {
    value: Value,
    /// Pointer in `value` → the tree that was put there; the longest prefix counts.
    parts: Vec<(String, Arc<Node>)>,
}

impl SchemaSource {
    /// The schema.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Where the schema itself is written.
    pub fn origin(&self) -> Option<Span> {
        self.parts.first().map(|(_, node)| node.span)
    }

    /// Where the entry at a JSON pointer of [`SchemaSource::value`] is written, or the nearest place above it.
    pub fn span(&self, pointer: &str) -> Option<Span> {
        self.parts
            .iter()
            .filter_map(|(prefix, node)| {
                let rest = pointer.strip_prefix(prefix.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then_some((prefix.len(), node, rest))
            })
            .max_by_key(|(length, ..)| *length)
            .map(|(_, node, rest)| node.entry_span(rest))
    }

    /// A schema that no text is behind, such as a default.
    pub fn synthetic(value: Value) -> Self {
        Self { value, parts: Vec::new() }
    }

    /// Bundles the schema at `node`, which stands in the file `path` of the bundle.
    ///
    /// `open` gives the tree of another file of the bundle, and reports at the given span where it cannot.
    pub fn bundle(
        node: &Arc<Node>,
        path: &str,
        open: &mut dyn FnMut(&str, Span) -> Option<Arc<Node>>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let definitions = if is_old_draft(node) { "definitions" } else { "$defs" };
        let mut taken = node.get(definitions).and_then(Node::as_mapping).map_or_else(Vec::new, |entries| {
            entries.iter().map(|(key, _)| key.value.clone()).collect::<Vec<_>>()
        });
        taken.sort();
        let mut bundler = Bundler {
            definitions,
            taken,
            root: path.to_owned(),
            prefixes: BTreeMap::new(),
            waiting: Vec::new(),
            open,
            diagnostics,
            keywords: Keywords::Checked,
        };
        refuse_credentials_below(node, bundler.diagnostics);
        let mut value = bundler.rewrite_at(node, &At::the_root(&Place::new(node, path, "")));
        let mut parts = vec![(String::new(), Arc::clone(node))];
        while let Some((path, key, other)) = bundler.waiting.pop() {
            let prefix = format!("/{}/{}", escape(definitions), escape(&key));
            if other.get("$schema").is_some() && dialect(&other) != dialect(node) {
                let span = other.entry("$schema").map_or(other.span, |(key, value)| key.span.to(value.span));
                bundler.diagnostics.push(
                    Diagnostic::new(
                        &code::UNSUPPORTED_SCHEMA,
                        format!("`{path}` is in another draft than its user"),
                    )
                    .label(span, "another draft")
                    .label(node.span, "refers to it")
                    .help("write both schemas in one draft"),
                );
            }
            refuse_credentials_below(&other, bundler.diagnostics);
            let mut embedded = bundler.rewrite_at(&other, &At::the_root(&Place::new(&other, &path, &prefix)));
            if let Value::Object(map) = &mut embedded {
                map.remove("$schema");
                map.remove("$id");
            }
            parts.push((prefix, other));
            if let Value::Object(map) = &mut value
                && let Value::Object(defs) =
                    map.entry(definitions).or_insert_with(|| Value::Object(Map::new()))
            {
                defs.insert(key, embedded);
            }
        }
        Self { value, parts }
    }
}

/// The dialect that a schema is written in, by its `$schema`.
fn dialect(node: &Node) -> &str {
    let stated = node.get("$schema").and_then(Node::as_str);
    stated.map_or("https://json-schema.org/draft/2020-12/schema", |dialect| dialect.trim_end_matches('#'))
}

/// Drafts before 2019-09 keep shared schemas under `definitions`.
fn is_old_draft(node: &Node) -> bool {
    node.get("$schema").and_then(Node::as_str).is_some_and(|dialect| {
        ["draft-04", "draft-06", "draft-07"].iter().any(|draft| dialect.contains(draft))
    })
}

struct Bundler<'a> {
    definitions: &'static str,
    taken: Vec<String>,
    root: String,
    /// File → pointer of the place it is put.
    prefixes: BTreeMap<String, String>,
    /// Files yet to be rewritten: path, key under `definitions`, tree.
    waiting: Vec<(String, String, Arc<Node>)>,
    open: &'a mut dyn FnMut(&str, Span) -> Option<Arc<Node>>,
    diagnostics: &'a mut Vec<Diagnostic>,
    keywords: Keywords,
}

/// What is said about the keys of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keywords {
    /// It is a schema.
    Checked,
    /// It stands below a key that no draft has: a schema only where a reference leads there.
    Doubtful,
    /// It is none.
    Unchecked,
}

/// A file that is rewritten.
struct Place<'a> {
    path: &'a str,
    /// Pointer of the place it is put; empty for the root.
    prefix: &'a str,
    old_draft: bool,
    /// Its own URI; empty where it has none.
    uri: String,
    /// The URIs of its parts.
    uris: BTreeSet<String>,
}

impl<'a> Place<'a> {
    fn new(node: &Node, path: &'a str, prefix: &'a str) -> Self {
        let old_draft = is_old_draft(node);
        let uri = identifier(node, "", old_draft).unwrap_or_default();
        let mut uris = BTreeSet::new();
        collect_uris(node, "", old_draft, &mut uris);
        Self { path, prefix, old_draft, uri, uris }
    }
}

/// Where in a file.
struct At<'a> {
    place: &'a Place<'a>,
    /// The URI that references are relative to.
    base: String,
    /// Whether that is the URI of a part, so that `#` means the part.
    in_part: bool,
}

impl<'a> At<'a> {
    fn the_root(place: &'a Place<'a>) -> Self {
        Self { place, base: place.uri.clone(), in_part: false }
    }
}

/// The URI that a schema gives itself, seen from `base`.
fn identifier(node: &Node, base: &str, old_draft: bool) -> Option<String> {
    let id = ["$id", "id"].iter().find_map(|keyword| {
        // Where `id` names a property's type or the like, it is no string.
        node.get(keyword).and_then(Node::as_str).filter(|_| *keyword == "$id" || old_draft)
    })?;
    let is_anchor = id.starts_with('#') || (old_draft && node.get("$ref").is_some());
    (!is_anchor).then(|| resolve(base, id.split('#').next().unwrap_or_default()))
}

/// The URIs of a schema and of its parts.
fn collect_uris(node: &Node, base: &str, old_draft: bool, uris: &mut BTreeSet<String>) {
    if let Some(items) = node.as_sequence() {
        items.iter().for_each(|item| collect_uris(item, base, old_draft, uris));
    }
    let Some(entries) = node.as_mapping() else { return };
    let own = identifier(node, base, old_draft);
    let base = own.as_deref().unwrap_or(base);
    uris.extend(own.clone());
    for (keyword, value) in entries {
        match holds(&keyword.value) {
            Holds::Data => {}
            Holds::Schemas => collect_uris(value, base, old_draft, uris),
            Holds::Named => {
                let named = value.as_mapping().into_iter().flatten();
                named.for_each(|(_, schema)| collect_uris(schema, base, old_draft, uris));
            }
        }
    }
}

/// Every keyword of the drafts that are read, annotations included.
const KEYWORDS: [&str; 64] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
];

fn is_known(keyword: &str) -> bool {
    KEYWORDS.contains(&keyword) || keyword.starts_with("x-")
}

/// A keyword that no draft has asserts nothing. One that is almost known was meant to, where it stands in a schema.
fn check_keyword(key: &Spanned<String>, keywords: Keywords, diagnostics: &mut Vec<Diagnostic>) {
    if is_known(&key.value) || keywords == Keywords::Unchecked {
        return;
    }
    let folded = key.value.replace(['_', '-'], "");
    let near = nearest(&key.value, KEYWORDS)
        .or_else(|| nearest(&folded, KEYWORDS))
        .or_else(|| KEYWORDS.into_iter().find(|known| known.eq_ignore_ascii_case(&folded)));
    diagnostics.push(match near {
        Some(near) if keywords == Keywords::Doubtful && !near.starts_with('$') => Diagnostic::new(
            &code::UNKNOWN_KEYWORD,
            format!("`{}` is no keyword of JSON Schema and limits nothing", key.value),
        )
        .label(key.span, did_you_mean(Some(near), ""))
        .help("move schemas under `$defs`, where keywords are checked"),
        Some(_) | None if keywords == Keywords::Doubtful => return,
        Some(near) => Diagnostic::new(
            &code::MISSPELT_KEYWORD,
            format!("`{}` is no keyword of JSON Schema and limits nothing", key.value),
        )
        .label(key.span, did_you_mean(Some(near), ""))
        .help(format!("write `{near}`, or begin the key with `x-` to carry it along")),
        None => Diagnostic::new(
            &code::UNKNOWN_KEYWORD,
            format!("`{}` is no keyword of JSON Schema and limits nothing", key.value),
        )
        .label(key.span, "carried, never enforced")
        .help("begin the key with `x-` to say that it is meant as a note"),
    });
}

/// What the value of a keyword holds.
enum Holds {
    /// A schema, or a list of schemas.
    Schemas,
    /// Schemas by name.
    Named,
    /// No schema: taken as it is.
    Data,
}

fn holds(keyword: &str) -> Holds {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => Holds::Named,
        "enum" | "const" | "default" | "examples" | "example" | "required" | "dependentRequired" | "type" => {
            Holds::Data
        }
        keyword if keyword.starts_with("x-") => Holds::Data,
        _ => Holds::Schemas,
    }
}

impl Bundler<'_> {
    fn rewrite(&mut self, node: &Node, at: &At<'_>) -> Value {
        match identifier(node, &at.base, at.place.old_draft) {
            Some(base) => self.rewrite_at(node, &At { place: at.place, base, in_part: true }),
            None => self.rewrite_at(node, at),
        }
    }

    /// The schema at `node`, whose own URI is in `at` already.
    fn rewrite_at(&mut self, node: &Node, at: &At<'_>) -> Value {
        use crate::node::NodeValue;
        match &node.value {
            NodeValue::Sequence(items) => {
                Value::Array(items.iter().map(|item| self.rewrite(item, at)).collect())
            }
            NodeValue::Mapping(entries) => {
                entries.iter().map(|(key, value)| (key.value.clone(), self.member(key, value, at))).collect()
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::String(_) => {
                node.to_json()
            }
        }
    }

    /// The value of one keyword.
    fn member(&mut self, key: &Spanned<String>, value: &Node, at: &At<'_>) -> Value {
        let keyword = key.value.as_str();
        let is_embedded = !at.place.prefix.is_empty();
        if is_embedded && !at.in_part && ["$anchor", "$dynamicAnchor"].contains(&keyword) {
            self.diagnostics.push(
                Diagnostic::new(&code::UNSUPPORTED_SCHEMA, "an anchor in a file that another one includes")
                    .label(key.span, "could mean two places")
                    .help(
                        "refer to the place by its pointer, such as `#/$defs/amount`, and remove the anchor",
                    ),
            );
        }
        check_keyword(key, self.keywords, self.diagnostics);
        match (keyword, value.as_str()) {
            ("$ref" | "$dynamicRef", Some(reference)) => {
                return Value::String(self.reference(reference, value.span, at));
            }
            // The URI that it is relative to is that of the file, which the whole does not have.
            ("$id" | "id", Some(id))
                if is_embedded
                    && at.in_part
                    && !id.starts_with('#')
                    && (keyword == "$id" || at.place.old_draft) =>
            {
                return Value::String(at.base.clone());
            }
            _ => {}
        }
        match holds(keyword) {
            Holds::Data => {
                if ["enum", "const", "default"].contains(&keyword) {
                    refuse_ambiguous(value, self.diagnostics);
                }
                value.to_json()
            }
            Holds::Schemas if is_known(keyword) => self.rewrite(value, at),
            Holds::Schemas => {
                let below = if keyword == "discriminator" { Keywords::Unchecked } else { Keywords::Doubtful };
                let above = self.keywords;
                if above != Keywords::Unchecked {
                    self.keywords = below;
                }
                let rewritten = self.rewrite(value, at);
                self.keywords = above;
                rewritten
            }
            Holds::Named => self.rewrite_named(value, at),
        }
    }

    fn rewrite_named(&mut self, node: &Node, at: &At<'_>) -> Value {
        let Some(entries) = node.as_mapping() else { return node.to_json() };
        entries.iter().map(|(name, schema)| (name.value.clone(), self.rewrite(schema, at))).collect()
    }

    /// The reference as it is written in the bundled schema. One that cannot be followed stays, reported.
    fn reference(&mut self, reference: &str, span: Span, at: &At<'_>) -> String {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let place = at.place;
        if file.is_empty() {
            return if !at.in_part && (fragment.is_empty() || fragment.starts_with('/')) {
                format!("#{}{fragment}", place.prefix)
            } else {
                reference.to_owned()
            };
        }
        let uri = resolve(&at.base, file);
        if place.uris.contains(&uri) {
            return if place.prefix.is_empty() {
                reference.to_owned()
            } else if uri == place.uri && !at.in_part {
                format!("#{}{fragment}", place.prefix)
            } else {
                reference.replacen(file, &uri, 1)
            };
        }
        if has_scheme(file) {
            self.diagnostics.push(
                Diagnostic::new(&code::REMOTE_REF, format!("`{reference}` is outside the bundle"))
                    .label(span, "never fetched")
                    .help("save that schema as a file of the bundle and refer to it by its relative path"),
            );
            return reference.to_owned();
        }
        let Some(target) = join(place.path, file) else {
            self.diagnostics.push(
                Diagnostic::new(&code::OUTSIDE_BUNDLE, format!("`{reference}` leaves the bundle"))
                    .label(span, "outside the bundle")
                    .help("copy the schema into the bundle"),
            );
            return reference.to_owned();
        };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            self.diagnostics.push(
                Diagnostic::new(
                    &code::UNSUPPORTED_SCHEMA,
                    format!("`{reference}` names an anchor of another file"),
                )
                .label(span, "anchors are local to one file")
                .help(format!("point into the file: `{file}#/$defs/{fragment}`")),
            );
            return reference.to_owned();
        }
        if at.in_part {
            self.diagnostics.push(
                Diagnostic::new(
                    &code::UNSUPPORTED_SCHEMA,
                    format!("`{reference}` names a file from a part that has an `$id` of its own"),
                )
                .label(span, "relative to that `$id`, not to the file")
                .help("remove the `$id` of the part, or copy the file into `$defs` with its `$id`"),
            );
            return reference.to_owned();
        }
        if target == self.root {
            return format!("#{fragment}");
        }
        if let Some(prefix) = self.prefixes.get(&target) {
            return format!("#{prefix}{fragment}");
        }
        let Some(node) = (self.open)(&target, span) else { return reference.to_owned() };
        let key = self.free_key(&target);
        let prefix = format!("/{}/{}", escape(self.definitions), escape(&key));
        self.prefixes.insert(target.clone(), prefix.clone());
        self.waiting.push((target, key, node));
        format!("#{prefix}{fragment}")
    }

    fn free_key(&mut self, path: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("schema");
        let mut key = stem.to_owned();
        let mut n_tries = 1_u32;
        while self.taken.binary_search(&key).is_ok() {
            n_tries += 1;
            key = format!("{stem}-{n_tries}");
        }
        let at = self.taken.partition_point(|taken| *taken < key);
        self.taken.insert(at, key.clone());
        key
    }
}

/// Whether a reference begins with a URI scheme. One letter is a drive, not a scheme.
fn has_scheme(text: &str) -> bool {
    text.starts_with("//")
        || text.split_once(':').is_some_and(|(scheme, _)| {
            scheme.len() > 1
                && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        })
}

/// A URI as seen from `base` (RFC 3986, section 5.2, for what has a hierarchy).
fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    if base.is_empty() || has_scheme(reference) {
        return reference.to_owned();
    }
    let authority_end = base.find("://").map_or(0, |at| {
        let path = base.char_indices().find(|(index, c)| *index >= at + 3 && *c == '/');
        path.map_or(base.len(), |(index, _)| index)
    });
    let (authority, path) = base.split_at_checked(authority_end).unwrap_or((base, ""));
    if reference.starts_with('/') {
        return format!("{authority}{reference}");
    }
    let mut segments: Vec<&str> = path.split('/').collect();
    segments.pop();
    if segments.is_empty() && !authority.is_empty() {
        segments.push("");
    }
    for segment in reference.split('/') {
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    format!("{authority}{}", segments.join("/"))
}

/// `relative` as seen from the file `from`; `None` where that leaves the bundle.
fn join(from: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') || relative.contains(['\\', ':']) {
        return None;
    }
    let mut directory: Vec<&str> = from.split('/').collect();
    directory.pop();
    steps(directory, relative).map(|steps| steps.join("/"))
}
