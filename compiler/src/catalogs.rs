//! Catalogs: what there is beside the bundle, in which versions.
//!
//! A catalog is opened when the first reference into one of its namespaces is resolved. Of a directory catalog every
//! document is indexed by its `metadata`, and only what is chosen is read in full. A document that cannot be indexed
//! is a fault, not a version less: a missing version would change what is pinned.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::Kind;
use bailiwick_bundles::{
    BoundaryId, CatalogPlace, Diagnostic, Digest, Folder, LogicalId, Name, Node, Span, Version, code, nearest,
};
use bailiwick_snapshots::{ArtifactKind, Entry, Snapshot, Store, StoreError};
use camino::Utf8Path;

use crate::bundle::Environment;
use crate::lower::{Place, lower};
use crate::manifest::{Home, Manifest};
use crate::session::Session;
use crate::source::StorePlace;
use crate::thaw::{Thawed, thaw};

/// The annotation that withdraws a version.
pub(crate) const YANKED: &str = "bailiwick.dev/yanked";

/// One version of one document.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// What it is.
    pub kind: Kind,
    /// Its version.
    pub version: Version,
    /// Why it was withdrawn.
    pub yanked: Option<String>,
    /// The boundaries that it implements, if it is a Policy.
    pub implements: Vec<BoundaryId>,
    place: CandidatePlace,
}

#[derive(Clone, Debug)]
enum CandidatePlace {
    File { path: String, node: Arc<Node> },
    Stored(Digest),
}

/// What a catalog gives for a candidate.
#[derive(Clone, Debug)]
pub(crate) enum Fetched {
    /// A document to compile.
    Manifest(Manifest),
    /// A closure that was compiled before, and its digest.
    Frozen(Arc<Snapshot>, Digest),
}

#[derive(Debug)]
enum Source {
    Directory(Folder),
    Store(Store, StorePlace),
    /// It could not be opened, which was said.
    Nothing,
}

#[derive(Debug)]
struct Catalog {
    source: Source,
    documents: BTreeMap<LogicalId, Vec<Candidate>>,
    fetched: BTreeMap<(Kind, LogicalId, Version), Option<Fetched>>,
}

/// The catalogs of one settings file.
#[derive(Debug)]
pub(crate) struct Catalogs {
    environment: Environment,
    open: BTreeMap<Arc<str>, Catalog>,
}

impl Catalogs {
    /// The catalogs that `environment` names, none of them opened.
    pub(crate) fn new(environment: Environment) -> Self {
        Self { environment, open: BTreeMap::new() }
    }

    /// The settings.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The catalog that owns a namespace, opened.
    pub(crate) fn owner(&mut self, session: &mut Session, namespace: &Name) -> Option<Arc<str>> {
        let (name, _) = self.environment.settings.owner_of(namespace)?;
        let name: Arc<str> = name.into();
        if !self.open.contains_key(&name) {
            let catalog = self.open_catalog(session, &name);
            self.open.insert(Arc::clone(&name), catalog);
        }
        Some(name)
    }

    /// Whether a catalog could be opened. Where not, that was said.
    pub(crate) fn is_open(&self, catalog: &str) -> bool {
        self.open.get(catalog).is_some_and(|catalog| !matches!(catalog.source, Source::Nothing))
    }

