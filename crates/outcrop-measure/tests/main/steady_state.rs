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
    match state {
        SteadyState::Reached(window) | SteadyState::NotReached(window) => window,
        SteadyState::TooFewRounds { rounds } => panic!("only {rounds} rounds"),
    }
}

#[test]
fn a_level_series_is_steady_at_its_fifth_round() {
    let state = steady_state(&[100.0; 8]);
    assert!(state.is_reached());
    assert_eq!(
        window(state),
        Window {
            round: 5,
            mean: 100.0,
            excursion: 0.0,
            slope: 0.0,
            drift: 0.0
        }
    );
}

#[test]
fn a_decaying_series_is_steady_once_its_window_has_left_the_decay() {
    let rounds: Vec<f64> = (0..20)
        .map(|round| {
            if round < 6 {
                1000.0 - 150.0 * f64::from(round)
            } else {
                100.0
            }
        })
        .collect();
    let state = steady_state(&rounds);
    assert!(state.is_reached());
    assert_eq!(window(state).round, 11);
}

#[test]
fn each_limit_alone_keeps_a_series_from_being_steady() {
    // Excursion 21 % of the mean with no slope.
    let spike = steady_state(&[100.0, 100.0, 121.9, 100.0, 100.0]);
    assert!(!spike.is_reached() && window(spike).drift < 1e-12 && window(spike).excursion > 0.20);
    // Drift 12 % of the mean with an excursion of 12 %.
    let slope = steady_state(&[94.0, 97.0, 100.0, 103.0, 106.0]);
    assert!(!slope.is_reached() && window(slope).excursion < 0.20 && window(slope).drift > 0.10);
    // Exactly at both limits: steady.
    let limits = steady_state(&[95.0, 110.0, 100.0, 90.0, 105.0]);
    assert!(
        limits.is_reached() && window(limits).excursion == 0.20,
        "{limits:?}"
    );
}

#[test]
fn too_few_rounds_give_no_verdict_and_rounds_beyond_25_do_not_count() {
    assert_eq!(steady_state(&[1.0; 4]), SteadyState::TooFewRounds { rounds: 4 });
    let mut rounds: Vec<f64> = (0..25)
        .map(|round| if round % 2 == 0 { 100.0 } else { 200.0 })
        .collect();
    rounds.extend([100.0; 10]);
    let state = steady_state(&rounds);
    assert!(!state.is_reached());
    assert_eq!(window(state).round, 25);
}

#[test]
fn a_device_that_does_nothing_is_not_steady() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(!steady_state(&[value; 5]).is_reached(), "{value}");
    }
}

#[test]
fn the_verdict_is_a_tagged_object_in_serde() {
    let json = serde_json::to_string(&steady_state(&[1.0; 5])).expect("plain numbers");
    assert_eq!(
        json,
        r#"{"state":"reached","round":5,"mean":1.0,"excursion":0.0,"slope":0.0,"drift":0.0}"#
    );
    assert_eq!(
        serde_json::from_str::<SteadyState>(&json).expect("what was written"),
        steady_state(&[1.0; 5])
    );
}

proptest! {
    #[test]
    fn the_first_window_that_obeys_the_naive_rule_is_found(rounds in prop::collection::vec(80.0..120.0f64, 5..30)) {
        let counted = &rounds[..rounds.len().min(25)];
        let judged: Vec<_> = counted.windows(5).map(naive).collect();
        let is_steady = |(_, excursion, _, drift): &&(f64, f64, f64, f64)| *excursion <= 0.20 && *drift <= 0.10;
        let state = steady_state(&rounds);
        let found = judged.iter().position(|window| is_steady(&window));
        prop_assert_eq!(state.is_reached(), found.is_some());
        let index = found.unwrap_or(judged.len() - 1);
        let (mean, excursion, slope, drift) = judged[index];
        let window = window(state);
        prop_assert_eq!(window.round, index + 5);
        for (left, right) in
            [(window.mean, mean), (window.excursion, excursion), (window.slope, slope), (window.drift, drift)]
        {
            prop_assert!((left - right).abs() < 1e-9, "{left} and {right}");
        }
    }
}
