//! The temporary files that this process is writing, for a process that ends without dropping them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static LISTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file that is listed for as long as this lives.
#[derive(Debug)]
pub(super) struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    pub(super) fn of(path: &Path) -> Self {
        // Copied before the list is locked: where memory is refused, the list is read.
        let (path, copy) = (path.to_owned(), path.to_owned());
        let mut listed = LISTED.lock().unwrap_or_else(PoisonError::into_inner);
        listed.push(copy);
        Self { path }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut listed = LISTED.lock().unwrap_or_else(PoisonError::into_inner);
        listed.retain(|path| *path != self.path);
    }
}

/// Removes the temporary files of every [`AtomicFile`](super::AtomicFile) of this process, which must end at once after that.
///
/// It waits for nothing, and asks for memory only where a path has more than some hundred bytes. If the list is being changed just
/// then, the files stay, and the next writer removes them.
pub fn remove_unfinished() {
    if let Ok(listed) = LISTED.try_lock() {
        for path in listed.iter() {
            // Nobody is left to tell.
            let _ = std::fs::remove_file(path);
        }
    }
}
