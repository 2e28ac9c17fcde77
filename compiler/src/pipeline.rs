//! The stages in their order, from a path to a snapshot.

use bailiwick_bundles::{Code, Diagnostic, Digest, LogicalId, Span, code};
use bailiwick_snapshots::{CanonicalError, Snapshot};
use camino::{Utf8Path, Utf8PathBuf};

use crate::bundle::{self, Bundle, Environment};
use crate::catalogs::Catalogs;
use crate::check::{self, Checked};
use crate::emit::{EmitError, emit};
use crate::link::link;
use crate::lock::{self, LOCK_FILE, Lock};
use crate::narrow::narrow;
use crate::resolve::{Choice, ResolveOptions, resolve};
use crate::session::{ReadFile, Session};

/// What is done about the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Pins are kept while they satisfy.
    Keep,
    /// A lock that would change is an error.
    Locked,
    /// The pins of these ids are chosen anew; all pins where there are none.
    Update(Vec<LogicalId>),
}

/// A bundle, compiled.
#[derive(Debug)]
pub struct Compiled {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Its canonical bytes.
    pub bytes: Vec<u8>,
    /// Their digest.
    pub digest: Digest,
    /// The program it was made from, for reports.
    pub checked: Checked,
}

/// What is known of a bundle after resolving, whether or not it compiles.
#[derive(Debug)]
pub struct Resolved {
    /// The bundle.
    pub bundle: Bundle,
    /// What was chosen.
    pub choices: Vec<Choice>,
    /// The lock that was there.
    pub old_lock: Option<Lock>,
    /// Whether a lock file is there, usable or not.
    pub has_lock: bool,
    /// The lock as it should be.
    pub new_lock: Lock,
}

/// One compilation.
#[derive(Debug)]
pub struct Compilation {
    /// What resolving gave.
    pub resolved: Option<Resolved>,
    /// The snapshot, where nothing is an error.
    pub compiled: Option<Compiled>,
    /// The settings that apply.
    pub environment: Environment,
}

/// Catalogs by settings folder, kept open between the bundles of one run.
#[derive(Debug, Default)]
pub struct OpenCatalogs {
    by_folder: std::collections::BTreeMap<Option<Utf8PathBuf>, Catalogs>,
}

/// How far the stages run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// Every fault is known.
    Checked,
    /// There is a snapshot.
    Emitted,
}

/// Compiles the bundle at `path`. Faults are in the session; a snapshot is there only without errors.
pub fn compile(
    session: &mut Session,
    open: &mut OpenCatalogs,
    path: &Utf8Path,
    cwd: &Utf8Path,
    mode: &LockMode,
) -> Compilation {
    stages(session, open, path, cwd, (mode, Until::Emitted))
}

/// Finds every fault of the bundle at `path`, as [`compile`] does, and makes no snapshot.
///
/// Emitting finds none of its own where the closure has no part that was published before: numbers are checked where a
/// text is read and where a document is digested, a snapshot nests a document, which has at most 64 levels, less deep
/// than canonical JSON allows, and whatever conditions were checked can be compiled.
pub fn check(
    session: &mut Session,
    open: &mut OpenCatalogs,
    path: &Utf8Path,
    cwd: &Utf8Path,
    mode: &LockMode,
) {
    stages(session, open, path, cwd, (mode, Until::Checked));
}