    /// The namespaces that have a catalog.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &Name> {
        self.environment
            .settings
            .catalogs
            .values()
            .flat_map(|catalog| &catalog.namespaces)
            .map(|name| &name.value)
    }

    /// All versions of a document, highest first.
    pub(crate) fn candidates(&self, catalog: &str, kind: Kind, id: &LogicalId) -> Vec<Candidate> {
        let all = self.open.get(catalog).and_then(|catalog| catalog.documents.get(id));
        let mut candidates: Vec<Candidate> =
            all.into_iter().flatten().filter(|candidate| candidate.kind == kind).cloned().collect();
        candidates.sort_by(|a, b| b.version.cmp_precedence(&a.version));
        candidates
    }

    /// The nearest id of a kind in a catalog.
    pub(crate) fn nearest(&self, catalog: &str, kind: Kind, id: &LogicalId) -> Option<String> {
        let documents = &self.open.get(catalog)?.documents;
        let ids: Vec<String> = documents
            .iter()
            .filter(|(_, candidates)| candidates.iter().any(|candidate| candidate.kind == kind))
            .map(|(id, _)| id.to_string())
            .collect();
        nearest(&id.to_string(), ids.iter().map(String::as_str)).map(str::to_owned)
    }

    /// The ids of the policies of a catalog that implement `boundary` in some version that can be pinned, or that is
    /// `pinned` already.
    pub(crate) fn implementing(
        &self,
        catalog: &str,
        boundary: &BoundaryId,
        pinned: &dyn Fn(&LogicalId, &Version) -> bool,
    ) -> Vec<LogicalId> {
        let counts = |id: &LogicalId, candidate: &Candidate| {
            let new = candidate.yanked.is_none() && !candidate.version.is_pre_release();
            candidate.implements.contains(boundary) && (new || pinned(id, &candidate.version))
        };
        self.open
            .get(catalog)
            .into_iter()
            .flat_map(|catalog| &catalog.documents)
            .filter(|(id, candidates)| candidates.iter().any(|candidate| counts(id, candidate)))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// Why a published candidate is withdrawn, by the annotation that it was published with.
    pub(crate) fn withdrawn(
        &mut self,
        session: &mut Session,
        name: &Arc<str>,
        id: &LogicalId,
        candidate: &Candidate,
    ) -> Option<String> {
        if !matches!(candidate.place, CandidatePlace::Stored(_)) {
            return None;
        }
        let evidence = match self.fetch(session, name, id, candidate)? {
            Fetched::Manifest(manifest) => manifest.head().evidence.clone(),
            Fetched::Frozen(snapshot, _) => snapshot.evidence.clone(),
        };
        evidence.annotations.get(YANKED).cloned()
    }

    /// Reads a candidate in full.
    pub(crate) fn fetch(
        &mut self,
        session: &mut Session,
        name: &Arc<str>,
        id: &LogicalId,
        candidate: &Candidate,
    ) -> Option<Fetched> {
        let catalog = self.open.get_mut(name)?;
        let key = (candidate.kind, id.clone(), candidate.version.clone());
        if let Some(fetched) = catalog.fetched.get(&key) {
            return fetched.clone();
        }
        let fetched = match (&catalog.source, &candidate.place) {
            (Source::Directory(folder), CandidatePlace::File { path, node }) => {
                let home = Home::Catalog(Arc::clone(name));
                lower(session, Place { folder, home: &home, path }, node).map(Fetched::Manifest)
            }
            (Source::Store(store, place), CandidatePlace::Stored(digest)) => {
                match crate::store::read_snapshot(store, digest, place) {
                    Ok(snapshot) if !is_what_was_asked(&snapshot, id, candidate) => {
                        session.push(crate::store::relabelled(
                            &snapshot,
                            &format!("{id}@{}", candidate.version),
                        ));
                        None
                    }
                    Ok(snapshot) => match thaw(snapshot, name) {
                        Ok(Thawed::Contract(manifest)) => Some(Fetched::Manifest(manifest)),
                        Ok(Thawed::Closure(snapshot)) => Some(Fetched::Frozen(snapshot, *digest)),
                        Err(reason) => {
                            let message =
                                format!("published `{id}` {} is damaged: {reason}", candidate.version);
                            session
                                .push(Diagnostic::new(&code::CORRUPT_BLOB, message).help("publish it anew"));
                            None
                        }
                    },
                    Err(diagnostic) => {
                        session.push(diagnostic);
                        None
                    }
                }
            }
            (Source::Directory(_) | Source::Store(..) | Source::Nothing, _) => None,
        };
        catalog.fetched.insert(key, fetched.clone());
        fetched
    }

    fn open_catalog(&self, session: &mut Session, name: &str) -> Catalog {
        let mut catalog =
            Catalog { source: Source::Nothing, documents: BTreeMap::new(), fetched: BTreeMap::new() };
        let Some(setting) = self.environment.settings.catalogs.get(name) else { return catalog };
        let (path, shown) = self.environment.resolve(setting.place.path());
        match &setting.place {
            CatalogPlace::Directory(_) => match Folder::open_as(&path, Utf8Path::new(&shown)) {
                Ok(folder) => {
                    index_directory(session, &folder, &mut catalog.documents, setting.span);
                    catalog.source = Source::Directory(folder);
                }
                Err(_) => missing(session, name, &shown, "directory", setting.span),
            },
            CatalogPlace::Store(_) => match Store::open(&path) {
                Ok(store) => {
                    let place = StorePlace { path, shown };
                    match store.entries() {
                        Ok(entries) => {
                            index_store(session, (&store, &place), &entries, &mut catalog.documents);
                        }
                        Err(error) => session.push(
                            crate::store::store_diagnostic(&error, &place)
                                .label(setting.span, format!("catalog `{name}`")),
                        ),
                    }
                    catalog.source = Source::Store(store, place);
                }
                Err(StoreError::NotAStore { .. }) => missing(session, name, &shown, "store", setting.span),
                Err(error) => session.push(
                    crate::store::store_diagnostic(&error, &StorePlace { path, shown })
                        .label(setting.span, format!("catalog `{name}`")),
                ),
            },
        }
        catalog
    }
}

