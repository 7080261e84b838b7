//! Curves whose shape is known, at limits of any kind.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Gets per curve: enough that rounding misses to whole numbers does not look like a fall.
const GETS: u64 = 1_000_000;
/// Gets that miss in every cache.
const FIRST_GETS: u64 = 30_000;
const KIB: u64 = 1 << 10;
/// Where everything fits.
const ALL: u64 = 1024 * KIB;

/// A trace of which everything fits in so much memory.
const fn facts(all_bytes: u64) -> TraceFacts {
    TraceFacts {
        gets: GETS,
        first_gets: FIRST_GETS,
        most_hits: GETS - FIRST_GETS,
        all_bytes,
        keys_without_size: 0,
    }
}

fn point(memory_bytes: u64, misses: u64) -> CurvePoint {
    CurvePoint {
        policy: PolicyKind::Lru,
        memory_bytes,
        gets: GETS,
        hits: GETS - misses,
        asked_bytes: 0,
        hit_bytes: 0,
        items: 0,
        held_bytes: 0,
    }
}

/// What is found at limits of a curve, which gives the share of the gets that miss with so much memory.
fn at(limits: impl IntoIterator<Item = u64>, curve: impl Fn(f64) -> f64) -> Option<CurveFall> {
    let misses = |limit: u64| (curve(limit as f64) * GETS as f64).round() as u64;
    let points: Vec<CurvePoint> = limits
        .into_iter()
        .map(|limit| point(limit, misses(limit)))
        .collect();
    CurveFall::of(&points, PolicyKind::Lru, &facts(ALL))
}

fn at_kib(limits: &[u64], curve: impl Fn(f64) -> f64) -> Option<CurveFall> {
    at(limits.iter().map(|kib| kib * KIB), |memory| {
        curve(memory / KIB as f64)
    })
}

/// Thousandths of the gets that miss at doublings from 1 KiB on.
fn doublings(misses: &[u64]) -> Option<CurveFall> {
    let points = misses.iter().enumerate();
    let points: Vec<CurvePoint> = points
        .map(|(doublings, misses)| point(KIB << doublings, misses * 1000))
        .collect();
    CurveFall::of(&points, PolicyKind::Lru, &facts(u64::MAX))
}

/// The range in KiB, and what it is.
fn seen(fall: Option<CurveFall>) -> (u64, u64, FallShape) {
    let fall = fall.expect("the misses fall");
    (
        fall.from.memory_bytes / KIB,
        fall.to.memory_bytes / KIB,
        fall.shape,
    )
}

/// The least share that misses.
const FLOOR: f64 = FIRST_GETS as f64 / GETS as f64;

/// The curve of several loops: the KiB in which each fits, and its share of the gets.
fn loops(loops: &[(f64, f64)]) -> impl Fn(f64) -> f64 {
    move |kib| {
        let fitting = loops.iter().filter(|(size, _)| *size <= kib);
        1.0 - fitting.map(|(_, share)| share).sum::<f64>()
    }
}

#[test]
fn a_loop_has_a_knee_where_it_begins_to_fit_and_more_limits_name_it_more_closely() {
    let curve = loops(&[(110.0, 0.97)]);
    for (limits, from, to) in [
        (&[32, 64, 128, 256][..], 64, 128),
        (&[32, 64, 96, 128, 192, 256, 384, 512], 96, 128),
        (&[100, 110, 120, 130, 140], 100, 110),
        (&[64, 90, 128], 90, 128),
        (&[32, 109, 111, 112, 113, 1024], 109, 111),
        (&[96, 128], 96, 128),
    ] {
        assert_eq!(
            seen(at_kib(limits, &curve)),
            (from, to, FallShape::Knee),
            "{limits:?}"
        );
    }
    // In a step of more than a doubling, it may be anywhere.
    assert_eq!(seen(at_kib(&[64, 1024], &curve)), (64, 1024, FallShape::Coarse));
}

