//! From a document of a dialect to a manifest: normalised, with the contents of its files.
//!
//! Not here: what references mean. A manifest is the result of one document and the files it includes.

mod agent;
mod head;
mod policy;
mod tool;

use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{
    Document, PolicyReference, SchemaObject, VersionTag, read_document,
};
use bailiwick_bundles::{
    Decoder, Diagnostic, Folder, Node, NodeValue, RefKind, SchemaSource, Spanned, code, credential_shape,
    escape,
};
use serde_json::{Map, Value};

use crate::manifest::{Ask, Home, Manifest};
use crate::session::Session;

/// The folder a document lies in, and how its file references are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The bundle or catalog.
    pub folder: &'a Folder,
    /// Which of them it is.
    pub home: &'a Home,
    /// The document's file, from `folder`.
    pub path: &'a str,
}

impl Place<'_> {
    /// A file reference as a path from the folder. In a bundle references are bundle-relative; a document of a
    /// catalog has no bundle, so its references are relative to itself.
    fn resolve(&self, reference: &str) -> String {
        match (self.home, self.path.rsplit_once('/')) {
            // A leading slash is refused as it stands, not hidden behind the document's folder.
            (Home::Catalog(_), Some(_)) if reference.starts_with('/') => reference.to_owned(),
            (Home::Catalog(_), Some((parent, _))) => format!("{parent}/{reference}"),
            (Home::Catalog(_), None) | (Home::Bundle, _) => reference.to_owned(),
        }
    }
}

/// Reads and lowers one document. `Bundle` documents have no manifest: they only name a root.
pub(crate) fn lower(session: &mut Session, place: Place<'_>, node: &Node) -> Option<Manifest> {
    let document = decode(session, node)?;
    let mut content = Content { value: node.to_json() };
    match &document {
        Document::Agent(agent) => {
            agent::lower(session, place, agent, &mut content).map(|agent| Manifest::Agent(Arc::new(agent)))
        }
        Document::Tool(tool) => {
            tool::lower(session, place, tool, &mut content).map(|tool| Manifest::Tool(Arc::new(tool)))
        }
        Document::Policy(policy) => {
            policy::lower(session, place, policy, &content).map(|policy| Manifest::Policy(Arc::new(policy)))
        }
        Document::Bundle(_) => None,
    }
}

/// Reads one document; `None` where a fault left nothing of it.
pub(crate) fn decode(session: &mut Session, node: &Node) -> Option<Document> {
    let mut decoder = Decoder::new(&session.sources);
    let document = read_document(node, &mut decoder);
    let mut found = decoder.diagnostics;
    session.diagnostics.append(&mut found);
    document
}

/// The document as JSON, in which file references are replaced by what is in the files.
struct Content {
    value: Value,
}

impl Content {
    /// Puts `value` at `pointer`.
    fn set(&mut self, pointer: &str, value: Value) {
        if let Some(place) = self.value.pointer_mut(pointer) {
            *place = value;
        }
    }

    /// Replaces the map at `pointer` by `{key: value}`.
    fn replace(&mut self, pointer: &str, key: &str, value: Value) {
        if let Some(place) = self.value.pointer_mut(pointer) {
            *place = Value::Object(Map::from_iter([(key.to_owned(), value)]));
        }
    }
}

/// The schema of a schema object at `pointer` of the document. `None` only where an error was said: a schema that is
/// lost would grant more than was written.
fn schema(
    session: &mut Session,
    place: Place<'_>,
    object: &SchemaObject,
    pointer: &str,
    content: &mut Content,
) -> Option<Arc<SchemaSource>> {
    let origin = session.origin(object.span());
    let found = read_schema(session, place, object, pointer, content);
    session.or_refuse(found, origin, "the schema")
}

fn read_schema(
    session: &mut Session,
    place: Place<'_>,
    object: &SchemaObject,
    pointer: &str,
    content: &mut Content,
) -> Option<Arc<SchemaSource>> {
    let source = match object {
        SchemaObject::Inline { schema, .. } => {
            session.bundle_schema(place.folder, place.path, &Arc::new(schema.clone()))
        }
        SchemaObject::File { reference, version, .. } => {
            let path = find(session, place, reference, version.as_ref(), RefKind::Schema)?;
            let read = session.parse(place.folder, &path, Some(reference.span))?;
            let node = session.only_document(&read, reference.span)?;
            session.bundle_schema(place.folder, &path, &node)
        }
    };
    content.replace(pointer, "inline", source.value().clone());
    let origin = session.origin(object.span());
    session.compile(&source, origin)?;
    Some(Arc::new(source))
}

