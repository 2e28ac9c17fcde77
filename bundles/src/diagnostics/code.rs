//! The registry of diagnostic codes: `stage::kebab-fault`, never reused, each with a page.
//!
//! A code of a later stage is here as well, since `[lints]` names codes before that stage has run. A test of
//! the workspace checks that each code has a page and a case that shows it.

use std::fmt;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is produced.
    Error,
    /// Produced, but somebody should look.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The lower-case word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A kind of fault.
pub struct Code {
    /// `stage::kebab-fault`.
    pub id: &'static str,
    /// The severity without settings.
    pub severity: Severity,
    /// Its page in Markdown: what it means, an example, what to do.
    pub page: &'static str,
}

impl Code {
    /// The part before `::`.
    pub fn stage(&self) -> &'static str {
        self.id.split_once("::").map_or(self.id, |(stage, _)| stage)
    }

    /// The code called `id`.
    pub fn find(id: &str) -> Option<&'static Self> {
        ALL.binary_search_by(|code| code.id.cmp(id)).ok().and_then(|at| ALL.get(at)).copied()
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Code {}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

macro_rules! codes {
    ($($CONST:ident = $stage:literal $fault:literal $Severity:ident;)*) => {
        $(
            #[doc = concat!("`", $stage, "::", $fault, "`; see its page.")]
            pub static $CONST: Code = Code {
                id: concat!($stage, "::", $fault),
                severity: Severity::$Severity,
                page: include_str!(concat!("pages/", $stage, "/", $fault, ".md")),
            };
        )*

        /// Every code, sorted by id.
        pub static ALL: &[&Code] = &[$(&$CONST),*];
    };
}

