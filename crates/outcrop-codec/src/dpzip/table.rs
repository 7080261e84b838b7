//! The candidate table: a few positions per bucket, the oldest leaving first.

#[cfg(target_arch = "x86_64")]
mod avx2;

use super::lanes::Four;
use super::slots::{BUCKET_SHIFT, CHUNK, GROUP, Group, POSITION_MASK, Slots};

/// Positions that are looked up in one go: a bit of a word each.
pub(super) const RUN: usize = 64;
/// Groups of a run.
const GROUPS: usize = RUN / GROUP;
const _: () = assert!(CHUNK.is_multiple_of(RUN));

/// Bytes of four ways of every bucket that a table may have. An offset of sixteen bits cannot leave it.
const PLANE_BYTES: usize = (1 << 16) + FOUR_BYTES;
/// Bytes of four ways of a bucket.
const FOUR_BYTES: usize = 1 << BUCKET_SHIFT;

/// Four ways of each bucket, newest first.
type Plane = [u8; PLANE_BYTES];

/// The table of one page: `FOURS` × 4 ways per bucket.
pub(super) struct CandidateTable<const FOURS: usize> {
    planes: Box<[Plane; FOURS]>,
    bucket_bits: u32,
    /// Sixteen bits for each of the first four ways: all set where the way is not in use.
    not_in_use: u64,
}

/// The newest candidate of each position of a run, of those that found one.
pub(super) type Newest = [u16; RUN];

/// What the buckets of a run of positions knew, each before its position was inserted.
pub(super) struct Candidates<const FOURS: usize> {
    /// Every way of the bucket of every position, a lane each.
    ways: [[[Four; GROUP]; FOURS]; GROUPS],
    /// A byte for each way of each position: not zero if its tag agrees.
    agreeing: [[[u8; 4 * GROUP]; FOURS]; GROUPS],
    /// A byte for each way of a position: zero if it is not in use.
    in_use: [u32; FOURS],
}

impl<const FOURS: usize> CandidateTable<FOURS> {
    /// An empty table of 2^`bucket_bits` buckets (8 to 12) of `ways` (at most 4 × `FOURS`).
    pub(super) fn new(bucket_bits: u32, ways: usize) -> Self {
        let planes = vec![[0; PLANE_BYTES]; FOURS].into_boxed_slice();
        Self {
            planes: planes
                .try_into()
                .unwrap_or_else(|_| unreachable!("a slice of that length was made")),
            bucket_bits,
            not_in_use: u64::MAX.checked_shl(16 * ways as u32).unwrap_or(0),
        }
    }

    /// Forgets the page before. A cleared way names position 0, as cleared memory would, and hardly any tag agrees with it;
    /// whoever compares the bytes there finds a true match or none.
    pub(super) fn clear(&mut self) {
        let cleared = Four::of([i32::MAX.cast_unsigned(); 4]).to_bytes();
        for plane in &mut *self.planes {
            let (buckets, _) = plane[..FOUR_BYTES << self.bucket_bits].as_chunks_mut();
            buckets.fill(cleared);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.planes)
    }

    /// Looks up the positions of a run that starts at `at` of `slots`, one after the other, and makes each the newest of
    /// its bucket. Answers a bit for each position: whether a way of its bucket agrees, be it in use or not.
    #[inline(always)]
    pub(super) fn exchange(&mut self, slots: &Slots, at: usize, candidates: &mut Candidates<FOURS>) -> u64 {
        let mut found = 0;
        for sixteen in 0..GROUPS / 4 {
            let mut any = [Four::zero(); 4];
            for (index, any) in any.iter_mut().enumerate() {
                let number = 4 * sixteen + index;
                *any = self.exchange_group(slots.group(at + GROUP * number), number, candidates);
            }
            found |= u64::from(Four::not_zero(any)) << (16 * sixteen);
        }
        found
    }

    /// Looks up a group, the run's `number`th. Answers lanes that are not zero where a way agrees.
    #[inline(always)]
    fn exchange_group(
        &mut self,
        group: Group<'_>,
        number: usize,
        candidates: &mut Candidates<FOURS>,
    ) -> Four {
        let mut ways = [[Four::zero(); GROUP]; FOURS];
        for position in 0..GROUP {
            let before = self.push(group, position);
            for (ways, before) in ways.iter_mut().zip(before) {
                ways[position] = before;
            }
        }
        let mut any = Four::zero();
        for (ways, agreeing) in ways.iter().zip(&mut candidates.agreeing[number]) {
            let agrees = Four::agreeing(*ways, group.entries());
            *agreeing = agrees.to_bytes();
            any = any.or(agrees);
        }
        candidates.ways[number] = ways;
        any
    }

