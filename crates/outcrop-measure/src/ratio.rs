//! The ratio of two sides' figures: its interval with the confidence that it really has, and the probability of a difference
//! this large between equal sides.
//!
//! The tests are exact rank tests, because a handful of repetitions has no distribution to assume: with five a side a bootstrap
//! that says 95 % is wrong in 2 to 4 % of comparisons instead of 5 %, and with two in 32 %. They assume that the repetitions of a
//! side are independent and that two equal sides are exchangeable; drift between two runs breaks the second, and no statistic of
//! the two runs can see it.
//!
//! *Source*: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd edition, 2014: sections 4.1 and 4.3 (two
//! independent samples), 3.1 and 3.3 (pairs), 3.4 and 3.6 (signs). Benjamini and Hochberg, "Controlling the False Discovery
//! Rate", Journal of the Royal Statistical Society B 57(1), 1995. Zou and Donner, "Construction of confidence limits about effect
//! measures", Statistics in Medicine 27(10), 2008 (two intervals into one).

use serde::Serialize;

use crate::interval::{CONFIDENCE, Interval, median};
use crate::student::upper_quantile;
use crate::tail::{mann_whitney_tail, normal_tail, sign_tail, signed_rank_tail};

/// Standard deviations from the middle to the end of a 95 % interval of a normal quantity.
const DEVIATIONS: f64 = 1.959_964;

/// A ratio, and whether chance explains that it is not 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioTest {
    /// The ratio and its interval; the confidence is that of the test, at least 95 % where the samples allow it.
    pub interval: Interval,
    /// Probability that two equal sides differ at least this much, in either direction.
    pub p_value: f64,
}

/// Two sides measured independently: the ratio of their medians. None for fewer than two samples of either, or a sample that is
/// not positive and finite.
///
/// Mann and Whitney's test; the interval is that of Hodges and Lehmann over all ratios of one sample to one of the other.
pub fn independent(numerator: &[f64], denominator: &[f64]) -> Option<RatioTest> {
    let n = numerator.len().min(denominator.len());
    if n < 2 || !is_positive(numerator) || !is_positive(denominator) {
        return None;
    }
    let all = numerator.iter();
    let mut ratios: Vec<f64> = all
        .flat_map(|above| denominator.iter().map(move |below| above / below))
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let lower_tail = mann_whitney_tail(numerator.len(), denominator.len());
    let estimate = median(numerator)? / median(denominator)?;
    Some(tested(&ratios, &lower_tail, estimate, n))
}

/// Two sides measured in pairs, given as the ratio within each pair: its median. None for fewer than two pairs, or a ratio that is
/// not positive and finite.
///
/// Wilcoxon's signed ranks of the logarithms; the interval is that of the Walsh averages.
pub fn paired(ratios: &[f64]) -> Option<RatioTest> {
    if ratios.len() < 2 || !is_positive(ratios) {
        return None;
    }
    let mut averages: Vec<f64> = (0..ratios.len())
        .flat_map(|i| (i..ratios.len()).map(move |j| (i, j)))
        .map(|(i, j)| (ratios[i] * ratios[j]).sqrt())
        .collect();
    averages.sort_unstable_by(f64::total_cmp);
    let lower_tail = signed_rank_tail(ratios.len());
    Some(tested(&averages, &lower_tail, median(ratios)?, ratios.len()))
}

/// A side beside a figure that is one number, such as a published one; `ratios` are those of its samples to that number.
///
/// The sign test; the interval is that of order statistics.
pub fn beside_a_constant(ratios: &[f64]) -> Option<RatioTest> {
    if ratios.len() < 2 || !is_positive(ratios) {
        return None;
    }
    let mut sorted = ratios.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let lower_tail = sign_tail(ratios.len());
    Some(tested(&sorted, &lower_tail, median(ratios)?, ratios.len()))
}

/// Two sides that each have an interval of their own, at 95 %: figures of samples of the data.
///
/// The ends are combined on a logarithmic scale, each side's own distance from its estimate.
pub fn of_intervals(numerator: &Interval, denominator: &Interval) -> Option<RatioTest> {
    let ends = |side: &Interval| [side.low, side.estimate, side.high];
    if !is_positive(&ends(numerator)) || !is_positive(&ends(denominator)) {
        return None;
    }
    let [a_low, a, a_high] = ends(numerator).map(f64::ln);
    let [b_low, b, b_high] = ends(denominator).map(f64::ln);
    let estimate = a - b;
    let below = (a - a_low).hypot(b_high - b);
    let above = (a_high - a).hypot(b - b_low);
    let toward_one = if estimate > 0.0 { below } else { above };
    let deviations = match estimate.abs() {
        0.0 => 0.0,
        distance => distance / toward_one * DEVIATIONS,
    };
    Some(RatioTest {
        interval: Interval {
            estimate: estimate.exp(),
            low: (estimate - below).exp(),
            high: (estimate + above).exp(),
            confidence: CONFIDENCE,
            n: numerator.n.min(denominator.n),
        },
        p_value: 2.0 * normal_tail(deviations),
    })
}

