//! The stream of block indexes that an access pattern makes over a span.

use outcrop_measure::seed::{Generator, Seed};
use rand::Rng;

use crate::access_pattern::AccessPattern;
use crate::error::WorkloadError;
use crate::permutation::Permutation;
use crate::uniform::uniform_below;
use crate::zipfian::ZipfianRanks;

/// A span cut into equal blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSpace {
    /// How many whole blocks the span holds.
    pub block_count: u64,
    /// Size of each.
    pub block_size_bytes: u64,
}

impl BlockSpace {
    /// As many whole blocks as fit; a block size of 0 gives an empty space.
    pub const fn of_span(span_bytes: u64, block_size_bytes: u64) -> Self {
        let block_count = match span_bytes.checked_div(block_size_bytes) {
            Some(count) => count,
            None => 0,
        };
        Self {
            block_count,
            block_size_bytes,
        }
    }
}

/// The blocks a job visits, without end; every index is below the block count.
///
/// *Cost* of one step: sequential, strided and random a few nanoseconds; zipfian about ten.
#[derive(Clone, Debug)]
pub struct BlockIndexes(Walk);

#[derive(Clone, Debug)]
enum Walk {
    Sequential {
        next: u64,
        block_count: u64,
    },
    Random {
        draws: Generator,
        block_count: u64,
    },
    Zipfian(Box<ZipfianWalk>),
    Strided {
        next: u64,
        lane: u64,
        stride_blocks: u64,
        block_count: u64,
    },
}

impl BlockIndexes {
    pub(crate) fn new(
        pattern: AccessPattern,
        space: BlockSpace,
        job_index: u32,
        job_count: u32,
        seed: Seed,
    ) -> Result<Self, WorkloadError> {
        let BlockSpace {
            block_count,
            block_size_bytes,
        } = space;
        if block_count == 0 || block_size_bytes == 0 {
            return Err(WorkloadError::EmptySpace { block_size_bytes });
        }
        if job_index >= job_count {
            return Err(WorkloadError::NoSuchJob { job_index, job_count });
        }
        let start = evenly_spaced_start(block_count, job_index, job_count);
        let draws = || {
            seed.derive("blocks of job")
                .derive_index(u64::from(job_index))
                .rng()
        };
        let walk = match pattern {
            AccessPattern::Sequential => Walk::Sequential {
                next: start,
                block_count,
            },
            AccessPattern::Random => Walk::Random {
                draws: draws(),
                block_count,
            },
            AccessPattern::Zipfian { theta } => {
                Walk::Zipfian(Box::new(ZipfianWalk::new(theta, block_count, draws(), seed)))
            }
            AccessPattern::Strided { stride } => {
                if stride.0 == 0 || !stride.0.is_multiple_of(block_size_bytes) {
                    return Err(WorkloadError::StrideOffBlocks {
                        stride_bytes: stride.0,
                        block_size_bytes,
                    });
                }
                // A stride of the whole span or more visits the blocks one after the other.
                let stride_blocks = (stride.0 / block_size_bytes).min(block_count);
                Walk::Strided {
                    next: start,
                    lane: start % stride_blocks,
                    stride_blocks,
                    block_count,
                }
            }
        };
        Ok(Self(walk))
    }

    /// The next block to visit.
    #[inline]
    pub fn next_block(&mut self) -> u64 {
        match &mut self.0 {
            Walk::Sequential { next, block_count } => {
                let block = *next;
                *next = if block + 1 == *block_count { 0 } else { block + 1 };
                block
            }
            Walk::Random { draws, block_count } => uniform_below(draws.next_u64(), *block_count),
            Walk::Zipfian(walk) => walk.next_block(),
            Walk::Strided {
                next,
                lane,
                stride_blocks,
                block_count,
            } => {
                let block = *next;
                *next = match block.checked_add(*stride_blocks) {
                    Some(further) if further < *block_count => further,
                    _ => {
                        *lane = if *lane + 1 == *stride_blocks { 0 } else { *lane + 1 };
                        *lane
                    }
                };
                block
            }
        }
    }
}

impl Iterator for BlockIndexes {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        Some(self.next_block())
    }
}

fn evenly_spaced_start(block_count: u64, job_index: u32, job_count: u32) -> u64 {
    (u128::from(block_count) * u128::from(job_index) / u128::from(job_count)) as u64
}

/// Popularity ranks, scattered over the span.
#[derive(Clone, Debug)]
struct ZipfianWalk {
    draws: Generator,
    ranks: ZipfianRanks,
    scatter: Permutation,
}

impl ZipfianWalk {
    fn new(theta: f64, block_count: u64, draws: Generator, seed: Seed) -> Self {
        Self {
            draws,
            ranks: ZipfianRanks::new(block_count, theta),
            scatter: Permutation::new(block_count, seed.derive("scatter of zipfian ranks")),
        }
    }

    #[inline]
    fn next_block(&mut self) -> u64 {
        self.scatter.apply(self.ranks.next_rank(&mut self.draws) - 1)
    }
}
