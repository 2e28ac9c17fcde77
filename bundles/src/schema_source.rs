//! A JSON Schema as written, made self-contained.
//!
//! A local `$ref` to another file is replaced by a pointer into `$defs`, where that file's schema is put. A remote
//! `$ref` is never fetched. Every place in the result is known by its JSON pointer, so that a verdict about the
//! schema can point at the text it is about.
//!
//! Not here: whether the result is a valid schema, and what it means.

use std::collections::BTreeMap;
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
        };
        refuse_credentials_below(node, bundler.diagnostics);
        let mut value = bundler.rewrite(node, path, "");
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
            let mut embedded = bundler.rewrite(&other, &path, &prefix);
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

/// A keyword that no draft has asserts nothing. One that is almost known was meant to.
fn check_keyword(key: &Spanned<String>, diagnostics: &mut Vec<Diagnostic>) {
    if KEYWORDS.contains(&key.value.as_str()) || key.value.starts_with("x-") {
        return;
    }
    let folded = key.value.replace(['_', '-'], "");
    let near = nearest(&key.value, KEYWORDS)
        .or_else(|| nearest(&folded, KEYWORDS))
        .or_else(|| KEYWORDS.into_iter().find(|known| known.eq_ignore_ascii_case(&folded)));
    diagnostics.push(match near {
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
    /// The schema at `node` of file `path`, which is put at pointer `prefix`.
    fn rewrite(&mut self, node: &Node, path: &str, prefix: &str) -> Value {
        use crate::node::NodeValue;
        match &node.value {
            NodeValue::Sequence(items) => {
                Value::Array(items.iter().map(|item| self.rewrite(item, path, prefix)).collect())
            }
            NodeValue::Mapping(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for (key, value) in entries {
                    if !prefix.is_empty() && ["$anchor", "$dynamicAnchor"].contains(&key.value.as_str()) {
                        self.diagnostics.push(
                            Diagnostic::new(&code::UNSUPPORTED_SCHEMA, "an anchor in a file that another one includes")
                                .label(key.span, "could mean two places")
                                .help("refer to the place by its pointer, such as `#/$defs/amount`, and remove the anchor"),
                        );
                    }
                    check_keyword(key, self.diagnostics);
                    let rewritten = match (key.value.as_str(), value.as_str()) {
                        ("$ref" | "$dynamicRef", Some(reference)) => {
                            Value::String(self.reference(reference, value.span, path, prefix))
                        }
                        (keyword, _) => match holds(keyword) {
                            Holds::Data => {
                                if ["enum", "const", "default"].contains(&key.value.as_str()) {
                                    refuse_ambiguous(value, self.diagnostics);
                                }
                                value.to_json()
                            }
                            Holds::Schemas => self.rewrite(value, path, prefix),
                            Holds::Named => self.rewrite_named(value, path, prefix),
                        },
                    };
                    map.insert(key.value.clone(), rewritten);
                }
                Value::Object(map)
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::String(_) => {
                node.to_json()
            }
        }
    }

    fn rewrite_named(&mut self, node: &Node, path: &str, prefix: &str) -> Value {
        let Some(entries) = node.as_mapping() else { return node.to_json() };
        entries
            .iter()
            .map(|(name, schema)| (name.value.clone(), self.rewrite(schema, path, prefix)))
            .collect()
    }

    /// The reference as it is written in the bundled schema. One that cannot be followed stays, reported.
    fn reference(&mut self, reference: &str, span: Span, path: &str, prefix: &str) -> String {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if file.is_empty() {
            return if fragment.is_empty() || fragment.starts_with('/') {
                format!("#{prefix}{fragment}")
            } else {
                reference.to_owned()
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
        let Some(target) = join(path, file) else {
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

/// `relative` as seen from the file `from`; `None` where that leaves the bundle.
fn join(from: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') || relative.contains(['\\', ':']) {
        return None;
    }
    let mut directory: Vec<&str> = from.split('/').collect();
    directory.pop();
    steps(directory, relative).map(|steps| steps.join("/"))
}
