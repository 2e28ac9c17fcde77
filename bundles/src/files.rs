//! Finding and reading the files of a bundle, safely.
//!
//! A [`Folder`] is a directory out of which nothing is read: paths are relative to it, written with `/`, and
//! lead out of it neither by how they are written nor by links (links inside are followed). Only regular files
//! are read, at most [`MAX_BYTES`] of each, so a device or a pipe is a fault and never a wait. Names match to the
//! letter on every file system, and two names that differ by case alone are a fault, since a checkout elsewhere
//! would keep one of them.
//!
//! The checks come before the opening, so they do not hold against somebody who changes the folder meanwhile.
//! Source of the search order: the manifest format `phrony.com/v1`, "Refs".

mod fault;
mod path;
mod walk;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

pub use self::fault::{FileFault, OutsideHow};
use self::fault::{file_kind, unreadable};
pub(crate) use self::path::steps;
use crate::names::nearest;
use crate::reading::MAX_BYTES;

/// A directory out of which nothing is read.
#[derive(Debug)]
pub struct Folder {
    root: Utf8PathBuf,
    prefix: String,
    listings: Mutex<BTreeMap<String, Arc<Listing>>>,
}

/// The names in a directory, by their lower-case form.
type Listing = BTreeMap<String, Vec<String>>;

/// What a reference refers to; it decides the endings that are tried, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefKind {
    /// `.yaml`, `.yml`, `.md`; `.txt` if it is written.
    Instructions,
    /// `.json`, `.yaml`, `.yml`.
    Schema,
    /// An Agent, Tool or Policy: `.yaml`, `.yml`.
    Document,
}

impl RefKind {
    /// The endings that are tried, without dot, in order.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Instructions => &["yaml", "yml", "md"],
            Self::Schema => &["json", "yaml", "yml"],
            Self::Document => &["yaml", "yml"],
        }
    }

    /// The path before the ending that `reference` has, and that ending, if it is one of the kind's.
    fn split(self, reference: &str) -> Option<(&str, &str)> {
        let (stem, extension) = reference.rsplit_once('.')?;
        let known =
            self.extensions().contains(&extension) || (self == Self::Instructions && extension == "txt");
        (known && !stem.is_empty() && !stem.ends_with('/')).then_some((stem, extension))
    }
}

/// Where a path leads by the names in the directories on the way.
enum Place {
    Here,
    Missing { nearest: Option<String> },
}

impl Folder {
    /// Opens the directory at `path`, as a user typed it. Faults are those of a file, and name `path`.
    pub fn open(path: &Utf8Path) -> Result<Self, FileFault> {
        Self::open_as(path, path)
    }

    /// [`Folder::open`] of the directory at `path` that messages call `typed`.
    pub fn open_as(path: &Utf8Path, typed: &Utf8Path) -> Result<Self, FileFault> {
        let shown = typed.as_str().to_owned();
        let root = path.canonicalize_utf8().map_err(|error| unreadable(&shown, &error))?;
        let metadata = root.metadata().map_err(|error| unreadable(&shown, &error))?;
        if !metadata.is_dir() {
            return Err(FileFault::NotRegular { path: shown, what: file_kind(metadata.file_type()) });
        }
        let mut prefix = path::shown(typed);
        if !prefix.is_empty() && !prefix.ends_with('/') {
            prefix.push('/');
        }
        Ok(Self { root, prefix, listings: Mutex::new(BTreeMap::new()) })
    }

    /// The canonical path of the directory.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// What a message calls the file at `relative`: what the user typed for the folder, `/`, and the path;
    /// nothing for a folder typed as `.`.
    pub fn display(&self, relative: &str) -> String {
        format!("{}{relative}", self.prefix)
    }

    /// The bytes of the regular file at `relative`: with `/`, from the folder on.
    pub fn read(&self, relative: &str) -> Result<Vec<u8>, FileFault> {
        let normal = path::normal(relative)?;
        if let Place::Missing { nearest } = self.place(&normal)? {
            return Err(FileFault::NotFound { path: relative.to_owned(), tried: vec![normal], nearest });
        }
        let path = self.inside(&normal)?.ok_or_else(|| FileFault::NotFound {
            path: relative.to_owned(),
            tried: vec![normal.clone()],
            nearest: None,
        })?;
        let failed = |error| unreadable(relative, &error);
        let regular = |metadata: std::fs::Metadata| {
            if metadata.is_file() {
                return Ok(());
            }
            Err(FileFault::NotRegular { path: relative.to_owned(), what: file_kind(metadata.file_type()) })
        };
        regular(path.metadata().map_err(failed)?)?;
        let file = File::open(&path).map_err(failed)?;
        regular(file.metadata().map_err(failed)?)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > MAX_BYTES {
            return Err(FileFault::TooLarge { path: relative.to_owned() });
        }
        Ok(bytes)
    }

