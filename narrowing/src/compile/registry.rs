//! Identifiers and anchors of one document, and what a reference points to.
//!
//! Nothing outside the document exists: a reference that leaves it is an error that says how to bundle its target.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::dialect::Dialect;
use crate::error::{SchemaError, SchemaErrorKind};
use crate::keyword::each_subschema;
use crate::node::escaped;

#[derive(Debug)]
pub(super) struct Registry<'v> {
    resources: Vec<Resource<'v>>,
    /// Resources by the address of their root.
    roots: HashMap<usize, usize>,
    n_dynamic: BTreeMap<String, u32>,
    n_recursive: u32,
}

#[derive(Debug)]
struct Resource<'v> {
    uri: String,
    value: &'v Value,
    dialect: Dialect,
    anchors: BTreeMap<&'v str, &'v Value>,
    /// Steps from the document root.
    steps: Vec<String>,
}

/// What a reference points to.
pub(super) struct Target<'v> {
    pub(super) value: &'v Value,
    pub(super) resource: usize,
    pub(super) dialect: Dialect,
    /// Steps from the document root.
    pub(super) steps: Vec<String>,
}

type Fault = (SchemaErrorKind, String);

impl<'v> Registry<'v> {
    pub(super) fn scan(value: &'v Value, dialect: Dialect) -> Result<Self, SchemaError> {
        let mut registry =
            Self { resources: Vec::new(), roots: HashMap::new(), n_dynamic: BTreeMap::new(), n_recursive: 0 };
        registry.add(value, String::new(), dialect);
        registry.visit(value, 0, true)?;
        Ok(registry)
    }

    /// The resource that begins at `value`, if one does.
    pub(super) fn resource_at(&self, value: &Value) -> Option<(usize, Dialect)> {
        let resource = *self.roots.get(&std::ptr::from_ref(value).addr())?;
        self.resources.get(resource).map(|found| (resource, found.dialect))
    }

    /// Whether `$dynamicRef` to this anchor can only ever mean one place.
    pub(super) fn is_static(&self, anchor: &str) -> bool {
        self.n_dynamic.get(anchor).is_none_or(|n| *n == 1)
    }

    /// Whether `$recursiveRef` can only ever mean the resource it stands in.
    pub(super) fn recursion_is_static(&self) -> bool {
        self.n_recursive == 0 || self.resources.len() == 1
    }

    pub(super) fn resolve(&self, reference: &str, from: usize) -> Result<Target<'v>, Fault> {
        let (location, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let missing = || {
            (
                SchemaErrorKind::UnresolvedReference,
                format!("`{reference}` points to nothing in this document"),
            )
        };
        let resource = if location.is_empty() {
            from
        } else {
            let base = self.resources.get(from).map_or("", |resource| resource.uri.as_str());
            let uri = join(base, location);
            let found =
                self.resources.iter().position(|resource| !resource.uri.is_empty() && resource.uri == uri);
            found.ok_or_else(|| {
                let message = format!(
                    "`{reference}` is outside this document and is never fetched: copy it into `$defs` with its `$id`"
                );
                (SchemaErrorKind::RemoteReference, message)
            })?
        };
        let root = self.resources.get(resource).ok_or_else(missing)?;
        let fragment = unescape_percent(fragment).ok_or_else(missing)?;
        let mut target =
            Target { value: root.value, resource, dialect: root.dialect, steps: root.steps.clone() };
        if fragment.is_empty() {
            return Ok(target);
        }
        if !fragment.starts_with('/') {
            target.value = root.anchors.get(fragment.as_str()).copied().ok_or_else(missing)?;
            return Ok(target);
        }
        for step in fragment.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            target.value = match target.value {
                Value::Object(object) => object.get(&step),
                Value::Array(items) => step.parse::<usize>().ok().and_then(|at| items.get(at)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            }
            .ok_or_else(missing)?;
            if let Some((resource, dialect)) = self.resource_at(target.value) {
                target.resource = resource;
                target.dialect = dialect;
            }
            target.steps.push(step);
        }
        Ok(target)
    }

    fn add(&mut self, value: &'v Value, uri: String, dialect: Dialect) -> usize {
        let resource = self.resources.len();
        self.resources.push(Resource { uri, value, dialect, anchors: BTreeMap::new(), steps: Vec::new() });
        self.roots.insert(std::ptr::from_ref(value).addr(), resource);
        resource
    }

