//! The few ways in which the store touches the disk.
//!
//! Writing goes through a trait whose methods are the steps that a crash can fall between, so that tests can stop
//! after each of them, or in the middle of a write. Reading is bounded, and follows no link.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};

use camino::Utf8Path;

use super::StoreError;

/// The steps of writing. Each one has happened in full or not at all, save a write, which may stop at any byte.
pub(super) trait Disk {
    /// Waits for the exclusive lock, held until the file is dropped or the process ends, however it ends.
    fn lock(&mut self, path: &Utf8Path) -> io::Result<File>;

    /// Makes a directory if there is none. Its parent must be there.
    fn make_directory(&mut self, path: &Utf8Path) -> io::Result<()>;

    /// Makes new files with these contents, and returns when all of it is on the medium.
    fn write(&mut self, files: &[(&Utf8Path, &[u8])]) -> io::Result<()>;

    /// Puts `from` in the place of `to` at one instant.
    fn rename(&mut self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()>;

    /// Returns when the names in a directory are on the medium.
    fn sync_directory(&mut self, path: &Utf8Path) -> io::Result<()>;

    /// Removes a file. None there is success.
    fn remove(&mut self, path: &Utf8Path) -> io::Result<()>;
}

/// The file system.
#[derive(Debug)]
pub(super) struct FileSystem;

impl Disk for FileSystem {
    fn lock(&mut self, path: &Utf8Path) -> io::Result<File> {
        // Opening a pipe would wait for its other end for ever.
        match fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a regular file")),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        Ok(file)
    }

    fn make_directory(&mut self, path: &Utf8Path) -> io::Result<()> {
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    fn write(&mut self, files: &[(&Utf8Path, &[u8])]) -> io::Result<()> {
        let mut written = Vec::with_capacity(files.len());
        for (path, bytes) in files {
            let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
            file.write_all(bytes)?;
            written.push(file);
        }
        // After the last write, not one by one: the first flush then takes most of the others along. In threads, which a
        // busy machine lets wait, it was no faster.
        written.iter().try_for_each(File::sync_data)
    }

    fn rename(&mut self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_directory(&mut self, path: &Utf8Path) -> io::Result<()> {
        // Elsewhere a directory cannot be opened as a file, and the rename itself is all that can be asked for.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn remove(&mut self, path: &Utf8Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

/// What a name in the store stands for. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    File,
    Directory,
    /// A link, pipe, socket or device.
    Other,
}

pub(super) fn look(path: &Utf8Path) -> Result<Found, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(Found::File),
        Ok(found) if found.is_dir() => Ok(Found::Directory),
        Ok(_) => Ok(Found::Other),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Found::Nothing)
        }
        Err(error) => Err(StoreError::io("look at", path, error)),
    }
}

/// The content of a regular file of at most `limit` bytes, or nothing when there is no such file.
pub(super) fn read(path: &Utf8Path, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
    match look(path)? {
        Found::Nothing => return Ok(None),
        Found::File => {}
        Found::Directory | Found::Other => return Err(StoreError::NotAFile { path: path.to_owned() }),
    }
    let failed = |error| StoreError::io("read", path, error);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    // The bound holds for a file that grows meanwhile, too.
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(limit)).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(Some(bytes))
}

/// The names in a directory, sorted. A name that is not UTF-8 is shown with replacement characters.
pub(super) fn names(path: &Utf8Path) -> Result<Vec<String>, StoreError> {
    let failed = |error| StoreError::io("list", path, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// Makes a directory and those above it, and returns those in which a new one stands.
pub(super) fn make_directories(path: &Utf8Path) -> Result<Vec<&Utf8Path>, StoreError> {
    let new = path.ancestors().take_while(|path| !path.as_str().is_empty() && !path.exists());
    let changed =
        new.filter_map(Utf8Path::parent).map(|parent| if parent == "" { Utf8Path::new(".") } else { parent });
    let changed = changed.collect();
    fs::create_dir_all(path).map_err(|error| StoreError::io("create", path, error))?;
    Ok(changed)
}
