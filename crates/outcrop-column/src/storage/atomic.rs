//! A file that appears under its name whole or not at all.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::WriteAt;
use crate::error::{ColumnError, Result};

/// A temporary file beside its target, which [`AtomicFile::commit`] makes durable and renames.
///
/// Dropped without commit, it is removed; killed, it leaves a hidden `.ocol-*` file but never a half
/// file under the target's name.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    target: PathBuf,
}

impl AtomicFile {
    /// Creates the temporary file in the folder of `target`.
    ///
    /// # Errors
    /// [`ColumnError::Path`] when the folder cannot be written.
    pub fn create(target: &Path) -> Result<Self> {
        let temporary = tempfile::Builder::new()
            .prefix(".ocol-")
            .tempfile_in(folder_of(target))
            .map_err(|source| ColumnError::Path {
                path: target.to_owned(),
                source,
            })?;
        Ok(Self {
            temporary,
            target: target.to_owned(),
        })
    }

    /// Makes the bytes durable, renames the file to its target and makes the name durable.
    ///
    /// # Errors
    /// [`ColumnError::Path`]; the target then is what it was before, unless only the last step, syncing
    /// the folder, failed.
    pub fn commit(self) -> Result<()> {
        let Self { temporary, target } = self;
        let finish = || {
            temporary.as_file().sync_all()?;
            set_usual_permissions(temporary.as_file())?;
            temporary.persist(&target).map_err(|failure| failure.error)?;
            File::open(folder_of(&target))?.sync_all()
        };
        finish().map_err(|source| ColumnError::Path {
            path: target.clone(),
            source,
        })
    }
}

/// Temporary files are private to their owner; a column file gets the usual permissions of a new file.
fn set_usual_permissions(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."))
}

impl WriteAt for AtomicFile {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.temporary.as_file().write_all_at(bytes, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.temporary.as_file().sync_all()
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
