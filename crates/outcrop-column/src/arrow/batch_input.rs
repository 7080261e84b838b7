//! One column of record batches that another program hands over in memory.

use arrow_array::{Array as _, ArrayRef, RecordBatchReader, new_null_array};
use arrow_schema::DataType;

use super::as_text::as_strings;
use super::find_column;
use crate::encode::InputColumn;
use crate::error::Result;

/// Iterator over one column of record batches, as arrays of strings or bytes; other types come as their text forms.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, StringArray};
/// use outcrop_column::arrow::BatchStrings;
/// use outcrop_column::{ColumnError, EncodeOptions, Encoder, InputColumn};
///
/// let rocks: ArrayRef = Arc::new(StringArray::from(vec![Some("marl"), None]));
/// let batch = RecordBatch::try_from_iter_with_nullable([("rock", rocks, true)])?;
/// let schema = batch.schema();
/// let mut encoder = Encoder::new(EncodeOptions::default());
/// for array in BatchStrings::open(RecordBatchIterator::new([Ok(batch)], schema), InputColumn::Only)? {
///     encoder.push_array(&array?)?;
/// }
/// assert_eq!(encoder.row_count(), 2);
/// # Ok::<(), ColumnError>(())
/// ```
#[derive(Debug)]
pub struct BatchStrings<R> {
    batches: R,
    column: usize,
}

impl<R: RecordBatchReader> BatchStrings<R> {
    /// Finds the column.
    ///
    /// # Errors
    /// [`ColumnError::NoSuchColumn`](crate::ColumnError::NoSuchColumn) and
    /// [`ColumnError::NotStrings`](crate::ColumnError::NotStrings) with the columns that there are.
    pub fn open(batches: R, column: InputColumn<'_>) -> Result<Self> {
        let schema = batches.schema();
        // A table whose only column holds nothing but nulls has no type for them.
        let column = match &schema.fields()[..] {
            [only] if only.data_type() == &DataType::Null && column == InputColumn::Only => 0,
            _ => find_column(&schema, column)?,
        };
        Ok(Self { batches, column })
    }
}

impl<R: RecordBatchReader> Iterator for BatchStrings<R> {
    type Item = Result<ArrayRef>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        Some(
            batch
                .map_err(Into::into)
                .and_then(|batch| strings_of(ArrayRef::clone(batch.column(self.column)))),
        )
    }
}

/// The array itself if it has strings or bytes, else the text forms of its values; nulls without a type are strings.
///
/// # Errors
/// [`ColumnError::Foreign`](crate::ColumnError::Foreign) for a value without a text form, such as a date beyond the calendar.
pub fn strings_of(array: ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Null => Ok(new_null_array(&DataType::Utf8, array.len())),
        _ => as_strings(array),
    }
}
