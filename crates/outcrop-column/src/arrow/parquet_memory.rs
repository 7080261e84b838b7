//! How much memory writing a column as Parquet takes, and how that is kept within a limit.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::parquet_sizes::Form;
use crate::error::Result;
use crate::memory::Allowance;

/// Rows that the library encodes before it looks at the size of the page.
const WRITE_ROWS: usize = 1024;
/// Bytes of values that it may encode before that, and an array of rows that it is given may stand for.
const WRITE_BYTES: usize = 8 << 20;
const SLICE_BYTES: usize = 64 << 20;
/// Copies of what is encoded at once that a writer holds: in the page, compressed, with room to grow, and as the least and the greatest value.
const PAGE_COPIES: u64 = 4;
/// Copies of all values that a writer holds for a dictionary of any size.
const DICTIONARY_COPIES: u64 = 3;

/// How a column is written in several forms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Whether all forms are written at once, each in its own memory.
    pub(super) is_at_once: bool,
    /// Rows that a writer encodes before it looks at the size of a page.
    pub(super) write_rows: usize,
    /// Rows that a writer is given at once.
    pub(super) slice_rows: usize,
    /// Bytes of a row group that may wait in memory.
    pub(super) group_bytes: u64,
}

impl Share {
    /// For arrays of which nothing is known.
    pub(super) const UNKNOWN: Self = Self {
        is_at_once: true,
        write_rows: WRITE_ROWS,
        slice_rows: usize::MAX,
        group_bytes: 256 << 20,
    };

    /// For rows with these values, in these forms.
    ///
    /// # Errors
    /// [`ColumnError::NeedsMemory`](crate::ColumnError::NeedsMemory) where no form alone keeps to what is allowed.
    pub(super) fn of(values: &ArrayRef, forms: &[Form], allowance: &Allowance) -> Result<Self> {
        let all = values.get_buffer_memory_size() as u64;
        let longest = longest_of(values);
        let write_rows = (WRITE_BYTES / longest.max(1)).clamp(1, WRITE_ROWS);
        let page = PAGE_COPIES * (write_rows * longest).max(1 << 20) as u64;
        let of_form = |form: &Form| match form {
            Form::WholeDictionary => page + DICTIONARY_COPIES * all,
            Form::Usual | Form::Only(_) => page,
        };
        let at_once = all + forms.iter().map(of_form).sum::<u64>();
        let one = all + forms.iter().map(of_form).max().unwrap_or(0);
        let is_at_once = allowance.clone().take(at_once).is_ok();
        if !is_at_once {
            allowance.clone().take(one)?;
        }
        let writers = if is_at_once { forms.len().max(1) as u64 } else { 1 };
        Ok(Self {
            is_at_once,
            write_rows,
            slice_rows: (SLICE_BYTES / longest.max(1)).max(1),
            group_bytes: all + allowance.limit_bytes() / (2 * writers),
        })
    }
}

/// Bytes of the longest of these values; 0 for a type whose values are all short.
fn longest_of(values: &ArrayRef) -> usize {
    fn longest<O: arrow_array::OffsetSizeTrait>(offsets: &[O]) -> usize {
        let lengths = offsets
            .windows(2)
            .map(|pair| pair[1].as_usize() - pair[0].as_usize());
        lengths.max().unwrap_or(0)
    }
    match values.data_type() {
        DataType::Utf8 => longest(values.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => longest(values.as_string::<i64>().value_offsets()),
        DataType::Binary => longest(values.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => longest(values.as_binary::<i64>().value_offsets()),
        _ => 0,
    }
}
