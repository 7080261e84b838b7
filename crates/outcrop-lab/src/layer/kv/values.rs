//! From the driver's report to the values of a record.

#[cfg(test)]
mod tests;

use outcrop_kv::engine::{keeps_files, keeps_more_than_its_log, keeps_values};
use outcrop_kv::{Amounts, Counted, DeviceTraffic, KvReport, KvSpec, PhaseReport};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Metric, Unavailable};
use outcrop_measure::units::{format_bytes, format_nanoseconds};
use outcrop_probe::Counters;
use outcrop_results::{HistogramEntry, HistogramKind, NONE_COMPLETED, Outcome, Value};
use outcrop_schema::Remark;
use outcrop_schema::kv;
use outcrop_workload::keyed::OperationKind;

use super::unused;
use crate::layer::TrialReport;

/// The operation of histograms of the load phase.
const LOAD: &str = "load";

/// What follows from the space that files take by `stat`.
const SPACE: [Metric; 6] = [
    kv::STORED_BYTES,
    kv::STORED_AFTER_BYTES,
    kv::LOG_BYTES,
    kv::LOG_AFTER_BYTES,
    kv::SPACE_AMPLIFICATION,
    kv::STORED_RATIO,
];
/// What is missing when a cell cannot be measured: the figures that people look for.
const MAIN: [Metric; 2] = [kv::THROUGHPUT, kv::STORED_BYTES];

/// What was wrong with the values that came back.
pub(super) fn problem(report: &KvReport) -> Option<String> {
    let tally = &report.run.tally;
    let wrong = tally.mismatches + tally.missing;
    let first = tally.first_problem.as_deref().unwrap_or("no details");
    (wrong > 0).then(|| {
        format!(
            "{} lost or changed data: {wrong} of {} values read were wrong; the first: {first}",
            report.identity,
            tally.verified + tally.missing
        )
    })
}

/// Bytes that the trial wrote to files, by the engine's counters; where it has none, those of the user, or what the files grew by where that is
/// more: a log and tables hold each record twice.
pub(super) fn written_bytes(report: &KvReport) -> u64 {
    let of = |amounts: &Amounts, grown: u64| {
        let engine = amounts.engine.written_bytes.clone();
        engine.unwrap_or_else(|_| amounts.user_written_bytes.max(grown))
    };
    let grown = report.stored_after.bytes.saturating_sub(report.stored.bytes);
    of(&report.load_amounts, report.stored.bytes) + of(&report.run_amounts, grown)
}

/// A cell that cannot be measured here: every main figure is unavailable, for this reason.
pub(super) fn absent(why: &str) -> TrialReport {
    TrialReport {
        values: MAIN.map(|metric| Value::unavailable(metric, why)).to_vec(),
        notes: vec![kv::ABSENT.remark(format!("not measured: {why}"))],
        ..TrialReport::empty(Outcome::Completed)
    }
}

/// Takes the space out of a trial's figures, where the filesystem compresses: its files show what they take before that, and what compresses well
/// there looks large.
pub(super) fn without_space(report: &mut TrialReport, state: &str) {
    for value in &mut report.values {
        if let Some(metric) = SPACE.into_iter().find(|metric| metric.name == value.metric) {
            *value = Value::unavailable(
                metric,
                format!(
                    "the directory's own filesystem compresses ({state}), and files show only their size before that; with --filesystem, as root, \
                     Outcrop makes one for each trial and counts what it uses"
                ),
            );
        }
    }
}

