//! Trials and runs that the tests are made of; every figure follows from its arguments.

use std::collections::BTreeMap;
use std::path::Path;

use outcrop_measure::Seed;
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Metric;
use outcrop_results::{
    Comparison, FailIf, FailIfReport, HistogramEntry, HistogramKind, Outcome, ResultsError, RunFolder,
    RunView, TrialEntry, Value,
};
use outcrop_schema::device;

pub(crate) const IOPS: Metric = device::IOPS.both;
pub(crate) const LATENCY_P99: Metric = device::LATENCY.both.p99;
pub(crate) const ENERGY: Metric = device::ENERGY_PER_OPERATION;

pub(crate) fn factors(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// What each condition found in a comparison, or why the first that cannot be checked cannot.
pub(crate) fn check_all<'a>(
    conditions: &[FailIf],
    comparison: &'a Comparison,
) -> Result<Vec<FailIfReport<'a>>, ResultsError> {
    FailIf::check_each(conditions, comparison).into_iter().collect()
}

/// A device trial of 4 KiB random reads at a depth.
pub(crate) fn trial(queue_depth: u32, repetition: u32, values: &[Value]) -> TrialEntry {
    let factors = factors(&[
        ("access_pattern", "random"),
        ("arrival", "closed"),
        ("engine", "io_uring"),
        ("io_block_size", "4KiB"),
        ("queue_depth", &queue_depth.to_string()),
        ("read_write_mix", "100:0"),
    ]);
    TrialEntry {
        trial: repetition * 100 + queue_depth,
        cell: format!("depth-{queue_depth}"),
        layer: "device".to_owned(),
        subject: "scratch-file 2GiB".to_owned(),
        plans: vec!["ssd-queue-depth".to_owned()],
        repetition,
        seed: Seed(7).derive_index(u64::from(repetition)).0,
        factors,
        data: None,
        variant: None,
        started_at: format!("2026-11-21T02:{:02}:07.500Z", repetition % 60),
        duration_s: 0.5,
        took_s: None,
        others_cpu_share: None,
        outcome: Outcome::Completed,
        values: values.to_vec(),
        histograms: Vec::new(),
        notes: Vec::new(),
    }
}

/// The usual three metrics, one of them unavailable.
pub(crate) fn usual(iops: f64, p99_ns: f64) -> Vec<Value> {
    vec![
        Value::measured(IOPS, iops),
        Value::measured(LATENCY_P99, p99_ns),
        Value::unavailable(ENERGY, "no energy source in this virtual machine"),
    ]
}

/// Histograms of two intervals: `count` latencies from `base_ns` upwards in each.
pub(crate) fn two_intervals(base_ns: u64, count: u64) -> Vec<HistogramEntry> {
    let interval = |index: u32| {
        let mut histogram = LatencyHistogram::new();
        (0..count).for_each(|i| histogram.record(base_ns + 13 * i + u64::from(index)));
        HistogramEntry::new(
            "read",
            HistogramKind::Latency,
            index,
            f64::from(index) * 0.25,
            0.25,
            &histogram,
        )
    };
    vec![interval(0), interval(1)]
}

/// Writes a run of these trials and loads it.
pub(crate) fn run_of(parent: &Path, name: &str, trials: &[TrialEntry]) -> RunView {
    let mut run = create(parent, name);
    for trial in trials {
        run.append(trial).unwrap();
    }
    RunView::load(run.dir()).unwrap()
}

pub(crate) fn create(parent: &Path, name: &str) -> RunFolder {
    let environment = serde_json::json!({"cpu": {"model": "test cpu"}, "load": {"average": [0.5, 0.4, 0.3]}});
    RunFolder::create(
        parent,
        name,
        "20261121T020757Z",
        "[run]\nseed = 7\n",
        &environment,
    )
    .unwrap()
}

/// A folder in memory where there is one, for files that are written thousands of times and need not last.
pub(crate) fn folder_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

/// Any figure that a record may hold: finite, and not beyond 10³⁰ of its unit.
pub(crate) fn any_figure() -> impl proptest::strategy::Strategy<Value = f64> {
    use proptest::num::f64;
    use proptest::strategy::Strategy;
    (f64::NORMAL | f64::SUBNORMAL | f64::ZERO).prop_map(|figure| match figure.abs() > 1e30 {
        true => figure.signum() * 1e30,
        false => figure,
    })
}
