//! Cells of a loaded run: grouping, summaries, merged histograms and series.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unit;
use outcrop_results::{HistogramKind, Outcome, ResultsError, RunView, TrialEntry, Value};

use crate::samples::{ENERGY, IOPS, LATENCY_P99, run_of, trial, two_intervals, usual};

#[test]
fn trials_group_into_cells_by_layer_subject_and_factors() {
    let folder = tempfile::tempdir().unwrap();
    let mut trials = Vec::new();
    // Interleaved, as the lab runs them, and with the repetitions of one cell out of order.
    for repetition in [2, 0, 1] {
        for depth in [32, 1] {
            trials.push(trial(
                depth,
                repetition,
                &usual(f64::from(depth * 1000 + repetition), 1e5),
            ));
        }
    }
    trials.push(TrialEntry {
        plans: vec!["ssd-max".to_owned()],
        ..trial(32, 3, &usual(1e9, 1.0))
    });
    trials.push(TrialEntry {
        subject: "scratch-file 4GiB".to_owned(),
        ..trial(32, 4, &usual(5.0, 1.0))
    });
    let run = run_of(folder.path(), "cells", &trials);
    let cells = run.cells();
    let shape: Vec<_> = cells
        .iter()
        .map(|cell| (cell.subject, cell.factor("queue_depth"), cell.completed.len()))
        .collect();
    assert_eq!(
        shape,
        [
            ("scratch-file 2GiB", Some("1"), 3),
            ("scratch-file 2GiB", Some("32"), 4),
            ("scratch-file 4GiB", Some("32"), 1)
        ]
    );
    assert_eq!(
        cells[0].metric("iops").unwrap().values,
        [1000.0, 1001.0, 1002.0],
        "in the order of repetitions"
    );
    assert_eq!(
        cells[1].plans.iter().copied().collect::<Vec<_>>(),
        ["ssd-max", "ssd-queue-depth"]
    );
}

#[test]
fn only_completed_trials_count_and_the_others_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let failed = Outcome::Failed {
        message: "EIO".to_owned(),
    };
    let trials = [
        trial(1, 0, &usual(10.0, 1.0)),
        TrialEntry {
            outcome: Outcome::Interrupted,
            ..trial(1, 1, &usual(1e9, 1.0))
        },
        TrialEntry {
            outcome: failed.clone(),
            ..trial(1, 1, &[])
        },
        trial(1, 1, &usual(30.0, 1.0)),
        TrialEntry {
            outcome: failed,
            ..trial(2, 0, &[])
        },
    ];
    let run = run_of(folder.path(), "excluded", &trials);
    let cells = run.cells();
    let summary = cells[0].summary("iops").unwrap();
    assert_eq!((summary.n, summary.median, summary.max), (2, 20.0, 30.0));
    assert_eq!(cells[0].excluded.len(), 2);
    assert_eq!((cells[1].completed.len(), cells[1].excluded.len()), (0, 1));
    assert_eq!(cells[1].summary("iops"), None);
    assert_eq!((cells[0].failure(), cells[1].failure()), (None, Some("EIO")));
}

#[test]
fn a_metric_that_is_a_multiple_of_another_has_the_same_multiple_of_its_interval() {
    let folder = tempfile::tempdir().unwrap();
    let values = [29.0, 14.6, 31.6, 35.9, 22.0, 30.1, 28.3, 15.2, 33.0];
    let trials = (0_u32..).zip(values);
    let trials: Vec<_> = trials
        .map(|(repetition, iops)| trial(1, repetition, &usual(iops, iops * 4096.0)))
        .collect();
    let run = run_of(folder.path(), "multiple", &trials);
    let of = |name| run.cells()[0].summary(name).unwrap().interval.unwrap();
    let (iops, other) = (of("iops"), of("latency_p99"));
    assert_eq!((iops.low * 4096.0, iops.high * 4096.0), (other.low, other.high));
}

