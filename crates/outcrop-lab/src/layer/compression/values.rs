//! From the engine's reports to the values of a record.

use outcrop_compress::{Blocks, HardwareReport, JobReport, PhaseReport, SizeReport, StagesReport};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Measurement, Metric, Provenance, Unavailable, Unit};
use outcrop_measure::percentile;
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, Value};

use super::content::BlockContent;
use super::metrics::{self, Direction, RATIO_PERCENTILES};
use crate::layer::TrialReport;

/// Natural blocks further than this from the entropy that was asked for are remarked on.
const NEAR_BITS: f64 = 0.5;

/// Everything that a job says.
pub(super) fn of_job(
    blocks: &Blocks<'_>,
    report: &JobReport,
    hardware: Option<&HardwareReport>,
    content: BlockContent,
) -> TrialReport {
    let size = &report.size;
    let mut measurements = sizes(blocks, size);
    measurements.extend([
        Measurement::derived(
            metrics::SAVED_SHARE,
            1.0 - size.compressed_bytes as f64 / size.uncompressed_bytes as f64,
        ),
        Measurement::measured(metrics::UNCOMPRESSED_BYTES, size.uncompressed_bytes as f64),
        Measurement::measured(metrics::COMPRESSED_BYTES, size.compressed_bytes as f64),
        context(report),
        energy(report),
    ]);
    measurements.extend(interval(size));
    let mut values: Vec<Value> = measurements.iter().map(Value::from).collect();
    values.extend(percentiles(size));
    let phases = [
        (Direction::Compress, &report.compress),
        (Direction::Decompress, &report.decompress),
    ];
    let mut histograms = Vec::new();
    let mut start_s = 0.0;
    for (direction, phase) in phases {
        values.extend(speeds(direction, phase));
        values.extend(latencies(direction, &phase.latency));
        let wall_s = phase.wall_ns as f64 / 1e9;
        let latency_s = phase.latency_wall_ns as f64 / 1e9;
        let kind = HistogramKind::Latency;
        let entry = HistogramEntry::new(
            direction.word(),
            kind,
            0,
            start_s + wall_s,
            latency_s,
            &phase.latency,
        );
        histograms.push(entry);
        start_s += wall_s + latency_s;
    }
    values.extend(hardware.into_iter().flat_map(of_hardware));
    let mut notes = report.notes.clone();
    notes.extend(entropy_note(size, content));
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: start_s,
        values,
        histograms,
        notes,
    }
}

/// Everything that the stages say.
pub(super) fn of_stages(
    blocks: &Blocks<'_>,
    report: &StagesReport,
    size: &SizeReport,
    content: BlockContent,
) -> TrialReport {
    let total = &report.total;
    let parts = [
        (
            metrics::STAGE_MATCH_FINDING_TIME,
            metrics::STAGE_MATCH_FINDING_SHARE,
            total.match_finding_ticks,
        ),
        (
            metrics::STAGE_LITERALS_TIME,
            metrics::STAGE_LITERALS_SHARE,
            total.literal_ticks(),
        ),
        (
            metrics::STAGE_SEQUENCES_TIME,
            metrics::STAGE_SEQUENCES_SHARE,
            total.sequence_ticks,
        ),
    ];
    let sum: u64 = parts.iter().map(|(_, _, ticks)| ticks).sum();
    let mut measurements = sizes(blocks, size);
    measurements.push(Measurement::measured(
        metrics::STAGE_WHOLE_TIME,
        report.mean_ns(total.whole_ticks),
    ));
    for (time, share, ticks) in parts {
        measurements.push(Measurement::measured(time, report.mean_ns(ticks)));
        measurements.push(Measurement::derived(share, ticks as f64 / sum.max(1) as f64));
    }
    measurements.push(Measurement::derived(
        metrics::STAGE_SUM_RATIO,
        sum as f64 / total.whole_ticks.max(1) as f64,
    ));
    measurements.push(Measurement::measured(
        metrics::STAGE_BLOCKS_SKIPPED,
        report.skipped as f64,
    ));
    let mut notes = report.notes.clone();
    notes.extend(entropy_note(size, content));
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: (total.whole_ticks + sum) as f64 / 1e9,
        values: measurements.iter().map(Value::from).collect(),
        histograms: Vec::new(),
        notes,
    }
}

/// What both measurements say of the blocks.
fn sizes(blocks: &Blocks<'_>, size: &SizeReport) -> Vec<Measurement> {
    vec![
        Measurement::measured(metrics::COMPRESSION_RATIO, size.ratio()),
        Measurement::measured(metrics::SAMPLED_SHARE, blocks.sample().share()),
        Measurement::measured(metrics::BLOCK_COUNT, blocks.as_slice().len() as f64),
        Measurement::measured(metrics::BLOCK_ENTROPY, size.entropy_bits_per_byte),
    ]
}

