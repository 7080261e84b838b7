//! What a process of ours prints, kept in memory: a file beside the database would count as space, and a full disk would take no word of it.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::process::Stdio;

use crate::error::KvError;
use crate::memory_file;

/// What a process prints.
pub(crate) struct LastWords(File);

impl LastWords {
    /// Room for what a process will print.
    pub(crate) fn new() -> Result<Self, KvError> {
        let made = memory_file::create("outcrop-kv-said");
        made.map(Self)
            .map_err(|error| KvError::system("keep what a process prints", error))
    }

    /// Where a process is to print it.
    pub(crate) fn output(&self) -> Result<Stdio, KvError> {
        let copy = self.0.try_clone();
        copy.map(Stdio::from)
            .map_err(|error| KvError::system("keep what a process prints", error))
    }

    /// The end of it, at most so many bytes.
    pub(crate) fn end(&self, most_bytes: u64) -> String {
        let length = self.0.metadata().map_or(0, |file| file.len());
        let start = length.saturating_sub(most_bytes);
        let mut end = vec![0; (length - start) as usize];
        // What cannot be read is not repeated.
        let _ = self.0.read_exact_at(&mut end, start);
        String::from_utf8_lossy(&end).into_owned()
    }
}
