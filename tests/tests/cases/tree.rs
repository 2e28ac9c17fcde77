//! A directory as a value, to see what a command changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};

/// What is at each path below a directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<String, Found>);

#[derive(Debug, PartialEq, Eq)]
enum Found {
    File(Vec<u8>),
    Directory,
    Link(String),
    Other,
}

impl Tree {
    /// What is there now.
    pub(crate) fn of(root: &Utf8Path) -> Result<Self, String> {
        let mut found = BTreeMap::new();
        collect(root, root, &mut found).map_err(|error| format!("cannot look at the tree: {error}"))?;
        Ok(Self(found))
    }

    /// Paths that differ between the two.
    pub(crate) fn changes(&self, after: &Self) -> Vec<String> {
        let paths = self.0.keys().chain(after.0.keys().filter(|path| !self.0.contains_key(*path)));
        paths.filter(|path| self.0.get(*path) != after.0.get(*path)).cloned().collect()
    }
}

fn collect(root: &Utf8Path, folder: &Utf8Path, found: &mut BTreeMap<String, Found>) -> io::Result<()> {
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        let (path, kind) = (entry.path().to_owned(), entry.file_type()?);
        let name = path.strip_prefix(root).unwrap_or(&path).as_str().replace('\\', "/");
        let what = if kind.is_dir() {
            collect(root, &path, found)?;
            Found::Directory
        } else if kind.is_symlink() {
            Found::Link(path.read_link_utf8().map_or_else(|_| String::new(), Utf8PathBuf::into_string))
        } else if kind.is_file() {
            Found::File(fs::read(&path)?)
        } else {
            Found::Other
        };
        found.insert(name, what);
    }
    Ok(())
}

/// Copies a directory of regular files.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
