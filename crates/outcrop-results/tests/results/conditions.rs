//! `--fail-if`: what it reads, what it refuses, when it is met.

use outcrop_measure::metric::Unit;
use outcrop_results::compare::about_repetitions;
use outcrop_results::fail_if::Direction;
use outcrop_results::{
    Comparison, FailIf, FailIfReport, Limit, ResultsError, Undecided, Verdict, compare, references,
};
use outcrop_schema::metrics::full_name;
use proptest::prelude::*;

use crate::samples::{check_all, run_of, trial, usual};

fn parse(text: &str) -> FailIf {
    text.parse().unwrap()
}

pub(crate) fn check<'a>(
    condition: &str,
    comparison: &'a Comparison,
) -> Result<FailIfReport<'a>, ResultsError> {
    check_all(&[parse(condition)], comparison).map(|mut reports| reports.remove(0))
}

#[test]
fn fewer_than_five_repetitions_check_nothing_and_do_not_pass() {
    let error = check("p99 > +5%", &of_repetitions(4, 1.0, 1.2, 0.01)).unwrap_err();
    assert!(error.to_string().contains("fewer than 5 repetitions"), "{error}");
}

/// One of forty cells is slower: complete separation of five from five, which chance makes of one in 126.
#[test]
fn a_condition_over_many_cells_says_how_many_repetitions_would_find_one() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, slower: u32, repetitions: u32| {
        let depths = 1..=40_u32;
        let trials = depths.flat_map(|depth| {
            (0..repetitions).map(move |repetition| {
                // Every cell has its own order of the same noise, so that equal cells are equal.
                let wobble = 1.0 + 0.01 * f64::from((repetition + depth) % repetitions);
                let change = if depth <= slower { 0.5 } else { 1.0 };
                trial(depth, repetition, &usual(1e5 * wobble * change, 4e5))
            })
        });
        run_of(folder.path(), name, &trials.collect::<Vec<_>>())
    };
    let few = compare(&side("a", 0, 5), &side("b", 1, 5));
    let report = check("iops < -5%", &few).unwrap();
    assert_eq!(
        (report.offending.len(), report.checked, report.needed),
        (0, 40, Some(7))
    );
    let all = compare(&side("e", 0, 5), &side("f", 40, 5));
    let report = check("iops < -5%", &all).unwrap();
    assert_eq!(
        (report.offending.len(), report.needed),
        (40, None),
        "no repetitions are asked for where these sufficed"
    );
    let enough = compare(&side("c", 0, 7), &side("d", 1, 7));
    let report = check("iops < -5%", &enough).unwrap();
    assert_eq!((report.offending.len(), report.needed), (1, None));
}

/// Five repetitions a side; iops changes by `iops_ratio`, p99 by `p99_ratio`, each with ±`noise`.
fn comparison(iops_ratio: f64, p99_ratio: f64, noise: f64) -> Comparison {
    of_repetitions(5, iops_ratio, p99_ratio, noise)
}

fn of_repetitions(count: u32, iops_ratio: f64, p99_ratio: f64, noise: f64) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, iops: f64, p99: f64| {
        let trials: Vec<_> = (0..count)
            .map(|repetition| {
                let wobble = 1.0 + noise * (f64::from(repetition) - 2.0) / 2.0;
                trial(32, repetition, &usual(iops * wobble, p99 * wobble))
            })
            .collect();
        run_of(folder.path(), name, &trials)
    };
    compare(
        &side("a", 1e5, 4e5),
        &side("b", 1e5 * iops_ratio, 4e5 * p99_ratio),
    )
}

#[test]
fn conditions_read_as_people_write_them() {
    let cases = [
        ("p99 > +5%", "latency_p99", Direction::Above, 1.05),
        ("p99>+5%", "latency_p99", Direction::Above, 1.05),
        ("iops < -3%", "iops", Direction::Below, 0.97),
        (
            "  read_latency_p99 > 1.05x ",
            "read_latency_p99",
            Direction::Above,
            1.05,
        ),
        (
            "write_p99.9 > +10 %",
            "write_latency_p99_9",
            Direction::Above,
            1.1,
        ),
        ("service_p50 > +0%", "service_latency_p50", Direction::Above, 1.0),
        ("bw < 0.9x", "bandwidth", Direction::Below, 0.9),
    ];
    for (text, metric, direction, threshold_ratio) in cases {
        let seen = parse(text);
        assert_eq!(
            (seen.metric.as_str(), seen.direction),
            (metric, direction),
            "{text}"
        );
        let Limit::Ratio(ratio) = seen.limit else {
            panic!("{text}: {:?}", seen.limit);
        };
        assert!((ratio - threshold_ratio).abs() < 1e-12, "{text}: {ratio}");
    }
}

