//! The bundle that is compiled: where it is, what its root is, and which documents lie in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{Document, Kind};
use bailiwick_bundles::{
    Diagnostic, Folder, LogicalId, Node, RefKind, SETTINGS_FILE, Settings, Span, Spanned, code,
    find_settings, nearest,
};
use bailiwick_snapshots::ArtifactKind;
use camino::{Utf8Path, Utf8PathBuf};

use crate::lower::{Place, decode, lower};
use crate::manifest::{Home, Manifest};
use crate::session::Session;

/// The files that a bundle's root is looked for in, in this order.
const ENTRIES: [&str; 2] = ["bundle.yaml", "agent.yaml"];

/// A bundle, read and lowered.
#[derive(Debug)]
pub struct Bundle {
    /// Its directory.
    pub folder: Arc<Folder>,
    /// What it publishes as.
    pub kind: ArtifactKind,
    /// The file it was entered by.
    pub entry: String,
    /// The document that names it: a Bundle, or the root itself.
    pub named_by: Named,
    /// The root, where it could be read.
    pub root: Option<Manifest>,
    /// Every other document, by kind and id.
    pub documents: BTreeMap<(Kind, LogicalId), Manifest>,
    /// The same, by file.
    pub files: BTreeMap<String, Vec<Manifest>>,
    /// Documents that are there and were refused, which was said.
    pub refused: BTreeSet<(Kind, LogicalId)>,
    /// Whether something was refused of which it is not known what it is: then nothing is known to be missing.
    pub has_unknown: bool,
}

/// Identity and evidence of the published document.
#[derive(Debug)]
pub enum Named {
    /// By a Bundle document.
    Bundle(Box<crate::manifest::Head>),
    /// By the root.
    Root,
}

/// Settings and where they were found.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// What they say.
    pub settings: Settings,
    /// Their folder, as messages call it; empty for the working directory.
    pub shown: String,
}

impl Environment {
    /// The settings at or above `folder`, which the user calls `shown`.
    pub fn find(session: &mut Session, folder: &Utf8Path, cwd: &Utf8Path) -> Self {
        let Some(path) = find_settings(folder) else { return Self::default() };
        let above = path.parent().unwrap_or(folder).to_owned();
        let shown = shown_path(&above, cwd);
        let name =
            if shown.is_empty() { SETTINGS_FILE.to_owned() } else { format!("{shown}/{SETTINGS_FILE}") };
        let settings = match Folder::open_as(&above, Utf8Path::new(&shown)) {
            Ok(root) => match session.read(&root, SETTINGS_FILE, None) {
                Some(read) => match &read.text {
                    Some(text) => Settings::parse(read.file, text, &above, &mut session.diagnostics),
                    None => Settings::default(),
                },
                None => Settings::default(),
            },
            Err(fault) => {
                session.file_fault(&fault, &name, None);
                Settings::default()
            }
        };
        Self { settings, shown }
    }

    /// A path of the settings file, absolute and as messages call it.
    pub fn resolve(&self, path: &Utf8Path) -> (Utf8PathBuf, String) {
        let folder = self.settings.folder.clone().unwrap_or_default();
        let shown = if path.is_absolute() || self.shown.is_empty() {
            path.as_str().trim_start_matches("./").to_owned()
        } else {
            format!("{}/{}", self.shown, path.as_str().trim_start_matches("./"))
        };
        (folder.join(path), shown)
    }
}

/// `path` as seen from the working directory where it lies in it, else as it is; with `/` between its parts.
pub(crate) fn shown_path(path: &Utf8Path, cwd: &Utf8Path) -> String {
    path.strip_prefix(cwd).map_or_else(|_| path.to_string(), ToString::to_string).replace('\\', "/")
}

/// What a path names.
#[derive(Debug)]
pub(crate) struct Entered {
    /// The directory.
    pub folder: Arc<Folder>,
    /// The file in it.
    pub entry: String,
}

