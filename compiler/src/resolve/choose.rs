//! One reference, one document.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{Kind, Reference};
use bailiwick_bundles::{
    Constraint, Diagnostic, Digest, LogicalId, Mismatch, RefKind, Version, code, did_you_mean,
};

use super::{Choice, PassedOver, ResolveOptions};
use crate::bundle::{Bundle, named};
use crate::catalogs::{Candidate, Catalogs, Fetched};
use crate::manifest::{Ask, Home, Manifest};
use crate::origin::Origin;
use crate::session::Session;

/// Kind, id and constraint of a choice, and whether the bundle was looked into: what is pinned as one.
type ChoiceKey = (Kind, LogicalId, Option<String>, bool);

/// Resolves single references and remembers what was chosen.
pub(super) struct Chooser<'a> {
    pub(super) session: &'a mut Session,
    pub(super) bundle: &'a Bundle,
    pub(super) catalogs: &'a mut Catalogs,
    options: &'a ResolveOptions,
    choices: BTreeMap<ChoiceKey, (Choice, Fetched)>,
    /// Documents that are referred to by path, or are the root.
    members: BTreeMap<(Kind, LogicalId, Version), Choice>,
    /// What each document of the closure holds, and who asked for it first.
    contents: BTreeMap<(Kind, LogicalId, Version), (Digest, Home, Origin)>,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        bundle: &'a Bundle,
        catalogs: &'a mut Catalogs,
        options: &'a ResolveOptions,
    ) -> Self {
        Self {
            session,
            bundle,
            catalogs,
            options,
            choices: BTreeMap::new(),
            members: BTreeMap::new(),
            contents: BTreeMap::new(),
        }
    }

    /// Everything that was chosen, sorted.
    pub(super) fn finish(self) -> Vec<Choice> {
        let mut choices: Vec<Choice> = self.choices.into_values().map(|(choice, _)| choice).collect();
        choices.extend(self.members.into_values());
        choices.sort_by(|a, b| {
            (&a.id, a.kind, &a.version, &a.constraint, a.by_name).cmp(&(
                &b.id,
                b.kind,
                &b.version,
                &b.constraint,
                b.by_name,
            ))
        });
        choices
    }

    /// Notes a document of the bundle that no version was chosen for.
    pub(super) fn member(&mut self, manifest: &Manifest, asked: Origin) {
        let head = manifest.head();
        let key = (manifest.kind(), head.id.clone(), head.version.clone());
        let choice = self.members.entry(key).or_insert_with(|| Choice {
            kind: manifest.kind(),
            id: head.id.clone(),
            constraint: None,
            by_name: false,
            version: head.version.clone(),
            home: head.home.clone(),
            content_hash: head.content_hash,
            asked_at: Vec::new(),
            passed_over: Vec::new(),
            locked: false,
            moved_from: None,
        });
        choice.asked_at.push(asked);
        let choice = choice.clone();
        self.one_content(&choice, asked);
    }

    /// The document that `ask`, which stands in a document of `home`, refers to. Faults are said.
    pub(super) fn choose(&mut self, ask: &Ask, kind: Kind, home: &Home) -> Option<Fetched> {
        let found = self.find(ask, kind, home).filter(|found| fits(found, kind));
        self.session.or_refuse(found, ask.origin, &format!("`{}`", ask.reference.target()))
    }

    fn find(&mut self, ask: &Ask, kind: Kind, home: &Home) -> Option<Fetched> {
        match &ask.reference {
            Reference::Path(path) => self.by_path(path, kind, home, ask.origin).map(Fetched::Manifest),
            Reference::Logical { id, constraint } => {
                self.by_name(id, constraint.as_ref(), kind, home, ask.origin)
            }
        }
    }

    fn by_path(&mut self, path: &str, kind: Kind, home: &Home, origin: Origin) -> Option<Manifest> {
        let asked = self.session.origins.span(origin)?;
        if *home != Home::Bundle {
            self.session.push(
                Diagnostic::new(
                    &code::REF_NOT_FOUND,
                    format!("`{path}` is a path in a document of a catalog"),
                )
                .label(asked, "there is no bundle around it")
                .help("refer to it by `namespace.name@constraint`"),
            );
            return None;
        }
        let found = match self.bundle.folder.find(path, None, RefKind::Document) {
            Ok(found) => found,
            Err(fault) => {
                self.session.file_fault(&fault, path, Some(asked));
                return None;
            }
        };
        let manifest = self.bundle.document_at(self.session, &found, kind, asked)?;
        self.member(&manifest, origin);
        Some(manifest)
    }

    fn by_name(
        &mut self,
        id: &LogicalId,
        constraint: Option<&Constraint>,
        kind: Kind,
        home: &Home,
        origin: Origin,
    ) -> Option<Fetched> {
        let key = (kind, id.clone(), constraint.map(ToString::to_string), *home == Home::Bundle);
        if let Some((choice, fetched)) = self.choices.get_mut(&key) {
            choice.asked_at.push(origin);
            return Some(fetched.clone());
        }
        let local = (*home == Home::Bundle).then(|| self.bundle.find(kind, id)).flatten().cloned();
        let (choice, fetched) = match local {
            Some(manifest) => self.local(&manifest, constraint, origin)?,
            // It is there, and what is wrong with it was said.
            None if *home == Home::Bundle && self.bundle.refused.contains(&(kind, id.clone())) => {
                return None;
            }
            None if *home == Home::Bundle && self.is_other_kind(id, kind, origin) => return None,
            None => self.in_catalog(id, constraint, kind, origin)?,
        };
        self.one_content(&choice, origin);
        self.choices.insert(key, (choice, fetched.clone()));
        Some(fetched)
    }

    /// Whether the bundle has the id as another kind of document, which is said.
    fn is_other_kind(&mut self, id: &LogicalId, kind: Kind, origin: Origin) -> bool {
        let mut other = [Kind::Agent, Kind::Tool, Kind::Policy].into_iter().filter(|other| *other != kind);
        let Some(found) = other.find_map(|other| self.bundle.find(other, id)) else { return false };
        let (found, at) = (found.kind(), found.head().origin);
        let diagnostic =
            Diagnostic::new(&code::WRONG_KIND, format!("`{id}` is {}, not {}", named(found), named(kind)));
        let diagnostic = self.session.label(diagnostic, origin, format!("should be {}", named(kind)));
        let diagnostic = self.session.label(diagnostic, at, named(found));
        self.session.push(diagnostic);
        true
    }

    fn local(
        &mut self,
        manifest: &Manifest,
        constraint: Option<&Constraint>,
        origin: Origin,
    ) -> Option<(Choice, Fetched)> {
        let head = manifest.head();
        if let Some(constraint) = constraint
            && let Some(mismatch) = constraint.why_not(&head.version)
        {
            let kind = manifest.kind();
            let why = reason(mismatch, constraint);
            let diagnostic = Diagnostic::new(
                &code::NO_MATCH,
                format!("no version of {} `{}` satisfies `{constraint}`", word(kind), head.id),
            );
            let diagnostic = self.session.label(diagnostic, origin, "asked for here");
            let diagnostic =
                self.session.label(diagnostic, head.origin, format!("the bundle has {}", head.version));
            self.session.push(diagnostic.note(format!("{} is passed over: {why}", head.version)).help(
                "a document of the bundle comes before the catalogs: change the constraint or the document",
            ));
            return None;
        }
        let choice = Choice {
            kind: manifest.kind(),
            id: head.id.clone(),
            constraint: constraint.map(ToString::to_string),
            by_name: true,
            version: head.version.clone(),
            home: Home::Bundle,
            content_hash: head.content_hash,
            asked_at: vec![origin],
            passed_over: Vec::new(),
            locked: false,
            moved_from: None,
        };
        Some((choice, Fetched::Manifest(manifest.clone())))
    }

    fn in_catalog(
        &mut self,
        id: &LogicalId,
        constraint: Option<&Constraint>,
        kind: Kind,
        origin: Origin,
    ) -> Option<(Choice, Fetched)> {
        let Some(catalog) = self.catalogs.owner(self.session, id.namespace()) else {
            self.no_catalog(id, kind, origin);
            return None;
        };
        let mut candidates = self.catalogs.candidates(&catalog, kind, id);
        if candidates.is_empty() {
            if !self.catalogs.is_open(&catalog) {
                return None;
            }
            let near = self.bundle.nearest(kind, id).or_else(|| self.catalogs.nearest(&catalog, kind, id));
            self.not_found(
                id,
                kind,
                origin,
                &format!("neither in the bundle nor in catalog `{catalog}`"),
                near.as_deref(),
            );
            return None;
        }
        let constraint_text = constraint.map_or_else(|| "*".to_owned(), ToString::to_string);
        let pinned = self.options.lock.pinned(kind, id, &constraint_text, constraint);
        let (mut chosen, mut passed_over) = pick(&candidates, constraint, pinned.as_ref());
        // Whether a published version is withdrawn is known when it is read.
        while let Some(candidate) = chosen
            && candidate.yanked.is_none()
            && pinned.as_ref() != Some(&candidate.version)
            && let Some(reason) = self.catalogs.withdrawn(self.session, &catalog, id, candidate)
        {
            let version = candidate.version.clone();
            for candidate in candidates.iter_mut().filter(|candidate| candidate.version == version) {
                candidate.yanked = Some(reason.clone());
            }
            (chosen, passed_over) = pick(&candidates, constraint, pinned.as_ref());
        }
        let Some(candidate) = chosen else {
            self.no_match(id, kind, constraint, &catalog, &passed_over, origin);
            return None;
        };
        let locked = pinned.as_ref() == Some(&candidate.version);
        if locked && let Some(why) = &candidate.yanked {
            let diagnostic = Diagnostic::new(
                &code::YANKED,
                format!("{} `{id}` {} was withdrawn: {why}", word(kind), candidate.version),
            );
            let diagnostic = self.session.label(diagnostic, origin, "still pinned by the lock");
            self.session
                .push(diagnostic.help(format!("move to another version: `bailiwick lock --update={id}`")));
        }
        let fetched = self.catalogs.fetch(self.session, &catalog, id, candidate)?;
        let content_hash = match &fetched {
            Fetched::Manifest(manifest) => manifest.head().content_hash,
            Fetched::Frozen(_, digest) => *digest,
        };
        let choice = Choice {
            kind,
            id: id.clone(),
            constraint: constraint.map(ToString::to_string),
            by_name: true,
            version: candidate.version.clone(),
            home: Home::Catalog(Arc::clone(&catalog)),
            content_hash,
            asked_at: vec![origin],
            passed_over,
            locked,
            moved_from: pinned.filter(|pinned| *pinned != candidate.version),
        };
        self.check_hash(&choice, origin);
        Some((choice, fetched))
    }

    /// A version that was published never changes, so another digest behind a pin is a fault of the catalog.
    fn check_hash(&mut self, choice: &Choice, origin: Origin) {
        let trusted = self.options.trust_all || self.options.trust.contains(&choice.id);
        let Some(block) = self.options.lock.block(choice.kind, &choice.id, &choice.version) else { return };
        if trusted || block.content_hash == choice.content_hash {
            return;
        }
        let diagnostic = Diagnostic::new(
            &code::HASH_MISMATCH,
            format!("{} `{}` {} is not what was locked", word(choice.kind), choice.id, choice.version),
        );
        let diagnostic = self.session.label(diagnostic, origin, "pinned here");
        self.session.push(
            diagnostic
                .note(format!("locked {}, found {} in {}", block.content_hash.short(), choice.content_hash.short(), choice.home))
                .help(format!(
                    "find out who changed a published version; to accept it, run `bailiwick lock --update={}`",
                    choice.id
                )),
        );
    }

    /// A key names one content: the same id and version from two places must be the same document.
    fn one_content(&mut self, choice: &Choice, origin: Origin) {
        let key = (choice.kind, choice.id.clone(), choice.version.clone());
        let here = (choice.content_hash, choice.home.clone(), origin);
        let Some((content, home, first)) = self.contents.insert(key, here) else { return };
        if content == choice.content_hash {
            return;
        }
        let message = format!(
            "{} `{}` {} is one document in {home} and another in {}",
            word(choice.kind),
            choice.id,
            choice.version,
            choice.home
        );
        let diagnostic = Diagnostic::new(&code::DUPLICATE_DOCUMENT, message);
        let diagnostic = self.session.label(diagnostic, origin, format!("found in {}", choice.home));
        let diagnostic = self.session.label(diagnostic, first, format!("found in {home}"));
        self.session.push(diagnostic.help("give the document of the bundle another id or version"));
    }

    fn no_catalog(&mut self, id: &LogicalId, kind: Kind, origin: Origin) {
        if self.bundle.has_unknown || self.catalogs.environment().settings.is_incomplete {
            return;
        }
        let namespace = id.namespace();
        if let Some(near) = self.bundle.nearest(kind, id) {
            self.not_found(id, kind, origin, "not in the bundle", Some(&near));
            return;
        }
        let known: Vec<String> = self.catalogs.namespaces().map(ToString::to_string).collect();
        let near = bailiwick_bundles::nearest(namespace.as_str(), known.iter().map(String::as_str));
        let diagnostic = Diagnostic::new(
            &code::UNKNOWN_NAMESPACE,
            format!("{} `{id}` is not in the bundle, and no catalog owns `{namespace}`", word(kind)),
        );
        let text = near.map_or("not found".to_owned(), |near| format!("did you mean namespace `{near}`?"));
        let diagnostic = self.session.label(diagnostic, origin, text);
        self.session.push(diagnostic.help(format!(
            "add the document to the bundle, or `{namespace}` to the `namespaces` of a catalog in `bailiwick.toml`"
        )));
    }

    fn not_found(&mut self, id: &LogicalId, kind: Kind, origin: Origin, place: &str, near: Option<&str>) {
        // It may be what could not be read.
        if self.bundle.has_unknown {
            return;
        }
        let diagnostic = Diagnostic::new(&code::REF_NOT_FOUND, format!("no {} is called `{id}`", word(kind)));
        let text = did_you_mean(near, "not found");
        let diagnostic = self.session.label(diagnostic, origin, text);
        self.session.push(diagnostic.note(format!("it is {place}")));
    }

    fn no_match(
        &mut self,
        id: &LogicalId,
        kind: Kind,
        constraint: Option<&Constraint>,
        catalog: &str,
        passed_over: &[PassedOver],
        origin: Origin,
    ) {
        let wanted =
            constraint.map_or_else(|| "any version".to_owned(), |constraint| format!("`{constraint}`"));
        let diagnostic = Diagnostic::new(
            &code::NO_MATCH,
            format!("no version of {} `{id}` satisfies {wanted}", word(kind)),
        );
        let diagnostic = self.session.label(diagnostic, origin, "asked for here");
        let list: Vec<String> =
            passed_over.iter().map(|passed| format!("{} {}", passed.version, passed.why)).collect();
        self.session.push(
            diagnostic
                .note(format!("catalog `{catalog}` has {}", list.join(" · ")))
                .help("widen the constraint, ask for the pre-release by name, or publish a version"),
        );
    }

    /// The policies that implement a boundary: those of the bundle, then those of the catalog that owns `namespace`.
    pub(super) fn implementing(
        &mut self,
        boundary: &bailiwick_bundles::BoundaryId,
        namespace: &bailiwick_bundles::Name,
        origin: Origin,
    ) -> Vec<Arc<crate::manifest::PolicyManifest>> {
        let in_bundle = self.bundle.documents.values().filter_map(|manifest| match manifest {
            Manifest::Policy(policy) if policy.policy.implements(boundary) => Some(policy.head.id.clone()),
            Manifest::Policy(_) | Manifest::Agent(_) | Manifest::Tool(_) => None,
        });
        let mut ids: Vec<(LogicalId, Home)> = in_bundle.map(|id| (id, Home::Bundle)).collect();
        // Of the document that names the boundary, and of the boundary itself where it is called `namespace.name`.
        let own = boundary.as_str().parse::<LogicalId>().ok().map(|id| id.namespace().clone());
        let mut catalogs: Vec<Arc<str>> = Vec::new();
        for namespace in std::iter::once(namespace).chain(own.as_ref()) {
            let owner = self.catalogs.owner(self.session, namespace);
            catalogs.extend(owner.filter(|owner| !catalogs.contains(owner)));
        }
        for catalog in catalogs {
            // A policy of the bundle adds to one of the catalog that has its id; it never replaces it.
            let home = Home::Catalog(Arc::clone(&catalog));
            let lock = &self.options.lock;
            let pinned = |id: &LogicalId, version: &Version| lock.block(Kind::Policy, id, version).is_some();
            let more = self.catalogs.implementing(&catalog, boundary, &pinned);
            ids.extend(more.into_iter().map(|id| (id, home.clone())));
        }
        ids.sort();
        ids.iter()
            .filter_map(|(id, home)| match self.by_name(id, None, Kind::Policy, home, origin)? {
                Fetched::Manifest(Manifest::Policy(policy)) if policy.policy.implements(boundary) => {
                    Some(policy)
                }
                Fetched::Manifest(_) | Fetched::Frozen(..) => None,
            })
            .collect()
    }
}

