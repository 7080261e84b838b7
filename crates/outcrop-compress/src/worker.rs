//! One thread's share: its blocks, its contexts, its buffers, and the loops that are timed.

use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_codec::{BlockCodec, CodecError, CodecSpec, Coder, ContextUse};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_probe::Clock;

use crate::blocks::Blocks;
use crate::caches::Evictor;
use crate::error::CompressError;

/// Which way blocks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Compress,
    Decompress,
}

/// What happens around each block. The loops are compiled for each kind: watching nothing costs nothing.
pub(crate) trait Watch: Send {
    fn before(&mut self, source: &[u8], target: &[u8]);
    fn after(&mut self);
}

/// Watches nothing: for speed.
pub(crate) struct Nothing;

impl Watch for Nothing {
    #[inline(always)]
    fn before(&mut self, _: &[u8], _: &[u8]) {}
    #[inline(always)]
    fn after(&mut self) {}
}

/// Times each block, after making the caches cold where there is an evictor.
pub(crate) struct Stopwatch<'c> {
    clock: &'c Clock,
    evictor: Option<Evictor>,
    started: u64,
    pub(crate) histogram: LatencyHistogram,
}

impl<'c> Stopwatch<'c> {
    pub(crate) fn new(clock: &'c Clock, evictor: Option<Evictor>) -> Self {
        Self {
            clock,
            evictor,
            started: 0,
            histogram: LatencyHistogram::new(),
        }
    }
}

impl Watch for Stopwatch<'_> {
    #[inline(always)]
    fn before(&mut self, source: &[u8], target: &[u8]) {
        if let Some(evictor) = &self.evictor {
            evictor.evict(source, &target[..target.len().min(source.len())]);
        }
        self.started = self.clock.ticks();
    }

    #[inline(always)]
    fn after(&mut self) {
        let ticks = self.clock.ticks().saturating_sub(self.started);
        self.histogram.record(self.clock.nanos(ticks));
    }
}

/// A pass over a share, or the part of it before the phase ended.
pub(crate) struct Pass {
    /// Uncompressed bytes.
    pub(crate) bytes: u64,
    pub(crate) is_whole: bool,
}

/// One thread's share of the blocks.
pub(crate) struct Worker<'s> {
    pub(crate) cpu: usize,
    codec: Box<dyn BlockCodec>,
    /// Indices among all blocks, for messages.
    indices: Vec<usize>,
    sources: Vec<&'s [u8]>,
    /// Compressed blocks, one behind the other.
    packed: Vec<u8>,
    lengths: Vec<u32>,
    /// Decompressed blocks, one behind the other.
    unpacked: Vec<u8>,
    /// Whether the last pass was a whole one.
    is_whole: bool,
    /// Uncompressed bytes of all passes so far, timed or not.
    passed_bytes: u64,
}

impl<'s> Worker<'s> {
    /// Opens the codec and touches every page of the buffers, so that no phase pays for the kernel's.
    pub(crate) fn new(
        cpu: usize,
        spec: &CodecSpec,
        context: ContextUse,
        blocks: &Blocks<'s>,
        indices: Vec<usize>,
    ) -> Result<Self, CompressError> {
        let codec: Box<dyn BlockCodec> = match context {
            ContextUse::Reused => spec.open()?,
            ContextUse::Fresh | ContextUse::InPages => Box::new(Coder::open(spec, context)?),
        };
        let sources: Vec<&[u8]> = indices
            .iter()
            .map(|&index| blocks.as_slice()[index].bytes)
            .collect();
        let bound = sources
            .iter()
            .map(|source| codec.compressed_bound(source.len()))
            .sum();
        let total = sources.iter().map(|source| source.len()).sum();
        Ok(Self {
            cpu,
            codec,
            lengths: vec![0; sources.len()],
            packed: vec![1; bound],
            unpacked: vec![1; total],
            sources,
            indices,
            is_whole: false,
            passed_bytes: 0,
        })
    }

