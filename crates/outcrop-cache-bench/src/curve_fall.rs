//! How the misses of a policy fall with more memory: evenly, or most of all at a knee.

use outcrop_cache::store::PolicyKind;
use outcrop_measure::interval::median;

use crate::curve::{CurvePoint, TraceFacts};

/// What the steps of a miss-ratio curve look like, from each limit to the next.
#[derive(Clone, Debug, PartialEq)]
pub enum CurveFall {
    /// One step stands out.
    Knee {
        /// Where it begins.
        from: CurvePoint,
        /// Where it ends.
        to: CurvePoint,
    },
    /// One step stands out among those simulated, but the step beside it on one side was not simulated: whether it is a knee is not known.
    Open {
        /// Where it begins.
        from: CurvePoint,
        /// Where it ends.
        to: CurvePoint,
        /// On which side no memory was simulated.
        beyond: Beyond,
    },
    /// None does: what the misses fall by instead, from the least memory to the most without a gap.
    Stretches(Vec<Stretch>),
}

/// A side of the limits that were simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Less memory than the smallest.
    Smaller,
    /// More than the largest.
    Larger,
}

/// Steps one behind the other in which the misses fall alike. Falls are in shares of the gets for each doubling of the memory, up to that with
/// which everything fits: the curve is flat from there, wherever the next limit lies. A fall below 0 is a rise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Where it begins.
    pub from: CurvePoint,
    /// Where it ends.
    pub to: CurvePoint,
    /// The smallest fall.
    pub least: f64,
    /// The largest fall.
    pub most: f64,
}

/// A knee falls by at least this share of the gets for a doubling of the memory …
const LEAST_KNEE: f64 = 0.02;
/// … and by this many times as much as the step before it, the step after it, and the median of the other steps that fall …
const STANDS_OUT: f64 = 1.5;
/// Near the memory with which everything fits, a knee must also fall by this many times as much for each byte as the step before it. A curve
/// flattens out there in any case, and on one that is straight in bytes, each doubling falls by twice as much as the one before.
const STANDS_OUT_BY_BYTES: f64 = 1.5;
/// No step is shorter than this many doublings, or counts as if it were as long: what falls in a sliver of memory, as in a limit just below that
/// with which everything fits, is not what it would be in a doubling.
const SHORTEST_DOUBLINGS: f64 = 0.5;
/// Misses that fall by less for a doubling stand still.
const LEAST_FALL: f64 = 0.01;
/// Falls are alike while the largest is at most this many times the smallest.
const ALIKE: f64 = 1.5;
/// Of more stretches than this, a curve has no stretches: it is told as one.
const MOST_STRETCHES: usize = 3;

/// A step of a curve, and by how much the misses fall in it for each doubling.
struct Step {
    from: CurvePoint,
    to: CurvePoint,
    /// Up to where the misses may fall: its end, or where everything fits.
    end_bytes: u64,
    fall: f64,
    /// Whether it is shorter than `SHORTEST_DOUBLINGS`, and counts as if it were as long.
    is_short: bool,
    fall_by_bytes: f64,
}

impl CurveFall {
    /// How the misses of a policy fall; none where they do not, or fewer than two steps were simulated, so that none can stand out.
    pub fn of(points: &[CurvePoint], policy: PolicyKind, facts: &TraceFacts) -> Option<Self> {
        let steps = steps(points, policy, facts.all_bytes);
        let falls: Vec<f64> = steps.iter().map(|step| step.fall).collect();
        let steepest = (0..falls.len()).max_by(|one, other| falls[*one].total_cmp(&falls[*other]))?;
        if falls.len() < 2 || falls[steepest] < LEAST_KNEE {
            return None;
        }
        let fits_bytes = fits_bytes(&steps, facts);
        if stands_out(&falls, steepest) && stands_out_by_bytes(&steps, steepest, fits_bytes) {
            let Step { from, to, .. } = steps[steepest];
            // A curve that flattens out begins with its steepest step wherever it begins. But no memory misses more than every get, and none
            // less than the first ones.
            let is_bounded_below = from.hits == 0;
            let is_bounded_above =
                to.misses_first_gets_alone(facts.first_gets) || to.memory_bytes >= facts.all_bytes;
            let beyond = match steepest {
                0 if !is_bounded_below => Some(Beyond::Smaller),
                _ if steepest + 1 == falls.len() && !is_bounded_above => Some(Beyond::Larger),
                _ => None,
            };
            return Some(match beyond {
                Some(beyond) => Self::Open { from, to, beyond },
                None => Self::Knee { from, to },
            });
        }
        Some(Self::Stretches(stretches(&steps)))
    }

    /// Whether a step of the policy's curve is shorter than half a doubling of the memory, and counts as half of one: the last one may be, and that
    /// in which everything begins to fit.
    pub fn has_short_step(points: &[CurvePoint], policy: PolicyKind, facts: &TraceFacts) -> bool {
        steps(points, policy, facts.all_bytes)
            .iter()
            .any(|step| step.is_short)
    }

