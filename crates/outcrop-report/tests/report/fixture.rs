//! Runs for tests, computed from a queueing formula: a device with so many channels, each serving one request
//! at a time, behind one bus. Nothing here was measured.

use std::collections::BTreeMap;

use outcrop_measure::ByteSize;
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, RunView, TrialEntry, Value};
use outcrop_schema::device::{
    ACHIEVED_QUEUE_DEPTH, BANDWIDTH, CPU_PER_OPERATION, DEVICE_BYTES_RATIO, Direction, ENGINE_FEATURE,
    IO_BLOCK_SIZE, IOPS, LATENCY, QUEUE_DEPTH, READ_WRITE_MIX, SCHEMA,
};
use outcrop_schema::{Settings, Vocabulary};
use outcrop_workload::ReadWriteMix;

/// Requests that the device serves in parallel.
const CHANNELS: f64 = 16.0;
/// Time of one read or write of nothing, in nanoseconds.
const READ_NS: f64 = 60_000.0;
const WRITE_NS: f64 = 25_000.0;
/// The bus, in bytes per second.
const BUS_BYTES_PER_S: f64 = 3.0e9;
/// What a mix loses against the mean of its parts.
const MIX_LOSS: f64 = 0.75;

/// One cell to be computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    pub(crate) size: u64,
    pub(crate) depth: u32,
    pub(crate) read_percent: u8,
}

impl Workload {
    /// The directions that it has, each with its share of the requests.
    fn directions(self) -> impl Iterator<Item = (Direction, f64)> {
        let shares = [
            (Direction::Read, self.read_percent),
            (Direction::Write, 100 - self.read_percent),
        ];
        let present = shares.into_iter().filter(|(_, percent)| *percent > 0);
        present.map(|(direction, percent)| (direction, f64::from(percent) / 100.0))
    }
}

/// What the formula gives for a workload.
pub(crate) fn iops_of(workload: Workload) -> f64 {
    let Workload {
        size,
        depth,
        read_percent,
    } = workload;
    let share = f64::from(read_percent) / 100.0;
    let service_ns = share * READ_NS + (1.0 - share) * WRITE_NS + size as f64 / BUS_BYTES_PER_S * 1e9;
    let in_parallel = f64::from(depth).min(CHANNELS);
    let loss = if (1..100).contains(&read_percent) {
        MIX_LOSS
    } else {
        1.0
    };
    (in_parallel / service_ns * 1e9).min(BUS_BYTES_PER_S / size as f64) * loss
}

/// Builds a run, trial by trial.
pub(crate) struct RunBuilder {
    /// What was built so far.
    pub(crate) run: RunView,
    /// Trials per cell.
    pub(crate) repetitions: u32,
    /// Relative spread of the repetitions of every cell.
    pub(crate) spread: f64,
    /// What the kernel's counters show for each byte of ours.
    pub(crate) device_bytes_ratio: Option<f64>,
    /// Latency that is claimed, relative to the true one.
    pub(crate) latency_factor: f64,
    /// Intervals per trial and the share of the rate that the second half keeps.
    pub(crate) intervals: (u32, f64),
    /// Seconds per interval.
    pub(crate) interval_s: f64,
}

impl RunBuilder {
    pub(crate) fn new(repetitions: u32) -> Self {
        Self {
            run: RunView {
                dir: "runs/20261121T020000Z-example".into(),
                name: "20261121T020000Z-example".into(),
                plan: "[run]\nseed = \"0x2a\"\neffort = \"quick\"\ndirectory = \"/mnt/data\"\n\n[[plan]]\nname = \"ssd-matrix\"\n\
                       layer = \"device\"\n\n[plan.subject]\nkind = \"scratch-file\"\nsize = \"1GiB\"\n"
                    .into(),
                environment: serde_json::Value::Null,
                trials: Vec::new(),
                torn_bytes: 0,
                vocabulary: Vocabulary::default(),
            },
            repetitions,
            spread: 0.01,
            device_bytes_ratio: Some(1.0),
            latency_factor: 1.0,
            intervals: (8, 1.0),
            interval_s: 1.0,
        }
    }

    /// Adds a cell with all its repetitions.
    pub(crate) fn cell(mut self, workload: Workload) -> Self {
        for repetition in 0..self.repetitions {
            let trial = self.trial(workload, repetition);
            self.run.trials.push(trial);
        }
        self
    }

    /// Adds every combination.
    pub(crate) fn cells(self, sizes: &[u64], depths: &[u32], mixes: &[u8]) -> Self {
        let combinations = sizes.iter().flat_map(|size| {
            depths
                .iter()
                .flat_map(move |depth| mixes.iter().map(move |mix| (*size, *depth, *mix)))
        });
        combinations.fold(self, |builder, (size, depth, read_percent)| {
            builder.cell(Workload {
                size,
                depth,
                read_percent,
            })
        })
    }

    /// Adds a trial that did not complete.
    pub(crate) fn lost(mut self, outcome: Outcome) -> Self {
        let mut trial = self.trial(
            Workload {
                size: 4096,
                depth: 1,
                read_percent: 100,
            },
            90,
        );
        trial.outcome = outcome;
        trial.values.clear();
        trial.histograms.clear();
        self.run.trials.push(trial);
        self
    }

