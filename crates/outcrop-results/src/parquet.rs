//! `records.parquet` and `histograms.parquet`: the journal as columns, for DuckDB, pandas and Polars.
//!
//! Both files hold completed trials only and are derived: [`compact`] writes them again at any time. Text is
//! plain UTF-8 with Parquet's own dictionary encoding, factors are a `MAP<utf8, utf8>` of their spellings and,
//! as their layer's schema types them, columns of their own (`queue_depth` a whole number, `io_block_size_bytes`), `started_at` is a
//! UTC timestamp in microseconds, pages are compressed with zstd. The footer carries `outcrop.schema`, so
//! that a later format is told apart.

mod batches;
mod columns;
mod factor_columns;
mod histograms;
mod plain;
mod records;
mod table;

use std::io::Write;
use std::path::Path;

pub use batches::{cell_batch, histogram_batch, record_batch};
use factor_columns::FactorColumns;
pub use histograms::HistogramRow;
use outcrop_schema::Vocabulary;
pub(crate) use plain::{PlainColumn, write_columns};

use crate::atomic_file::write_with;
use crate::error::ResultsError;
use crate::journal;
use crate::layout::{HISTOGRAMS_FILE, JOURNAL_FILE, RECORDS_FILE, check_is_run, run_name};
use crate::record::{Record, records_of};
use table::TableWriter;

/// Writes both Parquet files of the run in `dir` from its journal, replacing older ones in one step.
///
/// *Cost*: two passes over the journal, the first for the factors that occur; memory for one row group, not for the run.
///
/// # Errors
/// [`ResultsError::NotARun`], [`ResultsError::DamagedJournal`], [`ResultsError::Parquet`], [`ResultsError::Io`].
pub fn compact(dir: &Path) -> Result<(), ResultsError> {
    compact_as(dir, Vocabulary::default())
}

/// [`compact`] for a run whose factors another vocabulary types.
///
/// # Errors
/// As [`compact`].
pub fn compact_as(dir: &Path, vocabulary: Vocabulary) -> Result<(), ResultsError> {
    check_is_run(dir)?;
    let run = run_name(dir);
    let factors = FactorColumns::of(vocabulary, &journal::factors(&dir.join(JOURNAL_FILE))?);
    let (records_path, histograms_path) = (dir.join(RECORDS_FILE), dir.join(HISTOGRAMS_FILE));
    write_with(&records_path, |records_file| {
        write_with(&histograms_path, |histograms_file| {
            let mut records = TableWriter::<Record, _>::new(records_file, &records_path, factors)?;
            let mut histograms = TableWriter::<HistogramRow, _>::new(histograms_file, &histograms_path, ())?;
            for entry in journal::read(&dir.join(JOURNAL_FILE))? {
                let entry = entry?;
                for record in records_of(&run, &entry) {
                    records.push(record)?;
                }
                for row in histograms::rows_of(&run, &entry) {
                    histograms.push(row)?;
                }
            }
            histograms.finish()?;
            records.finish()
        })
    })
}

/// Writes the records of the run in `dir` to `out`, as `records.parquet` has them. The run folder is only read.
///
/// *Cost*: as [`compact`].
///
/// # Errors
/// As [`compact`]; what `out` refuses is a [`ResultsError::Parquet`].
pub fn write_records(dir: &Path, out: impl Write + Send) -> Result<(), ResultsError> {
    check_is_run(dir)?;
    let (run, journal) = (run_name(dir), dir.join(JOURNAL_FILE));
    let factors = FactorColumns::of(Vocabulary::default(), &journal::factors(&journal)?);
    let mut records = TableWriter::<Record, _>::new(out, &dir.join(RECORDS_FILE), factors)?;
    for entry in journal::read(&journal)? {
        for record in records_of(&run, &entry?) {
            records.push(record)?;
        }
    }
    records.finish()
}

/// Reads `records.parquet`, or any file of its schema.
///
/// # Errors
/// [`ResultsError::Parquet`] for a damaged file or another schema, [`ResultsError::Io`].
pub fn read_records(path: &Path) -> Result<Vec<Record>, ResultsError> {
    table::read(path)
}

/// Reads `histograms.parquet`, or any file of its schema.
///
/// # Errors
/// [`ResultsError::Parquet`] for a damaged file or another schema, [`ResultsError::Io`].
pub fn read_histograms(path: &Path) -> Result<Vec<HistogramRow>, ResultsError> {
    table::read(path)
}
