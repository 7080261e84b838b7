//! A column as a Parquet file.

use std::io::Write;

use parquet::arrow::ArrowWriter;

use super::ipc_output::{record_batches, schema_of};
use super::parquet_input::of_parquet;
use super::parquet_sizes::{chunk_bytes, delta_form, usual_form};
use crate::Column;
use crate::error::Result;

/// Limit of a dictionary without one.
const DICTIONARY_BYTES: usize = 1 << 30;

impl Column {
    /// Writes all rows as a Parquet file: one optional column `name`, compressed with zstd, with dictionary or delta encoding, whichever is
    /// smaller.
    ///
    /// *Cost*: four passes over the rows, three of them to find the smallest encoding.
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
        // Above any dictionary that fits into a row group: the default limit of 1 MiB makes Parquet go on with plain values.
        let whole_dictionary = usual_form()?.set_dictionary_page_size_limit(DICTIONARY_BYTES);
        let mut forms = vec![
            whole_dictionary.build(),
            usual_form()?.build(),
            delta_form()?.build(),
        ];
        let sizes = chunk_bytes(record_batches(scan, &schema), &forms)?;
        let smallest = sizes.iter().enumerate().min_by_key(|(_, bytes)| **bytes);
        let form = forms.swap_remove(smallest.map_or(0, |(form, _)| form));
        let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(form)).map_err(of_parquet)?;
        for batch in record_batches(self.scan()?, &schema) {
            writer.write(&batch?).map_err(of_parquet)?;
        }
        writer.close().map_err(of_parquet)?;
        Ok(())
    }
}
