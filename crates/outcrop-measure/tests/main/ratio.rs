//! Rank tests against plain enumeration, and how often they find a difference where there is none.

use outcrop_measure::Seed;
use outcrop_measure::interval::Interval;
use outcrop_measure::ratio::{
    RatioTest, beside_a_constant, discoveries, independent, least_p_value, least_p_value_of_pairs,
    of_intervals, paired, samples_to_exclude, samples_to_stay_between,
};
use outcrop_measure::seed::Generator;
use proptest::prelude::*;
use rand::Rng;

/// A repetition of a quiet machine: 1, give or take 2 %, and now and then a neighbour takes a fifth of it.
fn repetition(rng: &mut Generator) -> f64 {
    let uniform = |rng: &mut Generator| rng.next_u64() as f64 / 2f64.powi(64);
    let noise: f64 = (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0;
    let disturbed = if uniform(rng) < 0.1 { 0.8 } else { 1.0 };
    disturbed * (1.0 + 0.02 * noise)
}

fn side(rng: &mut Generator, n: usize) -> Vec<f64> {
    (0..n).map(|_| repetition(rng)).collect()
}

/// P(as many or fewer pairs against the difference) by going through every way to deal the ranks to the two sides.
fn enumerated_p(numerator: &[f64], denominator: &[f64]) -> f64 {
    let (n, all) = (numerator.len(), numerator.len() + denominator.len());
    let against_of = |is_above: &dyn Fn(usize, usize) -> bool, first: &[usize], second: &[usize]| {
        let pairs = first.iter().flat_map(|i| second.iter().map(move |j| (*i, *j)));
        let above = pairs.filter(|(i, j)| is_above(*i, *j)).count();
        above.min(first.len() * second.len() - above)
    };
    let values: Vec<f64> = [numerator, denominator].concat();
    let (first, second): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (n..all).collect());
    let seen = against_of(&|i, j| values[i] > values[j], &first, &second);
    let mut ways = 0_u32;
    let mut as_extreme = 0_u32;
    for chosen in (0_u32..1 << all).filter(|bits| bits.count_ones() as usize == n) {
        let (first, second): (Vec<usize>, Vec<usize>) = (0..all).partition(|place| chosen >> place & 1 == 1);
        ways += 1;
        as_extreme += u32::from(against_of(&|i, j| i > j, &first, &second) <= seen);
    }
    f64::from(as_extreme) / f64::from(ways)
}

fn share_of(trials: u32, mut is_hit: impl FnMut(u64) -> bool) -> f64 {
    let hits = (0..trials).filter(|trial| is_hit(u64::from(*trial))).count();
    hits as f64 / f64::from(trials)
}

#[test]
fn an_interval_of_few_repetitions_says_the_confidence_that_order_gives_it() {
    let confidence = |n: usize| {
        let samples: Vec<f64> = (0..n).map(|i| 100.0 + i as f64).collect();
        independent(&samples, &samples).unwrap().interval.confidence
    };
    let of_two_to_six: Vec<String> = (2..7).map(|n| format!("{:.3}", confidence(n))).collect();
    // 1 − 2 · (arrangements cut off) ÷ C(2n, n).
    assert_eq!(of_two_to_six, ["0.667", "0.900", "0.971", "0.968", "0.959"]);
    let of_pairs = |n: usize| paired(&vec![1.01; n]).unwrap().interval.confidence;
    assert_eq!((of_pairs(2), of_pairs(5), of_pairs(6)), (0.5, 0.9375, 0.96875));
    assert_eq!(beside_a_constant(&[1.0; 5]).unwrap().interval.confidence, 0.9375);
}

#[test]
fn complete_separation_is_the_least_p_value_that_there_is() {
    let above: Vec<f64> = (0..5).map(|i| 110.0 + f64::from(i)).collect();
    let below: Vec<f64> = (0..5).map(|i| 100.0 + f64::from(i)).collect();
    let seen = independent(&above, &below).unwrap();
    assert!((seen.p_value - 2.0 / 252.0).abs() < 1e-12);
    assert_eq!(seen.p_value, least_p_value(5, 5));
    assert!(seen.interval.low > 1.0);
    assert!((least_p_value_of_pairs(6) - 2.0 / 64.0).abs() < 1e-12);
}

