//! The proof that a file is not in memory: written back, let go, and counted.

use std::fs::File;
use std::time::Duration;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::cached_pages;
use rustix::fs::Advice;

use crate::error::FilesystemError;

/// Pages of the files that were in memory before an operation: 0, or the trial has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coldness {
    /// By cachestat; unavailable on kernels before Linux 6.5.
    pub cached_pages: Result<u64, Unavailable>,
}

const PAGE_BYTES: u64 = 4096;
/// The kernel may hold single pages for a moment: threads that still write back, compress or move them keep them from being dropped.
const ATTEMPTS: u32 = 10;
/// The wait after the first attempt; each is twice as long as the one before, half a second in all.
const FIRST_WAIT: Duration = Duration::from_millis(1);

impl Coldness {
    /// Takes the files out of the page cache and proves it: fsync (dirty pages would stay), FADV_DONTNEED, cachestat = 0.
    ///
    /// # Errors
    /// [`FilesystemError::NotCold`] when pages stay; unavailable where the kernel does not say, as nothing would prove it.
    pub fn prove(files: &[File]) -> Result<Self, FilesystemError> {
        let mut left = 0;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::park_timeout(FIRST_WAIT * 2_u32.pow(attempt - 1));
            }
            for file in files {
                write_back(file)?;
                rustix::fs::fadvise(file, 0, None, Advice::DontNeed)
                    .map_err(|errno| FilesystemError::system("drop a file from the page cache", errno))?;
            }
            left = Self::count(files)?;
            if left == 0 {
                return Ok(Self { cached_pages: Ok(0) });
            }
        }
        let bytes: u64 = files
            .iter()
            .filter_map(|file| file.metadata().ok())
            .map(|file| file.len())
            .sum();
        Err(FilesystemError::NotCold {
            cached: left,
            file_pages: bytes.div_ceil(PAGE_BYTES),
        })
    }

    /// Pages of the files in memory now.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn count(files: &[File]) -> Result<u64, Unavailable> {
        files
            .iter()
            .map(|file| cached_pages(file).map(|pages| pages.cached))
            .sum()
    }
}

/// Writes a file back: dirty pages are not dropped.
fn write_back(file: &File) -> Result<(), FilesystemError> {
    match file.sync_all() {
        // Read-only filesystems have nothing to write, and some no fsync.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(()),
        result => {
            result.map_err(|error| FilesystemError::system("write a file back before it is read cold", error))
        }
    }
}
