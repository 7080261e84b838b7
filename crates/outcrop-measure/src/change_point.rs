//! Change points: where the level of a time series shifts for good, as when a device falls out of its write
//! cache or a neighbour wakes up.
//!
//! The series is cut where that lowers the squared deviation from the segments' means by more than each cut's
//! penalty, and the best set of cuts is found exactly.
//!
//! *Source*: Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE Signal Processing
//! Letters 12(2), 2005. (PELT, Killick et al., 2012, finds the same cuts in less time; series here are short.) Noise
//! from the median absolute difference of neighbours, which level shifts hardly touch. Isolated outliers are pulled in
//! with Hampel's filter (Pearson et al., "Generalized Hampel Filters", 2016) before cutting, because a spike is not a
//! level; the reported means are those of the series itself.

use serde::{Deserialize, Serialize};

use crate::interval::{mean, median};

/// Fewest values in a segment. With the filter's window of five, a burst of two is an outlier, of three a level.
pub const MIN_SEGMENT: usize = 3;
/// Penalty of a cut, in units of the noise variance times ln n. Schwarz's criterion charges 2 (position and level); 3
/// and the supplement for short series keep false cuts of pure normal noise to two series in a hundred or fewer
/// (simulated for n from 6 to 500).
const PENALTY_FACTOR: f64 = 3.0;
/// The penalty grows by this ÷ n, because the noise of a short series is itself poorly known.
const SHORT_SERIES: f64 = 20.0;
/// Deviations from the local median, in standard deviations of the noise, beyond which a value is an outlier.
const OUTLIER: f64 = 5.0;
/// Values on either side that the local median looks at.
const FILTER_REACH: usize = 2;
/// A normal distribution's standard deviation ÷ its median absolute deviation.
const MAD_TO_DEVIATION: f64 = 1.4826;

/// A stretch of a series with one level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Index of its first value.
    pub start: usize,
    /// Index behind its last value.
    pub end: usize,
    /// Mean of its values.
    pub mean: f64,
}

/// Cuts `series` into segments of constant level, in order and without gaps: one when the level never shifts.
///
/// Assumes levels and noise that is independent from value to value: a slow drift comes out as stairs, and noise whose
/// neighbours resemble each other is cut too often.
///
/// Empty when the series is empty or a value is infinite or not a number. *Cost*:
/// O(n²); a series of a thousand values takes about a millisecond.
pub fn segments(series: &[f64]) -> Vec<Segment> {
    if series.is_empty() || series.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let deviation = noise_deviation(series);
    let mut bounds = vec![0];
    if deviation > 0.0 {
        let filtered = pull_in_outliers(series, OUTLIER * deviation);
        bounds.extend(best_cuts(&filtered, penalty(series.len(), deviation)));
    }
    bounds.push(series.len());
    bounds
        .windows(2)
        .map(|pair| Segment {
            start: pair[0],
            end: pair[1],
            mean: mean(&series[pair[0]..pair[1]]),
        })
        .collect()
}

/// What a cut costs in a series of so many values with this standard deviation.
fn penalty(count: usize, deviation: f64) -> f64 {
    let n = count as f64;
    PENALTY_FACTOR * n.ln() * (1.0 + SHORT_SERIES / n) * deviation * deviation
}

/// The least change of level in the middle of a series that is larger than what its noise hides, as a share of its mean: a smaller one
/// would not have been cut. None of a series whose mean is not above 0.
///
/// The noise is that of neighbours, or that of the values around their segments' means where this is more: values that leap between
/// two states from time to time have neighbours that are alike.
pub fn least_visible_shift(series: &[f64]) -> Option<f64> {
    let segments = segments(series);
    let squares = |segment: &Segment| {
        let values = series[segment.start..segment.end].iter();
        values.map(|value| (value - segment.mean).powi(2)).sum::<f64>()
    };
    let free = series.len().saturating_sub(segments.len());
    let within = (segments.iter().map(squares).sum::<f64>() / free.max(1) as f64).sqrt();
    let deviation = noise_deviation(series).max(within);
    // Two halves whose means differ by d deviate by n d² ÷ 4 less from their own means than from that of both.
    let least = 2.0 * (penalty(series.len(), deviation) / series.len() as f64).sqrt();
    let level = mean(series);
    (level > 0.0).then_some(least / level)
}

/// Least change of level that counts as a shift, as a share of the level before it.
pub const LEAST_SHIFT: f64 = 0.20;

/// A level that did not last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// Index of the first value that no longer belongs to the first level.
    pub at: usize,
    /// The first level.
    pub before: f64,
    /// The last level; where that is the first one again, the level furthest from it.
    pub after: f64,
}

