//! What a workload's generators will really do, found by running them: the numbers behind a spelling.

use std::collections::BTreeMap;

use outcrop_measure::seed::Seed;

use crate::access_pattern::AccessPattern;
use crate::arrival::Arrival;
use crate::block_indexes::BlockSpace;
use crate::content::Content;
use crate::error::WorkloadError;
use crate::mix::ReadWriteMix;

/// A workload as plans and flags give it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Where.
    pub access_pattern: AccessPattern,
    /// Reads and writes.
    pub read_write_mix: ReadWriteMix,
    /// When.
    pub arrival: Arrival,
    /// Which bytes.
    pub content: Content,
    /// Over which blocks.
    pub space: BlockSpace,
}

/// What [`Workload::describe`] found in a sample of operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Operations drawn.
    pub operation_count: u64,
    /// Byte offsets of the first operations.
    pub first_offsets_bytes: Vec<u64>,
    /// Blocks visited at least once, of those in the space.
    pub distinct_block_count: u64,
    /// Share of the operations that went to the most visited 1 % of the space's blocks.
    pub hottest_percent_share: f64,
    /// Share of the operations that went to the most visited 10 % of the space's blocks.
    pub hottest_tenth_share: f64,
    /// Share of reads.
    pub read_share: f64,
    /// Intended starts of the first operations, nanoseconds from the start; none for a closed loop.
    pub first_starts_ns: Option<Vec<u64>>,
    /// Mean rate of the sampled schedule, operations per second; none for a closed loop.
    pub rate_per_second: Option<f64>,
    /// Order-0 entropy of a mebibyte of content, bits per byte.
    pub content_entropy_bits: f64,
}

/// Operations shown one by one.
const SHOWN: usize = 8;

impl Workload {
    /// Draws `operation_count` operations and counts what they are.
    ///
    /// *Cost*: linear in the count; memory grows with the distinct blocks visited.
    ///
    /// # Errors
    /// When pattern and space do not go together (see [`AccessPattern::blocks`]).
    pub fn describe(&self, operation_count: u64, seed: Seed) -> Result<Description, WorkloadError> {
        let mut blocks = self.access_pattern.blocks(self.space, 0, 1, seed)?;
        let mut operations = self.read_write_mix.operations(seed);
        let mut visits: BTreeMap<u64, u64> = BTreeMap::new();
        let mut first_offsets_bytes = Vec::new();
        let mut reads = 0u64;
        for _ in 0..operation_count {
            let block = blocks.next_block();
            *visits.entry(block).or_default() += 1;
            reads += u64::from(operations.next_is_read());
            if first_offsets_bytes.len() < SHOWN {
                first_offsets_bytes.push(block * self.space.block_size_bytes);
            }
        }
        let mut counts: Vec<u64> = visits.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let share_of_hottest = |parts: u64| {
            let hottest = self.space.block_count.div_ceil(parts) as usize;
            counts.iter().take(hottest).sum::<u64>() as f64 / operation_count.max(1) as f64
        };
        let starts: Option<Vec<u64>> = self
            .arrival
            .schedule(seed)
            .map(|schedule| schedule.take(operation_count as usize).collect());
        Ok(Description {
            operation_count,
            first_offsets_bytes,
            distinct_block_count: counts.len() as u64,
            hottest_percent_share: share_of_hottest(100),
            hottest_tenth_share: share_of_hottest(10),
            read_share: reads as f64 / operation_count.max(1) as f64,
            rate_per_second: starts.as_deref().and_then(mean_rate),
            first_starts_ns: starts.map(|starts| starts.into_iter().take(SHOWN).collect()),
            content_entropy_bits: order_0_entropy(&self.content, seed),
        })
    }
}

/// Operations per second between the first and the last intended start.
fn mean_rate(starts_ns: &[u64]) -> Option<f64> {
    let (first, last) = (starts_ns.first()?, starts_ns.last()?);
    (last > first).then(|| (starts_ns.len() - 1) as f64 * 1e9 / (last - first) as f64)
}

fn order_0_entropy(content: &Content, seed: Seed) -> f64 {
    let mut bytes = vec![0u8; 1 << 20];
    content.filler(seed).fill(&mut bytes);
    let mut counts = [0u64; 256];
    for byte in &bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total = bytes.len() as f64;
    let bits = |count: &u64| {
        let share = *count as f64 / total;
        -share * share.log2()
    };
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(bits)
        .sum::<f64>()
        .max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(pattern: &str) -> Workload {
        Workload {
            access_pattern: pattern.parse().unwrap(),
            read_write_mix: "70:30".parse().unwrap(),
            arrival: "constant:1000".parse().unwrap(),
            content: "zeros".parse().unwrap(),
            space: BlockSpace {
                block_count: 1000,
                block_size_bytes: 4096,
            },
        }
    }

    #[test]
    fn a_sequential_pass_visits_every_block_once_and_favours_none() {
        let found = workload("sequential").describe(1000, Seed(1)).unwrap();
        assert_eq!(found.distinct_block_count, 1000);
        assert_eq!(found.hottest_percent_share, 0.01);
        assert_eq!(found.first_offsets_bytes[..3], [0, 4096, 8192]);
    }

    #[test]
    fn skew_shows_in_the_share_of_the_hottest_blocks() {
        let flat = workload("random").describe(20_000, Seed(1)).unwrap();
        let steep = workload("zipfian:0.99").describe(20_000, Seed(1)).unwrap();
        assert!(steep.hottest_percent_share > 5.0 * flat.hottest_percent_share);
    }

    #[test]
    fn mix_rate_and_entropy_are_those_that_were_asked_for() {
        let found = workload("random").describe(20_000, Seed(1)).unwrap();
        assert!((found.read_share - 0.7).abs() < 0.02);
        assert!((found.rate_per_second.unwrap() - 1000.0).abs() < 1e-6);
        assert_eq!(found.content_entropy_bits, 0.0);
    }

    #[test]
    fn nothing_drawn_describes_nothing() {
        let found = workload("random").describe(0, Seed(1)).unwrap();
        assert_eq!((found.distinct_block_count, found.rate_per_second), (0, None));
    }
}
