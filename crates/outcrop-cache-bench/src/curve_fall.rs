//! How the misses of a policy fall with more memory: evenly, or most of all at a knee.

use outcrop_cache::store::PolicyKind;
use outcrop_measure::interval::median;

use crate::curve::CurvePoint;

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

/// Steps one behind the other in which the misses fall alike. Falls are in shares of the gets for each doubling of the memory; a fall below 0
/// is a rise.
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
    fall: f64,
}

impl CurveFall {
    /// How the misses of a policy fall; none where they do not, or fewer than two steps were simulated, so that none can stand out.
    /// `first_gets` miss in every cache, however much memory it has.
    pub fn of(points: &[CurvePoint], policy: PolicyKind, first_gets: u64) -> Option<Self> {
        let steps = steps(points, policy);
        let falls: Vec<f64> = steps.iter().map(|step| step.fall).collect();
        let steepest = (0..falls.len()).max_by(|one, other| falls[*one].total_cmp(&falls[*other]))?;
        if falls.len() < 2 || falls[steepest] < LEAST_KNEE {
            return None;
        }
        if stands_out(&falls, steepest) {
            let Step { from, to, .. } = steps[steepest];
            // A curve that flattens out begins with its steepest step wherever it begins. But no memory misses more than every get, and none
            // less than the first ones.
            let is_bounded_below = from.hits == 0;
            let is_bounded_above = to.misses_first_gets_alone(first_gets);
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
}

impl Stretch {
    /// Whether the misses hardly fall in it.
    pub fn stands_still(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Gets of a thousand that miss in every cache.
    const FIRST_GETS: u64 = 30;

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
        CurveFall::of(&curve(misses), PolicyKind::Lru, FIRST_GETS)
    }

    /// Where the knee begins, in doublings of the least memory.
    fn knee(misses: &[u64]) -> Option<u32> {
        match fall(misses)? {
            CurveFall::Knee { from, .. } => Some((from.memory_bytes / 1024).trailing_zeros()),
            CurveFall::Open { .. } | CurveFall::Stretches(_) => None,
        }
    }

    /// On which side a step that stands out has nothing beside it.
    fn open(misses: &[u64]) -> Option<Beyond> {
        match fall(misses)? {
            CurveFall::Open { beyond, .. } => Some(beyond),
            CurveFall::Knee { .. } | CurveFall::Stretches(_) => None,
        }
    }

    #[test]
    fn a_straight_line_has_no_knee_though_one_of_its_steps_is_the_steepest() {
        // Falls of 9.1, 9.1, 9.5, 9.3 and 8.4 points, and then everything fits.
        let line = [607, 516, 425, 330, 237, 153, 153, 153, 153];
        assert_eq!(knee(&line), None);
        assert_eq!(
            told(&line),
            [(0, 5, 0.084, 0.095), (5, 8, 0.0, 0.0)],
            "what falls alike, and where everything fits"
        );
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
    fn whether_the_first_or_the_last_step_is_a_knee_is_open_unless_no_memory_beyond_it_can_differ() {
        // The same curve from one step earlier is no knee, and from there on it may be one.
        let curve = [279, 192, 105, 60];
        assert_eq!((knee(&curve), open(&curve)), (None, None));
        assert_eq!(open(&curve[1..]), Some(Beyond::Smaller));
        // What falls as much again in the next step is no knee.
        let falls = [900, 880, 600, 320];
        assert_eq!((knee(&falls), open(&falls)), (None, None));
        assert_eq!(open(&falls[..3]), Some(Beyond::Larger));
        // Where nothing hits, less memory misses no more; where only first requests miss, more misses no less.
        assert_eq!(knee(&[1000, 500, 490]), Some(0));
        assert_eq!(open(&[999, 500, 490]), Some(Beyond::Smaller));
        assert_eq!(knee(&[700, 690, FIRST_GETS]), Some(1));
        assert_eq!(open(&[700, 690, FIRST_GETS + 1]), Some(Beyond::Larger));
    }

    #[test]
    fn a_curve_that_stands_still_first_and_then_falls_in_several_steps_says_where_it_begins_to_fall() {
        assert_eq!(
            told(&[354, 350, 348, 339, 256, 148, 58]),
            [(0, 3, 0.002, 0.009), (3, 6, 0.083, 0.108)]
        );
        assert_eq!(
            told(&[900, 800, 799, 700, 600]),
            [(0, 1, 0.1, 0.1), (1, 2, 0.001, 0.001), (2, 4, 0.099, 0.1)]
        );
    }

    #[test]
    fn a_curve_that_bends_says_up_to_where_it_falls() {
        assert_eq!(
            told(&[560, 459, 350, 343, 343]),
            [(0, 2, 0.101, 0.109), (2, 4, 0.0, 0.007)]
        );
        // Neither do falls that are alike one by one make a stretch that is even, nor many stretches an answer.
        assert_eq!(told(&[900, 830, 760, 710, 650, 600, 540])[0], (0, 6, 0.05, 0.07));
        assert_eq!(told(&[900, 740, 630, 610, 510, 505, 460]), [(0, 6, 0.005, 0.16)]);
    }

    /// What is said of a curve without a knee, in doublings of the least memory.
    fn told(misses: &[u64]) -> Vec<(u32, u32, f64, f64)> {
        let at = |point: CurvePoint| (point.memory_bytes / 1024).trailing_zeros();
        let thousandths = |share: f64| (share * 1000.0).round() / 1000.0;
        match fall(misses).unwrap() {
            CurveFall::Stretches(stretches) => stretches
                .iter()
                .map(|it| {
                    (
                        at(it.from),
                        at(it.to),
                        thousandths(it.least),
                        thousandths(it.most),
                    )
                })
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_said_of_any_curve_is_what_its_steps_do(misses in proptest::collection::vec(0_u64..=1000, 3..12)) {
            let points = curve(&misses);
            let share = |at: usize| points[at].miss_ratio().unwrap();
            let falls: Vec<f64> = (1..points.len()).map(|at| share(at - 1) - share(at)).collect();
            let at = |point: CurvePoint| points.iter().position(|known| *known == point).unwrap();
            match fall(&misses) {
                None => assert!(falls.iter().all(|fall| *fall < LEAST_KNEE)),
                Some(CurveFall::Knee { from, to }) => {
                    assert!(falls.iter().all(|fall| *fall <= falls[at(from)]) && at(to) == at(from) + 1);
                    assert!(at(from) > 0 || misses[0] == 1000, "nothing is known of less memory");
                    let is_last = at(to) + 1 == misses.len();
                    assert!(!is_last || misses[at(to)] <= FIRST_GETS, "nothing is known of more memory");
                }
                Some(CurveFall::Open { from, to, beyond }) => {
                    assert!(falls.iter().all(|fall| *fall <= falls[at(from)]) && at(to) == at(from) + 1);
                    match beyond {
                        Beyond::Smaller => assert_eq!(at(from), 0),
                        Beyond::Larger => assert_eq!(at(to) + 1, misses.len()),
                    }
                }
                Some(CurveFall::Stretches(stretches)) => {
                    let mut end = 0;
                    for stretch in stretches {
                        assert_eq!(at(stretch.from), end, "no gap");
                        end = at(stretch.to);
                        let its = &falls[at(stretch.from)..end];
                        assert_eq!(stretch.least, its.iter().copied().fold(f64::INFINITY, f64::min));
                        assert_eq!(stretch.most, its.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                    }
                    assert_eq!(end, points.len() - 1, "to the end");
                }
            }
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
            CurveFall::of(&points, PolicyKind::Lru, FIRST_GETS),
            Some(CurveFall::Stretches(_))
        ));
    }
}
