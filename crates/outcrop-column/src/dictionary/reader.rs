//! Reading a dictionary section: the table is in memory, blocks are read where they lie.

use std::borrow::Cow;
use std::ops::Range;

use super::block::RawBlock;
use super::heads::{Heads, head};
use super::{BLOCK_SHIFT_LIMIT, BUCKET_VALUES};
use crate::codes::inflate;
use crate::error::{ColumnError, Result, corrupt};
use crate::format::{Fields, Section};
use crate::storage::{ReadAt, check_crc, read_range};
use crate::touched::Touched;

const PART: &str = "dictionary table";
const BLOCK: &str = "dictionary block";

/// A zstd block of 128 KiB takes at least four bytes: no frame grows more than this.
const ZSTD_RATIO_LIMIT: u64 = 1 << 15;

/// An opened dictionary. Cost in memory: 40 bytes a block and the fences.
#[derive(Debug)]
pub(crate) struct Dictionary {
    offset: u64,
    data_bytes: u64,
    value_count: usize,
    shift: u32,
    entries: Vec<Entry>,
    fences: Vec<u8>,
    touched: Touched,
    /// Blocks as the searches need them, where the caller chose to keep them.
    resident: Option<Vec<Vec<u8>>>,
    /// Most bytes that a block may become.
    block_limit_bytes: u64,
    /// What leads to a value's bucket, likewise.
    heads: Option<Heads>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    offset: u64,
    raw_bytes: u64,
    fence_end: usize,
    crc: u32,
    is_zstd: bool,
}

impl Dictionary {
    pub(crate) fn open(source: &dyn ReadAt, section: &Section, value_count: u64) -> Result<Self> {
        let table_at = section.offset + section.table_offset;
        let table = read_range(source, PART, table_at, section.table_length)?;
        check_crc(PART, table_at, &table, section.table_crc)?;
        let shift = section.parameter;
        if shift > BLOCK_SHIFT_LIMIT {
            return Err(corrupt(
                PART,
                table_at,
                format!("2^{shift} values in a block, at most 2^{BLOCK_SHIFT_LIMIT} allowed"),
            ));
        }
        let mut fields = Fields::new(PART, table_at, &table);
        let mut entries = Vec::new();
        for _ in 0..value_count.div_ceil(1 << shift) {
            entries.push(read_entry(&mut fields)?);
        }
        let fences = fields.rest().to_vec();
        let ordered = entries.is_sorted_by_key(|entry| entry.fence_end)
            && entries.is_sorted_by_key(|entry| entry.offset);
        let last = entries
            .last()
            .map_or((0, 0), |last| (last.fence_end, last.offset));
        if !ordered || last.0 != fences.len() || last.1 > section.table_offset {
            return Err(corrupt(PART, table_at, "its blocks and fences are not in order"));
        }
        let touched = Touched::new(entries.len());
        Ok(Self {
            offset: section.offset,
            data_bytes: section.table_offset,
            value_count: value_count as usize,
            shift,
            entries,
            fences,
            touched,
            resident: None,
            block_limit_bytes: u64::MAX,
            heads: None,
        })
    }

    /// Decompresses all compressed blocks into memory, so that no lookup does, and lists the heads of buckets.
    pub(crate) fn make_resident(&mut self, source: &dyn ReadAt) -> Result<()> {
        if self.entries.iter().any(|entry| entry.is_zstd) {
            let blocks = (0..self.entries.len()).map(|index| Ok(self.raw(source, index)?.into_owned()));
            self.resident = Some(blocks.collect::<Result<_>>()?);
        }
        let mut heads = Vec::new();
        for index in 0..self.entries.len() {
            self.with_block(source, index, |block| {
                for bucket in 0..block.bucket_count() {
                    heads.push(head(block.first_of(bucket)?));
                }
                Ok(())
            })?;
        }
        self.heads = Some(Heads::of(&heads));
        Ok(())
    }

    pub(crate) const fn limit_blocks(&mut self, bytes: u64) {
        self.block_limit_bytes = bytes;
    }

    pub(crate) const fn block_limit_bytes(&self) -> u64 {
        self.block_limit_bytes
    }

    pub(crate) fn value_count(&self) -> usize {
        self.value_count
    }

