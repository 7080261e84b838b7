//! A file that appears under its name whole or not at all.

use std::fs::{File, Metadata, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::file::about;
use super::unfinished::Unfinished;
use super::{WriteAt, check_place};
use crate::error::{ColumnError, Result};

/// How the names of temporary files begin. Files of such a name are removed, so it is one that nobody gives a file of his own.
const PREFIX: &str = ".outcrop-unfinished-";
/// Characters behind it.
const RANDOM_LEN: usize = 12;

/// A temporary file beside its target, which [`AtomicFile::commit`] makes durable and renames.
///
/// Dropped without commit, it is removed. Killed, it leaves a hidden `.outcrop-unfinished-*` file, never a half file under the target's
/// name, and the next one in that folder removes it: whose lock (`flock`) is free has no writer.
///
/// A target that is a link to a regular file is itself replaced; the file that it leads to stays as it is. A regular file that is replaced
/// passes on its mode and, where this process may give files away, its owner and group; access lists and extended attributes are lost.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    /// Dropped after it.
    listed: Unfinished,
    target: PathBuf,
    replaces: bool,
}

/// The mode bits of a new file that anybody may read and write as far as the process's mask lets them.
const NEW_FILE_MODE: u32 = 0o666;
/// The bits of a mode that say who may do what: neither set-user-ID nor its kin are passed on.
const ACCESS_BITS: u32 = 0o777;

/// The system's answer without the temporary file's name, which nobody chose.
fn without_path(error: &io::Error, folder: &Path) -> io::Error {
    let said = match error.kind() {
        io::ErrorKind::NotFound => format!("the folder {} does not exist", folder.display()),
        // What the system said stands before the path.
        _ => error.to_string().split(" at path ").take(1).collect(),
    };
    io::Error::new(error.kind(), said)
}

impl AtomicFile {
    /// Creates the temporary file in the folder of `target`.
    ///
    /// # Errors
    /// [`ColumnError::Path`] when the folder cannot be written, the target is a device, a pipe, a socket or a folder (renaming
    /// would put a file in the place of `/dev/null`), or [`check_place`] refuses it.
    pub fn create(target: &Path) -> Result<Self> {
        Self::begin(target, true)
    }

    /// The same for a target that must not exist: [`AtomicFile::commit`] replaces nothing.
    ///
    /// # Errors
    /// As [`AtomicFile::create`], and when the target exists.
    pub fn create_new(target: &Path) -> Result<Self> {
        Self::begin(target, false)
    }

    fn begin(target: &Path, replaces: bool) -> Result<Self> {
        let refused = |source| ColumnError::Path {
            path: target.to_owned(),
            source,
        };
        refuse_special(target).map_err(refused)?;
        if !replaces && target.symlink_metadata().is_ok() {
            return Err(refused(io::ErrorKind::AlreadyExists.into()));
        }
        let folder = folder_of(target);
        remove_abandoned(folder);
        let before = target.symlink_metadata().ok().filter(Metadata::is_file);
        let temporary = temporary(folder, before.as_ref());
        let temporary = temporary.map_err(|error| refused(without_path(&error, folder)))?;
        Ok(Self {
            listed: Unfinished::of(temporary.path()),
            temporary,
            target: target.to_owned(),
            replaces,
        })
    }

    /// The file, for who writes it from beginning to end.
    pub fn as_file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Makes the bytes durable, renames the file to its target and makes the name durable.
    ///
    /// # Errors
    /// [`ColumnError::Path`], also when a target that must not exist came into being meanwhile; the target
    /// then is what it was before, unless only the last step, syncing the folder, failed.
    pub fn commit(self) -> Result<()> {
        let Self {
            temporary,
            listed: _listed,
            target,
            replaces,
        } = self;
        let finish = || {
            temporary.as_file().sync_all()?;
            refuse_special(&target)?;
            let persisted = if replaces {
                temporary.persist(&target)
            } else {
                temporary.persist_noclobber(&target)
            };
            persisted.map_err(|failure| failure.error)?;
            File::open(folder_of(&target))?.sync_all()
        };
        finish().map_err(|source| ColumnError::Path {
            path: target.clone(),
            source,
        })
    }
}

/// Fails where something other than a regular file stands under the name, links followed, or where no file may be.
fn refuse_special(target: &Path) -> io::Result<()> {
    match std::fs::metadata(target) {
        Ok(found) if !found.is_file() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "is not a regular file, but would be replaced; name a file",
        )),
        Ok(_) => check_place(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_place(target),
        Err(error) => Err(error),
    }
}