#[test]
fn a_limit_on_the_figure_itself_is_read_in_the_unit_of_its_metric() {
    let cases = [
        ("p99 > 1ms", "latency_p99", 1e6, Unit::Nanoseconds),
        ("p99>62.5 µs", "latency_p99", 62_500.0, Unit::Nanoseconds),
        ("p99.99 > 2s", "latency_p99_99", 2e9, Unit::Nanoseconds),
        ("iops < 5000", "iops", 5000.0, Unit::PerSecond),
        ("iops < 352 k IOPS", "iops", 352_000.0, Unit::PerSecond),
        ("bw < 100MB/s", "bandwidth", 1e8, Unit::BytesPerSecond),
        ("throughput < 10k/s", "throughput", 1e4, Unit::PerSecond),
        ("compression_ratio < 2.5", "compression_ratio", 2.5, Unit::Ratio),
    ];
    for (text, metric, value, unit) in cases {
        let seen = parse(text);
        assert_eq!(
            (seen.metric.as_str(), seen.limit),
            (metric, Limit::Value { value, unit }),
            "{text}"
        );
        assert!(!seen.is_relative(), "{text}");
    }
    let mixed = [parse("p99 > 1ms"), parse("iops < -3%")];
    assert_eq!(
        FailIf::metrics(&mixed).into_iter().collect::<Vec<_>>(),
        ["iops"],
        "only ratios are corrected for their number"
    );
}

#[test]
fn a_condition_that_cannot_be_meant_is_refused_with_a_hint() {
    let cases = [
        ("p99", "it has no `>` or `<`"),
        ("p99 > 5%", "write `+5%` for an increase"),
        ("p99 > 5", "is not a time"),
        ("p99 > 5MB/s", "or relative to a baseline: a change as `+5%`"),
        ("iops < 5ms", "is not a rate"),
        ("bandwidth < 5 furlongs", "expected for example `1.2 GB/s`"),
        ("speed > 5ms", "no layer has a metric \"speed\""),
        (
            "ratio < 3",
            "is not known; did you mean `compression_ratio` (layer compression)?",
        ),
        (
            "decompress < 1GB/s",
            "did you mean `decompress_speed` (layer compression)?",
        ),
        ("p99 > -5ms", "it is negative"),
        ("p99 > +five%", "is not a threshold"),
        ("p99 > +NaN%", "is not a threshold"),
        ("iops < -100%", "leaves nothing"),
        ("iops < +3%", "did you mean `>`?"),
        ("p99 > -5%", "did you mean `<`?"),
        ("> +5%", "is not a metric name"),
        ("p99 latency > +5%", "is not a metric name"),
        (
            "read p99 > 1ms",
            "is not a metric name, but `read_latency_p99` is",
        ),
        ("compress cpu > 1ms", "is not a metric name; "),
        ("decompress p95 > 1ms", "but `decompress_latency_p95` is"),
        ("on disk > 1GB", "is not a metric name, but `stored_bytes` is; "),
        ("space amp. > 2", "but `space_amplification` is"),
        ("rows found > +5%", "but `hits_per_operation` is"),
        ("your file > 1GB", "but `stored_bytes` is"),
        ("text ÷ .ocol < 3", "but `compression_ratio` is"),
        ("p99 >= +5%", "is not a threshold"),
        (
            "hit_ratio < 90%",
            "give the figure itself, as in `hit_ratio < 0.9`",
        ),
        ("hit_ratio < 99.9%", "as in `hit_ratio < 0.999`"),
        ("hit_ratio < +5%", "did you mean `>`?"),
        (
            "compression_ratio < 2.5x",
            "give the figure itself, as in `compression_ratio < 2.5`",
        ),
    ];
    for (text, expected) in cases {
        let message = text.parse::<FailIf>().unwrap_err().to_string();
        assert!(
            message.contains(expected) && message.contains(text),
            "{text}: {message}"
        );
    }
}

