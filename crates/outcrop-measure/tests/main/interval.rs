//! Medians against counting, and their intervals against the coverage that they promise.

use outcrop_measure::Seed;
use outcrop_measure::interval::{median, median_interval, summarise};
use outcrop_measure::seed::Generator;
use proptest::prelude::*;
use rand::Rng;

/// The median by counting how many samples are below and above.
fn naive_median(samples: &[f64]) -> f64 {
    let n = samples.len();
    let has_rank = |value: f64, rank: usize| {
        let below = samples.iter().filter(|other| **other < value).count();
        let equal = samples.iter().filter(|other| **other == value).count();
        (below..below + equal).contains(&rank)
    };
    let at = |rank| {
        samples
            .iter()
            .copied()
            .find(|value| has_rank(*value, rank))
            .expect("every rank is taken")
    };
    (at((n - 1) / 2) + at(n / 2)) / 2.0
}

fn normal(rng: &mut Generator) -> f64 {
    // Twelve uniforms: variance 1, mean 6 (Irwin and Hall).
    (0..12)
        .map(|_| rng.next_u64() as f64 / 2f64.powi(64))
        .sum::<f64>()
        - 6.0
}

#[test]
fn one_sample_has_no_interval_and_neither_has_what_is_not_a_number() {
    assert_eq!(median_interval(&[]), None);
    assert_eq!(median_interval(&[3.0]), None);
    assert_eq!(median_interval(&[3.0, f64::NAN, 4.0]), None);
    assert_eq!(summarise(&[]), None);
    assert_eq!(summarise(&[f64::NAN]), None);
    let single = summarise(&[3.0]).expect("one sample");
    assert_eq!((single.n, single.median, single.interval), (1, 3.0, None));
}

#[test]
fn up_to_five_samples_the_interval_is_their_range_with_its_true_coverage() {
    let samples = [10.0, 14.0, 11.0, 13.0, 12.0];
    for (n, coverage) in [(2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)] {
        let interval = median_interval(&samples[..n]).expect("two or more");
        assert_eq!((interval.low, interval.high), (10.0, 14.0));
        assert_eq!((interval.confidence, interval.n), (coverage, n));

        let mut rng = Seed(n as u64).rng();
        let covered = (0..20_000)
            .filter(|_| {
                let drawn: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
                median_interval(&drawn).expect("two or more").contains(0.0)
            })
            .count();
        // Four standard deviations of a proportion of 20,000 are below 0.015.
        assert!(
            (covered as f64 / 20_000.0 - coverage).abs() < 0.015,
            "{covered} for n = {n}"
        );
    }
}

#[test]
fn an_interval_of_six_samples_or_more_covers_the_median_at_least_as_often_as_it_says() {
    let mut rng = Seed(5).rng();
    for n in [6, 7, 8, 9, 11, 20, 30] {
        let covered = (0..4000)
            .filter(|_| {
                let drawn: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
                median_interval(&drawn).expect("six or more").contains(0.0)
            })
            .count();
        // Four standard deviations of a proportion of 4,000 are below 0.014; the widest of these has 98.5 %.
        assert!(
            (0.936..=0.999).contains(&(covered as f64 / 4000.0)),
            "{covered} of 4000 for n = {n}"
        );
    }
}

#[test]
fn the_interval_of_a_median_is_between_the_samples_that_the_tables_give() {
    // How many samples are cut off at each end for 95 %: the critical values of the sign test.
    for (n, cut) in [
        (5, 0),
        (6, 0),
        (8, 0),
        (9, 1),
        (11, 1),
        (12, 2),
        (15, 3),
        (20, 5),
        (25, 7),
        (80, 30),
    ] {
        let samples: Vec<f64> = (0..n).map(f64::from).collect();
        let interval = median_interval(&samples).expect("five or more");
        assert_eq!(
            (interval.low, interval.high),
            (f64::from(cut), f64::from(n - 1 - cut)),
            "{n}"
        );
    }
}

#[test]
fn widths_and_overlaps_are_those_of_the_ends() {
    let narrow = median_interval(&[99.0, 100.0, 101.0]).expect("three");
    let wide = median_interval(&[90.0, 100.0, 115.0]).expect("three");
    let apart = median_interval(&[116.0, 117.0]).expect("two");
    assert!((narrow.relative_reach() - 0.01).abs() < 1e-12 && !narrow.is_wide());
    assert!((wide.relative_reach() - 0.15).abs() < 1e-12 && wide.is_wide());
    assert!(narrow.overlaps(&wide) && wide.overlaps(&narrow));
    assert!(!wide.overlaps(&apart) && !apart.overlaps(&wide));
    let constant_zero = median_interval(&[0.0, 0.0]).expect("two");
    assert!(!constant_zero.is_wide());
    let around_zero = median_interval(&[-1.0, 1.0]).expect("two");
    assert!(around_zero.is_wide());
    // Half the width of a lopsided interval is less than it reaches.
    let lopsided = median_interval(&[100.0, 100.0, 107.0]).expect("three");
    assert!((lopsided.relative_reach() - 0.07).abs() < 1e-12 && lopsided.is_wide());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_summary_is_what_a_plain_loop_says(samples in prop::collection::vec(-1e6..1e6f64, 1..30)) {
        let summary = summarise(&samples).expect("finite samples");
        prop_assert_eq!(summary.n, samples.len());
        prop_assert_eq!(summary.median, naive_median(&samples));
        prop_assert_eq!(median(&samples), Some(summary.median));
        prop_assert!(samples.iter().all(|sample| (summary.min..=summary.max).contains(sample)));
        prop_assert!(samples.contains(&summary.min) && samples.contains(&summary.max));
        prop_assert!((summary.mean * samples.len() as f64 - samples.iter().rev().sum::<f64>()).abs() < 1e-3);
        if let Some(interval) = summary.interval {
            prop_assert!(interval.low <= interval.high);
            prop_assert!(summary.min <= interval.low && interval.high <= summary.max);
        }
        prop_assert_eq!(summarise(&samples), Some(summary));
    }
}