#[test]
fn the_parts_of_a_knee_are_found_in_all_steps_of_it_and_two_cliffs_are_not_one() {
    // Two loops, of 80 and 112 KiB.
    let close = loops(&[(80.0, 0.403), (112.0, 0.534)]);
    assert_eq!(
        seen(at_kib(&[32, 64, 96, 128, 256, 512], close)),
        (64, 128, FallShape::Knee)
    );
    let far = loops(&[(129.0, 0.457), (400.0, 0.447)]);
    assert_eq!(
        seen(at_kib(&[32, 64, 128, 130], &far)),
        (128, 130, FallShape::Open(Beyond::Larger))
    );
    assert_eq!(
        seen(at_kib(&[64, 128, 130, 133], &far)),
        (128, 130, FallShape::Open(Beyond::Larger)),
        "limits close by show nothing of what is beyond"
    );
    assert_eq!(
        seen(at_kib(&[32, 64, 128, 130, 260], &far)),
        (128, 130, FallShape::Knee)
    );
    let both = at_kib(&[32, 64, 128, 130, 260, 520], &far);
    assert_eq!(seen(both), (128, 520, FallShape::Wide(None)));
    // Falls that no doubling joins, with a gap in which nothing happens.
    let three = loops(&[(20.0, 0.33), (40.0, 0.33), (300.0, 0.33)]);
    let apart = at_kib(&[8, 16, 32, 64, 200, 400, 800], three);
    assert_eq!(seen(apart).2, FallShape::Wide(None));
    // Keys that are requested often fit soon, the scan among them much later.
    assert_eq!(
        seen(doublings(&[600, 560, 530, 505, 120, 100])),
        (8, 16, FallShape::Knee)
    );
}

#[test]
fn a_fall_on_both_sides_of_a_limit_may_be_a_knee_and_limits_between_show_it() {
    let sizes = [110.0, 118.0, 126.0, 134.0, 142.0, 150.0];
    let falls = sizes.map(|size| (size, 0.16));
    let curve = loops(&falls);
    assert_eq!(
        seen(at_kib(&[16, 32, 64, 128, 256, 512], &curve)),
        (64, 256, FallShape::Coarse)
    );
    assert_eq!(
        seen(at_kib(&[16, 32, 64, 91, 128, 182, 256, 512], &curve)),
        (91, 182, FallShape::Knee)
    );
}

#[test]
fn a_curve_that_flattens_out_has_no_knee_at_the_memory_that_it_happens_to_begin_with() {
    assert_eq!(
        seen(doublings(&[900, 700, 580, 500, 450, 420])).2,
        FallShape::Wide(None)
    );
    assert_eq!(
        seen(doublings(&[192, 105, 100])).2,
        FallShape::Open(Beyond::Smaller)
    );
    assert_eq!(
        seen(doublings(&[900, 880, 600])).2,
        FallShape::Open(Beyond::Larger)
    );
    // No memory misses more than every get, and none less than the first ones.
    assert_eq!(seen(doublings(&[1000, 105, 100])), (1, 2, FallShape::Knee));
    assert_eq!(seen(doublings(&[900, 880, 30])), (2, 4, FallShape::Knee));
}

#[test]
fn where_most_of_the_fall_may_lie_beyond_the_limits_the_side_is_named() {
    // Of the gets, 850 of a thousand find the few keys that fit in the smallest limit, wherever below it.
    let hidden = doublings(&[150, 140, 120, 100, 70, 30]);
    assert_eq!(seen(hidden).2, FallShape::Wide(Some(Beyond::Smaller)));
    let larger = doublings(&[1000, 980, 960, 940, 920, 900]);
    assert_eq!(seen(larger).2, FallShape::Wide(Some(Beyond::Larger)));
    let known = doublings(&[1000, 800, 600, 400, 200, 30]);
    assert_eq!(seen(known).2, FallShape::Wide(None));
}

#[test]
fn nothing_is_said_where_the_misses_hardly_fall_or_there_is_one_limit() {
    for misses in [&[500, 495, 494, 485][..], &[500, 600, 700], &[500], &[]] {
        assert_eq!(doublings(misses), None, "{misses:?}");
    }
}

/// Limits of any kind from 1 KiB to 4 MiB, some of them close to each other.
fn any_limits() -> impl Strategy<Value = BTreeSet<u64>> {
    proptest::collection::btree_set(
        (0.0..12.0_f64).prop_map(|power| (KIB as f64 * power.exp2()) as u64),
        2..20,
    )
}