/// Finds the bundle at `path`: a directory with one of [`ENTRIES`], or a document file.
pub(crate) fn enter(session: &mut Session, path: &Utf8Path, cwd: &Utf8Path) -> Option<Entered> {
    let absolute = cwd.join(path);
    let no_bundle = |session: &mut Session, message: String, help: &str| {
        let shown = path.as_str().replace('\\', "/");
        let span = Span::of_file(session.sources.add(shown, ""));
        session.push(Diagnostic::new(&code::NO_BUNDLE, message).label(span, "").help(help));
        None
    };
    if absolute.is_dir() {
        let shown = path.as_str().trim_end_matches('/').replace('\\', "/");
        let folder = Arc::new(match Folder::open_as(&absolute, Utf8Path::new(&shown)) {
            Ok(folder) => folder,
            Err(fault) => {
                session.file_fault(&fault, &shown, None);
                return None;
            }
        });
        for entry in ENTRIES {
            if absolute.join(entry).symlink_metadata().is_ok() {
                return Some(Entered { folder, entry: entry.to_owned() });
            }
        }
        return no_bundle(
            session,
            format!("`{path}` holds no bundle"),
            "name a directory with `bundle.yaml` or `agent.yaml`, or such a file; `bailiwick init` makes one",
        );
    }
    let (parent, name) = (path.parent().unwrap_or(Utf8Path::new("")), path.file_name());
    let (Some(name), Ok(_)) = (name, absolute.symlink_metadata()) else {
        return no_bundle(
            session,
            format!("there is nothing at `{path}`"),
            "name a directory with `bundle.yaml` or `agent.yaml`, or such a file",
        );
    };
    // A document of a bundle is read from the bundle's root, since its file references start there.
    let mut root = parent.to_owned();
    let mut entry = name.to_owned();
    if !ENTRIES.contains(&name) {
        let base = cwd.join(parent);
        let holds_entry = |folder: &Utf8Path| ENTRIES.iter().any(|entry| folder.join(entry).is_file());
        let above = base.ancestors().enumerate().find(|(_, folder)| holds_entry(folder));
        if let Some((n_levels, folder)) = above
            && let Ok(inner) = base.join(name).strip_prefix(folder)
        {
            entry = inner.as_str().replace('\\', "/");
            root = (0..n_levels).fold(root, |root, _| up(&root));
        }
    }
    let shown = root.as_str().replace('\\', "/");
    match Folder::open_as(&cwd.join(&root), Utf8Path::new(&shown)) {
        Ok(folder) => Some(Entered { folder: Arc::new(folder), entry }),
        Err(fault) => {
            session.file_fault(&fault, path.as_str(), None);
            None
        }
    }
}

/// The folder above one, as a user would write it.
fn up(folder: &Utf8Path) -> Utf8PathBuf {
    match folder.file_name() {
        Some(_) => folder.parent().unwrap_or(Utf8Path::new("")).to_owned(),
        None => folder.join(".."),
    }
}

