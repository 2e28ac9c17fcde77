//! All documents below a folder.

use std::collections::BTreeMap;
use std::fs::DirEntry;

use camino::Utf8PathBuf;

use super::fault::{FileFault, OutsideHow, unreadable};
use super::{Folder, path};

/// How many entries are looked at.
const MAX_ENTRIES: usize = 100_000;

impl Folder {
    /// The paths of all files below that end in `.yaml` or `.yml` in letters of any case, sorted bytewise.
    ///
    /// Not looked at: names with a leading dot and the directories `skip` (canonical paths). A link to a directory
    /// that is walked under its own name is passed over, one to a hidden directory is walked, and one that leads out is
    /// a fault. A link to a file is listed wherever it leads, and so is a pipe, socket or device with such a name, so
    /// that [`Folder::read`] says that it leads outside or is no regular file. More than 100,000 entries are a fault, and so are
    /// two names that differ by case alone where one of them is walked.
    pub fn walk(&self, skip: &[Utf8PathBuf]) -> Result<Vec<String>, FileFault> {
        self.walk_at_most(MAX_ENTRIES, skip)
    }

    pub(super) fn walk_at_most(&self, limit: usize, skip: &[Utf8PathBuf]) -> Result<Vec<String>, FileFault> {
        let mut found = Vec::new();
        let mut n_entries = 0;
        let mut pending = vec![String::new()];
        let mut hidden: Vec<Utf8PathBuf> = Vec::new();
        while let Some(directory) = pending.pop() {
            let failed = |error| unreadable(&directory, &error);
            let mut names: BTreeMap<String, Vec<(String, Option<Kind>)>> = BTreeMap::new();
            for entry in self.root.join(&directory).read_dir().map_err(failed)? {
                n_entries += 1;
                if n_entries > limit {
                    return Err(FileFault::TooMany { path: String::new(), limit });
                }
                let entry = entry.map_err(failed)?;
                let name = entry.file_name();
                let Some(name) = name.to_str() else {
                    if kind(&entry).map_err(failed)?.is_none() {
                        continue;
                    }
                    let path = path::join(&directory, &name.to_string_lossy());
                    return Err(FileFault::Unreadable { path, reason: "its name is not UTF-8".to_owned() });
                };
                if !name.starts_with('.') {
                    let kind = kind(&entry).map_err(failed)?;
                    names.entry(name.to_lowercase()).or_default().push((name.to_owned(), kind));
                }
            }
            for mut alike in names.into_values() {
                alike.sort_unstable_by(|a, b| a.0.cmp(&b.0));
                if let [(name, _), (other, _), ..] = alike.as_slice()
                    && alike.iter().any(|(_, kind)| kind.is_some())
                {
                    let path = path::join(&directory, name);
                    return Err(FileFault::CaseClash { path, other: path::join(&directory, other) });
                }
                for (name, kind) in alike {
                    let path = path::join(&directory, &name);
                    match kind {
                        Some(Kind::Directory) if !skip.contains(&self.root.join(&path)) => pending.push(path),
                        Some(Kind::DirectoryLink) => {
                            let target = self.root.join(&path).canonicalize_utf8();
                            let target = target.map_err(|error| unreadable(&path, &error))?;
                            let Ok(inside) = target.strip_prefix(&self.root) else {
                                return Err(FileFault::Outside { path, how: OutsideHow::Link });
                            };
                            let is_hidden = inside.components().any(|part| part.as_str().starts_with('.'));
                            if is_hidden && !skip.contains(&target) && !hidden.contains(&target) {
                                hidden.push(target);
                                pending.push(path);
                            }
                        }
                        Some(Kind::Document) => found.push(path),
                        Some(Kind::Directory) | None => {}
                    }
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

enum Kind {
    Directory,
    DirectoryLink,
    Document,
}

/// What an entry is to the walk, if it is anything.
fn kind(entry: &DirEntry) -> std::io::Result<Option<Kind>> {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    if name.starts_with('.') {
        return Ok(None);
    }
    let file_type = entry.file_type()?;
    if file_type.is_dir() {
        return Ok(Some(Kind::Directory));
    }
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let document =
        ending.is_some_and(|ending| ["yaml", "yml"].iter().any(|known| ending.eq_ignore_ascii_case(known)));
    // What another file's link leads to is not asked: reading it says where it cannot be followed.
    let leads_to_directory = file_type.is_symlink()
        && match entry.path().metadata() {
            Ok(metadata) => metadata.is_dir(),
            Err(error) if document || error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
    Ok(match (leads_to_directory, document) {
        (true, _) => Some(Kind::DirectoryLink),
        (false, true) => Some(Kind::Document),
        (false, false) => None,
    })
}