    /// One pass over the share, left early when `halt` is raised.
    pub(crate) fn pass<W: Watch>(
        &mut self,
        direction: Direction,
        watch: &mut W,
        halt: &AtomicBool,
    ) -> Result<Pass, (usize, CodecError)> {
        let pass = match direction {
            Direction::Compress => self.compress(watch, halt),
            Direction::Decompress => self.decompress(watch, halt),
        };
        self.is_whole = pass.as_ref().is_ok_and(|pass| pass.is_whole);
        self.passed_bytes += pass.as_ref().map_or(0, |pass| pass.bytes);
        pass
    }

    /// Whether the buffers hold the output of one whole pass.
    pub(crate) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn compress<W: Watch>(&mut self, watch: &mut W, halt: &AtomicBool) -> Result<Pass, (usize, CodecError)> {
        let codec = self.codec.as_mut();
        let mut rest = self.packed.as_mut_slice();
        let mut bytes = 0;
        for (slot, (source, length)) in self.sources.iter().zip(&mut self.lengths).enumerate() {
            if halt.load(Ordering::Relaxed) {
                return Ok(Pass {
                    bytes,
                    is_whole: false,
                });
            }
            watch.before(source, rest);
            let written = codec.compress(source, rest).map_err(|error| (slot, error))?;
            watch.after();
            *length = written as u32;
            rest = &mut rest[written..];
            bytes += source.len() as u64;
        }
        Ok(Pass {
            bytes,
            is_whole: true,
        })
    }

    fn decompress<W: Watch>(
        &mut self,
        watch: &mut W,
        halt: &AtomicBool,
    ) -> Result<Pass, (usize, CodecError)> {
        let codec = self.codec.as_mut();
        let mut packed = self.packed.as_slice();
        let mut unpacked = self.unpacked.as_mut_slice();
        let mut bytes = 0;
        for (slot, (source, length)) in self.sources.iter().zip(&self.lengths).enumerate() {
            if halt.load(Ordering::Relaxed) {
                return Ok(Pass {
                    bytes,
                    is_whole: false,
                });
            }
            let (block, behind) = packed.split_at(*length as usize);
            let (target, rest) = unpacked.split_at_mut(source.len());
            watch.before(block, target);
            codec.decompress(block, target).map_err(|error| (slot, error))?;
            watch.after();
            (packed, unpacked) = (behind, rest);
            bytes += source.len() as u64;
        }
        Ok(Pass {
            bytes,
            is_whole: true,
        })
    }

    /// Wraps a codec's error with the block that it failed on.
    pub(crate) fn failed(&self, blocks: &Blocks<'_>, (slot, source): (usize, CodecError)) -> CompressError {
        CompressError::Codec {
            origin: blocks.origin(self.indices[slot]),
            source,
        }
    }

    /// Holds what the timed phases left in the buffers against the blocks and the lengths verified before.
    pub(crate) fn check(
        &self,
        blocks: &Blocks<'_>,
        spec: &CodecSpec,
        verified: &[u32],
    ) -> Result<(), CompressError> {
        let mut unpacked = self.unpacked.as_slice();
        for ((&index, source), &length) in self.indices.iter().zip(&self.sources).zip(&self.lengths) {
            let (block, rest) = unpacked.split_at(source.len());
            unpacked = rest;
            if length != verified[index] {
                return Err(CompressError::NotRepeatable {
                    codec: spec.to_string(),
                    origin: blocks.origin(index),
                    now_bytes: length as usize,
                    before_bytes: verified[index] as usize,
                });
            }
            if block != *source {
                return Err(CompressError::Mismatch {
                    codec: spec.to_string(),
                    origin: blocks.origin(index),
                    block_bytes: source.len(),
                });
            }
        }
        Ok(())
    }

    /// Uncompressed bytes of all passes so far: warming up and completing output included.
    pub(crate) const fn passed_bytes(&self) -> u64 {
        self.passed_bytes
    }
}