    pub(crate) fn build(self) -> RunView {
        self.run
    }

    fn trial(&self, workload: Workload, repetition: u32) -> TrialEntry {
        let step = f64::from(repetition) - f64::from(self.repetitions - 1) / 2.0;
        let iops = iops_of(workload) * (1.0 + self.spread * step);
        let claimed_ns = f64::from(workload.depth) / iops * 1e9 * self.latency_factor;
        let histograms = self.histograms(workload, iops, claimed_ns);
        let number = self.run.trials.len() as u32;
        TrialEntry {
            trial: number,
            cell: format!("{workload:?}"),
            layer: SCHEMA.name.into(),
            subject: "scratch-file 512MiB".into(),
            plans: vec!["ssd-matrix".into()],
            repetition,
            seed: u64::from(number),
            factors: factors(workload),
            started_at: "2026-11-21T02:00:00.123456Z".into(),
            duration_s: f64::from(self.intervals.0) * self.interval_s,
            data: None,
            variant: None,
            took_s: None,
            others_cpu_share: None,
            outcome: Outcome::Completed,
            values: self.values(workload, iops, claimed_ns),
            histograms,
            notes: vec![ENGINE_FEATURE.remark("engine: registered buffers: off, RLIMIT_MEMLOCK is 8 MiB")],
        }
    }

    fn values(&self, workload: Workload, iops: f64, latency_ns: f64) -> Vec<Value> {
        let bandwidth = iops * workload.size as f64;
        let mut values = vec![
            Value::measured(IOPS.both, iops),
            Value::measured(BANDWIDTH.both, bandwidth),
            Value::measured(LATENCY.both.mean, latency_ns),
            Value::measured(LATENCY.both.p50, latency_ns * 0.9),
            Value::measured(LATENCY.both.p99, latency_ns * 1.8),
            Value::unavailable(LATENCY.both.p99_9, "too few operations in this test"),
            Value::measured(CPU_PER_OPERATION, 1500.0),
            Value::measured(ACHIEVED_QUEUE_DEPTH, f64::from(workload.depth)),
            match self.device_bytes_ratio {
                Some(ratio) => Value::measured(DEVICE_BYTES_RATIO, ratio),
                None => Value::unavailable(DEVICE_BYTES_RATIO, "no counters in this test"),
            },
        ];
        for (direction, share) in workload.directions() {
            let way = Some(direction);
            values.extend([
                Value::measured(IOPS.of(way), iops * share),
                Value::measured(BANDWIDTH.of(way), bandwidth * share),
                Value::measured(LATENCY.of(way).p50, latency_ns * 0.9),
                Value::measured(LATENCY.of(way).p99, latency_ns * 1.8),
            ]);
        }
        values
    }

    fn histograms(&self, workload: Workload, iops: f64, latency_ns: f64) -> Vec<HistogramEntry> {
        let (intervals, kept) = self.intervals;
        let mut entries = Vec::new();
        for (direction, share) in workload.directions() {
            for index in 0..intervals {
                let rate = if index >= intervals / 2 { iops * kept } else { iops };
                // A little noise: without any, no change of level can be told from none.
                let rate = rate * (1.0 + 0.002 * f64::from(index % 3));
                let count = (rate * share * self.interval_s) as u64;
                entries.push(histogram(direction, index, self.interval_s, count, latency_ns));
            }
        }
        entries
    }
}

/// Latencies spread over a factor of four around their mean.
fn histogram(
    direction: Direction,
    index: u32,
    interval_s: f64,
    count: u64,
    latency_ns: f64,
) -> HistogramEntry {
    let mut histogram = LatencyHistogram::new();
    for (factor, share) in [(0.6, 0.3), (0.9, 0.4), (1.4, 0.28), (2.4, 0.02)] {
        histogram.record_many((latency_ns * factor) as u64, (count as f64 * share) as u64);
    }
    let start_s = f64::from(index) * interval_s;
    let kind = HistogramKind::Latency;
    HistogramEntry::new(direction.name(), kind, index, start_s, interval_s, &histogram)
}

fn factors(workload: Workload) -> BTreeMap<String, String> {
    let mut factors = Settings::defaults(SCHEMA.workload);
    factors.set(&IO_BLOCK_SIZE, ByteSize(workload.size));
    factors.set(&QUEUE_DEPTH, workload.depth);
    let mix = ReadWriteMix::of_reads(workload.read_percent);
    factors.set(&READ_WRITE_MIX, mix.expect("a share of at most 100 per cent"));
    factors.spellings()
}

/// Sizes, depths and mixes of the matrix that every complete run has.
pub(crate) const SIZES: [u64; 4] = [4 << 10, 16 << 10, 32 << 10, 128 << 10];
pub(crate) const DEPTHS: [u32; 5] = [1, 8, 32, 256, 1024];
pub(crate) const MIXES: [u8; 4] = [100, 0, 50, 70];

/// A run of the whole matrix.
pub(crate) fn complete() -> RunView {
    RunBuilder::new(5).cells(&SIZES, &DEPTHS, &MIXES).build()
}
