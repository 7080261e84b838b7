//! Where the misses of a policy fall with more memory: within a doubling, at a knee, or over a wider range.

use outcrop_cache::store::PolicyKind;

use crate::curve::{CurvePoint, TraceFacts};

/// Where most of the misses vanish that more memory avoids: the narrowest range between two limits, by their quotient, in which at least three
/// quarters of the fall lie.
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
    /// Wider than a doubling, but a doubling that begins or ends between the limits may have as much of the fall.
    Coarse,
    /// Wider than a doubling, and no doubling between the limits has as much of the fall, wherever it begins. One that begins or ends beyond
    /// them, on the side that is named, may have as much of a fall that begins or ends there.
    Wide(Option<Beyond>),
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
/// Most of the fall is three quarters of it. If misses fall evenly with each byte until everything fits, or evenly with each doubling, no doubling
/// with another one simulated before it has as much.
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
        let is_most = |fall: u64| 4 * u128::from(fall) >= MOST_QUARTERS * u128::from(whole);
        let has_most = |pair: &(CurvePoint, CurvePoint)| is_most(fall(pair));
        let (from, to) = pairs().filter(has_most).min_by(|one, other| {
            let by_fall = || fall(other).cmp(&fall(one));
            compare_widths(one, other).then_with(by_fall)
        })?;
        Some(Self {
            from,
            to,
            first,
            last,
            shape: shape(&limits, (&from, &to), is_most, facts),
        })
    }
}

fn shape(
    limits: &[CurvePoint],
    (from, to): (&CurvePoint, &CurvePoint),
    is_most: impl Fn(u64) -> bool,
    facts: &TraceFacts,
) -> FallShape {
    let has_doubling =
        |from: &CurvePoint, to: &CurvePoint| to.memory_bytes >= from.memory_bytes.saturating_mul(2);
    let (least, most) = (&limits[0], &limits[limits.len() - 1]);
    if to.memory_bytes > from.memory_bytes.saturating_mul(2) {
        // A doubling that begins within a step has at most the fall from where that step begins to the next limit behind its end.
        let may_have_most = |step: &[CurvePoint]| {
            let end = limits
                .iter()
                .find(|limit| has_doubling(&step[1], limit))
                .unwrap_or(most);
            is_most(end.hits.saturating_sub(step[0].hits))
        };
        return match limits.windows(2).any(may_have_most) {
            true => FallShape::Coarse,
            false => FallShape::Wide(may_be_knee_beyond(limits, facts)),
        };
    }
    // A curve that flattens out falls most where its limits happen to begin, and one that is straight in a range that is narrow enough. So a
    // doubling must be known on each side, or that none can differ: no memory misses more than every get, and none less than one that keeps all.
    let is_known_below = least.hits == 0 || has_doubling(least, from);
    let is_known_above = most.hits >= facts.most_hits || has_doubling(to, most);
    match (is_known_below, is_known_above) {
        (false, _) => FallShape::Open(Beyond::Smaller),
        (true, false) => FallShape::Open(Beyond::Larger),
        (true, true) => FallShape::Knee,
    }
}

/// On which side of the limits a doubling may have three quarters of the fall from there on. What is not simulated falls at most from every get,
/// and at most to the misses of a memory that keeps everything; a doubling that takes all of that has the largest part that one can have.
fn may_be_knee_beyond(limits: &[CurvePoint], facts: &TraceFacts) -> Option<Beyond> {
    let (least, most) = (&limits[0], &limits[limits.len() - 1]);
    let is_most = |part: u64, whole: u64| 4 * u128::from(part) >= MOST_QUARTERS * u128::from(whole);
    let is_behind = |limit: &&CurvePoint| limit.memory_bytes >= least.memory_bytes.saturating_mul(2);
    let end = limits.iter().find(is_behind).unwrap_or(most);
    if least.hits > 0 && is_most(end.hits, most.hits.max(end.hits)) {
        return Some(Beyond::Smaller);
    }
    let is_before = |limit: &&CurvePoint| limit.memory_bytes <= most.memory_bytes / 2;
    let begin = limits.iter().rev().find(is_before).unwrap_or(least);
    let to_all = |from: &CurvePoint| facts.most_hits.saturating_sub(from.hits);
    (to_all(most) > 0 && is_most(to_all(begin), to_all(least))).then_some(Beyond::Larger)
}

/// Compares two ranges by the quotient of their ends.
fn compare_widths(one: &(CurvePoint, CurvePoint), other: &(CurvePoint, CurvePoint)) -> std::cmp::Ordering {
    let product =
        |to: &CurvePoint, from: &CurvePoint| u128::from(to.memory_bytes) * u128::from(from.memory_bytes);
    product(&one.1, &other.0).cmp(&product(&other.1, &one.0))
}

#[cfg(test)]
mod tests;
