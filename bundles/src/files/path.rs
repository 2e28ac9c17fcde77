//! Paths as text. Nothing here looks at a file system.

use camino::Utf8Path;

use super::fault::{FileFault, OutsideHow};

/// `relative` without `.` and `..`; never empty, and never outside by how it is written.
pub(super) fn normal(relative: &str) -> Result<String, FileFault> {
    let outside = |how| FileFault::Outside { path: relative.to_owned(), how };
    let mut first = relative.chars();
    let drive = first.next().is_some_and(|c| c.is_ascii_alphabetic()) && first.next() == Some(':');
    if drive || relative.starts_with(['/', '\\']) {
        return Err(outside(OutsideHow::Absolute));
    }
    if relative.contains('\\') {
        return Err(outside(OutsideHow::Backslash));
    }
    let parts = steps(Vec::new(), relative).ok_or_else(|| outside(OutsideHow::Lexical))?;
    if parts.is_empty() {
        return Err(FileFault::NotRegular { path: relative.to_owned(), what: "a directory" });
    }
    if relative.contains('\0') {
        return Err(FileFault::NotFound { path: relative.to_owned(), tried: Vec::new(), nearest: None });
    }
    Ok(parts.join("/"))
}

/// `relative` from the directory whose parts are `from`; `None` where that is above all of them.
pub(crate) fn steps<'p>(mut from: Vec<&'p str>, relative: &'p str) -> Option<Vec<&'p str>> {
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(from.pop()?),
            part => from.push(part),
        }
    }
    Some(from)
}

/// A directory as a user typed it, for a message: with `/`, and empty for the current one.
pub(super) fn shown(path: &Utf8Path) -> String {
    let text = if cfg!(windows) { path.as_str().replace('\\', "/") } else { path.as_str().to_owned() };
    let mut text = text.as_str();
    while let Some(rest) = text.strip_prefix("./") {
        text = rest.trim_start_matches('/');
    }
    let trimmed = text.trim_end_matches('/');
    match trimmed {
        "." => String::new(),
        "" if text.starts_with('/') => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// `directory/name`.
pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Directory and name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
