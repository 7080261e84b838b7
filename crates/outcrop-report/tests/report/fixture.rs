//! Runs for tests, computed from a queueing formula: a device with so many channels, each serving one request
//! at a time, behind one bus. Nothing here was measured.

use std::collections::BTreeMap;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Provenance, Unit};
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, RunView, TrialEntry, Value};

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
                plan: "[run]\nseed = \"0x2a\"\neffort = \"quick\"\n\n[[plan]]\nname = \"ssd-matrix\"\n"
                    .into(),
                environment: serde_json::Value::Null,
                trials: Vec::new(),
                torn_bytes: 0,
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
            layer: "device".into(),
            subject: "scratch-file 512MiB".into(),
            plans: vec!["ssd-matrix".into()],
            repetition,
            seed: u64::from(number),
            factors: factors(workload),
            started_at: "2026-11-21T02:00:00.123456Z".into(),
            duration_s: f64::from(self.intervals.0) * self.interval_s,
            outcome: Outcome::Completed,
            values: self.values(workload, iops, claimed_ns),
            histograms,
            notes: vec!["engine: registered buffers: off, RLIMIT_MEMLOCK is 8 MiB".into()],
        }
    }

    fn values(&self, workload: Workload, iops: f64, latency_ns: f64) -> Vec<Value> {
        let value = |metric: &str, unit: Unit, value: Option<f64>| Value {
            metric: metric.to_owned(),
            unit,
            value,
            provenance: Provenance::Measured,
            source: value.is_none().then(|| "no counters in this test".to_owned()),
        };
        let bandwidth = iops * workload.size as f64;
        let mut values = vec![
            value("iops", Unit::PerSecond, Some(iops)),
            value("bandwidth", Unit::BytesPerSecond, Some(bandwidth)),
            value("latency_mean", Unit::Nanoseconds, Some(latency_ns)),
            value("latency_p50", Unit::Nanoseconds, Some(latency_ns * 0.9)),
            value("latency_p99", Unit::Nanoseconds, Some(latency_ns * 1.8)),
            value("latency_p99_9", Unit::Nanoseconds, None),
            value("cpu_per_operation", Unit::NanosecondsPerOperation, Some(1500.0)),
            value(
                "achieved_queue_depth",
                Unit::Count,
                Some(f64::from(workload.depth)),
            ),
            value("device_bytes_ratio", Unit::Ratio, self.device_bytes_ratio),
        ];
        for (direction, share) in [
            ("read", workload.read_percent),
            ("write", 100 - workload.read_percent),
        ] {
            if share > 0 {
                let share = f64::from(share) / 100.0;
                let metric = |name: &str| format!("{direction}_{name}");
                values.push(value(&metric("iops"), Unit::PerSecond, Some(iops * share)));
                values.push(value(
                    &metric("bandwidth"),
                    Unit::BytesPerSecond,
                    Some(bandwidth * share),
                ));
                values.push(value(
                    &metric("latency_p50"),
                    Unit::Nanoseconds,
                    Some(latency_ns * 0.9),
                ));
                values.push(value(
                    &metric("latency_p99"),
                    Unit::Nanoseconds,
                    Some(latency_ns * 1.8),
                ));
            }
        }
        values
    }

    fn histograms(&self, workload: Workload, iops: f64, latency_ns: f64) -> Vec<HistogramEntry> {
        let (intervals, kept) = self.intervals;
        let mut entries = Vec::new();
        for (direction, share) in [
            ("read", workload.read_percent),
            ("write", 100 - workload.read_percent),
        ] {
            for index in (0..intervals).filter(|_| share > 0) {
                let rate = if index >= intervals / 2 { iops * kept } else { iops };
                // A little noise: without any, no change of level can be told from none.
                let rate = rate * (1.0 + 0.002 * f64::from(index % 3));
                let count = (rate * f64::from(share) / 100.0 * self.interval_s) as u64;
                entries.push(histogram(direction, index, self.interval_s, count, latency_ns));
            }
        }
        entries
    }
}

/// Latencies spread over a factor of four around their mean.
fn histogram(direction: &str, index: u32, interval_s: f64, count: u64, latency_ns: f64) -> HistogramEntry {
    let mut histogram = LatencyHistogram::new();
    for (factor, share) in [(0.6, 0.3), (0.9, 0.4), (1.4, 0.28), (2.4, 0.02)] {
        histogram.record_many((latency_ns * factor) as u64, (count as f64 * share) as u64);
    }
    HistogramEntry {
        operation: direction.to_owned(),
        kind: HistogramKind::Latency,
        interval_index: index,
        start_s: f64::from(index) * interval_s,
        duration_s: interval_s,
        count: histogram.count(),
        min_ns: histogram.min().unwrap_or(0),
        max_ns: histogram.max().unwrap_or(0),
        sum_ns: u64::try_from(histogram.sum()).unwrap_or(u64::MAX),
        hdr: histogram.to_hdr_base64(),
    }
}

fn factors(workload: Workload) -> BTreeMap<String, String> {
    let Workload {
        size,
        depth,
        read_percent,
    } = workload;
    [
        ("engine", "io_uring".to_owned()),
        ("access_pattern", "random".to_owned()),
        ("arrival", "closed".to_owned()),
        ("content", "random".to_owned()),
        ("jobs", "1".to_owned()),
        ("io_block_size", outcrop_measure::ByteSize(size).to_string()),
        ("queue_depth", depth.to_string()),
        ("read_write_mix", format!("{read_percent}:{}", 100 - read_percent)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Sizes, depths and mixes of the matrix that every complete run has.
pub(crate) const SIZES: [u64; 4] = [4 << 10, 16 << 10, 32 << 10, 128 << 10];
pub(crate) const DEPTHS: [u32; 5] = [1, 8, 32, 256, 1024];
pub(crate) const MIXES: [u8; 4] = [100, 0, 50, 70];

/// A run of the whole matrix.
pub(crate) fn complete() -> RunView {
    RunBuilder::new(5).cells(&SIZES, &DEPTHS, &MIXES).build()
}