/// The index of a store could be wrong where its blobs are right.
fn is_what_was_asked(snapshot: &Snapshot, id: &LogicalId, candidate: &Candidate) -> bool {
    snapshot.identity.id() == *id && snapshot.identity.version == candidate.version
}

fn missing(session: &mut Session, name: &str, shown: &str, what: &str, span: Span) {
    session.push(
        Diagnostic::new(
            &code::MISSING_CATALOG,
            format!("catalog `{name}` is not there: no {what} at `{shown}`"),
        )
        .label(span, "this catalog")
        .help("correct its place, which is relative to the settings file"),
    );
}

fn index_store(
    session: &mut Session,
    (store, place): (&Store, &StorePlace),
    entries: &[Entry],
    documents: &mut BTreeMap<LogicalId, Vec<Candidate>>,
) {
    for entry in entries {
        let (kind, implements) = match entry.kind {
            ArtifactKind::Agent | ArtifactKind::Bundle => (Kind::Agent, Vec::new()),
            ArtifactKind::Tool => (Kind::Tool, Vec::new()),
            ArtifactKind::Policy => match crate::store::read_snapshot(store, &entry.digest, place) {
                Ok(snapshot) => (Kind::Policy, boundaries(&snapshot)),
                Err(diagnostic) => {
                    session.push(diagnostic);
                    continue;
                }
            },
        };
        documents.entry(entry.id.clone()).or_default().push(Candidate {
            kind,
            version: entry.version.clone(),
            yanked: None,
            implements,
            place: CandidatePlace::Stored(entry.digest),
        });
    }
}

/// The boundaries that the policies of a snapshot implement.
fn boundaries(snapshot: &Snapshot) -> Vec<BoundaryId> {
    snapshot
        .policies
        .values()
        .flat_map(|record| record.rule.implements.iter().chain(record.rule.decision.authority_ref.as_ref()))
        .cloned()
        .collect()
}

fn index_directory(
    session: &mut Session,
    folder: &Folder,
    documents: &mut BTreeMap<LogicalId, Vec<Candidate>>,
    span: Span,
) {
    let paths = match folder.walk(&[]) {
        Ok(paths) => paths,
        Err(fault) => {
            session.file_fault(&fault, "", Some(span));
            return;
        }
    };
    let mut first_at: BTreeMap<(Kind, LogicalId, String), Span> = BTreeMap::new();
    for path in paths {
        let Some(nodes) = session.parse(folder, &path, None).and_then(|read| read.nodes) else { continue };
        for node in nodes.iter() {
            // A YAML file beside the documents, such as a schema, is not one of them.
            if !crate::bundle::is_document(node) {
                continue;
            }
            let Some((kind, id, version, span)) = header(session, node) else { continue };
            // Build metadata tells no two versions apart.
            let label = version.to_string();
            let key = (kind, id.clone(), label.split('+').next().unwrap_or_default().to_owned());
            if let Some(first) = first_at.insert(key, span) {
                session.push(
                    Diagnostic::new(
                        &code::DUPLICATE_VERSION,
                        format!("{kind} `{id}` {version} is there twice"),
                    )
                    .label(span, "again here")
                    .label(first, "first here")
                    .help("a published version never changes: publish the other one as a new version"),
                );
                continue;
            }
            documents.entry(id).or_default().push(Candidate {
                kind,
                version,
                yanked: yanked(node),
                implements: if kind == Kind::Policy { implements(node) } else { Vec::new() },
                place: CandidatePlace::File { path: path.clone(), node: Arc::clone(node) },
            });
        }
    }
}

/// Kind, id and version of a document. Where they cannot be read, reading it in full says why.
fn header(session: &mut Session, node: &Node) -> Option<(Kind, LogicalId, Version, Span)> {
    let read = || {
        let (kind, id) = crate::bundle::claimed(node)?;
        let version = node.pointer("/metadata/version")?;
        Some((kind, id, version.as_str()?.parse().ok()?, version.span))
    };
    let header = read();
    if header.is_none() {
        crate::lower::decode(session, node);
    }
    header
}

fn yanked(node: &Node) -> Option<String> {
    let annotations = node.pointer("/metadata/annotations")?;
    Some(annotations.get(YANKED)?.as_str().unwrap_or("no reason given").to_owned())
}

fn implements(node: &Node) -> Vec<BoundaryId> {
    let listed = node.pointer("/metadata/governance/authority_boundaries").and_then(Node::as_sequence);
    let by_decision = node.pointer("/spec/decision/authority_ref");
    listed.into_iter().flatten().chain(by_decision).filter_map(|node| node.as_str()?.parse().ok()).collect()
}