/// Reads and lowers every document of a bundle. `skip` are directories that belong to somebody else.
pub(crate) fn read(session: &mut Session, entered: Entered, skip: &[Utf8PathBuf]) -> Option<Bundle> {
    let Entered { folder, entry } = entered;
    let first = session.parse(&folder, &entry, None)?;
    let nodes = first.nodes.clone()?;
    let home = Home::Bundle;
    let mut bundle = Bundle {
        kind: ArtifactKind::Agent,
        named_by: Named::Root,
        root: None,
        documents: BTreeMap::new(),
        files: BTreeMap::new(),
        refused: BTreeSet::new(),
        has_unknown: false,
        entry: entry.clone(),
        folder,
    };
    let folder = Arc::clone(&bundle.folder);
    // A contract stands for itself: what lies beside it is none of its business.
    let is_contract = |node: &Arc<Node>| is_kind(node, Kind::Tool) || is_kind(node, Kind::Policy);
    let mut paths = if !nodes.is_empty() && nodes.iter().all(is_contract) {
        Vec::new()
    } else {
        match folder.walk(skip) {
            Ok(paths) => without_links(&folder, paths),
            Err(fault) => {
                session.file_fault(&fault, &folder.display(&entry), None);
                return None;
            }
        }
    };
    if !paths.contains(&entry) {
        paths.insert(0, entry.clone());
    }
    let mut root_path = None;
    for path in paths {
        let before = session.diagnostics.len();
        let read =
            if path == entry { Some(first.clone()) } else { read_document_file(session, &folder, &path) };
        let nodes = read.and_then(|read| read.nodes).unwrap_or_default();
        bundle.has_unknown |= nodes.is_empty() && session.diagnostics.len() > before;
        for node in nodes.iter() {
            if path != entry && !is_document(node) {
                continue;
            }
            let place = Place { folder: &folder, home: &home, path: &path };
            if path == entry && is_kind(node, Kind::Bundle) {
                root_path = read_bundle_document(session, place, node, &mut bundle).or(root_path);
            } else if let Some(manifest) = lower(session, place, node) {
                bundle.add(session, &path, manifest);
            } else {
                bundle.refuse(node);
            }
        }
    }
    if nodes.is_empty() && !session.has_said(first.file) {
        session.push(
            Diagnostic::new(&code::EMPTY_DOCUMENT, "the file holds no document")
                .label(Span::of_file(first.file), "nothing here")
                .help("begin with `apiVersion: phrony.com/v1` and a `kind`"),
        );
    }
    bundle.root = match (bundle.kind, root_path) {
        (ArtifactKind::Bundle, Some(root)) => {
            let origin = session.origin(root.span);
            let found = bundle.find_root(session, &root);
            session.or_refuse(found, origin, "the root")
        }
        (ArtifactKind::Bundle, None) => None,
        (ArtifactKind::Agent | ArtifactKind::Tool | ArtifactKind::Policy, _) => {
            bundle.entry_document(session, &first)
        }
    };
    Some(bundle)
}

/// Leaves out a link to a file that is there under its own name.
fn without_links(folder: &Folder, paths: Vec<String>) -> Vec<String> {
    let own: BTreeSet<String> = paths.iter().cloned().collect();
    let target = |path: &String| {
        let target = folder.root().join(path).canonicalize_utf8().ok()?;
        Some(target.strip_prefix(folder.root()).ok()?.as_str().replace('\\', "/"))
    };
    let is_double =
        |path: &String| target(path).is_some_and(|target| target != *path && own.contains(&target));
    paths.into_iter().filter(|path| !is_double(path)).collect()
}

/// Reads a file that the walk found, if it holds documents: another YAML file of a bundle is none of our business.
fn read_document_file(
    session: &mut Session,
    folder: &Folder,
    path: &str,
) -> Option<crate::session::ReadFile> {
    // Anywhere: in flow style the key may stand behind others, on a line of all.
    let claims = |text: &str| {
        text.match_indices("apiVersion").any(|(at, key)| {
            let rest = text.get(at + key.len()..).unwrap_or("");
            rest.trim_start_matches(['"', '\'', ' ', '\t']).starts_with(':')
        })
    };
    let read = session.read(folder, path, None)?;
    let text = read.text.as_ref()?;
    if !claims(text) && !["kind", "metadata"].iter().any(|key| text.contains(key)) {
        return None;
    }
    let before = session.diagnostics.len();
    let parsed = session.parse(folder, path, None)?;
    let nodes = parsed.nodes.as_ref()?;
    if claims(text) || nodes.iter().any(|node| is_document(node)) {
        return Some(parsed);
    }
    // What another program's file does wrong is not ours to say.
    session.diagnostics.truncate(before);
    session.forget(folder, path);
    None
}

