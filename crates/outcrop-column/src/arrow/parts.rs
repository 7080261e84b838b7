//! Rows in parts that a writer can hold, however long their values are.

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array as _, ArrayRef, FixedSizeListArray, LargeListArray, ListArray, MapArray, RecordBatch,
};
use arrow_schema::DataType;

use crate::error::{ColumnError, Result};

/// Bytes that the rows of a part may have together, and one row more.
const PART_BYTES: usize = 16 << 20;
/// Rows after which a writer of Parquet looks at the size of its page.
const ROWS_OF_A_PAGE: usize = 1024;

/// The rows of a batch in parts that a writer can hold: it looks at the size of a page after many rows only, and then a dictionary of one value of a
/// megabyte, with a key in each row, has become a gigabyte in each writer.
pub(super) fn parts_to_write(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let longest = batch.columns().iter().map(longest_value).max().unwrap_or(0);
    let rows = match rows_of_a_part(longest) {
        rows if rows < ROWS_OF_A_PAGE => rows,
        _ => usize::MAX,
    };
    starts_of_parts(batch.num_rows(), rows).map(|(start, rows)| batch.slice(start, rows))
}

/// The rows of an array in parts of at most 16 MiB of values and one row more.
pub fn array_parts(array: &ArrayRef) -> impl Iterator<Item = ArrayRef> {
    let parts = starts_of_parts(array.len(), rows_of_a_part(longest_value(array)));
    parts.map(|(start, rows)| array.slice(start, rows))
}

/// As many rows as a part may have if all are as long as the longest.
fn rows_of_a_part(longest: usize) -> usize {
    (PART_BYTES / longest.max(1)).max(1)
}

/// First row and number of rows of each part.
fn starts_of_parts(row_count: usize, rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let starts = (0..row_count).step_by(rows);
    starts.map(move |start| (start, rows.min(row_count - start)))
}

/// Refuses an array with a value of more than `limit` bytes, in its dictionary or in a part of a nested value.
///
/// # Errors
/// [`ColumnError::LongValue`].
pub fn refuse_longer_values(array: &ArrayRef, limit: u64) -> Result<()> {
    match longest_value(array) as u64 {
        bytes if bytes > limit => Err(ColumnError::LongValue { bytes, limit }),
        _ => Ok(()),
    }
}

/// Bytes of the longest value of an array of strings, or of the dictionary of one, or of the parts of nested values; 0 of other types.
fn longest_value(array: &ArrayRef) -> usize {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return longest_value(dictionary.values());
    }
    if let Some(fields) = array.as_struct_opt() {
        return fields.columns().iter().map(longest_value).max().unwrap_or(0);
    }
    let nested = [
        array.as_list_opt::<i32>().map(ListArray::values),
        array.as_list_opt::<i64>().map(LargeListArray::values),
        array.as_fixed_size_list_opt().map(FixedSizeListArray::values),
        array.as_map_opt().map(MapArray::keys),
        array.as_map_opt().map(MapArray::values),
    ];
    if let Some(longest) = nested.into_iter().flatten().map(longest_value).max() {
        return longest;
    }
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    match array.data_type() {
        DataType::Utf8 => longest(&mut array.as_string::<i32>().offsets().lengths()),
        DataType::LargeUtf8 => longest(&mut array.as_string::<i64>().offsets().lengths()),
        DataType::Binary => longest(&mut array.as_binary::<i32>().offsets().lengths()),
        DataType::LargeBinary => longest(&mut array.as_binary::<i64>().offsets().lengths()),
        DataType::Utf8View => longest(&mut array.as_string_view().lengths().map(|length| length as usize)),
        DataType::BinaryView => longest(&mut array.as_binary_view().lengths().map(|length| length as usize)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Int32Array, StringArray};

    use super::*;

    /// 3000 rows, every other of them the same value of this length.
    fn dictionary_rows(length: usize) -> ArrayRef {
        let values = StringArray::from(vec!["x".repeat(length), String::new()]);
        let keys: Int32Array = (0..3000).map(|row| Some(row % 2)).collect();
        Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(values)).unwrap())
    }

    /// Whoever copies the values of a part copies the one of the dictionary for each row: 3000 rows of 16 KiB are 47 MiB.
    #[test]
    fn values_of_any_length_pass_in_parts_of_at_most_16_mib() {
        for (length, most_rows) in [
            (0, 3000),
            (100, 3000),
            (8 << 10, 2048),
            (16 << 10, 1024),
            (1 << 20, 16),
            (40 << 20, 1),
        ] {
            let parts: Vec<ArrayRef> = array_parts(&dictionary_rows(length)).collect();
            let rows = parts.iter().map(arrow_array::Array::len);
            assert_eq!(rows.clone().max(), Some(most_rows), "{length}");
            assert_eq!(rows.sum::<usize>(), 3000, "{length}");
        }
    }

    #[test]
    fn rows_of_long_values_are_written_a_few_at_a_time_and_others_all_at_once() {
        for (length, most_rows) in [
            (0, 3000),
            (100, 3000),
            (16 << 10, 3000),
            (1 << 20, 16),
            (40 << 20, 1),
        ] {
            let batch = RecordBatch::try_from_iter([("rock", dictionary_rows(length))]).unwrap();
            let parts: Vec<RecordBatch> = parts_to_write(&batch).collect();
            let rows = parts.iter().map(RecordBatch::num_rows);
            assert_eq!(rows.clone().max(), Some(most_rows), "{length}");
            assert_eq!(rows.sum::<usize>(), 3000, "{length}");
        }
    }
}
