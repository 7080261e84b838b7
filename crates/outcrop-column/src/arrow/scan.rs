//! All rows in order as Arrow dictionary arrays.
#![expect(
    unsafe_code,
    reason = "keys are checked as they are decoded; checking them again would take a third of the time of decoding them. \
              Keys of many rows lie in memory that is mapped for them"
)]

use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::types::{ByteArrayType, GenericBinaryType, GenericStringType, Int32Type};
use arrow_array::{ArrayRef, DictionaryArray, GenericByteArray, Int32Array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use memmap2::{Advice, MmapMut};

use crate::Column;
use crate::column::{Batch, Batches, MergedValues, StoredValues};
use crate::error::{ColumnError, Result};
use crate::format::BLOCK_ROWS;

/// Iterator over a column's rows as dictionary arrays of 65,536 rows, or [more](Scan::with_batch_rows), with one
/// dictionary; see [`Column::scan`].
#[derive(Debug)]
pub struct Scan<'a> {
    column: &'a Column,
    batches: Batches<'a>,
    /// Most rows of an array; never less than a block.
    batch_rows: usize,
    rows_left: u64,
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
            batch_rows: BLOCK_ROWS,
            rows_left: self.row_count(),
            values: values_array(bytes, &ends)?,
            maps,
            null_code,
            has_nulls: self.null_count() > 0,
        })
    }
}

impl Scan<'_> {
    /// The same rows in arrays of at most `rows` rows, where that is more than 65,536. It suits consumers that do the same work for
    /// each array again, such as the C data interface.
    ///
    /// *Cost*: another copy of the keys, into huge pages where the kernel has them: less than what small pages cost.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// use arrow_array::Array;
    /// # let mut file = Vec::new();
    /// # encode_text("tuff\n".repeat(200_000).as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// let column = Column::open_in(file)?;
    /// let lengths = column.scan()?.with_batch_rows(150_000).map(|array| Ok(array?.len()));
    /// assert_eq!(lengths.collect::<outcrop_column::Result<Vec<_>>>()?, [131_072, 68_928]);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    #[must_use]
    pub fn with_batch_rows(self, rows: usize) -> Self {
        Self {
            batch_rows: rows.max(BLOCK_ROWS),
            ..self
        }
    }

    /// The type of the arrays.
    pub fn data_type(&self) -> DataType {
        DataType::Dictionary(
            Box::new(DataType::Int32),
            Box::new(self.values.data_type().clone()),
        )
    }

    /// Turns the codes of a block into keys; gives which of them are valid, where not all are.
    fn translate(&self, batch: &mut Batch) -> Option<NullBuffer> {
        let null_code = self.null_code.unwrap_or(batch.null_code);
        let codes = &mut batch.codes;
        let has_nulls = self.has_nulls && codes.contains(&null_code);
        let nulls = has_nulls.then(|| {
            let valid = BooleanBuffer::collect_bool(codes.len(), |row| codes[row] != null_code);
            NullBuffer::new(valid)
        });
        if let Some(map) = self.maps.get(batch.segment).filter(|map| !map.is_empty()) {
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
        self.column.report_rows(batch.first_row + codes.len() as u64);
        nulls
    }

    fn array(&self, keys: Buffer, count: usize, nulls: Option<NullBuffer>) -> DictionaryArray<Int32Type> {
        let keys = Int32Array::new(ScalarBuffer::new(keys, 0, count), nulls);
        // SAFETY: decoding refuses numbers that are not those of a symbol, and of these only null has no
        // value: its key is 0 where the dictionary has no place for it, and its rows are null.
        unsafe { DictionaryArray::new_unchecked(keys, Arc::clone(&self.values)) }
    }

    /// The next block.
    fn block(&mut self) -> Result<Option<DictionaryArray<Int32Type>>> {
        let Some(mut batch) = self.batches.next().transpose()? else {
            return Ok(None);
        };
        let nulls = self.translate(&mut batch);
        let count = batch.codes.len();
        self.rows_left -= count as u64;
        Ok(Some(self.array(Buffer::from_vec(batch.codes), count, nulls)))
    }

    /// As many blocks as an array takes.
    fn blocks(&mut self) -> Result<Option<DictionaryArray<Int32Type>>> {
        if self.rows_left == 0 {
            return Ok(None);
        }
        let capacity =
            usize::try_from(self.rows_left).map_or(self.batch_rows, |left| left.min(self.batch_rows));
        let mut keys = MmapMut::map_anon(capacity * size_of::<u32>())?;
        // Advice only: a kernel without huge pages ignores it.
        let _ = keys.advise(Advice::HugePage);
        let mut nulls = NullBufferBuilder::new(capacity);
        let (mut batch, mut count) = (Batch::default(), 0);
        // The next block has at most as many rows as are left, and at most a block's.
        while self.rows_left.min(BLOCK_ROWS as u64) <= (capacity - count) as u64
            && self.batches.next_into(&mut batch)?
        {
            match self.translate(&mut batch) {
                Some(valid) => nulls.append_buffer(&valid),
                None => nulls.append_n_non_nulls(batch.codes.len()),
            }
            let (places, _) = keys.as_chunks_mut();
            for (place, code) in places[count..].iter_mut().zip(&batch.codes) {
                *place = code.to_ne_bytes();
            }
            count += batch.codes.len();
            self.rows_left -= batch.codes.len() as u64;
        }
        Ok((count > 0).then(|| self.array(buffer_of(keys), count, nulls.finish())))
    }
}

fn buffer_of(map: MmapMut) -> Buffer {
    let (start, length) = (NonNull::from(&map[..]).cast(), map.len());
    // SAFETY: the buffer owns the map from here on, which stays where it is, and nobody writes to it.
    unsafe { Buffer::from_custom_allocation(start, length, Arc::new(map)) }
}

impl Iterator for Scan<'_> {
    type Item = Result<DictionaryArray<Int32Type>>;

    fn next(&mut self) -> Option<Self::Item> {
        let array = if self.batch_rows > BLOCK_ROWS {
            self.blocks()
        } else {
            self.block()
        };
        array.transpose()
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