proptest! {
    #[test]
    fn a_curve_that_is_straight_in_bytes_has_no_knee_at_any_limits(limits in any_limits()) {
        let even = |memory: f64| 1.0 - (memory / ALL as f64).min(1.0) * (1.0 - FLOOR);
        if let Some(fall) = at(limits, even) {
            prop_assert_ne!(fall.shape, FallShape::Knee);
        }
    }

    #[test]
    fn a_curve_that_falls_evenly_with_each_doubling_has_no_knee_at_any_limits(limits in any_limits()) {
        let even = |memory: f64| 0.9 - 0.06 * (memory / KIB as f64).log2();
        let points: Vec<CurvePoint> = limits
            .into_iter()
            .map(|limit| point(limit, (even(limit as f64) * GETS as f64) as u64))
            .collect();
        if let Some(fall) = CurveFall::of(&points, PolicyKind::Lru, &facts(u64::MAX)) {
            prop_assert_ne!(fall.shape, FallShape::Knee);
        }
    }

    #[test]
    fn a_loop_between_two_limits_has_a_knee_there_unless_they_are_more_than_a_doubling_apart(
        limits in any_limits(), size in 1.0..4000.0_f64,
    ) {
        let curve = |memory: f64| if memory >= size * KIB as f64 { FLOOR } else { 1.0 };
        let below = limits.iter().rev().find(|limit| curve(**limit as f64) == 1.0).copied();
        let above = limits.iter().find(|limit| curve(**limit as f64) < 1.0).copied();
        let fall = at(limits, curve);
        let Some((below, above)) = below.zip(above) else {
            prop_assert_eq!(fall, None);
            return Ok(());
        };
        let fall = fall.unwrap();
        prop_assert_eq!((fall.from.memory_bytes, fall.to.memory_bytes), (below, above));
        prop_assert_eq!(fall.shape, if above > 2 * below { FallShape::Coarse } else { FallShape::Knee });
    }

    #[test]
    fn that_there_is_no_single_knee_is_said_only_where_no_doubling_has_most_of_the_fall(
        sizes in proptest::collection::vec(1.0..4000.0_f64, 1..8), limits in any_limits(),
    ) {
        let share = 0.97 / sizes.len() as f64;
        let misses = |kib: f64| 1.0 - share * sizes.iter().filter(|size| **size <= kib).count() as f64;
        let kib = |bytes: u64| bytes as f64 / KIB as f64;
        let (least, most) = (kib(*limits.first().unwrap()), kib(*limits.last().unwrap()));
        let Some(fall) = at(limits, |bytes| misses(bytes / KIB as f64)) else {
            return Ok(());
        };
        let whole = misses(least) - misses(most);
        // A doubling that ends where a loop begins to fit has as much as any, of those beyond the limits too.
        let anywhere = sizes.iter().map(|size| misses(size / 2.0) - misses(*size)).fold(0.0, f64::max);
        let in_doubling = |end: f64| misses((end / 2.0).max(least)) - misses(end.min(most));
        let steepest = sizes.iter().map(|size| in_doubling(*size)).fold(0.0, f64::max);
        match fall.shape {
            FallShape::Wide(beyond) => {
                prop_assert!(steepest < 0.75 * whole + 1e-4, "{steepest} of {whole}");
                prop_assert!(beyond.is_some() || anywhere < 0.75 * 0.97 + 1e-4, "{anywhere}");
            }
            FallShape::Knee => prop_assert!(steepest > 0.75 * whole - 1e-4, "{steepest} of {whole}"),
            FallShape::Open(_) | FallShape::Coarse => {}
        }
    }

    #[test]
    fn no_narrower_range_has_three_quarters_of_the_largest_fall(
        misses in proptest::collection::vec(0_u64..=1000, 2..12), limits in any_limits(),
    ) {
        let points: Vec<CurvePoint> = limits.iter().zip(&misses).map(|(limit, misses)| point(*limit, misses * 1000)).collect();
        let fall = |from: &CurvePoint, to: &CurvePoint| to.hits as f64 - from.hits as f64;
        let quotient = |from: &CurvePoint, to: &CurvePoint| to.memory_bytes as f64 / from.memory_bytes as f64;
        let pairs = points.iter().enumerate().flat_map(|(place, from)| points[place + 1..].iter().map(move |to| (from, to)));
        let largest = pairs.clone().map(|(from, to)| fall(from, to)).fold(0.0, f64::max);
        match CurveFall::of(&points, PolicyKind::Lru, &facts(u64::MAX)) {
            None => prop_assert!(largest < LEAST_FALL * GETS as f64),
            Some(found) => {
                prop_assert_eq!(fall(&found.first, &found.last), largest);
                prop_assert!(fall(&found.from, &found.to) >= 0.75 * largest);
                let width = quotient(&found.from, &found.to);
                for (from, to) in pairs {
                    prop_assert!(quotient(from, to) >= width || fall(from, to) < 0.75 * largest);
                }
            }
        }
    }
}