/// Everything that a completed trial says.
pub(super) fn trial_report(spec: &KvSpec, report: &KvReport) -> TrialReport {
    let run = &report.run;
    let mut values = speed(report);
    values.extend(stalls(run));
    if keeps_values(spec.options.engine) {
        values.extend(memory(report));
        let files = keeps_files(&spec.options);
        values.extend(on_disk(space(spec, report), files.as_ref().err()));
        values.extend(tables(spec, report));
        values.extend(on_disk(amplification(spec, report), files.as_ref().err()));
        values.extend(on_disk(device_bytes(report), files.as_ref().err()));
        values.extend(blocks(report));
    }
    values.extend(Value::latencies(&kv::LATENCY, &run.latencies(), NONE_COMPLETED));
    for kind in run.kinds() {
        values.extend(Value::latencies(
            &kv::latency_of(kind),
            &run.latency(kind),
            NONE_COMPLETED,
        ));
    }
    if report.offered_per_second.is_some() {
        values.extend(Value::latencies(
            &kv::SERVICE_LATENCY,
            &run.service(),
            NONE_COMPLETED,
        ));
        values.extend(Value::lateness(&run.lateness));
    }
    let load = report.load.latency(OperationKind::Insert);
    values.extend(Value::latencies(&kv::LOAD_LATENCY, &load, NONE_COMPLETED));
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: run.duration_ns as f64 / 1e9,
        values,
        histograms: histograms(report),
        notes: notes(spec, report),
    }
}

/// Values that were measured on disk. Where an engine keeps no files they are unavailable, with that reason: what is in the directory is not
/// its records, and the device's traffic is that of others.
fn on_disk(values: Vec<Value>, no_files: Option<&Unavailable>) -> Vec<Value> {
    let of_requests = [kv::USER_WRITTEN.name, kv::USER_READ.name];
    let stays = |value: &Value| of_requests.contains(&value.metric.as_str());
    match no_files {
        None => values,
        Some(why) => values
            .into_iter()
            .map(|value| match stays(&value) {
                true => value,
                false => Value {
                    value: None,
                    source: Some(why.reason.clone()),
                    ..value
                },
            })
            .collect(),
    }
}

/// What servers take in memory; nothing of engines in the processes themselves, whose memory is also that of the driver.
fn memory(report: &KvReport) -> Vec<Value> {
    let Some(resident) = report.server_resident_bytes.clone() else {
        return Vec::new();
    };
    let resident = resident.map(|bytes| bytes as f64);
    let user = report.load_amounts.user_written_bytes.max(1) as f64;
    vec![
        Value::known(kv::SERVER_MEMORY, resident.clone()),
        Value::known(kv::MEMORY_AMPLIFICATION, resident.map(|bytes| bytes / user)),
    ]
}

/// `part` for each operation.
fn per(part: u64, operations: u64) -> Result<f64, Unavailable> {
    match operations {
        0 => Err(Unavailable::because(NONE_COMPLETED)),
        operations => Ok(part as f64 / operations as f64),
    }
}

