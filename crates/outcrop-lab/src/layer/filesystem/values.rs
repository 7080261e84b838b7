//! From the engine's report to the values of a record.

use outcrop_filesystem::{Baseline, Component, Costs, Filesystem, JobReport, JobSpec, Phase, Prediction};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Metric, Unavailable};
use outcrop_results::{HistogramEntry, HistogramKind, NONE_COMPLETED, Outcome, Value};
use outcrop_schema::filesystem as fs;
use outcrop_schema::{Remark, remark};
use outcrop_workload::filesystem::FileOperation;

use crate::layer::TrialReport;

/// So many times as much as this process fetched, a device reads for it alone.
const MOST_READ: f64 = 1.1;

/// What components say of a trial, and the components.
pub(super) struct Predicted {
    pub(super) prediction: Prediction,
    pub(super) component: Component,
    /// Of reads of the trial's size, and of whole extents.
    pub(super) baseline: Baseline,
    pub(super) of_extent: Baseline,
}

/// Everything that a completed trial says.
pub(super) fn trial_report(
    report: &JobReport,
    filesystem: &Filesystem,
    spec: &JobSpec,
    predicted: Option<Result<Predicted, String>>,
) -> TrialReport {
    let operation = &report.operation;
    let mut values = writing(report, spec);
    values.extend(operating(report, spec));
    values.extend(space(report, filesystem));
    values.extend(raw(report));
    values.extend(Value::latencies(&fs::LATENCY, &operation.latency, NONE_COMPLETED));
    values.push(tail(operation));
    if let Some(service) = &operation.service {
        values.extend(Value::latencies(&fs::SERVICE_LATENCY, service, NONE_COMPLETED));
    }
    values.extend(operation.lateness.iter().flat_map(Value::lateness));
    let mut notes = remarks(report);
    match predicted {
        Some(Ok(predicted)) => values.extend(predictions(&predicted)),
        Some(Err(why)) => {
            notes.push(fs::NO_PREDICTION.remark(format!("no prediction: {why}")));
            let metrics = [fs::PREDICTED_LATENCY, fs::PREDICTED_IOPS, fs::PREDICTED_SPACE];
            values.extend(metrics.map(|metric| Value::unavailable(metric, why.clone())));
        }
        None => {}
    }
    let seconds = operation.duration_ns as f64 / 1e9;
    let entry =
        |kind, histogram| HistogramEntry::new(spec.operation.name(), kind, 0, 0.0, seconds, histogram);
    let mut histograms = vec![entry(HistogramKind::Latency, &operation.latency)];
    histograms.extend(
        operation
            .service
            .as_ref()
            .map(|service| entry(HistogramKind::Service, service)),
    );
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: seconds,
        values,
        histograms,
        notes,
    }
}

/// A trial that this machine or this user cannot have: every main figure is unavailable, for this reason.
pub(super) fn absent(why: &str) -> TrialReport {
    TrialReport {
        values: fs::MAIN.map(|metric| Value::unavailable(metric, why)).to_vec(),
        notes: vec![fs::ABSENT.remark(format!("not measured: {why}"))],
        ..TrialReport::empty(Outcome::Completed)
    }
}

/// A trial that would write more than may be written.
pub(super) fn write_limit() -> TrialReport {
    let text = "not started: it would have written more than may be written (--max-written)";
    TrialReport {
        notes: vec![remark::WRITE_LIMIT.remark(text)],
        ..TrialReport::interrupted()
    }
}

/// What a trial wrote: by the device's counters where there are any, else by what it was asked to.
pub(super) fn bytes_written(report: &JobReport, spec: &JobSpec) -> u64 {
    let again = if writes_again(spec) {
        report.operation.bytes
    } else {
        0
    };
    report
        .device_written_bytes
        .clone()
        .unwrap_or(report.file_bytes + again)
}

/// A share of two numbers, of which the second may be nothing.
fn over(metric: Metric, part: Result<f64, Unavailable>, whole: u64, if_nothing: &str) -> Value {
    match (part, whole) {
        (Ok(_), 0) => Value::unavailable(metric, if_nothing),
        (part, whole) => Value::known(metric, part.map(|part| part / whole as f64)),
    }
}

/// What writing the files cost.
fn writing(report: &JobReport, spec: &JobSpec) -> Vec<Value> {
    let mut values = Vec::new();
    match (&report.written, report.build_ns) {
        (Some(written), _) => {
            let written_bytes =
                |costs: &Costs| costs.device.clone().map(|counters| counters.written_bytes as f64);
            let amplified = if writes_again(spec) {
                &report.operation
            } else {
                written
            };
            values.extend([
                Value::measured(fs::WRITE_THROUGHPUT, written.bytes_per_second()),
                over(
                    fs::WRITE_AMPLIFICATION,
                    written_bytes(&amplified.costs),
                    amplified.bytes,
                    "nothing was written",
                ),
                over(
                    fs::CPU_PER_BYTE,
                    written.costs.cpu_ns().map(|ns| ns as f64),
                    written.bytes,
                    "nothing was written",
                ),
                kernel_share(fs::WRITE_KERNEL_THREAD_SHARE, &written.costs),
            ]);
        }
        (None, Some(build_ns)) => {
            let why = "a read-only image is built by a program, not written";
            values.extend([
                Value::unavailable(fs::WRITE_THROUGHPUT, why),
                Value::measured(
                    fs::BUILD_THROUGHPUT,
                    report.file_bytes as f64 * 1e9 / build_ns.max(1) as f64,
                ),
            ]);
        }
        (None, None) => {}
    }
    values.extend(
        report
            .created_per_second
            .map(|rate| Value::measured(fs::CREATE_RATE, rate)),
    );
    values
}

