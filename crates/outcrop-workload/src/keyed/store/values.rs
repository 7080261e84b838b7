//! The bytes of records: a function of key and version, so that what is read is verified without having been kept.

use std::fmt;

use bytes::Bytes;
use outcrop_measure::Seed;

use crate::content::Content;
use crate::error::WorkloadError;
use crate::keyed::sizes::{SizeQuantile, SizeTable, ValueSize};
use crate::uniform::uniform_below;

/// Generated values are cut from a pool of this size. It stays in a core's second cache, so that verifying is quick; a mask
/// that differs by value keeps a compressor from finding one value's bytes in another.
const MASKED_POOL_BYTES: usize = 256 << 10;
/// Where a mask would change the bytes' frequencies, the pool is large instead.
const PLAIN_POOL_BYTES: usize = 4 << 20;
const WORD_BYTES: usize = size_of::<u64>();
/// Version, tag, key.
const HEADER_BYTES: usize = 3 * WORD_BYTES;
/// A version and half a tag; shorter values have a part of a tag alone, which knows no version.
const SHORTEST_WITH_VERSION: usize = WORD_BYTES + WORD_BYTES / 2;
/// What a compressor makes of a header and of the repetition behind it: 19 B (zstd) to 30 B (LZ4), and this is the middle.
const OVERHEAD_BYTES: f64 = 24.0;
/// Shorter seeds than this would repeat from one value to the next.
const SHORTEST_REPEATED: usize = 8;

/// Values of records.
///
/// A value of 24 bytes and more is its version, a tag and its key's number (8 bytes each, lowest first), and then bytes
/// of the wanted content. The tag is a hash of seed, key and version. A value of 12 to 23 bytes has less of
/// tag and key, and one of up to 11 bytes has no version. YCSB's fields are the stretches of 100 bytes of such a value.
///
/// *Cost*: a pool of 256 KiB (4 MiB for `entropy` and `zeros`), and a table of 64 KiB.
pub struct RecordValues {
    pool: Bytes,
    body: Body,
    sizes: SizeTable,
    fixed_size_bytes: Option<usize>,
    longest_bytes: usize,
    seed: Seed,
}

/// What lies behind the header.
#[derive(Clone, Copy)]
enum Body {
    /// A stretch of the pool.
    Plain,
    /// A stretch of the pool under the value's mask.
    Masked,
    /// Such a stretch, repeated until the value is full: an LZ compressor shrinks it by this ratio.
    Repeated(f64),
}

/// Why a value is not the one that its key must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Another length.
    #[error("the value has {seen} B, but {expected} B were stored")]
    Length {
        /// Bytes that were read.
        seen: usize,
        /// Bytes that were stored.
        expected: usize,
    },
    /// A whole value, of another key.
    #[error("the value under key {expected} is that of key {seen}")]
    OtherKey {
        /// The key that the value belongs to.
        seen: u64,
        /// The key that was asked for.
        expected: u64,
    },
    /// Bytes that were never stored.
    #[error("the value differs from what was stored from byte {at} on")]
    Damaged {
        /// The first byte that is wrong; 0 stands for all of the header.
        at: usize,
    },
}

/// Where a value's bytes come from.
#[derive(Clone, Copy)]
struct Stretch {
    start: usize,
    mask: u64,
    /// Bytes from the pool; all that follow repeat them.
    period: usize,
}

impl RecordValues {
    /// The version of records before a run writes them.
    pub const LOADED: u64 = 0;

    /// Values of a content.
    ///
    /// The ratio of `compressible` holds for each value alone, so for blocks of any number of whole values: within a tenth
    /// for 1,000 B and ratios up to 4. Values of less than about 200 B shrink by less, for their headers weigh more.
    pub fn of_content(content: Content, sizes: ValueSize, seed: Seed) -> Self {
        let (body, pool_content, pool_bytes) = match content {
            Content::Compressible { ratio } => (Body::Repeated(ratio), Content::Random, MASKED_POOL_BYTES),
            Content::Random => (Body::Masked, content, MASKED_POOL_BYTES),
            Content::Zeros | Content::Entropy { .. } => (Body::Plain, content, PLAIN_POOL_BYTES),
        };
        let mut pool = vec![0; pool_bytes + sizes.longest_bytes() as usize];
        pool_content
            .filler(seed.derive("pool of records"))
            .fill(&mut pool);
        Self::new(pool.into(), body, sizes, seed)
    }

