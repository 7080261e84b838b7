//! Bytes that an LZ compressor shrinks by a wanted ratio, granule by granule.

use outcrop_measure::seed::Generator;
use rand::Rng;

/// The smallest chunk at which the ratio holds.
const GRANULE_SIZE_BYTES: usize = 4096;

/// What a compressor adds to the random bytes of a granule: frame and block headers, one match and its
/// lengths. From about 5 (zstd, large chunks) to 25 bytes (chunks of one granule); this is the middle.
const OVERHEAD_BYTES: f64 = 14.0;

/// Shorter seeds than this could repeat by chance from one granule to the next.
const MIN_SEED_BYTES: usize = 16;

/// The granule at hand: random bytes at its start, repeated until it is full.
///
/// One match covers all that repeats, and it begins at the first repeated byte, so every LZ compressor finds
/// it and gains the same. The repetition is of random bytes and not of zeros: no granule is empty, and byte
/// frequencies stay even.
#[derive(Clone)]
pub(crate) struct Granule {
    bytes: Box<[u8; GRANULE_SIZE_BYTES]>,
    random_bytes: usize,
    /// How much of `bytes` has been given out.
    used_bytes: usize,
}

impl std::fmt::Debug for Granule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Granule")
            .field("random_bytes", &self.random_bytes)
            .field("used_bytes", &self.used_bytes)
            .finish_non_exhaustive()
    }
}

impl Granule {
    /// Granules of this ratio, 1 or above; the first is drawn when it is first needed.
    pub(crate) fn of_ratio(ratio: f64) -> Self {
        let random_bytes = if ratio > 1.0 {
            let wanted = (GRANULE_SIZE_BYTES as f64 / ratio - OVERHEAD_BYTES).round() as usize;
            wanted.clamp(MIN_SEED_BYTES, GRANULE_SIZE_BYTES)
        } else {
            GRANULE_SIZE_BYTES
        };
        Self {
            bytes: Box::new([0; GRANULE_SIZE_BYTES]),
            random_bytes,
            used_bytes: GRANULE_SIZE_BYTES,
        }
    }

    /// Overwrites the buffer with the rest of this granule and as many more as it takes.
    pub(crate) fn fill(&mut self, mut buffer: &mut [u8], draws: &mut Generator) {
        while !buffer.is_empty() {
            if self.used_bytes == GRANULE_SIZE_BYTES {
                self.draw(draws);
            }
            let length = buffer.len().min(GRANULE_SIZE_BYTES - self.used_bytes);
            let (now, later) = buffer.split_at_mut(length);
            now.copy_from_slice(&self.bytes[self.used_bytes..self.used_bytes + length]);
            self.used_bytes += length;
            buffer = later;
        }
    }

    fn draw(&mut self, draws: &mut Generator) {
        draws.fill_bytes(&mut self.bytes[..self.random_bytes]);
        let mut filled = self.random_bytes;
        while filled < GRANULE_SIZE_BYTES {
            let length = filled.min(GRANULE_SIZE_BYTES - filled);
            self.bytes.copy_within(..length, filled);
            filled += length;
        }
        self.used_bytes = 0;
    }
}
