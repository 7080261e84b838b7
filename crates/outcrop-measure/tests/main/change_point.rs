//! Change points: shifts are found where they are, and noise, spikes and constants have none.

use outcrop_measure::Seed;
use outcrop_measure::change_point::{least_visible_shift, level_shift, segments};
use proptest::prelude::*;
use rand::Rng;

/// Noise of standard deviation 1.
fn noise(seed: u64, n: usize) -> Vec<f64> {
    let mut rng = Seed(seed).rng();
    (0..n)
        .map(|_| {
            (0..12)
                .map(|_| rng.next_u64() as f64 / 2f64.powi(64))
                .sum::<f64>()
                - 6.0
        })
        .collect()
}

fn bounds(series: &[f64]) -> Vec<usize> {
    segments(series).iter().map(|segment| segment.end).collect()
}

#[test]
fn clean_steps_are_cut_exactly_where_they_are() {
    let mut series = vec![100.0; 20];
    series.extend([60.0; 10]);
    series.extend([80.0; 15]);
    let found = segments(&series);
    assert_eq!(bounds(&series), [20, 30, 45]);
    assert_eq!(
        found.iter().map(|segment| segment.mean).collect::<Vec<_>>(),
        [100.0, 60.0, 80.0]
    );
}

#[test]
fn a_noisy_shift_of_four_deviations_is_found_within_two_values() {
    let mut cut_elsewhere = 0;
    for seed in 0..50 {
        let mut series = noise(seed, 80);
        series[50..].iter_mut().for_each(|value| *value += 4.0);
        let found = bounds(&series);
        assert!(
            found.iter().any(|end| end.abs_diff(50) <= 2),
            "seed {seed}: {found:?}"
        );
        cut_elsewhere += found.len() - 2;
    }
    assert!(cut_elsewhere <= 2, "{cut_elsewhere} false cuts in 50 series");
}

#[test]
fn a_shift_is_cut_if_it_is_well_above_the_least_that_is_visible_and_not_if_it_is_well_below() {
    for n in [8, 20, 60, 200] {
        let found = |share: f64| {
            let cut = |seed: &u64| {
                let mut series: Vec<f64> = noise(*seed, n).iter().map(|value| 100.0 + value).collect();
                let shift = share * least_visible_shift(&series).unwrap() * 100.0;
                series[n / 2..].iter_mut().for_each(|value| *value += shift);
                segments(&series).len() > 1
            };
            (0..100).filter(cut).count()
        };
        let (below, above) = (found(0.5), found(1.6));
        assert!(below <= 25 && above >= 75, "n = {n}: {below}, {above}");
    }
    // Stalls from time to time: their neighbours are alike, and hide them from the noise of neighbours.
    let mut stalls = vec![11_000.0; 24];
    stalls.iter_mut().step_by(4).for_each(|value| *value = 206.0);
    assert!(least_visible_shift(&stalls).unwrap() > 0.5);
    assert_eq!(least_visible_shift(&[5.0; 20]), Some(0.0));
    assert_eq!(least_visible_shift(&[0.0; 20]), None);
}

#[test]
fn pure_noise_is_cut_in_at_most_three_series_of_a_hundred() {
    for n in [10, 20, 60, 200] {
        let cut = (0..400)
            .filter(|seed| segments(&noise(*seed, n)).len() > 1)
            .count();
        assert!(cut <= 12, "{cut} of 400 series of {n}");
    }
}

#[test]
fn a_spike_is_not_a_level() {
    for at in [0, 1, 15, 28, 29] {
        let mut series = noise(1, 30);
        series[at] = 500.0;
        assert_eq!(bounds(&series), [30], "spike at {at}");
    }
    let mut series = vec![7.0; 30];
    series[12] = 500.0;
    assert_eq!(bounds(&series), [30], "spike on a constant");
}

#[test]
fn a_fall_in_the_middle_of_a_value_is_dated_there_with_the_ratio_of_the_levels_around_it() {
    // The middle value is half at one level, half at the other: with at least three values to a segment, it drags
    // two of the lower level along, and the larger step lies behind those.
    let mut series: Vec<f64> = noise(3, 7).iter().map(|value| 69_000.0 + 100.0 * value).collect();
    series.push(33_988.0);
    series.extend(noise(4, 8).iter().map(|value| 400.0 + value));
    assert_eq!(bounds(&series), [7, 10, 16], "the artificial level is there");
    let shift = level_shift(&series).unwrap();
    assert_eq!(shift.at, 7);
    assert!((shift.ratio() - 400.0 / 69_000.0).abs() < 1e-4, "{shift:?}");
}

#[test]
fn a_level_that_comes_back_is_a_shift_to_the_level_furthest_from_it() {
    let mut series = vec![100.0; 10];
    series.extend([60.0; 5]);
    series.extend([101.0; 10]);
    let shift = level_shift(&series).unwrap();
    assert_eq!((shift.at, shift.before, shift.after), (10, 100.0, 60.0));
}

#[test]
fn a_step_of_less_than_a_fifth_is_no_shift() {
    let mut series = vec![100.0; 10];
    series.extend([85.0; 10]);
    assert_eq!(bounds(&series).len(), 2, "it is worth a cut");
    assert_eq!(level_shift(&series), None);
    assert_eq!(level_shift(&[]), None);
}

#[test]
fn short_and_constant_series_are_one_segment_and_unusable_ones_none() {
    assert_eq!(segments(&[]), []);
    assert_eq!(segments(&[1.0, f64::NAN]), []);
    for n in 1..=5 {
        assert_eq!(bounds(&vec![3.5; n]), [n]);
    }
    assert_eq!(bounds(&[1.0, 2.0]), [2]);
}

proptest! {
    #[test]
    fn segments_cover_the_series_and_carry_its_means(
        series in prop::collection::vec((0..3u8, -1.0..1.0f64).prop_map(|(level, noise)| f64::from(level) * 20.0 + noise), 1..60),
        scale in prop::sample::select(vec![0.001, 1.0, 1e6]),
    ) {
        let found = segments(&series);
        prop_assert_eq!((found[0].start, found[found.len() - 1].end), (0, series.len()));
        prop_assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
        for segment in &found {
            let values = &series[segment.start..segment.end];
            prop_assert!((segment.mean - values.iter().sum::<f64>() / values.len() as f64).abs() < 1e-9);
        }
        let scaled: Vec<f64> = series.iter().map(|value| value * scale).collect();
        prop_assert_eq!(bounds(&scaled), bounds(&series));
    }
}
