//! One run: every text that was read, where things stand in it, and what there is to say.
//!
//! All reading of bundle and catalog files goes through here, so that a file is read and parsed once however
//! often it is referred to.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_bundles::{
    Diagnostic, FileFault, FileId, Folder, Node, SchemaSource, SourceMap, Span, add_text, code, read_json,
    read_yaml,
};
use bailiwick_narrowing::{Schema, SchemaError, SchemaErrorKind};

use crate::origin::{Origin, Origins};

/// A file that was read: the trees of its documents, unless its text was refused.
#[derive(Clone, Debug)]
pub struct ReadFile {
    /// The file in the source map.
    pub file: FileId,
    /// Its text; `None` where it was refused.
    pub text: Option<Arc<str>>,
    /// Its documents; `None` where it was refused or is no YAML or JSON.
    pub nodes: Option<Arc<Vec<Arc<Node>>>>,
}

/// One run.
#[derive(Debug, Default)]
pub struct Session {
    /// Every text.
    pub sources: SourceMap,
    /// What was found so far.
    pub diagnostics: Vec<Diagnostic>,
    /// Where things stand.
    pub origins: Origins,
    /// By displayed path; `None` where the file could not be read, which was said.
    files: BTreeMap<String, Option<ReadFile>>,
    /// Where the diagnostics of the bundle begin that is compiled.
    begun: usize,
    /// By serialised schema.
    schemas: BTreeMap<String, Result<Arc<Schema>, SchemaError>>,
}

