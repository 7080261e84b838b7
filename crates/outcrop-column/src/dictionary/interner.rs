//! Value → provisional code while a column is read: an open-addressing table whose slots hold short values
//! whole, so that the common row costs one cache line.

use crate::error::{ColumnError, Result};
use crate::format::{SEGMENT_ROWS_LIMIT, VALUE_BYTES_LIMIT};
use crate::kernels::prefetch;

/// Values up to this length are compared within the slot.
const SHORT_BYTES: usize = 16;
const EMPTY: u32 = u32::MAX;
const FIRST_SLOTS: usize = 1 << 10;

/// A value made ready for lookup: two words that are the value itself where it is short, and its hash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    words: [u64; 2],
    hash: u64,
}

impl Key {
    /// The key of `value`.
    #[inline]
    pub(crate) fn of(value: &[u8]) -> Self {
        Self::within(value, 0, value.len())
    }

    /// The key of `text[start..end]`. Where 16 bytes follow `start`, a short value costs two loads and no branch on its length.
    #[inline]
    pub(crate) fn within(text: &[u8], start: usize, end: usize) -> Self {
        let length = end - start;
        let words = if length > SHORT_BYTES {
            long_words(&text[start..end])
        } else if let Some(bytes) = text[start..].first_chunk() {
            masked_words(bytes, length)
        } else {
            let mut bytes = [0; SHORT_BYTES];
            bytes[..length].copy_from_slice(&text[start..end]);
            masked_words(&bytes, length)
        };
        Self {
            words,
            hash: fold(
                words[0] ^ 0x2d35_8dcc_aa6c_78a5,
                words[1] ^ 0x8bb8_4b93_962e_acc9 ^ (length as u64) << 56,
            ),
        }
    }
}

/// `KEPT[n]` keeps the first n of 16 bytes.
const KEPT: [[u64; 2]; SHORT_BYTES + 1] = {
    let mut masks = [[0; 2]; SHORT_BYTES + 1];
    let mut length = 1;
    while length <= SHORT_BYTES {
        let ones = u128::MAX >> (8 * (SHORT_BYTES - length));
        masks[length] = [ones as u64, (ones >> 64) as u64];
        length += 1;
    }
    masks
};

/// The first `length` bytes, followed by zeros: together with the length they are the value.
#[inline]
fn masked_words(bytes: &[u8; SHORT_BYTES], length: usize) -> [u64; 2] {
    let all = u128::from_le_bytes(*bytes);
    let kept = KEPT[length];
    [all as u64 & kept[0], (all >> 64) as u64 & kept[1]]
}

/// Two hashes of a long value; equal ones are compared byte by byte.
fn long_words(value: &[u8]) -> [u64; 2] {
    let mut words = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];
    let (chunks, rest) = value.as_chunks::<SHORT_BYTES>();
    let mut tail = [0; SHORT_BYTES];
    tail[..rest.len()].copy_from_slice(rest);
    let pairs = chunks.iter().map(|chunk| masked_words(chunk, SHORT_BYTES));
    let tail = masked_words(&tail, rest.len());
    for pair in pairs.chain([tail]) {
        words[0] = fold(words[0] ^ pair[0], 0xa076_1d64_78bd_642f ^ pair[1]);
        words[1] = fold(words[1] ^ pair[1], 0xe703_7ed1_a0b4_28db ^ pair[0]);
    }
    words
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Slot {
    words: [u64; 2],
    length: u32,
    code: u32,
    count: u32,
}

const EMPTY_SLOT: Slot = Slot {
    words: [0; 2],
    length: 0,
    code: EMPTY,
    count: 0,
};

/// The distinct values seen so far, numbered in the order of their first row, with their counts.
#[derive(Debug)]
pub(crate) struct Interner {
    slots: Vec<Slot>,
    arena: Vec<u8>,
    ends: Vec<usize>,
    row_count: u64,
    null: Option<u32>,
    null_count: u64,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            slots: vec![EMPTY_SLOT; FIRST_SLOTS],
            arena: Vec::new(),
            ends: Vec::new(),
            row_count: 0,
            null: None,
            null_count: 0,
        }
    }
}

