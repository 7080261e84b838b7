//! Which bucket each position of a page belongs to, and what is put there: a hash of its four bytes.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

/// Positions that are hashed in one go.
pub(super) const CHUNK: usize = 256;
/// Positions that are looked up in one go: a group of the hardware's.
pub(super) const GROUP: usize = super::options::GROUP_BYTES;
/// Bytes of a page that hashing a chunk may read: four behind each position, sixteen at a time.
pub(super) const CHUNK_WINDOW: usize = CHUNK + 16;
/// Bits of a position in a page; the tag stands above them.
pub(super) const POSITION_BITS: u32 = 12;
/// The bits of an entry that name its position: all of them turned over, so that newer entries of a tag are smaller.
pub(super) const POSITION_MASK: u32 = (1 << POSITION_BITS) - 1;
/// Bits of the tag: all above the position but the sign's, so that no entry is negative.
const TAG_MASK: u32 = i32::MAX.cast_unsigned() & !POSITION_MASK;
/// log2 of the bytes from one bucket to the next.
pub(super) const BUCKET_SHIFT: u32 = 4;
/// 2^32 ÷ the golden ratio, as multiplicative hashing has it (Knuth, volume 3, 6.4).
const HASH_FACTOR: u32 = 0x9E37_79B1;
/// Entries before the first one, so that each can be read as the last of four.
const FRONT: usize = 4;

/// The hash of four bytes: its highest bits are their bucket.
#[inline(always)]
fn hash(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes).wrapping_mul(HASH_FACTOR)
}

/// The bucket of four bytes.
pub(super) fn bucket(bytes: [u8; 4], bucket_bits: u32) -> u32 {
    hash(bytes) >> (32 - bucket_bits)
}

/// How positions are hashed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashing {
    /// log2 of the number of buckets, which four bytes choose from.
    pub(super) bucket_bits: u32,
    /// Whether the tag tells five bytes apart, or only those four.
    pub(super) tags_fifth: bool,
}

/// Buckets and entries of a chunk of positions.
///
/// The hardware's table holds 12-bit positions. Here an entry also has nineteen more bits of the hash above the position, so
/// that software compares bytes only where they will match; which matches are found does not change by it.
pub(super) struct Slots {
    /// Where each position's bucket starts, in bytes: sixteen bits, though they are computed as 32.
    offsets: [u32; CHUNK + GROUP],
    entries: [u32; FRONT + CHUNK + GROUP],
    /// The tags of the entries alone.
    tags: [u32; CHUNK + GROUP],
}

/// The four positions of a group.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    offsets: &'a [u32; GROUP],
    entries: &'a [u32; 2 * GROUP],
    tags: &'a [u32; GROUP],
}

impl Group<'_> {
    /// Where the bucket of a position starts.
    #[inline(always)]
    pub(super) fn offset(&self, position: usize) -> usize {
        usize::from(self.offsets[position] as u16)
    }

    /// The entry of each position.
    #[inline(always)]
    pub(super) fn entries(&self) -> [u32; GROUP] {
        std::array::from_fn(|position| self.entries[FRONT + position])
    }

    /// The tag of a position.
    #[inline(always)]
    pub(super) fn tag(&self, position: usize) -> u32 {
        self.tags[position]
    }

    /// Four entries, that of a position last.
    #[inline(always)]
    pub(super) fn up_to(&self, position: usize) -> &[u32; 4] {
        match self.entries[position + 1..].first_chunk() {
            Some(four) => four,
            None => unreachable!("there are four from the first to the fifth on"),
        }
    }
}

impl Slots {
    pub(super) fn new() -> Self {
        Self {
            offsets: [0; CHUNK + GROUP],
            entries: [0; FRONT + CHUNK + GROUP],
            tags: [0; CHUNK + GROUP],
        }
    }

    /// Whether `count` positions from `at` of the chunk on share a bucket.
    #[inline(always)]
    pub(super) fn is_one_bucket(&self, at: usize, count: usize) -> bool {
        let offsets = &self.offsets[at..at + count];
        let first = offsets[0];
        offsets.iter().fold(0, |bits, offset| bits | offset ^ first) == 0
    }

    /// The group that starts at `at` of the chunk.
    #[inline(always)]
    pub(super) fn group(&self, at: usize) -> Group<'_> {
        let at = at % CHUNK;
        let (offsets, entries, tags) = (&self.offsets[at..], &self.entries[at..], &self.tags[at..]);
        match (offsets.first_chunk(), entries.first_chunk(), tags.first_chunk()) {
            (Some(offsets), Some(entries), Some(tags)) => Group {
                offsets,
                entries,
                tags,
            },
            _ => unreachable!("a chunk's groups end before the arrays do"),
        }
    }

    /// Hashes the positions from `first` on, whose bytes `window` starts with.
    #[inline]
    pub(super) fn fill(&mut self, window: &[u8; CHUNK_WINDOW], first: usize, how: Hashing) {
        let Hashing {
            bucket_bits,
            tags_fifth,
        } = how;
        let entries = self.entries[FRONT..].iter_mut().zip(&mut self.tags[..CHUNK]);
        let slots = self.offsets[..CHUNK].iter_mut().zip(entries);
        for (index, ((offset, (entry, tag)), bytes)) in slots.zip(window.windows(5)).enumerate() {
            let hash = hash([bytes[0], bytes[1], bytes[2], bytes[3]]);
            *offset = hash >> (32 - bucket_bits) << BUCKET_SHIFT;
            let fifth = if tags_fifth { u32::from(bytes[4]) << 23 } else { 0 };
            *tag = (hash << bucket_bits ^ fifth) & TAG_MASK;
            *entry = *tag | POSITION_MASK ^ (first + index) as u32;
        }
    }
}
