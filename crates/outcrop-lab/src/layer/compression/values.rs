//! From the engine's reports to the values of a record.

use outcrop_codec::CodecSpec;
use outcrop_compress::{Blocks, HardwareReport, JobReport, PhaseReport, SizeReport, StagesReport};
use outcrop_measure::metric::{Provenance, Unavailable};
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, Value};
use outcrop_schema::Remark;
use outcrop_schema::compression::{self as metrics, Direction};

use crate::layer::TrialReport;
use outcrop_workload::BlockContent;

/// Natural blocks further than this from the entropy that was asked for are remarked on.
const NEAR_BITS: f64 = 0.5;
/// The family that copies.
const NO_CODEC: &str = "none";

/// Everything that a job says.
pub(super) fn of_job(
    blocks: &Blocks<'_>,
    report: &JobReport,
    hardware: Option<&HardwareReport>,
    content: BlockContent,
) -> TrialReport {
    let size = &report.size;
    let mut values = sizes(blocks, size);
    values.extend([
        Value::measured(metrics::UNCOMPRESSED_BYTES, size.uncompressed_bytes as f64),
        Value::measured(metrics::COMPRESSED_BYTES, size.compressed_bytes as f64),
        context(report),
        energy(report),
    ]);
    values.extend(percentiles(size));
    let phases = [
        (Direction::Compress, &report.compress),
        (Direction::Decompress, &report.decompress),
    ];
    let mut histograms = Vec::new();
    let mut start_s = 0.0;
    for (direction, phase) in phases {
        values.extend(speeds(direction, phase));
        values.extend(Value::latencies(
            &metrics::LATENCY.of(direction),
            &phase.latency,
            "no block was timed",
        ));
        let wall_s = phase.wall_ns as f64 / 1e9;
        let latency_s = phase.latency_wall_ns as f64 / 1e9;
        let kind = HistogramKind::Latency;
        let entry = HistogramEntry::new(
            direction.name(),
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
    let notes = remarks(&report.notes, size, content);
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: start_s,
        values,
        histograms,
        notes,
    }
}

/// A cell that cannot be measured here: every main figure is unavailable, for this reason.
pub(super) fn absent(why: &str) -> TrialReport {
    let [compress, decompress] =
        [Direction::Compress, Direction::Decompress].map(|way| metrics::SPEED.of(way));
    let main = [metrics::COMPRESSION_RATIO, compress, decompress];
    TrialReport {
        values: main.map(|metric| Value::unavailable(metric, why)).to_vec(),
        notes: vec![metrics::ABSENT.remark(format!("not measured: {why}"))],
        ..TrialReport::empty(Outcome::Completed)
    }
}

/// Which library the codec is; nothing of a copy, which is none.
pub(super) fn library(codec: &CodecSpec) -> Option<Remark> {
    let library = codec.family().library().ok()?;
    let file = library.file.map(|file| file.display().to_string());
    let remark = metrics::Library {
        name: &library.name,
        file: file.as_deref(),
    }
    .remark();
    (codec.family().name != NO_CODEC).then_some(remark)
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
    let mut values = sizes(blocks, size);
    values.push(Value::measured(
        metrics::STAGE_WHOLE_TIME,
        report.mean_ns(total.whole_ticks),
    ));
    for (time, share, ticks) in parts {
        values.push(Value::measured(time, report.mean_ns(ticks)));
        values.push(Value::derived(share, ticks as f64 / sum.max(1) as f64));
    }
    values.push(Value::derived(
        metrics::STAGE_SUM_RATIO,
        sum as f64 / total.whole_ticks.max(1) as f64,
    ));
    values.push(Value::measured(
        metrics::STAGE_BLOCKS_SKIPPED,
        report.skipped as f64,
    ));
    let notes = remarks(&report.notes, size, content);
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: (total.whole_ticks + sum) as f64 / 1e9,
        values,
        histograms: Vec::new(),
        notes,
    }
}

