//! How much a database takes on its filesystem.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::error::KvError;

/// The unit of `st_blocks`, whatever the filesystem's own block.
const STAT_BLOCK_BYTES: u64 = 512;

/// Bytes that the filesystem has given to the files below a directory: of files with holes, and of those that a filesystem compresses, what
/// they really take. *Cost*: one system call a file.
///
/// # Errors
/// The directory cannot be listed. A file that goes away meanwhile counts for nothing.
pub fn allocated_bytes(directory: &Path) -> Result<u64, KvError> {
    let mut bytes = 0;
    for_each_file(directory, &mut |path| {
        bytes += std::fs::symlink_metadata(path).map_or(0, |file| file.blocks() * STAT_BLOCK_BYTES);
        Ok(())
    })?;
    Ok(bytes)
}

/// Whether less than a mebibyte is free on the filesystem of a directory.
pub(crate) fn is_full(directory: &Path) -> bool {
    rustix::fs::statvfs(directory).is_ok_and(|space| space.f_bavail * space.f_frsize < 1 << 20)
}

/// Calls `visit` with each regular file below a directory; links are not followed.
pub(crate) fn for_each_file(
    directory: &Path,
    visit: &mut dyn FnMut(&Path) -> Result<(), KvError>,
) -> Result<(), KvError> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(KvError::path("list", directory, error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| KvError::path("list", directory, error))?;
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            for_each_file(&entry.path(), visit)?;
        } else if kind.is_file() {
            visit(&entry.path())?;
        }
    }
    Ok(())
}
