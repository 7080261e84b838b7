//! All regular files below a directory, in the order of their names.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::packed::{self, Kind};
use crate::error::CompressError;

/// A regular file that is not empty.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    kind: Kind,
}

/// Whether a directory is a run folder of Outcrop: a journal, and a plan whose first table is that of a run. A run that is written below its own data
/// would change them with each trial.
fn is_run(directory: &Path) -> bool {
    let plan = || {
        let mut head = Vec::new();
        let file = std::fs::File::open(directory.join("plan.toml")).ok()?;
        file.take(MOST_OF_PLAN).read_to_end(&mut head).ok()?;
        String::from_utf8_lossy(&head)
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
    };
    ["plan.toml", "trials.ndjson"]
        .iter()
        .all(|name| directory.join(name).is_file())
        && plan().is_some_and(|first| first == "[run]")
}

/// How much of a plan is read to tell it from other files.
const MOST_OF_PLAN: u64 = 64 << 10;

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
                Ok(metadata) if metadata.is_dir() && is_run(&path) => {
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
