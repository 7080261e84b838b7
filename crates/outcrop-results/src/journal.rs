//! The journal of a run, `trials.ndjson`: one JSON line per trial, appended and synced one by one.
//!
//! A line counts when its newline is on the disk. What stands behind the last newline is a write that a
//! crash cut short: it was never reported as finished, so opening the journal for writing cuts it off and
//! the trial is measured again. A line that ends properly and does not parse is damage, which is reported
//! and never repaired silently. So is one whose checksum does not agree: a digit that flipped is still JSON. And so is one that repeats a
//! completed trial, or is longer than any is written.

mod checksum;
mod line;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader};
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::atomic_file::is_out_of_space;
use crate::error::ResultsError;
use crate::trial::TrialEntry;

/// The journal, open for appending and locked against every other process.
///
/// The lock is `flock` on the journal itself: the kernel drops it when the process ends, however it ends.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: LockedFile,
    /// Bytes of whole, synced lines; whatever lies behind is rubbish of a failed append.
    length: u64,
    /// A failed append may have left bytes behind `length`.
    has_leftovers: bool,
    finished: BTreeSet<(String, u32)>,
    /// Trials that gave a figure.
    measured: usize,
}

impl Journal {
    /// Creates an empty journal and locks it.
    ///
    /// # Errors
    /// [`ResultsError::Io`], also when the file exists.
    pub fn create(path: &Path) -> Result<Self, ResultsError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(ResultsError::io("create", path))?;
        let file = lock(file, path)?;
        file.sync_all().map_err(ResultsError::io("sync", path))?;
        Ok(Self {
            path: path.into(),
            file,
            length: 0,
            has_leftovers: false,
            finished: BTreeSet::new(),
            measured: 0,
        })
    }

    /// Opens and locks a journal, cuts off a torn last line, and says how many bytes that was (0: none).
    ///
    /// # Errors
    /// [`ResultsError::Locked`], [`ResultsError::DamagedJournal`], [`ResultsError::Io`].
    pub fn open(path: &Path) -> Result<(Self, u64), ResultsError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(ResultsError::io("open", path))?;
        let file = lock(file, path)?;
        let mut lines = Lines::new(&*file, path);
        let mut measured = 0;
        lines
            .by_ref()
            .try_for_each(|entry| entry.map(|entry| measured += usize::from(entry.is_measured())))?;
        let Lines {
            whole_bytes: length,
            torn_bytes,
            finished,
            ..
        } = lines;
        let journal = Self {
            path: path.into(),
            file,
            length,
            has_leftovers: torn_bytes > 0,
            finished,
            measured,
        };
        if torn_bytes > 0 {
            journal
                .cut_leftovers()
                .map_err(ResultsError::io("cut the torn last line of", path))?;
        }
        Ok((
            Self {
                has_leftovers: false,
                ..journal
            },
            torn_bytes,
        ))
    }

    /// Appends one trial and returns when it is on the disk: one write and one sync.
    ///
    /// # Errors
    /// [`ResultsError::NoSpace`] when the disk or the quota is full, [`ResultsError::AlreadyFinished`],
    /// [`ResultsError::Io`]. On an error nothing of the trial stays in the journal; what was there before
    /// is kept, and a later append may succeed.
    pub fn append(&mut self, entry: &TrialEntry) -> Result<(), ResultsError> {
        self.append_all(std::slice::from_ref(entry))
    }

    /// Appends trials that all ended before: one write and one sync for them together.
    ///
    /// # Errors
    /// As [`append`](Self::append): on an error none of them stays.
    pub fn append_all(&mut self, entries: &[TrialEntry]) -> Result<(), ResultsError> {
        let mut lines = Vec::new();
        let mut keys = BTreeSet::new();
        for entry in entries {
            let key = (entry.cell.clone(), entry.repetition);
            if entry.is_completed() && (self.finished.contains(&key) || !keys.insert(key.clone())) {
                return Err(ResultsError::AlreadyFinished {
                    cell: key.0,
                    repetition: key.1,
                });
            }
            line::write(&mut lines, entry, line::MOST_BYTES)
                .map_err(ResultsError::io("write a trial to", &self.path))?;
        }
        if let Err(error) = self.write_lines(&lines) {
            // Should this fail too, the next append or the next `open` tries again.
            self.has_leftovers = self.cut_leftovers().is_err();
            return Err(self.append_error(error));
        }
        self.length += lines.len() as u64;
        self.finished.extend(keys);
        self.measured += entries.iter().filter(|entry| entry.is_measured()).count();
        Ok(())
    }

    /// How many trials gave a figure; the others that completed say only why there is none.
    pub fn measured(&self) -> usize {
        self.measured
    }

    /// The completed trials, as (cell, repetition).
    pub fn finished(&self) -> &BTreeSet<(String, u32)> {
        &self.finished
    }

    fn write_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.has_leftovers {
            self.cut_leftovers()?;
        }
        self.has_leftovers = true;
        self.file.write_all_at(lines, self.length)?;
        self.file.sync_data()?;
        self.has_leftovers = false;
        Ok(())
    }

    fn cut_leftovers(&self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.sync_data()
    }

    fn append_error(&self, cause: io::Error) -> ResultsError {
        if is_out_of_space(&cause) {
            let run = crate::atomic_file::parent_of(&self.path).to_owned();
            return ResultsError::NoSpace {
                run,
                finished: self.finished.len(),
            };
        }
        ResultsError::Io {
            action: "append a trial to",
            path: self.path.clone(),
            cause,
        }
    }
}

