//! What a miss-ratio curve advises: the smallest memory that is nearly as good as the most, and the policy for it.

use outcrop_cache::store::PolicyKind;

use crate::curve::CurvePoint;

/// A miss ratio this near to the lowest is as good: a percentage point.
pub const NEARLY: f64 = 0.01;

/// Policies whose miss ratios differ by no more than this are alike: half a percentage point.
pub(crate) const ALIKE: f64 = 0.005;

/// The setting to take, and what it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveAdvice {
    /// The smallest memory whose best policy misses at most [`NEARLY`] more than the lowest point of the curve.
    pub chosen: CurvePoint,
    /// The lowest point, at the smallest memory that reaches it.
    pub lowest: CurvePoint,
    /// Policies that miss at most half a percentage point more than the best one in the chosen memory, the chosen one first. One that refuses to store where the
    /// memory is full is not chosen if another is in this list.
    pub policies: Vec<PolicyKind>,
    /// The policy that misses most in that memory.
    pub worst: CurvePoint,
    /// Whether the chosen memory is the largest simulated, so that more may help.
    pub is_largest: bool,
    /// Whether the chosen memory is the smallest simulated, so that less may do.
    pub is_smallest: bool,
    /// Whether no policy misses more in the chosen memory than the lowest point does.
    pub policies_tie: bool,
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
        let memory_bytes = points
            .iter()
            .filter(|point| ratio(point) <= ratio(lowest) + NEARLY)
            .map(|point| point.memory_bytes)
            .min()?;
        let mut at: Vec<&CurvePoint> = points
            .iter()
            .filter(|point| point.memory_bytes == memory_bytes)
            .collect();
        at.sort_by(by_ratio);
        let (best, worst) = (**at.first()?, **at.last()?);
        let near = at.iter().copied();
        let near = near.filter(|point| ratio(point) <= ratio(&best) + ALIKE);
        let (refusing, mut near): (Vec<&CurvePoint>, Vec<&CurvePoint>) =
            near.partition(|point| point.policy == PolicyKind::None);
        near.extend(refusing);
        let chosen = **near.first()?;
        let hits = |point: &CurvePoint| point.hits == lowest.hits;
        Some(Self {
            is_smallest: points.iter().all(|point| point.memory_bytes >= memory_bytes),
            policies_tie: at.iter().all(|point| hits(point)),
            chosen,
            lowest: *lowest,
            policies: near.iter().map(|point| point.policy).collect(),
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
        assert!(!advice.is_smallest, "the smallest memory misses more");
        let advice = CurveAdvice::of(&points[..2]).unwrap();
        assert!(advice.is_largest, "more memory was not simulated");
        assert_eq!(CurveAdvice::of(&[]), None);
        let all_alike = [point(lru, 1, 100), point(lru, 2, 100), point(fifo, 1, 100)];
        assert!(CurveAdvice::of(&all_alike).unwrap().is_smallest);
        assert!(CurveAdvice::of(&all_alike).unwrap().policies_tie);
        let one_evicts = [point(lru, 1, 100), point(lru, 2, 100), point(fifo, 1, 101)];
        assert!(!CurveAdvice::of(&one_evicts).unwrap().policies_tie);
    }

    #[test]
    fn a_policy_that_refuses_to_store_is_not_chosen_where_another_is_as_good() {
        let (none, lru) = (PolicyKind::None, PolicyKind::Lru);
        let alike = [
            point(none, 1, 300),
            point(lru, 1, 300),
            point(none, 2, 100),
            point(lru, 2, 100),
        ];
        let advice = CurveAdvice::of(&alike).unwrap();
        assert_eq!((advice.chosen.memory_bytes, advice.chosen.policy), (2, lru));
        assert_eq!(advice.policies, [lru, none]);
        assert!(advice.policies_tie && !advice.is_smallest);
        let nearly = [point(none, 1, 100), point(lru, 1, 104)];
        assert_eq!(CurveAdvice::of(&nearly).unwrap().chosen.policy, lru);
        let alone = CurveAdvice::of(&alike[..1]).unwrap();
        assert_eq!(alone.chosen.policy, none, "no other was simulated");
    }

    #[test]
    fn policies_are_alike_within_half_a_percentage_point_though_memory_is_enough_within_a_whole_one() {
        let (lru, fifo, sieve) = (PolicyKind::Lru, PolicyKind::Fifo, PolicyKind::Sieve);
        let points = [
            point(sieve, 1, 109),
            point(lru, 1, 113),
            point(fifo, 1, 116),
            point(sieve, 2, 100),
        ];
        let advice = CurveAdvice::of(&points).unwrap();
        assert_eq!(advice.chosen.memory_bytes, 1);
        assert_eq!(advice.policies, [sieve, lru]);
    }
}
