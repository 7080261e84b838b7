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
use crate::column::{Batches, MergedValues, StoredValues, Upcoming};
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
    shared: ArrowValues,
    /// The number of null in the batches, where it is not the batch's own.
    null_code: Option<u32>,
    has_nulls: bool,
}

/// The dictionary that all arrays of a scan share.
#[derive(Debug, Clone)]
pub(crate) struct ArrowValues {
    values: ArrayRef,
    /// For each segment, position in `values` of each of its codes; empty where it is the code.
    maps: Arc<[Vec<u32>]>,
}

impl ArrowValues {
    fn new(bytes: Vec<u8>, ends: &[usize], maps: Vec<Vec<u32>>) -> Result<Self> {
        if ends.len() > i32::MAX as usize {
            return Err(ColumnError::Limit {
                what: "distinct values of an Arrow dictionary",
                seen: ends.len() as u64,
                limit: i32::MAX as u64,
                hint: "decode to text instead",
            });
        }
        Ok(Self {
            values: values_array(bytes, ends)?,
            maps: maps.into(),
        })
    }
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
        let (shared, null_code) = if let Some(StoredValues { bytes, ends, null }) = stored {
            batches = batches.with_stored_numbers();
            let shared = ArrowValues::new(bytes, &ends, vec![Vec::new()])?;
            // A number that no row has stands for null where there is none.
            (shared, Some(null.unwrap_or(u32::MAX)))
        } else {
            let shared = self.arrow_values(|| {
                let MergedValues { bytes, ends, maps } = self.merged_values()?;
                ArrowValues::new(bytes, &ends, maps)
            })?;
            (shared, None)
        };
        Ok(Scan {
            column: self,
            batches,
            batch_rows: BLOCK_ROWS,
            rows_left: self.row_count(),
            shared,
            null_code,
            has_nulls: self.null_count() > 0,
        })
    }
}

impl Scan<'_> {
    /// The same rows in arrays of at most `rows` rows, where that is more than 65,536. It suits consumers that do the same work for
    /// each array again, such as the C data interface.
    ///
    /// *Cost*: an array's keys in memory mapped for them, on huge pages where the kernel has them.
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
            Box::new(self.shared.values.data_type().clone()),
        )
    }

    /// Turns the codes of a block into keys; gives which of them are valid, where not all are.
    fn translate(&self, block: Upcoming, codes: &mut [u32]) -> Option<NullBuffer> {
        let null_code = self.null_code.unwrap_or(block.null_code);
        let has_nulls = self.has_nulls && codes.contains(&null_code);
        let nulls = has_nulls.then(|| {
            let valid = BooleanBuffer::collect_bool(codes.len(), |row| codes[row] != null_code);
            NullBuffer::new(valid)
        });
        if let Some(map) = self.shared.maps.get(block.segment).filter(|map| !map.is_empty()) {
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
        self.column.report_rows(block.first_row + codes.len() as u64);
        nulls
    }

    fn array(&self, keys: Buffer, count: usize, nulls: Option<NullBuffer>) -> DictionaryArray<Int32Type> {
        let keys = Int32Array::new(ScalarBuffer::new(keys, 0, count), nulls);
        // SAFETY: decoding refuses numbers that are not those of a symbol, and of these only null has no
        // value: its key is 0 where the dictionary has no place for it, and its rows are null.
        unsafe { DictionaryArray::new_unchecked(keys, Arc::clone(&self.shared.values)) }
    }

    /// Decodes the upcoming block into keys; gives which of them are valid, where not all are.
    fn decode(&mut self, block: Upcoming, codes: &mut [u32]) -> Result<Option<NullBuffer>> {
        self.batches.decode_into(codes)?;
        self.rows_left -= codes.len() as u64;
        Ok(self.translate(block, codes))
    }

    /// The next block.
    fn block(&mut self) -> Result<Option<DictionaryArray<Int32Type>>> {
        let Some(block) = self.batches.upcoming() else {
            return Ok(None);
        };
        let mut codes = vec![0; block.row_count];
        let nulls = self.decode(block, &mut codes)?;
        Ok(Some(self.array(Buffer::from_vec(codes), block.row_count, nulls)))
    }

    /// As many blocks as an array takes.
    fn blocks(&mut self) -> Result<Option<DictionaryArray<Int32Type>>> {
        if self.rows_left == 0 {
            return Ok(None);
        }
        let capacity =
            usize::try_from(self.rows_left).map_or(self.batch_rows, |left| left.min(self.batch_rows));
        let mut map = MmapMut::map_anon(capacity * size_of::<u32>())?;
        // Advice only: a kernel without huge pages ignores it.
        let _ = map.advise(Advice::HugePage);
        // SAFETY: any bytes are numbers; a map begins at a page, so that no byte is before the first.
        let (_, keys, _) = unsafe { map.align_to_mut::<u32>() };
        let mut nulls = NullBufferBuilder::new(capacity);
        let mut count = 0;
        while let Some(block) = self.batches.upcoming()
            && let Some(codes) = keys.get_mut(count..count + block.row_count)
        {
            match self.decode(block, codes)? {
                Some(valid) => nulls.append_buffer(&valid),
                None => nulls.append_n_non_nulls(block.row_count),
            }
            count += block.row_count;
        }
        Ok((count > 0).then(|| self.array(buffer_of(map), count, nulls.finish())))
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
