//! The SNIA rule against least squares from the normal equations, at and beyond its limits.

use outcrop_measure::steady_state::{SteadyState, Window, steady_state};
use proptest::prelude::*;

/// Mean, (max − min) ÷ mean, slope and slope × 4 ÷ mean over x = 1 … 5, from the raw normal equations.
fn naive(values: &[f64]) -> (f64, f64, f64, f64) {
    let n = values.len() as f64;
    let (mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0);
    for (position, value) in values.iter().enumerate() {
        let round = position as f64 + 1.0;
        x += round;
        y += value;
        xx += round * round;
        xy += round * value;
    }
    let slope = (n * xy - x * y) / (n * xx - x * x);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (
        y / n,
        (sorted[4] - sorted[0]) / (y / n),
        slope,
        (slope * 4.0).abs() / (y / n),
    )
}

fn window(state: SteadyState) -> Window {
    state.last().expect("at least five rounds")
}

#[test]
fn a_level_series_is_steady() {
    let state = steady_state(&[100.0; 8]);
    assert!(state.is_steady());
    assert_eq!(
        window(state),
        Window {
            mean: 100.0,
            excursion: 0.0,
            slope: 0.0,
            drift: 0.0
        }
    );
}

/// IOPS per second of a drive whose writes were throttled while it was measured: the first five rounds are steady.
const COLLAPSING: [f64; 12] = [
    41371.0, 39071.0, 39553.0, 37858.0, 38904.0, 38328.0, 40109.0, 25540.0, 8000.0, 1000.0, 640.0, 200.0,
];

#[test]
fn a_device_that_collapses_after_five_steady_rounds_is_not_steady() {
    assert!(steady_state(&COLLAPSING[..5]).is_steady());
    let state = steady_state(&COLLAPSING);
    assert!(!state.is_steady());
    let last = window(state);
    assert!(
        (last.mean - 7076.0).abs() < 1.0 && (last.excursion - 3.58).abs() < 0.01,
        "{last:?}"
    );
}

#[test]
fn a_device_that_fell_to_another_level_is_not_steady_though_it_holds_that_level() {
    let mut rounds = vec![
        69_100.0, 69_400.0, 68_900.0, 69_300.0, 69_000.0, 69_200.0, 69_350.0, 33_988.0,
    ];
    rounds.extend([400.0, 401.0, 400.0, 399.0, 400.0, 400.0, 401.0, 400.0]);
    let SteadyState::NotSteady { last, shift } = steady_state(&rounds) else {
        panic!("the figure of this trial is of no state");
    };
    assert!(last.is_steady());
    assert_eq!(shift.expect("from 69 k to 400").at, 7);
}

#[test]
fn each_limit_alone_keeps_a_series_from_being_steady() {
    // Excursion 21 % of the mean with no slope.
    let spike = steady_state(&[100.0, 100.0, 121.9, 100.0, 100.0]);
    assert!(!spike.is_steady() && window(spike).drift < 1e-12 && window(spike).excursion > 0.20);
    // Drift 12 % of the mean with an excursion of 12 %.
    let slope = steady_state(&[94.0, 97.0, 100.0, 103.0, 106.0]);
    assert!(!slope.is_steady() && window(slope).excursion < 0.20 && window(slope).drift > 0.10);
    // Exactly at both limits: steady.
    let limits = steady_state(&[95.0, 110.0, 100.0, 90.0, 105.0]);
    assert!(
        limits.is_steady() && window(limits).excursion == 0.20,
        "{limits:?}"
    );
}

#[test]
fn too_few_rounds_give_no_verdict() {
    assert_eq!(steady_state(&[1.0; 4]), SteadyState::TooFewRounds { rounds: 4 });
}

#[test]
fn a_device_that_does_nothing_is_not_steady() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(!steady_state(&[value; 5]).is_steady(), "{value}");
    }
}

#[test]
fn the_verdict_is_a_tagged_object_in_serde() {
    let json = serde_json::to_string(&steady_state(&[1.0; 5])).expect("plain numbers");
    assert_eq!(
        json,
        r#"{"state":"steady","last":{"mean":1.0,"excursion":0.0,"slope":0.0,"drift":0.0}}"#
    );
    assert_eq!(
        serde_json::from_str::<SteadyState>(&json).expect("what was written"),
        steady_state(&[1.0; 5])
    );
}

proptest! {
    #[test]
    fn the_last_five_rounds_obey_the_naive_rule(rounds in prop::collection::vec(80.0..120.0f64, 5..30)) {
        let (mean, excursion, slope, drift) = naive(&rounds[rounds.len() - 5..]);
        let state = steady_state(&rounds);
        let has_shift = matches!(state, SteadyState::NotSteady { shift: Some(_), .. });
        prop_assert_eq!(state.is_steady(), excursion <= 0.20 && drift <= 0.10 && !has_shift);
        let window = window(state);
        for (left, right) in
            [(window.mean, mean), (window.excursion, excursion), (window.slope, slope), (window.drift, drift)]
        {
            prop_assert!((left - right).abs() < 1e-9, "{left} and {right}");
        }
    }
}