    fn values_in(&self, index: usize) -> usize {
        (self.value_count - (index << self.shift)).min(1 << self.shift)
    }

    fn fence(&self, index: usize) -> &[u8] {
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.entries[before].fence_end);
        &self.fences[start..self.entries[index].fence_end]
    }

    fn raw<'a>(&'a self, source: &'a dyn ReadAt, index: usize) -> Result<Cow<'a, [u8]>> {
        if let Some(blocks) = &self.resident {
            return Ok(Cow::Borrowed(&blocks[index]));
        }
        let entry = self.entries[index];
        // Before anything is read: a frame of a few bytes may say that it becomes gigabytes, and be right.
        if entry.is_zstd && entry.raw_bytes > self.block_limit_bytes {
            return Err(ColumnError::LongBlock {
                bytes: entry.raw_bytes,
                limit: self.block_limit_bytes,
            });
        }
        let end = self
            .entries
            .get(index + 1)
            .map_or(self.data_bytes, |next| next.offset);
        let at = self.offset + entry.offset;
        let stored = read_range(source, BLOCK, at, end - entry.offset)?;
        self.touched.first(index, matches!(stored, Cow::Owned(_)), || {
            check_crc(BLOCK, at, &stored, entry.crc)
        })?;
        if !entry.is_zstd {
            return Ok(stored);
        }
        // The checksum vouches for the frame; its own header bounds what it becomes.
        let declared = zstd::zstd_safe::get_frame_content_size(&stored).ok().flatten();
        let possible = (stored.len() as u64).saturating_mul(ZSTD_RATIO_LIMIT);
        if declared != Some(entry.raw_bytes) || entry.raw_bytes > possible {
            return Err(corrupt(
                BLOCK,
                at,
                format!(
                    "the zstd frame declares {declared:?} bytes, {} expected",
                    entry.raw_bytes
                ),
            ));
        }
        inflate(BLOCK, at, &stored, entry.raw_bytes as usize).map(Cow::Owned)
    }

    fn with_block<T>(
        &self,
        source: &dyn ReadAt,
        index: usize,
        action: impl FnOnce(RawBlock<'_>) -> Result<T>,
    ) -> Result<T> {
        let raw = self.raw(source, index)?;
        action(RawBlock::new(
            &raw,
            self.values_in(index),
            self.offset + self.entries[index].offset,
        ))
    }

    /// Number of values less than `wanted` (or, with `or_equal`, not greater), and whether `wanted` is one;
    /// `near` as in [`Dictionary::find`].
    fn rank(
        &self,
        source: &dyn ReadAt,
        wanted: &[u8],
        or_equal: bool,
        near: impl FnOnce(u32),
    ) -> Result<(usize, bool)> {
        let (mut low, mut high) = (0, self.entries.len());
        if high == 0 {
            return Ok((0, false));
        }
        if let Some(heads) = &self.heads {
            return self.rank_by_heads(source, heads, wanted, or_equal, near);
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.fence(middle) <= wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (rank, found) = self.with_block(source, low, |block| block.rank(wanted, or_equal))?;
        Ok(((low << self.shift) + rank, found))
    }

    fn rank_by_heads(
        &self,
        source: &dyn ReadAt,
        heads: &Heads,
        wanted: &[u8],
        or_equal: bool,
        near: impl FnOnce(u32),
    ) -> Result<(usize, bool)> {
        let per_block = (1_usize << self.shift).div_ceil(BUCKET_VALUES);
        let alike = heads.alike(wanted);
        let (mut low, mut high) = (alike.start.saturating_sub(1), alike.end.max(1));
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let first_is_greater = self.with_block(source, middle / per_block, |block| {
                Ok(block.first_of(middle % per_block)? > wanted)
            })?;
            if first_is_greater {
                high = middle;
            } else {
                low = middle;
            }
        }
        let index = low / per_block;
        near(((index << self.shift) + low % per_block * BUCKET_VALUES) as u32);
        let (rank, found) = self.with_block(source, index, |block| {
            block.rank_in(low % per_block, wanted, or_equal)
        })?;
        Ok(((index << self.shift) + rank, found))
    }

    /// The code of `value`. *Cost*: one block read. Where heads lead to a bucket, `near` gets the code of
    /// its first value before the read.
    pub(crate) fn find(
        &self,
        source: &dyn ReadAt,
        value: &[u8],
        near: impl FnOnce(u32),
    ) -> Result<Option<u32>> {
        let (rank, found) = self.rank(source, value, false, near)?;
        Ok(found.then_some(rank as u32))
    }

    /// The number of values less than `value`.
    pub(crate) fn lower_bound(&self, source: &dyn ReadAt, value: &[u8]) -> Result<u32> {
        Ok(self.rank(source, value, false, |_| {})?.0 as u32)
    }

    /// The number of values not greater than `value`.
    pub(crate) fn upper_bound(&self, source: &dyn ReadAt, value: &[u8]) -> Result<u32> {
        Ok(self.rank(source, value, true, |_| {})?.0 as u32)
    }

    /// Codes of the values that begin with `prefix`.
    pub(crate) fn prefix(&self, source: &dyn ReadAt, prefix: &[u8]) -> Result<Range<u32>> {
        let start = self.lower_bound(source, prefix)?;
        // The least byte string greater than all that begin with the prefix: drop trailing
        // 0xff, add one to the last byte.
        let mut above = prefix.to_vec();
        while above.last() == Some(&u8::MAX) {
            above.pop();
        }
        let end = match above.last_mut() {
            Some(last) => {
                *last += 1;
                self.lower_bound(source, &above)?
            }
            None => self.value_count as u32,
        };
        Ok(start..end)
    }

    /// The value of `code`, which must be one, into `value`.
    pub(crate) fn get(&self, source: &dyn ReadAt, code: u32, value: &mut Vec<u8>) -> Result<()> {
        let code = code as usize;
        let index = code >> self.shift;
        self.with_block(source, index, |block| {
            block.get(code - (index << self.shift), value)
        })
    }

    /// Calls `action` with each value of the codes in `range`, in order.
    pub(crate) fn for_each(
        &self,
        source: &dyn ReadAt,
        range: Range<u32>,
        mut action: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let blocks = range.start as usize >> self.shift..=(range.end - 1) as usize >> self.shift;
        for index in blocks {
            let mut code = (index << self.shift) as u32;
            self.with_block(source, index, |block| {
                block.for_each(|value| {
                    if range.contains(&code) {
                        action(code, value)?;
                    }
                    code += 1;
                    Ok(())
                })
            })?;
        }
        Ok(())
    }

    /// Checks every block, that all values ascend, and that each fence divides its block from the one before.
    pub(crate) fn verify(&self, source: &dyn ReadAt) -> Result<()> {
        let mut before: Option<Vec<u8>> = None;
        let all = 0..self.value_count as u32;
        self.for_each(source, all, |code, value| {
            let wrong = |detail: &str| corrupt(BLOCK, self.offset, format!("value {code} {detail}"));
            if before.as_deref().is_some_and(|before| before >= value) {
                return Err(wrong("is not greater than the one before"));
            }
            if (code as usize).is_multiple_of(1 << self.shift) {
                let fence = self.fence(code as usize >> self.shift);
                let divides = before
                    .as_deref()
                    .map_or(fence.is_empty(), |before| before < fence);
                if fence > value || !divides {
                    return Err(wrong("is on the wrong side of its fence"));
                }
            }
            let buffer = before.get_or_insert_default();
            buffer.clear();
            buffer.extend_from_slice(value);
            Ok(())
        })
    }

    /// Stored and raw bytes of all blocks, and how many are compressed.
    pub(crate) fn sizes(&self) -> (u64, u64, usize) {
        (
            self.data_bytes,
            self.entries.iter().map(|entry| entry.raw_bytes).sum(),
            self.entries.iter().filter(|entry| entry.is_zstd).count(),
        )
    }
}

fn read_entry(fields: &mut Fields<'_>) -> Result<Entry> {
    let (offset, raw_bytes, fence_end, crc, method) = (
        fields.u64()?,
        fields.u64()?,
        fields.u64()?,
        fields.u32()?,
        fields.u32()?,
    );
    if method > 1 {
        return Err(fields.wrong(format!("dictionary block method {method}, 0 or 1 expected")));
    }
    let fence_end = usize::try_from(fence_end).map_err(|_| fields.wrong("a fence past the end"))?;
    Ok(Entry {
        offset,
        raw_bytes,
        fence_end,
        crc,
        is_zstd: method == 1,
    })
}