    /// The path of the file that `reference` of `kind` refers to.
    ///
    /// A reference with an ending of the kind is taken as it is, another one with each ending in turn. With a
    /// version `V` the candidates are `REF-V`, `REF/V` and `REF/vV`, each with the ending or endings. The first one
    /// that is there is it; whether it is a file that can be read, [`Folder::read`] says.
    pub fn find(&self, reference: &str, version: Option<&str>, kind: RefKind) -> Result<String, FileFault> {
        let normal = path::normal(reference)?;
        let (stem, written) = match kind.split(&normal) {
            Some((stem, extension)) => (stem, Some(extension)),
            None => (normal.as_str(), None),
        };
        let stems = match version {
            None => vec![stem.to_owned()],
            Some(version) => {
                vec![format!("{stem}-{version}"), format!("{stem}/{version}"), format!("{stem}/v{version}")]
            }
        };
        let extensions = written.as_ref().map_or(kind.extensions(), std::slice::from_ref);
        let mut tried = Vec::new();
        for stem in &stems {
            for extension in extensions {
                let candidate = path::normal(&format!("{stem}.{extension}"))?;
                if let Place::Here = self.place(&candidate)? {
                    return Ok(candidate);
                }
                tried.push(candidate);
            }
        }
        let nearest =
            stems.first().map(|stem| self.near_reference(stem, written, kind)).transpose()?.flatten();
        Err(FileFault::NotFound { path: reference.to_owned(), tried, nearest })
    }

    /// A reference to something that is there, spelled almost like `stem` with the ending `written`.
    fn near_reference(
        &self,
        stem: &str,
        written: Option<&str>,
        kind: RefKind,
    ) -> Result<Option<String>, FileFault> {
        let (directory, name) = path::split(stem);
        if !directory.is_empty()
            && let Place::Missing { nearest } = self.place(directory)?
        {
            return Ok(nearest);
        }
        let Some(listing) = self.listing(directory, false)? else { return Ok(None) };
        let stems = listing.values().flatten().filter_map(|name| kind.split(name)).map(|(stem, _)| stem);
        let Some(near) =
            nearest(name, stems.clone()).or_else(|| stems.into_iter().find(|stem| *stem == name))
        else {
            return Ok(None);
        };
        let is_there = |ending: &&str| {
            listing.values().flatten().any(|name| name.as_str() == format!("{near}.{ending}"))
        };
        Ok(Some(match written {
            None => path::join(directory, near),
            Some(written) => {
                let endings = kind.extensions().iter().copied();
                let ending = Some(written).into_iter().chain(endings).find(is_there).unwrap_or(written);
                path::join(directory, &format!("{near}.{ending}"))
            }
        }))
    }

    /// Compares a path that is written normally with the names that are there, one directory after another.
    fn place(&self, normal: &str) -> Result<Place, FileFault> {
        let mut directory = String::new();
        for name in normal.split('/') {
            let path = path::join(&directory, name);
            let mut found = self.listing(&directory, false)?;
            let lower = name.to_lowercase();
            let has = |listing: &Listing| {
                listing.get(&lower).is_some_and(|names| names.iter().any(|other| other == name))
            };
            if !found.as_deref().is_some_and(has) {
                found = self.listing(&directory, true)?;
            }
            let Some(listing) = found else { return Ok(Place::Missing { nearest: None }) };
            let alike = listing.get(&lower).map_or(&[][..], Vec::as_slice);
            let other = alike.iter().find(|other| *other != name);
            match (has(&listing), other) {
                (true, None) => directory = path,
                (true, Some(other)) => {
                    let other = path::join(&directory, other);
                    return Err(FileFault::CaseClash { path, other });
                }
                (false, other) => {
                    let names = listing.values().flatten().map(String::as_str);
                    let near = other.map(String::as_str).or_else(|| nearest(name, names));
                    return Ok(Place::Missing { nearest: near.map(|near| path::join(&directory, near)) });
                }
            }
        }
        Ok(Place::Here)
    }

    /// The names in a directory of the folder; `None` if it is not there or none. `again` looks once more.
    fn listing(&self, directory: &str, again: bool) -> Result<Option<Arc<Listing>>, FileFault> {
        let known = |listings: &BTreeMap<String, Arc<Listing>>| listings.get(directory).cloned();
        if !again && let Some(known) = known(&self.listings.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(Some(known));
        }
        let Some(path) = self.inside(directory)? else { return Ok(None) };
        let entries = match path.read_dir() {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(unreadable(directory, &error)),
        };
        let mut listing = Listing::new();
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(directory, &error))?;
            if let Some(name) = entry.file_name().to_str() {
                listing.entry(name.to_lowercase()).or_default().push(name.to_owned());
            }
        }
        for names in listing.values_mut() {
            names.sort_unstable();
        }
        let listing = Arc::new(listing);
        let mut listings = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        listings.insert(directory.to_owned(), listing.clone());
        Ok(Some(listing))
    }

    /// The canonical path of what is at `normal`, inside the folder; `None` if nothing is there.
    fn inside(&self, normal: &str) -> Result<Option<Utf8PathBuf>, FileFault> {
        match self.root.join(normal).canonicalize_utf8() {
            Ok(path) if path.starts_with(&self.root) => Ok(Some(path)),
            Ok(_) => Err(FileFault::Outside { path: normal.to_owned(), how: OutsideHow::Link }),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(unreadable(normal, &error)),
        }
    }
}

#[cfg(test)]
mod tests;
