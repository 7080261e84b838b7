//! Runs of the key-value layer whose truth is known: nothing here was measured.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unit;
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, RunView, TrialEntry, Value};
use outcrop_schema::kv::{
    BACKGROUND_CPU, BETWEEN, BLOCKS_FETCHED, CACHE_HITS, CALLER_CPU, COMPACTION_READ, COMPRESSION,
    COMPRESSION_BLOCK_SIZE, CPU, DEVICE_READ, DEVICE_WRITTEN, KERNEL_THREADS_CPU, LATENCY, LOAD_THROUGHPUT,
    LOAD_WRITES_DEVICE, LOAD_WRITES_ENGINE, MISMATCHES, OPENED, READ_LATENCY, REQUESTS, SCHEMA,
    SPACE_AMPLIFICATION, STORED_AFTER_BYTES, STORED_BYTES, STORED_RATIO, TABLES_WRITTEN, THROUGHPUT,
    VALUE_SIZE, VERIFIED, WORKLOAD,
};
use outcrop_schema::{FactorRef, Settings, Vocabulary};

/// A cell: its codec, its block size, its throughput, and the bytes that it takes of 100 MB.
type Cell = (&'static str, &'static str, f64, f64);

/// Compressing costs a tenth of the throughput and halves the space; larger blocks cost more and save a little.
const CELLS: [Cell; 4] = [
    ("none", "4KiB", 100e3, 110e6),
    ("none", "16KiB", 95e3, 108e6),
    ("lz4", "4KiB", 90e3, 55e6),
    ("lz4", "16KiB", 70e3, 50e6),
];

/// The usual places to compress, with speeds that differ so much between trials that most is left undecided.
pub(crate) fn of_wide_speeds() -> RunView {
    let mut run = of(&crate::placement::USUAL);
    for trial in &mut run.trials {
        let factor = 1.0 + 0.9 * f64::from(trial.repetition);
        let per_second = |value: &&mut Value| value.unit == Unit::PerSecond;
        let speeds = trial.values.iter_mut().filter(per_second);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * factor));
    }
    run
}

/// RocksDB by codec and block size, three trials a cell of two windows each.
pub(crate) fn codecs() -> RunView {
    of(&CELLS.map(|(codec, block_size, throughput, stored)| Stored {
        codec,
        block_size,
        filesystem: "as-is",
        throughput,
        stored,
    }))
}

/// A cell of RocksDB: how it compresses, and what that gives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) codec: &'static str,
    pub(crate) block_size: &'static str,
    pub(crate) filesystem: &'static str,
    pub(crate) throughput: f64,
    /// Bytes that it takes of 100 MB.
    pub(crate) stored: f64,
}

/// The same with any cells.
pub(crate) fn of(cells: &[Stored]) -> RunView {
    let mut run = RunView {
        dir: "runs/20261121T020000Z-kv".into(),
        name: "20261121T020000Z-kv".into(),
        plan: "[run]\nseed = \"0x2a\"\n\n[[plan]]\nname = \"kv-compression\"\nlayer = \"kv\"\n".into(),
        environment: serde_json::Value::Null,
        trials: Vec::new(),
        torn_bytes: 0,
        vocabulary: Vocabulary::default(),
    };
    for Stored {
        codec,
        block_size,
        filesystem,
        throughput,
        stored,
    } in cells.iter().copied()
    {
        let factors = factors(codec, block_size, filesystem);
        push_trials(&mut run, &factors, throughput, stored);
    }
    run
}

