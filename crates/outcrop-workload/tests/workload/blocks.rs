//! Access patterns: bounds, coverage and distribution.

use outcrop_measure::{ByteSize, Seed};
use outcrop_workload::{AccessPattern, BlockIndexes, BlockSpace, WorkloadError};
use proptest::prelude::*;

use crate::statistics::{chi_square, chi_square_limit};

const BLOCK_SIZE_BYTES: u64 = 4096;

fn space(block_count: u64) -> BlockSpace {
    BlockSpace {
        block_count,
        block_size_bytes: BLOCK_SIZE_BYTES,
    }
}

fn blocks(pattern: &str, block_count: u64, seed: u64) -> BlockIndexes {
    pattern
        .parse::<AccessPattern>()
        .unwrap()
        .blocks(space(block_count), 0, 1, Seed(seed))
        .unwrap()
}

fn frequencies(indexes: BlockIndexes, block_count: u64, draws: usize) -> Vec<u64> {
    let mut seen = vec![0; block_count as usize];
    for block in indexes.take(draws) {
        seen[block as usize] += 1;
    }
    seen
}

fn any_pattern() -> impl Strategy<Value = AccessPattern> {
    prop_oneof![
        Just(AccessPattern::Sequential),
        Just(AccessPattern::Random),
        (1e-6..=AccessPattern::MAX_THETA).prop_map(|theta| AccessPattern::Zipfian { theta }),
        (0.999_999..1.000_001).prop_map(|theta| AccessPattern::Zipfian { theta }),
        (1..u64::MAX / BLOCK_SIZE_BYTES).prop_map(|blocks| AccessPattern::Strided {
            stride: ByteSize(blocks * BLOCK_SIZE_BYTES)
        }),
        (1..64_u64).prop_map(|blocks| AccessPattern::Strided {
            stride: ByteSize(blocks * BLOCK_SIZE_BYTES)
        }),
    ]
}

fn any_block_count() -> impl Strategy<Value = u64> {
    prop_oneof![1..5_u64, 1..100_000_u64, 1..=1_u64 << 52, Just(u64::MAX)]
}

