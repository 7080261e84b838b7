//! The files that may be results: those that were named, and the `.json` files in folders that were named.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use outcrop_probe::user_file;

use crate::error::FioError;

/// Files that are looked at.
const MOST_FILES: usize = 100_000;
/// Folders in folders that are entered.
const MOST_LEVELS: usize = 16;
/// A result of a thousand jobs has some 10 MB.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// The files, each with whether it was found in a folder; those of a folder in the order of their names.
///
/// Links to folders are not followed: they may lead back.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FioError> {
    let mut found = Vec::new();
    for path in paths {
        let about = fs::metadata(path).map_err(FioError::io("read", path))?;
        if about.is_dir() {
            walk(path, path, 0, &mut found)?;
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn walk(root: &Path, folder: &Path, level: usize, found: &mut Vec<PathBuf>) -> Result<(), FioError> {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(FioError::io("read", folder))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().map_err(FioError::io("read", &path))?;
        // A link to a file stands for it; one to a folder may lead back here. What is no file is left out with its reason.
        let is_folder = kind.is_dir() || kind.is_symlink() && path.is_dir();
        let is_json = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        if kind.is_dir() && level < MOST_LEVELS {
            walk(root, &path, level + 1, found)?;
        } else if is_json && !is_folder {
            found.push(path);
        }
        if found.len() > MOST_FILES {
            return Err(FioError::TooManyFiles {
                path: root.to_owned(),
                limit: MOST_FILES,
            });
        }
    }
    Ok(())
}

/// The bytes of a file.
///
/// # Errors
/// A clause that says why it is not read.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    user_file::read(path, MOST_BYTES, "a result of fio").map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => error.to_string(),
        _ => format!("it cannot be read: {error}"),
    })
}

/// Files by what they contain: a copy of a result is no further repetition.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents(BTreeMap<u64, Vec<PathBuf>>);

impl Contents {
    /// The file before that has these bytes.
    pub(super) fn file_with(&self, bytes: &[u8]) -> Option<&Path> {
        let alike = self.0.get(&hash_of(bytes))?;
        let same = |path: &&PathBuf| read(path).is_ok_and(|before| before == bytes);
        alike.iter().find(same).map(PathBuf::as_path)
    }

    pub(super) fn add(&mut self, path: &Path, bytes: &[u8]) {
        self.0.entry(hash_of(bytes)).or_default().push(path.to_owned());
    }
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