/// Whether the operation writes to files that were written before it.
fn writes_again(spec: &JobSpec) -> bool {
    matches!(spec.operation, FileOperation::Overwrite | FileOperation::Update)
}

fn kernel_share(metric: Metric, costs: &Costs) -> Value {
    let share = costs.kernel_ns.clone().and_then(|kernel_ns| {
        let all_ns = costs.cpu_ns()?;
        match all_ns {
            0 => Err(Unavailable::because("no CPU time was counted")),
            all_ns => Ok(kernel_ns as f64 / all_ns as f64),
        }
    });
    Value::known(metric, share)
}

/// What the operation reached and cost.
fn operating(report: &JobReport, spec: &JobSpec) -> Vec<Value> {
    let phase = &report.operation;
    let costs = &phase.costs;
    let device = || costs.device.clone();
    let mut values = vec![
        Value::measured(fs::OPERATIONS, phase.operations as f64),
        Value::measured(fs::IOPS, phase.per_second()),
        Value::measured(fs::BANDWIDTH, phase.bytes_per_second()),
        Value::measured(fs::ACHIEVED_QUEUE_DEPTH, phase.achieved_depth),
        over(
            fs::REQUESTS_PER_OPERATION,
            requests_of_device(report, spec),
            phase.operations,
            NONE_COMPLETED,
        ),
        over(
            fs::FLUSHES_PER_OPERATION,
            device().map(|counters| counters.flushes as f64),
            phase.operations,
            NONE_COMPLETED,
        ),
        over(
            fs::CPU_PER_OPERATION,
            costs.cpu_ns().map(|ns| ns as f64),
            phase.operations,
            NONE_COMPLETED,
        ),
        over(
            fs::PROCESS_CPU_PER_OPERATION,
            Ok(costs.process_ns as f64),
            phase.operations,
            NONE_COMPLETED,
        ),
        kernel_share(fs::KERNEL_THREAD_SHARE, costs),
        foreign_cpu(costs),
        pages(fs::PAGES_CACHED_BEFORE, &report.pages.0),
        pages(fs::PAGES_CACHED_AFTER, &report.pages.1),
    ];
    if !matches!(spec.operation, FileOperation::Write | FileOperation::Append) {
        values.extend([
            over(
                fs::READ_AMPLIFICATION,
                read_by_device(report),
                phase.bytes,
                NONE_COMPLETED,
            ),
            over(
                fs::READ_AMPLIFICATION_OWN,
                costs.own_read_bytes.clone().map(|bytes| bytes as f64),
                phase.bytes,
                NONE_COMPLETED,
            ),
        ]);
    }
    if let Some(rate) = phase.requested_per_second {
        values.extend([
            Value::measured(fs::ARRIVAL_REQUESTED, rate),
            Value::measured(fs::ARRIVAL_UNFINISHED, phase.unfinished as f64),
        ]);
    }
    values
}

/// The bytes that the device read for the operation.
fn read_by_device(report: &JobReport) -> Result<f64, Unavailable> {
    let costs = &report.operation.costs;
    let read_bytes = costs.device.clone()?.read_bytes;
    // The device below a directory of the user's reads for others too.
    let own_bytes = costs.own_read_bytes.as_ref().ok();
    match own_bytes.filter(|_| report.raw.is_none()) {
        Some(own_bytes) => read_for_us(read_bytes, *own_bytes),
        None => Ok(read_bytes as f64),
    }
}

/// The requests that the device completed for the operation. Those of reads are of others too where its bytes are.
fn requests_of_device(report: &JobReport, spec: &JobSpec) -> Result<f64, Unavailable> {
    let is_written =
        writes_again(spec) || matches!(spec.operation, FileOperation::Write | FileOperation::Append);
    if !is_written {
        read_by_device(report)?;
    }
    let counters = report.operation.costs.device.clone()?;
    Ok((counters.reads + counters.writes) as f64)
}

/// The bytes that a device read at the same time as this process fetched its own, where they are not much more.
fn read_for_us(read_bytes: u64, own_bytes: u64) -> Result<f64, Unavailable> {
    let times = read_bytes as f64 / own_bytes as f64;
    match own_bytes > 0 && times > MOST_READ {
        true => Err(Unavailable::because(format!(
            "the device read {times:.2} times as much as this process fetched: others read from it too, or the filesystem did other work; `{}` \
             is of what this process fetched",
            fs::READ_AMPLIFICATION_OWN.name
        ))),
        false => Ok(read_bytes as f64),
    }
}

