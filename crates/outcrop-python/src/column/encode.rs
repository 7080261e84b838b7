//! Writing a column: progress to a Python function, and an end at Ctrl-C.

use std::io;
use std::path::Path;

use outcrop_column::storage::{AtomicFile, WriteAt};
use outcrop_column::{EncodeOptions, Progress, Step};
use pyo3::prelude::*;

use crate::errors::of_column;
use crate::source::Source;
use crate::words;

/// What an encode wrote.
#[pyclass(frozen, get_all, module = "outcrop")]
pub(crate) struct EncodeReport {
    /// Rows, nulls included.
    row_count: u64,
    /// Distinct values, null not counted.
    value_count: u64,
    /// Rows that are null.
    null_count: u64,
    /// Bytes of all rows' values, separators not counted.
    text_bytes: u64,
    /// Size of the whole file in bytes.
    file_bytes: u64,
    /// Bytes of the dictionary.
    dictionary_bytes: u64,
    /// Bytes of the forward codes, class map included; 0 where there are none.
    codes_bytes: u64,
    /// Bytes of the postings; 0 where there are none.
    postings_bytes: u64,
    /// Least bytes for the order of the rows in a coding that knows only the counts, without the dictionary.
    floor_bytes: u64,
    /// The packed form of the file; `None` if it has the ordinary form.
    packed: Option<String>,
}

#[pymethods]
impl EncodeReport {
    fn __repr__(&self) -> String {
        format!(
            "EncodeReport(row_count={}, value_count={}, null_count={}, text_bytes={}, file_bytes={})",
            self.row_count, self.value_count, self.null_count, self.text_bytes, self.file_bytes
        )
    }
}

impl From<outcrop_column::EncodeReport> for EncodeReport {
    fn from(report: outcrop_column::EncodeReport) -> Self {
        Self {
            row_count: report.row_count,
            value_count: report.value_count,
            null_count: report.null_count,
            text_bytes: report.text_bytes,
            file_bytes: report.file_bytes,
            dictionary_bytes: report.dictionary_bytes,
            codes_bytes: report.codes_bytes + report.class_map_bytes,
            postings_bytes: report.postings_bytes,
            floor_bytes: report.floor_bytes,
            packed: report.packed.map(|form| form.name().to_owned()),
        }
    }
}

/// What of the input is meant.
pub(super) struct Input<'a> {
    pub(super) column: Option<String>,
    pub(super) null: Option<&'a str>,
}

pub(super) fn options(index: &str, profile: &str, threads: Option<usize>) -> PyResult<EncodeOptions> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(EncodeOptions {
        index: words::index(index)?,
        profile: words::profile(profile)?,
        threads: threads.unwrap_or_else(cores).max(1),
    })
}

pub(super) fn encode(
    data: &Bound<'_, PyAny>,
    path: &Path,
    input: Input<'_>,
    options: EncodeOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<EncodeReport> {
    let py = data.py();
    let name = input.column.clone();
    let mut encoder = Source::of(data, input.column)?.encoder(py, options, input.null)?;
    if let Some(name) = name {
        // A column without a name is better than none: one that is too long is not kept.
        encoder.set_name(&name).ok();
    }
    let (reports, seen) = std::sync::mpsc::channel();
    if progress.is_some() {
        encoder.watch(move |progress| {
            // The receiver lives as long as the file is written.
            let _ = reports.send(progress);
        });
    }
    let report = py.detach(|| {
        let mut file = Interruptible {
            file: AtomicFile::create(path)?,
            progress,
            seen,
        };
        let report = encoder.finish(&mut file)?;
        file.attend()?;
        file.file.commit()?;
        Ok(report)
    });
    report.map(Into::into).map_err(of_column)
}

/// A file that stops being written at Ctrl-C, and when the function that hears of the progress raises. It disappears then.
struct Interruptible {
    file: AtomicFile,
    progress: Option<Py<PyAny>>,
    seen: std::sync::mpsc::Receiver<Progress>,
}

impl Interruptible {
    /// Hands Python its turn.
    fn attend(&self) -> io::Result<()> {
        let attended = Python::attach(|py| {
            py.check_signals()?;
            let Some(progress) = &self.progress else {
                return Ok(());
            };
            for Progress {
                step, done, total, ..
            } in self.seen.try_iter()
            {
                progress.call1(py, (step_name(step), done, total))?;
            }
            Ok::<(), PyErr>(())
        });
        attended.map_err(io::Error::other)
    }
}

fn step_name(step: Step) -> &'static str {
    match step {
        Step::Codes => "codes",
        Step::Postings => "postings",
        Step::Packing => "packing",
        _ => "rows",
    }
}

impl WriteAt for Interruptible {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.attend()?;
        self.file.write_all_at(bytes, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}