#[test]
fn an_unavailable_metric_has_no_value_and_a_reason_and_an_unknown_one_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of(
        folder.path(),
        "none",
        &[trial(1, 0, &usual(10.0, 1.0)), trial(1, 1, &usual(10.0, 1.0))],
    );
    let cells = run.cells();
    let energy = cells[0].metric(ENERGY.name).unwrap();
    assert_eq!((energy.unit, energy.values.len()), (Unit::Joules, 0));
    assert_eq!(
        energy.unavailable.as_deref(),
        Some("no energy source in this virtual machine")
    );
    assert_eq!(cells[0].summary(ENERGY.name), None);
    assert_eq!(cells[0].metric("no_such_metric"), None);
    assert_eq!(
        cells[0].metric_names().into_iter().collect::<Vec<_>>(),
        [ENERGY.name, "iops", "latency_p99"]
    );
}

#[test]
fn merged_histograms_are_those_of_all_intervals_with_exact_totals() {
    let folder = tempfile::tempdir().unwrap();
    let trials: Vec<_> = (0..3)
        .map(|repetition| TrialEntry {
            histograms: two_intervals(100_000 * u64::from(repetition + 1), 400),
            ..trial(1, repetition, &[Value::measured(IOPS, 1.0)])
        })
        .collect();
    let run = run_of(folder.path(), "merged", &trials);
    let cells = run.cells();
    let mut direct = LatencyHistogram::new();
    for repetition in 0..3_u64 {
        for index in 0..2 {
            (0..400).for_each(|i| direct.record(100_000 * (repetition + 1) + 13 * i + index));
        }
    }
    let merged = cells[0].histogram("read", HistogramKind::Latency).unwrap();
    assert_eq!(merged, direct, "buckets, count, minimum, maximum and sum");
    assert!(
        cells[0]
            .histogram("write", HistogramKind::Latency)
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        cells[0].histogram_keys().into_iter().collect::<Vec<_>>(),
        [("read", HistogramKind::Latency)]
    );

    let series = cells[0].series("read", HistogramKind::Latency).unwrap();
    let places: Vec<_> = series
        .iter()
        .map(|point| (point.repetition, point.start_s))
        .collect();
    assert_eq!(
        places,
        [(0, 0.0), (0, 0.25), (1, 0.0), (1, 0.25), (2, 0.0), (2, 0.25)]
    );
    assert_eq!(series[3].operations_per_second(), Some(1600.0));
    assert_eq!(series[3].histogram.min(), Some(200_001));
}

