//! The reads or the writes of a trial in fio's form.

use std::collections::BTreeMap;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::percentile;
use outcrop_results::{CellView, HistogramKind, SeriesPoint, TrialEntry};
use outcrop_schema::Latencies;
use outcrop_schema::device::{self, ByDirection, Direction};
use outcrop_workload::Durability;
use serde_json::{Map, Value, json};

use super::figure;
use super::options::FioOptions;
use crate::error::FioError;

/// The key of Outcrop's own latency of writes that syncs follow: fio has none that contains both.
pub(super) const LATENCY_WITH_SYNC: &str = "lat_with_sync_ns";
/// The percentiles that fio lists.
const LISTED: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99,
];
/// Upper ends of the ranges in which fio counts requests, in each unit; beyond the last it uses the next unit.
const RANGES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// The latencies of a cell over time, by direction.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    reads: Vec<SeriesPoint>,
    writes: Vec<SeriesPoint>,
    /// Whether syncs follow writes: the latencies of those contain the syncs.
    pub(super) has_syncs: bool,
    /// Submission and completion, where they were timed apart; writes and the syncs that follow them.
    parts: BTreeMap<(Direction, HistogramKind), Vec<SeriesPoint>>,
}

impl Recorded {
    /// The intervals of all trials of a cell: from the real start, where that is recorded apart, as fio counts.
    pub(super) fn of(cell: &CellView<'_>) -> Result<Self, FioError> {
        let keys = cell.histogram_keys();
        let series = |direction: Direction| {
            let is_service = keys.contains(&(direction.name(), HistogramKind::Service));
            let kind = if is_service {
                HistogramKind::Service
            } else {
                HistogramKind::Latency
            };
            cell.series(direction.name(), kind)
        };
        let mut parts = BTreeMap::new();
        for direction in Direction::ALL {
            for kind in [
                HistogramKind::Submission,
                HistogramKind::Completion,
                HistogramKind::Transfer,
                HistogramKind::Sync,
            ] {
                parts.insert((direction, kind), cell.series(direction.name(), kind)?);
            }
        }
        let settings = device::SCHEMA.read(cell.factors);
        Ok(Self {
            reads: series(Direction::Read)?,
            writes: series(Direction::Write)?,
            has_syncs: matches!(settings.get(&device::SYNC), Some(Durability::After { .. })),
            parts,
        })
    }

    fn of_trial(&self, direction: Direction, repetition: u32) -> impl Iterator<Item = &SeriesPoint> {
        let all = match direction {
            Direction::Read => &self.reads,
            Direction::Write => &self.writes,
        };
        all.iter().filter(move |point| point.repetition == repetition)
    }

    fn histogram(&self, direction: Direction, repetition: u32) -> LatencyHistogram {
        merged(self.of_trial(direction, repetition))
    }

    /// One of the parts of a trial; none where nothing was timed apart.
    fn part(&self, direction: Direction, kind: HistogramKind, repetition: u32) -> Option<LatencyHistogram> {
        let points = self.parts.get(&(direction, kind))?.iter();
        let part = merged(points.filter(|point| point.repetition == repetition));
        (!part.is_empty()).then_some(part)
    }

    /// Writes without the syncs that follow them; none where that was not recorded.
    pub(super) fn unsynced_writes(&self, repetition: u32) -> Option<LatencyHistogram> {
        self.part(Direction::Write, HistogramKind::Transfer, repetition)
    }

    /// All latencies of a trial, as fio has them: without syncs. None where they were not kept.
    pub(super) fn latencies(&self, repetition: u32) -> Option<Distribution> {
        let mut all = self.histogram(Direction::Read, repetition);
        match self.has_syncs {
            true => all.merge(&self.unsynced_writes(repetition)?),
            false => all.merge(&self.histogram(Direction::Write, repetition)),
        }
        (!all.is_empty()).then_some(Distribution(all))
    }
}

fn merged<'p>(points: impl Iterator<Item = &'p SeriesPoint>) -> LatencyHistogram {
    let mut all = LatencyHistogram::new();
    points.for_each(|point| all.merge(&point.histogram));
    all
}

/// All latencies of a trial.
pub(super) struct Distribution(LatencyHistogram);

impl Distribution {
    /// Per cent of the requests in fio's ranges of a unit.
    pub(super) fn within(&self, unit_ns: u64) -> Value {
        let is_last = unit_ns == 1_000_000;
        let mut shares = Map::new();
        let mut low_ns = if unit_ns == 1 { 0 } else { unit_ns };
        let seconds = is_last.then_some(2000);
        for high in RANGES.into_iter().chain(seconds) {
            let high_ns = high * unit_ns;
            shares.insert(high.to_string(), self.share(low_ns, high_ns).into());
            low_ns = high_ns;
        }
        if is_last {
            shares.insert(">=2000".to_owned(), self.share(low_ns, u64::MAX).into());
        }
        Value::Object(shares)
    }

