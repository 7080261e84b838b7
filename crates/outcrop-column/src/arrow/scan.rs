//! All rows in order as Arrow dictionary arrays.
#![expect(
    unsafe_code,
    reason = "keys are checked as they are decoded; checking them again would take a third of the time of decoding them"
)]

use std::sync::Arc;

use arrow_array::types::{ByteArrayType, GenericBinaryType, GenericStringType, Int32Type};
use arrow_array::{ArrayRef, DictionaryArray, GenericByteArray, Int32Array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

use crate::Column;
use crate::column::{Batch, Batches, MergedValues, StoredValues};
use crate::error::{ColumnError, Result};

/// Iterator over a column's rows as dictionary arrays of 65,536 rows, with one
/// dictionary; see [`Column::scan`].
#[derive(Debug)]
pub struct Scan<'a> {
    column: &'a Column,
    batches: Batches<'a>,
    values: ArrayRef,
    /// For each segment, position in `values` of each of its codes; empty where it is the code.
    maps: Vec<Vec<u32>>,
    /// The number of null in the batches, where it is not the batch's own.
    null_code: Option<u32>,
    has_nulls: bool,
}

/// The order of the values of an Arrow dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DictionaryOrder {
    /// By their bytes: keys compare as their values do.
    #[default]
    Bytes,
    /// As the file numbers them: where it numbers them by frequency, that saves a table lookup per row.
    Stored,
}

impl Column {
    /// All rows in order as Arrow dictionary arrays: 32-bit keys, one dictionary for all, in byte order.
    ///
    /// Its values are strings if all of them are UTF-8, else bytes; offsets have 64
    /// bits if they need more than 31.
    ///
    /// *Cost*: the dictionary once, then the unpacking of codes; for an appended file's
    /// segments also a table lookup per row.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// use arrow_array::cast::AsArray;
    /// # let mut file = Vec::new();
    /// # encode_text("tuff\nmarl\ntuff\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// for batch in Column::open_in(file)?.scan()? {
    ///     let batch = batch?;
    ///     assert_eq!(batch.values().as_string::<i32>().value(0), "marl");
    ///     assert_eq!(batch.keys().values(), &[1, 0, 1]);
    /// }
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// [`ColumnError::NoCodes`] in a file with the index only; [`ColumnError::Limit`] for 2^31 distinct
    /// values or more; [`ColumnError::Corrupt`]; what the source reports.
    pub fn scan(&self) -> Result<Scan<'_>> {
        self.scan_in(DictionaryOrder::Bytes)
    }

    /// [`Column::scan`] with the dictionary in an order of choice. A column of several segments has
    /// one in byte order in any case.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// use outcrop_column::arrow::DictionaryOrder;
    /// use arrow_array::cast::AsArray;
    /// # let mut file = Vec::new();
    /// # encode_text("tuff\nmarl\ntuff\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// for batch in Column::open_in(file)?.scan_in(DictionaryOrder::Stored)? {
    ///     let rocks = batch?.downcast_dict::<arrow_array::StringArray>().map(|rocks| rocks.into_iter().flatten().collect::<String>());
    ///     assert_eq!(rocks.as_deref(), Some("tuffmarltuff"));
    /// }
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Column::scan`].
    pub fn scan_in(&self, order: DictionaryOrder) -> Result<Scan<'_>> {
        let mut batches = self.scan_codes()?;
        let stored = match order {
            DictionaryOrder::Bytes => None,
            DictionaryOrder::Stored => self.stored_values()?,
        };
        let (bytes, ends, maps, null_code) = if let Some(StoredValues { bytes, ends, null }) = stored {
            batches = batches.with_stored_numbers();
            // A number that no row has stands for null where there is none.
            (bytes, ends, vec![Vec::new()], Some(null.unwrap_or(u32::MAX)))
        } else {
            let MergedValues { bytes, ends, maps } = self.merged_values()?;
            (bytes, ends, maps, None)
        };
        if ends.len() > i32::MAX as usize {
            return Err(ColumnError::Limit {
                what: "distinct values of an Arrow dictionary",
                seen: ends.len() as u64,
                limit: i32::MAX as u64,
                hint: "decode to text instead",
            });
        }
        Ok(Scan {
            column: self,
            batches,
            values: values_array(bytes, &ends)?,
            maps,
            null_code,
            has_nulls: self.null_count() > 0,
        })
    }
}

impl Scan<'_> {
    /// The type of the arrays.
    pub fn data_type(&self) -> DataType {
        DataType::Dictionary(
            Box::new(DataType::Int32),
            Box::new(self.values.data_type().clone()),
        )
    }

    fn array(&self, batch: Batch) -> Result<DictionaryArray<Int32Type>> {
        let Batch {
            segment,
            mut codes,
            null_code,
            first_row,
        } = batch;
        let null_code = self.null_code.unwrap_or(null_code);
        let has_nulls = self.has_nulls && codes.contains(&null_code);
        let nulls = has_nulls.then(|| {
            let valid = BooleanBuffer::collect_bool(codes.len(), |row| codes[row] != null_code);
            NullBuffer::new(valid)
        });
        if let Some(map) = self.maps.get(segment).filter(|map| !map.is_empty()) {
            // The code of null is one past the map: its key means nothing, and 0 is always in range.
            codes
                .iter_mut()
                .for_each(|code| *code = map.get(*code as usize).copied().unwrap_or(0));
        } else if has_nulls {
            codes
                .iter_mut()
                .filter(|code| **code == null_code)
                .for_each(|code| *code = 0);
        }
        let count = codes.len();
        self.column.report_rows(first_row + count as u64);
        let keys = Int32Array::new(ScalarBuffer::new(Buffer::from_vec(codes), 0, count), nulls);
        // SAFETY: decoding refuses numbers that are not those of a symbol, and of these only null has no
        // value: its key is 0 where the dictionary has no place for it, and its rows are null.
        Ok(unsafe { DictionaryArray::new_unchecked(keys, Arc::clone(&self.values)) })
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<DictionaryArray<Int32Type>>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        Some(batch.and_then(|batch| self.array(batch)))
    }
}

/// Values back to back as an array of strings where they are UTF-8, else of bytes.
pub(super) fn values_array(bytes: Vec<u8>, ends: &[usize]) -> Result<ArrayRef> {
    let is_text = {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts
            .zip(ends)
            .all(|(start, &end)| std::str::from_utf8(&bytes[start..end]).is_ok())
    };
    match (is_text, i32::try_from(bytes.len()).is_ok()) {
        (true, true) => byte_array::<GenericStringType<i32>>(bytes, ends),
        (true, false) => byte_array::<GenericStringType<i64>>(bytes, ends),
        (false, true) => byte_array::<GenericBinaryType<i32>>(bytes, ends),
        (false, false) => byte_array::<GenericBinaryType<i64>>(bytes, ends),
    }
}

fn byte_array<T: ByteArrayType>(bytes: Vec<u8>, ends: &[usize]) -> Result<ArrayRef> {
    let mut start = 0;
    let lengths = ends.iter().map(|&end| end - std::mem::replace(&mut start, end));
    let offsets = OffsetBuffer::<T::Offset>::from_lengths(lengths);
    let array = GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(bytes), None)?;
    Ok(Arc::new(array))
}
