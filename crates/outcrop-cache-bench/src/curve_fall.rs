//! Where the misses of a policy fall with more memory: within a doubling, at a knee, or over a wider range.

use outcrop_cache::store::PolicyKind;

use crate::curve::{CurvePoint, TraceFacts};

/// Where most of the misses vanish that more memory avoids: the narrowest range between two limits, by their quotient, in which at least three
/// quarters of the fall lie. That depends neither on how many limits lie between, nor on how close they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveFall {
    /// Where that range begins.
    pub from: CurvePoint,
    /// Where it ends.
    pub to: CurvePoint,
    /// Where the fall begins, the largest between any two limits …
    pub first: CurvePoint,
    /// … and where it ends.
    pub last: CurvePoint,
    /// What the range is.
    pub shape: FallShape,
}

/// What a range is in which most of the misses vanish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallShape {
    /// At most a doubling of the memory, with a smaller part of the fall on each side of it.
    Knee,
    /// At most a doubling, but how the curve goes on beyond it on one side is not known.
    Open(Beyond),
    /// Wider than a doubling, as is a step in it: what lies between its two limits is not known.
    Coarse,
    /// Wider than a doubling, in steps that are not.
    Wide,
}

/// A side of a range of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Less memory.
    Smaller,
    /// More memory.
    Larger,
}

/// Where misses fall by less than this share of the gets, nothing is said of it.
const LEAST_FALL: f64 = 0.02;
/// The share of the fall that makes up most of it, in quarters. A curve that is straight in bytes, down to where everything fits, has as much in no
/// doubling that has another one before it; no more does one that falls evenly with each doubling.
const MOST_QUARTERS: u128 = 3;

impl CurveFall {
    /// Where the misses of a policy fall; none where they hardly do, or at a single limit.
    pub fn of(points: &[CurvePoint], policy: PolicyKind, facts: &TraceFacts) -> Option<Self> {
        let of_policy = points.iter().filter(|point| point.policy == policy);
        let mut limits: Vec<CurvePoint> = of_policy.copied().collect();
        limits.sort_by_key(|point| point.memory_bytes);
        limits.dedup_by_key(|point| point.memory_bytes);

        let pairs = || {
            let ends = |(place, from): (usize, &CurvePoint)| {
                let from = *from;
                limits[place + 1..].iter().map(move |to| (from, *to))
            };
            limits.iter().enumerate().flat_map(ends)
        };
        let fall = |(from, to): &(CurvePoint, CurvePoint)| to.hits.saturating_sub(from.hits);
        // Of equal falls the widest, so that it is said of all limits where the curve is flat.
        let (first, last) = pairs().max_by(|one, other| {
            let by_width = || compare_widths(one, other);
            fall(one).cmp(&fall(other)).then_with(by_width)
        })?;
        let whole = fall(&(first, last));
        if (whole as f64) < LEAST_FALL * facts.gets as f64 {
            return None;
        }
        let has_most =
            |pair: &(CurvePoint, CurvePoint)| 4 * u128::from(fall(pair)) >= MOST_QUARTERS * u128::from(whole);
        let (from, to) = pairs().filter(has_most).min_by(|one, other| {
            let by_fall = || fall(other).cmp(&fall(one));
            compare_widths(one, other).then_with(by_fall)
        })?;
        Some(Self {
            from,
            to,
            first,
            last,
            shape: shape(&limits, &from, &to, facts),
        })
    }
}

fn shape(limits: &[CurvePoint], from: &CurvePoint, to: &CurvePoint, facts: &TraceFacts) -> FallShape {
    let is_wide = |from: &CurvePoint, to: &CurvePoint| to.memory_bytes > from.memory_bytes.saturating_mul(2);
    let (least, most) = (&limits[0], &limits[limits.len() - 1]);
    if is_wide(from, to) {
        let is_inside =
            |point: &CurvePoint| (from.memory_bytes..=to.memory_bytes).contains(&point.memory_bytes);
        let has_gap = limits
            .windows(2)
            .any(|step| step.iter().all(is_inside) && is_wide(&step[0], &step[1]));
        return if has_gap {
            FallShape::Coarse
        } else {
            FallShape::Wide
        };
    }
    // A curve that flattens out falls most where its limits happen to begin, and one that is straight in a range that is narrow enough. So as many
    // doublings must be known on each side as the range has, or that none can differ: no memory misses more than every get, and none less than the
    // first ones.
    let width = (*from, *to);
    let is_known_below = least.hits == 0 || compare_widths(&(*least, *from), &width).is_ge();
    let is_known_above = most.misses_first_gets_alone(facts.first_gets)
        || most.memory_bytes >= facts.all_bytes
        || compare_widths(&(*to, *most), &width).is_ge();
    match (is_known_below, is_known_above) {
        (false, _) => FallShape::Open(Beyond::Smaller),
        (true, false) => FallShape::Open(Beyond::Larger),
        (true, true) => FallShape::Knee,
    }
}

/// Compares two ranges by the quotient of their ends.
fn compare_widths(one: &(CurvePoint, CurvePoint), other: &(CurvePoint, CurvePoint)) -> std::cmp::Ordering {
    let product =
        |to: &CurvePoint, from: &CurvePoint| u128::from(to.memory_bytes) * u128::from(from.memory_bytes);
    product(&one.1, &other.0).cmp(&product(&other.1, &one.0))
}

#[cfg(test)]
mod tests;
