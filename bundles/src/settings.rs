//! `bailiwick.toml`: which catalog owns which namespace, where the store is, and how grave warnings are.
//!
//! The file is found upward from where a command looks. Paths in it are relative to its folder. A namespace has
//! one catalog, so that a public catalog can never answer for an internal name.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use toml::Spanned as TomlSpanned;

use crate::diagnostics::{Diagnostic, Severity, code};
use crate::names::{Name, did_you_mean, nearest};
use crate::source::{FileId, Span, Spanned, offset};

/// The name of the settings file.
pub const SETTINGS_FILE: &str = "bailiwick.toml";

/// What settings say.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The folder of the file; `None` where there is no file.
    pub folder: Option<Utf8PathBuf>,
    /// The catalogs, by name.
    pub catalogs: BTreeMap<String, CatalogSetting>,
    /// The store, as a path from `folder`.
    pub store: Option<Utf8PathBuf>,
    /// Severities by code; `None` silences.
    pub lints: BTreeMap<&'static str, Option<Severity>>,
    /// Whether a part was refused, so that a catalog may be missing here that the file has.
    pub is_incomplete: bool,
}

/// One catalog.
#[derive(Clone, Debug)]
pub struct CatalogSetting {
    /// Where its documents are.
    pub place: CatalogPlace,
    /// The namespaces it owns.
    pub namespaces: Vec<Spanned<Name>>,
    /// The table.
    pub span: Span,
}

/// Where a catalog's documents are; paths are from the settings' folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogPlace {
    /// A tree of documents.
    Directory(Utf8PathBuf),
    /// A store of published contracts and snapshots.
    Store(Utf8PathBuf),
}

