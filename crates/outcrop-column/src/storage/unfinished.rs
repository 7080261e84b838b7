//! The temporary files that this process is writing, for a process that ends without dropping them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Files that other threads may add while one finds room for its own.
const ROOM: usize = 64;

static LISTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file that is listed for as long as this lives.
#[derive(Debug)]
pub(super) struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    pub(super) fn of(path: &Path) -> Self {
        // All memory is asked for before the list is locked: where it is refused, the list is read.
        let (path, copy) = (path.to_owned(), path.to_owned());
        let needed = listed().len() + ROOM;
        let mut longer = Vec::with_capacity(needed);
        let mut list = listed();
        if list.len() == list.capacity() {
            longer.append(&mut list);
            std::mem::swap(&mut *list, &mut longer);
        }
        list.push(copy);
        drop(list);
        Self { path }
    }
}

fn listed() -> MutexGuard<'static, Vec<PathBuf>> {
    LISTED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        listed().retain(|path| *path != self.path);
    }
}

/// Removes the temporary files of every [`AtomicFile`](super::AtomicFile) of this process, which must end at once after that.
///
/// It waits for nothing, and asks for memory only where a path has more than some hundred bytes. If the list is being changed just
/// then, the files stay, and the next writer removes them.
pub fn remove_unfinished() {
    let listed = match LISTED.try_lock() {
        Ok(listed) => listed,
        Err(TryLockError::Poisoned(listed)) => listed.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    for path in listed.iter() {
        // Nobody is left to tell.
        let _ = std::fs::remove_file(path);
    }
}