    /// Per cent from one latency up to another, without that one.
    fn share(&self, low_ns: u64, high_ns: u64) -> f64 {
        let within = self
            .0
            .buckets()
            .filter(|bucket| (low_ns..high_ns).contains(&bucket.low_ns));
        let count: u64 = within.map(|bucket| bucket.count).sum();
        100.0 * count as f64 / self.0.count() as f64
    }
}

/// A latency that was not timed.
fn untimed() -> Value {
    json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0})
}

/// Whether a latency was timed.
fn is_timed(latency: &Value) -> bool {
    latency.get("percentile").is_some()
}

/// What a direction without a request has.
pub(super) fn none() -> Value {
    json!({
        "io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0,
        "short_ios": 0, "drop_ios": 0,
        "slat_ns": untimed(), "clat_ns": untimed(), "lat_ns": untimed(),
        "bw_min": 0, "bw_max": 0, "bw_agg": 0.0, "bw_mean": 0.0, "bw_dev": 0.0, "bw_samples": 0,
        "iops_min": 0, "iops_max": 0, "iops_mean": 0.0, "iops_stddev": 0.0, "iops_samples": 0,
    })
}

/// The requests of one direction.
pub(super) fn json(
    trial: &TrialEntry,
    direction: Direction,
    recorded: &Recorded,
    options: &FioOptions,
) -> Value {
    let is_there = match direction {
        Direction::Read => options.mix.has_reads(),
        Direction::Write => options.mix.has_writes(),
    };
    // The only direction of a trial may have its figures under the names of all requests.
    let plain = (options.mix == direction.mix()).then_some(None);
    let known = |metric: &dyn Fn(Option<Direction>) -> &'static str| {
        let named = figure(trial, metric(Some(direction)));
        named.or_else(|| plain.and_then(|both| figure(trial, metric(both))))
    };
    let iops = known(&|of| device::IOPS.of(of).name);
    let Some(iops) = iops.filter(|_| is_there) else {
        return none();
    };
    let bandwidth = known(&|of| device::BANDWIDTH.of(of).name);
    let histogram = recorded.histogram(direction, trial.repetition);
    let count = match histogram.count() {
        0 => (iops * trial.duration_s).round() as u64,
        count => count,
    };
    let bytes = bandwidth.map(|bandwidth| (bandwidth * trial.duration_s).round());
    let times = Times::of(trial, direction, recorded, options, count);
    let mut body = json!({
        "io_bytes": bytes.map(|bytes| bytes as u64),
        "io_kbytes": bytes.map(|bytes| bytes as u64 / 1024),
        "bw_bytes": bandwidth.map(|bandwidth| bandwidth.round() as u64),
        "bw": bandwidth.map(|bandwidth| bandwidth as u64 / 1024),
        "iops": iops,
        "runtime": (trial.duration_s * 1e3).round() as u64,
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": times.submission,
        "clat_ns": times.completion,
        "lat_ns": times.whole,
    });
    if let Some(with_sync) = times.with_sync.filter(is_timed) {
        body[LATENCY_WITH_SYNC] = with_sync;
    }
    if let (Value::Object(body), Some(bandwidth)) = (&mut body, bandwidth) {
        body.extend(over_time(recorded, direction, trial, bandwidth / iops));
    }
    body
}

/// The latencies of one direction, by what fio calls them.
struct Times {
    submission: Value,
    completion: Value,
    whole: Value,
    /// Outcrop's own latency of writes that syncs follow.
    with_sync: Option<Value>,
}

impl Times {
    fn of(
        trial: &TrialEntry,
        direction: Direction,
        recorded: &Recorded,
        options: &FioOptions,
        count: u64,
    ) -> Self {
        let is_only = options.mix == direction.mix();
        let family = match options.is_open_loop {
            true => device::SERVICE_LATENCY,
            false => device::LATENCY,
        };
        let of = |family: &ByDirection<Latencies>, histogram: &LatencyHistogram| {
            let mut families = vec![family.of(Some(direction))];
            families.extend(is_only.then_some(family.both));
            latency(trial, &families, histogram, Some(count))
        };
        let part = |kind: HistogramKind| recorded.part(direction, kind, trial.repetition);
        let submission = part(HistogramKind::Submission)
            .map_or_else(untimed, |submission| of(&device::SUBMISSION_LATENCY, &submission));
        let histogram = recorded.histogram(direction, trial.repetition);
        // Outcrop's latency of a write contains the sync that follows it, and fio's does not.
        let is_synced = recorded.has_syncs && direction == Direction::Write;
        let with_sync = is_synced.then(|| of(&family, &histogram));
        let (whole, histogram) = match is_synced {
            true => {
                let without = recorded.unsynced_writes(trial.repetition).unwrap_or_default();
                let whole = latency(trial, &[], &without, Some(without.count()));
                (whole, without)
            }
            false => (of(&family, &histogram), histogram),
        };
        let (mut completion, in_bins) = match part(HistogramKind::Completion) {
            // What was timed apart ends with the sync.
            Some(_) if is_synced => (untimed(), LatencyHistogram::new()),
            Some(completion) => (of(&device::COMPLETION_LATENCY, &completion), completion),
            // Where the two were not timed apart, the time of a request is one, and tools of fio look for it in `clat_ns`.
            None => (whole.clone(), histogram),
        };
        if !in_bins.is_empty() && is_timed(&completion) {
            completion["bins"] = bins(&in_bins);
        }
        Self {
            submission,
            completion,
            whole,
            with_sync,
        }
    }
}