#[test]
fn what_is_not_positive_or_too_little_has_no_ratio() {
    assert_eq!(independent(&[1.0, 2.0], &[1.0]), None);
    assert_eq!(independent(&[1.0, 2.0], &[0.0, 1.0]), None);
    assert_eq!(independent(&[1.0, f64::INFINITY], &[1.0, 1.0]), None);
    assert_eq!(paired(&[1.0]), None);
    assert_eq!(paired(&[1.0, -1.0]), None);
    assert_eq!(beside_a_constant(&[f64::NAN, 1.0]), None);
}

#[test]
fn equal_sides_that_repeat_one_value_are_equal() {
    let seen = independent(&[3.0; 5], &[3.0; 5]).unwrap();
    assert_eq!(
        (seen.interval.low, seen.interval.high, seen.p_value),
        (1.0, 1.0, 1.0)
    );
}

/// The audit's table, at fixed seeds: a bootstrap of two repetitions a side was wrong in 32 % of comparisons, of three in 9 to 12 %.
#[test]
fn equal_sides_differ_no_more_often_than_the_interval_says() {
    for n in [2, 3, 4, 5, 7, 10, 20] {
        let mut stated = 1.0;
        let wrong = share_of(4000, |trial| {
            let mut rng = Seed(11).derive_index(n as u64).derive_index(trial).rng();
            let test = independent(&side(&mut rng, n), &side(&mut rng, n)).unwrap();
            stated = test.interval.confidence;
            !test.interval.contains(1.0)
        });
        let allowed = 1.0 - stated;
        // Three standard deviations of a share of 4,000 comparisons.
        let chance = 3.0 * (allowed * stated / 4000.0).sqrt();
        assert!(
            wrong <= allowed + chance,
            "n = {n}: {wrong} where {allowed} is stated"
        );
        assert!(
            wrong >= allowed / 3.0 - chance,
            "n = {n}: {wrong} is far below the {allowed} that is stated"
        );
    }
}

/// The machine of a run is up to a tenth faster or slower than that of the next: the reason for `outcrop ab`.
#[test]
fn drift_between_runs_is_found_as_a_difference_and_drift_between_pairs_is_not() {
    let level = |rng: &mut Generator| 0.9 + 0.2 * rng.next_u64() as f64 / 2f64.powi(64);
    let of_runs = share_of(1000, |trial| {
        let mut rng = Seed(15).derive_index(trial).rng();
        let drift = level(&mut rng);
        let drifted: Vec<f64> = side(&mut rng, 10).iter().map(|value| value * drift).collect();
        !independent(&drifted, &side(&mut rng, 10))
            .unwrap()
            .interval
            .contains(1.0)
    });
    assert!(of_runs > 0.3, "{of_runs}");
    let of_pairs = share_of(4000, |trial| {
        let mut rng = Seed(12).derive_index(trial).rng();
        let pair = |rng: &mut Generator| {
            let drift = level(rng);
            (drift * repetition(rng)) / (drift * repetition(rng))
        };
        let ratios: Vec<f64> = (0..10).map(|_| pair(&mut rng)).collect();
        !paired(&ratios).unwrap().interval.contains(1.0)
    });
    assert!(of_pairs <= 0.06, "{of_pairs}");
}

#[test]
fn of_many_equal_rows_none_is_called_a_difference_in_19_of_20_comparisons() {
    const ROWS: usize = 12;
    let any = |is_corrected: bool| {
        share_of(1500, |trial| {
            let mut rng = Seed(13).derive_index(trial).rng();
            let p_values: Vec<f64> = (0..ROWS)
                .map(|_| {
                    independent(&side(&mut rng, 7), &side(&mut rng, 7))
                        .unwrap()
                        .p_value
                })
                .collect();
            if is_corrected {
                discoveries(&p_values, 0.05).contains(&true)
            } else {
                p_values.iter().any(|p| *p <= 0.05)
            }
        })
    };
    assert!(
        any(false) > 0.3,
        "uncorrected, one of twelve is found in every third comparison"
    );
    let corrected = any(true);
    assert!(
        corrected <= 0.05 + 3.0 * (0.05 * 0.95 / 1500.0_f64).sqrt(),
        "{corrected}"
    );
}

#[test]
fn a_real_change_of_a_tenth_is_found() {
    let found = share_of(500, |trial| {
        let mut rng = Seed(14).derive_index(trial).rng();
        let slower: Vec<f64> = side(&mut rng, 10).iter().map(|value| value * 0.9).collect();
        independent(&slower, &side(&mut rng, 10)).unwrap().interval.high < 1.0
    });
    assert!(found > 0.9, "{found}");
}