/// Which of several tests count as differences, so that among those that count at most `level` are expected to be false; where all
/// sides are equal, at least one counts with a probability of at most `level`.
///
/// Benjamini and Hochberg's procedure: holds for tests that are independent, or that agree with each other.
pub fn discoveries(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_unstable_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let count = p_values.len() as f64;
    let is_below = |(rank, index): (usize, &usize)| p_values[*index] <= level * (rank + 1) as f64 / count;
    let found = order
        .iter()
        .enumerate()
        .rposition(is_below)
        .map_or(0, |rank| rank + 1);
    let mut is_found = vec![false; p_values.len()];
    for index in &order[..found] {
        is_found[*index] = true;
    }
    is_found
}

/// Degrees of freedom with which Student's t is normal for what is asked here.
const NEARLY_NORMAL: f64 = 1e6;

/// About how many samples a side it takes until the interval of a ratio leaves a value out, if the ratio stays what it is: intervals narrow with
/// the square root of the samples. None where the ratio is that value, or something is not positive.
///
/// `tests` that are judged together, at the level of [`CONFIDENCE`], take an interval that is wider ([`discoveries`], at its strictest).
pub fn samples_to_exclude(interval: &Interval, value: f64, tests: usize) -> Option<f64> {
    let [low, estimate, high] = logarithms(interval)?;
    let distance = (estimate - value.ln()).abs();
    let reach = if estimate > value.ln() {
        estimate - low
    } else {
        high - estimate
    };
    let alone = upper_quantile((1.0 - CONFIDENCE) / 2.0, NEARLY_NORMAL);
    let together = upper_quantile((1.0 - CONFIDENCE) / 2.0 / tests.max(1) as f64, NEARLY_NORMAL);
    let is_known = value > 0.0 && distance > 0.0;
    is_known.then(|| interval.n as f64 * (reach / distance * together / alone).powi(2))
}

/// The same until the interval lies between two values. None where the ratio does not.
pub fn samples_to_stay_between(interval: &Interval, least: f64, most: f64) -> Option<f64> {
    let [low, estimate, high] = logarithms(interval)?;
    let (below, above) = (estimate - least.ln(), most.ln() - estimate);
    let is_known = least > 0.0 && below > 0.0 && above > 0.0;
    let reach = ((estimate - low) / below).max((high - estimate) / above);
    is_known.then(|| interval.n as f64 * reach.powi(2))
}

/// Lower end, estimate and upper end, as logarithms.
fn logarithms(interval: &Interval) -> Option<[f64; 3]> {
    let ends = [interval.low, interval.estimate, interval.high];
    is_positive(&ends).then(|| ends.map(f64::ln))
}

/// The smallest p-value that this many repetitions a side can have: all of one side above all of the other.
pub fn least_p_value(numerator_n: usize, denominator_n: usize) -> f64 {
    2.0 * mann_whitney_tail(numerator_n, denominator_n)(0)
}

/// The smallest p-value that this many pairs can have: all on one side of 1.
pub fn least_p_value_of_pairs(pairs: usize) -> f64 {
    2.0 * signed_rank_tail(pairs)(0)
}

/// The interval and p-value of sorted values whose order decides: `lower_tail(k)` is the probability that at most k of them lie
/// below the truth.
fn tested(sorted: &[f64], lower_tail: &dyn Fn(usize) -> f64, estimate: f64, n: usize) -> RatioTest {
    let excluded = |count: usize| 2.0 * lower_tail(count);
    let mut cut = 0;
    while 2 * (cut + 1) < sorted.len() && excluded(cut + 1) <= 1.0 - CONFIDENCE {
        cut += 1;
    }
    let below = sorted.iter().filter(|value| **value < 1.0).count();
    let above = sorted.iter().filter(|value| **value > 1.0).count();
    // A value of exactly 1 speaks for neither side: counted against the difference.
    let against = sorted.len() - below.max(above);
    RatioTest {
        interval: Interval {
            estimate,
            // The median is inside, whatever the ranks say of its neighbours: a wider interval covers no less.
            low: sorted[cut].min(estimate),
            high: sorted[sorted.len() - 1 - cut].max(estimate),
            confidence: 1.0 - excluded(cut),
            n,
        },
        p_value: excluded(against).min(1.0),
    }
}

fn is_positive(samples: &[f64]) -> bool {
    samples.iter().all(|sample| sample.is_finite() && *sample > 0.0)
}