#[test]
fn a_damaged_histogram_is_an_error_that_names_its_trial() {
    let folder = tempfile::tempdir().unwrap();
    let mut hurt = trial(1, 0, &[]);
    hurt.histograms = two_intervals(1000, 30);
    hurt.histograms[1].count += 1;
    let run = run_of(folder.path(), "hurt", &[hurt]);
    let cells = run.cells();
    let error = cells[0].histogram("read", HistogramKind::Latency).unwrap_err();
    assert!(
        matches!(
            error,
            ResultsError::DamagedHistogram {
                interval_index: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("cell depth-1, repetition 0"),
        "{error}"
    );
}

#[test]
fn a_metric_that_a_slow_trial_could_not_give_is_not_summarised_over_the_fast_ones() {
    let why = "n = 420 supports no p99";
    let slow = [Value::unavailable(LATENCY_P99, why)];
    let parent = tempfile::tempdir().unwrap();
    let trials = [trial(1, 0, &usual(9_000.0, 120_000.0)), trial(1, 1, &slow)];
    let run = run_of(parent.path(), "mixed", &trials);
    let samples = run.cells()[0].metric("latency_p99").unwrap();
    assert!(samples.values.is_empty());
    let reason = samples.unavailable.unwrap();
    assert!(
        reason.contains("1 of 2 trials") && reason.contains(why),
        "{reason}"
    );
    assert_eq!(run.cells()[0].summary("latency_p99"), None);
}

#[test]
fn of_two_trials_one_in_which_nothing_completed_stalled_and_one_that_is_slower_did_not() {
    let folder = tempfile::tempdir().unwrap();
    let with = |name: &str, completed: Option<u64>| {
        let of = |repetition: u32, count: Option<u64>| TrialEntry {
            histograms: count.map_or_else(Vec::new, |count| two_intervals(50_000, count)),
            ..trial(256, repetition, &usual(count.unwrap_or(0) as f64, 1e5))
        };
        let run = run_of(folder.path(), name, &[of(0, completed), of(1, Some(2000))]);
        run.cells()[0].stalled().len()
    };
    assert_eq!(with("nothing", None), 1);
    assert_eq!(with("slower", Some(50)), 0);
}

#[test]
fn a_trial_that_stalled_does_not_take_the_percentile_from_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let went_on = |repetition: u32, p99_ns: f64| TrialEntry {
        histograms: two_intervals(50_000, 2000),
        ..trial(1, repetition, &usual(8000.0, p99_ns))
    };
    let lacking = |repetition: u32, count: u64| {
        let mut entry = TrialEntry {
            histograms: two_intervals(2_000_000_000, count),
            ..trial(1, repetition, &usual(4.0 * count as f64, 1.0))
        };
        entry.values[1] = Value::unavailable(LATENCY_P99, "too few operations");
        entry
    };
    let p99 = |name: &str, trials: &[TrialEntry]| {
        let run = run_of(folder.path(), name, trials);
        let cell = &run.cells()[0];
        (cell.metric(LATENCY_P99.name).unwrap(), cell.stalled().len())
    };
    let normal: Vec<TrialEntry> = (0..4)
        .map(|index| went_on(index, 1e5 + f64::from(index)))
        .collect();

    let (of_five, stalled) = p99("stalled", &[&normal[..], &[lacking(4, 5)]].concat());
    assert_eq!(stalled, 1);
    assert_eq!(
        of_five.median(),
        Some(1e5 + 2.0),
        "its place is behind the others"
    );
    let longest = of_five.values[4];
    assert!((2e9..2.1e9).contains(&longest), "what it saw: {longest}");

    // One that is merely slower lacks it for all: without it the cell would look faster.
    let (slower, stalled) = p99("slower", &[&normal[..], &[lacking(4, 400)]].concat());
    assert_eq!((slower.median(), stalled), (None, 0));
    assert!(slower.unavailable.unwrap().contains("only 4 of 5"));

    // Where half of them lack it, nothing says what the median is.
    let (half, _) = p99(
        "half",
        &[&normal[..2], &[lacking(2, 400), lacking(3, 5)]].concat(),
    );
    assert_eq!(half.median(), None);
}

#[test]
fn operations_that_are_too_few_are_counted_over_all_trials_that_lack_a_percentile() {
    let folder = tempfile::tempdir().unwrap();
    let few = |count: u32| {
        let why = format!("too few operations ({count} of at least 10000) for a p99.9");
        Value::unavailable(LATENCY_P99, why)
    };
    let reason = |name: &str, values: &[Value]| {
        let trials = (0..).zip(values);
        let trials: Vec<TrialEntry> = trials
            .map(|(repetition, value)| trial(1, repetition, std::slice::from_ref(value)))
            .collect();
        let run = run_of(folder.path(), name, &trials);
        run.cells()[0]
            .metric(LATENCY_P99.name)
            .unwrap()
            .unavailable
            .unwrap()
    };
    assert_eq!(
        reason("all", &[few(0), few(4372), few(3576)]),
        "too few operations (0 to 4372 of at least 10000) for a p99.9"
    );
    assert_eq!(
        reason("some", &[few(4372), Value::measured(LATENCY_P99, 1e5), few(53)]),
        "only 1 of 3 trials had enough operations for a p99.9 (the rest had 53 to 4372 of at least 10000)"
    );
    assert_eq!(
        reason("alike", &[few(47), few(47)]),
        "too few operations (47 of at least 10000) for a p99.9"
    );
}

#[test]
fn requests_of_trials_that_are_too_short_are_counted_over_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let short = |completed, in_flight| {
        Value::unavailable(LATENCY_P99, outcrop_results::too_short(completed, in_flight))
    };
    let none = || Value::unavailable(LATENCY_P99, outcrop_results::NONE_COMPLETED);
    let few = |count: u64| {
        Value::unavailable(
            LATENCY_P99,
            format!("too few operations ({count} of at least 1000) for a p99"),
        )
    };
    let cases = [
        (
            [none(), few(513), few(937)],
            "too few operations (0 to 937 of at least 1000) for a p99",
        ),
        ([none(), none(), none()], "no operation completed"),
        (
            [short(56, 128), none(), none()],
            "too short: 0 to 56 requests completed, 128 were in flight",
        ),
        (
            [none(), short(1, 128), none()],
            "too short: 0 to 1 request completed, 128 were in flight",
        ),
        (
            [short(56, 128), short(1, 96), short(60, 128)],
            "too short: 1 to 60 requests completed, 96 to 128 were in flight",
        ),
        (
            [short(56, 128), short(56, 128), short(56, 128)],
            "too short: 56 requests completed, 128 were in flight",
        ),
        (
            [short(56, 128), Value::measured(LATENCY_P99, 1e5), short(3, 128)],
            "only 1 of 3 trials have it: too short: 3 to 56 requests completed, 128 were in flight",
        ),
        ([none(), none(), none()], "no operation completed"),
    ];
    for (index, (values, expected)) in cases.iter().enumerate() {
        let trials = (0..).zip(values);
        let trials: Vec<TrialEntry> = trials
            .map(|(repetition, value)| trial(1, repetition, std::slice::from_ref(value)))
            .collect();
        let run = run_of(folder.path(), &format!("short{index}"), &trials);
        let samples = run.cells()[0].metric(LATENCY_P99.name).unwrap();
        assert_eq!(samples.unavailable.as_deref(), Some(*expected));
    }
}

