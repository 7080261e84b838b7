//! Curves whose shape is known.

use super::*;

/// Gets of a thousand that miss in every cache.
const FIRST_GETS: u64 = 30;

/// A curve with these misses per thousand gets, at doublings of the memory.
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

/// A trace of which everything fits in so much memory.
const fn facts(all_bytes: u64) -> TraceFacts {
    TraceFacts {
        gets: 1000,
        first_gets: FIRST_GETS,
        all_bytes,
        keys_without_size: 0,
    }
}

/// Where nothing but the misses tells that everything fits.
fn fall(misses: &[u64]) -> Option<CurveFall> {
    CurveFall::of(&curve(misses), PolicyKind::Lru, &facts(u64::MAX))
}

/// A curve of misses that fall evenly with each byte, down to the first gets, at these limits.
fn even(all_bytes: u64, limits: &[u64]) -> Vec<CurvePoint> {
    let points = limits.iter().map(|memory_bytes| {
        let share = (*memory_bytes).min(all_bytes) as f64 / all_bytes as f64;
        let misses = 1000.0 - share * (1000.0 - FIRST_GETS as f64);
        CurvePoint {
            memory_bytes: *memory_bytes,
            ..curve(&[misses.round() as u64])[0]
        }
    });
    points.collect()
}

#[test]
fn a_curve_that_is_straight_in_bytes_has_no_knee_wherever_between_the_limits_everything_fits() {
    const KIB: u64 = 1 << 10;
    let doublings: Vec<u64> = (4..=10).map(|power| KIB << power).collect();
    let uneven = [64, 128, 256, 512, 704].map(|kib| kib * KIB);
    for all_kib in 520..=1024 {
        for limits in [&doublings[..], &uneven] {
            let points = even(all_kib * KIB, limits);
            let fall = CurveFall::of(&points, PolicyKind::Lru, &facts(all_kib * KIB));
            assert!(
                matches!(fall, Some(CurveFall::Stretches(_))),
                "{all_kib} KiB, {limits:?}: {fall:?}"
            );
        }
    }
}

#[test]
fn a_step_in_which_everything_begins_to_fit_falls_up_to_there_alone() {
    // What the misses fall by from 512 KiB to 1 MiB, they fall by up to 640 KiB.
    let points = curve(&[900, 890, 880, 870, 860, 850, 700, 550, 400, 250, FIRST_GETS]);
    let steps = steps(&points, PolicyKind::Lru, 640 << 10);
    let last = steps.last().unwrap();
    assert_eq!(last.end_bytes, 640 << 10);
    // A third of a doubling, which counts as half of one.
    assert!((last.fall - 0.22 / 0.5).abs() < 1e-9, "{}", last.fall);
    let loops = curve(&[1000, 1000, 1000, FIRST_GETS]);
    let knee = CurveFall::of(&loops, PolicyKind::Lru, &facts(5 << 10));
    assert!(
        matches!(knee, Some(CurveFall::Knee { from, .. }) if from.memory_bytes == 4 << 10),
        "{knee:?}"
    );
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
        "what falls evenly, and where everything fits"
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
        CurveFall::of(&points, PolicyKind::Lru, &facts(u64::MAX)),
        Some(CurveFall::Stretches(_))
    ));
}

#[test]
fn a_fall_in_many_small_steps_is_that_of_all_of_them() {
    // 96 points between 640 and 700 KiB, in steps of 4 KiB.
    let limits = std::iter::once(320).chain((640..=1000).step_by(4)).chain([2000]);
    let points: Vec<CurvePoint> = limits
        .map(|kib: u64| CurvePoint {
            memory_bytes: kib << 10,
            ..curve(&[1000 - (kib.clamp(640, 700) - 640) * 16])[0]
        })
        .collect();
    let knee = CurveFall::of(&points, PolicyKind::Lru, &facts(u64::MAX));
    assert!(
        matches!(knee, Some(CurveFall::Knee { from, to }) if from.memory_bytes == 640 << 10 && to.hits == 960),
        "{knee:?}"
    );
    // Two cliffs, and limits close to each other.
    let uneven = [
        (256, 1000),
        (512, 1000),
        (600, 505),
        (640, 505),
        (1024, 505),
        (1500, 505),
        (1800, 505),
        (1850, 30),
    ];
    let points = uneven.map(|(kib, misses)| CurvePoint {
        memory_bytes: kib << 10,
        ..curve(&[misses])[0]
    });
    let steps = steps(&points, PolicyKind::Lru, u64::MAX);
    assert!(
        steps.iter().all(|step| step.fall <= 1.0),
        "no more than 50 points in half a doubling"
    );
    assert!(CurveFall::of(&points, PolicyKind::Lru, &facts(u64::MAX)).is_some());
}

#[test]
fn a_short_step_just_below_what_everything_takes_is_no_knee_for_what_it_would_fall_by_in_a_doubling() {
    let of = |misses: &[u64]| {
        let mut points = curve(misses);
        for (point, kib) in points.iter_mut().zip([165, 331, 662, 780, 1320]) {
            point.memory_bytes = kib << 10;
        }
        CurveFall::of(&points, PolicyKind::Lru, &facts(790 << 10))
    };
    // The third step falls by 0.9 points, which would be 3.8 in a doubling.
    let flat = of(&[200, 187, 176, 167, 167]);
    assert_eq!(flat, None);
    // A loop that begins to fit there is one.
    let loops = of(&[1000, 1000, 1000, FIRST_GETS, FIRST_GETS]);
    assert!(
        matches!(loops, Some(CurveFall::Knee { from, .. }) if from.memory_bytes == 662 << 10),
        "{loops:?}"
    );
}