impl CatalogPlace {
    /// The path.
    pub fn path(&self) -> &Utf8Path {
        match self {
            Self::Directory(path) | Self::Store(path) => path,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    catalogs: BTreeMap<TomlSpanned<String>, TomlSpanned<Catalog>>,
    store: Option<Store>,
    #[serde(default)]
    lints: BTreeMap<TomlSpanned<String>, TomlSpanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalog {
    path: Option<TomlSpanned<String>>,
    store: Option<TomlSpanned<String>>,
    namespaces: Vec<TomlSpanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    path: String,
}

impl Settings {
    /// Reads the settings in `text`, which is `file` in the source map and lies in `folder`.
    pub fn parse(file: FileId, text: &str, folder: &Utf8Path, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut settings = Self { folder: Some(folder.to_owned()), ..Self::default() };
        let at =
            |range: std::ops::Range<usize>| Span { file, start: offset(range.start), end: offset(range.end) };
        let parsed: File = match toml::from_str(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                settings.is_incomplete = true;
                let span = error.span().map_or(Span::of_file(file), at);
                let message =
                    error.message().lines().next().unwrap_or("not readable").trim_end_matches('.').to_owned();
                diagnostics.push(
                    Diagnostic::new(
                        &code::INVALID_SETTINGS,
                        format!("the settings cannot be read: {message}"),
                    )
                    .label(span, "here")
                    .help("`bailiwick explain settings::invalid` lists what may be set"),
                );
                return settings;
            }
        };
        settings.store = parsed.store.map(|store| Utf8PathBuf::from(store.path));
        for (name, catalog) in parsed.catalogs {
            let span = at(name.span());
            if let Some(catalog) = read_catalog(catalog.into_inner(), span, at, diagnostics) {
                settings.catalogs.insert(name.into_inner(), catalog);
            } else {
                settings.is_incomplete = true;
            }
        }
        settings.refuse_clashes(diagnostics);
        for (id, level) in parsed.lints {
            let (key, value) = (at(id.span()), at(level.span()));
            if let Some((id, severity)) = read_lint(id.get_ref(), level.get_ref(), key, value, diagnostics) {
                settings.lints.insert(id, severity);
            }
        }
        settings
    }

    /// The catalog that owns `namespace`.
    pub fn owner_of(&self, namespace: &Name) -> Option<(&str, &CatalogSetting)> {
        self.catalogs
            .iter()
            .find(|(_, catalog)| catalog.namespaces.iter().any(|owned| owned.value == *namespace))
            .map(|(name, catalog)| (name.as_str(), catalog))
    }

    /// Applies `[lints]`. Errors are never lowered: [`Settings::parse`] refuses that.
    pub fn apply_lints(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.retain_mut(|diagnostic| match self.lints.get(diagnostic.code.id) {
            Some(Some(severity)) => {
                diagnostic.severity = *severity;
                true
            }
            Some(None) => false,
            None => true,
        });
    }

    fn refuse_clashes(&self, diagnostics: &mut Vec<Diagnostic>) {
        let mut owners: BTreeMap<&Name, (&str, Span)> = BTreeMap::new();
        for (name, catalog) in &self.catalogs {
            for namespace in &catalog.namespaces {
                if let Some((other, span)) = owners.insert(&namespace.value, (name, namespace.span)) {
                    // Catalogs are sorted by name, but are read from the top of the file down.
                    let ((first, span), (name, again)) = if span.start < namespace.span.start {
                        ((other, span), (name.as_str(), namespace.span))
                    } else {
                        ((name.as_str(), namespace.span), (other, span))
                    };
                    diagnostics.push(
                        Diagnostic::new(
                            &code::NAMESPACE_CLASH,
                            format!(
                                "namespace `{}` has two catalogs: `{first}` and `{name}`",
                                namespace.value
                            ),
                        )
                        .label(again, "again here")
                        .label(span, "first here")
                        .help("leave the namespace to the catalog that owns it"),
                    );
                }
            }
        }
    }
}

fn read_catalog(
    catalog: Catalog,
    span: Span,
    at: impl Fn(std::ops::Range<usize>) -> Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<CatalogSetting> {
    let place = match (catalog.path, catalog.store) {
        (Some(path), None) => Some(CatalogPlace::Directory(path.into_inner().into())),
        (None, Some(path)) => Some(CatalogPlace::Store(path.into_inner().into())),
        (path, store) => {
            let first = path.map_or(span, |path| at(path.span()));
            let mut diagnostic =
                Diagnostic::new(&code::INVALID_SETTINGS, "a catalog has exactly one of `path` and `store`")
                    .label(first, if store.is_some() { "one place" } else { "neither is here" });
            if let Some(store) = store {
                diagnostic = diagnostic.label(at(store.span()), "and another");
            }
            diagnostics.push(
                diagnostic.help(
                    "`path` is a folder of documents, `store` is a store that contracts are published to",
                ),
            );
            None
        }
    };
    let namespaces = catalog
        .namespaces
        .into_iter()
        .filter_map(|namespace| {
            let span = at(namespace.span());
            match namespace.get_ref().parse() {
                Ok(name) => Some(Spanned::new(name, span)),
                Err(error) => {
                    diagnostics.push(
                        Diagnostic::new(&code::INVALID_SETTINGS, format!("namespace {error}"))
                            .label(span, ""),
                    );
                    None
                }
            }
        })
        .collect();
    Some(CatalogSetting { place: place?, namespaces, span })
}

fn read_lint(
    id: &str,
    level: &str,
    key: Span,
    value: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(&'static str, Option<Severity>)> {
    let Some(known) = crate::Code::find(id) else {
        let near = nearest(id, code::ALL.iter().map(|code| code.id));
        diagnostics.push(
            Diagnostic::new(&code::UNKNOWN_LINT, format!("no diagnostic is called `{id}`"))
                .label(key, did_you_mean(near, "not known"))
                .help("`bailiwick explain` lists every code"),
        );
        return None;
    };
    let severity = match level {
        "allow" => None,
        "warn" => Some(Severity::Warning),
        "deny" => Some(Severity::Error),
        _ => {
            diagnostics.push(
                Diagnostic::new(&code::INVALID_SETTINGS, format!("`{level}` is no lint level"))
                    .label(value, "should be `allow`, `warn` or `deny`"),
            );
            return None;
        }
    };
    if known.severity == Severity::Error && severity != Some(Severity::Error) {
        diagnostics.push(
            Diagnostic::new(&code::INVALID_SETTINGS, format!("`{id}` is an error and cannot be lowered"))
                .label(value, "only warnings and notes have a level")
                .help("remove the line"),
        );
        return None;
    }
    Some((known.id, severity))
}

/// The nearest [`SETTINGS_FILE`] at or above `folder`.
pub fn find_settings(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    folder.ancestors().map(|folder| folder.join(SETTINGS_FILE)).find(|path| path.symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;

    fn check(text: &str) -> Vec<String> {
        let mut diagnostics = Vec::new();
        let file = SourceMap::new().add("bailiwick.toml", text);
        Settings::parse(file, text, Utf8Path::new("."), &mut diagnostics);
        diagnostics.into_iter().map(|d| format!("{}: {}", d.code.id, d.message)).collect()
    }

    #[test]
    fn an_error_is_never_lowered() {
        assert_eq!(
            check("[lints]\n\"narrow::widened\" = \"allow\"\n\"narrow::widend\" = \"deny\"\n"),
            [
                "settings::unknown-lint: no diagnostic is called `narrow::widend`",
                "settings::invalid: `narrow::widened` is an error and cannot be lowered",
            ]
        );
        assert!(check("[lints]\n\"resolve::yanked\" = \"deny\"\n").is_empty());
    }

    #[test]
    fn a_namespace_has_one_catalog() {
        let text = "[catalogs.a]\npath = \"a\"\nnamespaces = [\"x\"]\n[catalogs.b]\nstore = \"b\"\nnamespaces = [\"x\"]\n";
        assert_eq!(check(text), ["settings::namespace-clash: namespace `x` has two catalogs: `a` and `b`"]);
    }

    #[test]
    fn a_catalog_has_one_place() {
        let text = "[catalogs.a]\npath = \"a\"\nstore = \"b\"\nnamespaces = [\"x\"]\n";
        assert_eq!(check(text), ["settings::invalid: a catalog has exactly one of `path` and `store`"]);
        assert_eq!(check("[catalog.a]\n").len(), 1);
    }
}