#[test]
fn a_percentile_that_single_cold_trials_cannot_give_is_that_of_all_of_them_together() {
    use outcrop_schema::filesystem::{LATENCY, LATENCY_TAIL};

    let folder = tempfile::tempdir().unwrap();
    let why = "too few operations (800) for a p99";
    let of_layer = |layer: &str, trials: u32| {
        let trial = |repetition: u32| TrialEntry {
            layer: layer.to_owned(),
            histograms: two_intervals(100_000 * u64::from(repetition + 1), 400),
            ..trial(
                1,
                repetition,
                &[
                    Value::unavailable(LATENCY.p99, why),
                    Value::unavailable(LATENCY_TAIL, why),
                ],
            )
        };
        let trials: Vec<TrialEntry> = (0..trials).map(trial).collect();
        run_of(folder.path(), &format!("{layer}-{}", trials.len()), &trials)
    };
    let run = of_layer("filesystem", 3);
    let cell = &run.cells()[0];
    let all = cell.histogram("read", HistogramKind::Latency).unwrap();
    assert_eq!(all.count(), 2400);
    let samples = cell.metric(LATENCY.p99.name).unwrap();
    assert_eq!(samples.values, [all.percentile(0.99).unwrap() as f64]);
    let summary = samples.summary().unwrap();
    assert_eq!((summary.n, summary.interval), (3, None));
    assert!(samples.no_interval().unwrap().contains("all trials together"));
    // 2,400 are too few for p99.9, and with it for what is computed from it; 800 for p99.
    let reason = |run: &RunView, metric: &str| run.cells()[0].metric(metric).unwrap().unavailable;
    let says = |run: &RunView, metric: &str, words: &str| {
        let reason = reason(run, metric).unwrap();
        assert!(reason.starts_with(why) && reason.contains(words), "{reason}");
        assert!(reason.contains("--duration"), "{reason}");
    };
    says(&run, LATENCY_TAIL.name, "all 3 trials together");
    says(&of_layer("filesystem", 1), LATENCY.p99.name, "a longer trial");
    // Cells of other layers do more than one thing.
    assert_eq!(
        reason(&of_layer("device", 3), LATENCY.p99.name).as_deref(),
        Some(why)
    );
    let many = of_layer("filesystem", 13);
    let all = many.cells()[0].histogram("read", HistogramKind::Latency).unwrap();
    let tail = all.percentile(0.999).unwrap() - all.percentile(0.5).unwrap();
    let samples = many.cells()[0].metric(LATENCY_TAIL.name).unwrap();
    assert_eq!(samples.median(), Some(tail as f64));
}
