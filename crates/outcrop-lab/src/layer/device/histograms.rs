//! From a job's intervals to the histograms of a record.

use outcrop_device::{IntervalReport, OperationReport};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_results::{HistogramEntry, HistogramKind};
use outcrop_schema::device::Direction;

/// One entry per interval, operation and kind in which something was recorded.
pub(super) fn histograms(intervals: &[IntervalReport]) -> Vec<HistogramEntry> {
    let mut entries = Vec::new();
    for (index, interval) in (0_u32..).zip(intervals) {
        for (operation, report) in [
            (Direction::Read, &interval.reads),
            (Direction::Write, &interval.writes),
        ] {
            for (kind, histogram) in kinds(report) {
                entries.extend(entry(operation.name(), kind, index, interval, histogram));
            }
        }
        let (writes, kind) = (Direction::Write.name(), HistogramKind::Sync);
        let syncs = interval.syncs.iter();
        entries.extend(syncs.filter_map(|syncs| entry(writes, kind, index, interval, syncs)));
    }
    entries
}

fn kinds(report: &OperationReport) -> impl Iterator<Item = (HistogramKind, &LatencyHistogram)> {
    let service = report
        .service
        .as_ref()
        .map(|histogram| (HistogramKind::Service, histogram));
    let parts = report.parts.iter().flat_map(|parts| {
        [
            (HistogramKind::Submission, &parts.submission),
            (HistogramKind::Completion, &parts.completion),
        ]
    });
    let transfer = report
        .transfer
        .as_ref()
        .map(|histogram| (HistogramKind::Transfer, histogram));
    std::iter::once((HistogramKind::Latency, &report.latency))
        .chain(service)
        .chain(parts)
        .chain(transfer)
}

fn entry(
    operation: &str,
    kind: HistogramKind,
    interval_index: u32,
    interval: &IntervalReport,
    histogram: &LatencyHistogram,
) -> Option<HistogramEntry> {
    (histogram.count() > 0).then(|| {
        let start_s = interval.start_ns as f64 / 1e9;
        let duration_s = interval.duration_ns as f64 / 1e9;
        HistogramEntry::new(operation, kind, interval_index, start_s, duration_s, histogram)
    })
}
