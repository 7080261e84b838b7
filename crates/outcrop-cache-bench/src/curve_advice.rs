//! What a miss-ratio curve advises: the smallest memory that is nearly as good as the most, and the policy for it.

use outcrop_cache::store::PolicyKind;

use crate::curve::CurvePoint;

/// A miss ratio this near to the lowest is as good: a percentage point.
pub const NEARLY: f64 = 0.01;

/// The setting to take, and what it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveAdvice {
    /// The smallest memory whose best policy misses at most [`NEARLY`] more than the lowest point of the curve.
    pub chosen: CurvePoint,
    /// The lowest point, at the smallest memory that reaches it.
    pub lowest: CurvePoint,
    /// Policies that miss at most [`NEARLY`] more than the best one in the chosen memory, that one first.
    pub policies: Vec<PolicyKind>,
    /// The policy that misses most in that memory.
    pub worst: CurvePoint,
    /// Whether the chosen memory is the largest simulated, so that more may help.
    pub is_largest: bool,
    /// Whether the chosen memory is the smallest simulated and no policy misses more than the lowest there: everything that the trace
    /// asks for again is kept, and neither limit nor policy matters.
    pub everything_fits: bool,
}

impl CurveAdvice {
    /// What the points advise; none where the trace has no get, or one limit alone leaves nothing to choose.
    pub fn of(points: &[CurvePoint]) -> Option<Self> {
        let ratio = |point: &CurvePoint| point.miss_ratio().unwrap_or(f64::INFINITY);
        let by_ratio = |a: &&CurvePoint, b: &&CurvePoint| {
            let by_memory = a.memory_bytes.cmp(&b.memory_bytes);
            ratio(a).total_cmp(&ratio(b)).then(by_memory)
        };
        let lowest = points.iter().min_by(by_ratio)?;
        lowest.miss_ratio()?;
        let is_near = |point: &&CurvePoint, best: f64| ratio(point) <= best + NEARLY;
        let memory_bytes = points
            .iter()
            .filter(|point| is_near(point, ratio(lowest)))
            .map(|point| point.memory_bytes)
            .min()?;
        let mut at: Vec<&CurvePoint> = points
            .iter()
            .filter(|point| point.memory_bytes == memory_bytes)
            .collect();
        at.sort_by(by_ratio);
        let (chosen, worst) = (**at.first()?, **at.last()?);
        let near = at.iter().filter(|point| is_near(point, ratio(&chosen)));
        let is_smallest = points.iter().all(|point| point.memory_bytes >= memory_bytes);
        let hits = |point: &CurvePoint| point.hits == lowest.hits;
        let mut same = points.iter().filter(|point| point.memory_bytes == memory_bytes);
        Some(Self {
            everything_fits: is_smallest && same.all(hits),
            chosen,
            lowest: *lowest,
            policies: near.map(|point| point.policy).collect(),
            worst,
            is_largest: points.iter().all(|point| point.memory_bytes <= memory_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(policy: PolicyKind, memory_bytes: u64, misses: u64) -> CurvePoint {
        CurvePoint {
            policy,
            memory_bytes,
            gets: 1000,
            hits: 1000 - misses,
            asked_bytes: 0,
            hit_bytes: 0,
            items: 0,
            held_bytes: 0,
        }
    }

    #[test]
    fn the_smallest_memory_within_a_point_of_the_lowest_is_chosen_with_every_policy_that_ties() {
        let (lru, fifo, sieve) = (PolicyKind::Lru, PolicyKind::Fifo, PolicyKind::Sieve);
        let points = [
            point(lru, 1, 500),
            point(lru, 2, 130),
            point(lru, 4, 100),
            point(fifo, 1, 600),
            point(fifo, 2, 160),
            point(fifo, 4, 100),
            point(sieve, 1, 400),
            point(sieve, 2, 109),
            point(sieve, 4, 100),
        ];
        let advice = CurveAdvice::of(&points).unwrap();
        assert_eq!((advice.chosen.memory_bytes, advice.lowest.memory_bytes), (2, 4));
        assert_eq!(advice.policies, [sieve]);
        assert_eq!(advice.worst.policy, fifo);
        assert!(!advice.is_largest);
        assert!(!advice.everything_fits, "the smallest memory misses more");
        let advice = CurveAdvice::of(&points[..2]).unwrap();
        assert!(advice.is_largest, "more memory was not simulated");
        assert_eq!(CurveAdvice::of(&[]), None);
        let all_alike = [point(lru, 1, 100), point(lru, 2, 100), point(fifo, 1, 100)];
        assert!(CurveAdvice::of(&all_alike).unwrap().everything_fits);
        let one_evicts = [point(lru, 1, 100), point(lru, 2, 100), point(fifo, 1, 101)];
        assert!(!CurveAdvice::of(&one_evicts).unwrap().everything_fits);
    }
}
