//! The candidate table: a few positions per bucket, the oldest leaving first.
//!
//! The hardware's table holds 12-bit positions. Here each way also keeps twenty more bits of the hash, so
//! that software compares bytes only where they will match; which matches are found does not change by it.

use super::GROUP_BYTES;
use super::lanes::Four;

/// Bits of a position in a page; the tag stands above them.
const POSITION_BITS: u32 = 12;
const POSITION_MASK: u32 = (1 << POSITION_BITS) - 1;
/// Most buckets that a table may have; fewer use its front. A fixed number spares a check per access.
const MOST_BUCKETS: usize = 1 << 12;
/// 2^32 ÷ the golden ratio, as multiplicative hashing has it (Knuth, volume 3, 6.4).
const HASH_FACTOR: u32 = 0x9E37_79B1;

/// The ways of a bucket, newest first: `FOURS` × 4 of them.
type Bucket<const FOURS: usize> = [Four; FOURS];

/// The table of one page.
pub(super) struct CandidateTable<const FOURS: usize> {
    buckets: Box<[Bucket<FOURS>; MOST_BUCKETS]>,
    bucket_bits: u32,
    /// As `Candidates::hits`: a bit for each way in use, for each position of a group.
    in_use: u64,
}

/// What the buckets of a group's four positions knew before these were inserted.
pub(super) struct Candidates<const FOURS: usize> {
    buckets: [Bucket<FOURS>; GROUP_BYTES],
    /// Bit (4 × `FOURS`) × index + way: whether that way's tag agrees with the position of that index.
    pub(super) hits: u64,
}

impl<const FOURS: usize> CandidateTable<FOURS> {
    /// An empty table of 2^`bucket_bits` buckets (8 to 12) of `ways` (at most 4 × `FOURS`).
    pub(super) fn new(bucket_bits: u32, ways: usize) -> Self {
        let buckets = vec![[Four::splat(0); FOURS]; MOST_BUCKETS].into_boxed_slice();
        Self {
            buckets: buckets
                .try_into()
                .unwrap_or_else(|_| unreachable!("a slice of that length was made")),
            bucket_bits,
            in_use: (0..GROUP_BYTES).fold(0, |bits, index| bits | ((1 << ways) - 1) << (4 * FOURS * index)),
        }
    }

    /// Forgets the page before. A cleared way names position 0, as cleared memory would; whoever compares
    /// the bytes there finds a true match or none.
    pub(super) fn clear(&mut self) {
        self.buckets[..1 << self.bucket_bits].fill([Four::splat(0); FOURS]);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// Looks up the four positions from `group` on, whose bytes start `bytes`, and makes each the newest of its bucket.
    #[inline(always)]
    pub(super) fn exchange(&mut self, bytes: u64, group: usize) -> Candidates<FOURS> {
        let (indexes, tags) = self.slots(bytes);
        let newest = tags.or(Four::counting(group as u32));
        let buckets: [Bucket<FOURS>; GROUP_BYTES] =
            std::array::from_fn(|position| self.push(indexes[position], newest, position));
        let tag_mask = Four::splat(!POSITION_MASK);
        let hits = (0..FOURS).fold(0, |hits, four| {
            let masked = std::array::from_fn(|position: usize| buckets[position][four].and(tag_mask));
            hits | spaced::<FOURS>(Four::equal(masked, tags)) << (4 * four)
        });
        let hits = hits & self.in_use;
        Candidates { buckets, hits }
    }

    /// Makes the four positions from `group` on the newest of their buckets.
    #[inline(always)]
    pub(super) fn insert(&mut self, bytes: u64, group: usize) {
        let (indexes, tags) = self.slots(bytes);
        let newest = tags.or(Four::counting(group as u32));
        for (position, index) in indexes.into_iter().enumerate() {
            self.push(index, newest, position);
        }
    }

    /// The bucket of each position, and the tag in it: the bits of the hash below the bucket's.
    #[inline(always)]
    fn slots(&self, bytes: u64) -> ([u32; GROUP_BYTES], Four) {
        let hashes = Four::windows(bytes).product(HASH_FACTOR);
        let indexes = hashes.shifted_down(32 - self.bucket_bits).lanes();
        let tags = hashes
            .shifted_up(self.bucket_bits)
            .and(Four::splat(!POSITION_MASK));
        (indexes, tags)
    }

    /// Puts lane `position` of `newest` in front of a bucket; the oldest way leaves. Answers the bucket before.
    #[inline(always)]
    fn push(&mut self, index: u32, newest: Four, position: usize) -> Bucket<FOURS> {
        let bucket = &mut self.buckets[index as usize % MOST_BUCKETS];
        let before = *bucket;
        bucket[0] = before[0].pushed(newest, position);
        for four in 1..FOURS {
            bucket[four] = before[four].pushed(before[four - 1], 3);
        }
        before
    }
}

/// Moves the four bits of each position to where `Candidates::hits` has that position's first four ways.
#[inline(always)]
fn spaced<const FOURS: usize>(hits: u32) -> u64 {
    if FOURS == 1 {
        return hits.into();
    }
    (0..GROUP_BYTES).fold(0, |bits, index| {
        bits | u64::from(hits >> (4 * index) & 15) << (4 * FOURS * index)
    })
}

impl<const FOURS: usize> Candidates<FOURS> {
    /// The bits of one position in `hits`.
    const WAYS: u32 = 4 * FOURS as u32;

    /// The hits of positions from `index` on; none when `index` is beyond the group.
    #[inline(always)]
    pub(super) fn hits_from(&self, index: usize) -> u64 {
        let index = index.min(GROUP_BYTES) as u32;
        self.hits & u64::MAX.checked_shl(index * Self::WAYS).unwrap_or(0)
    }

    /// All bits of the position that a bit of `hits` belongs to.
    #[inline(always)]
    pub(super) fn position_bits(bit: u32) -> u64 {
        ((1u64 << Self::WAYS) - 1) << (bit / Self::WAYS * Self::WAYS)
    }

    /// What a bit of `hits` stands for: the index in the group, and the candidate for it.
    #[inline(always)]
    pub(super) fn candidate(&self, bit: u32) -> (usize, usize) {
        let (index, way) = (
            (bit / Self::WAYS) as usize % GROUP_BYTES,
            (bit % Self::WAYS) as usize,
        );
        let lanes = self.buckets[index][way / 4 % FOURS].lanes();
        (index, (lanes[way % 4] & POSITION_MASK) as usize)
    }
}