fn pages(metric: Metric, count: &Result<u64, Unavailable>) -> Value {
    Value::known(metric, count.clone().map(|count| count as f64))
}

fn foreign_cpu(costs: &Costs) -> Value {
    let share = costs.foreign_ns().and_then(|foreign_ns| match costs.cpu_ns()? {
        0 => Err(Unavailable::because("no CPU time was counted")),
        ours_ns => Ok(foreign_ns as f64 / ours_ns as f64),
    });
    Value::known(fs::FOREIGN_CPU_SHARE, share)
}

/// 99.9th percentile less the median.
fn tail(phase: &Phase) -> Value {
    let both = phase.latency.percentile(0.999).zip(phase.latency.percentile(0.5));
    let why = || Unavailable::because(format!("{} operations are too few for it", phase.latency.count()));
    Value::known(
        fs::LATENCY_TAIL,
        both.map(|(tail, median)| (tail - median.min(tail)) as f64)
            .ok_or_else(why),
    )
}

/// What the files take.
fn space(report: &JobReport, filesystem: &Filesystem) -> Vec<Value> {
    let bytes = report.file_bytes as f64;
    let used = report.used_bytes.clone();
    let ratio = used.clone().and_then(|used| match used {
        0 => Err(Unavailable::because(
            "the filesystem says that the files take no space",
        )),
        used => Ok(bytes / used as f64),
    });
    let mut values = vec![
        Value::measured(fs::FILE_BYTES, bytes),
        Value::known(fs::USED_BYTES, used.map(|used| used as f64)),
        Value::known(fs::SPACE_RATIO, ratio),
        Value::known(
            fs::EXTENTS,
            report.extents.clone().map(|extents| extents.count as f64),
        ),
    ];
    if !filesystem.kind.is_read_only() {
        let share = report.extents.clone().map(|extents| extents.encoded_share());
        values.push(Value::known(fs::COMPRESSED_SHARE, share));
    }
    if let Ok(stored) = &report.stored {
        values.push(Value::measured(fs::DATA_RATIO, stored.ratio()));
    }
    values
}

/// The device below, before there was a filesystem on it.
fn raw(report: &JobReport) -> Vec<Value> {
    let Some(raw) = &report.raw else { return Vec::new() };
    let median = |histogram: &LatencyHistogram| {
        let none = || Unavailable::because("the device was not read");
        histogram.quantile(0.5).map(|ns| ns as f64).ok_or_else(none)
    };
    [
        Value::known(fs::RAW_LATENCY_4K, median(&raw.small)),
        Value::known(fs::RAW_LATENCY_128K, median(&raw.large)),
    ]
    .into()
}

fn predictions(predicted: &Predicted) -> [Value; 7] {
    let prediction = &predicted.prediction;
    [
        Value::measured(fs::CODEC_TIME, predicted.component.decompress_ns),
        Value::derived(fs::WAKE_TIME, predicted.component.wake_ns),
        Value::derived(fs::FILESYSTEM_TIME, predicted.baseline.overhead_ns),
        Value::derived(fs::EXTENT_TIME, predicted.of_extent.overhead_ns),
        Value::derived(fs::PREDICTED_LATENCY, prediction.latency_ns),
        Value::derived(fs::PREDICTED_IOPS, prediction.iops),
        Value::derived(fs::PREDICTED_SPACE, prediction.space_ratio),
    ]
}

fn remarks(report: &JobReport) -> Vec<Remark> {
    let mut remarks = Vec::new();
    remarks.extend(
        report
            .options
            .as_ref()
            .map(|options| fs::OPTIONS.remark(format!("mounted with {options}"))),
    );
    remarks.extend(
        report
            .maker
            .as_ref()
            .map(|maker| fs::MAKER.remark(format!("made by {maker}"))),
    );
    remarks.extend(
        report
            .notes
            .iter()
            .map(|note| fs::ENGINE_NOTE.remark(note.clone())),
    );
    let below = report.page_cache_below.as_ref();
    remarks.extend(below.map(|below| fs::PAGE_CACHE_BELOW.remark(below.clone())));
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_reads_for_others_is_no_read_amplification() {
        assert_eq!(read_for_us(1_000, 1_000), Ok(1_000.0));
        assert_eq!(read_for_us(1_050, 1_000), Ok(1_050.0));
        assert_eq!(read_for_us(900, 1_000), Ok(900.0));
        assert_eq!(
            read_for_us(4_096, 0),
            Ok(4_096.0),
            "what memory answers is not fetched by anybody"
        );
        let why = read_for_us(42_000, 1_000).unwrap_err().to_string();
        assert!(
            why.contains("42.00 times") && why.contains("read_amplification_own"),
            "{why}"
        );
    }
}