/// Whether a tree is meant as a document, be it with a typing error in one of its keys.
pub(crate) fn is_document(node: &Node) -> bool {
    let has = |key: &str| node.get(key).is_some();
    has("apiVersion") || (has("kind") && (has("metadata") || has("spec"))) || (has("metadata") && has("spec"))
}

/// What a document says it is; `None` where that cannot be read.
pub(crate) fn claimed(node: &Node) -> Option<(Kind, LogicalId)> {
    let text = |pointer: &str| node.pointer(pointer).and_then(Node::as_str);
    let kind = Kind::from_word(text("/kind")?)?;
    let (namespace, name) = (text("/metadata/namespace")?, text("/metadata/name")?);
    Some((kind, LogicalId::new(namespace.parse().ok()?, name.parse().ok()?)))
}

fn is_kind(node: &Node, kind: Kind) -> bool {
    node.get("kind").and_then(Node::as_str) == Some(kind.as_str())
}

/// Reads the Bundle document and gives the path of its root.
fn read_bundle_document(
    session: &mut Session,
    place: Place<'_>,
    node: &Node,
    bundle: &mut Bundle,
) -> Option<Spanned<String>> {
    let again = bundle.kind == ArtifactKind::Bundle;
    bundle.kind = ArtifactKind::Bundle;
    let Document::Bundle(document) = decode(session, node)? else { return None };
    if again {
        session.push(
            Diagnostic::new(&code::DUPLICATE_DOCUMENT, "the file holds two Bundles")
                .label(document.metadata.name.span, "again here")
                .help("keep the one that is meant"),
        );
        return None;
    }
    if let Some(head) = crate::lower::bundle_head(session, place, &document, node) {
        bundle.named_by = Named::Bundle(Box::new(head));
    }
    Some(document.spec.root)
}

impl Bundle {
    /// Whether it was entered by its own entry file, not by one document of it. Only then the lock is about it.
    pub(crate) fn is_whole(&self) -> bool {
        ENTRIES.contains(&self.entry.as_str())
    }

    /// Notes a document that could not be lowered.
    fn refuse(&mut self, node: &Node) {
        match claimed(node) {
            Some(key) => drop(self.refused.insert(key)),
            None => self.has_unknown = true,
        }
    }

    fn add(&mut self, session: &mut Session, path: &str, manifest: Manifest) {
        let key = (manifest.kind(), manifest.head().id.clone());
        if let Some(first) = self.documents.get(&key) {
            let (kind, id) = &key;
            let diagnostic =
                Diagnostic::new(&code::DUPLICATE_DOCUMENT, format!("two {kind}s are called `{id}`"));
            let diagnostic = session.label(diagnostic, manifest.head().origin, "again here");
            let diagnostic = session.label(diagnostic, first.head().origin, "first here");
            session.push(diagnostic.help("rename one of them, or remove it from the bundle"));
        } else {
            self.documents.insert(key, manifest.clone());
        }
        self.files.entry(path.to_owned()).or_default().push(manifest);
    }

    fn find_root(&self, session: &mut Session, root: &Spanned<String>) -> Option<Manifest> {
        let path = match self.folder.find(&root.value, None, RefKind::Document) {
            Ok(path) => path,
            Err(fault) => {
                session.file_fault(&fault, &root.value, Some(root.span));
                return None;
            }
        };
        self.document_at(session, &path, Kind::Agent, root.span)
    }

