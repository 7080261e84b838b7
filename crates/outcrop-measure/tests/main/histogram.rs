//! The histogram against the sorted vector of what was recorded.

use outcrop_measure::LatencyHistogram;
use outcrop_measure::percentile::{STANDARD, is_supported};
use proptest::prelude::*;

/// Latencies of every magnitude, with repetitions.
pub(crate) fn latencies(most: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(
        (any::<u64>(), 0..64u32).prop_map(|(value, shift)| value >> shift),
        1..most,
    )
}

pub(crate) fn recorded(latencies: &[u64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    for latency_ns in latencies {
        histogram.record(*latency_ns);
    }
    histogram
}

#[test]
fn an_empty_histogram_has_no_figures() {
    let histogram = LatencyHistogram::new();
    assert!(histogram.is_empty());
    assert_eq!(histogram.min(), None);
    assert_eq!(histogram.max(), None);
    assert_eq!(histogram.mean(), None);
    assert_eq!(histogram.quantile(0.5), None);
    assert_eq!(histogram.percentile(0.5), None);
    assert_eq!(histogram.totals(), None);
    assert_eq!(histogram.buckets().count(), 0);
    assert_eq!(histogram.ccdf().count(), 0);
}

#[test]
fn a_percentile_is_withheld_when_too_few_samples_support_it() {
    let first_supported = [20, 100, 200, 1_000, 10_000, 100_000];
    for (percentile, n) in STANDARD.iter().zip(first_supported) {
        assert!(
            !is_supported(n - 1, percentile.quantile),
            "{} of {}",
            percentile.name,
            n - 1
        );
        assert!(is_supported(n, percentile.quantile), "{} of {n}", percentile.name);
        let mut histogram = LatencyHistogram::new();
        histogram.record_many(1000, n - 1);
        assert_eq!(histogram.percentile(percentile.quantile), None);
        histogram.record(1000);
        assert_eq!(histogram.percentile(percentile.quantile), Some(1000));
    }
    assert!(!is_supported(u64::MAX, 1.0));
    assert!(!is_supported(u64::MAX, f64::NAN));
    assert!(!is_supported(u64::MAX, -0.1));
}

#[test]
fn every_octave_is_cut_into_64_equal_buckets_that_join_without_gaps() {
    let mut histogram = LatencyHistogram::new();
    for value in 0..128u64 {
        histogram.record(value);
    }
    for octave in 7..64u32 {
        for sub_bucket in 0..64u64 {
            histogram.record((64 + sub_bucket) << (octave - 6));
        }
    }
    let buckets: Vec<_> = histogram.buckets().collect();
    assert_eq!(buckets.len(), 128 + 57 * 64);
    assert!(buckets.iter().all(|bucket| bucket.count == 1));
    assert_eq!(
        (buckets[0].low_ns, buckets[buckets.len() - 1].high_ns),
        (0, u64::MAX)
    );
    assert!(
        buckets
            .windows(2)
            .all(|pair| pair[0].high_ns + 1 == pair[1].low_ns)
    );
    assert!(
        buckets
            .iter()
            .all(|bucket| bucket.high_ns - bucket.low_ns <= bucket.low_ns / 64)
    );
}

#[test]
fn counts_stop_at_their_limit_instead_of_wrapping() {
    let mut histogram = LatencyHistogram::new();
    histogram.record_many(5, u64::MAX);
    histogram.record_many(5, u64::MAX);
    let copy = histogram.clone();
    histogram.merge(&copy);
    assert_eq!(histogram.count(), (1 << 63) - 1);
    assert_eq!(histogram.quantile(0.5), Some(5));
}

proptest! {
    #[test]
    fn quantiles_are_those_of_the_sorted_vector_to_one_sixty_fourth(
        mut latencies in latencies(400),
        per_mille in 0..=1000u64,
    ) {
        let histogram = recorded(&latencies);
        latencies.sort_unstable();
        let n = latencies.len() as u64;
        let rank = (per_mille * n).div_ceil(1000).max(1);
        let exact = latencies[rank as usize - 1];
        let read = histogram.quantile(per_mille as f64 / 1000.0).expect("not empty");
        prop_assert!((exact..=exact.saturating_add(exact / 64)).contains(&read), "{read} for {exact}");
        if per_mille == 1000 {
            prop_assert_eq!(read, exact);
        }
    }

    #[test]
    fn totals_are_exact(latencies in latencies(200)) {
        let totals = recorded(&latencies).totals().expect("not empty");
        prop_assert_eq!(totals.count, latencies.len() as u64);
        prop_assert_eq!(Some(totals.min_ns), latencies.iter().min().copied());
        prop_assert_eq!(Some(totals.max_ns), latencies.iter().max().copied());
        let sum = latencies.iter().map(|latency| u128::from(*latency)).sum::<u128>();
        prop_assert_eq!(totals.sum_ns, sum);
        prop_assert_eq!(recorded(&latencies).mean(), Some(sum as f64 / latencies.len() as f64));
    }

    #[test]
    fn merging_is_recording_everything_in_one(parts in prop::collection::vec(latencies(60), 1..6)) {
        let mut merged = LatencyHistogram::new();
        for part in &parts {
            merged.merge(&recorded(part));
        }
        prop_assert_eq!(&merged, &recorded(&parts.concat()));
        merged.clear();
        prop_assert_eq!(merged, LatencyHistogram::new());
    }

    #[test]
    fn recording_many_is_recording_each(latency_ns in any::<u64>(), count in 0..50u64) {
        let mut many = LatencyHistogram::new();
        many.record_many(latency_ns, count);
        prop_assert_eq!(many, recorded(&vec![latency_ns; count as usize]));
    }

    #[test]
    fn every_value_lies_in_the_bucket_that_counts_it(value in any::<u64>(), shift in 0..64u32) {
        let value = value >> shift;
        let buckets: Vec<_> = recorded(&[value]).buckets().collect();
        prop_assert_eq!(buckets.len(), 1);
        prop_assert!((buckets[0].low_ns..=buckets[0].high_ns).contains(&value));
    }

    #[test]
    fn the_ccdf_counts_what_is_above_each_of_its_latencies(latencies in latencies(200)) {
        let n = latencies.len() as f64;
        let points: Vec<_> = recorded(&latencies).ccdf().collect();
        for point in &points {
            let above = latencies.iter().filter(|latency| **latency > point.latency_ns).count();
            prop_assert_eq!(point.fraction_above, above as f64 / n);
        }
        prop_assert!(points.windows(2).all(|pair| pair[0].latency_ns < pair[1].latency_ns));
        let last = points.last().expect("not empty");
        prop_assert_eq!((Some(last.latency_ns), last.fraction_above), (latencies.iter().max().copied(), 0.0));
    }
}
