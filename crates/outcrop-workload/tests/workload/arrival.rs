//! Arrival schedules.

use outcrop_measure::{Rate, Seed};
use outcrop_workload::Arrival;
use proptest::prelude::*;

fn schedule(text: &str, count: usize) -> Vec<u64> {
    text.parse::<Arrival>()
        .unwrap()
        .schedule(Seed(11))
        .unwrap()
        .take(count)
        .collect()
}

#[test]
fn a_closed_loop_has_no_schedule() {
    let closed: Arrival = "closed".parse().unwrap();
    assert!(closed.schedule(Seed(0)).is_none() && !closed.is_open_loop());
}

#[test]
fn a_constant_schedule_does_not_drift() {
    // A third of a second is no whole number of nanoseconds: accumulated rounding would show.
    let starts = schedule("constant:3", 3_000_001);
    assert_eq!(starts[..4], [0, 333_333_333, 666_666_666, 1_000_000_000]);
    assert_eq!(starts[3_000_000], 1_000_000 * 1_000_000_000);
}

#[test]
fn poisson_gaps_have_the_mean_and_variance_of_an_exponential() {
    let count = 200_000_usize;
    let starts = schedule("poisson:1000", count);
    let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
    // Standard errors of an exponential: mean/√n for the mean, √8·mean²/√n for the variance.
    let expected_ns = 1e6;
    assert!(
        (mean - expected_ns).abs() < 5.0 * expected_ns / n.sqrt(),
        "mean {mean}"
    );
    assert!((variance - expected_ns.powi(2)).abs() < 5.0 * 8_f64.sqrt() * expected_ns.powi(2) / n.sqrt());
}

#[test]
fn jobs_of_a_constant_schedule_take_turns() {
    let arrival: Arrival = "constant:7".parse().unwrap();
    let mut union: Vec<u64> = (0..3)
        .flat_map(|job| arrival.schedule_of_job(job, 3, Seed(0)).unwrap().take(100))
        .collect();
    union.sort_unstable();
    assert_eq!(union, schedule("constant:7", 300));
}

#[test]
fn a_sine_has_as_many_arrivals_in_each_stretch_as_its_rate_says() {
    // Mixgraph's day, sixty times as fast, with every hundredth arrival.
    let (mean, swing, period_s) = (45.0, 10.0, 1434.5);
    let starts = schedule("sine:45:10:1434.5s", 200_000);
    let turn = std::f64::consts::TAU / period_s;
    let arrivals = |until_s: f64| mean * until_s + swing / turn * (1.0 - (turn * until_s).cos());
    for second in (0..4000).step_by(37) {
        let (from, to) = (f64::from(second), f64::from(second + 37));
        let within = |ns: &u64| (from * 1e9..to * 1e9).contains(&(*ns as f64));
        let found = starts.iter().filter(|ns| within(ns)).count() as f64;
        assert!(
            (found - (arrivals(to) - arrivals(from))).abs() <= 1.0,
            "{second} s: {found}"
        );
    }
}

#[test]
fn jobs_of_a_sine_take_turns_and_another_rate_keeps_its_shape() {
    let arrival: Arrival = "sine:70:30:5s".parse().unwrap();
    let mut union: Vec<u64> = (0..3)
        .flat_map(|job| arrival.schedule_of_job(job, 3, Seed(0)).unwrap().take(1000))
        .collect();
    union.sort_unstable();
    let single = schedule("sine:70:30:5s", 3000);
    assert!(
        union
            .iter()
            .zip(&single)
            .all(|(ours, theirs)| ours.abs_diff(*theirs) <= 2)
    );
    let half = arrival.at(Rate::new(35.0).unwrap());
    assert_eq!(half.to_string(), "sine:35/s:15/s:5s");
    assert_eq!(half.to_string().parse::<Arrival>().unwrap(), half);
}

#[test]
fn a_sine_that_would_fall_below_zero_is_refused() {
    for (text, why) in [
        ("sine:10:10:1s", "SWING must be below RATE"),
        ("sine:10:1:0s", "PERIOD must be above 0"),
        ("sine:10:1", "sine:RATE:SWING:PERIOD"),
    ] {
        let error = text.parse::<Arrival>().unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn jobs_of_a_poisson_schedule_share_its_rate_and_not_its_times() {
    let arrival: Arrival = "poisson:1000".parse().unwrap();
    let of_job = |job| {
        arrival
            .schedule_of_job(job, 4, Seed(2))
            .unwrap()
            .take(50_000)
            .collect::<Vec<_>>()
    };
    let (first, second) = (of_job(0), of_job(1));
    assert_ne!(first[..10], second[..10]);
    for starts in [first, second] {
        let per_second = 50_000.0 / (starts[49_999] as f64 / 1e9);
        assert!(
            (per_second - 250.0).abs() < 5.0 * 250.0 / 50_000_f64.sqrt(),
            "{per_second}"
        );
    }
}

proptest! {
    #[test]
    fn starts_never_decrease_at_any_rate(
        per_second in prop_oneof![Just(0.0), Just(f64::MIN_POSITIVE), 1e-9..1e12_f64, Just(f64::MAX)],
        kind in 0..3_u8,
        job_count in 0..70_000_u32,
        seed in any::<u64>(),
    ) {
        let per_second = Rate::new(per_second).unwrap();
        let arrival = match kind {
            0 => Arrival::Poisson { per_second },
            1 => Arrival::Constant { per_second },
            _ => Arrival::Sine {
                per_second,
                swing: Rate::new(per_second.per_second() * 0.9).unwrap(),
                period: "7s".parse().unwrap(),
            },
        };
        let starts: Vec<u64> =
            arrival.schedule_of_job(job_count / 2, job_count, Seed(seed)).unwrap().take(300).collect();
        prop_assert!(starts.is_sorted());
    }
}