proptest! {
    #[test]
    fn no_index_is_outside_the_space(
        pattern in any_pattern(),
        block_count in any_block_count(),
        job_count in 1..=u32::MAX,
        job in any::<u32>(),
        seed in any::<u64>(),
    ) {
        let indexes = pattern.blocks(space(block_count), job % job_count, job_count, Seed(seed)).unwrap();
        for block in indexes.take(500) {
            prop_assert!(block < block_count);
        }
    }

    #[test]
    fn sequential_and_strided_passes_visit_every_block_once(
        block_count in 1..3000_u64,
        stride_blocks in 1..4000_u64,
        job_count in 1..9_u32,
        sequential in any::<bool>(),
    ) {
        let stride = ByteSize(stride_blocks * BLOCK_SIZE_BYTES);
        let pattern = if sequential { AccessPattern::Sequential } else { AccessPattern::Strided { stride } };
        for job in 0..job_count {
            let mut indexes = pattern.blocks(space(block_count), job, job_count, Seed(1)).unwrap();
            // A strided job that starts inside a lane completes that lane in its second pass.
            let passes = if sequential { 1 } else { 2 };
            let seen = frequencies(indexes.clone(), block_count, (passes * block_count) as usize);
            prop_assert!(seen.iter().all(|&visits| visits >= 1));
            if sequential || job == 0 {
                let mut pass: Vec<u64> = indexes.by_ref().take(block_count as usize).collect();
                pass.sort_unstable();
                prop_assert_eq!(pass, (0..block_count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_blocks(pattern in any_pattern(), seed in any::<u64>()) {
        let make = || pattern.blocks(space(1 << 30), 1, 3, Seed(seed)).unwrap();
        prop_assert!(make().take(100).eq(make().take(100)));
    }
}

#[test]
fn sequential_jobs_start_evenly_spaced_and_ascend() {
    let first_two = |job| {
        let mut indexes = AccessPattern::Sequential
            .blocks(space(1000), job, 4, Seed(0))
            .unwrap();
        (indexes.next_block(), indexes.next_block())
    };
    assert_eq!(
        [0, 1, 2, 3].map(first_two),
        [(0, 1), (250, 251), (500, 501), (750, 751)]
    );
}

#[test]
fn a_stride_skips_and_then_comes_back_one_block_further() {
    let visited: Vec<u64> = blocks("strided:12KiB", 8, 0).take(10).collect();
    assert_eq!(visited, [0, 3, 6, 1, 4, 7, 2, 5, 0, 3]);
}

#[test]
fn random_blocks_are_uniform() {
    let block_count = 1000;
    let draws = 200_000;
    let seen = frequencies(blocks("random", block_count, 42), block_count, draws);
    let expected = vec![draws as f64 / block_count as f64; block_count as usize];
    assert!(chi_square(&seen, &expected) < chi_square_limit(block_count as f64 - 1.0));
}

#[test]
fn zipfian_frequencies_by_rank_are_the_analytic_ones() {
    for theta in [0.5, 0.99, 1.0, 1.2, 2.0] {
        let block_count = 500_u64;
        let draws = 400_000;
        let mut seen = frequencies(
            blocks(&format!("zipfian:{theta}"), block_count, 5),
            block_count,
            draws,
        );
        seen.sort_unstable_by(|a, b| b.cmp(a));
        let weights: Vec<f64> = (1..=block_count).map(|rank| (rank as f64).powf(-theta)).collect();
        let total: f64 = weights.iter().sum();
        // Sorting by what was seen is the order of ranks only while neighbours differ by more than chance:
        // compare the head rank by rank, and the rest as a whole.
        let head = 8;
        let mut observed = seen[..head].to_vec();
        observed.push(seen[head..].iter().sum());
        let mut expected: Vec<f64> = weights[..head]
            .iter()
            .map(|weight| weight / total * draws as f64)
            .collect();
        expected.push(draws as f64 - expected.iter().sum::<f64>());
        let statistic = chi_square(&observed, &expected);
        assert!(
            statistic < chi_square_limit(head as f64),
            "theta {theta}: {statistic}, {observed:?} {expected:?}"
        );
    }
}

#[test]
fn hot_blocks_of_a_zipfian_pattern_are_scattered_and_the_same_for_every_job() {
    let block_count = 1 << 16;
    let hottest = |job| {
        let pattern: AccessPattern = "zipfian:1.2".parse().unwrap();
        let indexes = pattern.blocks(space(block_count), job, 2, Seed(9)).unwrap();
        let seen = frequencies(indexes, block_count, 100_000);
        let mut ranked: Vec<u64> = (0..block_count).collect();
        ranked.sort_by_key(|&block| std::cmp::Reverse(seen[block as usize]));
        ranked.truncate(4);
        ranked
    };
    let (of_first_job, of_second_job) = (hottest(0), hottest(1));
    assert_eq!(of_first_job, of_second_job);
    for pair in of_first_job.windows(2) {
        assert!(pair[0].abs_diff(pair[1]) > 64, "{of_first_job:?}");
    }
}

#[test]
fn jobs_draw_different_blocks_from_one_seed() {
    for pattern in ["random", "zipfian:0.5"] {
        let pattern: AccessPattern = pattern.parse().unwrap();
        let of_job = |job| {
            pattern
                .blocks(space(1 << 30), job, 2, Seed(3))
                .unwrap()
                .take(20)
                .collect::<Vec<_>>()
        };
        assert_ne!(of_job(0), of_job(1));
    }
}

#[test]
fn impossible_walks_are_refused_with_what_to_do() {
    let refusal = |pattern: &str, space: BlockSpace, job: u32, jobs: u32| {
        pattern
            .parse::<AccessPattern>()
            .unwrap()
            .blocks(space, job, jobs, Seed(0))
            .unwrap_err()
    };
    let empty = refusal("random", BlockSpace::of_span(4095, 4096), 0, 1);
    assert_eq!(
        empty,
        WorkloadError::EmptySpace {
            block_size_bytes: 4096
        }
    );
    assert!(matches!(
        refusal("random", BlockSpace::of_span(1, 0), 0, 1),
        WorkloadError::EmptySpace { .. }
    ));
    assert!(
        refusal("strided:6KiB", space(10), 0, 1)
            .to_string()
            .contains("not a multiple")
    );
    assert!(matches!(
        refusal("random", space(10), 2, 2),
        WorkloadError::NoSuchJob { .. }
    ));
    assert!(matches!(
        refusal("random", space(10), 0, 0),
        WorkloadError::NoSuchJob { .. }
    ));
}