/// Whether what was found is of the kind that was asked for.
fn fits(found: &Fetched, kind: Kind) -> bool {
    match found {
        Fetched::Manifest(manifest) => manifest.kind() == kind,
        Fetched::Frozen(..) => kind == Kind::Agent,
    }
}

/// The candidate to take, and why each other one is not. `candidates` are sorted, highest first.
fn pick<'c>(
    candidates: &'c [Candidate],
    constraint: Option<&Constraint>,
    pinned: Option<&Version>,
) -> (Option<&'c Candidate>, Vec<PassedOver>) {
    let unfit = |candidate: &Candidate| -> Option<String> {
        match constraint {
            Some(constraint) => {
                constraint.why_not(&candidate.version).map(|mismatch| reason(mismatch, constraint))
            }
            None if candidate.version.is_pre_release() => Some("pre-release".to_owned()),
            None => None,
        }
    };
    let kept = candidates.iter().find(|candidate| {
        // A pin on a withdrawn version is kept; so is one on a pre-release that the constraint still allows.
        pinned == Some(&candidate.version) && unfit(candidate).is_none()
    });
    let chosen = kept.or_else(|| {
        candidates.iter().find(|candidate| candidate.yanked.is_none() && unfit(candidate).is_none())
    });
    let passed_over = candidates
        .iter()
        .filter(|candidate| chosen.is_none_or(|chosen| chosen.version != candidate.version))
        .map(|candidate| {
            let why = unfit(candidate)
                .or_else(|| candidate.yanked.as_ref().map(|why| format!("yanked: {why}")))
                .unwrap_or_else(|| {
                    let higher = chosen.is_some_and(|chosen| candidate.version > chosen.version);
                    if higher { "not locked".to_owned() } else { "lower".to_owned() }
                });
            PassedOver { version: candidate.version.clone(), why }
        })
        .collect();
    (chosen, passed_over)
}

fn reason(mismatch: Mismatch, constraint: &Constraint) -> String {
    match mismatch {
        Mismatch::PreRelease => "pre-release".to_owned(),
        Mismatch::Outside => format!("outside {constraint}"),
    }
}

/// The lower-case word for a kind.
pub(super) fn word(kind: Kind) -> String {
    kind.as_str().to_lowercase()
}
