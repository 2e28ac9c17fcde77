//! What can be wrong with a file, and how it is said.

use std::fmt;
use std::fs::FileType;
use std::io::{self, ErrorKind};

use crate::diagnostics::{Code, Diagnostic, code};
use crate::reading::MAX_BYTES;
use crate::source::Span;

/// Why a file is not read. `path` is the path that was asked for, or of the entry that is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// Nothing is there.
    NotFound {
        /// The path.
        path: String,
        /// Every path that was looked for, in order.
        tried: Vec<String>,
        /// What is there and is spelled almost like it.
        nearest: Option<String>,
    },
    /// The path leads out of the folder.
    Outside {
        /// The path.
        path: String,
        /// In which way.
        how: OutsideHow,
    },
    /// It is no regular file.
    NotRegular {
        /// The path.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// It has more than 1 MiB.
    TooLarge {
        /// The path.
        path: String,
    },
    /// Another name in the same directory differs from it by case alone.
    CaseClash {
        /// The path.
        path: String,
        /// The path with the other name.
        other: String,
    },
    /// There are more entries below a directory than are looked at.
    TooMany {
        /// The directory; empty for the folder itself.
        path: String,
        /// How many are looked at.
        limit: usize,
    },
    /// The operating system refuses.
    Unreadable {
        /// The path.
        path: String,
        /// Why, in its words.
        reason: String,
    },
}

/// How a path leads out of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutsideHow {
    /// By `..`.
    Lexical,
    /// From the root of a file system or a drive.
    Absolute,
    /// It has a `\`, which is a separator on some systems and part of a name on others.
    Backslash,
    /// By a link on the way.
    Link,
}

impl FileFault {
    /// The code of the fault.
    pub fn code(&self) -> &'static Code {
        match self {
            Self::NotFound { .. } => &code::FILE_NOT_FOUND,
            Self::Outside { .. } => &code::OUTSIDE_BUNDLE,
            Self::NotRegular { .. } => &code::NOT_REGULAR,
            Self::TooLarge { .. } => &code::TOO_LARGE,
            Self::CaseClash { .. } => &code::CASE_CLASH,
            Self::TooMany { .. } | Self::Unreadable { .. } => &code::UNREADABLE,
        }
    }

    /// The fault as a diagnostic that points at `span`: the reference, or the file itself.
    pub fn to_diagnostic(&self, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(self.code(), self.to_string()).label(span, "");
        if let Self::NotFound { path, tried, .. } = self
            && tried.iter().any(|tried| tried != path)
        {
            let tried: Vec<String> = tried.iter().map(|path| format!("`{path}`")).collect();
            diagnostic = diagnostic.note(format!("looked for {}", tried.join(", ")));
        }
        diagnostic.help(self.help())
    }

    fn help(&self) -> String {
        match self {
            Self::NotFound { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NotFound { nearest: None, .. } => "create the file, or correct the path".to_owned(),
            Self::Outside { how: OutsideHow::Backslash, .. } => {
                "write `/` between the parts of a path".to_owned()
            }
            Self::Outside { how: OutsideHow::Link, .. } => {
                "put a copy of the file into the bundle".to_owned()
            }
            Self::Outside { .. } => {
                "move the file into the bundle, and write its path from the bundle's directory on".to_owned()
            }
            Self::NotRegular { .. } => "refer to a regular file".to_owned(),
            Self::TooLarge { .. } => "split the file".to_owned(),
            Self::CaseClash { .. } => "rename one of the two".to_owned(),
            Self::TooMany { .. } => "name a directory that holds the documents and little else".to_owned(),
            Self::Unreadable { .. } => "look at its permissions and at the links on the way to it".to_owned(),
        }
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path, .. } => write!(f, "`{path}` does not exist"),
            Self::Outside { path, how: OutsideHow::Lexical } => write!(f, "`{path}` leads out of the bundle"),
            Self::Outside { path, how: OutsideHow::Absolute } => {
                write!(f, "`{path}` is absolute, not relative to the bundle")
            }
            Self::Outside { path, how: OutsideHow::Backslash } => {
                write!(f, "`{path}` has a backslash, which is no separator here")
            }
            Self::Outside { path, how: OutsideHow::Link } => {
                write!(f, "`{path}` leads out of the bundle by a link")
            }
            Self::NotRegular { path, what } => write!(f, "`{path}` is {what}, not a regular file"),
            Self::TooLarge { path } => write!(f, "`{path}` has more than {MAX_BYTES} bytes (1 MiB)"),
            Self::CaseClash { path, other } => write!(f, "`{path}` and `{other}` differ by case alone"),
            Self::TooMany { path, limit } => {
                write!(
                    f,
                    "`{}` has more than {limit} entries below it",
                    if path.is_empty() { "." } else { path }
                )
            }
            Self::Unreadable { path, reason } => {
                write!(f, "`{}` cannot be read: {reason}", if path.is_empty() { "." } else { path })
            }
        }
    }
}

impl std::error::Error for FileFault {}

/// The fault of `path` that the operating system reports as `error`.
pub(super) fn unreadable(path: &str, error: &io::Error) -> FileFault {
    let path = path.to_owned();
    let kind = error.kind();
    if kind == ErrorKind::NotFound {
        return FileFault::NotFound { tried: vec![path.clone()], path, nearest: None };
    }
    if kind == ErrorKind::IsADirectory {
        return FileFault::NotRegular { path, what: "a directory" };
    }
    let known = [
        (ErrorKind::PermissionDenied, "permission is denied"),
        (ErrorKind::NotADirectory, "a part of the path is no directory"),
        (ErrorKind::InvalidData, "its path is not UTF-8"),
        (ErrorKind::InvalidFilename, "the name is not allowed here"),
    ];
    let known = known.iter().find(|(known, _)| *known == kind);
    let reason = known.map_or_else(|| system_words(error), |(_, words)| (*words).to_owned());
    FileFault::Unreadable { path, reason }
}

/// What the operating system says, as half a sentence and without its number.
fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// What something that is no regular file is called.
pub(super) fn file_kind(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_file() {
        "a file"
    } else {
        special(kind)
    }
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;

    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "a special file"
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "a special file"
}
