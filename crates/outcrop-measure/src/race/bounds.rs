//! Bounds that hold for all looks together: on the ratio of two throughputs, and on what is limited.

use std::collections::BTreeMap;

use super::{Contender, LOOKS};
use crate::student::upper_quantile;

/// Fewer values bound nothing.
const FEWEST: usize = LOOKS[0];

/// The tightest bound of all looks so far, as logarithms.
pub(super) struct Bounds {
    /// Probability that a look may be wrong.
    share: f64,
    /// On throughput of the first over that of the second.
    ratio: Vec<Vec<f64>>,
    /// On what is limited, by contender and limit: at least, at most.
    limited: Vec<Vec<(f64, f64)>>,
}

impl Bounds {
    pub(super) fn new(contenders: usize, limits: usize, share: f64) -> Self {
        Self {
            share,
            ratio: vec![vec![f64::INFINITY; contenders]; contenders],
            limited: vec![vec![(f64::NEG_INFINITY, f64::INFINITY); limits]; contenders],
        }
    }

    /// One look at those that may still be the best. Its share of the error is divided among their ordered pairs and, where there are limits,
    /// between pairs and limits.
    pub(super) fn look(&mut self, contenders: &[Contender], open: &[usize], rounds: usize) {
        let limits = self.limited.first().map_or(0, Vec::len);
        let (of_pairs, of_limits) = match limits {
            0 => (self.share, 0.0),
            _ => (self.share / 2.0, self.share / 2.0),
        };
        let count = open.len() as f64;
        let mut pairs_tail = Tail::new(of_pairs / (count * (count - 1.0)).max(1.0));
        for (place, &one) in open.iter().enumerate() {
            for &other in &open[place + 1..] {
                let (one_by_round, other_by_round) =
                    (&contenders[one].throughput, &contenders[other].throughput);
                let pairs = one_by_round.iter().zip(other_by_round).take(rounds);
                let ratios = pairs.filter_map(|(one, other)| Some(logarithm(*one)? - logarithm(*other)?));
                let Some((mean, half)) = pairs_tail.interval(&ratios.collect::<Vec<_>>()) else {
                    continue;
                };
                tighten(&mut self.ratio[one][other], mean + half);
                tighten(&mut self.ratio[other][one], half - mean);
            }
        }
        let mut limits_tail = Tail::new(of_limits / (2.0 * count * limits as f64).max(1.0));
        for &index in open {
            for (limit, bound) in self.limited[index].iter_mut().enumerate() {
                let values = contenders[index].limited.get(limit);
                let values = values.into_iter().flatten().take(rounds);
                let values: Vec<f64> = values.filter_map(|value| logarithm(*value)).collect();
                if let Some((mean, half)) = limits_tail.interval(&values) {
                    bound.0 = bound.0.max(mean - half);
                    bound.1 = bound.1.min(mean + half);
                }
            }
        }
    }

    /// Throughput of one is at most this share of that of another.
    pub(super) fn ratio_at_most(&self, one: usize, other: usize) -> f64 {
        self.ratio[one][other].exp()
    }

    pub(super) fn least(&self, index: usize, limit: usize) -> f64 {
        self.limited[index][limit].0.exp()
    }

    pub(super) fn most(&self, index: usize, limit: usize) -> f64 {
        self.limited[index][limit].1.exp()
    }
}

fn tighten(bound: &mut f64, value: f64) {
    *bound = bound.min(value);
}

fn logarithm(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value > 0.0).map(f64::ln)
}

/// Student's intervals that leave out the same probability on each side; most have the same number of values.
struct Tail {
    probability: f64,
    quantiles: BTreeMap<usize, f64>,
}

impl Tail {
    const fn new(probability: f64) -> Self {
        Self {
            probability,
            quantiles: BTreeMap::new(),
        }
    }

    /// Mean, and half the width.
    fn interval(&mut self, values: &[f64]) -> Option<(f64, f64)> {
        if values.len() < FEWEST {
            return None;
        }
        let count = values.len() as f64;
        let tail = self.probability;
        let quantile = self.quantiles.entry(values.len());
        let quantile = *quantile.or_insert_with(|| upper_quantile(tail, count - 1.0));
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let half = quantile * (squares / (count - 1.0) / count).sqrt();
        half.is_finite().then_some((mean, half))
    }
}
