//! How small blocks become: every one compressed, decompressed and compared, and its length kept.

use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_codec::{BlockCodec, CodecSpec, Coder, ContextUse};
use outcrop_measure::percentile::rank;

use crate::blocks::Blocks;
use crate::confidence::{self, Cluster, NoInterval, RatioInterval};
use crate::cpus::allowed_cpus;
use crate::error::CompressError;
use crate::groups::{self, Groups};

/// What every block became.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeReport {
    /// Uncompressed bytes of all blocks.
    pub uncompressed_bytes: u64,
    /// Compressed bytes of all blocks.
    pub compressed_bytes: u64,
    /// Compressed length of each block, in their order.
    pub lengths: Vec<u32>,
    /// 95 % interval of the ratio of all the data, or why the sample supports none.
    pub interval: Result<RatioInterval, NoInterval>,
    /// Compressed bytes of [`GROUPS`](crate::GROUPS) random groups of clusters, the same clusters for every codec; none where the data are
    /// all taken, or where the sample supports no interval or too few of its clusters differ.
    pub groups: Option<Groups>,
    /// The most memory that one thread's contexts took for any block, where the library tells. A library may give memory back between
    /// blocks, so what it holds at one moment depends on which block came last.
    pub context_bytes: Option<usize>,
    /// Mean order-0 entropy of the blocks, in bits per byte.
    pub entropy_bits_per_byte: f64,
    /// Ratio of each block, ascending.
    ratios: Vec<f64>,
}

impl SizeReport {
    /// Compresses and verifies every block, on all CPUs that this process may use.
    ///
    /// # Errors
    /// When the codec fails or gives back other bytes, or `stop` is raised.
    pub fn measure(
        blocks: &Blocks<'_>,
        codec: &CodecSpec,
        context: ContextUse,
        stop: &AtomicBool,
    ) -> Result<Self, CompressError> {
        let count = blocks.as_slice().len();
        let workers = allowed_cpus().map_or(1, |cpus| cpus.len()).clamp(1, count.max(1));
        let share = count.div_ceil(workers).max(1);
        let mut outcomes = vec![Outcome::default(); count];
        std::thread::scope(|scope| {
            let handles: Vec<_> = outcomes
                .chunks_mut(share)
                .enumerate()
                .map(|(worker, outcomes)| {
                    scope.spawn(move || verify(blocks, worker * share, outcomes, codec, context, stop))
                })
                .collect();
            // A panic in a worker is a bug, and goes on as one.
            handles.into_iter().try_for_each(|handle| {
                handle
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        Ok(Self::of(blocks, &outcomes))
    }

    fn of(blocks: &Blocks<'_>, outcomes: &[Outcome]) -> Self {
        let mut ratios: Vec<f64> = blocks
            .as_slice()
            .iter()
            .zip(outcomes)
            .map(|(block, outcome)| block.bytes.len() as f64 / f64::from(outcome.length))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let clusters = clusters(blocks, outcomes);
        let interval = interval(blocks, &clusters);
        let is_drawn = clusters.len() as u64 != population(blocks);
        Self {
            uncompressed_bytes: blocks.total_bytes() as u64,
            compressed_bytes: outcomes.iter().map(|outcome| u64::from(outcome.length)).sum(),
            lengths: outcomes.iter().map(|outcome| outcome.length).collect(),
            groups: (is_drawn && interval.is_ok() && groups::show_the_spread(&clusters))
                .then(|| groups::of(&clusters)),
            interval,
            context_bytes: outcomes.iter().filter_map(|outcome| outcome.context_bytes).max(),
            entropy_bits_per_byte: blocks.mean_entropy(),
            ratios,
        }
    }

    /// Uncompressed ÷ compressed.
    pub fn ratio(&self) -> f64 {
        self.uncompressed_bytes as f64 / self.compressed_bytes as f64
    }

    /// The smallest ratio that at least `percent` of the blocks do not exceed; none for fewer than 10 blocks,
    /// or 100 where less than a tenth lies on one side of it.
    pub fn block_ratio(&self, percent: u8) -> Option<f64> {
        let least = if (10..=90).contains(&percent) { 10 } else { 100 };
        let count = self.ratios.len();
        if count < least {
            return None;
        }
        let rank = rank(count as u64, f64::from(percent) / 100.0);
        self.ratios.get(rank as usize - 1).copied()
    }
}

/// What one block became.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    length: u32,
    context_bytes: Option<usize>,
}

fn verify(
    blocks: &Blocks<'_>,
    first: usize,
    outcomes: &mut [Outcome],
    codec: &CodecSpec,
    context: ContextUse,
    stop: &AtomicBool,
) -> Result<(), CompressError> {
    let mut coder = Coder::open(codec, context)?;
    let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
    for (index, outcome) in (first..).zip(outcomes) {
        if stop.load(Ordering::Relaxed) {
            return Err(CompressError::Interrupted);
        }
        let source = blocks.as_slice()[index].bytes;
        packed.resize(coder.compressed_bound(source.len()), 0);
        unpacked.clear();
        unpacked.resize(source.len(), 0);
        let failed = |source| CompressError::Codec {
            origin: blocks.origin(index),
            source,
        };
        let length = coder.compress(source, &mut packed).map_err(failed)?;
        let compressing = coder.context_bytes();
        coder
            .decompress(&packed[..length], &mut unpacked)
            .map_err(failed)?;
        if unpacked != source {
            return Err(CompressError::Mismatch {
                codec: codec.to_string(),
                origin: blocks.origin(index),
                block_bytes: source.len(),
            });
        }
        *outcome = Outcome {
            length: length as u32,
            // Contexts made for one direction and block do not live side by side.
            context_bytes: compressing.max(coder.context_bytes()),
        };
    }
    Ok(())
}

/// Blocks of one piece form a cluster.
fn clusters(blocks: &Blocks<'_>, outcomes: &[Outcome]) -> Vec<Cluster> {
    let mut clusters = vec![(0.0, 0.0); blocks.sample().pieces().len()];
    for (block, outcome) in blocks.as_slice().iter().zip(outcomes) {
        let cluster = &mut clusters[block.piece];
        cluster.0 += block.bytes.len() as f64;
        cluster.1 += f64::from(outcome.length);
    }
    clusters
}

/// How many clusters all the data have.
fn population(blocks: &Blocks<'_>) -> u64 {
    let sample = blocks.sample();
    if sample.bytes().len() as u64 >= sample.data_bytes() {
        sample.pieces().len() as u64
    } else {
        sample.data_clusters()
    }
}

/// The interval of the ratio of all the data.
fn interval(blocks: &Blocks<'_>, clusters: &[Cluster]) -> Result<RatioInterval, NoInterval> {
    let population = population(blocks);
    if blocks.are_chosen() && population > clusters.len() as u64 {
        return Err(NoInterval::Chosen);
    }
    confidence::interval(clusters, population)
}
