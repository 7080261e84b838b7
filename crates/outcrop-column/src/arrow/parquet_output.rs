//! A column as a Parquet file.

use std::io::Write;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;

use super::ipc_output::{record_batches, schema_of};
use super::parquet_errors::of_writer;
use super::parquet_sizes::{Form, chunk_bytes, parquet_columns};
use super::parts::parts_to_write;
use crate::Column;
use crate::error::Result;

impl Column {
    /// Writes all rows as a Parquet file: one optional column `name`, compressed with zstd, with the encoding that takes least: a dictionary,
    /// plain values, or one of the delta encodings.
    ///
    /// *Cost*: the rows are encoded and compressed once in each of the five forms, and once more in the smallest.
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
        let sizes = chunk_bytes(record_batches(scan, &schema))?;
        let smallest = sizes.iter().min_by_key(|(_, bytes)| bytes.iter().sum::<u64>());
        let form = smallest.map_or(Form::Usual, |(form, _)| *form);
        // Without the schema of Arrow: its dictionary type makes pyarrow refuse every page that has another encoding.
        let options = ArrowWriterOptions::new()
            .with_properties(form.properties(&parquet_columns(&schema)?)?)
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(out, schema.clone(), options);
        let mut writer = writer.map_err(of_writer)?;
        for batch in record_batches(self.scan()?, &schema) {
            for part in parts_to_write(&batch?) {
                writer.write(&part).map_err(of_writer)?;
            }
        }
        writer.close().map_err(of_writer)?;
        Ok(())
    }
}