/// A temporary file under our lock, which nobody may read or write who may not do so with the file that it replaces.
fn temporary(folder: &Path, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let Some(replaced) = replaced else {
        return locked(folder, NEW_FILE_MODE);
    };
    let mode = replaced.mode() & ACCESS_BITS;
    let temporary = locked(folder, mode)?;
    let file = temporary.as_file();
    let made = file.metadata()?;
    if (made.uid(), made.gid()) != (replaced.uid(), replaced.gid()) {
        let (owner, group) = (Some(replaced.uid()), Some(replaced.gid()));
        // Only root may change the owner, members may give their group, and some filesystems have no owners: then it is ours.
        let _ = fchown(file, owner, group).or_else(|_| fchown(file, None, group));
    }
    // The process's mask has taken bits away.
    if made.mode() & ACCESS_BITS != mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(temporary)
}

fn locked(folder: &Path, mode: u32) -> io::Result<NamedTempFile> {
    loop {
        let temporary = tempfile::Builder::new()
            .prefix(PREFIX)
            .rand_bytes(RANDOM_LEN)
            // The process's mask still takes away what it takes.
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        match temporary.as_file().try_lock() {
            // Another writer may have taken it for abandoned before it was locked.
            Ok(()) if temporary.path().try_exists()? => return Ok(temporary),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // Without locks nobody removes anything.
            Err(TryLockError::Error(_)) => return Ok(temporary),
        }
    }
}

/// Removes what killed writers left in a folder. What cannot be removed stays. What is in such a file says nothing: text and pictures
/// are written through one too.
fn remove_abandoned(folder: &Path) {
    let Ok(names) = std::fs::read_dir(folder) else {
        return;
    };
    for name in names.flatten() {
        let is_ours = name.file_name().to_str().is_some_and(|name| {
            name.strip_prefix(PREFIX).is_some_and(|rest| {
                rest.len() == RANDOM_LEN && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
            })
        });
        if !is_ours || !name.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(file) = lockable(&name.path())
            && file.try_lock().is_ok()
        {
            // The lock is held until it is gone, so that no writer believes it to be its own.
            let _ = std::fs::remove_file(name.path());
        }
    }
}

/// Opens a file so that its lock can be tried for: NFS gives one of writers only to who may write.
fn lockable(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).open(path);
    // One of somebody else can be removed by who may write the folder.
    file.or_else(|_| File::open(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."))
}

impl WriteAt for AtomicFile {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let written = self.temporary.as_file().write_all_at(bytes, offset);
        written.map_err(|error| about(&self.target, error))
    }

    fn sync(&mut self) -> io::Result<()> {
        let synced = self.temporary.as_file().sync_all();
        synced.map_err(|error| about(&self.target, error))
    }
}

impl WriteAt for File {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_answer_is_said_in_the_words_of_the_system() {
        // EIO has no kind of its own; the library that makes temporary files adds their names.
        let kind = io::Error::from_raw_os_error(5).kind();
        let error = io::Error::new(kind, "Input/output error (os error 5) at path \"/n/.tmp\"");
        let said = without_path(&error, Path::new("/n")).to_string();
        assert_eq!(said, "Input/output error (os error 5)");
    }

    #[test]
    fn a_file_that_cannot_be_written_any_more_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = AtomicFile::create(&folder.path().join("words.ocol")).unwrap();
        // No file is that large.
        let failure = WriteAt::write_all_at(&mut file, b"x", i64::MAX as u64).unwrap_err();
        let said = failure.to_string();
        assert!(said.contains("/words.ocol: "), "{said}");
        assert!(said.contains("os error"), "{said}");
    }

    #[test]
    fn a_file_that_replaces_another_is_read_by_nobody_who_may_not_read_that() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("words.ocol");
        for mode in [0o600, 0o640, 0o666, 0o444] {
            std::fs::write(&target, "before").unwrap();
            std::fs::set_permissions(&target, Permissions::from_mode(mode)).unwrap();
            let file = AtomicFile::create(&target).unwrap();
            let written = file.as_file().metadata().unwrap();
            assert_eq!(written.mode() & 0o7777, mode, "while it is written");
            file.commit().unwrap();
            let replaced = target.metadata().unwrap();
            assert_eq!(replaced.mode() & 0o7777, mode);
            std::fs::remove_file(&target).unwrap();
        }
    }

    #[test]
    fn a_file_that_root_replaces_stays_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("words.ocol");
        std::fs::write(&target, "before").unwrap();
        // Only root may give a file away.
        if std::os::unix::fs::chown(&target, Some(1234), Some(5678)).is_err() {
            assert!(std::env::var_os("CI").is_none(), "CI is root");
            return;
        }
        AtomicFile::create(&target).unwrap().commit().unwrap();
        let replaced = target.metadata().unwrap();
        assert_eq!((replaced.uid(), replaced.gid()), (1234, 5678));
    }

    #[test]
    fn what_a_killed_writer_left_is_opened_for_writing_as_nfs_demands_of_who_locks() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join("left");
        std::fs::write(&left, "half").unwrap();
        let file = lockable(&left).unwrap();
        file.try_lock().unwrap();
        // Here any descriptor may lock, so it is by a write that this one proves to be such.
        file.write_all_at(b"H", 0).unwrap();
        assert_eq!(std::fs::read(&left).unwrap(), b"Half");
    }
}
