//! The only place where databases are made: a folder of our own, marked, locked, and removed.
//!
//! `<directory>/.outcrop-kv-<pid>-<hex>/` holds `marker` and a folder for each process. The marker is locked for as long as we live. The
//! folder of a process that is killed is removed by its [`guard`](crate::guard) or, if that was killed too, by the next run in that directory:
//! if its marker is ours, names this very folder, and nobody holds the lock.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::error::KvError;
use crate::usage::allocated_bytes;

const NAME_PREFIX: &str = ".outcrop-kv-";
const MARKER: &str = "marker";
/// What a marker begins with; the name of its folder follows.
const MAGIC: &str = "outcrop key-value databases; safe to remove: ";
/// Longer than any marker.
const MOST_MARKER_BYTES: u64 = 512;

/// A folder for the databases of one trial; it is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct DatabaseFolder {
    path: PathBuf,
    /// Its lock says that the folder is in use.
    _marker: File,
}

impl DatabaseFolder {
    /// Makes a folder in a directory.
    ///
    /// # Errors
    /// The directory is missing, or nothing may be made in it.
    pub fn create(directory: &Path) -> Result<Self, KvError> {
        let directory =
            std::fs::canonicalize(directory).map_err(|error| KvError::path("open", directory, error))?;
        let name = name()?;
        let path = directory.join(&name);
        std::fs::create_dir(&path).map_err(|error| KvError::path("make", &path, error))?;
        match mark(&path, &name) {
            Ok(marker) => Ok(Self {
                path,
                _marker: marker,
            }),
            Err(error) => {
                // It is empty or holds the marker alone; what cannot be removed is found later.
                let _ = std::fs::remove_dir_all(&path);
                Err(error)
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database of one process.
    pub fn database(&self, process: u32) -> PathBuf {
        self.path.join(format!("p{process}"))
    }

    /// Folders in a directory whose process is gone (killed, say): they carry our marker, and nobody holds its lock.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn abandoned_in(directory: &Path) -> Result<Vec<AbandonedDatabases>, KvError> {
        folders(directory, |_| true, maker_lives)
    }

    /// The same of one process alone, which is known to have ended.
    pub(crate) fn left_by(maker: u32, directory: &Path) -> Result<Vec<AbandonedDatabases>, KvError> {
        let its_own = format!("{NAME_PREFIX}{maker}-");
        folders(directory, |name| name.starts_with(&its_own), |_| false)
    }
}

/// Abandoned folders in a directory whose name is one that is meant.
fn folders(
    directory: &Path,
    is_meant: impl Fn(&str) -> bool,
    maker_lives: fn(&str) -> bool,
) -> Result<Vec<AbandonedDatabases>, KvError> {
    let entries = std::fs::read_dir(directory).map_err(|error| KvError::path("list", directory, error))?;
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.file_name().to_str().is_some_and(&is_meant))
        .filter_map(|entry| AbandonedDatabases::examine(&entry.path(), maker_lives))
        .collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

impl Drop for DatabaseFolder {
    fn drop(&mut self) {
        // Nothing can be done about a failure here; `abandoned_in` finds the folder later.
        let _ = remove(&self.path);
    }
}

/// Databases that a dead process left behind. Their lock is held until this value is dropped.
#[derive(Debug)]
pub struct AbandonedDatabases {
    path: PathBuf,
    bytes: u64,
    _locked: File,
}

impl AbandonedDatabases {
    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What they take.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Removes them.
    ///
    /// # Errors
    /// The system refuses to.
    pub fn remove(self) -> Result<(), KvError> {
        remove(&self.path).map_err(|error| KvError::path("remove", &self.path, error))
    }

    fn examine(path: &Path, maker_lives: fn(&str) -> bool) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        if !name.starts_with(NAME_PREFIX) {
            return None;
        }
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let marker = match rustix::fs::open(path.join(MARKER), flags, Mode::empty()) {
            Ok(marker) => File::from(marker),
            Err(_) => {
                // Killed before it could mark the folder. Only an empty folder goes, and only when its maker is gone.
                if !maker_lives(name) {
                    let _ = std::fs::remove_dir(path);
                }
                return None;
            }
        };
        if !marker.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        (&marker).take(MOST_MARKER_BYTES).read_to_string(&mut text).ok()?;
        // Killed before it could write: no databases are made before that.
        let is_unwritten = text.is_empty() && !maker_lives(name);
        if !is_unwritten && text.strip_prefix(MAGIC)?.trim_end() != name {
            return None;
        }
        rustix::fs::flock(&marker, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(Self {
            path: path.to_owned(),
            bytes: allocated_bytes(path).unwrap_or(0),
            _locked: marker,
        })
    }
}

/// Whether the process that a folder is named after is there, or cannot be ruled out.
fn maker_lives(name: &str) -> bool {
    let pid = name
        .strip_prefix(NAME_PREFIX)
        .and_then(|rest| rest.split('-').next());
    match pid.and_then(|pid| pid.parse::<u32>().ok()) {
        Some(pid) => Path::new("/proc").join(pid.to_string()).exists(),
        None => true,
    }
}

/// The databases first and the marker last: a removal that is interrupted can be finished later. What another process removed
/// meanwhile is removed.
fn remove(path: &Path) -> std::io::Result<()> {
    match remove_all(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && !path.exists() => Ok(()),
        done => done,
    }
}

fn remove_all(path: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == MARKER {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false => std::fs::remove_file(entry.path())?,
        }
    }
    std::fs::remove_file(path.join(MARKER))?;
    std::fs::remove_dir(path)
}

/// Makes the marker, and takes its lock before anybody can read what it says.
fn mark(path: &Path, name: &str) -> Result<File, KvError> {
    let at = path.join(MARKER);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let marker = rustix::fs::open(&at, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|error| KvError::path("make", &at, error))?;
    rustix::fs::flock(&marker, FlockOperation::NonBlockingLockExclusive)
        .map_err(|error| KvError::path("lock", &at, error))?;
    let mut marker = File::from(marker);
    writeln!(marker, "{MAGIC}{name}").map_err(|error| KvError::path("write", &at, error))?;
    Ok(marker)
}

fn name() -> Result<String, KvError> {
    let mut id = [0_u8; 8];
    File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut id))
        .map_err(|error| KvError::system("read random bytes", error))?;
    Ok(format!(
        "{NAME_PREFIX}{}-{:016x}",
        std::process::id(),
        u64::from_ne_bytes(id)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a kill leaves of it: the folder, and no lock.
    fn kill(folder: DatabaseFolder) -> PathBuf {
        let path = folder.path.clone();
        let kept = path.with_file_name("kept");
        std::fs::rename(&path, &kept).unwrap();
        drop(folder);
        std::fs::rename(kept, &path).unwrap();
        path
    }

    #[test]
    fn only_marked_folders_whose_process_is_gone_count_as_abandoned() {
        let directory = tempfile::tempdir().unwrap();
        let abandoned = || DatabaseFolder::abandoned_in(directory.path()).unwrap();
        let alive = DatabaseFolder::create(directory.path()).unwrap();
        std::fs::create_dir(alive.database(0)).unwrap();
        std::fs::write(alive.database(0).join("data"), [1; 5000]).unwrap();
        assert!(abandoned().is_empty(), "in use: the lock is held");
        let left = kill(alive);
        let beside = |name: &str| directory.path().join(name);
        std::fs::create_dir(beside(".outcrop-kv-1-unmarked")).unwrap();
        std::fs::create_dir(beside(".outcrop-kv-2-copy")).unwrap();
        std::fs::copy(left.join(MARKER), beside(".outcrop-kv-2-copy").join(MARKER)).unwrap();
        std::os::unix::fs::symlink(&left, beside(".outcrop-kv-3-link")).unwrap();
        std::fs::write(beside(".outcrop-kv-4-file"), MAGIC).unwrap();
        let found = abandoned();
        let paths: Vec<_> = found.iter().map(AbandonedDatabases::path).collect();
        assert_eq!(paths, [left.as_path()]);
        assert!(found[0].bytes() >= 5000);
        for folder in found {
            folder.remove().unwrap();
        }
        assert!(!left.exists());
        let names = std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(names, 4, "nothing else is touched");
    }

    #[test]
    fn a_folder_whose_maker_was_killed_before_it_could_mark_it_goes_unless_it_holds_something() {
        let directory = tempfile::tempdir().unwrap();
        // No process has the largest number.
        let empty = directory.path().join(format!("{NAME_PREFIX}4294967295-a"));
        let half = directory.path().join(format!("{NAME_PREFIX}4294967295-b"));
        let full = directory.path().join(format!("{NAME_PREFIX}4294967295-c"));
        let living = directory
            .path()
            .join(format!("{NAME_PREFIX}{}-d", std::process::id()));
        for folder in [&empty, &half, &full, &living] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(half.join(MARKER), "").unwrap();
        std::fs::write(full.join("somebody's"), "data").unwrap();
        for left in DatabaseFolder::abandoned_in(directory.path()).unwrap() {
            left.remove().unwrap();
        }
        assert!(!empty.exists() && !half.exists());
        assert!(full.exists() && living.exists());
    }

    #[test]
    fn a_folder_goes_with_its_value() {
        let directory = tempfile::tempdir().unwrap();
        let folder = DatabaseFolder::create(directory.path()).unwrap();
        std::fs::create_dir_all(folder.database(3).join("deep")).unwrap();
        drop(folder);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