impl Interner {
    /// Provisional codes handed out, that of null included.
    pub(crate) fn code_count(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of the distinct values.
    pub(crate) fn value_bytes(&self) -> usize {
        self.arena.len()
    }

    pub(crate) fn row_count(&self) -> u64 {
        self.row_count
    }

    /// The value of a provisional code.
    pub(crate) fn value(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.arena[start..self.ends[code]]
    }

    /// Starts fetching the slot of `key`; worth calling some rows ahead of [`Interner::intern`].
    #[inline]
    pub(crate) fn prefetch(&self, key: &Key) {
        prefetch(&self.slots, key.hash as usize & (self.slots.len() - 1));
    }

    /// The provisional code of `value`, new or known; counts the row.
    #[inline]
    pub(crate) fn intern(&mut self, value: &[u8], key: &Key) -> Result<u32> {
        let mask = self.slots.len() - 1;
        let mut index = key.hash as usize & mask;
        self.row_count += 1;
        loop {
            let slot = &self.slots[index];
            if slot.code == EMPTY {
                return self.insert(value, key, index);
            }
            let equal = slot.words == key.words
                && slot.length as usize == value.len()
                && (value.len() <= SHORT_BYTES || self.value(slot.code) == value);
            if equal {
                let slot = &mut self.slots[index];
                slot.count += 1;
                return Ok(slot.code);
            }
            index = (index + 1) & mask;
        }
    }

    /// The provisional code of null; counts the row.
    pub(crate) fn intern_null(&mut self) -> u32 {
        self.row_count += 1;
        self.null_count += 1;
        *self.null.get_or_insert_with(|| {
            self.ends.push(self.arena.len());
            self.ends.len() as u32 - 1
        })
    }

    #[cold]
    fn insert(&mut self, value: &[u8], key: &Key, index: usize) -> Result<u32> {
        if value.len() > VALUE_BYTES_LIMIT {
            return Err(ColumnError::Limit {
                what: "bytes of a value",
                seen: value.len() as u64,
                limit: VALUE_BYTES_LIMIT as u64,
                hint: "store larger objects beside the column and their names in it",
            });
        }
        if self.ends.len() as u64 >= SEGMENT_ROWS_LIMIT - 1 {
            return Err(ColumnError::Limit {
                what: "distinct values of a segment",
                seen: self.ends.len() as u64 + 1,
                limit: SEGMENT_ROWS_LIMIT - 1,
                hint: "write the rest as a further segment with `append`",
            });
        }
        let code = self.ends.len() as u32;
        self.arena.extend_from_slice(value);
        self.ends.push(self.arena.len());
        self.slots[index] = Slot {
            words: key.words,
            length: value.len() as u32,
            code,
            count: 1,
        };
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(code)
    }

    fn grow(&mut self) {
        let larger = vec![EMPTY_SLOT; self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, larger);
        let mask = self.slots.len() - 1;
        for slot in old.into_iter().filter(|slot| slot.code != EMPTY) {
            let mut index = Key::of(self.value(slot.code)).hash as usize & mask;
            while self.slots[index].code != EMPTY {
                index = (index + 1) & mask;
            }
            self.slots[index] = slot;
        }
    }

    /// Ends collecting: frees the table, gives values in byte order with their counts, and the code of null.
    pub(crate) fn into_sorted(mut self) -> SortedValues {
        let mut counts = vec![0_u32; self.ends.len()];
        for slot in std::mem::take(&mut self.slots)
            .iter()
            .filter(|slot| slot.code != EMPTY)
        {
            counts[slot.code as usize] = slot.count;
        }
        let null = self.null.map(|code| (code, self.null_count));
        let mut order: Vec<(u64, u32)> = (0..self.ends.len() as u32)
            .filter(|&code| Some(code) != self.null)
            .map(|code| (leading(self.value(code)), code))
            .collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.value(a.1).cmp(self.value(b.1))));
        SortedValues {
            order,
            counts,
            null,
            values: self,
        }
    }
}

/// The first eight bytes as a number that sorts as they do.
fn leading(value: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = value.len().min(8);
    bytes[..length].copy_from_slice(&value[..length]);
    u64::from_be_bytes(bytes)
}

/// The values of one interner in byte order.
#[derive(Debug)]
pub(crate) struct SortedValues {
    /// Leading bytes and provisional code of each value, in byte order.
    pub(super) order: Vec<(u64, u32)>,
    /// Rows of each provisional code.
    pub(super) counts: Vec<u32>,
    /// Provisional code and rows of null.
    pub(super) null: Option<(u32, u64)>,
    values: Interner,
}

impl SortedValues {
    pub(super) fn value(&self, code: u32) -> &[u8] {
        self.values.value(code)
    }

    pub(super) fn code_count(&self) -> usize {
        self.values.code_count()
    }
}
