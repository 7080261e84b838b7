//! What writes contain: a pool of ready-made buffers, used in turn, each made unique for every write.
//!
//! Making 4 KiB of random bytes anew for every write costs more CPU than the write itself. Instead a pool
//! of at least 4 MiB is filled once; its buffers are used in turn, and each write puts a number that never
//! repeats into the first eight bytes of each 4 KiB page. So no two pages ever written are equal
//! (deduplication finds nothing), and the same bytes come again only after 4 MiB of other writes (further
//! back than the windows of filesystems' and drives' compressors). *Cost*: one store per page, about as
//! much as fio's default `scramble_buffers`, which keeps a buffer per slot and changes a few bytes in it.

use std::collections::VecDeque;

use outcrop_measure::seed::Seed;
use outcrop_workload::Content;

use crate::error::DeviceError;
use crate::memory::{Buffer, BufferRegion, PAGE_BYTES};

const POOL_BYTES: u64 = 4 << 20;

/// Buffers that are not in flight, oldest use first, and the numbering of pages.
#[derive(Debug)]
pub(crate) struct WriteBuffers {
    free: VecDeque<Buffer>,
    stamp: Option<Stamp>,
}

impl WriteBuffers {
    /// Maps and fills the pool of one job.
    pub(crate) fn new(
        queue_depth: u32,
        length_bytes: u64,
        content: &Content,
        seed: Seed,
    ) -> Result<(Self, BufferRegion), DeviceError> {
        let stride = length_bytes.next_multiple_of(PAGE_BYTES);
        let count = queue_depth.max(u32::try_from(POOL_BYTES.div_ceil(stride)).unwrap_or(u32::MAX));
        let mut region = BufferRegion::map(count, length_bytes)?;
        content
            .filler(seed.derive("write content"))
            .fill(region.whole_mut());
        let stamp = match content {
            // A stamp would make them something else; that zeros repeat is their point.
            Content::Zeros => None,
            _ => Some(Stamp {
                key: seed.derive("write stamp").0,
                sequence: 0,
            }),
        };
        Ok((
            Self {
                free: region.buffers().collect(),
                stamp,
            },
            region,
        ))
    }

    /// The buffer that was used longest ago. There are at least as many as slots.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Buffer> {
        self.free.pop_front()
    }

    #[inline]
    pub(crate) fn give_back(&mut self, buffer: Buffer) {
        self.free.push_back(buffer);
    }

    /// Makes the bytes of a buffer unlike all that were written before.
    #[inline]
    pub(crate) fn stamp(&mut self, bytes: &mut [u8]) {
        let Some(stamp) = &mut self.stamp else { return };
        for page in bytes.chunks_mut(PAGE_BYTES as usize) {
            if let Some(first) = page.first_chunk_mut() {
                *first = stamp.next().to_le_bytes();
            }
        }
    }
}

/// Numbers that look random and never repeat: a counter through a bijection.
#[derive(Debug)]
struct Stamp {
    key: u64,
    sequence: u64,
}

impl Stamp {
    /// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), over the counter.
    #[inline]
    fn next(&mut self) -> u64 {
        self.sequence += 1;
        let mut word = self.key.wrapping_add(self.sequence);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use outcrop_measure::seed::Seed;
    use outcrop_workload::Content;

    use super::{POOL_BYTES, WriteBuffers};

    #[test]
    fn no_two_pages_written_are_equal_also_after_the_pool_has_gone_round() {
        let length_bytes = 64 << 10;
        let (mut buffers, mut region) =
            WriteBuffers::new(4, length_bytes, &Content::Random, Seed(1)).unwrap();
        let writes = 3 * POOL_BYTES / length_bytes;
        let mut pages = BTreeSet::new();
        for _ in 0..writes {
            let mut buffer = buffers.take().unwrap();
            let bytes = region.bytes_mut(&mut buffer);
            buffers.stamp(bytes);
            pages.extend(bytes.chunks(4096).map(<[u8]>::to_vec));
            buffers.give_back(buffer);
        }
        assert_eq!(pages.len() as u64, 3 * POOL_BYTES / 4096);
    }

    #[test]
    fn zeros_stay_zeros() {
        let (mut buffers, mut region) = WriteBuffers::new(2, 4096, &Content::Zeros, Seed(1)).unwrap();
        let mut buffer = buffers.take().unwrap();
        let bytes = region.bytes_mut(&mut buffer);
        buffers.stamp(bytes);
        assert!(bytes.iter().all(|byte| *byte == 0));
    }
}
