//! Confidence intervals: how far a median of a few repetitions, or a statistic of a time series, may be off.
//!
//! That of a median is of order statistics ([`median_interval`]); that of a series is a percentile bootstrap of blocks, with
//! [`RESAMPLES`] resamples at [`CONFIDENCE`], and deterministic for a seed.
//!
//! *Source*: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 8 and 13. Hesterberg, "What
//! Teachers Should Know About the Bootstrap", The American Statistician 69(4), 2015, for how small samples make it
//! too narrow.

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::seed::{Generator, Seed};
use crate::tail::sign_tail;

/// Confidence of every interval here, where the number of samples allows it.
pub const CONFIDENCE: f64 = 0.95;
/// Resamples of a bootstrap.
pub const RESAMPLES: usize = 2000;
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

/// The interval of a statistic of a time series, whose neighbours resemble each other: blocks of
/// `block_length` consecutive values are drawn with replacement, at every position alike, and laid end to end up to
/// the length of the series. None when the series has fewer than two values or one is infinite or not a number, or
/// when `statistic` gives such for a resample.
///
/// `block_length` is clamped to 1 … n; [`default_block_length`] gives the usual choice. Blocks of one are the
/// ordinary bootstrap.
///
/// *Source*: Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics
/// 17(3), 1989.
pub fn block_bootstrap(
    series: &[f64],
    block_length: usize,
    statistic: impl Fn(&[f64]) -> f64,
    seed: Seed,
) -> Option<Interval> {
    let n = series.len();
    if n < 2 || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let block_length = block_length.clamp(1, n);
    let starts = n - block_length + 1;
    let mut rng = seed.rng();
    let mut resample = Vec::with_capacity(n + block_length);
    let mut statistics = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        resample.clear();
        while resample.len() < n {
            let start = below(&mut rng, starts);
            resample.extend_from_slice(&series[start..start + block_length]);
        }
        statistics.push(statistic(&resample[..n]));
    }
    let estimate = statistic(series);
    let is_usable = estimate.is_finite() && statistics.iter().all(|value| value.is_finite());
    is_usable.then(|| percentile_interval(estimate, statistics, n))
}

/// The block length for a series of `n` values: n^(1/3), rounded up.
///
/// Long enough to keep short-range dependence, short enough to leave many blocks; n^(1/3) is the order that
/// minimises the error of a variance.
///
/// *Source*: Hall, Horowitz and Jing, "On blocking rules for the bootstrap with dependent data", Biometrika 82(3),
/// 1995.
pub fn default_block_length(n: usize) -> usize {
    // The root of a perfect cube may come out a hair above it.
    ((n as f64).cbrt() - 1e-9).ceil().max(1.0) as usize
}

/// The arithmetic mean; not a number without samples.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// A whole number below `bound`, uniform to within bound ÷ 2⁶⁴.
///
/// *Source*: Lemire, "Fast random integer generation in an interval", 2019, without its rejection step. Not the
/// `rand` crate's: intervals must not change with its versions.
fn below(rng: &mut Generator, bound: usize) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

/// Cuts an equal number of resampled statistics off either end.
fn percentile_interval(estimate: f64, mut statistics: Vec<f64>, n: usize) -> Interval {
    statistics.sort_unstable_by(f64::total_cmp);
    let outside_each_end = (statistics.len() as f64 * (1.0 - CONFIDENCE) / 2.0).round() as usize;
    let low_index = outside_each_end.saturating_sub(1);
    let high_index = statistics.len() - outside_each_end.max(1);
    Interval {
        estimate,
        low: statistics[low_index],
        high: statistics[high_index],
        confidence: CONFIDENCE,
        n,
    }
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
