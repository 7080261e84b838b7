//! What bytes are written: `zeros`, `random`, `entropy:BITS`, `compressible:RATIO`.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::seed::Seed;
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::filler::Filler;
use crate::spelling::{Spelling, form_and_argument, spelled_as_string};

/// The bytes of a workload's writes.
///
/// [`Content::Entropy`] and [`Content::Compressible`] are two different things. `entropy:4` draws every byte
/// alone: an entropy coder (Huffman, FSE) halves it, while a pure LZ coder such as LZ4 finds only what
/// chance repeats. `compressible:2` repeats itself at a distance: an LZ coder halves it, while the frequencies of
/// its bytes are even (close to 8 bits per byte) and an order-0 entropy coder alone gains nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Content {
    /// Nothing but zero bytes; drives and filesystems may store none of them.
    Zeros,
    /// Incompressible and without repetition, so that nothing is saved by compression or deduplication.
    Random,
    /// Independent bytes of a wanted order-0 entropy.
    Entropy {
        /// Bits per byte, 0 to 8.
        bits_per_byte: f64,
    },
    /// Bytes that an LZ compressor shrinks by a wanted ratio, in chunks of 4 KiB and more.
    ///
    /// Nothing repeats from one 4 KiB granule to the next, so the ratio does not grow with the chunk and
    /// deduplication saves nothing. Measured with zstd -1 and LZ4 in chunks of 4 KiB to 1 MiB, the
    /// ratio is within 5 % of the one wanted up to 16, and within 25 % up to 64.
    Compressible {
        /// Uncompressed ÷ compressed, 1 to 64.
        ratio: f64,
    },
}

const ACCEPTED: &str = "`zeros`, `random`, `entropy:BITS` with 0 to 8 bits per byte (entropy:4) or \
                        `compressible:RATIO` with a ratio of 1 to 64 (compressible:2)";

impl Content {
    /// The highest ratio that [`Content::Compressible`] takes: above it, what a compressor adds to each
    /// chunk outweighs what is in it.
    pub const MAX_RATIO: f64 = 64.0;

    /// A source of such bytes. Streams of different seeds have nothing in common.
    pub fn filler(&self, seed: Seed) -> Filler {
        Filler::new(*self, seed)
    }
}

impl FromStr for Content {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "content",
            accepted: ACCEPTED,
            seen: text,
        };
        match form_and_argument(text) {
            ("zeros", None) => Ok(Self::Zeros),
            ("random", None) => Ok(Self::Random),
            ("entropy", Some(argument)) => {
                let bits_per_byte = spelling.number(argument)?;
                if !(0.0..=8.0).contains(&bits_per_byte) {
                    return Err(spelling.out_of_range("a byte carries 0 to 8 bits"));
                }
                Ok(Self::Entropy { bits_per_byte })
            }
            ("compressible", Some(argument)) => {
                let ratio = spelling.number(argument)?;
                if !(1.0..=Self::MAX_RATIO).contains(&ratio) {
                    return Err(spelling.out_of_range(format!(
                        "the ratio of uncompressed to compressed size must be 1 to {}; for no bytes at all write `zeros`",
                        Self::MAX_RATIO
                    )));
                }
                Ok(Self::Compressible { ratio })
            }
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zeros => f.write_str("zeros"),
            Self::Random => f.write_str("random"),
            Self::Entropy { bits_per_byte } => write!(f, "entropy:{bits_per_byte}"),
            Self::Compressible { ratio } => write!(f, "compressible:{ratio}"),
        }
    }
}

spelled_as_string!(Content);