fn stages(
    session: &mut Session,
    open: &mut OpenCatalogs,
    path: &Utf8Path,
    cwd: &Utf8Path,
    how: (&LockMode, Until),
) -> Compilation {
    let before = session.diagnostics.len();
    session.begin();
    let Some(entered) = bundle::enter(session, path, cwd) else {
        return Compilation { resolved: None, compiled: None, environment: Environment::default() };
    };
    let environment = find_environment(session, open, entered.folder.root(), cwd);
    let catalogs = open
        .by_folder
        .entry(environment.settings.folder.clone())
        .or_insert_with(|| Catalogs::new(environment.clone()));
    let Run { resolved, compiled, is_through } =
        match bundle::read(session, entered, &foreign_folders(&environment)) {
            Some(bundle) => run(session, bundle, catalogs, how, before),
            None => Run::default(),
        };
    let mut found = session.diagnostics.split_off(before);
    environment.settings.apply_lints(&mut found);
    if !is_through && !found.iter().any(Diagnostic::is_error) {
        // Whatever was lost on the way, "nothing said" is never "nothing wrong".
        found.push(Diagnostic::new(&code::NO_BUNDLE, format!("`{path}` cannot be compiled")));
    }
    let refused = found.iter().any(Diagnostic::is_error);
    session.diagnostics.append(&mut found);
    Compilation { resolved, compiled: compiled.filter(|_| !refused), environment }
}

fn find_environment(
    session: &mut Session,
    open: &OpenCatalogs,
    folder: &Utf8Path,
    cwd: &Utf8Path,
) -> Environment {
    let known = bailiwick_bundles::find_settings(folder)
        .and_then(|path| open.by_folder.get(&path.parent().map(Utf8Path::to_owned)));
    match known {
        Some(catalogs) => catalogs.environment().clone(),
        None => Environment::find(session, folder, cwd),
    }
}

/// Catalogs and stores that may lie inside the bundle's directory: their documents are not the bundle's.
fn foreign_folders(environment: &Environment) -> Vec<Utf8PathBuf> {
    let settings = &environment.settings;
    let places =
        settings.catalogs.values().map(|catalog| catalog.place.path()).chain(settings.store.as_deref());
    places.filter_map(|place| environment.resolve(place).0.canonicalize_utf8().ok()).collect()
}

/// How far a bundle came.
#[derive(Default)]
struct Run {
    resolved: Option<Resolved>,
    compiled: Option<Compiled>,
    /// Whether every stage that was asked for ended with a value.
    is_through: bool,
}

fn run(
    session: &mut Session,
    bundle: Bundle,
    catalogs: &mut Catalogs,
    (mode, until): (&LockMode, Until),
    before: usize,
) -> Run {
    let lock_file = find_lock(session, &bundle);
    let old_lock = lock_file.as_ref().and_then(|read| lock::read(session, read));
    let kept = old_lock.clone().unwrap_or_default();
    let options = match mode {
        LockMode::Keep | LockMode::Locked => {
            ResolveOptions { lock: kept, trust: Vec::new(), trust_all: false }
        }
        LockMode::Update(ids) => {
            ResolveOptions { lock: kept.without(ids), trust: ids.clone(), trust_all: ids.is_empty() }
        }
    };
    let resolution = resolve(session, &bundle, catalogs, &options);
    let Some(resolution) = resolution.drain_into(&mut session.diagnostics) else { return Run::default() };
    let new_lock = resolution.lock();
    // A lock whose digests are contradicted is no measure of what would change.
    let contradicted = session.diagnostics.iter().skip(before).any(|d| *d.code == code::HASH_MISMATCH);
    if *mode == LockMode::Locked && bundle.is_whole() && !contradicted {
        refuse_changes(session, &bundle, lock_file.as_ref(), old_lock.as_ref(), &new_lock);
    }
    let choices = resolution.choices.clone();
    let program = link(session, &bundle, resolution).drain_into(&mut session.diagnostics);
    let resolved = Resolved { bundle, choices, has_lock: lock_file.is_some(), old_lock, new_lock };
    let mut run = Run { resolved: Some(resolved), ..Run::default() };
    let Some(program) = program else { return run };
    let narrowed = narrow(session, program).drain_into(&mut session.diagnostics);
    let checked =
        narrowed.and_then(|narrowed| check::check(session, narrowed).drain_into(&mut session.diagnostics));
    let refused = session.diagnostics.iter().skip(before).any(Diagnostic::is_error);
    let Some(checked) = checked.filter(|_| !refused) else { return run };
    // Only where closures meet that were compiled apart can emitting find a fault of its own.
    if until == Until::Checked && checked.narrowed().program().frozen.is_empty() {
        run.is_through = true;
        return run;
    }
    let emitted = emit(&checked).and_then(|snapshot| Ok((snapshot.to_canonical()?, snapshot)));
    match emitted {
        Ok((bytes, snapshot)) => {
            let digest = Digest::of(&bytes);
            run.compiled = Some(Compiled { snapshot, bytes, digest, checked });
            run.is_through = true;
        }
        Err(error) => session.push(emit_diagnostic(&error)),
    }
    run
}