#[test]
fn discoveries_are_those_of_benjamini_and_hochberg() {
    // The example of their paper, section 3.2: four of fifteen at 0.05.
    let p_values = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
        0.6528, 0.7590, 1.0,
    ];
    let found = discoveries(&p_values, 0.05);
    assert_eq!(found.iter().filter(|is_found| **is_found).count(), 4);
    assert!(found[..4].iter().all(|is_found| *is_found));
    assert_eq!(discoveries(&[], 0.05), Vec::<bool>::new());
}

fn interval(low: f64, estimate: f64, high: f64) -> Interval {
    Interval {
        estimate,
        low,
        high,
        confidence: 0.95,
        n: 128,
    }
}

/// The audit's two samples of one corpus: ratios of 3.37 and 3.57, which their own intervals do not tell apart.
#[test]
fn two_samples_whose_intervals_overlap_widely_do_not_differ() {
    let RatioTest {
        interval: seen,
        p_value,
    } = of_intervals(&interval(3.26, 3.57, 3.95), &interval(3.08, 3.37, 3.73)).unwrap();
    assert!(seen.contains(1.0) && p_value > 0.1, "{seen:?} {p_value}");
    assert!(
        seen.low < 0.95 && seen.high > 1.15,
        "neither are they shown to be the same: {seen:?}"
    );
    let apart = of_intervals(&interval(3.9, 4.0, 4.1), &interval(2.9, 3.0, 3.1)).unwrap();
    assert!(apart.interval.low > 1.0 && apart.p_value < 1e-6);
}

proptest! {
    #[test]
    fn the_p_value_is_that_of_plain_enumeration(
        numerator in prop::collection::hash_set(1_u32..1_000_000, 2..6),
        denominator in prop::collection::hash_set(1_000_000_u32..2_000_000, 2..6),
        shift in 0.1..10.0_f64,
    ) {
        let numerator: Vec<f64> = numerator.into_iter().map(|v| f64::from(v) * shift + 0.37).collect();
        let denominator: Vec<f64> = denominator.into_iter().map(f64::from).collect();
        let test = independent(&numerator, &denominator).unwrap();
        prop_assert!((test.p_value.min(1.0) - enumerated_p(&numerator, &denominator)).abs() < 1e-9);
        // What is printed never contradicts what is decided.
        prop_assert!(test.interval.contains(1.0) || test.p_value <= 0.05 || test.interval.confidence < 0.95);
        prop_assert!(test.interval.contains(test.interval.estimate));
    }

    #[test]
    fn turning_the_sides_around_turns_the_ratio_around(
        a in prop::collection::vec(1.0..1e6_f64, 2..12),
        b in prop::collection::vec(1.0..1e6_f64, 2..12),
    ) {
        let (there, back) = (independent(&a, &b).unwrap(), independent(&b, &a).unwrap());
        prop_assert!((there.interval.low * back.interval.high - 1.0).abs() < 1e-9);
        prop_assert!((there.p_value - back.p_value).abs() < 1e-12);
    }
}

#[test]
fn the_samples_that_would_decide_are_as_many_as_the_root_of_their_number_narrows_an_interval() {
    let interval = Interval {
        estimate: 1.1,
        low: 1.1 / 1.2,
        high: 1.1 * 1.2,
        confidence: 0.95,
        n: 10,
    };
    let close = |seen: Option<f64>, expected: f64| {
        let seen = seen.unwrap();
        assert!(
            (seen / expected - 1.0).abs() < 1e-3,
            "{seen}, expected {expected}"
        );
    };
    let times = |reach: f64, distance: f64| 10.0 * (reach.ln() / distance.ln()).powi(2);
    close(samples_to_exclude(&interval, 1.0, 1), times(1.2, 1.1));
    close(samples_to_exclude(&interval, 1.2, 1), times(1.2, 1.2 / 1.1));
    // Ten tests take 2.807 standard deviations instead of 1.960.
    close(
        samples_to_exclude(&interval, 1.0, 10),
        times(1.2, 1.1) * (2.807 / 1.960_f64).powi(2),
    );
    close(
        samples_to_stay_between(&interval, 0.8, 1.25),
        times(1.2, 1.25 / 1.1),
    );
    assert_eq!(samples_to_exclude(&interval, 1.1, 1), None);
    assert_eq!(samples_to_stay_between(&interval, 0.95, 1.05), None);
    let nothing = Interval { low: 0.0, ..interval };
    assert_eq!(samples_to_exclude(&nothing, 1.0, 1), None);
}