/// Settings of a cell that differ from the usual ones.
pub(crate) type Unusual = Vec<(FactorRef, &'static str)>;

/// RocksDB with LZ4, each cell with other settings and a throughput.
pub(crate) fn of_settings(cells: &[(Unusual, f64)]) -> RunView {
    let mut run = of(&[]);
    for (settings, throughput) in cells {
        let mut factors = factors("lz4", "4KiB", "as-is");
        for (factor, text) in settings {
            factors.insert(factor.name, factor.read(text).expect("the factor accepts it"));
        }
        let workload = *factors.value(&WORKLOAD);
        factors.set(&REQUESTS, workload.requests());
        if settings.iter().all(|(factor, _)| factor.name != VALUE_SIZE.name) {
            factors.set(&VALUE_SIZE, workload.value_size());
        }
        push_trials(&mut run, &factors, *throughput, 55e6);
    }
    run
}

/// Three trials, whose throughput differs by a hundredth.
fn push_trials(run: &mut RunView, factors: &Settings, throughput: f64, stored: f64) {
    for repetition in 0..3_u32 {
        let noise = 1.0 + 0.01 * (f64::from(repetition) - 1.0);
        let values = values(throughput * noise, stored);
        push(run, factors, repetition, values, throughput);
    }
}

fn factors(codec: &str, block_size: &str, filesystem: &str) -> Settings {
    let mut factors = Settings::defaults(SCHEMA.workload);
    let mut set = |factor: FactorRef, text: &str| {
        factors.insert(factor.name, factor.read(text).expect("the factor accepts it"));
    };
    set(&outcrop_schema::kv::ENGINE, "rocksdb");
    set(&COMPRESSION, codec);
    set(&COMPRESSION_BLOCK_SIZE, block_size);
    set(&outcrop_schema::kv::FILESYSTEM, filesystem);
    let workload = *factors.value(&WORKLOAD);
    factors.set(&REQUESTS, workload.requests());
    factors.set(&VALUE_SIZE, workload.value_size());
    factors
}

fn values(throughput: f64, stored: f64) -> Vec<Value> {
    let latency_ns = 1e9 / throughput;
    [
        (THROUGHPUT, throughput),
        (LOAD_THROUGHPUT, 90e3),
        (LATENCY.mean, latency_ns),
        (BETWEEN, 0.0),
        (LATENCY.p99, latency_ns * 4.0),
        (READ_LATENCY.mean, latency_ns),
        (READ_LATENCY.p99, latency_ns * 4.0),
        (CPU, latency_ns * 1.2),
        (STORED_BYTES, stored),
        (STORED_AFTER_BYTES, stored),
        (SPACE_AMPLIFICATION, stored / 100e6),
        (STORED_RATIO, 100e6 / stored),
        (CACHE_HITS, 0.75),
        (BLOCKS_FETCHED, 0.25),
        (COMPACTION_READ, 100.0),
        (TABLES_WRITTEN, 120.0),
        (DEVICE_READ, 1024.0),
        (DEVICE_WRITTEN, 150.0),
        (CALLER_CPU, latency_ns),
        (BACKGROUND_CPU, latency_ns * 0.2),
        (KERNEL_THREADS_CPU, latency_ns * 0.05),
        (LOAD_WRITES_ENGINE, 2.0),
        (LOAD_WRITES_DEVICE, 2.1),
        (VERIFIED, 1e5),
        (MISMATCHES, 0.0),
    ]
    .map(|(metric, value)| Value::measured(metric, value))
    .into()
}

fn push(run: &mut RunView, factors: &Settings, repetition: u32, values: Vec<Value>, throughput: f64) {
    let window = |index: u32| {
        let mut histogram = LatencyHistogram::new();
        histogram.record_many((1e9 / throughput) as u64, (throughput / 2.0) as u64);
        let start_s = f64::from(index) * 0.5;
        HistogramEntry::new("read", HistogramKind::Latency, index, start_s, 0.5, &histogram)
    };
    let number = run.trials.len() as u32;
    run.trials.push(TrialEntry {
        trial: number,
        cell: format!("{factors:?}"),
        layer: SCHEMA.name.into(),
        subject: "databases of generated values".into(),
        plans: vec!["kv-compression".into()],
        repetition,
        seed: u64::from(number),
        factors: factors.spellings(),
        started_at: "2026-11-21T02:00:00.123456Z".into(),
        duration_s: 1.0,
        data: None,
        variant: None,
        took_s: None,
        others_cpu_share: None,
        outcome: Outcome::Completed,
        values,
        histograms: vec![window(0), window(1)],
        notes: vec![OPENED.remark("engine: RocksDB 7.8.3 (librocksdb.so.7.8.3)")],
    });
}