fn emit_diagnostic(error: &EmitError) -> Diagnostic {
    match error {
        EmitError::Canonical(CanonicalError::TooDeep { .. }) => {
            Diagnostic::new(&code::TOO_DEEP, error_text(error)).help("nest less deeply")
        }
        EmitError::Policies(_) => Diagnostic::new(&code::INVALID_CONDITION, error_text(error))
            .help("write the conditions more simply"),
        EmitError::Canonical(_) => Diagnostic::new(&code::INEXACT_NUMBER, error_text(error)),
        EmitError::Clash { .. } => Diagnostic::new(&code::DUPLICATE_DOCUMENT, error_text(error))
            .help("give the document of the bundle another id or version, or publish the other closure anew"),
    }
}

fn error_text(error: &EmitError) -> String {
    match error {
        EmitError::Policies(error) => error.to_string(),
        EmitError::Canonical(error) => error.to_string(),
        EmitError::Clash { key, published } => {
            format!("`{key}` is one thing in this closure and another in published `{published}`")
        }
    }
}

/// The lock file, if there is one. One that cannot be read is a fault.
fn find_lock(session: &mut Session, bundle: &Bundle) -> Option<ReadFile> {
    if !bundle.is_whole() {
        return None;
    }
    let there = bundle.folder.root().join(LOCK_FILE).symlink_metadata().is_ok();
    if there { session.read(&bundle.folder, LOCK_FILE, None) } else { None }
}

fn refuse_changes(
    session: &mut Session,
    bundle: &Bundle,
    file: Option<&ReadFile>,
    old: Option<&Lock>,
    new: &Lock,
) {
    let shown = bundle.folder.display(LOCK_FILE);
    let (message, changes) = match (file, old) {
        (Some(_), Some(old)) => {
            let changes = old.changes(new);
            if changes.is_empty() {
                return;
            }
            (format!("`{shown}` would change"), changes)
        }
        // Not usable, which was said.
        (Some(_), None) => return,
        // It cannot be read, which was said.
        (None, _) if bundle.folder.root().join(LOCK_FILE).symlink_metadata().is_ok() => return,
        (None, _) => (format!("there is no `{shown}`"), Lock::default().changes(new)),
    };
    let span = match file {
        Some(file) => Span::of_file(file.file),
        None => Span::of_file(session.sources.add(shown, "")),
    };
    let mut diagnostic = Diagnostic::new(&code::OUT_OF_DATE, message).label(span, "");
    for change in changes {
        diagnostic = diagnostic.note(change);
    }
    session.push(diagnostic.help("run `bailiwick lock`, review what it changes, and commit it"));
}

/// Which exit a set of diagnostics asks for: 0 clean, 1 findings, 3 where the machine is at fault.
pub fn exit_code(diagnostics: &[Diagnostic]) -> u8 {
    let errors = || diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    if errors().any(|diagnostic| is_machine_fault(diagnostic.code)) {
        3
    } else {
        u8::from(errors().next().is_some())
    }
}

/// Faults of disks and stores rather than of what somebody wrote.
fn is_machine_fault(code: &Code) -> bool {
    code.stage() == "store"
        || *code == code::NO_BUNDLE
        || *code == code::UNREADABLE
        || *code == code::SOURCE_NOT_FOUND
        || *code == code::AMBIGUOUS_SOURCE
}
