//! The candidate table: a few positions per bucket, the oldest leaving first.

use super::lanes::Four;
use super::slots::{BLOCK, POSITION_MASK, Slots};

/// Most buckets that a table may have; fewer use its front. A fixed number spares a check per access.
const MOST_BUCKETS: usize = 1 << 12;
/// `Four`s that the buckets of a block of positions have together: a bit of a word for each way.
const BLOCK_FOURS: usize = BLOCK;

/// The ways of a bucket, newest first: `FOURS` × 4 of them.
type Bucket<const FOURS: usize> = [Four; FOURS];

/// The table of one page.
pub(super) struct CandidateTable<const FOURS: usize> {
    buckets: Box<[Bucket<FOURS>; MOST_BUCKETS]>,
    bucket_bits: u32,
    /// As `Candidates::hits`: a bit for each way in use.
    in_use: u64,
}

/// Every way of every bucket of a block's positions, a lane each.
type Ways = [u32; 4 * BLOCK_FOURS];

/// What the buckets of a block of positions knew, each before its position was inserted.
pub(super) struct Candidates<const FOURS: usize> {
    ways: Ways,
    /// Bit (4 × `FOURS`) × index + way: whether that way's tag agrees with the position of that index.
    pub(super) hits: u64,
}

impl<const FOURS: usize> CandidateTable<FOURS> {
    /// An empty table of 2^`bucket_bits` buckets (8 to 12) of `ways` (at most 4 × `FOURS`).
    pub(super) fn new(bucket_bits: u32, ways: usize) -> Self {
        let buckets = vec![[Four::zero(); FOURS]; MOST_BUCKETS].into_boxed_slice();
        let in_use = (0..Candidates::<FOURS>::POSITIONS)
            .fold(0, |bits, index| bits | ((1 << ways) - 1) << (4 * FOURS * index));
        Self {
            buckets: buckets
                .try_into()
                .unwrap_or_else(|_| unreachable!("a slice of that length was made")),
            bucket_bits,
            in_use,
        }
    }

    /// Forgets the page before. A cleared way names position 0, as cleared memory would; whoever compares
    /// the bytes there finds a true match or none.
    pub(super) fn clear(&mut self) {
        self.buckets[..1 << self.bucket_bits].fill([Four::zero(); FOURS]);
    }

    pub(super) fn bucket_bits(&self) -> u32 {
        self.bucket_bits
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// Looks up the positions of the block at `at` of `slots`, one after the other, and makes each the newest of its bucket.
    #[inline(always)]
    pub(super) fn exchange(&mut self, slots: &Slots, at: usize) -> Candidates<FOURS> {
        let mut candidates = Candidates {
            ways: [0; 4 * BLOCK_FOURS],
            hits: 0,
        };
        let (buckets, entries) = slots.block(at);
        let (ways, _) = candidates.ways.as_chunks_mut::<16>();
        // Four vectors at a time, looked up and compared: they stay in registers.
        for (part, ways) in ways.iter_mut().enumerate() {
            let (mut fours, mut wanted) = ([Four::zero(); 4], [0; 4]);
            for index in 0..4 / FOURS {
                let position = part * (4 / FOURS) + index;
                let before = self.push(buckets[position], entries[position]);
                for (four, before) in before.into_iter().enumerate() {
                    fours[FOURS * index + four] = before;
                    wanted[FOURS * index + four] = entries[position];
                }
            }
            candidates.hits |= u64::from(Four::agreeing(fours, wanted)) << (16 * part);
            for (ways, four) in ways.as_chunks_mut().0.iter_mut().zip(fours) {
                *ways = four.lanes();
            }
        }
        candidates.hits &= self.in_use;
        candidates
    }

    /// Makes the positions of the block at `at` of `slots` the newest of their buckets.
    #[inline(always)]
    pub(super) fn insert(&mut self, slots: &Slots, at: usize) {
        let (buckets, entries) = slots.block(at);
        for index in 0..Candidates::<FOURS>::POSITIONS {
            self.push(buckets[index], entries[index]);
        }
    }

    /// Puts `entry` in front of a bucket; the oldest way leaves. Answers the bucket before.
    #[inline(always)]
    fn push(&mut self, bucket: u32, entry: u32) -> Bucket<FOURS> {
        let bucket = &mut self.buckets[bucket as usize % MOST_BUCKETS];
        let before = *bucket;
        bucket[0] = before[0].pushed(entry);
        for four in 1..FOURS {
            bucket[four] = before[four].pushed_from(before[four - 1]);
        }
        before
    }
}

impl<const FOURS: usize> Candidates<FOURS> {
    /// Positions of a block.
    pub(super) const POSITIONS: usize = BLOCK_FOURS / FOURS;
    /// The bits of one position in `hits`.
    const WAYS: usize = 4 * FOURS;

    /// The bits of positions from `index` on; none when `index` is beyond the block.
    #[inline(always)]
    pub(super) fn bits_from(index: usize) -> u64 {
        u64::MAX.checked_shl((index * Self::WAYS) as u32).unwrap_or(0)
    }

    /// The bits of the `positions` (a power of two) that start at a multiple of it, one of which `bit` belongs to.
    #[inline(always)]
    pub(super) fn bits_around(bit: u32, positions: usize) -> u64 {
        let bits = positions * Self::WAYS;
        let first = bit as usize & !(bits - 1);
        (u64::MAX >> (64 - bits)) << first
    }

    /// What a bit of `hits` stands for: the index in the block, and the candidate for it.
    #[inline(always)]
    pub(super) fn candidate(&self, bit: u32) -> (usize, usize) {
        let bit = bit as usize % 64;
        (bit / Self::WAYS, (self.ways[bit] & POSITION_MASK) as usize)
    }
}