    /// As [`Self::exchange`], but keeps only the newest candidate of each position; answers a bit for each that has one.
    #[inline(always)]
    pub(super) fn exchange_newest(
        &mut self,
        slots: &Slots,
        at: usize,
        candidates: &mut Candidates<FOURS>,
        newest: &mut Newest,
    ) -> u64 {
        let mut asked = self.exchange(slots, at, candidates);
        let mut found = 0;
        while asked != 0 {
            let index = asked.trailing_zeros() as usize;
            asked &= asked - 1;
            if let Some(candidate) = candidates.of(index).next() {
                newest[index] = candidate as u16;
                found |= 1 << index;
            }
        }
        found
    }

    /// The newest of `ways` candidates of the position `at` of `slots`, which stays out of the table.
    pub(super) fn newest(&self, slots: &Slots, at: usize, ways: usize) -> Option<u16> {
        let group = slots.group(at);
        let buckets = self
            .planes
            .iter()
            .filter_map(|plane| plane[group.offset(0)..].first_chunk());
        let entries = buckets.flat_map(|bucket| Four::from_bytes(*bucket).lanes());
        entries
            .take(ways)
            .find(|entry| entry ^ group.tag(0) <= POSITION_MASK)
            .map(|entry| (!entry & POSITION_MASK) as u16)
    }

    /// Makes the positions of a run that starts at `at` of `slots` the newest of their buckets.
    #[inline(always)]
    pub(super) fn insert(&mut self, slots: &Slots, at: usize) {
        // In a run of one bucket nothing stays but the last ones, and each would wait for the one before.
        let first = if slots.is_one_bucket(at, RUN) {
            GROUPS - FOURS
        } else {
            0
        };
        for number in first..GROUPS {
            let group = slots.group(at + GROUP * number);
            for position in 0..GROUP {
                self.push(group, position);
            }
        }
    }

    /// Puts a position of the group in front of its bucket; the oldest way leaves. Answers the bucket before.
    #[inline(always)]
    fn push(&mut self, group: Group<'_>, position: usize) -> [Four; FOURS] {
        let offset = group.offset(position);
        let mut newer = Four::of(*group.up_to(position));
        let mut before = [Four::zero(); FOURS];
        for (plane, before) in self.planes.iter_mut().zip(&mut before) {
            if let Some(bytes) = plane[offset..].first_chunk_mut() {
                *before = Four::from_bytes(*bytes);
                *bytes = before.pushed_from(newer).to_bytes();
                newer = *before;
            }
        }
        before
    }
}

impl<const FOURS: usize> Candidates<FOURS> {
    /// For buckets of `ways` (at most 4 × `FOURS`).
    pub(super) fn new(ways: usize) -> Self {
        Self {
            in_use: std::array::from_fn(|four| match ways.saturating_sub(4 * four) {
                0 => 0,
                ways => u32::MAX >> (32 - 8 * ways.min(4)),
            }),
            ways: [[[Four::zero(); GROUP]; FOURS]; GROUPS],
            agreeing: [[[0; 4 * GROUP]; FOURS]; GROUPS],
        }
    }

    /// The candidates of the position with this index in the run, newest first.
    #[inline(always)]
    pub(super) fn of(&self, index: usize) -> impl Iterator<Item = usize> {
        let (number, position) = (index / GROUP % GROUPS, index % GROUP);
        let planes = self.ways[number].iter().zip(&self.agreeing[number]);
        planes
            .zip(&self.in_use)
            .flat_map(move |((ways, agreeing), in_use)| {
                let (agreeing, _) = agreeing.as_chunks();
                Agreeing {
                    ways: ways[position],
                    left: u32::from_le_bytes(agreeing[position]) & in_use,
                }
            })
    }
}

/// The ways of four that agree.
struct Agreeing {
    ways: Four,
    left: u32,
}

impl Iterator for Agreeing {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        let way = self.left.trailing_zeros() as usize / 8;
        self.left &= !(0xFF << (8 * way));
        Some((!self.ways.lanes()[way % 4] & POSITION_MASK) as usize)
    }
}
