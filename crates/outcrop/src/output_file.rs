//! Files that a user names for a result: whole or not there at all, and never replaced without `--force`.

use crate::exit::bad_input;
use outcrop_column::ColumnError;
use outcrop_column::storage::{AtomicFile, check_place};
use outcrop_results::layout::{ENVIRONMENT_FILE, JOURNAL_FILE, PLAN_FILE};
use std::fs::{File, Metadata};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// `--force`: the same for every command that writes a file which the user names.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Force {
    /// Replace the output file if it exists
    #[arg(long)]
    force: bool,
}

/// What stands for stdin or stdout where a file is named.
const STDOUT: &str = "-";

/// Whether `-o` names stdout.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new(STDOUT)
}

/// Refuses `-` where stdout carries something else.
pub(crate) fn refuse_stdout(path: &Path, what: &str) -> anyhow::Result<()> {
    if is_stdout(path) {
        return Err(bad_input(anyhow::anyhow!(
            "{what} cannot be written to stdout, which is used for the figures; name a file"
        )));
    }
    Ok(())
}

/// Fails where a file would be replaced by what is made of it: its only copy would be gone. The input may be `-`, which is the file
/// that stdin is read from, or the folder of a run.
pub(crate) fn refuse_input(input: &Path, output: &Path) -> anyhow::Result<()> {
    let is_input = if is_stdout(input) {
        let stdin = std::io::stdin().as_fd().try_clone_to_owned();
        stdin
            .and_then(|stdin| File::from(stdin).metadata())
            .is_ok_and(|stdin| stdin.is_file() && is_file(output, &stdin))
    } else if input.is_dir() {
        [PLAN_FILE, ENVIRONMENT_FILE, JOURNAL_FILE]
            .iter()
            .any(|name| same_file(&input.join(name), output))
    } else {
        same_file(input, output)
    };
    if is_input {
        return Err(bad_input(anyhow::anyhow!(
            "{} is the input, and would be replaced; name another file",
            output.display()
        )));
    }
    Ok(())
}

/// Whether both names lead to one file that exists.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    a.metadata().is_ok_and(|a| is_file(b, &a))
}

fn is_file(path: &Path, file: &Metadata) -> bool {
    path.metadata()
        .is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
}

impl Force {
    /// Refuses a file that exists, before any work is done for it.
    pub(crate) fn check(self, path: &Path) -> anyhow::Result<()> {
        match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => Err(bad_input(anyhow::anyhow!(
                "{} is not a regular file; name a file, or - for stdout",
                path.display()
            ))),
            Ok(_) | Err(_) => {
                check_place(path)
                    .map_err(|error| bad_input(anyhow::anyhow!("{} {error}", path.display())))?;
                // A link that leads to nothing would be replaced too.
                match path.symlink_metadata() {
                    Ok(_) if !self.force => Err(exists(path)),
                    Ok(_) | Err(_) => Ok(()),
                }
            }
        }
    }

    /// The file, which appears under its name when it is committed.
    pub(crate) fn create(self, path: &Path) -> anyhow::Result<AtomicFile> {
        let file = match self.force {
            true => AtomicFile::create(path),
            false => AtomicFile::create_new(path),
        };
        file.map_err(|error| refused(path, error))
    }

    /// Writes a file as a whole.
    pub(crate) fn write(
        self,
        path: &Path,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let file = self.create(path)?;
        let mut out = BufWriter::with_capacity(1 << 20, file.as_file());
        let filled = fill(&mut out).and_then(|()| Ok(out.flush()?));
        filled.map_err(|error| where_full(path, error))?;
        drop(out);
        commit(file, path)
    }
}

/// Refuses a folder in which no file may be made; `what` is the flag that names it.
pub(crate) fn refuse_system_folder(what: &str, folder: &Path) -> anyhow::Result<()> {
    check_place(folder).map_err(|error| bad_input(anyhow::anyhow!("{what} {} {error}", folder.display())))
}

/// Names the file where a disk is full: the system's error does not, and there may be several disks.
pub(crate) fn where_full(path: &Path, error: anyhow::Error) -> anyhow::Error {
    let is_full = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| matches!(io.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
    if is_full {
        return error.context(format!("cannot write {}", path.display()));
    }
    error
}

/// Gives a file its name.
pub(crate) fn commit(file: AtomicFile, path: &Path) -> anyhow::Result<()> {
    file.commit().map_err(|error| refused(path, error))
}

fn refused(path: &Path, error: ColumnError) -> anyhow::Error {
    match error {
        ColumnError::Path { source, .. } if source.kind() == ErrorKind::AlreadyExists => exists(path),
        other => bad_input(other),
    }
}

fn exists(path: &Path) -> anyhow::Error {
    bad_input(anyhow::anyhow!(
        "{} exists already; --force replaces it",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_exists_is_replaced_by_force_alone_and_a_failure_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.txt");
        let write = |force: bool, text: &'static str| {
            Force { force }.write(&path, |out| Ok(out.write_all(text.as_bytes())?))
        };
        let failed = Force { force: false }.write(&path, |_| anyhow::bail!("no more rows"));
        assert_eq!(failed.unwrap_err().to_string(), "no more rows");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        write(false, "first").unwrap();
        let error = format!("{:#}", write(false, "second").unwrap_err());
        assert!(error.contains("exists already; --force replaces it"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
        write(true, "third").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "third");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
