//! Writes a dictionary section.

use super::block::{BlockBuilder, shared_prefix};
use super::{BLOCK_SHIFT_LIMIT, BUCKET_VALUES};
use crate::error::Result;
use crate::format::{Section, SectionKind, SectionWriter, push_u32, push_u64};

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

/// Takes values in byte order.
pub(crate) struct DictionaryWriter {
    shift: u32,
    front_coded: bool,
    builder: BlockBuilder,
    /// The same values whole, if that is tried: zstd finds more repeats in whole
    /// words than front coding removes.
    whole: Option<BlockBuilder>,
    compressor: Option<zstd::bulk::Compressor<'static>>,
    entries: Vec<u8>,
    fences: Vec<u8>,
    last: Vec<u8>,
    block_count: usize,
}

impl DictionaryWriter {
    /// A writer for `value_count` values of `value_bytes` bytes in all.
    pub(crate) fn new(options: DictionaryOptions, value_count: usize, value_bytes: usize) -> Result<Self> {
        let mean_bytes = 1 + value_bytes / value_count.max(1);
        let shift = (options.block_bytes / mean_bytes)
            .max(1)
            .ilog2()
            .min(BLOCK_SHIFT_LIMIT);
        let compressor = options.zstd_level.map(zstd::bulk::Compressor::new).transpose()?;
        Ok(Self {
            shift,
            front_coded: options.front_coded,
            builder: BlockBuilder::default(),
            // Without a compressor the whole words are never smaller.
            whole: (options.exhaustive && compressor.is_some()).then(BlockBuilder::default),
            compressor,
            entries: Vec::new(),
            fences: Vec::new(),
            last: Vec::new(),
            block_count: 0,
        })
    }

    pub(crate) fn push(&mut self, value: &[u8], out: &mut SectionWriter<'_>) -> Result<()> {
        if self.builder.count() == 0 && self.block_count > 0 {
            let needed = shared_prefix(&self.last, value) + 1;
            self.fences.extend_from_slice(&value[..needed]);
        }
        self.builder.push(value, self.front_coded);
        if let Some(whole) = &mut self.whole {
            whole.push(value, false);
        }
        if self.builder.count() == 1 << self.shift {
            self.last.clear();
            self.last.extend_from_slice(value);
            self.end_block(out)?;
        }
        Ok(())
    }

    fn end_block(&mut self, out: &mut SectionWriter<'_>) -> Result<()> {
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
        push_u64(&mut self.entries, out.position());
        push_u64(&mut self.entries, raw_bytes as u64);
        push_u64(&mut self.entries, self.fences.len() as u64);
        push_u32(&mut self.entries, crc32c::crc32c(&stored));
        push_u32(&mut self.entries, u32::from(is_packed));
        out.push(&stored)?;
        self.block_count += 1;
        Ok(())
    }

    /// Writes what is left and the table.
    pub(crate) fn finish(mut self, out: &mut SectionWriter<'_>) -> Result<Section> {
        if self.builder.count() > 0 {
            self.end_block(out)?;
        }
        self.entries.append(&mut self.fences);
        out.finish(SectionKind::Dictionary, &self.entries, self.shift)
    }
}

const _: () = assert!(BUCKET_VALUES.is_power_of_two());
