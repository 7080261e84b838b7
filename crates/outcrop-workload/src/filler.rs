//! Fills buffers with the bytes that a [`Content`] describes.

use outcrop_measure::seed::{Generator, Seed};
use rand::Rng;

use crate::byte_distribution::ByteDistribution;
use crate::content::Content;
use crate::granule::Granule;

/// An endless stream of bytes; each call continues where the last one ended.
#[derive(Clone, Debug)]
pub struct Filler {
    draws: Generator,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Zeros,
    Random,
    Entropy(ByteDistribution),
    Compressible(Granule),
}

impl Filler {
    pub(crate) fn new(content: Content, seed: Seed) -> Self {
        let source = match content {
            Content::Zeros => Source::Zeros,
            Content::Random => Source::Random,
            Content::Entropy { bits_per_byte } => {
                Source::Entropy(ByteDistribution::of_entropy(bits_per_byte))
            }
            Content::Compressible { ratio } => Source::Compressible(Granule::of_ratio(ratio)),
        };
        Self {
            draws: seed.rng(),
            source,
        }
    }

    /// Overwrites the whole buffer.
    ///
    /// For one seed and one sequence of buffer lengths, the same bytes on every machine; all contents but
    /// [`Content::Random`] and [`Content::Entropy`] are also independent of how the stream is cut.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        match &mut self.source {
            Source::Zeros => buffer.fill(0),
            Source::Random => self.draws.fill_bytes(buffer),
            Source::Entropy(distribution) => distribution.fill(buffer, &mut self.draws),
            Source::Compressible(granule) => granule.fill(buffer, &mut self.draws),
        }
    }
}
