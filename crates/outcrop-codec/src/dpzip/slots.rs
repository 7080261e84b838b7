//! Which bucket each position of a page belongs to, and what is put there: a hash of its four bytes.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

/// Positions that are hashed in one go.
pub(super) const CHUNK: usize = 256;
/// Most positions that are looked up in one go.
pub(super) const BLOCK: usize = 16;
/// Bytes of a page that hashing a chunk may read: four behind each position, sixteen at a time.
pub(super) const CHUNK_WINDOW: usize = CHUNK + 16;
/// Bits of a position in a page; the tag stands above them.
pub(super) const POSITION_BITS: u32 = 12;
pub(super) const POSITION_MASK: u32 = (1 << POSITION_BITS) - 1;
/// 2^32 ÷ the golden ratio, as multiplicative hashing has it (Knuth, volume 3, 6.4).
const HASH_FACTOR: u32 = 0x9E37_79B1;

/// Buckets and entries of a chunk of positions.
///
/// The hardware's table holds 12-bit positions. Here an entry also has twenty more bits of the hash above the position, so
/// that software compares bytes only where they will match; which matches are found does not change by it.
pub(super) struct Slots {
    buckets: [u32; CHUNK + BLOCK],
    entries: [u32; CHUNK + BLOCK],
}

impl Slots {
    pub(super) fn new() -> Self {
        Self {
            buckets: [0; CHUNK + BLOCK],
            entries: [0; CHUNK + BLOCK],
        }
    }

    /// Buckets and entries from position `at` of the chunk on.
    #[inline(always)]
    pub(super) fn block(&self, at: usize) -> (&[u32; BLOCK], &[u32; BLOCK]) {
        let range = at % CHUNK..at % CHUNK + BLOCK;
        let (buckets, entries) = (&self.buckets[range.clone()], &self.entries[range]);
        match (buckets.first_chunk(), entries.first_chunk()) {
            (Some(buckets), Some(entries)) => (buckets, entries),
            _ => unreachable!("a block's length was asked for"),
        }
    }

    /// Hashes the positions from `first` on, whose bytes `window` starts with, for 2^`bucket_bits` buckets.
    #[inline]
    pub(super) fn fill(&mut self, window: &[u8; CHUNK_WINDOW], first: usize, bucket_bits: u32) {
        let slots = self.buckets[..CHUNK].iter_mut().zip(&mut self.entries[..CHUNK]);
        for (index, ((bucket, entry), bytes)) in slots.zip(window.windows(4)).enumerate() {
            let hash = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).wrapping_mul(HASH_FACTOR);
            *bucket = hash >> (32 - bucket_bits);
            *entry = hash << bucket_bits & !POSITION_MASK | (first + index) as u32;
        }
    }
}
