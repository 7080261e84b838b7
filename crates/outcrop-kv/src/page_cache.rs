//! Our own files in the page cache: to the device, and out of memory.

use std::fs::File;
use std::path::Path;

use rustix::fs::Advice;

use crate::error::KvError;
use crate::usage::for_each_file;

/// Brings everything that was written on the filesystem of a directory to its device.
pub(crate) fn sync(directory: &Path) -> Result<(), KvError> {
    let folder = File::open(directory).map_err(|error| KvError::path("open", directory, error))?;
    rustix::fs::syncfs(&folder).map_err(|error| KvError::path("sync", directory, error))
}

/// Asks the kernel to forget the pages of the files below a directory. Pages that a process has mapped stay.
pub(crate) fn forget(directory: &Path) -> Result<(), KvError> {
    for_each_file(directory, &mut |path| {
        // A file that the engine has just removed is out of the cache too.
        let Ok(file) = File::open(path) else {
            return Ok(());
        };
        rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)
            .map_err(|error| KvError::path("drop the page cache of", path, error))
    })
}
