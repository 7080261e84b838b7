//! A raw dictionary block: bucket offsets, then front-coded buckets.

use std::cmp::Ordering;

use super::BUCKET_VALUES;
use crate::error::Result;
use crate::format::{Fields, VALUE_BYTES_LIMIT, put_varint};

const PART: &str = "dictionary block";
const NIBBLE_END: usize = 15;

/// Encodes values in order into one block.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    starts: Vec<usize>,
    body: Vec<u8>,
    before: Vec<u8>,
    count: usize,
}

impl BlockBuilder {
    /// Adds a value; `front_coded` leaves out what it shares with the one before.
    pub(super) fn push(&mut self, value: &[u8], front_coded: bool) {
        if self.count.is_multiple_of(BUCKET_VALUES) {
            self.starts.push(self.body.len());
        }
        let shared = if self.count.is_multiple_of(BUCKET_VALUES) || !front_coded {
            0
        } else {
            shared_prefix(&self.before, value)
        };
        let rest = &value[shared..];
        self.body
            .push((shared.min(NIBBLE_END) << 4 | rest.len().min(NIBBLE_END)) as u8);
        for length in [shared, rest.len()] {
            if let Some(more) = length.checked_sub(NIBBLE_END) {
                put_varint(&mut self.body, more as u64);
            }
        }
        self.body.extend_from_slice(rest);
        self.before.clear();
        self.before.extend_from_slice(value);
        self.count += 1;
    }

    /// The raw block; the builder is empty afterwards.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let offsets = self.starts.len().saturating_sub(1);
        // The width depends on the length of the block, which includes the offsets.
        let width = [2, 4, 8]
            .into_iter()
            .find(|&width| offset_width(self.body.len() + offsets * width) == width)
            .unwrap_or(8);
        let mut raw = Vec::with_capacity(self.body.len() + offsets * width);
        for start in self.starts.iter().skip(1) {
            raw.extend_from_slice(&(*start as u64).to_le_bytes()[..width]);
        }
        raw.append(&mut self.body);
        self.starts.clear();
        self.before.clear();
        self.count = 0;
        raw
    }
}

/// Bytes of a bucket offset in a raw block of `raw_bytes` bytes.
fn offset_width(raw_bytes: usize) -> usize {
    match raw_bytes as u64 {
        0..0x1_0000 => 2,
        0x1_0000..0x1_0000_0000 => 4,
        _ => 8,
    }
}

pub(super) fn shared_prefix(before: &[u8], value: &[u8]) -> usize {
    before.iter().zip(value).take_while(|(a, b)| a == b).count()
}

/// A raw block being read: untrusted bytes, every access checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawBlock<'a> {
    raw: &'a [u8],
    count: usize,
    file_offset: u64,
}

impl<'a> RawBlock<'a> {
    pub(super) fn new(raw: &'a [u8], count: usize, file_offset: u64) -> Self {
        Self {
            raw,
            count,
            file_offset,
        }
    }

    pub(super) fn bucket_count(&self) -> usize {
        self.count.div_ceil(BUCKET_VALUES)
    }

