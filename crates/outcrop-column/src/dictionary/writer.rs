//! Makes and writes the blocks of a dictionary section. Blocks know nothing of each other, so several may be made at a
//! time; they are written in order.

use std::ops::Range;

use super::block::{BlockBuilder, shared_prefix};
use super::{BLOCK_SHIFT_LIMIT, BUCKET_VALUES, Dictionary, Merged};
use crate::error::{ColumnError, Result};
use crate::format::{Section, SectionKind, SectionWriter, push_u32, push_u64};
use crate::storage::ReadAt;

/// Distinct values in byte order, which blocks are made of.
pub(crate) trait ValuesInOrder: Sync {
    fn value_count(&self) -> usize;

    /// Calls `action` with each of these values.
    fn for_each(&self, of: Range<usize>, action: impl FnMut(&[u8])) -> Result<()>;
}

impl ValuesInOrder for Merged {
    fn value_count(&self) -> usize {
        Self::value_count(self)
    }

    fn for_each(&self, of: Range<usize>, action: impl FnMut(&[u8])) -> Result<()> {
        self.for_each_value(of, action);
        Ok(())
    }
}

/// The values of a dictionary that is written, in `source`.
pub(crate) struct WrittenValues<'a> {
    pub(crate) dictionary: &'a Dictionary,
    pub(crate) source: &'a dyn ReadAt,
}

impl WrittenValues<'_> {
    /// Bytes of all values. *Cost*: one pass over the dictionary.
    ///
    /// # Errors
    /// [`ColumnError::LongBlock`] for a value that is longer than a block may become, and what the source reports.
    pub(crate) fn value_bytes(&self) -> Result<usize> {
        let (limit, mut sum) = (self.dictionary.block_limit_bytes(), 0);
        let all = 0..self.dictionary.value_count() as u32;
        self.dictionary.for_each(self.source, all, |_, value| {
            let bytes = value.len() as u64;
            if bytes > limit {
                return Err(ColumnError::LongBlock { bytes, limit });
            }
            sum += value.len();
            Ok(())
        })?;
        Ok(sum)
    }
}

impl ValuesInOrder for WrittenValues<'_> {
    fn value_count(&self) -> usize {
        self.dictionary.value_count()
    }

    fn for_each(&self, of: Range<usize>, mut action: impl FnMut(&[u8])) -> Result<()> {
        let codes = of.start as u32..of.end as u32;
        self.dictionary.for_each(self.source, codes, |_, value| {
            action(value);
            Ok(())
        })
    }
}

/// How a dictionary is cut and compressed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DictionaryOptions {
    /// Bytes of values that one block should hold.
    pub(crate) block_bytes: usize,
    /// zstd level for blocks; `None` leaves them as they are.
    pub(crate) zstd_level: Option<i32>,
    /// Try each block with and without front coding, and compress it whenever that is smaller at all.
    pub(crate) exhaustive: bool,
    /// Leave out what a value shares with the one before; never doing so only measures what it is worth.
    pub(crate) front_coded: bool,
}

impl DictionaryOptions {
    /// Log2 of the values of a block, of `value_count` values of `value_bytes` bytes in all.
    pub(crate) fn shift(&self, value_count: usize, value_bytes: usize) -> u32 {
        let mean_bytes = 1 + value_bytes / value_count.max(1);
        let values = (self.block_bytes / mean_bytes).max(1);
        values.ilog2().min(BLOCK_SHIFT_LIMIT)
    }
}

/// A block that is not written yet.
pub(crate) struct MadeBlock {
    stored: Vec<u8>,
    raw_bytes: usize,
    is_packed: bool,
    crc: u32,
    /// What tells its first value from all before it; empty for the first block.
    fence: Vec<u8>,
}

/// Makes blocks, reusing its memory.
pub(crate) struct BlockMaker {
    front_coded: bool,
    builder: BlockBuilder,
    /// The same values whole, if that is tried: zstd finds more repeats in whole
    /// words than front coding removes.
    whole: Option<BlockBuilder>,
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl BlockMaker {
    pub(crate) fn new(options: DictionaryOptions) -> Result<Self> {
        let compressor = options.zstd_level.map(zstd::bulk::Compressor::new).transpose()?;
        Ok(Self {
            front_coded: options.front_coded,
            builder: BlockBuilder::default(),
            // Without a compressor the whole words are never smaller.
            whole: (options.exhaustive && compressor.is_some()).then(BlockBuilder::default),
            compressor,
        })
    }

    /// The block of some of the values, at least one.
    pub(crate) fn make(&mut self, values: &impl ValuesInOrder, of: Range<usize>) -> Result<MadeBlock> {
        let (mut before, mut fence) = (Vec::new(), Vec::new());
        let first = of.start.saturating_sub(1);
        let mut next = first;
        values.for_each(first..of.end, |value| {
            if next < of.start {
                before.extend_from_slice(value);
            } else {
                if next == of.start && first < next {
                    fence.extend_from_slice(&value[..=shared_prefix(&before, value)]);
                }
                self.builder.push(value, self.front_coded);
                if let Some(whole) = &mut self.whole {
                    whole.push(value, false);
                }
            }
            next += 1;
        })?;
        self.end_block(fence)
    }

    fn end_block(&mut self, fence: Vec<u8>) -> Result<MadeBlock> {
        let raw = self.builder.finish();
        let packed = match &mut self.compressor {
            Some(compressor) => Some(compressor.compress(&raw)?),
            None => None,
        };
        // A block that hardly shrinks is read faster as it is.
        let least_gain = if self.whole.is_some() { 0 } else { raw.len() / 16 };
        let packed = packed.filter(|packed| packed.len() + least_gain < raw.len());
        let (mut raw_bytes, mut is_packed) = (raw.len(), packed.is_some());
        let mut stored = packed.unwrap_or(raw);
        if let (Some(whole), Some(compressor)) = (&mut self.whole, &mut self.compressor) {
            let raw = whole.finish();
            let packed = compressor.compress(&raw)?;
            if packed.len() < stored.len() {
                (raw_bytes, is_packed, stored) = (raw.len(), true, packed);
            }
        }
        Ok(MadeBlock {
            crc: crc32c::crc32c(&stored),
            stored,
            raw_bytes,
            is_packed,
            fence,
        })
    }
}

/// Takes blocks in order.
#[derive(Default)]
pub(crate) struct DictionaryWriter {
    entries: Vec<u8>,
    fences: Vec<u8>,
}

impl DictionaryWriter {
    pub(crate) fn push(&mut self, block: &MadeBlock, out: &mut SectionWriter<'_>) -> Result<()> {
        self.fences.extend_from_slice(&block.fence);
        push_u64(&mut self.entries, out.position());
        push_u64(&mut self.entries, block.raw_bytes as u64);
        push_u64(&mut self.entries, self.fences.len() as u64);
        push_u32(&mut self.entries, block.crc);
        push_u32(&mut self.entries, u32::from(block.is_packed));
        out.push(&block.stored)
    }

    /// Writes the table, of blocks of 2^`shift` values.
    pub(crate) fn finish(mut self, shift: u32, out: &mut SectionWriter<'_>) -> Result<Section> {
        self.entries.append(&mut self.fences);
        out.finish(SectionKind::Dictionary, &self.entries, shift)
    }
}

const _: () = assert!(BUCKET_VALUES.is_power_of_two());