#[test]
fn a_condition_is_met_by_a_change_beyond_the_threshold_that_is_not_noise() {
    let regression = comparison(1.0, 1.20, 0.01);
    let report = check("p99 > +5%", &regression).unwrap();
    assert_eq!(
        (report.offending.len(), report.checked, report.unchecked),
        (1, 1, 0)
    );
    assert_eq!(report.offending[0].metric, "latency_p99");
    assert!(
        check("p99 > +25%", &regression).unwrap().offending.is_empty(),
        "smaller than the threshold"
    );
    assert!(
        check("p99 < -5%", &regression).unwrap().offending.is_empty(),
        "in the other direction"
    );
    let noise = comparison(1.0, 1.10, 0.50);
    assert!(
        check("p99 > +5%", &noise).unwrap().offending.is_empty(),
        "its interval contains 1"
    );
    assert_eq!(
        check("iops < -3%", &comparison(0.9, 1.0, 0.01))
            .unwrap()
            .offending
            .len(),
        1
    );
}

/// Half as fast, but with trials that scatter: the interval excludes no change, and contains half.
#[test]
fn a_condition_is_undecided_where_the_interval_contains_its_threshold() {
    let slower = of_repetitions(9, 0.45, 1.0, 0.10);
    let row = slower.rows.iter().find(|row| row.metric == "iops").unwrap();
    let interval = row.interval.unwrap();
    let (low, high) = (interval.low, interval.high);
    assert!(
        row.ratio.unwrap() < 0.5 && low < 0.5 && high > 0.5 && high < 0.9,
        "{low} {high}"
    );
    let report = check("iops < -50%", &slower).unwrap();
    assert_eq!((report.offending.len(), report.undecided), (0, 1));
    let report = check("iops < -10%", &slower).unwrap();
    assert_eq!((report.offending.len(), report.undecided), (1, 0));
    let report = check("iops > +10%", &slower).unwrap();
    assert_eq!((report.offending.len(), report.undecided), (0, 0));
}

/// The candidate's p99 is 480 µs, and its interval reaches 4.8 µs to each side.
#[test]
fn a_limit_is_met_by_the_whole_interval_of_the_candidate_whatever_the_baseline_has() {
    let slower = comparison(1.0, 1.2, 0.01);
    let counts = |condition: &str| {
        let report = check(condition, &slower).unwrap();
        (report.met(), report.undecided, report.checked)
    };
    assert_eq!(counts("p99 > 450us"), (1, 0, 1), "met");
    assert_eq!(counts("p99 > 480us"), (0, 1, 1), "the interval contains it");
    assert_eq!(counts("p99 > 500us"), (0, 0, 1), "not met");
    assert_eq!(counts("p99 < 500us"), (1, 0, 1), "the other direction");
    assert_eq!(counts("iops < 50k"), (0, 0, 1), "both sides have 100 k");
    let report = check("p99 > 450us", &slower).unwrap();
    let cell = &report.beyond[0];
    assert_eq!(
        [cell.value, cell.low, cell.high].map(f64::round),
        [480_000.0, 475_200.0, 484_800.0]
    );
    assert_eq!(cell.factors["queue_depth"], "32");
}

#[test]
fn a_limit_on_fewer_than_five_repetitions_checks_nothing_and_does_not_pass() {
    let error = check("p99 > 1us", &of_repetitions(4, 1.0, 1.0, 0.01)).unwrap_err();
    assert!(matches!(error, ResultsError::NothingToCheck { .. }), "{error}");
    assert!(error.to_string().contains("fewer than 5 repetitions;"), "{error}");
    let error = check("energy_per_operation > 1J", &comparison(1.0, 1.0, 0.01)).unwrap_err();
    assert!(error.to_string().contains("no energy source"), "{error}");
}

/// A candidate that meets no cell of the baseline has figures all the same; a publication has no repetitions of ours.
#[test]
fn a_limit_needs_no_baseline_but_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, depth: u32| {
        let trials = (0..5).map(|repetition| trial(depth, repetition, &usual(1e5, 4e5)));
        run_of(folder.path(), name, &trials.collect::<Vec<_>>())
    };
    let (one, other) = (side("a", 1), side("b", 32));
    let apart = compare(&one, &other);
    assert_eq!(apart.rows.len(), 0);
    assert_eq!(check("p99 > 300us", &apart).unwrap().met(), 1);
    let conditions = [parse("p99 > 300us"), parse("iops < 200k")];
    let met: Vec<usize> = FailIf::check_run_each(&conditions, &other)
        .iter()
        .map(|report| report.as_ref().unwrap().met())
        .collect();
    assert_eq!(met, [1, 1]);
    let relative = FailIf::check_run_each(&[parse("p99 > +5%")], &other)
        .remove(0)
        .unwrap_err();
    assert!(relative.to_string().contains("needs a baseline"), "{relative}");
    let published = references::load("toshiba-kxg60znv256g-fio").unwrap();
    let error = check("bandwidth < 1B/s", &compare(&one, &published)).unwrap_err();
    assert!(error.to_string().contains("published figures"), "{error}");
}