/// The syncs of a trial, which fio counts apart from the writes that they follow.
pub(super) fn syncs(trial: &TrialEntry, recorded: &Recorded) -> Value {
    let syncs = recorded.part(Direction::Write, HistogramKind::Sync, trial.repetition);
    // Runs of earlier versions, and imported ones, do not say how many there were.
    let is_counted = !recorded.has_syncs || recorded.unsynced_writes(trial.repetition).is_some();
    let count = match &syncs {
        Some(syncs) => Some(syncs.count()),
        None => is_counted.then_some(0),
    };
    let families = [device::SYNC_LATENCY];
    json!({
        "total_ios": count,
        "lat_ns": latency(trial, &families, &syncs.unwrap_or_default(), count),
    })
}

/// Statistics of one latency: the trial's own figures of these families, and what its histogram has beyond them.
fn latency(
    trial: &TrialEntry,
    families: &[Latencies],
    histogram: &LatencyHistogram,
    count: Option<u64>,
) -> Value {
    let known = |metric: &dyn Fn(&Latencies) -> &'static str| {
        let mut families = families.iter();
        families.find_map(|family| figure(trial, metric(family)))
    };
    let in_ns = |latency_ns: u64| latency_ns as f64;
    let mut percentiles = Map::new();
    for percent in LISTED {
        let quantile = percent / 100.0;
        let standard = percentile::STANDARD
            .iter()
            .position(|known| (known.quantile - quantile).abs() < 1e-9);
        let of_trial = standard.and_then(|index| {
            known(&|family| {
                family
                    .percentiles()
                    .nth(index)
                    .map_or("", |(_, metric)| metric.name)
            })
        });
        let value = of_trial.or_else(|| histogram.percentile(quantile).map(in_ns));
        if let Some(value) = value {
            percentiles.insert(format!("{percent:.6}"), (value.round() as u64).into());
        }
    }
    let mean = known(&|family| family.mean.name).or_else(|| histogram.mean());
    let max = known(&|family| family.max.name).or_else(|| histogram.max().map(in_ns));
    let (Some(mean), Some(max)) = (mean, max) else {
        return untimed();
    };
    json!({
        "min": histogram.min(),
        "max": max.round() as u64,
        "mean": mean,
        "stddev": deviation(histogram),
        "N": count,
        "percentile": percentiles,
    })
}

/// How many requests had which latency, as `--output-format=json+` has it: by the middle of each bucket.
fn bins(histogram: &LatencyHistogram) -> Value {
    /// fio's own last bin, and the largest latency that `fio_jsonplus_clat2csv` gets past.
    const LAST_NS: u64 = 17_112_760_320;
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for bucket in histogram.buckets() {
        let middle_ns = bucket.low_ns.midpoint(bucket.high_ns).min(LAST_NS);
        *counts.entry(middle_ns).or_default() += bucket.count;
    }
    let named = counts
        .into_iter()
        .map(|(ns, count)| (ns.to_string(), count.into()));
    Value::Object(named.collect())
}

/// The standard deviation, from the middles of the histogram's buckets; none without a histogram.
fn deviation(histogram: &LatencyHistogram) -> Option<f64> {
    let mean = histogram.mean()?;
    let squares = histogram.buckets().map(|bucket| {
        let middle = bucket.low_ns.midpoint(bucket.high_ns) as f64;
        (middle - mean).powi(2) * bucket.count as f64
    });
    Some((squares.sum::<f64>() / histogram.count() as f64).sqrt())
}

/// What fio samples every half second: here the trial's own intervals.
fn over_time(
    recorded: &Recorded,
    direction: Direction,
    trial: &TrialEntry,
    bytes_per_operation: f64,
) -> Map<String, Value> {
    let points = recorded.of_trial(direction, trial.repetition);
    let rates: Vec<f64> = points.filter_map(SeriesPoint::operations_per_second).collect();
    let n = rates.len().max(1) as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let deviation = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / n).sqrt();
    let least = rates.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let most = rates.iter().copied().reduce(f64::max).unwrap_or(0.0);
    let kib = |rate: f64| rate * bytes_per_operation / 1024.0;
    let body = json!({
        "bw_min": kib(least) as u64,
        "bw_max": kib(most) as u64,
        "bw_agg": if rates.is_empty() { 0.0 } else { 100.0 },
        "bw_mean": kib(mean),
        "bw_dev": kib(deviation),
        "bw_samples": rates.len(),
        "iops_min": least as u64,
        "iops_max": most as u64,
        "iops_mean": mean,
        "iops_stddev": deviation,
        "iops_samples": rates.len(),
    });
    match body {
        Value::Object(body) => body,
        _ => Map::new(),
    }
}
