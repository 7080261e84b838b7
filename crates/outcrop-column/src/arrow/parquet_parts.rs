//! Rows in parts that a writer of Parquet can hold.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::DataType;

/// Bytes that the rows of a part may have together, and one row more.
const PART_BYTES: usize = 16 << 20;
/// Rows after which a writer of Parquet looks at the size of its page.
const ROWS_OF_A_PAGE: usize = 1024;

/// The rows of a batch in parts that a writer can hold: it looks at the size of a page after many rows only, and then a dictionary of one value of a
/// megabyte, with a key in each row, has become a gigabyte in each writer.
pub(super) fn parts_to_write(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let longest = batch.columns().iter().map(longest_value).max().unwrap_or(0);
    let rows = match longest > PART_BYTES / ROWS_OF_A_PAGE {
        true => (PART_BYTES / longest).max(1),
        false => batch.num_rows().max(1),
    };
    let starts = (0..batch.num_rows()).step_by(rows);
    starts.map(move |start| batch.slice(start, rows.min(batch.num_rows() - start)))
}

/// Bytes of the longest value of an array of strings, or of the dictionary of one; 0 of other types.
fn longest_value(array: &ArrayRef) -> usize {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return longest_value(dictionary.values());
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

    #[test]
    fn rows_of_long_values_are_written_a_few_at_a_time_and_others_all_at_once() {
        let batch = |length: usize| {
            let values = StringArray::from(vec!["x".repeat(length), String::new()]);
            let keys: Int32Array = (0..3000).map(|row| Some(row % 2)).collect();
            let rows = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(values)).unwrap();
            RecordBatch::try_from_iter([("rock", Arc::new(rows) as ArrayRef)]).unwrap()
        };
        for (length, most_rows) in [
            (0, 3000),
            (100, 3000),
            (16 << 10, 3000),
            (1 << 20, 16),
            (40 << 20, 1),
        ] {
            let batch = batch(length);
            let parts: Vec<RecordBatch> = parts_to_write(&batch).collect();
            let rows = parts.iter().map(RecordBatch::num_rows);
            assert_eq!(rows.clone().max(), Some(most_rows), "{length}");
            assert_eq!(rows.sum::<usize>(), 3000, "{length}");
        }
    }
}