#[test]
fn an_unknown_metric_lists_those_that_there_are() {
    let error = check("p42 > +5%", &comparison(1.0, 1.0, 0.01)).unwrap_err();
    assert!(matches!(error, ResultsError::UnknownMetric { .. }));
    assert_eq!(
        error.to_string(),
        "no metric \"p42\" here; there are energy_per_operation, iops, latency_p99"
    );
}

#[test]
fn a_condition_that_nothing_can_be_checked_against_does_not_pass() {
    let comparison = comparison(1.0, 1.0, 0.01);
    let error = check("energy_per_operation > +5%", &comparison).unwrap_err();
    assert!(matches!(error, ResultsError::NothingToCheck { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("no energy source in this virtual machine"),
        "{error}"
    );
}

#[test]
fn full_names_stay_as_they_are() {
    for name in [
        "iops",
        "read_latency_p99_9",
        "service_latency_mean",
        "device_bytes_ratio",
        "latency_mean_as_published",
    ] {
        assert_eq!(full_name(name), name);
    }
}

proptest! {
    #[test]
    fn any_text_is_a_condition_or_an_error(text in any::<String>()) {
        let _ = text.parse::<FailIf>();
    }

    #[test]
    fn any_text_around_a_comparison_sign_is_a_condition_or_an_error(text in "[a-z0-9_. ]{0,9}[<>]{1,2}[-+0-9.eEx% µ]{0,9}") {
        if let Ok(condition) = text.parse::<FailIf>() {
            let is_possible = match condition.limit {
                Limit::Ratio(ratio) => ratio > 0.0 && ratio.is_finite(),
                Limit::Value { value, .. } => value >= 0.0 && value.is_finite(),
            };
            prop_assert!(is_possible, "{:?}", condition.limit);
        }
    }
}

#[test]
fn what_is_undecided_says_about_how_many_repetitions_would_decide_it() {
    // A change of 20 % among noise of ± 25 %.
    let noisy = comparison(1.0, 1.2, 0.25);
    let row = noisy.rows.iter().find(|row| row.metric == "latency_p99").unwrap();
    assert_eq!(row.verdict, Verdict::Undecided(Undecided::Wide));
    let needed = row.repetitions_needed.expect("there is an estimate");
    assert!((20..1000).contains(&needed), "{needed}");
    assert_eq!(
        row.why(),
        [format!(
            "the interval contains 1 and reaches beyond the margin; {} would decide between same and different",
            about_repetitions(&[needed])
        )]
    );
    // A gate is about another threshold than 1, and nearer ones take more.
    let of_gate = |condition: &str| {
        let report = check(condition, &noisy).unwrap();
        assert_eq!((report.met(), report.undecided), (0, 1), "{condition}");
        report.repetitions_needed[0]
    };
    assert!(of_gate("p99 > +3%") > of_gate("p99 > +1%"));
    assert!(of_gate("p99 > 410us") > of_gate("p99 > 390us"));
    // What is decided needs none.
    assert!(
        comparison(1.0, 2.0, 0.01)
            .rows
            .iter()
            .all(|row| row.repetitions_needed.is_none())
    );
}

#[test]
fn an_unknown_metric_that_ends_others_names_those_before_all() {
    let error = check("p98 > +5%", &comparison(1.0, 1.0, 0.01)).unwrap_err();
    assert!(error.to_string().contains("there are "), "{error}");
    for (condition, said) in [
        ("per_operation > +5%", "did you mean `energy_per_operation`?"),
        ("lateny_p99 > +5%", "did you mean `latency_p99`?"),
    ] {
        let error = check(condition, &comparison(1.0, 1.0, 0.01))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with(said), "{error}");
    }
    // The name that a condition was advised to use may be that of another layer.
    let of_stores = ["stored_ratio", "throughput", "latency_p99"];
    let said = outcrop_schema::metrics::hint("compression_ratio", &of_stores);
    assert_eq!(said, "did you mean `stored_ratio`?");
}
