//! A whole column as a column file, compared with the file that its user has, and with Parquet under zstd.

use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use md5::{Digest as _, Md5};
use outcrop_column::arrow::{ParquetSizes, ValueKind, parquet_stored, parquet_zstd_sizes};
use outcrop_column::{Column, ColumnError, EncodeOptions, EncodeReport, Encoder, Index};
use outcrop_input::Compression;
use outcrop_measure::metric::Unavailable;

use crate::error::{BenchError, stopped};
use crate::input::ColumnInput;
use crate::report::SizeReport;
use crate::spec::BenchSpec;
use crate::tabular::parts::{Ended, Part};
use crate::tabular::{Table, TableColumn, TableFormat, compression_of, folder, foreign};

/// Beyond this many times the limit, a row group is left before its end.
const HARD_LIMIT: u64 = 2;
/// Of a text file, all columns of which are read for one, at most this many times the limit is read.
pub const READ_LIMIT: u64 = 8;
/// Rows between two looks at whether the user wants to stop.
const ROWS_BETWEEN_LOOKS: u64 = 1 << 16;

/// What a whole column takes in each form.
#[derive(Clone, Debug)]
pub struct WholeReport {
    /// The column file, and the rows that are in it.
    pub size: SizeReport,
    /// Rows that the table has.
    pub table_rows: Result<u64, Unavailable>,
    /// How the user's file holds these rows.
    pub stored: Stored,
    /// The user's whole file, where it is compressed as a whole: its columns have no sizes of their own.
    pub compressed_file_bytes: Option<u64>,
    /// The column chunks of a Parquet file with zstd:3 that has the same rows, even where those of the user's file are smaller.
    pub parquet_zstd_bytes: Result<u64, Unavailable>,
    /// The encoding that takes least, in words that follow "with"; `None` for what Arrow's writers do by default.
    pub parquet_encoding: Option<String>,
    /// The same with the encoding and pages that Arrow's writers choose by default.
    pub parquet_default_bytes: Result<u64, Unavailable>,
    /// What Parquet has the values of a text file as in these sizes: `integers`; `None` where that is what the file has.
    pub parquet_as: Option<&'static str>,
    /// The type of the values in the user's file, where they became text.
    pub text_of: Option<String>,
    /// What tells these rows from others.
    pub fingerprint: String,
}

/// How a file of the user's holds a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its size there.
    pub bytes: Result<u64, Unavailable>,
    /// Encoding and codec, or that it is text; `None` where no size is known.
    pub form: Option<String>,
}

impl Stored {
    fn unknown(why: impl Into<String>) -> Self {
        Self {
            bytes: Err(Unavailable::because(why)),
            form: None,
        }
    }

    /// As fields or lines of a text file, with the delimiter or the newline behind each.
    pub fn as_text(text_bytes: u64, compression: Option<Compression>) -> Self {
        match compression {
            Some(compression) => Self::unknown(format!(
                "the file is compressed as a whole ({compression}), so the size of one column in it is unknown"
            )),
            None => Self {
                bytes: Ok(text_bytes),
                form: Some("text".to_owned()),
            },
        }
    }

    /// As the column chunks of the first rows of a Parquet file.
    ///
    /// # Errors
    /// For what is not Parquet, and for a column that it does not have.
    pub fn in_parquet(file: &File, number: usize, row_count: u64) -> Result<Self, ColumnError> {
        let column = parquet_stored(file)?.into_iter().nth(number);
        Ok(match column {
            None => Self::unknown(format!("the file has no column {number}")),
            Some(column) => match column.bytes_of_first(row_count) {
                Some(bytes) => Self {
                    bytes: Ok(bytes),
                    form: Some(column.form),
                },
                None => Self::unknown(
                    "the rows end within a row group, and Parquet compresses a column's part of a row group as a whole",
                ),
            },
        })
    }

    /// In Arrow IPC, whose footer counts the bytes of batches.
    pub fn in_arrow() -> Self {
        Self::unknown("Arrow IPC states the size of a batch, not of a column")
    }
}