codes! {
    DUPLICATE_VERSION = "catalog" "duplicate-version" Error;
    MISSING_CATALOG = "catalog" "missing-directory" Error;
    COMPILED_ONLY = "document" "compiled-only" Error;
    EMPTY_DOCUMENT = "document" "empty" Error;
    EXCLUSIVE_FIELDS = "document" "exclusive-fields" Error;
    FRAMEWORK_PAYLOAD = "document" "framework-payload" Error;
    INVALID_NAME = "document" "invalid-name" Error;
    INVALID_VALUE = "document" "invalid-value" Error;
    INVALID_VERSION = "document" "invalid-version" Error;
    LOOKS_LIKE_CREDENTIAL = "document" "looks-like-credential" Error;
    MISPLACED_FIELD = "document" "misplaced-field" Error;
    MISSING_FIELD = "document" "missing-field" Error;
    PLAINTEXT_SECRET = "document" "plaintext-secret" Error;
    UNKNOWN_API_VERSION = "document" "unknown-api-version" Error;
    UNKNOWN_FIELD = "document" "unknown-field" Error;
    UNKNOWN_KIND = "document" "unknown-kind" Error;
    UNVALIDATED_FRAMEWORK = "document" "unvalidated-framework" Note;
    WRONG_KIND = "document" "wrong-kind" Error;
    WRONG_TYPE = "document" "wrong-type" Error;
    CASE_CLASH = "file" "case-clash" Error;
    NO_BUNDLE = "file" "no-bundle" Error;
    FILE_NOT_FOUND = "file" "not-found" Error;
    NOT_REGULAR = "file" "not-regular" Error;
    OUTSIDE_BUNDLE = "file" "outside-bundle" Error;
    UNREADABLE = "file" "unreadable" Error;
    CYCLE = "link" "cycle" Error;
    DUPLICATE_DOCUMENT = "link" "duplicate-document" Error;
    DUPLICATE_SERVER = "link" "duplicate-server" Error;
    DUPLICATE_TARGET = "link" "duplicate-target" Error;
    NEEDS_BUNDLE = "link" "needs-bundle" Error;
    SECRET_CONFLICT = "link" "secret-conflict" Error;
    SELF_REFERENCE = "link" "self-reference" Error;
    UNKNOWN_SECRET = "link" "unknown-secret" Error;
    UNKNOWN_SERVER = "link" "unknown-server" Error;
    UNMET_CAPABILITY = "link" "unmet-capability" Error;
    UNPINNED_DELEGATE = "link" "unpinned-delegate" Error;
    WIRE_NAME_CLASH = "link" "wire-name-clash" Error;
    CONFLICT_MARKERS = "lock" "conflict-markers" Error;
    HASH_MISMATCH = "lock" "hash-mismatch" Error;
    INVALID_LOCK = "lock" "invalid" Error;
    MISSING_HASH = "lock" "missing-hash" Error;
    OUT_OF_DATE = "lock" "out-of-date" Error;
    UNKNOWN_LOCK_FORMAT = "lock" "unknown-format" Error;
    ASSUMED_CLASS = "narrow" "assumed-class" Note;
    EMPTY = "narrow" "empty" Warning;
    SIDE_EFFECT_WIDENED = "narrow" "side-effect-widened" Error;
    UNDECIDED = "narrow" "undecided" Error;
    WIDENED = "narrow" "widened" Error;
    ABSENT_FIELD = "policy" "absent-field" Note;
    ALLOW_WITHOUT_SCOPE = "policy" "allow-without-scope" Error;
    ALWAYS_HOLDS = "policy" "always-holds" Warning;
    INVALID_CONDITION = "policy" "invalid-condition" Error;
    MISMATCHED_TYPE = "policy" "mismatched-type" Error;
    NEVER_HOLDS = "policy" "never-holds" Warning;
    NO_CALL_PASSES = "policy" "no-call-passes" Warning;
    NO_SUCH_FIELD = "policy" "no-such-field" Error;
    NOT_CONCERNED = "policy" "not-concerned" Note;
    UNATTACHED = "policy" "unattached" Warning;
    UNDECLARED_FIELD = "policy" "undeclared-field" Warning;
    UNDEFINED_BOUNDARY = "policy" "undefined-boundary" Warning;
    UNKNOWN_SCOPE = "policy" "unknown-scope" Error;
    CONTENT_TAKEN = "publish" "content-taken" Error;
    VERSION_TAKEN = "publish" "version-taken" Error;
    AMBIGUOUS_SCALAR = "read" "ambiguous-scalar" Error;
    ANCHOR = "read" "anchor" Error;
    CONTROL_CHARACTER = "read" "control-character" Error;
    DUPLICATE_KEY = "read" "duplicate-key" Error;
    INEXACT_NUMBER = "read" "inexact-number" Error;
    MERGE_KEY = "read" "merge-key" Error;
    NON_STRING_KEY = "read" "non-string-key" Error;
    NOT_UTF8 = "read" "not-utf8" Error;
    SYNTAX = "read" "syntax" Error;
    TAG = "read" "tag" Error;
    TOO_DEEP = "read" "too-deep" Error;
    TOO_LARGE = "read" "too-large" Error;
    INVALID_CONSTRAINT = "resolve" "invalid-constraint" Error;
    NO_MATCH = "resolve" "no-match" Error;
    REF_NOT_FOUND = "resolve" "not-found" Error;
    UNKNOWN_NAMESPACE = "resolve" "unknown-namespace" Error;
    YANKED = "resolve" "yanked" Warning;
    INVALID_SCHEMA = "schema" "invalid" Error;
    MISSPELT_KEYWORD = "schema" "misspelt-keyword" Error;
    REMOTE_REF = "schema" "remote-ref" Error;
    UNKNOWN_DIALECT = "schema" "unknown-dialect" Error;
    UNKNOWN_KEYWORD = "schema" "unknown-keyword" Warning;
    UNRESOLVED_REF = "schema" "unresolved-ref" Error;
    UNSUPPORTED_SCHEMA = "schema" "unsupported" Error;
    INVALID_SETTINGS = "settings" "invalid" Error;
    NAMESPACE_CLASH = "settings" "namespace-clash" Error;
    UNKNOWN_LINT = "settings" "unknown-lint" Error;
    AMBIGUOUS_SOURCE = "source" "ambiguous" Error;
    SOURCE_NOT_FOUND = "source" "not-found" Error;
    CORRUPT_BLOB = "store" "corrupt-blob" Error;
    CORRUPT_INDEX = "store" "corrupt-index" Error;
    STORE_IO = "store" "io" Error;
    MISSING_BLOB = "store" "missing-blob" Error;
    UNKNOWN_FORMAT = "store" "unknown-format" Error;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_sorted_and_every_page_says_something() {
        assert!(ALL.is_sorted_by(|a, b| a.id < b.id));
        for code in ALL {
            assert!(code.page.starts_with(&format!("# {}\n", code.id)), "{} lacks its page", code.id);
            assert_eq!(Code::find(code.id), Some(*code));
        }
    }
}