/// The path of a file reference.
fn find(
    session: &mut Session,
    place: Place<'_>,
    reference: &Spanned<String>,
    version: Option<&Spanned<VersionTag>>,
    kind: RefKind,
) -> Option<String> {
    let wanted = place.resolve(&reference.value);
    match place.folder.find(&wanted, version.map(|version| version.value.0.as_str()), kind) {
        Ok(path) => Some(path),
        Err(fault) => {
            session.file_fault(&fault, &wanted, Some(reference.span));
            None
        }
    }
}

/// The text of an instructions file: plain text, or a YAML string, or a YAML map with `text`.
fn instructions_file(
    session: &mut Session,
    place: Place<'_>,
    reference: &Spanned<String>,
    version: Option<&Spanned<VersionTag>>,
) -> Option<String> {
    let path = find(session, place, reference, version, RefKind::Instructions)?;
    refuse_credential_in(session, place, &path, reference.span);
    let is_yaml = ["yaml", "yml"].iter().any(|end| crate::session::has_extension(&path, end));
    if !is_yaml {
        return session
            .read(place.folder, &path, Some(reference.span))?
            .text
            .map(|text| text.as_ref().to_owned());
    }
    let read = session.parse(place.folder, &path, Some(reference.span))?;
    let node = session.only_document(&read, reference.span)?;
    let text = match &node.value {
        NodeValue::Mapping(entries) => {
            for (key, _) in
                entries.iter().filter(|(key, _)| key.value != "text" && !key.value.starts_with("x-"))
            {
                session.push(
                    Diagnostic::new(
                        &code::UNKNOWN_FIELD,
                        format!("unknown field `{}` in instructions", key.value),
                    )
                    .label(key.span, "not known")
                    .help("an instructions file is a string, or a map with `text`"),
                );
            }
            node.get("text").and_then(Node::as_str)
        }
        NodeValue::String(_) => node.as_str(),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Sequence(_) => None,
    };
    if text.is_none() {
        session.push(
            Diagnostic::new(&code::WRONG_TYPE, format!("expected instructions, found {}", node.describe()))
                .label(node.span, "should be a string, or a map with a string `text`")
                .label(reference.span, "referred to here"),
        );
    }
    text.map(str::to_owned)
}

/// A prompt is frozen into the snapshot, so a credential in it would be published.
fn refuse_credential_in(session: &mut Session, place: Place<'_>, path: &str, asked: bailiwick_bundles::Span) {
    let Some(read) = session.read(place.folder, path, Some(asked)) else { return };
    if let Some(what) = read.text.as_ref().and_then(|text| credential_shape(text)) {
        session.push(
            Diagnostic::new(
                &code::LOOKS_LIKE_CREDENTIAL,
                format!("the instructions hold what looks like {what}"),
            )
            .label(asked, "would be published with the snapshot")
            .help("remove it and revoke it; name secrets under `secrets` with `fromEnv`"),
        );
    }
}

/// References to policies.
fn policies(session: &mut Session, references: &[Spanned<PolicyReference>]) -> Vec<Ask> {
    references
        .iter()
        .map(|reference| Ask {
            reference: reference.value.reference().clone(),
            origin: session.origin(reference.span),
        })
        .collect()
}

/// A JSON pointer into the document.
fn pointer(steps: &[&str]) -> String {
    steps.iter().fold(String::new(), |pointer, step| pointer + "/" + &escape(step))
}

fn value<T: Copy>(field: Option<&Spanned<T>>) -> Option<T> {
    field.map(|field| field.value)
}

/// Identity and evidence of a Bundle document.
pub(crate) fn bundle_head(
    session: &mut Session,
    place: Place<'_>,
    document: &bailiwick_bundles::documents::phrony::BundleDocument,
    node: &Node,
) -> Option<crate::manifest::Head> {
    head::lower(session, place, &document.metadata, &node.to_json())
}
