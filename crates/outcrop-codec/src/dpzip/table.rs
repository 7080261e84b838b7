//! The candidate table: a few positions per bucket, the oldest leaving first.
//!
//! The hardware's table holds 12-bit positions. Here each way also keeps twenty more bits of the hash, so
//! that software compares bytes only where they will match; which matches are found does not change by it.

use super::lanes::Four;

/// Bits of a position in a page; the tag stands above them.
const POSITION_BITS: u32 = 12;
const POSITION_MASK: u32 = (1 << POSITION_BITS) - 1;

/// The ways of a bucket, newest first: `FOURS` × 4 of them.
type Bucket<const FOURS: usize> = [Four; FOURS];

/// The table of one page.
pub(super) struct CandidateTable<const FOURS: usize> {
    buckets: Vec<Bucket<FOURS>>,
    bucket_bits: u32,
    /// A bit for each way in use.
    ways_mask: u32,
}

/// What a bucket knew of some four bytes, before they were inserted.
#[derive(Clone, Copy)]
pub(super) struct Candidates<const FOURS: usize> {
    bucket: Bucket<FOURS>,
    /// A bit for each way whose tag agrees.
    pub(super) hits: u32,
}

impl<const FOURS: usize> CandidateTable<FOURS> {
    /// An empty table of 2^`bucket_bits` buckets (8 to 12) of `ways` (at most 4 × `FOURS`).
    pub(super) fn new(bucket_bits: u32, ways: usize) -> Self {
        Self {
            buckets: vec![[Four::zero(); FOURS]; 1 << bucket_bits],
            bucket_bits,
            ways_mask: (1 << ways) - 1,
        }
    }

    /// Forgets the page before. A cleared way names position 0, as cleared memory would; whoever compares
    /// the bytes there finds a true match or none.
    pub(super) fn clear(&mut self) {
        self.buckets.fill([Four::zero(); FOURS]);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// Looks up four bytes (the low half of `bytes`) and makes `position` the newest of their bucket.
    #[inline(always)]
    pub(super) fn exchange(&mut self, bytes: u64, position: usize) -> Candidates<FOURS> {
        let ways_mask = self.ways_mask;
        let (bucket, tag) = self.bucket(bytes);
        let before = *bucket;
        *bucket = pushed(before, tag | position as u32);
        let fours = before.iter().enumerate();
        let hits = fours.fold(0, |hits, (index, four)| {
            hits | four.equal(!POSITION_MASK, tag) << (4 * index)
        });
        Candidates {
            bucket: before,
            hits: hits & ways_mask,
        }
    }

    /// Makes `position` the newest of the bucket of its four bytes.
    #[inline(always)]
    pub(super) fn insert(&mut self, bytes: u64, position: usize) {
        let (bucket, tag) = self.bucket(bytes);
        *bucket = pushed(*bucket, tag | position as u32);
    }

    #[inline(always)]
    fn bucket(&mut self, bytes: u64) -> (&mut Bucket<FOURS>, u32) {
        let hash = (bytes as u32).wrapping_mul(0x9E37_79B1);
        let index = (hash >> (32 - self.bucket_bits)) as usize & (self.buckets.len() - 1);
        // The bits below the bucket's, in the place above a position.
        let tag = (hash << self.bucket_bits) & !POSITION_MASK;
        (&mut self.buckets[index], tag)
    }
}

/// The bucket with `newest` in front and its oldest way gone.
#[inline(always)]
fn pushed<const FOURS: usize>(bucket: Bucket<FOURS>, newest: u32) -> Bucket<FOURS> {
    std::array::from_fn(|index| match index {
        0 => bucket[0].pushed(newest),
        _ => bucket[index].pushed_from(bucket[index - 1]),
    })
}

impl<const FOURS: usize> Candidates<FOURS> {
    /// The positions whose tags agree, newest first.
    #[inline(always)]
    pub(super) fn positions(self) -> impl Iterator<Item = usize> {
        let mut hits = self.hits;
        std::iter::from_fn(move || {
            if hits == 0 {
                return None;
            }
            let way = hits.trailing_zeros();
            hits &= hits - 1;
            let four = self.bucket[(way / 4) as usize % FOURS];
            Some((four.lane(way & 3) & POSITION_MASK) as usize)
        })
    }
}
