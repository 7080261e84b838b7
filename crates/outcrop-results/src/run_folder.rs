//! The folder of one run, open for writing: `<UTC time>-<name>/` with the plan, the environment and the
//! journal, and at the end the Parquet files.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use outcrop_measure::units::format_bytes;
use outcrop_schema::Vocabulary;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::atomic_file::{is_out_of_space, parent_of, sync_folder, temporary_beside, write_atomically};
use crate::error::ResultsError;
use crate::journal::{self, Journal};
use crate::layout::{
    ENVIRONMENT_FILE, JOURNAL_FILE, MOST_TEXT_BYTES, PLAN_FILE, check_is_run, read_environment, read_plan,
    run_name,
};
use crate::trial::TrialEntry;

/// A run folder that this process writes; no other process can write it at the same time.
#[derive(Debug)]
pub struct RunFolder {
    dir: PathBuf,
    journal: Journal,
    torn_bytes: u64,
    vocabulary: Vocabulary,
}

impl RunFolder {
    /// Creates `parent/<started_at_compact>-<name>/` (`parent` too, when missing) with everything in it.
    ///
    /// `started_at_compact` is the UTC time without colons, `20261121T020757Z`. The folder appears under its
    /// name only when it is complete. A second run of the same name in the same second gets `-2`, `-3`, …
    /// behind its name: nothing is ever overwritten.
    ///
    /// # Errors
    /// [`ResultsError::BadRunName`], [`ResultsError::Io`].
    pub fn create(
        parent: &Path,
        name: &str,
        started_at_compact: &str,
        plan_toml: &str,
        environment_json: &serde_json::Value,
    ) -> Result<Self, ResultsError> {
        let base = format!("{started_at_compact}-{name}");
        if name.is_empty() || name.len() > 100 || !is_folder_name(&base) {
            return Err(ResultsError::BadRunName {
                name: name.to_owned(),
            });
        }
        fs::create_dir_all(parent).map_err(ResultsError::io("create", parent))?;
        let temporary = temporary_beside(&parent.join(&base));
        fs::create_dir(&temporary).map_err(ResultsError::io("create", &temporary))?;
        let made = fill_folder(&temporary, plan_toml, environment_json)
            .and_then(|()| put_in_place(&temporary, parent, &base));
        match made {
            Ok(dir) => Self::open(&dir),
            Err(error) => {
                // Best effort: the error that counts is the one being returned.
                let _ = fs::remove_dir_all(&temporary);
                Err(error)
            }
        }
    }

    /// Opens a run folder to go on with it, and cuts off a line that a crash left torn.
    ///
    /// # Errors
    /// [`ResultsError::NotARun`] (which file is missing), [`ResultsError::Locked`],
    /// [`ResultsError::DamagedJournal`], [`ResultsError::Io`].
    pub fn open(dir: &Path) -> Result<Self, ResultsError> {
        check_is_run(dir)?;
        let (journal, torn_bytes) = Journal::open(&dir.join(JOURNAL_FILE))?;
        Ok(Self {
            dir: dir.to_owned(),
            journal,
            torn_bytes,
            vocabulary: Vocabulary::default(),
        })
    }