impl Session {
    /// A run that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers a place.
    pub fn origin(&mut self, span: Span) -> Origin {
        self.origins.add(span)
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether an error was found in a file.
    pub(crate) fn has_said(&self, file: FileId) -> bool {
        let here =
            |diagnostic: &Diagnostic| diagnostic.labels.first().is_some_and(|label| label.span.file == file);
        self.diagnostics.iter().any(|diagnostic| diagnostic.is_error() && here(diagnostic))
    }

    /// Where the compilation of one bundle begins.
    pub(crate) fn begin(&mut self) {
        self.begun = self.diagnostics.len();
    }

    /// Gives `found` back. Where nothing was found and no error says why, one is said here: what is lost must never
    /// be published without it.
    pub(crate) fn or_refuse<T>(&mut self, found: Option<T>, origin: Origin, what: &str) -> Option<T> {
        if found.is_none() && !self.diagnostics.iter().skip(self.begun).any(Diagnostic::is_error) {
            let diagnostic = Diagnostic::new(&code::REF_NOT_FOUND, format!("{what} cannot be used"));
            let diagnostic = self.label(diagnostic, origin, "referred to here");
            self.push(diagnostic.help("check that the file holds one document of the kind that is meant"));
        }
        found
    }

    /// Adds a label at `origin`, where a text is behind it.
    pub fn label(&self, diagnostic: Diagnostic, origin: Origin, text: impl Into<String>) -> Diagnostic {
        match self.origins.span(origin) {
            Some(span) => diagnostic.label(span, text),
            None => diagnostic,
        }
    }

    /// The text of a file of `folder`, which something at `asked` refers to. A fault is said once.
    pub fn read(&mut self, folder: &Folder, path: &str, asked: Option<Span>) -> Option<ReadFile> {
        let shown = folder.display(path);
        if let Some(known) = self.files.get(&shown) {
            return known.clone();
        }
        let read = match folder.read(path) {
            Ok(bytes) => {
                let (file, text) = add_text(&mut self.sources, shown.clone(), bytes, &mut self.diagnostics);
                Some(ReadFile { file, text, nodes: None })
            }
            Err(fault) => {
                self.file_fault(&fault, &shown, asked);
                None
            }
        };
        self.files.insert(shown, read.clone());
        read
    }

    /// [`Session::read`], parsed as JSON or YAML by its name.
    pub fn parse(&mut self, folder: &Folder, path: &str, asked: Option<Span>) -> Option<ReadFile> {
        let mut read = self.read(folder, path, asked)?;
        if read.nodes.is_some() {
            return Some(read);
        }
        let text = read.text.clone()?;
        let nodes: Vec<Node> = if has_extension(path, "json") {
            read_json(read.file, &text, &mut self.diagnostics).into_iter().collect()
        } else {
            read_yaml(read.file, &text, &mut self.diagnostics)
        };
        read.nodes = Some(Arc::new(nodes.into_iter().map(Arc::new).collect()));
        self.files.insert(folder.display(path), Some(read.clone()));
        Some(read)
    }

    /// Reads the file anew when it is asked for again.
    pub(crate) fn forget(&mut self, folder: &Folder, path: &str) {
        self.files.remove(&folder.display(path));
    }

    /// Says that a file cannot be read: where it is referred to, or else at the file itself.
    pub fn file_fault(&mut self, fault: &FileFault, shown: &str, asked: Option<Span>) {
        let span = asked.unwrap_or_else(|| Span::of_file(self.sources.add(shown, "")));
        self.diagnostics.push(fault.to_diagnostic(span));
    }

    /// The schema in a form that can be compared. A fault is said at its place.
    pub fn compile(&mut self, source: &SchemaSource, fallback: Origin) -> Option<Arc<Schema>> {
        let key = source.value().to_string();
        let compiled = match self.schemas.get(&key) {
            Some(compiled) => compiled.clone(),
            None => {
                let compiled = Schema::compile(source.value()).map(Arc::new);
                self.schemas.insert(key, compiled.clone());
                compiled
            }
        };
        match compiled {
            Ok(schema) => Some(schema),
            Err(error) => {
                let span = source.span(&error.pointer).or_else(|| self.origins.span(fallback));
                if error.kind == SchemaErrorKind::RemoteReference && self.has_said_remote(span) {
                    return None;
                }
                let diagnostic = Diagnostic::new(schema_code(error.kind), error.message);
                self.push(match span {
                    Some(span) => diagnostic.label(span, "here"),
                    None => diagnostic,
                });
                None
            }
        }
    }

    /// Whether the reference at `span` was refused when the schema was made self-contained.
    fn has_said_remote(&self, span: Option<Span>) -> bool {
        let Some(span) = span else { return false };
        let within = |at: Span| at.file == span.file && span.start <= at.start && at.end <= span.end;
        self.diagnostics.iter().any(|diagnostic| {
            *diagnostic.code == code::REMOTE_REF && diagnostic.labels.iter().any(|label| within(label.span))
        })
    }

    /// The one value in a file that is not a document of a dialect.
    pub(crate) fn only_document(&mut self, read: &ReadFile, asked: Span) -> Option<Arc<Node>> {
        let nodes = read.nodes.as_ref()?;
        match nodes.as_slice() {
            [node] => Some(Arc::clone(node)),
            [] => {
                // A syntax fault was said already; a file without content was not.
                if !self.has_said(read.file) {
                    self.push(
                        Diagnostic::new(&code::EMPTY_DOCUMENT, "the file is empty")
                            .label(Span::of_file(read.file), "nothing here")
                            .label(asked, "refers to it"),
                    );
                }
                None
            }
            [_, second, ..] => {
                self.push(
                    Diagnostic::new(&code::SYNTAX, "the file holds more than one document")
                        .label(second.span, "a second one")
                        .label(asked, "refers to one")
                        .help("leave one document in the file"),
                );
                None
            }
        }
    }

    /// The self-contained schema at `node` of file `path` in `folder`.
    pub fn bundle_schema(&mut self, folder: &Folder, path: &str, node: &Arc<Node>) -> SchemaSource {
        let mut found = Vec::new();
        let source = {
            let mut open = |path: &str, asked: Span| {
                let read = self.parse(folder, path, Some(asked))?;
                self.only_document(&read, asked)
            };
            SchemaSource::bundle(node, path, &mut open, &mut found)
        };
        self.diagnostics.append(&mut found);
        source
    }
}

fn schema_code(kind: SchemaErrorKind) -> &'static bailiwick_bundles::Code {
    match kind {
        SchemaErrorKind::Invalid => &code::INVALID_SCHEMA,
        SchemaErrorKind::UnknownDialect => &code::UNKNOWN_DIALECT,
        SchemaErrorKind::RemoteReference => &code::REMOTE_REF,
        SchemaErrorKind::UnresolvedReference => &code::UNRESOLVED_REF,
        SchemaErrorKind::NumberTooLarge => &code::INEXACT_NUMBER,
        SchemaErrorKind::EndlessReference
        | SchemaErrorKind::UnsupportedPattern
        | SchemaErrorKind::TooLarge
        | SchemaErrorKind::TooDeep => &code::UNSUPPORTED_SCHEMA,
    }
}

/// Whether a path ends in `.extension`, in any case.
pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
}