/// What both measurements say of the blocks.
fn sizes(blocks: &Blocks<'_>, size: &SizeReport) -> Vec<Value> {
    let mut values = vec![
        Value::measured(metrics::COMPRESSION_RATIO, size.ratio()),
        Value::derived(metrics::SAVED_SHARE, saved(size.ratio())),
        Value::measured(metrics::SAMPLED_SHARE, blocks.sample().share()),
        Value::measured(metrics::SAMPLED_CLUSTERS, blocks.sample().pieces().len() as f64),
        Value::measured(metrics::BLOCK_COUNT, blocks.as_slice().len() as f64),
        Value::measured(metrics::BLOCK_ENTROPY, size.entropy_bits_per_byte),
    ];
    values.extend(interval(size));
    let groups = metrics::GROUP_BYTES
        .into_iter()
        .zip(size.groups.into_iter().flatten());
    values.extend(groups.map(|(metric, bytes)| Value::measured(metric, bytes as f64)));
    values
}

/// The share that a ratio saves.
fn saved(ratio: f64) -> f64 {
    1.0 - 1.0 / ratio
}

fn interval(size: &SizeReport) -> [Value; 4] {
    let ends = [
        metrics::COMPRESSION_RATIO_LOW,
        metrics::COMPRESSION_RATIO_HIGH,
        metrics::SAVED_SHARE_LOW,
        metrics::SAVED_SHARE_HIGH,
    ];
    match size.interval {
        Ok(interval) => [
            Value::derived(ends[0], interval.low),
            Value::derived(ends[1], interval.high),
            Value::derived(ends[2], saved(interval.low)),
            Value::derived(ends[3], saved(interval.high)),
        ],
        Err(reason) => ends.map(|metric| Value::unavailable(metric, reason.to_string())),
    }
}

fn percentiles(size: &SizeReport) -> impl Iterator<Item = Value> {
    let metrics = metrics::RATIO_PERCENTILES.into_iter().zip(metrics::BLOCK_RATIOS);
    metrics.map(|(percent, metric)| {
        let count = size.lengths.len();
        let why = || Unavailable::because(format!("{count} blocks are too few for a p{percent}"));
        Value::known(metric, size.block_ratio(percent).ok_or_else(why))
    })
}

fn speeds(direction: Direction, phase: &PhaseReport) -> [Value; 2] {
    let cold = || Unavailable::because("most of the CPU time was spent on making the caches cold");
    [
        Value::measured(metrics::SPEED.of(direction), phase.bytes_per_second()),
        Value::known(
            metrics::CPU_PER_BYTE.of(direction),
            phase.cpu_ns_per_byte().ok_or_else(cold),
        ),
    ]
}

fn context(report: &JobReport) -> Value {
    let silent = || Unavailable::because("the library does not report the memory of its contexts");
    let bytes = report.size.context_bytes.map(|bytes| bytes as f64);
    Value::known(metrics::CONTEXT_BYTES, bytes.ok_or_else(silent))
}

fn energy(report: &JobReport) -> Value {
    Value::known(metrics::ENERGY_PER_BYTE, report.joules_per_byte())
}

fn of_hardware(hardware: &HardwareReport) -> Vec<Value> {
    let modelled = |metric, value| Value {
        source: Some("cycle model of the dpzip engine, 1 GHz and 8 bytes a cycle as published".to_owned()),
        ..Value::of(metric, Ok(value), Provenance::Modelled)
    };
    let mut values = vec![
        modelled(metrics::MODELLED_COMPRESS_SPEED, hardware.bytes_per_second),
        modelled(metrics::MODELLED_PAGE_LATENCY, hardware.page_latency_ns),
    ];
    let stored = metrics::STORED_BYTES.into_iter().zip(&hardware.stored);
    values.extend(stored.map(|(metric, (_, bytes))| Value::derived(metric, *bytes as f64)));
    values
}

/// What the engine said, and where the data lack the blocks that were asked for.
fn remarks(notes: &[String], size: &SizeReport, content: BlockContent) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = notes
        .iter()
        .map(|note| metrics::ENGINE_NOTE.remark(note))
        .collect();
    if let BlockContent::NaturalNear(wanted) = content {
        let reached = size.entropy_bits_per_byte;
        remarks.extend(((reached - wanted).abs() > NEAR_BITS).then(|| {
            metrics::NO_SUCH_BLOCKS.remark(format!(
                "the data have no blocks near {wanted} bit/B: the nearest have {reached:.2} bit/B; give other --data"
            ))
        }));
    }
    remarks
}