    /// Values cut from given bytes, the user's own for example, at places that depend on key and version.
    ///
    /// With fewer bytes in the pool than in the store, stretches come more than once.
    ///
    /// # Errors
    /// Fewer bytes than the longest value has.
    pub fn cut_from(pool: Bytes, sizes: ValueSize, seed: Seed) -> Result<Self, WorkloadError> {
        let longest = sizes.longest_bytes() as usize;
        if pool.len() < longest {
            return Err(WorkloadError::OutOfRange {
                what: "data for values",
                seen: format!("{} B", pool.len()),
                why: format!(
                    "the longest value has {longest} B; give at least as much data, or smaller values"
                ),
            });
        }
        Ok(Self::new(pool, Body::Plain, sizes, seed))
    }

    fn new(pool: Bytes, body: Body, sizes: ValueSize, seed: Seed) -> Self {
        let longest = sizes.longest_bytes();
        Self {
            pool,
            body,
            sizes: SizeTable::new(SizeQuantile::Value(sizes), "record size", longest),
            fixed_size_bytes: match sizes {
                ValueSize::Fixed(_) => Some(longest as usize),
                _ => None,
            },
            longest_bytes: longest as usize,
            seed: seed.derive("records"),
        }
    }

    /// No value is longer.
    pub const fn longest_bytes(&self) -> usize {
        self.longest_bytes
    }

    /// The length of a value.
    #[inline]
    pub fn size_bytes(&self, key_id: u64, version: u64) -> usize {
        self.fixed_size_bytes
            .unwrap_or_else(|| self.sizes.size_bytes(self.tag(key_id, version).0))
    }

    /// Appends a value.
    pub fn write(&self, key_id: u64, version: u64, out: &mut Vec<u8>) {
        self.write_sized(key_id, version, self.size_bytes(key_id, version), out);
    }

    fn write_sized(&self, key_id: u64, version: u64, size: usize, out: &mut Vec<u8>) {
        let (header, header_bytes, stretch) = self.plan(key_id, version, size);
        out.extend_from_slice(&header[..header_bytes]);
        let body = out.len();
        out.extend_from_slice(&self.pool[stretch.start..stretch.start + stretch.period]);
        let mask = stretch.mask.to_le_bytes();
        let mut words = out[body..].chunks_exact_mut(WORD_BYTES);
        for word in &mut words {
            for (byte, mask) in word.iter_mut().zip(mask) {
                *byte ^= mask;
            }
        }
        for (byte, mask) in words.into_remainder().iter_mut().zip(mask) {
            *byte ^= mask;
        }
        let mut missing = size - header_bytes - stretch.period;
        while missing > 0 {
            let length = missing.min(out.len() - body);
            out.extend_from_within(body..body + length);
            missing -= length;
        }
    }

    /// The version of the value of a key, where the bytes are one; `None` where it is too short to have one.
    ///
    /// # Errors
    /// What is wrong with it. *Cost*: well under 200 ns for 1,000 B.
    #[inline]
    pub fn verify(&self, key_id: u64, bytes: &[u8]) -> Result<Option<u64>, Mismatch> {
        let version = (bytes.len() >= SHORTEST_WITH_VERSION).then(|| word(bytes, 0));
        let (header, header_bytes, stretch) = self.plan(key_id, version.unwrap_or_default(), bytes.len());
        if bytes[..header_bytes] != header[..header_bytes] {
            return Err(self.wrong_header(key_id, bytes));
        }
        let expected = match (self.fixed_size_bytes, version) {
            (Some(size), _) => size,
            (None, Some(version)) => self.size_bytes(key_id, version),
            (None, None) => bytes.len(),
        };
        if bytes.len() != expected {
            let seen = bytes.len();
            return Err(Mismatch::Length { seen, expected });
        }
        let body = &bytes[header_bytes..];
        let (stretched, repeated) = body.split_at(stretch.period);
        let pool = &self.pool[stretch.start..stretch.start + stretch.period];
        if !is_masked(stretched, pool, stretch.mask) || *repeated != body[..repeated.len()] {
            return Err(self.damaged(key_id, version, bytes));
        }
        Ok(version)
    }

    /// The key and version of a value that was read without knowing its key; `None` where it is too short to have them.
    ///
    /// # Errors
    /// As [`RecordValues::verify`].
    pub fn verify_any(&self, bytes: &[u8]) -> Result<Option<(u64, u64)>, Mismatch> {
        if bytes.len() < HEADER_BYTES {
            return match self.fixed_size_bytes {
                Some(expected) if expected != bytes.len() => Err(Mismatch::Length {
                    seen: bytes.len(),
                    expected,
                }),
                _ => Ok(None),
            };
        }
        let key_id = word(bytes, 2 * WORD_BYTES);
        let version = self.verify(key_id, bytes)?;
        Ok(version.map(|version| (key_id, version)))
    }

