//! How the misses of a policy fall with more memory: evenly, or most of all at a knee.

use outcrop_cache::store::PolicyKind;
use outcrop_measure::interval::median;

use crate::curve::CurvePoint;

/// What the steps of a miss-ratio curve look like, from each limit to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CurveFall {
    /// One step stands out.
    Knee {
        /// Where it begins.
        from: CurvePoint,
        /// Where it ends.
        to: CurvePoint,
    },
    /// None does. Falls are in shares of the gets for each doubling of the memory, from the first step in which the misses fall to the last;
    /// without the last where that is the smallest, since everything begins to fit there.
    Even {
        /// Where they begin to fall, where they stand still before.
        from: Option<CurvePoint>,
        /// The smallest fall.
        least: f64,
        /// The median fall.
        usual: f64,
        /// The largest fall.
        most: f64,
        /// Where the last step ends, where that is left out.
        last_to: Option<CurvePoint>,
    },
}

/// A knee falls by at least this share of the gets for a doubling of the memory …
const LEAST_KNEE: f64 = 0.02;
/// … and by this many times as much as the step before it, the step after it, and the median of the other steps that fall …
const STANDS_OUT: f64 = 1.5;
/// … and where no step was simulated before it, by this many times as much as the one after it: a curve that flattens out begins with its
/// steepest step, wherever it begins.
const STANDS_OUT_AT_FIRST: f64 = 2.0;
/// Misses that fall by less for a doubling stand still.
const LEAST_FALL: f64 = 0.01;

/// A step of a curve, and by how much the misses fall in it for each doubling.
struct Step {
    from: CurvePoint,
    to: CurvePoint,
    fall: f64,
}

impl CurveFall {
    /// How the misses of a policy fall; none where they do not, or fewer than two steps were simulated, so that none can stand out.
    pub fn of(points: &[CurvePoint], policy: PolicyKind) -> Option<Self> {
        let steps = steps(points, policy);
        let falls: Vec<f64> = steps.iter().map(|step| step.fall).collect();
        let steepest = (0..falls.len()).max_by(|one, other| falls[*one].total_cmp(&falls[*other]))?;
        if falls.len() < 2 || falls[steepest] < LEAST_KNEE {
            return None;
        }
        if stands_out(&falls, steepest) {
            let Step { from, to, .. } = steps[steepest];
            return Some(Self::Knee { from, to });
        }
        let falls_at = |fall: &f64| *fall >= LEAST_FALL;
        let first = falls.iter().position(falls_at)?;
        let end = falls.iter().rposition(falls_at)? + 1;
        let falling = &falls[first..end];
        let least = |falls: &[f64]| falls.iter().copied().fold(f64::INFINITY, f64::min);
        // In the last of them everything begins to fit: what is left to fall may be less.
        let (falling, leaves_out) = match falling {
            [before @ .., last] if before.len() > 1 && *last <= least(before) => (before, true),
            all => (all, false),
        };
        Some(Self::Even {
            from: steps[first..].first().filter(|_| first > 0).map(|step| step.from),
            least: least(falling).max(0.0),
            usual: median(falling)?,
            most: falls[steepest],
            last_to: leaves_out.then(|| steps[end - 1].to),
        })
    }
}

/// The steps of a policy's curve, from the least memory on.
fn steps(points: &[CurvePoint], policy: PolicyKind) -> Vec<Step> {
    let mut of_policy: Vec<CurvePoint> = points
        .iter()
        .filter(|point| point.policy == policy)
        .copied()
        .collect();
    of_policy.sort_by_key(|point| point.memory_bytes);
    of_policy.dedup_by_key(|point| point.memory_bytes);
    let step = |pair: &[CurvePoint]| {
        let (from, to) = (pair[0], pair[1]);
        let doublings = (to.memory_bytes as f64 / from.memory_bytes as f64).log2();
        Some(Step {
            from,
            to,
            fall: (from.miss_ratio()? - to.miss_ratio()?) / doublings,
        })
    };
    of_policy.windows(2).filter_map(step).collect()
}

