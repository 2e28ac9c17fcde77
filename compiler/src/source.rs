//! Snapshot sources: the ways in which a command can name a snapshot.
//!
//! A path that exists is compiled; `ns.name@1.2.0`, `ns.name@sha256:…` and `sha256:…` are looked up in the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_bundles::{Diagnostic, Digest, LogicalId, code, nearest};
use bailiwick_policy::PolicyId;
use bailiwick_snapshots::{Entry, Snapshot, Store};
use camino::{Utf8Path, Utf8PathBuf};

use crate::bundle::Environment;
use crate::manifest::PolicyManifest;
use crate::pipeline::{Compiled, LockMode, OpenCatalogs, compile};
use crate::session::Session;
use crate::store::{find_diagnostic, read_snapshot, relabelled, store_diagnostic};

/// A snapshot and its digest.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The digest of its canonical bytes.
    pub digest: Digest,
    /// The documents behind its policies, where it was compiled from files.
    pub policies: BTreeMap<PolicyId, Arc<PolicyManifest>>,
}

/// Where the store is.
#[derive(Clone, Debug)]
pub(crate) struct StorePlace {
    /// The directory.
    pub path: Utf8PathBuf,
    /// What messages call it.
    pub shown: String,
}

/// Where a store lies that nobody names: beside the settings, or in the working directory.
pub(crate) const DEFAULT_STORE: &str = ".bailiwick/store";

/// The store to use: the one that was named, the settings' one, or the default.
pub(crate) fn store_place(named: Option<&Utf8Path>, environment: &Environment, cwd: &Utf8Path) -> StorePlace {
    if let Some(named) = named {
        return StorePlace { path: cwd.join(named), shown: named.to_string() };
    }
    let path = environment.settings.store.as_deref().unwrap_or(Utf8Path::new(DEFAULT_STORE));
    if environment.settings.folder.is_none() {
        return StorePlace { path: cwd.join(path), shown: path.to_string() };
    }
    let (path, shown) = environment.resolve(path);
    StorePlace { path, shown }
}

/// Whether `text` names a file or directory rather than something in the store.
pub(crate) fn is_path(text: &str, cwd: &Utf8Path) -> bool {
    !text.starts_with("sha256:")
        && (text.contains(['/', '\\']) || cwd.join(text).exists() || text.starts_with('.'))
}

/// Loads what `text` names. `None` where that failed, which was said.
pub(crate) fn load(
    session: &mut Session,
    text: &str,
    named: Option<&Utf8Path>,
    cwd: &Utf8Path,
) -> Option<Loaded> {
    if is_path(text, cwd) {
        let mut open = OpenCatalogs::default();
        let compiled: Compiled =
            compile(session, &mut open, Utf8Path::new(text), cwd, &LockMode::Keep).compiled?;
        let policies = compiled.checked.narrowed().program().policy_manifests.clone();
        return Some(Loaded { snapshot: compiled.snapshot, digest: compiled.digest, policies });
    }
    let environment = Environment::find(session, cwd, cwd);
    let place = store_place(named, &environment, cwd);
    let found = Store::open(&place.path)
        .map_err(|error| store_diagnostic(&error, &place))
        .and_then(|store| look_up(&store, text, &place).map(|digest| (store, digest)))
        .and_then(|(store, digest)| {
            let snapshot = read_snapshot(&store, &digest, &place)?;
            let (id, version) = (snapshot.identity.id(), snapshot.identity.version.clone());
            let asked = text.split_once('@').filter(|_| !text.starts_with("sha256:"));
            let called = asked.map_or(text, |(id, _)| id);
            let label = asked.and_then(|(_, label)| label.parse::<bailiwick_bundles::Version>().ok());
            let is_other = label.is_some_and(|label| label != version);
            if is_other || (!text.starts_with("sha256:") && id.to_string() != called) {
                return Err(relabelled(&snapshot, text));
            }
            Ok(Loaded { snapshot, digest, policies: BTreeMap::new() })
        });
    match found {
        Ok(loaded) => Some(loaded),
        Err(diagnostic) => {
            session.push(diagnostic);
            None
        }
    }
}

fn look_up(store: &Store, text: &str, place: &StorePlace) -> Result<Digest, Diagnostic> {
    if text.starts_with("sha256:") {
        return store.find(text).map(|entry| entry.digest).map_err(|error| find_diagnostic(&error, place));
    }
    let (id, label) = text.split_once('@').map_or((text, None), |(id, label)| (id, Some(label)));
    let entries = store.entries().map_err(|error| store_diagnostic(&error, place))?;
    let known: Vec<&Entry> = id
        .parse::<LogicalId>()
        .map_or_else(|_| Vec::new(), |id| entries.iter().filter(|entry| entry.id == id).collect());
    if known.is_empty() {
        let ids: Vec<String> = entries.iter().map(|entry| entry.id.to_string()).collect();
        let near = nearest(id, ids.iter().map(String::as_str));
        let message = format!("`{id}` is neither a path nor published in `{}`", place.shown);
        return Err(Diagnostic::new(&code::SOURCE_NOT_FOUND, message).help(near.map_or_else(
            || {
                "name a bundle's path, `namespace.name@version`, or `sha256:` and at least 12 digits"
                    .to_owned()
            },
            |near| format!("did you mean `{near}`?"),
        )));
    }
    let fits = |entry: &&&Entry| match label {
        None => true,
        Some(label) if label.starts_with("sha256:") => {
            label.len() >= "sha256:".len() + 12 && entry.digest.to_string().starts_with(label)
        }
        Some(label) => {
            label.parse().is_ok_and(|version: bailiwick_bundles::Version| entry.version == version)
        }
    };
    let matching: Vec<&&Entry> = known.iter().filter(fits).collect();
    let versions = || known.iter().map(|entry| entry.version.to_string()).collect::<Vec<_>>().join(" · ");
    match matching.as_slice() {
        [only] => Ok(only.digest),
        [] => Err(Diagnostic::new(
            &code::SOURCE_NOT_FOUND,
            format!("`{text}` is not published in `{}`", place.shown),
        )
        .note(format!("`{id}` is there as {}", versions()))),
        [..] => {
            Err(Diagnostic::new(&code::AMBIGUOUS_SOURCE, format!("`{text}` is published more than once"))
                .note(format!("`{id}` is there as {}", versions()))
                .help(format!("name one version: `{id}@…`")))
        }
    }
}