    /// The header of a value, how much of it there is room for, and where the rest comes from.
    #[inline]
    fn plan(&self, key_id: u64, version: u64, size: usize) -> ([u8; HEADER_BYTES], usize, Stretch) {
        let mut header = [0; HEADER_BYTES];
        let (tag, header_bytes) = if size >= SHORTEST_WITH_VERSION {
            let tag = self.tag(key_id, version);
            header[..WORD_BYTES].copy_from_slice(&version.to_le_bytes());
            header[WORD_BYTES..2 * WORD_BYTES].copy_from_slice(&tag.0.to_le_bytes());
            header[2 * WORD_BYTES..].copy_from_slice(&key_id.to_le_bytes());
            // Between the two, what a key would have room for belongs to the body.
            let room = if size >= HEADER_BYTES {
                HEADER_BYTES
            } else {
                2 * WORD_BYTES
            };
            (tag, size.min(room))
        } else {
            let tag = self.seed.derive_index(key_id);
            header[..WORD_BYTES].copy_from_slice(&tag.0.to_le_bytes());
            (tag, size.min(WORD_BYTES))
        };
        let body = size - header_bytes;
        let place = tag.derive_index(0).0;
        let (mask, period) = match self.body {
            Body::Plain => (0, body),
            Body::Masked => (place, body),
            Body::Repeated(ratio) => {
                let kept = (size as f64 / ratio - OVERHEAD_BYTES).max(0.0) as usize;
                (place, kept.max(SHORTEST_REPEATED).min(body))
            }
        };
        // A value that is longer than any, which only a damaged store gives, is found to be so by its length.
        let period = period.min(self.longest_bytes);
        let starts = self.pool.len() - self.longest_bytes + 1;
        let start = uniform_below(place, starts as u64) as usize;
        (header, header_bytes, Stretch { start, mask, period })
    }

    #[inline]
    fn tag(&self, key_id: u64, version: u64) -> Seed {
        self.seed.derive_index(key_id).derive_index(version)
    }

    #[cold]
    fn wrong_header(&self, key_id: u64, bytes: &[u8]) -> Mismatch {
        if let Some(expected) = self.fixed_size_bytes
            && bytes.len() != expected
        {
            let seen = bytes.len();
            return Mismatch::Length { seen, expected };
        }
        if bytes.len() >= HEADER_BYTES {
            let seen = word(bytes, 2 * WORD_BYTES);
            if seen != key_id && self.tag(seen, word(bytes, 0)).0 == word(bytes, WORD_BYTES) {
                return Mismatch::OtherKey {
                    seen,
                    expected: key_id,
                };
            }
        }
        Mismatch::Damaged { at: 0 }
    }

    #[cold]
    fn damaged(&self, key_id: u64, version: Option<u64>, bytes: &[u8]) -> Mismatch {
        let mut wanted = Vec::with_capacity(bytes.len());
        self.write_sized(key_id, version.unwrap_or_default(), bytes.len(), &mut wanted);
        let at = bytes
            .iter()
            .zip(&wanted)
            .position(|(seen, wanted)| seen != wanted);
        Mismatch::Damaged {
            at: at.unwrap_or_default(),
        }
    }
}

/// The eight bytes from `at` on as a number; the caller has looked that they are there.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..]
        .first_chunk()
        .map_or(0, |word| u64::from_le_bytes(*word))
}

/// Whether `bytes` are those of `pool` under the mask; both have one length.
#[inline]
fn is_masked(bytes: &[u8], pool: &[u8], mask: u64) -> bool {
    let (seen, seen_rest) = bytes.as_chunks::<WORD_BYTES>();
    let (wanted, wanted_rest) = pool.as_chunks::<WORD_BYTES>();
    let mut difference = 0;
    for (seen, wanted) in seen.iter().zip(wanted) {
        difference |= u64::from_le_bytes(*seen) ^ u64::from_le_bytes(*wanted) ^ mask;
    }
    let mut rest = 0;
    for ((seen, wanted), mask) in seen_rest.iter().zip(wanted_rest).zip(mask.to_le_bytes()) {
        rest |= seen ^ wanted ^ mask;
    }
    difference == 0 && rest == 0
}

impl fmt::Debug for RecordValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordValues")
            .field("longest_bytes", &self.longest_bytes)
            .finish_non_exhaustive()
    }
}
