//! The rule that picks one candidate, and how sure it is.
//!
//! 1. Candidates that break a constraint, or that lack the figure for it, are left out.
//! 2. Those whose throughput ties with the highest stay: it is lower by at most 5 %, or by at most 10 % where the intervals overlap.
//! 3. Of these, the one that takes the least space is chosen; where space ties within 2 %, the fastest of them.
//!
//! So compression is advised where it costs no throughput that was measured, and as much of it as that allows. Who accepts less
//! throughput for less space says how much space is needed (`--min-ratio`).

use serde::Serialize;

use outcrop_measure::metric::Better;

use super::candidate::{Candidate, CompressedAt};
use crate::chart::pareto_front;
use crate::number::Number;

/// A throughput lower by at most this counts as the same.
pub(super) const MARGIN: f64 = 0.05;
/// So does one that is lower by at most this where the intervals overlap; without the limit, the less is known the more would tie.
const UNCERTAIN_MARGIN: f64 = 0.10;
/// Space that differs by less counts as the same.
const SAME_SPACE: f64 = 0.02;

/// What the answer has to meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Constraints {
    /// Least ratio of the space without compression to that with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_ratio: Option<f64>,
    /// Highest 99th percentile of a read, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// Largest share of the machine's CPUs, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
}

impl Constraints {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Why a candidate breaks them; `None` if it meets them.
    fn broken_by(&self, candidate: &Candidate) -> Option<String> {
        let ratio = candidate.ratio.as_ref().map(|number| number.value);
        if let Some(reason) = broken(self.min_ratio, ratio, "ratio", |least, value| value >= least) {
            return Some(reason);
        }
        let p99 = candidate.p99.as_ref().map(|number| number.value);
        broken(self.p99_ns, p99, "p99", |most, value| value <= most).or_else(|| {
            let most = |most: f64, value: f64| value <= most;
            broken(self.cpu_share, candidate.cpu_share, "CPU share", most)
        })
    }
}

fn broken(
    limit: Option<f64>,
    value: Option<f64>,
    name: &str,
    meets: impl Fn(f64, f64) -> bool,
) -> Option<String> {
    let limit = limit?;
    match value {
        None => Some(format!("its {name} is not known")),
        Some(value) if !meets(limit, value) => Some(format!("breaks the limit on {name}")),
        Some(_) => None,
    }
}

/// How sure a choice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sureness {
    /// Its throughput is within the margin of the highest, intervals included.
    Clear,
    /// Its interval allows a throughput that is lower than the highest by more than the margin.
    NotClear,
}

/// What was chosen of a list of candidates, by index.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// The best; none where nothing meets the constraints.
    pub(super) best: Option<usize>,
    /// The candidate with the highest throughput that meets them.
    pub(super) fastest: Option<usize>,
    /// Of those that save more space than the best, the fastest.
    pub(super) saves_more: Option<usize>,
    /// How sure the best is.
    pub(super) sureness: Option<Sureness>,
}

/// Marks the front and what is left out, and chooses. The candidates are those that were measured, the fastest first.
pub(super) fn choose(candidates: &mut [Candidate], constraints: &Constraints) -> Choice {
    let places: Vec<(f64, f64)> = candidates
        .iter()
        .map(|candidate| (candidate.throughput.value, ratio(candidate)))
        .collect();
    let front = pareto_front(&places, Better::Higher, Better::Higher);
    for (candidate, on_front) in candidates.iter_mut().zip(front) {
        candidate.on_front = on_front;
        candidate.left_out = constraints.broken_by(candidate);
    }
    let eligible: Vec<usize> = (0..candidates.len())
        .filter(|index| candidates[*index].left_out.is_none())
        .collect();
    let Some(&fastest) = eligible.first() else {
        return Choice::default();
    };
    let top = &candidates[fastest].throughput;
    let tied: Vec<usize> = eligible
        .iter()
        .copied()
        .filter(|index| ties(&candidates[*index].throughput, top))
        .collect();
    let most = tied
        .iter()
        .map(|index| ratio(&candidates[*index]))
        .fold(0.0, f64::max);
    // They are in the order of throughput: the first that takes as little space is the fastest of them.
    let best = tied
        .into_iter()
        .find(|index| ratio(&candidates[*index]) >= most / (1.0 + SAME_SPACE));
    let saves_more = best.and_then(|best| {
        let least = ratio(&candidates[best]) * (1.0 + SAME_SPACE);
        eligible
            .into_iter()
            .find(|index| ratio(&candidates[*index]) > least)
    });
    Choice {
        best,
        fastest: Some(fastest),
        saves_more,
        sureness: best.map(|best| sureness(&candidates[best], &candidates[fastest])),
    }
}

/// Space without compression over space with it; what is unknown saves nothing.
pub(super) fn ratio(candidate: &Candidate) -> f64 {
    candidate.ratio.as_ref().map_or(0.0, |number| number.value)
}

fn ties(one: &Number, top: &Number) -> bool {
    let overlap = match (one.interval, top.interval) {
        (Some(one), Some(top)) => one.overlaps(&top),
        _ => false,
    };
    let margin = if overlap { UNCERTAIN_MARGIN } else { MARGIN };
    one.value >= top.value * (1.0 - margin)
}

/// Not compressing is sure where it is the fastest; so is what is as fast as that, as far as its interval goes.
fn sureness(best: &Candidate, fastest: &Candidate) -> Sureness {
    let low = best
        .throughput
        .interval
        .map_or(best.throughput.value, |interval| interval.low);
    let is_clear = low >= fastest.throughput.value * (1.0 - MARGIN);
    match is_clear || best.place == CompressedAt::Nowhere {
        true => Sureness::Clear,
        false => Sureness::NotClear,
    }
}
