//! From the engine's report to the values of a record.

use outcrop_cache_bench::BenchReport;
use outcrop_cache_load::LoadReport;
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Metric, Provenance, Unavailable};
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, Value};
use outcrop_schema::Remark;
use outcrop_schema::cache;
use outcrop_workload::keyed::RequestKind;

use crate::layer::TrialReport;

/// Why a kind of request has no latency.
const UNANSWERED: &str = "nothing was answered";

/// What is missing when there is no server: the figures that people look for.
const MAIN: [Metric; 4] = [
    cache::THROUGHPUT,
    cache::HIT_RATIO,
    cache::SERVER_CPU,
    cache::ITEMS,
];

/// Everything that a completed trial says.
pub(super) fn trial_report(report: &BenchReport) -> TrialReport {
    let load = &report.load;
    let mut values = values(report);
    values.extend(Value::latencies(
        &cache::LATENCY,
        &load.tally.latency(),
        UNANSWERED,
    ));
    for kind in kinds(load) {
        let of = load.tally.kind(kind);
        values.extend(Value::latencies(
            &cache::latency_of(kind),
            &of.latency,
            UNANSWERED,
        ));
    }
    let tally = &load.tally;
    for (latencies, of) in [
        (&cache::HIT_LATENCY, &tally.hit_latency),
        (&cache::MISS_LATENCY, &tally.miss_latency),
    ] {
        if of.count() > 0 {
            values.extend(Value::latencies(latencies, of, UNANSWERED));
        }
    }
    if load.is_open_loop {
        values.extend(Value::latencies(
            &cache::SERVICE_LATENCY,
            &tally.service(),
            UNANSWERED,
        ));
        values.extend(Value::lateness(&tally.lateness));
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
    TrialReport {
        values: MAIN.map(|metric| Value::unavailable(metric, why)).to_vec(),
        notes: vec![cache::ABSENT.remark(format!("not measured: {why}"))],
        ..TrialReport::empty(Outcome::Completed)
    }
}

fn kinds(load: &LoadReport) -> impl Iterator<Item = RequestKind> {
    RequestKind::ALL
        .into_iter()
        .filter(|kind| load.tally.kind(*kind).operations > 0)
}

fn values(report: &BenchReport) -> Vec<Value> {
    let load = &report.load;
    let tally = &load.tally;
    let no_get = || Unavailable::because("no get was answered");
    let no_answer = || Unavailable::because(UNANSWERED);
    let resident = report.resident_bytes.clone();
    let mut all = vec![
        Value::measured(cache::THROUGHPUT, load.throughput_per_second()),
        Value::measured(cache::ANSWERED, load.answered_per_second()),
        Value::known(cache::HIT_RATIO, tally.hit_ratio().ok_or_else(no_get)),
        Value::known(
            cache::HITS_PER_REQUEST,
            tally.hits_per_request().ok_or_else(no_answer),
        ),
        Value::known(cache::BYTE_HIT_RATIO, tally.byte_hit_ratio().ok_or_else(no_get)),
        Value::known(cache::SERVER_CPU, load.server_cpu_per_operation_ns()),
        Value::known(
            cache::DRIVER_CPU,
            load.driver_cpu_per_operation_ns().ok_or_else(no_answer),
        ),
        Value::measured(cache::DRIVER_BUSY, load.driver_cpu.busiest_share),
        Value::known(cache::RESIDENT_BYTES, resident.map(|bytes| bytes as f64)),
        Value::measured(cache::UNFINISHED, tally.unfinished as f64),
        Value::measured(cache::REFUSED, (tally.refused + load.warm_up.refused) as f64),
        Value::known(cache::REFUSED_SHARE, tally.refused_share().ok_or_else(no_answer)),
        Value::measured(cache::MISMATCHES, tally.mismatches as f64),
        Value::measured(cache::WARM_UP_SETS, load.warm_up.sets as f64),
        Value::measured(cache::WARM_UP_REQUESTS, load.warm_up.operations as f64),
    ];
    let of_open_loops = [
        (cache::GOODPUT, load.goodput_per_second()),
        (cache::OFFERED, load.requested_per_second),
        (cache::CLOSED_LOOP, report.closed_loop_per_second),
    ];
    all.extend(
        of_open_loops
            .into_iter()
            .filter_map(|(metric, rate)| Some(Value::measured(metric, rate?))),
    );
    all.extend(held(report));
    let simulated = report.simulated_hit_ratio.clone();
    all.extend(simulated.map(|ratio| Value::of(cache::SIMULATED_HIT_RATIO, ratio, Provenance::Modelled)));
    all
}

fn held(report: &BenchReport) -> [Value; 3] {
    let silent = || Unavailable::because("the server does not say");
    let held = report.held.as_ref().map_err(Clone::clone);
    let memory = held.clone().and_then(|held| held.memory_bytes.ok_or_else(silent));
    [
        Value::known(cache::ITEMS, held.clone().map(|held| held.items as f64)),
        Value::known(cache::EVICTIONS, held.map(|held| held.evictions as f64)),
        Value::known(cache::STORE_BYTES, memory.map(|bytes| bytes as f64)),
    ]
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

fn notes(report: &BenchReport) -> Vec<Remark> {
    let mut notes = vec![cache::SERVED_BY.remark(format!("server: {}", report.server))];
    let problems = report.load.problems();
    notes.extend(problems.into_iter().map(|problem| cache::PROBLEM.remark(problem)));
    if report.load.is_driver_the_limit() {
        notes.push(
            cache::DRIVER_LIMIT
                .remark("the driver had no CPU time to spare: throughput and latency are its own"),
        );
    }
    if report.is_cpu_shared {
        notes.push(cache::SHARED_CPU.remark(
            "server and driver had to share a CPU: throughput and latency are those of both together",
        ));
    }
    notes
}
