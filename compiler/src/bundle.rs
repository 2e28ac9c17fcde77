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
    let root = if ENTRIES.contains(&name) {
        parent
    } else {
        let holds_entry =
            |folder: &&Utf8Path| ENTRIES.iter().any(|entry| cwd.join(folder).join(entry).is_file());
        parent.ancestors().find(holds_entry).unwrap_or(parent)
    };
    let shown = root.as_str().replace('\\', "/");
    let entry =
        path.strip_prefix(root).map_or_else(|_| name.to_owned(), |path| path.as_str().replace('\\', "/"));
    match Folder::open_as(&cwd.join(root), Utf8Path::new(&shown)) {
        Ok(folder) => Some(Entered { folder: Arc::new(folder), entry }),
        Err(fault) => {
            session.file_fault(&fault, path.as_str(), None);
            None
        }
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
    let mut paths = match folder.walk(skip) {
        Ok(paths) => paths,
        Err(fault) => {
            session.file_fault(&fault, &entry, None);
            return None;
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
            if path != entry && node.get("apiVersion").is_none() && node.get("kind").is_none() {
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
        (ArtifactKind::Bundle, Some(root)) => bundle.find_root(session, &root),
        (ArtifactKind::Bundle, None) => None,
        (ArtifactKind::Agent | ArtifactKind::Tool | ArtifactKind::Policy, _) => {
            bundle.entry_document(session, &first)
        }
    };
    Some(bundle)
}

/// Reads a file that the walk found, if it holds documents: another YAML file of a bundle is none of our business.
fn read_document_file(
    session: &mut Session,
    folder: &Folder,
    path: &str,
) -> Option<crate::session::ReadFile> {
    // Anywhere: in flow style the key may stand behind others, on a line of all.
    let looks_like_document = |text: &str| {
        text.match_indices("apiVersion").any(|(at, key)| {
            let rest = text.get(at + key.len()..).unwrap_or("");
            rest.trim_start_matches(['"', '\'', ' ']).starts_with(':')
        })
    };
    let read = session.read(folder, path, None)?;
    if !read.text.as_ref().is_some_and(|text| looks_like_document(text)) {
        return None;
    }
    session.parse(folder, path, None)
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
    bundle.kind = ArtifactKind::Bundle;
    let Document::Bundle(document) = decode(session, node)? else { return None };
    if let Some(head) = crate::lower::bundle_head(session, place, &document, node) {
        bundle.named_by = Named::Bundle(Box::new(head));
    }
    Some(document.spec.root)
}

impl Bundle {
    /// Notes a document that could not be lowered.
    fn refuse(&mut self, node: &Node) {
        let text = |pointer: &str| node.pointer(pointer).and_then(Node::as_str);
        let read = || {
            let kind = Kind::from_word(text("/kind")?)?;
            let (namespace, name) = (text("/metadata/namespace")?, text("/metadata/name")?);
            Some((kind, LogicalId::new(namespace.parse().ok()?, name.parse().ok()?)))
        };
        match read() {
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
                    let diagnostic =
                        Diagnostic::new(&code::WRONG_KIND, format!("`{path}` is a {found}, not a {kind}"))
                            .label(asked, format!("should be a {kind}"));
                    let diagnostic = session.label(diagnostic, origin, format!("a {found}"));
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
