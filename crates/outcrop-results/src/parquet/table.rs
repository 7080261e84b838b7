//! One kind of row to and from a Parquet file: row groups are streamed out, damage is reported.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::columns::Batch;
use crate::error::ResultsError;

/// Rows that become Arrow arrays in one go.
const ROWS_PER_BATCH: usize = 8 * 1024;
/// Upper limits of a row group, which is what a writer keeps in memory and a reader skips by statistics.
const ROWS_PER_GROUP: usize = 256 * 1024;
const BYTES_PER_GROUP: usize = 64 << 20;

/// A kind of row that has a Parquet schema.
pub(super) trait TableRow: Sized {
    /// Value of `outcrop.schema` in the footer: name and version.
    const SCHEMA_NAME: &'static str;
    /// Earlier versions, which are read as well.
    const EARLIER: &'static [&'static str] = &[];
    /// What decides the columns of a file.
    type Columns;

    fn schema(columns: &Self::Columns) -> SchemaRef;

    /// One array per column of the schema; an error is a clause about the row that does not fit.
    fn arrays(columns: &Self::Columns, rows: &[Self]) -> Result<Vec<ArrayRef>, String>;

    /// The rows of a batch that was read; an error is a clause about the column that does not fit.
    fn from_batch(batch: &Batch<'_>) -> Result<Vec<Self>, String>;
}

/// Writes rows as they come and holds no more than one row group.
pub(super) struct TableWriter<R: TableRow, W: Write + Send> {
    path: PathBuf,
    columns: R::Columns,
    schema: SchemaRef,
    writer: ArrowWriter<W>,
    rows: Vec<R>,
}

impl<R: TableRow, W: Write + Send> TableWriter<R, W> {
    pub(super) fn new(sink: W, path: &Path, columns: R::Columns) -> Result<Self, ResultsError> {
        let schema = R::schema(&columns);
        let writer = ArrowWriter::try_new_with_options(sink, Arc::clone(&schema), options(R::SCHEMA_NAME))
            .map_err(|error| write_error(path, &error))?;
        Ok(Self {
            path: path.into(),
            columns,
            schema,
            writer,
            rows: Vec::new(),
        })
    }

    pub(super) fn push(&mut self, row: R) -> Result<(), ResultsError> {
        self.rows.push(row);
        if self.rows.len() >= ROWS_PER_BATCH {
            self.write_rows()
        } else {
            Ok(())
        }
    }

    pub(super) fn finish(mut self) -> Result<(), ResultsError> {
        self.write_rows()?;
        self.writer
            .close()
            .map(|_| ())
            .map_err(|error| write_error(&self.path, &error))
    }

    fn write_rows(&mut self) -> Result<(), ResultsError> {
        let arrays = R::arrays(&self.columns, &self.rows).map_err(|reason| damage(&self.path, &reason))?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)
            .map_err(|error| damage(&self.path, &error))?;
        self.rows.clear();
        self.writer
            .write(&batch)
            .map_err(|error| write_error(&self.path, &error))
    }
}

/// How every file of ours is written; `schema_name` goes into its footer.
pub(super) fn options(schema_name: &str) -> ArrowWriterOptions {
    let footer = KeyValue::new("outcrop.schema".to_owned(), schema_name.to_owned());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("outcrop ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_max_row_group_bytes(Some(BYTES_PER_GROUP))
        .set_key_value_metadata(Some(vec![footer]))
        .build();
    // The columns need no more than Parquet's own types: no second schema in Arrow's encoding.
    ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true)
}

/// Reads every row of a file.
pub(super) fn read<R: TableRow>(path: &Path) -> Result<Vec<R>, ResultsError> {
    let file = File::open(path).map_err(ResultsError::io("open", path))?;
    // parquet 59.3 asserts where damage should be an error (column ranges in the footer, dictionary indexes,
    // children of a map of unequal length): flipped bits get there, and the file is not ours to trust.
    catch_unwind(AssertUnwindSafe(|| read_file(file)))
        .unwrap_or_else(|_| Err("the file is damaged: its decoder gave up".to_owned()))
        .map_err(|reason| damage(path, &reason))
}

fn read_file<R: TableRow>(file: File) -> Result<Vec<R>, String> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(|error| error.to_string())?;
    let name = builder
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .and_then(|pairs| {
            pairs
                .iter()
                .find(|pair| pair.key == "outcrop.schema")
                .and_then(|pair| pair.value.clone())
        });
    let is_known = |name: &str| name == R::SCHEMA_NAME || R::EARLIER.contains(&name);
    if !name.as_deref().is_some_and(is_known) {
        let seen = name.unwrap_or_else(|| "no outcrop schema".to_owned());
        return Err(format!("its schema is {seen}, expected {}", R::SCHEMA_NAME));
    }
    let mut rows = Vec::new();
    for batch in builder.build().map_err(|error| error.to_string())? {
        let batch = batch.map_err(|error| error.to_string())?;
        rows.extend(R::from_batch(&Batch(&batch))?);
    }
    Ok(rows)
}

/// An error of the writer: the system's own where there is one, so that a full disk is known as such.
pub(super) fn write_error(path: &Path, error: &ParquetError) -> ResultsError {
    let mut causes = std::iter::successors(Some(error as &dyn Error), |&error| error.source());
    if let Some(cause) = causes.find_map(|error| error.downcast_ref::<io::Error>()) {
        return ResultsError::io("write", path)(io::Error::new(cause.kind(), cause.to_string()));
    }
    damage(path, error)
}

pub(super) fn damage(path: &Path, reason: &impl ToString) -> ResultsError {
    ResultsError::Parquet {
        path: path.into(),
        reason: reason.to_string(),
    }
}
