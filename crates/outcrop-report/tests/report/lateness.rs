//! Load generators of open loops that issued requests late: what is said of them, in every layer that records it.

use outcrop_report::{Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::metrics::Metric;
use outcrop_schema::{cache, device, filesystem, kv, lateness};

use crate::cache_fixture::peers;
use crate::device_limits::{finding, run_of, set, warnings};
use crate::filesystem::example;
use crate::kv_fixture::codecs;

/// The finding of a layer, the median of its service latency, and a run of it.
fn layers() -> [(&'static str, Metric, RunView); 4] {
    [
        (
            "generator-was-on-time",
            device::SERVICE_LATENCY.both.p50,
            run_of(100),
        ),
        (
            "cache-generator-was-on-time",
            cache::SERVICE_LATENCY.p50,
            peers().run,
        ),
        ("kv-generator-was-on-time", kv::SERVICE_LATENCY.p50, codecs()),
        (
            "filesystem-generator-was-on-time",
            filesystem::SERVICE_LATENCY.p50,
            example(),
        ),
    ]
}

/// The same run with the arrivals of all its cells.
fn arriving(mut run: RunView, arrival: &str) -> RunView {
    for trial in &mut run.trials {
        trial.factors.insert("arrival".to_owned(), arrival.to_owned());
    }
    run
}

#[test]
fn a_generator_that_was_late_is_found_out() {
    for (id, service, run) in layers() {
        let verdict = |late_ns: f64| {
            let mut run = arriving(run.clone(), "constant:1000");
            for (place, trial) in run.trials.iter_mut().enumerate() {
                set(trial, service, 93_000.0);
                set(trial, lateness::P99, if place == 3 { late_ns } else { 100.0 });
            }
            let report = Report::of(&run);
            let said = format!("In 1 of {} open-loop trials", run.trials.len());
            let is_warned = warnings(&report).iter().any(|text| text.starts_with(&said));
            (finding(&report, id).verdict, is_warned)
        };
        assert_eq!(verdict(5_000.0), (Verdict::Holds, false), "{id}");
        assert_eq!(verdict(1_430_000.0), (Verdict::DoesNotHold, true), "{id}");
    }
}

#[test]
fn where_nothing_says_how_late_a_generator_was_the_reason_is_given() {
    for (id, _, run) in layers() {
        for (arrival, expected) in [
            ("closed", "a closed loop has no schedule to be late for"),
            ("constant:1000", "too few requests"),
        ] {
            let report = Report::of(&arriving(run.clone(), arrival));
            match finding(&report, id).verdict {
                Verdict::NotTestable(why) => assert!(why.contains(expected), "{id}: {why}"),
                other => panic!("{id}: {other:?}"),
            }
        }
    }
}