fn speed(report: &KvReport) -> Vec<Value> {
    let (run, load) = (&report.run, &report.load);
    let operations = run.operations();
    let energy = report.energy_j.clone();
    let energy = energy.and_then(|joules| Ok(joules * per(1, run.tally.operations)?));
    let each = |time: Counted| time.and_then(|time| per(time, operations));
    let counted = |counted: &Counted| counted.clone().map(|count| count as f64);
    let hits = |counters: &outcrop_kv::StoreCounters| {
        let (hits, misses) = (counters.cache_hits.clone()?, counters.cache_misses.clone()?);
        match hits + misses {
            0 => Err(Unavailable::because("no data block was requested")),
            all => Ok(hits as f64 / all as f64),
        }
    };
    let mut values = vec![
        Value::measured(kv::THROUGHPUT, run.throughput_per_second()),
        Value::measured(kv::LOAD_THROUGHPUT, load.throughput_per_second()),
        Value::measured(kv::FLUSH_TIME, report.flush_ns as f64),
        Value::measured(kv::SETTLING_TIME, report.settling_ns as f64),
        Value::known(kv::CPU, each(run.cpu.total_ns())),
        Value::known(kv::CALLER_CPU, per(run.cpu.callers_ns, operations)),
        Value::known(kv::BACKGROUND_CPU, each(run.cpu.background_ns())),
        Value::known(kv::KERNEL_CPU, each(run.cpu.kernel_ns())),
        Value::known(
            kv::KERNEL_THREADS_CPU,
            report
                .kernel_threads_ns
                .clone()
                .and_then(|ns| per(ns, run.tally.operations)),
        ),
        Value::known(
            kv::LOAD_CPU,
            load.cpu.total_ns().and_then(|time| per(time, load.operations())),
        ),
        Value::known(kv::ENERGY, energy),
        Value::known(kv::RESIDENT_BYTES, counted(&report.peak_resident_bytes)),
        Value::known(kv::WRITER_STALL, counted(&run.counters.stalled_ns)),
        Value::known(kv::CACHE_HITS, hits(&run.counters)),
        Value::known(kv::CPU_SHARE, cpu_share(report)),
        Value::known(kv::MACHINE_CPU_SHARE, report.machine_cpu_share.clone()),
        Value::measured(kv::VERIFIED, run.tally.verified as f64),
        Value::measured(kv::MISMATCHES, (run.tally.mismatches + run.tally.missing) as f64),
    ];
    match report.offered_per_second {
        Some(offered) => values.extend([
            Value::measured(kv::OFFERED, offered),
            Value::measured(kv::UNFINISHED, run.tally.unfinished as f64),
        ]),
        None => values.push(Value::known(kv::BETWEEN, per(run.between_ns, operations))),
    }
    values
}

/// CPU time of the processes over what their CPUs could give in the measured time.
fn cpu_share(report: &KvReport) -> Result<f64, Unavailable> {
    let run = &report.run;
    let all_ns = run.duration_ns.max(1) as f64 * report.cpus.max(1) as f64;
    run.cpu.total_ns().map(|time| time as f64 / all_ns)
}

/// Stalled windows, and the time that they are.
fn stalls(run: &PhaseReport) -> [Value; 2] {
    let windows = run
        .stalls()
        .ok_or_else(|| Unavailable::because("the run has fewer than three windows"));
    let time = windows.clone().map(|windows| (windows * run.interval_ns) as f64);
    [
        Value::known(kv::STALLS, windows.map(|windows| windows as f64)),
        Value::known(kv::STALLED_TIME, time),
    ]
}

/// Blocks per operation, by the engine's counters over the whole phase; opening and closing.
fn blocks(report: &KvReport) -> Vec<Value> {
    let counters = &report.run.counters;
    let operations = report.run.tally.operations;
    let each = |counted: &Counted| counted.clone().and_then(|count| per(count, operations));
    vec![
        Value::measured(kv::OPENING_TIME, report.opening_ns as f64),
        Value::measured(kv::CLOSING_TIME, report.closing_ns as f64),
        Value::known(kv::BLOCKS_FETCHED, each(&counters.cache_misses)),
        Value::known(kv::BLOCKS_DECOMPRESSED, each(&counters.decompressed_blocks)),
        Value::known(kv::BLOCKS_COMPRESSED, each(&counters.compressed_blocks)),
        Value::known(kv::COMPACTION_READ, each(&counters.compaction_read_bytes)),
        Value::known(kv::TABLES_WRITTEN, each(&counters.table_written_bytes)),
    ]
}

fn space(spec: &KvSpec, report: &KvReport) -> Vec<Value> {
    let user = report.load_amounts.user_written_bytes.max(1) as f64;
    let stored = report.stored.bytes.max(1) as f64;
    let counted = |counted: &Counted| counted.clone().map(|count| count as f64);
    // What is left of the space without the log is what codecs and merging are judged by: of a log alone nothing would be left.
    let has_more = keeps_more_than_its_log(spec.options.engine);
    let log = |bytes: u64| has_more.clone().map(|()| bytes as f64);
    vec![
        Value::measured(kv::STORED_BYTES, stored),
        Value::measured(kv::STORED_AFTER_BYTES, report.stored_after.bytes as f64),
        Value::known(kv::LOG_BYTES, log(report.stored.log_bytes)),
        Value::known(kv::LOG_AFTER_BYTES, log(report.stored_after.log_bytes)),
        Value::measured(kv::SPACE_AMPLIFICATION, stored / user),
        Value::measured(kv::STORED_RATIO, user / stored),
        Value::known(kv::DEBT_BEFORE, counted(&report.debt_before)),
        Value::known(kv::DEBT_AFTER, counted(&report.debt_after)),
    ]
}