    fn bucket(&self, bucket: usize) -> Result<Cursor<'a>> {
        let width = offset_width(self.raw.len());
        let fields = Fields::new(PART, self.file_offset, self.raw);
        let start_of_body = (self.bucket_count() - 1) * width;
        let start = match bucket.checked_sub(1) {
            None => 0,
            Some(index) => {
                let bytes = self
                    .raw
                    .get(index * width..(index + 1) * width)
                    .ok_or_else(|| fields.wrong("bucket offsets are cut off"))?;
                let mut padded = [0; 8];
                padded[..width].copy_from_slice(bytes);
                u64::from_le_bytes(padded) as usize
            }
        };
        let body = start_of_body
            .checked_add(start)
            .and_then(|start| self.raw.get(start..));
        let body =
            body.ok_or_else(|| fields.wrong(format!("bucket {bucket} begins at {start}, past the end")))?;
        let left = (self.count - bucket * BUCKET_VALUES).min(BUCKET_VALUES);
        Ok(Cursor {
            fields: Fields::new(PART, self.file_offset, body),
            left,
        })
    }

    /// First value of a bucket: it shares nothing, so it stands there whole.
    pub(super) fn first_of(&self, bucket: usize) -> Result<&'a [u8]> {
        let mut cursor = self.bucket(bucket)?;
        let (shared, rest) = cursor.entry()?;
        if shared != 0 {
            return Err(cursor.fields.wrong("the first value of a bucket shares bytes"));
        }
        Ok(rest)
    }

    /// Number of values less than `wanted` (or, with `or_equal`, not greater), and whether `wanted` is there.
    pub(super) fn rank(&self, wanted: &[u8], or_equal: bool) -> Result<(usize, bool)> {
        // The last bucket whose first value is not greater than `wanted`.
        let (mut low, mut high) = (0, self.bucket_count());
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.first_of(middle)? <= wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.rank_in(low, wanted, or_equal)
    }

    /// [`RawBlock::rank`], given that `bucket` is the last whose first value is not greater than
    /// `wanted`, or the first of all.
    pub(super) fn rank_in(&self, bucket: usize, wanted: &[u8], or_equal: bool) -> Result<(usize, bool)> {
        let mut cursor = self.bucket(bucket)?;
        let mut rank = bucket * BUCKET_VALUES;
        // Bytes that `wanted` and the value before share, and how the two compare.
        let (mut matched, mut order) = (0_usize, Ordering::Less);
        let mut length_before = 0;
        while cursor.left > 0 {
            let (shared, rest) = cursor.entry()?;
            if shared > length_before {
                return Err(cursor
                    .fields
                    .wrong(format!("{shared} bytes shared with a value of {length_before}")));
            }
            if order == Ordering::Less && shared <= matched {
                let tail = wanted.get(shared..).unwrap_or_default();
                matched = shared + shared_prefix(rest, tail);
                order = rest.cmp(tail);
            }
            length_before = shared + rest.len();
            match order {
                Ordering::Less => {}
                Ordering::Equal => return Ok((rank + usize::from(or_equal), true)),
                Ordering::Greater => return Ok((rank, false)),
            }
            rank += 1;
        }
        Ok((rank, false))
    }

    /// Value `index`, into `value`.
    pub(super) fn get(&self, index: usize, value: &mut Vec<u8>) -> Result<()> {
        value.clear();
        let mut cursor = self.bucket(index / BUCKET_VALUES)?;
        for _ in 0..=index % BUCKET_VALUES {
            cursor.next_value(value)?;
        }
        Ok(())
    }

    /// All values in order.
    pub(super) fn for_each(&self, mut action: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut value = Vec::new();
        for bucket in 0..self.bucket_count() {
            value.clear();
            let mut cursor = self.bucket(bucket)?;
            while cursor.left > 0 {
                cursor.next_value(&mut value)?;
                action(&value)?;
            }
        }
        Ok(())
    }
}

/// Walks the entries of one bucket.
#[derive(Debug)]
struct Cursor<'a> {
    fields: Fields<'a>,
    left: usize,
}

impl<'a> Cursor<'a> {
    fn entry(&mut self) -> Result<(usize, &'a [u8])> {
        self.left = self.left.saturating_sub(1);
        let head = usize::from(self.fields.u8()?);
        let shared = self.length(head >> 4)?;
        let rest = self.length(head & NIBBLE_END)?;
        Ok((shared, self.fields.take(rest)?))
    }

    fn length(&mut self, nibble: usize) -> Result<usize> {
        if nibble < NIBBLE_END {
            return Ok(nibble);
        }
        let more = self.fields.varint()?;
        usize::try_from(more)
            .ok()
            .and_then(|more| more.checked_add(NIBBLE_END))
            .filter(|&length| length <= VALUE_BYTES_LIMIT)
            .ok_or_else(|| {
                self.fields.wrong(format!(
                    "a value of {more} bytes, at most {VALUE_BYTES_LIMIT} allowed"
                ))
            })
    }

    fn next_value(&mut self, value: &mut Vec<u8>) -> Result<()> {
        let (shared, rest) = self.entry()?;
        if shared > value.len() {
            return Err(self
                .fields
                .wrong(format!("{shared} bytes shared with a value of {}", value.len())));
        }
        value.truncate(shared);
        value.extend_from_slice(rest);
        Ok(())
    }
}