    /// The same folder for a run of the layers of another vocabulary.
    #[must_use]
    pub fn speaking(self, vocabulary: Vocabulary) -> Self {
        Self { vocabulary, ..self }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The run's name: that of the folder.
    pub fn name(&self) -> String {
        run_name(&self.dir)
    }

    /// Bytes of a torn last line that `open` cut off; 0 when the journal was whole.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// Appends one trial; it is on the disk when this returns.
    ///
    /// # Errors
    /// As [`Journal::append`]: on an error the trials before it are kept and nothing of this one stays.
    pub fn append(&mut self, entry: &TrialEntry) -> Result<(), ResultsError> {
        self.journal.append(entry)
    }

    /// Appends trials that all ended before, such as those of another program.
    ///
    /// # Errors
    /// As [`Journal::append_all`]: on an error none of them stays.
    pub fn append_all(&mut self, entries: &[TrialEntry]) -> Result<(), ResultsError> {
        self.journal.append_all(entries)
    }

    /// The completed trials, as (cell, repetition): what a resume must not measure again.
    pub fn finished(&self) -> &BTreeSet<(String, u32)> {
        self.journal.finished()
    }

    /// How many trials gave a figure; the others that completed say only why there is none.
    pub fn measured(&self) -> usize {
        self.journal.measured()
    }

    /// Every trial of the journal, read from the disk.
    ///
    /// # Errors
    /// [`ResultsError::DamagedJournal`], [`ResultsError::Io`].
    pub fn trials(&self) -> Result<Vec<TrialEntry>, ResultsError> {
        journal::read(&self.dir.join(JOURNAL_FILE))?.collect()
    }

    /// The expanded plan as it was written at the start.
    ///
    /// # Errors
    /// [`ResultsError::Io`].
    pub fn plan_toml(&self) -> Result<String, ResultsError> {
        read_plan(&self.dir)
    }

    /// The environment as it was written at the start.
    ///
    /// # Errors
    /// [`ResultsError::DamagedEnvironment`], [`ResultsError::Io`].
    pub fn environment(&self) -> Result<serde_json::Value, ResultsError> {
        read_environment(&self.dir)
    }

    /// Removes the folder of a run that never began; one that holds a trial, even a failed one, stays.
    ///
    /// # Errors
    /// [`ResultsError::Io`] when the system refuses.
    pub fn discard_if_empty(self) -> Result<(), ResultsError> {
        if !self.trials()?.is_empty() {
            return Ok(());
        }
        fs::remove_dir_all(&self.dir).map_err(ResultsError::io("remove", &self.dir))
    }

    /// Writes `records.parquet` and `histograms.parquet` from the journal.
    ///
    /// # Errors
    /// As [`crate::parquet::compact`], and [`ResultsError::NoSpace`]; the journal is untouched and the call may
    /// be repeated.
    pub fn finish(&self) -> Result<(), ResultsError> {
        crate::parquet::compact_as(&self.dir, self.vocabulary).map_err(|error| match error {
            ResultsError::Io { cause, .. } if is_out_of_space(&cause) => ResultsError::NoSpace {
                run: self.dir.clone(),
                finished: self.finished().len(),
            },
            other => other,
        })
    }
}

fn is_folder_name(name: &str) -> bool {
    !name.starts_with('.')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

fn fill_folder(dir: &Path, plan_toml: &str, environment: &serde_json::Value) -> Result<(), ResultsError> {
    write_text(dir, PLAN_FILE, plan_toml)?;
    write_text(dir, ENVIRONMENT_FILE, &format!("{environment:#}\n"))?;
    Journal::create(&dir.join(JOURNAL_FILE))?;
    sync_folder(dir)
}

/// Writes a file that can be read again.
fn write_text(dir: &Path, name: &str, text: &str) -> Result<(), ResultsError> {
    if text.len() as u64 > MOST_TEXT_BYTES {
        let most = format_bytes(MOST_TEXT_BYTES);
        let reason = format!("it would have more than {most}, and none may; measure or import less at once");
        // The folder has no name yet that means anything to the user.
        return Err(ResultsError::io("write", Path::new(name))(io::Error::new(
            io::ErrorKind::InvalidInput,
            reason,
        )));
    }
    write_atomically(&dir.join(name), text.as_bytes())
}

/// Renames the finished folder to the first free name; never onto an existing one.
fn put_in_place(temporary: &Path, parent: &Path, base: &str) -> Result<PathBuf, ResultsError> {
    for attempt in 1_u32.. {
        let dir = if attempt == 1 {
            parent.join(base)
        } else {
            parent.join(format!("{base}-{attempt}"))
        };
        match renameat_with(CWD, temporary, CWD, &dir, RenameFlags::NOREPLACE) {
            Ok(()) => {
                sync_folder(parent_of(&dir))?;
                return Ok(dir);
            }
            Err(rustix::io::Errno::EXIST) => {}
            // Filesystems without RENAME_NOREPLACE: a plain rename refuses a folder that is not empty,
            // which a run folder never is.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => match fs::rename(temporary, &dir) {
                Ok(()) => {
                    sync_folder(parent_of(&dir))?;
                    return Ok(dir);
                }
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                Err(error) => return Err(ResultsError::io("put in place", dir)(error)),
            },
            Err(error) => return Err(ResultsError::io("put in place", dir)(error.into())),
        }
    }
    unreachable!("u32 names cannot all be taken")
}