    /// The one document of `kind` in a file of the bundle.
    pub fn document_at(
        &self,
        session: &mut Session,
        path: &str,
        kind: Kind,
        asked: Span,
    ) -> Option<Manifest> {
        let lowered;
        let documents = match self.files.get(path) {
            Some(documents) => documents.as_slice(),
            // The walk did not take it for a document, or it lies where the walk does not look.
            None => {
                lowered = self.lower_file(session, path, asked)?;
                lowered.as_slice()
            }
        };
        let mut matching = documents.iter().filter(|manifest| manifest.kind() == kind);
        match (matching.next(), matching.next()) {
            (Some(only), None) => Some(only.clone()),
            (Some(first), Some(second)) => {
                let diagnostic =
                    Diagnostic::new(&code::WRONG_KIND, format!("`{path}` holds more than one {kind}"))
                        .label(asked, "which one?");
                let diagnostic = session.label(diagnostic, first.head().origin, "one");
                let diagnostic = session.label(diagnostic, second.head().origin, "another");
                session.push(diagnostic.help("refer to it by `namespace.name`"));
                None
            }
            (None, _) => {
                let found = documents.first().map(|manifest| (manifest.kind(), manifest.head().origin));
                if let Some((found, origin)) = found {
                    let diagnostic = Diagnostic::new(
                        &code::WRONG_KIND,
                        format!("`{path}` is {}, not {}", named(found), named(kind)),
                    )
                    .label(asked, format!("should be {}", named(kind)));
                    let diagnostic = session.label(diagnostic, origin, named(found));
                    session.push(diagnostic);
                }
                None
            }
        }
    }

    /// Every document of a file that is referred to by its path.
    fn lower_file(&self, session: &mut Session, path: &str, asked: Span) -> Option<Vec<Manifest>> {
        let read = session.parse(&self.folder, path, Some(asked))?;
        let nodes = read.nodes.clone()?;
        if nodes.is_empty() && !session.has_said(read.file) {
            session.push(
                Diagnostic::new(&code::EMPTY_DOCUMENT, "the file holds no document")
                    .label(Span::of_file(read.file), "nothing here")
                    .label(asked, "refers to it"),
            );
        }
        let place = Place { folder: &self.folder, home: &Home::Bundle, path };
        Some(nodes.iter().filter_map(|node| lower(session, place, node)).collect())
    }

    /// The document of the entry file, for a bundle that no Bundle document names.
    fn entry_document(
        &mut self,
        session: &mut Session,
        first: &crate::session::ReadFile,
    ) -> Option<Manifest> {
        let documents = self.files.get(&self.entry)?;
        let agents: Vec<&Manifest> =
            documents.iter().filter(|manifest| manifest.kind() == Kind::Agent).collect();
        let root = match (agents.as_slice(), documents.as_slice()) {
            ([agent], _) => (*agent).clone(),
            ([], [contract]) => contract.clone(),
            ([] | [_, _, ..], _) => {
                session.push(
                    Diagnostic::new(
                        &code::WRONG_KIND,
                        format!("`{}` does not say what to publish", self.entry),
                    )
                    .label(Span::of_file(first.file), "holds several documents")
                    .help("keep one Agent, Tool or Policy in the file, or add a Bundle that names the root"),
                );
                return None;
            }
        };
        self.kind = match root {
            Manifest::Agent(_) => ArtifactKind::Agent,
            Manifest::Tool(_) => ArtifactKind::Tool,
            Manifest::Policy(_) => ArtifactKind::Policy,
        };
        Some(root)
    }

    /// The document called `id`.
    pub fn find(&self, kind: Kind, id: &LogicalId) -> Option<&Manifest> {
        self.documents.get(&(kind, id.clone()))
    }

    /// The nearest id of a kind.
    pub fn nearest(&self, kind: Kind, id: &LogicalId) -> Option<String> {
        let ids: Vec<String> =
            self.documents.keys().filter(|(known, _)| *known == kind).map(|(_, id)| id.to_string()).collect();
        nearest(&id.to_string(), ids.iter().map(String::as_str)).map(str::to_owned)
    }
}

impl Manifest {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Agent(_) => Kind::Agent,
            Self::Tool(_) => Kind::Tool,
            Self::Policy(_) => Kind::Policy,
        }
    }
}

/// A kind with its article.
pub(crate) fn named(kind: Kind) -> &'static str {
    match kind {
        Kind::Agent => "an Agent",
        Kind::Tool => "a Tool",
        Kind::Policy => "a Policy",
        Kind::Bundle => "a Bundle",
    }
}
