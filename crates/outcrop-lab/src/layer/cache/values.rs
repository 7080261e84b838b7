//! From the engine's report to the values of a record.

use outcrop_cache_bench::BenchReport;
use outcrop_cache_load::LoadReport;
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Measurement, Metric, Provenance, Unavailable};
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, Value};
use outcrop_workload::keyed::RequestKind;

use super::metrics;
use crate::layer::TrialReport;
use crate::layer::latencies::latencies;

/// Why a kind of request has no latency.
const UNANSWERED: &str = "nothing was answered";

/// Everything that a completed trial says.
pub(super) fn trial_report(report: &BenchReport) -> TrialReport {
    let load = &report.load;
    let mut values: Vec<Value> = measurements(report).iter().map(Value::from).collect();
    values.extend(latencies("latency", &load.tally.latency(), UNANSWERED));
    for kind in kinds(load) {
        let of = load.tally.kind(kind);
        values.extend(latencies(
            &format!("{}_latency", kind.name()),
            &of.latency,
            UNANSWERED,
        ));
    }
    if load.is_open_loop {
        let mut service = LatencyHistogram::new();
        for kind in &load.tally.kinds {
            service.merge(&kind.service);
        }
        values.extend(latencies("service_latency", &service, UNANSWERED));
    }
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: load.duration_ns as f64 / 1e9,
        values,
        histograms: histograms(load),
        notes: notes(report),
    }
}

/// A trial whose server is not on this machine: every main figure is unavailable, for this reason.
pub(super) fn absent(why: &str) -> TrialReport {
    let unavailable = |metric: &Metric| {
        let measurement = Measurement::unavailable(*metric, Unavailable::because(why));
        Value::from(&measurement)
    };
    TrialReport {
        values: metrics::MAIN.iter().map(unavailable).collect(),
        notes: vec![format!("not measured: {why}")],
        ..TrialReport::empty(Outcome::Completed)
    }
}

fn kinds(load: &LoadReport) -> impl Iterator<Item = RequestKind> {
    RequestKind::ALL
        .into_iter()
        .filter(|kind| load.tally.kind(*kind).operations > 0)
}

fn measurements(report: &BenchReport) -> Vec<Measurement> {
    let load = &report.load;
    let tally = &load.tally;
    let no_get = || Unavailable::because("no get was answered");
    let no_answer = || Unavailable::because("nothing was answered");
    let measured = |metric: Metric, value: f64| Measurement::measured(metric, value);
    let mut all = vec![
        measured(metrics::THROUGHPUT, load.throughput_per_second()),
        known(metrics::HIT_RATIO, tally.hit_ratio().ok_or_else(no_get)),
        known(metrics::BYTE_HIT_RATIO, tally.byte_hit_ratio().ok_or_else(no_get)),
        known(metrics::SERVER_CPU, load.server_cpu_per_operation_ns()),
        known(
            metrics::DRIVER_CPU,
            load.driver_cpu_per_operation_ns().ok_or_else(no_answer),
        ),
        measured(metrics::DRIVER_BUSY, load.driver_cpu.busiest_share),
        known(metrics::RESIDENT_BYTES, as_float(&report.resident_bytes)),
        measured(metrics::UNFINISHED, tally.unfinished as f64),
        measured(metrics::REFUSED, (tally.refused + load.warm_up.refused) as f64),
        measured(metrics::MISMATCHES, tally.mismatches as f64),
        measured(metrics::WARM_UP_SETS, load.warm_up.sets as f64),
        measured(metrics::WARM_UP_REQUESTS, load.warm_up.operations as f64),
    ];
    all.extend(
        load.goodput_per_second()
            .map(|rate| measured(metrics::GOODPUT, rate)),
    );
    all.extend(
        load.requested_per_second
            .map(|rate| measured(metrics::OFFERED, rate)),
    );
    all.extend(
        report
            .closed_loop_per_second
            .map(|rate| measured(metrics::CLOSED_LOOP, rate)),
    );
    all.extend(held(report));
    all.extend(report.simulated_hit_ratio.as_ref().map(|ratio| Measurement {
        provenance: Provenance::Modelled,
        ..known(metrics::SIMULATED_HIT_RATIO, ratio.clone())
    }));
    all
}

fn held(report: &BenchReport) -> [Measurement; 3] {
    let known_of = |metric: Metric, value: Result<u64, Unavailable>| known(metric, as_float(&value));
    let held = report.held.as_ref().map_err(Clone::clone);
    let silent = || Unavailable::because("the server does not say");
    [
        known_of(metrics::ITEMS, held.clone().map(|held| held.items)),
        known_of(metrics::EVICTIONS, held.clone().map(|held| held.evictions)),
        known_of(
            metrics::STORE_BYTES,
            held.and_then(|held| held.memory_bytes.ok_or_else(silent)),
        ),
    ]
}

fn as_float(value: &Result<u64, Unavailable>) -> Result<f64, Unavailable> {
    value.as_ref().map(|value| *value as f64).map_err(Clone::clone)
}

fn known(metric: Metric, value: Result<f64, Unavailable>) -> Measurement {
    match value {
        Ok(value) => Measurement::measured(metric, value),
        Err(why) => Measurement::unavailable(metric, why),
    }
}

fn histograms(load: &LoadReport) -> Vec<HistogramEntry> {
    let seconds = load.duration_ns as f64 / 1e9;
    let entry = |kind: RequestKind, what: HistogramKind, histogram: &LatencyHistogram| {
        HistogramEntry::new(kind.name(), what, 0, 0.0, seconds, histogram)
    };
    let mut entries = Vec::new();
    for kind in kinds(load) {
        let of = load.tally.kind(kind);
        entries.push(entry(kind, HistogramKind::Latency, &of.latency));
        if load.is_open_loop {
            entries.push(entry(kind, HistogramKind::Service, &of.service));
        }
    }
    entries
}

fn notes(report: &BenchReport) -> Vec<String> {
    let mut notes = vec![format!("server: {}", report.server)];
    notes.extend(report.load.problems());
    if report.load.is_driver_the_limit() {
        notes.push("the driver had no CPU time to spare: throughput and latency are its own".to_owned());
    }
    if report.is_cpu_shared {
        notes.push(
            "server and driver had to share a CPU: throughput and latency are those of both together"
                .to_owned(),
        );
    }
    notes
}