/// What the engine's files hold once the load has settled, and how often they hold a record.
fn tables(spec: &KvSpec, report: &KvReport) -> Vec<Value> {
    let tables = &report.tables;
    let counted = |counted: &Counted| counted.clone().map(|count| count as f64);
    let over = |part: &Counted, whole: &Counted| match (part.clone()?, whole.clone()?) {
        (_, 0) => Err(Unavailable::because("the engine's files contain nothing yet")),
        (part, whole) => Ok(part as f64 / whole as f64),
    };
    let records = spec.records * u64::from(spec.processes);
    vec![
        Value::known(kv::DATA_BLOCK_BYTES, counted(&tables.data_bytes)),
        Value::known(kv::INDEX_BYTES, counted(&tables.index_bytes)),
        Value::known(kv::FILTER_BYTES, counted(&tables.filter_bytes)),
        Value::known(
            kv::DATA_BLOCK_RATIO,
            over(&tables.content_bytes, &tables.data_bytes),
        ),
        Value::known(kv::VERSIONS_PER_RECORD, over(&tables.entries, &Ok(records))),
        Value::known(kv::UPPER_LEVELS_SHARE, over(&tables.upper_bytes, &tables.bytes())),
    ]
}

/// What the block device counted in each phase, also where the run itself writes nothing, and for each operation of the run.
fn device_bytes(report: &KvReport) -> Vec<Value> {
    let (loading, settling, run) = (
        &report.loading_device,
        &report.settling_device,
        &report.run_amounts.device,
    );
    let phases = [
        (loading, kv::LOAD_DEVICE_READ, kv::LOAD_DEVICE_WRITTEN),
        (settling, kv::SETTLING_DEVICE_READ, kv::SETTLING_DEVICE_WRITTEN),
        (run, kv::RUN_DEVICE_READ, kv::RUN_DEVICE_WRITTEN),
    ];
    let of_phase = |(device, read, written): (&DeviceTraffic, Metric, Metric)| {
        let bytes = |of: fn(&Counters) -> u64| device.clone().map(|device| of(&device) as f64);
        [
            Value::known(read, bytes(|device| device.read_bytes)),
            Value::known(written, bytes(|device| device.written_bytes)),
        ]
    };
    let each = |metric: Metric, of: fn(&Counters) -> u64| {
        let bytes = run.clone().map(|device| of(&device));
        Value::known(
            metric,
            bytes.and_then(|bytes| per(bytes, report.run.tally.operations)),
        )
    };
    let read = each(kv::DEVICE_READ, |device| device.read_bytes);
    let written = each(kv::DEVICE_WRITTEN, |device| device.written_bytes);
    phases
        .into_iter()
        .flat_map(of_phase)
        .chain([read, written])
        .collect()
}

