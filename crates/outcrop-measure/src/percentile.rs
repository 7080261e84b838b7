//! Which percentiles a number of samples can support, and the list that every report prints.

/// A percentile with the name that tables print.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// `p99.9`.
    pub name: &'static str,
    /// The same as it stands in a metric's name, where a point is not allowed: `p99_9`.
    pub identifier: &'static str,
    /// The fraction at or below it: 0.999.
    pub quantile: f64,
}

/// The percentiles of every report, ascending.
pub const STANDARD: [Percentile; 6] = [
    Percentile {
        name: "p50",
        identifier: "p50",
        quantile: 0.5,
    },
    Percentile {
        name: "p90",
        identifier: "p90",
        quantile: 0.9,
    },
    Percentile {
        name: "p95",
        identifier: "p95",
        quantile: 0.95,
    },
    Percentile {
        name: "p99",
        identifier: "p99",
        quantile: 0.99,
    },
    Percentile {
        name: "p99.9",
        identifier: "p99_9",
        quantile: 0.999,
    },
    Percentile {
        name: "p99.99",
        identifier: "p99_99",
        quantile: 0.9999,
    },
];

/// The one that limits and comparisons ask for.
pub const P99: Percentile = STANDARD[3];

/// How many samples must lie above a quantile before it is given.
///
/// With ten, the number above has a relative standard deviation of about 1/√10 ≈ 32 %: enough to place the
/// quantile within its neighbours, where one or two would make it the luck of a single operation.
pub const SAMPLES_ABOVE: f64 = 10.0;

/// Whether `sample_count` samples support the quantile `quantile`: n(1−q) ≥ 10.
pub fn is_supported(sample_count: u64, quantile: f64) -> bool {
    // 1 − 0.9 is a hair below 0.1; the slack keeps n = 100 on the right side for p90.
    const SLACK: f64 = 1e-9;
    (0.0..1.0).contains(&quantile) && sample_count as f64 * (1.0 - quantile) >= SAMPLES_ABOVE * (1.0 - SLACK)
}

/// How many samples the quantile needs: the fewest that support it.
pub fn needed(quantile: f64) -> u64 {
    (SAMPLES_ABOVE / (1.0 - quantile)).round() as u64
}

/// Why so many operations give no such percentile: how many it needs is part of the reason.
pub fn too_few(count: u64, percentile: Percentile) -> String {
    let needed = needed(percentile.quantile);
    format!(
        "too few operations ({count} of at least {needed}) for a {}",
        percentile.name
    )
}

/// The 1-based rank of `quantile` among `sample_count` ordered samples: ⌈q·n⌉, at least 1 and at most n.
///
/// A product that misses a whole number only by rounding (0.07 × 100 = 7.000…1) counts as that number.
pub fn rank(sample_count: u64, quantile: f64) -> u64 {
    let exact = sample_count as f64 * quantile;
    let nearest = exact.round();
    let is_whole = (exact - nearest).abs() <= nearest * 4.0 * f64::EPSILON;
    let rank = if is_whole { nearest } else { exact.ceil() };
    // The cast saturates, and turns a NaN into 0, which the clamp makes the first.
    (rank as u64).clamp(1, sample_count.max(1))
}