    /// Whether in no step of a policy the misses fall by more than from one point to another, however long it is.
    pub fn falls_most(points: &[CurvePoint], facts: &TraceFacts, from: &CurvePoint, to: &CurvePoint) -> bool {
        let falls = |from: &CurvePoint, to: &CurvePoint| to.hits.saturating_sub(from.hits);
        let most = falls(from, to);
        steps(points, from.policy, facts.all_bytes)
            .iter()
            .all(|step| falls(&step.from, &step.to) <= most)
    }
}

impl Stretch {
    /// Whether the misses hardly fall in it.
    fn stands_still(&self) -> bool {
        self.most < LEAST_FALL
    }

    /// The same with one more step at its end.
    fn with(self, step: &Step) -> Self {
        Self {
            to: step.to,
            least: self.least.min(step.fall),
            most: self.most.max(step.fall),
            ..self
        }
    }

    fn is_alike(&self) -> bool {
        self.stands_still() || (self.least >= LEAST_FALL && self.most <= ALIKE * self.least)
    }
}

impl Step {
    fn alone(&self) -> Stretch {
        Stretch {
            from: self.from,
            to: self.to,
            least: self.fall,
            most: self.fall,
        }
    }
}

/// The stretches of a curve: each as long as its falls are alike, or the whole as one where that makes many.
fn stretches(steps: &[Step]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for step in steps {
        match stretches.last_mut() {
            Some(last) if last.with(step).is_alike() => *last = last.with(step),
            _ => stretches.push(step.alone()),
        }
    }
    match steps {
        [first, rest @ ..] if stretches.len() > MOST_STRETCHES => {
            vec![rest.iter().fold(first.alone(), Stretch::with)]
        }
        _ => stretches,
    }
}

/// The memory from which on nothing that is requested again is evicted, for all that is known.
fn fits_bytes(steps: &[Step], facts: &TraceFacts) -> u64 {
    let ends = steps.iter().map(|step| &step.to);
    let fitting = ends.filter(|point| point.misses_first_gets_alone(facts.first_gets));
    let simulated = fitting.map(|point| point.memory_bytes).min();
    simulated.unwrap_or(u64::MAX).min(facts.all_bytes)
}

/// The steps of a policy's curve, from the least memory on; everything fits in `all_bytes`. Neighbours that are short are one step.
fn steps(points: &[CurvePoint], policy: PolicyKind, all_bytes: u64) -> Vec<Step> {
    let mut of_policy: Vec<CurvePoint> = points
        .iter()
        .filter(|point| point.policy == policy)
        .copied()
        .collect();
    of_policy.sort_by_key(|point| point.memory_bytes);
    of_policy.dedup_by_key(|point| point.memory_bytes);
    let doublings = |from: u64, to: u64| (to as f64 / from as f64).log2();
    // Where steps begin and end.
    let mut ends: Vec<CurvePoint> = Vec::new();
    let last = of_policy.last().copied();
    for point in of_policy {
        let is_far =
            |from: &CurvePoint| doublings(from.memory_bytes, point.memory_bytes) >= SHORTEST_DOUBLINGS;
        if ends.last().is_none_or(is_far) || Some(point) == last {
            ends.push(point);
        }
    }
    let step = |pair: &[CurvePoint]| {
        let (from, to) = (pair[0], pair[1]);
        let end_bytes = match from.memory_bytes < all_bytes {
            true => to.memory_bytes.min(all_bytes),
            false => to.memory_bytes,
        };
        let fall = from.miss_ratio()? - to.miss_ratio()?;
        let doublings = doublings(from.memory_bytes, end_bytes);
        Some(Step {
            from,
            to,
            end_bytes,
            fall: fall / doublings.max(SHORTEST_DOUBLINGS),
            is_short: doublings < SHORTEST_DOUBLINGS,
            fall_by_bytes: fall / (end_bytes - from.memory_bytes) as f64,
        })
    };
    ends.windows(2).filter_map(step).collect()
}

/// Whether the steepest of several falls stands out from those that are known, and is not the largest of many that are alike.
fn stands_out(falls: &[f64], steepest: usize) -> bool {
    let fall = falls[steepest];
    let before = steepest.checked_sub(1).map(|place| falls[place]);
    let after = falls.get(steepest + 1).copied();
    let others = falls.iter().enumerate().filter(|(place, _)| *place != steepest);
    let falling: Vec<f64> = others
        .map(|(_, fall)| *fall)
        .filter(|fall| *fall >= LEAST_FALL)
        .collect();
    let mut others = [before, after, median(&falling)].into_iter().flatten();
    others.all(|other| fall >= STANDS_OUT * other)
}

/// Whether the steepest step falls by more for each byte, too, than the one before it, where that is asked of it: within a doubling of the memory
/// with which everything fits.
fn stands_out_by_bytes(steps: &[Step], steepest: usize, fits_bytes: u64) -> bool {
    let is_near_the_end = fits_bytes <= steps[steepest].end_bytes.saturating_mul(2);
    let before = steepest.checked_sub(1).map(|place| &steps[place]);
    !is_near_the_end
        || before
            .is_none_or(|before| steps[steepest].fall_by_bytes >= STANDS_OUT_BY_BYTES * before.fall_by_bytes)
}

#[cfg(test)]
mod tests;