fn amplification(spec: &KvSpec, report: &KvReport) -> Vec<Value> {
    let over = |bytes: Counted, user: u64, what: &str| match user {
        0 => Err(Unavailable::because(format!("no value was {what}"))),
        user => bytes.map(|bytes| bytes as f64 / user as f64),
    };
    let written = |amounts: &Amounts| {
        let device = amounts.device.clone().map(|device| device.written_bytes);
        let user = amounts.user_written_bytes;
        (
            over(amounts.engine.written_bytes.clone(), user, "written"),
            over(device, user, "written"),
        )
    };
    let run = &report.run_amounts;
    let device_reads = run.device.clone().map(|device| device.read_bytes);
    let (load_engine, load_device) = written(&report.load_amounts);
    let (run_engine, run_device) = written(run);
    let mut values = vec![
        Value::measured(kv::USER_WRITTEN, run.user_written_bytes as f64),
        Value::measured(kv::USER_READ, run.user_read_bytes as f64),
        Value::known(kv::LOAD_WRITES_ENGINE, load_engine),
        Value::known(kv::LOAD_WRITES_DEVICE, load_device),
        Value::known(
            kv::READS_ENGINE,
            over(run.engine.read_bytes.clone(), run.user_read_bytes, "read"),
        ),
        Value::known(kv::READS_DEVICE, over(device_reads, run.user_read_bytes, "read")),
    ];
    // A run that never writes has no such figure, rather than an unavailable one.
    let mix = spec.workload.mix();
    if OperationKind::ALL
        .into_iter()
        .any(|kind| kind.writes() && mix.has(kind))
    {
        values.push(Value::known(kv::WRITES_ENGINE, run_engine));
        values.push(Value::known(kv::WRITES_DEVICE, run_device));
    }
    values
}

/// Start and length of a window in seconds: the phase may end within its last one.
fn window(index: u32, interval_ns: u64, duration_ns: u64) -> (f64, f64) {
    let start_ns = u64::from(index) * interval_ns;
    let length_ns = interval_ns.min(duration_ns.saturating_sub(start_ns));
    (start_ns as f64 / 1e9, length_ns as f64 / 1e9)
}

/// The run by window and kind; of the load one for each window, under a name of its own.
fn histograms(report: &KvReport) -> Vec<HistogramEntry> {
    let mut entries = Vec::new();
    let mut push = |phase: &PhaseReport, name: Option<&str>| {
        for interval in &phase.intervals {
            let (start, seconds) = window(interval.index, phase.interval_ns, phase.duration_ns);
            let operation = name.unwrap_or(interval.kind.name());
            let mut entry = |kind, histogram: &LatencyHistogram| {
                if !histogram.is_empty() {
                    entries.push(HistogramEntry::new(
                        operation,
                        kind,
                        interval.index,
                        start,
                        seconds,
                        histogram,
                    ));
                }
            };
            entry(HistogramKind::Latency, &interval.latency);
            entry(HistogramKind::Service, &interval.service);
        }
    };
    push(&report.run, None);
    push(&report.load, Some(LOAD));
    entries
}

fn notes(spec: &KvSpec, report: &KvReport) -> Vec<Remark> {
    let mut notes = vec![kv::OPENED.remark(format!("engine: {}", report.identity))];
    notes.extend(kv::libraries_remark(&report.codec_libraries));
    if !report.is_settled {
        notes.push(kv::NOT_SETTLED.remark(
            "compaction had not settled when the run began: throughput and latency are those of both together, and the space includes files \
             that it was about to replace",
        ));
    }
    notes.extend(unused::codec(&spec.options, &report.tables));
    if let Some(stalls) = report.run.stalls().filter(|stalls| *stalls > 0) {
        let interval_ns = report.run.interval_ns;
        notes.push(kv::STALLED.remark(format!(
            "for {} of the run, throughput was below a tenth of its median ({stalls} of {} windows of {})",
            format_nanoseconds((stalls * interval_ns) as f64),
            report.run.windows().len(),
            format_nanoseconds(interval_ns as f64)
        )));
    }
    if let (Ok(before), Ok(after)) = (&report.debt_before, &report.debt_after)
        && after > before
    {
        notes.push(kv::DEBT_LEFT.remark(format!(
            "the run left compaction with {} more to rewrite than it found: an engine that postpones work looks faster",
            format_bytes(after - before)
        )));
    }
    if report.run.tally.unfinished > 0 {
        notes.push(kv::BACKLOG.remark(format!(
            "{} operations were due in the measured time but had not begun by its end: the schedule is faster than the engine",
            report.run.tally.unfinished
        )));
    }
    notes
}
