//! What a search found as Arrow arrays.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, RecordBatch, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};

use super::scan::values_array;
use crate::error::Result;
use crate::{Column, Selection};

impl Selection<'_> {
    /// The rows, ascending, as a batch with one field `row`.
    ///
    /// # Errors
    /// As [`Selection::rows`].
    pub fn rows_batch(&self) -> Result<RecordBatch> {
        batch_of_rows(self.rows()?)
    }

    /// The values selected, each with the number of its rows, as a batch with the fields `value` and `rows`.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// use arrow_array::{cast::AsArray, types::UInt64Type};
    /// # let mut file = Vec::new();
    /// # encode_text("tuff\nmarl\ntuff\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// let batch = Column::open_in(file)?.find_range(..)?.values_batch()?;
    /// assert_eq!(batch["value"].as_string::<i32>().value(1), "tuff");
    /// assert_eq!(batch["rows"].as_primitive::<UInt64Type>().values(), &[1, 2]);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Selection::for_each_value`].
    pub fn values_batch(&self) -> Result<RecordBatch> {
        batch_of_values(std::slice::from_ref(self), usize::MAX)
    }
}

/// Looking up one row takes about as long as decoding this many.
const ROWS_DECODED_PER_LOOKUP: u64 = 1024;

/// The bytes of a row of a scan; none for null.
fn value_at(array: &DictionaryArray<Int32Type>, row: usize) -> Option<&[u8]> {
    let key = array
        .keys()
        .is_valid(row)
        .then(|| array.keys().value(row) as usize)?;
    let values = array.values();
    Some(match values.data_type() {
        DataType::Utf8 => values.as_string::<i32>().value(key).as_bytes(),
        DataType::LargeUtf8 => values.as_string::<i64>().value(key).as_bytes(),
        DataType::Binary => values.as_binary::<i32>().value(key),
        _ => values.as_binary::<i64>().value(key),
    })
}

impl Column {
    /// The values of `rows`, in the order asked for, as a batch with the fields `row` and `value`.
    ///
    /// *Cost*: a lookup a row; for many rows, decoding the whole column once.
    ///
    /// # Errors
    /// As [`Column::get`].
    pub fn get_batch(&self, rows: &[u64]) -> Result<RecordBatch> {
        let mut values = Values::default();
        let is_many = rows.len() as u64 > self.row_count() / ROWS_DECODED_PER_LOOKUP;
        let all = match is_many && self.has_codes() {
            true => self.scan()?.with_batch_rows(usize::MAX).next().transpose()?,
            false => None,
        };
        for &row in rows {
            match all.as_ref().filter(|_| row < self.row_count()) {
                Some(all) => values.push(value_at(all, row as usize)),
                None => values.push(self.get(row)?.as_deref()),
            }
        }
        batch([
            ("row", Arc::new(UInt64Array::from(rows.to_vec()))),
            ("value", values.finish()?),
        ])
    }
}

/// Row numbers as a batch with one field `row`.
pub fn batch_of_rows(rows: Vec<u64>) -> Result<RecordBatch> {
    batch([("row", Arc::new(UInt64Array::from(rows)) as ArrayRef)])
}

/// The values of several selections, at most `limit`, each with the number of its rows, as
/// [`Selection::values_batch`] gives them.
///
/// # Errors
/// As [`Selection::for_each_value`].
pub fn batch_of_values(selections: &[Selection<'_>], limit: usize) -> Result<RecordBatch> {
    let mut counts = Vec::new();
    let mut values = Values::default();
    for selection in selections {
        selection.for_each_value(|value, count| {
            if counts.len() < limit {
                values.push(value);
                counts.push(count);
            }
            Ok(())
        })?;
    }
    batch([
        ("value", values.finish()?),
        ("rows", Arc::new(UInt64Array::from(counts))),
    ])
}

/// Writes a batch as an Arrow IPC stream.
///
/// # Errors
/// What `out` reports.
pub fn write_batch(batch: &RecordBatch, out: impl Write) -> Result<()> {
    let mut writer = StreamWriter::try_new(out, &batch.schema())?;
    writer.write(batch)?;
    Ok(writer.finish()?)
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    let fields = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), array.is_nullable()));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    Ok(RecordBatch::try_new(schema, arrays)?)
}

/// Values gathered into an array.
#[derive(Debug, Default)]
struct Values {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    valid: Vec<bool>,
}

impl Values {
    fn push(&mut self, value: Option<&[u8]>) {
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.ends.push(self.bytes.len());
        self.valid.push(value.is_some());
    }

    fn finish(self) -> Result<ArrayRef> {
        let array = values_array(self.bytes, &self.ends)?;
        if self.valid.iter().all(|&valid| valid) {
            return Ok(array);
        }
        let nulls = NullBuffer::new(BooleanArray::from(self.valid).values().clone());
        let data = array.to_data().into_builder().nulls(Some(nulls)).build()?;
        Ok(arrow_array::make_array(data))
    }
}
