//! How much a database takes on its filesystem.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use outcrop_workload::store::StoreEngine;
use serde::{Deserialize, Serialize};

use crate::engine;
use crate::error::KvError;

/// The unit of `st_blocks`, whatever the filesystem's own block.
const STAT_BLOCK_BYTES: u64 = 512;

/// Bytes that the filesystem has given to the files below a directory: of files with holes, and of those that a filesystem compresses, what
/// they really take. *Cost*: one system call a file.
///
/// # Errors
/// The directory cannot be listed. A file that goes away meanwhile counts for nothing.
pub fn allocated_bytes(directory: &Path) -> Result<u64, KvError> {
    Space::of(directory, StoreEngine::None).map(|space| space.bytes)
}

/// What a database takes on its filesystem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// All of it.
    pub bytes: u64,
    /// The engine's log, as its files say: below a filesystem that compresses it takes less. 0 where the engine has none.
    pub log_bytes: u64,
}

impl Space {
    /// The space of the files below a directory. *Cost*: one system call a file.
    ///
    /// # Errors
    /// The directory cannot be listed. A file that goes away meanwhile counts for nothing.
    pub fn of(directory: &Path, engine: StoreEngine) -> Result<Self, KvError> {
        let mut space = Self::default();
        for_each_file(directory, &mut |path| {
            let bytes = std::fs::symlink_metadata(path).map_or(0, |file| file.blocks() * STAT_BLOCK_BYTES);
            space.bytes += bytes;
            space.log_bytes += if engine::is_log(engine, path) { bytes } else { 0 };
            Ok(())
        })?;
        Ok(space)
    }
}

/// Whether less than a mebibyte is free on the filesystem of a directory.
pub(crate) fn is_full(directory: &Path) -> bool {
    rustix::fs::statvfs(directory).is_ok_and(|space| space.f_bavail * space.f_frsize < 1 << 20)
}

/// Whether the filesystem of a directory has as much free as the files below it take. What cannot be read is taken for room.
pub(crate) fn has_room_for_a_copy(directory: &Path) -> bool {
    let (Ok(space), Ok(taken)) = (rustix::fs::statvfs(directory), allocated_bytes(directory)) else {
        return true;
    };
    space.f_bavail * space.f_frsize >= taken
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
