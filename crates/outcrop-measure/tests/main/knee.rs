//! Knees and Little's law on systems whose answer is known.

use outcrop_measure::Seed;
use outcrop_measure::knee::{Knee, Point, greatest_power, predicted_depth, saturation};
use outcrop_measure::littles_law;
use proptest::prelude::*;
use rand::Rng;

const DEPTHS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1024.0];

/// A device of `servers` parallel units that each take 100 µs: the textbook's two asymptotes.
fn ideal(servers: f64, depth: f64) -> Point {
    let throughput = depth.min(servers) / 100e-6;
    Point {
        concurrency: depth,
        throughput,
        latency: depth / throughput,
    }
}

/// A device whose throughput approaches its limit smoothly: half of it at `half`.
fn smooth(half: f64, depth: f64) -> Point {
    let throughput = 1e6 * depth / (depth + half);
    Point {
        concurrency: depth,
        throughput,
        latency: depth / throughput,
    }
}

/// The knee, where it is bracketed: not at the largest concurrency.
fn observed(points: &[Point]) -> Option<Knee> {
    greatest_power(points).filter(|knee| !knee.is_highest_measured)
}

#[test]
fn prediction_and_observation_agree_on_an_ideal_device() {
    for servers in [2.0, 8.0, 64.0, 256.0] {
        let points = DEPTHS.map(|depth| ideal(servers, depth));
        let knee = observed(&points).expect("a knee inside the range");
        assert_eq!(knee.concurrency, servers);
        assert_eq!(knee.share_of_peak, 1.0);
        assert!((predicted_depth(servers / 100e-6, 100e-6) - servers).abs() < 1e-9);
        assert_eq!(
            saturation(&points, 0.9).map(|point| point.concurrency),
            Some(servers)
        );
    }
}

#[test]
fn a_smooth_curve_has_its_knee_where_throughput_is_half_and_saturates_later() {
    let points = DEPTHS.map(|depth| smooth(16.0, depth));
    let knee = observed(&points).expect("a knee inside the range");
    assert_eq!((knee.concurrency, knee.is_lowest_measured), (16.0, false));
    assert_eq!(
        saturation(&points, 0.9).map(|point| point.concurrency),
        Some(128.0)
    );
}

#[test]
fn ten_percent_of_noise_moves_the_knee_by_no_step_of_an_ideal_device() {
    let mut rng = Seed(11).rng();
    let mut factor = move || 0.9 + 0.2 * (rng.next_u64() as f64 / 2f64.powi(64));
    for _ in 0..200 {
        let points = DEPTHS.map(|depth| {
            let point = ideal(32.0, depth);
            Point {
                throughput: point.throughput * factor(),
                latency: point.latency * factor(),
                ..point
            }
        });
        assert_eq!(observed(&points).map(|knee| knee.concurrency), Some(32.0));
    }
}

#[test]
fn a_knee_that_was_not_bracketed_is_not_claimed() {
    let rising = DEPTHS.map(|depth| ideal(1e6, depth));
    assert_eq!(
        observed(&rising).map(|knee| knee.concurrency),
        Some(1.0).filter(|_| false)
    );
    let saturated = DEPTHS.map(|depth| ideal(1.0, depth));
    let knee = observed(&saturated).expect("at the lowest depth");
    assert!(knee.is_lowest_measured && knee.concurrency == 1.0);
    assert_eq!(observed(&DEPTHS.map(|depth| ideal(8.0, depth))[..2]), None);
    assert_eq!(observed(&[]), None);
    assert_eq!(saturation(&[], 0.9), None);
}

#[test]
fn points_that_are_not_positive_and_finite_are_passed_over() {
    let mut points = DEPTHS.map(|depth| ideal(8.0, depth)).to_vec();
    let good = points[4];
    points.push(Point { latency: 0.0, ..good });
    points.push(Point {
        throughput: f64::NAN,
        ..good
    });
    points.push(Point {
        throughput: f64::INFINITY,
        ..good
    });
    points.push(Point {
        concurrency: -1.0,
        ..good
    });
    assert_eq!(observed(&points).map(|knee| knee.concurrency), Some(8.0));
}

#[test]
fn littles_law_holds_for_what_was_measured_together_and_fails_by_two_when_not() {
    let honest = littles_law::check(32.0, 400_000.0, 80e-6, littles_law::TOLERANCE);
    assert!(honest.holds && (honest.ratio - 1.0).abs() < 1e-12);
    for factor in [0.5, 2.0, 0.9, 1.11, f64::NAN, f64::INFINITY, 0.0] {
        let broken = littles_law::check(32.0, 400_000.0 * factor, 80e-6, littles_law::TOLERANCE);
        assert!(!broken.holds, "{factor}");
        assert!(factor.is_nan() || broken.ratio == broken.implied_concurrency / 32.0);
    }
    for factor in [0.92, 1.09] {
        assert!(
            littles_law::check(32.0, 400_000.0 * factor, 80e-6, littles_law::TOLERANCE).holds,
            "{factor}"
        );
    }
    assert!(!littles_law::check(0.0, 0.0, 80e-6, littles_law::TOLERANCE).holds);
}

proptest! {
    #[test]
    fn the_knee_is_the_naive_maximum_of_power_whatever_the_order(
        curve in prop::collection::vec((1.0..1e6f64, 1e-6..1.0f64), 3..12),
        rotation in 0..12usize,
    ) {
        let points: Vec<Point> = curve
            .iter()
            .enumerate()
            .map(|(index, (throughput, latency))| {
                Point { concurrency: index as f64 + 1.0, throughput: *throughput, latency: *latency }
            })
            .collect();
        let mut best = 0;
        for (index, point) in points.iter().enumerate() {
            if point.throughput / point.latency > points[best].throughput / points[best].latency {
                best = index;
            }
        }
        let expected = (best + 1 < points.len()).then_some(best as f64 + 1.0);
        let mut turned = points.clone();
        turned.rotate_left(rotation % points.len());
        prop_assert_eq!(observed(&turned).map(|knee| knee.concurrency), expected);
        // Three repetitions, of which one is wild, are their median.
        let wild = points.iter().map(|point| Point { throughput: point.throughput * 50.0, ..*point });
        let repeated: Vec<Point> = points.iter().chain(&points).copied().chain(wild).collect();
        prop_assert_eq!(observed(&repeated).map(|knee| knee.concurrency), expected);
    }
}