    fn visit(&mut self, value: &'v Value, mut resource: usize, is_root: bool) -> Result<(), SchemaError> {
        let Value::Object(object) = value else { return Ok(()) };
        let mut dialect =
            self.resources.get(resource).map_or(Dialect::Draft2020, |resource| resource.dialect);
        // A resource inside may be written in another draft, which decides how it is identified.
        if !is_root && object.contains_key("$schema") {
            dialect = Dialect::of(value)
                .map_err(|error| SchemaError { pointer: self.pointer(value) + &error.pointer, ..error })?;
        }
        let is_old = dialect <= Dialect::Draft07;
        let starts_resource = ["id", "$id"].iter().any(|keyword| {
            object.get(*keyword).and_then(Value::as_str).is_some_and(|id| !id.starts_with('#'))
        });
        if !is_root && object.contains_key("$schema") && !starts_resource {
            let message = "`$schema` stands in a part that has no `$id` of its own: remove it";
            return Err(SchemaError::new(
                SchemaErrorKind::Invalid,
                self.pointer(value) + "/$schema",
                message,
            ));
        }
        let keyword = if dialect == Dialect::Draft04 { "id" } else { "$id" };
        let id =
            object.get(keyword).and_then(Value::as_str).filter(|_| !is_old || !object.contains_key("$ref"));
        if let Some(id) = id {
            if let Some(anchor) = id.strip_prefix('#').filter(|_| is_old) {
                self.anchor(resource, anchor, value)?;
            } else {
                if !is_plain(id) {
                    let message =
                        format!("`{id}` is written in a way that others read as another identifier");
                    let pointer = format!("{}/{keyword}", self.pointer(value));
                    return Err(SchemaError::new(SchemaErrorKind::Invalid, pointer, message));
                }
                let base = self.resources.get(resource).map_or("", |resource| resource.uri.as_str());
                let uri = join(base, id.split('#').next().unwrap_or_default());
                if is_root {
                    if let Some(root) = self.resources.get_mut(resource) {
                        root.uri = uri;
                    }
                } else {
                    let is_another = |known: &Resource<'_>| {
                        is_same(&known.uri, &uri) && !uri.is_empty() && known.value != value
                    };
                    if self.resources.iter().any(is_another) {
                        let message = format!("`{uri}` is the `{keyword}` of two parts: rename one");
                        let pointer = format!("{}/{keyword}", self.pointer(value));
                        return Err(SchemaError::new(SchemaErrorKind::Invalid, pointer, message));
                    }
                    resource = self.add(value, uri, dialect);
                }
            }
        }
        if dialect >= Dialect::Draft2019 {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(Value::String(anchor)) = object.get(keyword) {
                    self.anchor(resource, anchor, value)?;
                }
            }
        }
        if let Some(Value::String(anchor)) = object.get("$dynamicAnchor") {
            *self.n_dynamic.entry(anchor.clone()).or_default() += 1;
        }
        if object.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.n_recursive += 1;
        }
        let mut outcome = Ok(());
        each_subschema(object, |value| {
            if outcome.is_ok() {
                outcome = self.visit(value, resource, false);
            }
        });
        outcome
    }

    /// The place of a part of the document. Looked for only when it is at fault.
    fn pointer(&self, part: &Value) -> String {
        self.resources.first().and_then(|root| pointer_to(root.value, part)).unwrap_or_default()
    }

    fn anchor(&mut self, resource: usize, anchor: &'v str, value: &'v Value) -> Result<(), SchemaError> {
        let Some(found) = self.resources.get_mut(resource) else { return Ok(()) };
        // One place may be an `$anchor` and a `$dynamicAnchor`; two places may not share a name.
        match found.anchors.insert(anchor, value) {
            Some(other) if !std::ptr::eq(other, value) => {
                let message = format!("the anchor `{anchor}` stands in two places: rename one");
                Err(SchemaError::new(SchemaErrorKind::Invalid, self.pointer(value), message))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Whether an identifier has but one spelling. A validator that undoes `%41` or `/../` would find two parts under one
/// name, and take another one than is taken here.
fn is_plain(id: &str) -> bool {
    !id.contains('%') && !id.split('/').any(|segment| segment == "." || segment == "..")
}

/// Whether two identifiers may be one to somebody.
fn is_same(a: &str, b: &str) -> bool {
    a.trim_end_matches('/').eq_ignore_ascii_case(b.trim_end_matches('/'))
}

/// The JSON pointer from `value` to the part of it that `part` is, by address.
fn pointer_to(value: &Value, part: &Value) -> Option<String> {
    if std::ptr::eq(value, part) {
        return Some(String::new());
    }
    match value {
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(at, item)| Some(format!("/{at}{}", pointer_to(item, part)?)))
        }
        Value::Object(object) => object
            .iter()
            .find_map(|(name, item)| Some(format!("/{}{}", escaped(name), pointer_to(item, part)?))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// A relative reference against a base, as RFC 3986 section 5.2 does it for hierarchical URIs.
fn join(base: &str, location: &str) -> String {
    let has_scheme = location.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|read| read.is_ascii_alphanumeric() || "+-.".contains(read))
    });
    if has_scheme || base.is_empty() || location.is_empty() {
        return if location.is_empty() { base.to_owned() } else { location.to_owned() };
    }
    let authority_end = base.find("://").map_or(0, |at| {
        let after = at + 3;
        base.get(after..).and_then(|rest| rest.find('/')).map_or(base.len(), |slash| after + slash)
    });
    let (authority, path) = base.split_at_checked(authority_end).unwrap_or((base, ""));
    if location.starts_with('/') {
        return format!("{authority}{location}");
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut segments: Vec<&str> = folder.split('/').collect();
    for segment in location.split('/') {
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

fn unescape_percent(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
