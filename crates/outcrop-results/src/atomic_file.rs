//! Files that are either there in full or not there at all, also after a crash or a power cut.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::ResultsError;

/// Writes `bytes` as the file `path`, replacing it in one step.
///
/// The bytes go to a temporary file beside it, which is synced and renamed; then the folder is synced. A
/// reader sees the old file or the new one, never a part.
///
/// # Errors
/// [`ResultsError::Io`]; the old file, if any, is untouched and the temporary one is removed.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ResultsError> {
    write_with(path, |file| {
        file.write_all(bytes).map_err(ResultsError::io("write", path))
    })
}

/// [`write_atomically`] for content that `fill` produces piece by piece.
pub(crate) fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), ResultsError>,
) -> Result<(), ResultsError> {
    let temporary = temporary_beside(path);
    let result = write_and_rename(&temporary, path, fill);
    if result.is_err() {
        // Best effort: the error that counts is the one being returned.
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn write_and_rename(
    temporary: &Path,
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), ResultsError>,
) -> Result<(), ResultsError> {
    let mut file = create_new(temporary).map_err(ResultsError::io("create", temporary))?;
    fill(&mut file)?;
    file.sync_all().map_err(ResultsError::io("sync", temporary))?;
    fs::rename(temporary, path).map_err(ResultsError::io("put in place", path))?;
    sync_folder(parent_of(path))
}

/// Makes a file under a name that others could guess: never through a link, nor into a file that they put there.
fn create_new(path: &Path) -> io::Result<File> {
    let create = || File::options().write(true).create_new(true).open(path);
    match create() {
        // What a killed process with our number has left, or somebody put there.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            create()
        }
        created => created,
    }
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), ResultsError> {
    File::open(folder)
        .and_then(|handle| handle.sync_all())
        .map_err(ResultsError::io("sync", folder))
}

/// The folder that holds `path`; `.` for a bare file name.
pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A hidden name beside `path`; the process id keeps two writers apart.
pub(crate) fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// True when the filesystem or the user's quota is full.
pub(crate) fn is_out_of_space(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_the_temporary_file_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let (target, precious) = (folder.path().join("plan.toml"), folder.path().join("precious"));
        fs::write(&precious, "keep").unwrap();
        std::os::unix::fs::symlink(&precious, temporary_beside(&target)).unwrap();
        write_atomically(&target, b"new").unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"keep");
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert!(fs::symlink_metadata(&target).unwrap().is_file());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
