//! All regular files below a directory, in the order of their names.

use std::path::{Path, PathBuf};

use super::packed::{self, Kind};
use crate::error::CompressError;

/// A regular file that is not empty.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    kind: Kind,
}

/// What a run folder of Outcrop has. A run that is written below its own data would change them with each trial.
const OF_RUNS: [&str; 2] = ["plan.toml", "trials.ndjson"];

/// What was passed over.
#[derive(Default)]
struct Skipped {
    empty: usize,
    unreadable: Vec<String>,
    other: usize,
    runs: usize,
}

impl Skipped {
    fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.unreadable.push(format!("{}: {error}", path.display()));
    }

    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if self.empty > 0 {
            parts.push(format!("{} empty", self.empty));
        }
        if self.other > 0 {
            parts.push(format!("{} links, pipes or devices", self.other));
        }
        if self.runs > 0 {
            let folders = if self.runs == 1 { "folder" } else { "folders" };
            parts.push(format!("{} run {folders} of Outcrop", self.runs));
        }
        if let Some(first) = self.unreadable.first() {
            parts.push(format!(
                "{} that cannot be read, such as {first}",
                self.unreadable.len()
            ));
        }
        if parts.is_empty() {
            return "no file at all".to_owned();
        }
        parts.join(", ")
    }
}

/// The files, and remarks on those that were passed over.
///
/// Symbolic links are not followed: a link to a directory above would never end. Directories that cannot be read
/// are passed over with a remark, unless nothing else is left; so are run folders of Outcrop.
pub(super) fn files(root: &Path) -> Result<(Vec<Found>, Vec<String>), CompressError> {
    let mut found = Vec::new();
    let mut skipped = Skipped::default();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(source) if directory == root => return Err(CompressError::path("read", root, source)),
            Err(error) => {
                skipped.unreadable(&directory, &error);
                continue;
            }
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            match std::fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() && OF_RUNS.iter().all(|name| path.join(name).is_file()) => {
                    skipped.runs += 1;
                }
                Ok(metadata) if metadata.is_dir() => directories.push(path),
                Ok(metadata) if !metadata.is_file() => skipped.other += 1,
                Ok(metadata) if metadata.len() == 0 => skipped.empty += 1,
                Ok(metadata) => match std::fs::File::open(&path).and_then(|mut file| Kind::of(&mut file)) {
                    Ok(kind) => found.push(Found {
                        path,
                        bytes: metadata.len(),
                        kind,
                    }),
                    Err(error) => skipped.unreadable(&path, &error),
                },
                Err(error) => skipped.unreadable(&path, &error),
            }
        }
    }
    if found.is_empty() {
        return Err(CompressError::NoFiles {
            path: root.to_owned(),
            seen: skipped.sentence(),
        });
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    let kinds = found.iter().map(|file| (file.path.as_path(), file.kind));
    let mut notes = Vec::from_iter(packed::some_are_compressed(root, found.len(), kinds));
    if !skipped.unreadable.is_empty() || skipped.runs > 0 {
        notes.push(format!("left out: {}", skipped.sentence()));
    }
    Ok((found, notes))
}
