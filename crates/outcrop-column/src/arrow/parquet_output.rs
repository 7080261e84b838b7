//! A column as a Parquet file.

use std::io::Write;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::ipc_output::{record_batches, schema_of};
use super::parquet_input::of_parquet;
use crate::Column;
use crate::error::Result;

/// Rows of a row group: as many as most writers take.
const ROW_GROUP_ROWS: usize = 1 << 20;
/// Above any dictionary that fits into a row group: the default limit of 1 MiB is what makes
/// Parquet fall back to plain values.
const DICTIONARY_BYTES: usize = 1 << 30;

impl Column {
    /// Writes all rows as a Parquet file: one optional column `name`, dictionary-encoded without
    /// fallback, compressed with zstd.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// use outcrop_column::{InputColumn, arrow::ParquetStrings};
    /// # let mut file = Vec::new();
    /// # encode_text("tuff\nmarl\ntuff\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("rocks.parquet");
    /// Column::open_in(file)?.write_parquet(std::fs::File::create(&path)?, "rock")?;
    /// let back = ParquetStrings::open(std::fs::File::open(&path)?, InputColumn::Only)?;
    /// assert_eq!(back.row_count(), 3);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Column::scan`], and what `out` reports.
    pub fn write_parquet(&self, out: impl Write + Send, name: &str) -> Result<()> {
        let scan = self.scan()?;
        let schema = schema_of(&scan, name);
        let level = ZstdLevel::try_new(3).map_err(of_parquet)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_dictionary_page_size_limit(DICTIONARY_BYTES)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .build();
        let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(of_parquet)?;
        for batch in record_batches(scan, &schema) {
            writer.write(&batch?).map_err(of_parquet)?;
        }
        writer.close().map_err(of_parquet)?;
        Ok(())
    }
}