/// Encodes a column of the user's from its first row to its last, and says what it takes in its file and in Parquet with zstd:3.
///
/// With more text than `text_limit` bytes, it ends with the row group in which the limit is reached, or at twice the limit; a text file
/// at the limit, or where [`READ_LIMIT`] times as much was read of all its columns. What is decoded is compared with what went in.
///
/// *Cost*: the distinct values and the codes in memory; two passes over the file.
///
/// # Errors
/// As [`crate::run`], and those of reading the file.
pub fn whole_column(
    (table, path, column): (&Table, &Path, &TableColumn),
    spec: &BenchSpec,
    text_limit: u64,
    stop: &AtomicBool,
) -> Result<WholeReport, BenchError> {
    if table.format == TableFormat::Folder {
        let (table, path, column) = folder::inner(table, path, column)?;
        return Ok(WholeReport {
            // That of one of several tables says nothing of all.
            compressed_file_bytes: None,
            ..whole_column((table, &path, column), spec, text_limit, stop)?
        });
    }
    let in_parquet = (table.format == TableFormat::Parquet)
        .then(|| foreign::stored(path, column))
        .transpose()?;
    let mut rows = Rows::new(spec, stop);
    if table.format.has_names() {
        // One that is too long to be kept is left out, as `outcrop column encode` leaves it out.
        rows.encoder.set_name(&column.name).ok();
    }
    let ended = table.for_each(path, column, stop, &mut |part| {
        rows.push(part)?;
        let at_group = in_parquet
            .as_ref()
            .is_none_or(|stored| stored.bytes_of_first(rows.row_count).is_some());
        let most = if at_group {
            text_limit
        } else {
            text_limit.saturating_mul(HARD_LIMIT)
        };
        let most_read = text_limit.saturating_mul(READ_LIMIT);
        Ok(if rows.text_bytes < most && part.read_bytes() < most_read {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    let (row_count, text_bytes) = (rows.row_count, rows.text_bytes);
    let written = rows.finish()?;
    let stored = match (&in_parquet, table.format) {
        (Some(_), _) => Stored::in_parquet(&crate::tabular::open_file(path)?, column.number, row_count)?,
        (None, TableFormat::Arrow) => Stored::in_arrow(),
        (None, _) => Stored::as_text(
            text_bytes + table.null_bytes(written.report.null_count),
            compression_of(path)?,
        ),
    };
    let table_rows = match (&in_parquet, ended) {
        (Some(stored), _) => Ok(stored.row_count()),
        (None, Ended::AtTheEnd) => Ok(row_count),
        (None, Ended::Before) => Err(Unavailable::because(
            "the file has more rows than were read, and does not say how many",
        )),
    };
    let parquet = in_parquet_zstd((table, path, column), &written, row_count, stop);
    if is_raised(stop) {
        return Err(BenchError::Interrupted);
    }
    let (parquet, parquet_as) = parquet?;
    let text_of = column
        .type_name
        .clone()
        .filter(|_| column.kind != ValueKind::Strings);
    let is_compressed =
        in_parquet.is_none() && table.format != TableFormat::Arrow && compression_of(path)?.is_some();
    Ok(WholeReport {
        compressed_file_bytes: is_compressed
            .then(|| path.metadata().ok().map(|file| file.len()))
            .flatten(),
        parquet_as,
        text_of,
        ..written.report(table_rows, stored, parquet)
    })
}

/// What the rows that were written take in Parquet with zstd:3, with the types of the user's file; of text, with the type that all values
/// have, and what that is.
fn in_parquet_zstd(
    (table, path, column): (&Table, &Path, &TableColumn),
    written: &Written,
    row_count: u64,
    stop: &AtomicBool,
) -> Result<(Result<ParquetSizes, Unavailable>, Option<&'static str>), BenchError> {
    let is_typed = matches!(table.format, TableFormat::Parquet | TableFormat::Arrow);
    if is_typed && column.kind != ValueKind::Strings {
        let arrays = foreign::typed(path, table.format, column, stop)?;
        let stopping = arrays.map(|array| if is_raised(stop) { Err(stopped()) } else { array });
        return Ok((unless_too_long(parquet_zstd_sizes(stopping, row_count))?, None));
    }
    if is_typed {
        return Ok((unless_too_long(written.column.parquet_zstd_sizes())?, None));
    }
    let of_text = unless_too_long(written.column.parquet_zstd_sizes_of_text())?;
    Ok(match of_text {
        Ok((sizes, found)) => (Ok(sizes), column.parquet_type(found)),
        Err(why) => (Err(why), None),
    })
}

/// Sizes in Parquet, or that values are too long to be compared.
fn unless_too_long<T>(sizes: Result<T, ColumnError>) -> Result<Result<T, Unavailable>, ColumnError> {
    match sizes {
        Err(error @ ColumnError::LongValue { .. }) => Ok(Err(Unavailable::because(format!(
            "sizes in Parquet are compared for shorter values only: {error}"
        )))),
        sizes => sizes.map(Ok),
    }
}

/// The same of a column that was made in memory, and which no file of the user's holds.
///
/// # Errors
/// As [`whole_column`].
pub fn whole_input(
    input: &ColumnInput,
    spec: &BenchSpec,
    stop: &AtomicBool,
) -> Result<WholeReport, BenchError> {
    let mut rows = Rows::new(spec, stop);
    for value in input.rows() {
        match value {
            Some(value) => rows.push(Part::Value(value, 0))?,
            None => rows.push_null()?,
        }
    }
    let written = rows.finish()?;
    let parquet = unless_too_long(written.column.parquet_zstd_sizes())?;
    let stored = Stored::unknown("the column was made in memory, and no file contains it");
    Ok(written.report(Ok(input.row_count()), stored, parquet))
}

fn is_raised(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

/// Rows on their way into an encoder.
struct Rows<'s> {
    encoder: Encoder,
    digest: Md5,
    row_count: u64,
    text_bytes: u64,
    stop: &'s AtomicBool,
}

/// A column file in memory that was read back.
struct Written {
    column: Column,
    report: EncodeReport,
    text_bytes: u64,
    fingerprint: String,
}

impl<'s> Rows<'s> {
    fn new(spec: &BenchSpec, stop: &'s AtomicBool) -> Self {
        let options = EncodeOptions {
            index: Index::None,
            profile: spec.profile,
            threads: spec.threads,
        };
        Self {
            encoder: Encoder::new(options),
            digest: Md5::new(),
            row_count: 0,
            text_bytes: 0,
            stop,
        }
    }

    fn push(&mut self, part: Part<'_>) -> Result<(), BenchError> {
        let (digest, text_bytes) = (&mut self.digest, &mut self.text_bytes);
        part.for_each(|value| {
            let value = value.unwrap_or_default();
            digest.update(value);
            digest.update(b"\n");
            *text_bytes += value.len() as u64 + 1;
        })?;
        match part {
            Part::Array(array) => self.encoder.push_array(array)?,
            Part::Value(value, _) => self.encoder.push(value)?,
            Part::Null(_) => self.encoder.push_null()?,
        }
        self.count(part.row_count())
    }

    fn push_null(&mut self) -> Result<(), BenchError> {
        self.digest.update(b"\n");
        self.text_bytes += 1;
        self.encoder.push_null()?;
        self.count(1)
    }

    fn count(&mut self, rows: u64) -> Result<(), BenchError> {
        let before = self.row_count;
        self.row_count += rows;
        let is_time_to_look = before / ROWS_BETWEEN_LOOKS != self.row_count / ROWS_BETWEEN_LOOKS;
        if is_time_to_look && is_raised(self.stop) {
            return Err(BenchError::Interrupted);
        }
        Ok(())
    }

    /// Writes the file into memory, and compares what it gives back.
    fn finish(self) -> Result<Written, BenchError> {
        let mut file = Vec::new();
        let report = self.encoder.finish(&mut file)?;
        let expected = hexadecimal(self.digest);
        let column = Column::open_in(file)?;
        let mut decoded = Hashed(Md5::new());
        column.decode_text(&mut decoded)?;
        let seen = hexadecimal(decoded.0);
        if seen != expected {
            return Err(BenchError::Wrong {
                operation: "decode",
                detail: format!("text with the MD5 {seen}, and {expected} was encoded"),
            });
        }
        Ok(Written {
            column,
            report,
            text_bytes: self.text_bytes,
            fingerprint: format!("{expected}-{}", report.null_count),
        })
    }
}

impl Written {
    fn report(
        self,
        table_rows: Result<u64, Unavailable>,
        stored: Stored,
        parquet: Result<ParquetSizes, Unavailable>,
    ) -> WholeReport {
        let bytes = |of: fn(&ParquetSizes) -> u64| parquet.as_ref().map(of).map_err(Unavailable::clone);
        WholeReport {
            size: SizeReport::of_file(&self.report, self.text_bytes),
            table_rows,
            stored,
            parquet_zstd_bytes: bytes(|sizes| sizes.smallest_bytes),
            compressed_file_bytes: None,
            parquet_default_bytes: bytes(|sizes| sizes.usual_bytes),
            parquet_encoding: parquet.ok().and_then(|sizes| sizes.smallest_encoding),
            parquet_as: None,
            text_of: None,
            fingerprint: self.fingerprint,
        }
    }
}

fn hexadecimal(digest: Md5) -> String {
    let digest = digest.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes what is written, and drops it.
struct Hashed(Md5);

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