/// Whether the steepest of several falls is a knee, and not the largest of many that are alike.
fn stands_out(falls: &[f64], steepest: usize) -> bool {
    let fall = falls[steepest];
    let before = steepest.checked_sub(1).map(|place| falls[place]);
    let after = falls.get(steepest + 1).copied();
    let factor_after = match before {
        Some(_) => STANDS_OUT,
        None => STANDS_OUT_AT_FIRST,
    };
    let others = falls.iter().enumerate().filter(|(place, _)| *place != steepest);
    let falling: Vec<f64> = others
        .map(|(_, fall)| *fall)
        .filter(|fall| *fall >= LEAST_FALL)
        .collect();
    let is_times = |other: Option<f64>, factor: f64| other.is_none_or(|other| fall >= factor * other);
    is_times(before, STANDS_OUT) && is_times(after, factor_after) && is_times(median(&falling), STANDS_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve of so many misses of a thousand gets, with doublings of the memory.
    fn curve(misses: &[u64]) -> Vec<CurvePoint> {
        let point = |(doublings, misses): (usize, &u64)| CurvePoint {
            policy: PolicyKind::Lru,
            memory_bytes: 1024 << doublings,
            gets: 1000,
            hits: 1000 - misses,
            asked_bytes: 0,
            hit_bytes: 0,
            items: 0,
            held_bytes: 0,
        };
        misses.iter().enumerate().map(point).collect()
    }

    fn fall(misses: &[u64]) -> Option<CurveFall> {
        CurveFall::of(&curve(misses), PolicyKind::Lru)
    }

    /// Where the knee begins, in doublings of the least memory.
    fn knee(misses: &[u64]) -> Option<u32> {
        match fall(misses)? {
            CurveFall::Knee { from, .. } => Some((from.memory_bytes / 1024).trailing_zeros()),
            CurveFall::Even { .. } => None,
        }
    }

    #[test]
    fn a_straight_line_has_no_knee_though_one_of_its_steps_is_the_steepest() {
        // Falls of 9.1, 9.1, 9.5, 9.3 and 8.4 points, and then everything fits.
        let line = [607, 516, 425, 330, 237, 153, 153, 153, 153];
        assert_eq!(knee(&line), None);
        match fall(&line).unwrap() {
            CurveFall::Even {
                from,
                least,
                usual,
                most,
                last_to,
            } => {
                assert_eq!(from, None, "it falls from the beginning");
                assert_eq!(last_to, Some(curve(&line)[5]), "the last step is left out");
                assert!(
                    (least - 0.091).abs() < 1e-9 && (usual - 0.092).abs() < 1e-9,
                    "{least} {usual}"
                );
                assert!((most - 0.095).abs() < 1e-9, "{most}");
            }
            CurveFall::Knee { .. } => panic!("a straight line has no knee"),
        }
        // Every step of a line may be the steepest by chance.
        for steepest in 0..6 {
            let mut misses = 900;
            let uneven: Vec<u64> = (0..7)
                .map(|step| {
                    misses -= if step == steepest + 1 { 100 } else { 90 };
                    misses
                })
                .collect();
            assert_eq!(knee(&uneven), None, "{uneven:?}");
        }
    }

    #[test]
    fn the_step_in_which_a_loop_begins_to_fit_is_a_knee() {
        assert_eq!(knee(&[1000, 1000, 1000, 30, 30]), Some(2));
        assert_eq!(knee(&[1000, 30, 30]), Some(0));
        assert_eq!(knee(&[1000, 980, 30]), Some(1));
        // Keys that are requested often fit soon, the scan among them much later.
        assert_eq!(knee(&[600, 560, 530, 505, 120, 100]), Some(3));
    }

    #[test]
    fn a_curve_that_flattens_out_has_no_knee_at_the_memory_that_it_happens_to_begin_with() {
        let flattening = [900, 700, 580, 500, 450, 420];
        assert_eq!(knee(&flattening), None);
        assert_eq!(knee(&flattening[1..]), None);
        assert_eq!(knee(&flattening[2..]), None);
    }

    #[test]
    fn a_curve_that_stands_still_first_and_then_falls_in_several_steps_says_where_it_begins_to_fall() {
        let curve_of = [354, 350, 348, 339, 256, 148, 58];
        match fall(&curve_of).unwrap() {
            CurveFall::Even {
                from, least, most, ..
            } => {
                assert_eq!(from, Some(curve(&curve_of)[3]));
                assert!(
                    (least - 0.083).abs() < 1e-9 && (most - 0.108).abs() < 1e-9,
                    "{least} {most}"
                );
            }
            CurveFall::Knee { .. } => panic!("three steps alike are no knee"),
        }
        // One that stands still in between does not fall evenly.
        match fall(&[900, 800, 799, 700, 600]).unwrap() {
            CurveFall::Even { from, least, .. } => assert!(from.is_none() && least < 0.01, "{least}"),
            CurveFall::Knee { .. } => panic!("three steps alike are no knee"),
        }
    }

    #[test]
    fn where_nothing_falls_or_one_step_is_all_there_is_nothing_is_said() {
        assert_eq!(fall(&[500, 495, 494, 493]), None);
        assert_eq!(fall(&[500, 100]), None);
        assert_eq!(fall(&[500]), None);
        assert_eq!(fall(&[]), None);
    }

    #[test]
    fn limits_that_are_no_doublings_are_compared_by_what_they_would_fall_in_one() {
        // A step of eight times the memory falls most, and by no more for each doubling than the others.
        let mut points = curve(&[900, 810, 540, 450]);
        for (point, kib) in points.iter_mut().zip([1, 2, 16, 32]) {
            point.memory_bytes = kib << 10;
        }
        assert!(matches!(
            CurveFall::of(&points, PolicyKind::Lru),
            Some(CurveFall::Even { .. })
        ));
    }
}
