//! Confidence intervals: how far a median of a few repetitions may be off, by order statistics ([`median_interval`]).

use serde::{Deserialize, Serialize};

use crate::tail::sign_tail;

/// Confidence of every interval here, where the number of samples allows it.
pub const CONFIDENCE: f64 = 0.95;
/// An interval that reaches further than this fraction of its estimate to one side is marked in reports.
pub const WIDE: f64 = 0.05;

/// An estimate and the interval that covers the true value with a stated confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The statistic of the samples themselves.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability that such an interval covers the true value; below 0.95 when the samples allow no more.
    pub confidence: f64,
    /// Number of samples; the smaller of the two for a ratio.
    pub n: usize,
}

impl Interval {
    /// Whether the two intervals share a value. If not, the difference is more than chance; if they do, it may
    /// still be: only the interval of the ratio decides that ([`crate::ratio`]).
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether `value` lies inside, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// How far it reaches to its longer side as a fraction of the estimate's magnitude: what may stand behind a `±`. Intervals of latencies
    /// are lopsided, and half the width would promise too much of their longer side. Infinite when the estimate is 0 and the reach is not.
    pub fn relative_reach(&self) -> f64 {
        let reach = (self.high - self.estimate).max(self.estimate - self.low);
        match reach > 0.0 {
            true => reach / self.estimate.abs(),
            false => 0.0,
        }
    }

    /// Whether it reaches further than 5 % of the estimate to one side, and is marked so in reports.
    pub fn is_wide(&self) -> bool {
        self.relative_reach() > WIDE
    }
}

/// What a table says about the repetitions of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of samples.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median; the mean of the middle two when n is even.
    pub median: f64,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// Interval of the median; none for a single sample.
    pub interval: Option<Interval>,
}

/// Summarises repetitions; none without samples, or when one is infinite or not a number.
pub fn summarise(samples: &[f64]) -> Option<Summary> {
    let sorted = sorted_finite(samples)?;
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    Some(Summary {
        n: samples.len(),
        mean: mean(samples),
        median: median_of_sorted(&sorted),
        min,
        max,
        interval: median_interval(samples),
    })
}

/// The median: the middle sample, or the mean of the middle two. None without samples, or when one is
/// infinite or not a number.
pub fn median(samples: &[f64]) -> Option<f64> {
    let sorted = sorted_finite(samples)?;
    (!sorted.is_empty()).then(|| median_of_sorted(&sorted))
}

/// The interval of the median of independent samples. None for fewer than two samples, or when one is
/// infinite or not a number.
///
/// It is from one sample to another: as many are cut off at each end as leave 95 %. Up to five that is none, and the range has less,
/// 1 − 2^(1−n), as [`Interval::confidence`] says: 50 %, 75 %, 87.5 %, 93.75 %. With six or more it is called 95 %; it has up to 99 %.
/// A percentile bootstrap of nine samples covers 89 % or 96 %, as its seed has it.
///
/// *Source*: David and Nagaraja, "Order Statistics", 2003, section 7.1.
pub fn median_interval(samples: &[f64]) -> Option<Interval> {
    let sorted = sorted_finite(samples)?;
    let n = sorted.len();
    if n < 2 {
        return None;
    }
    let outside = sign_tail(n);
    let mut cut = 0;
    while 2.0 * outside(cut + 1) <= 1.0 - CONFIDENCE {
        cut += 1;
    }
    Some(Interval {
        estimate: median_of_sorted(&sorted),
        low: sorted[cut],
        high: sorted[n - 1 - cut],
        confidence: (1.0 - 2.0 * outside(cut)).min(CONFIDENCE),
        n,
    })
}

/// The arithmetic mean; not a number without samples.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

fn sorted_finite(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.iter().any(|sample| !sample.is_finite()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// The median of samples that are ordered and not empty.
fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}