impl Shift {
    /// `after` ÷ `before`.
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// The shift from the level that a series begins with to the one that it ends with, if they differ by more than
/// [`LEAST_SHIFT`], or if another level between them does.
///
/// It is dated at the first cut. A fall within one value makes a short level of its own, because a segment has at
/// least [`MIN_SEGMENT`] values; the cut *behind* that would be late, and the ratio across it too small.
pub fn level_shift(series: &[f64]) -> Option<Shift> {
    let segments = segments(series);
    let (first, others) = segments.split_first()?;
    let change = |segment: &&Segment| (segment.mean - first.mean).abs();
    let is_shift = |segment: &&Segment| change(segment) > LEAST_SHIFT * first.mean.abs();
    let furthest = || {
        others
            .iter()
            .max_by(|one, other| change(one).total_cmp(&change(other)))
    };
    let after = others
        .last()
        .filter(is_shift)
        .or_else(furthest)
        .filter(is_shift)?;
    // A level that differs by less is no shift, though it was worth a cut.
    let at = others.iter().find(is_shift)?.start;
    Some(Shift {
        at,
        before: first.mean,
        after: after.mean,
    })
}

/// The standard deviation of the noise around the level, whatever the level does; 0 for a constant series.
fn noise_deviation(series: &[f64]) -> f64 {
    let differences: Vec<f64> = series.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    // A difference of two values has twice the variance of one.
    let Some(typical) = median(&differences) else {
        // A single value has no neighbour to differ from.
        return 0.0;
    };
    let robust = typical * MAD_TO_DEVIATION / std::f64::consts::SQRT_2;
    if robust > 0.0 {
        return robust;
    }
    // Most neighbours are equal (a coarse counter): the root mean square sees the rest.
    let squares: f64 = differences.iter().map(|difference| difference * difference).sum();
    (squares / differences.len().max(1) as f64 / 2.0).sqrt()
}

/// Replaces values further than `limit` from the median of their neighbourhood by that median.
fn pull_in_outliers(series: &[f64], limit: f64) -> Vec<f64> {
    let local_median = |index: usize| {
        let first = index.saturating_sub(FILTER_REACH);
        let last = (index + FILTER_REACH).min(series.len() - 1);
        median(&series[first..=last])
    };
    series
        .iter()
        .enumerate()
        .map(|(index, value)| match local_median(index) {
            Some(centre) if (value - centre).abs() > limit => centre,
            _ => *value,
        })
        .collect()
}

/// The cuts that minimise the segments' squared deviations plus `penalty` for each cut, ascending.
fn best_cuts(series: &[f64], penalty: f64) -> Vec<usize> {
    let n = series.len();
    let deviations = SquaredDeviations::of(series);
    // best[end]: least total of the first `end` values; cut[end]: where the last segment of that begins.
    let mut best = vec![f64::INFINITY; n + 1];
    let mut cut = vec![0; n + 1];
    best[0] = -penalty;
    for end in MIN_SEGMENT..=n {
        for start in 0..=end - MIN_SEGMENT {
            let total = best[start] + deviations.between(start, end) + penalty;
            if total < best[end] {
                (best[end], cut[end]) = (total, start);
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = n;
    while cut[end] > 0 {
        end = cut[end];
        cuts.push(end);
    }
    cuts.reverse();
    cuts
}

/// Squared deviations from the mean of any stretch, in constant time.
struct SquaredDeviations {
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl SquaredDeviations {
    fn of(series: &[f64]) -> Self {
        // Centred first, so that a high level does not swallow the digits of small deviations.
        let centre = mean(series);
        let running = |power: fn(f64) -> f64| {
            let mut total = 0.0;
            let mut totals = vec![0.0];
            totals.extend(series.iter().map(|value| {
                total += power(value - centre);
                total
            }));
            totals
        };
        Self {
            sums: running(|value| value),
            squares: running(|value| value * value),
        }
    }

    fn between(&self, start: usize, end: usize) -> f64 {
        let sum = self.sums[end] - self.sums[start];
        let square = self.squares[end] - self.squares[start];
        (square - sum * sum / (end - start) as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The least cost of cutting `series[start..]`, and the cuts, by trying every one.
    fn exhaustive(series: &[f64], start: usize, penalty: f64) -> (f64, Vec<usize>) {
        let spread = |stretch: &[f64]| {
            let centre = mean(stretch);
            stretch.iter().map(|value| (value - centre).powi(2)).sum::<f64>()
        };
        let mut least = (spread(&series[start..]), Vec::new());
        for cut in start + MIN_SEGMENT..=series.len().saturating_sub(MIN_SEGMENT) {
            let (rest, cuts) = exhaustive(series, cut, penalty);
            let cost = spread(&series[start..cut]) + penalty + rest;
            if cost < least.0 {
                least = (cost, [vec![cut], cuts].concat());
            }
        }
        least
    }

    proptest! {
        #[test]
        fn no_other_cuts_cost_less(
            series in prop::collection::vec((0..3i32, -1.0..1.0f64), 1..16),
            penalty in 0.1..20.0f64,
        ) {
            let series: Vec<f64> = series.iter().map(|(level, noise)| f64::from(*level * 4) + noise).collect();
            let cuts = best_cuts(&series, penalty);
            let bounds = [vec![0], cuts.clone(), vec![series.len()]].concat();
            let spread: f64 = bounds
                .windows(2)
                .map(|pair| {
                    let stretch = &series[pair[0]..pair[1]];
                    stretch.iter().map(|value| (value - mean(stretch)).powi(2)).sum::<f64>()
                })
                .sum();
            let cost = spread + penalty * cuts.len() as f64;
            prop_assert!((cost - exhaustive(&series, 0, penalty).0).abs() < 1e-6);
            prop_assert!(bounds.windows(2).all(|pair| cuts.is_empty() || pair[1] - pair[0] >= MIN_SEGMENT));
        }
    }
}