fn interval(size: &SizeReport) -> [Measurement; 2] {
    let ends = [metrics::COMPRESSION_RATIO_LOW, metrics::COMPRESSION_RATIO_HIGH];
    match size.interval {
        Some(interval) => [
            Measurement::derived(ends[0], interval.low),
            Measurement::derived(ends[1], interval.high),
        ],
        None => ends.map(|metric| {
            Measurement::unavailable(
                metric,
                Unavailable::because("a single cluster says nothing about the spread of the others"),
            )
        }),
    }
}

fn percentiles(size: &SizeReport) -> impl Iterator<Item = Value> {
    RATIO_PERCENTILES.into_iter().map(|percent| {
        let count = size.lengths.len();
        let ratio = size.block_ratio(percent);
        let why = || Unavailable::because(format!("{count} blocks support no p{percent}"));
        value(
            metrics::block_ratio(percent),
            metrics::BLOCK_RATIO,
            ratio.ok_or_else(why),
        )
    })
}

fn speeds(direction: Direction, phase: &PhaseReport) -> [Value; 2] {
    let cold = || Unavailable::because("most of the CPU time went into making the caches cold");
    [
        value(
            direction.name(metrics::SPEED.name),
            metrics::SPEED,
            Ok(phase.bytes_per_second()),
        ),
        value(
            direction.name(metrics::CPU_PER_BYTE.name),
            metrics::CPU_PER_BYTE,
            phase.cpu_ns_per_byte().ok_or_else(cold),
        ),
    ]
}

fn latencies(direction: Direction, histogram: &LatencyHistogram) -> Vec<Value> {
    let none = || Unavailable::because("no block was timed");
    let named = |statistic: &str, latency: Result<f64, Unavailable>| {
        let stem = format!("{}_{statistic}", metrics::LATENCY.name);
        value(direction.name(&stem), metrics::LATENCY, latency)
    };
    let mut values = vec![named("mean", histogram.mean().ok_or_else(none))];
    for percentile in percentile::STANDARD {
        let latency = histogram
            .percentile(percentile.quantile)
            .map(|latency_ns| latency_ns as f64);
        let why = || {
            Unavailable::because(format!(
                "n = {} supports no {}",
                histogram.count(),
                percentile.name
            ))
        };
        values.push(named(percentile.identifier, latency.ok_or_else(why)));
    }
    let max = histogram.max().map(|latency_ns| latency_ns as f64);
    values.push(named("max", max.ok_or_else(none)));
    values
}

/// A value under a name that its metric is only the stem of.
fn value(name: String, metric: Metric, result: Result<f64, Unavailable>) -> Value {
    let measurement = match result {
        Ok(value) => Measurement::measured(metric, value),
        Err(why) => Measurement::unavailable(metric, why),
    };
    Value {
        metric: name,
        ..Value::from(&measurement)
    }
}

fn context(report: &JobReport) -> Measurement {
    match report.context_bytes {
        Some(bytes) => Measurement::measured(metrics::CONTEXT_BYTES, bytes as f64),
        None => Measurement::unavailable(
            metrics::CONTEXT_BYTES,
            Unavailable::because("the library does not say how much memory its contexts take"),
        ),
    }
}

/// The meter runs over all passes, so all of their bytes share its energy.
fn energy(report: &JobReport) -> Measurement {
    let phases = [&report.compress, &report.decompress];
    let bytes: u64 = phases.iter().map(|phase| phase.bytes + phase.latency_bytes).sum();
    match &report.energy_j {
        Ok(joules) => Measurement::measured(metrics::ENERGY_PER_BYTE, joules / bytes as f64),
        Err(why) => Measurement::unavailable(metrics::ENERGY_PER_BYTE, why.clone()),
    }
}

fn of_hardware(hardware: &HardwareReport) -> Vec<Value> {
    let modelled = |metric: Metric, value: f64| Value {
        metric: metric.name.to_owned(),
        unit: metric.unit,
        value: Some(value),
        provenance: Provenance::Modelled,
        source: Some("cycle model of the dpzip engine, 1 GHz and 8 bytes a cycle as published".to_owned()),
    };
    let mut values = vec![
        modelled(metrics::MODELLED_COMPRESS_SPEED, hardware.bytes_per_second),
        modelled(metrics::MODELLED_PAGE_LATENCY, hardware.page_latency_ns),
    ];
    values.extend(hardware.stored.iter().map(|&(slot, bytes)| Value {
        metric: metrics::stored_bytes_slot(slot),
        unit: Unit::Bytes,
        value: Some(bytes as f64),
        provenance: Provenance::Derived,
        source: None,
    }));
    values
}

fn entropy_note(size: &SizeReport, content: BlockContent) -> Option<String> {
    let BlockContent::NaturalNear(wanted) = content else {
        return None;
    };
    let reached = size.entropy_bits_per_byte;
    ((reached - wanted).abs() > NEAR_BITS).then(|| {
        format!("the data have no blocks near {wanted} bit/B: the nearest have {reached:.2} bit/B; give other --data")
    })
}