/// A file whose lock is let go of when it is dropped.
///
/// Closing it would do, but a child process that is being started at that moment holds a copy of the descriptor,
/// and with it the lock, for a moment longer than we do.
#[derive(Debug)]
struct LockedFile(File);

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the last copy unlocks as well; a failure here costs that moment and nothing else.
        let _ = self.0.unlock();
    }
}

fn lock(file: File, path: &Path) -> Result<LockedFile, ResultsError> {
    match file.try_lock() {
        Ok(()) => Ok(LockedFile(file)),
        Err(TryLockError::WouldBlock) => Err(ResultsError::Locked {
            path: crate::atomic_file::parent_of(path).to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(ResultsError::io("lock", path)(source)),
    }
}

/// Reads a journal trial by trial, without the lock: also while a run is being written.
///
/// # Errors
/// [`ResultsError::Io`] when it cannot be opened; each item may be [`ResultsError::DamagedJournal`].
pub fn read(path: &Path) -> Result<Lines<File>, ResultsError> {
    let file = File::open(path).map_err(ResultsError::io("open", path))?;
    Ok(Lines::new(file, path))
}

/// The factors that occur in a journal, by layer and name.
///
/// # Errors
/// [`ResultsError::Io`] when it cannot be read; a damaged line is left to whoever reads the trials.
pub(crate) fn factors(path: &Path) -> Result<BTreeSet<(String, String)>, ResultsError> {
    #[derive(serde::Deserialize)]
    struct OfEntry {
        layer: String,
        factors: BTreeMap<String, String>,
    }
    let file = File::open(path).map_err(ResultsError::io("open", path))?;
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    let mut occurring = BTreeSet::new();
    loop {
        line::read(&mut reader, &mut line).map_err(ResultsError::io("read", path))?;
        if line.is_empty() || line::check(&line).is_err() {
            break;
        }
        if let Ok(OfEntry { layer, factors }) = serde_json::from_slice(&line) {
            occurring.extend(factors.into_keys().map(|name| (layer.clone(), name)));
        }
    }
    Ok(occurring)
}

/// The whole lines of a journal as trials; ends after the first error.
#[derive(Debug)]
pub struct Lines<R> {
    path: PathBuf,
    reader: BufReader<R>,
    line: usize,
    whole_bytes: u64,
    torn_bytes: u64,
    /// A line before had a checksum, and so have all behind it.
    is_sealed: bool,
    /// The completed trials so far, by cell and repetition: one that is there twice would count as a further repetition.
    finished: BTreeSet<(String, u32)>,
    is_done: bool,
}

impl<R: io::Read> Lines<R> {
    fn new(source: R, path: &Path) -> Self {
        let reader = BufReader::with_capacity(1 << 16, source);
        Self {
            path: path.into(),
            reader,
            line: 0,
            whole_bytes: 0,
            torn_bytes: 0,
            is_sealed: false,
            finished: BTreeSet::new(),
            is_done: false,
        }
    }

    /// Bytes behind the last newline: a write that was cut short. Known once the iteration has ended.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    fn damaged(&self, reason: &impl ToString) -> ResultsError {
        ResultsError::DamagedJournal {
            path: self.path.clone(),
            line: self.line,
            reason: reason.to_string(),
        }
    }

    fn read_entry(&mut self) -> Result<Option<TrialEntry>, ResultsError> {
        let mut line = Vec::new();
        line::read(&mut self.reader, &mut line).map_err(ResultsError::io("read", &self.path))?;
        if let Err(reason) = line::check(&line) {
            self.line += 1;
            return Err(self.damaged(&reason));
        }
        if line.last() != Some(&b'\n') {
            self.torn_bytes = line.len() as u64;
            return Ok(None);
        }
        self.line += 1;
        self.whole_bytes += line.len() as u64;
        let is_sealed = checksum::check(&line, self.is_sealed).map_err(|reason| self.damaged(&reason))?;
        self.is_sealed |= is_sealed;
        let entry: TrialEntry = serde_json::from_slice(&line).map_err(|error| self.damaged(&error))?;
        entry.check().map_err(|reason| self.damaged(&reason))?;
        if entry.is_completed() && !self.finished.insert((entry.cell.clone(), entry.repetition)) {
            return Err(self.damaged(&"this trial was already completed on an earlier line"));
        }
        Ok(Some(entry))
    }
}

impl<R: io::Read> Iterator for Lines<R> {
    type Item = Result<TrialEntry, ResultsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let entry = self.read_entry().transpose();
        self.is_done = !matches!(entry, Some(Ok(_)));
        entry
    }
}
