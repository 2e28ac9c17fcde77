//! Writing files that people own: whole, or not at all.

use std::fs;
use std::io::{self, Write as _};

use camino::Utf8Path;

/// Writes `bytes` to `path` beside what is there, then puts it in its place; makes missing directories. On failure
/// what was there is still there, and the reason is given in plain words.
pub(crate) fn write_whole(path: &Utf8Path, bytes: &[u8]) -> Result<(), String> {
    let name = path.file_name().ok_or("it is no file name")?;
    let parent = path.parent().ok_or("it is no file name")?;
    fs::create_dir_all(parent).map_err(|error| plain(&error))?;
    // Its own process's name, made anew: a link that somebody put there is removed, never followed.
    let temporary = parent.join(format!(".{name}.{}.tmp", std::process::id()));
    let _ = fs::remove_file(&temporary);
    let written = fs::File::options().write(true).create_new(true).open(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&temporary, path));
    placed.map_err(|error| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        plain(&error)
    })
}

/// Why an operation failed, without the system's numbers.
pub(crate) fn plain(error: &io::Error) -> String {
    use io::ErrorKind as Kind;
    #[expect(clippy::wildcard_enum_match_arm, reason = "the standard library's list is open")]
    match error.kind() {
        Kind::NotFound => "there is no such directory".to_owned(),
        Kind::PermissionDenied => "permission denied".to_owned(),
        Kind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        Kind::StorageFull => "the disk is full".to_owned(),
        Kind::AlreadyExists => "it is there already".to_owned(),
        Kind::IsADirectory => "it is a directory".to_owned(),
        Kind::NotADirectory => "a file stands where a directory is due".to_owned(),
        _ => error.to_string(),
    }
}
