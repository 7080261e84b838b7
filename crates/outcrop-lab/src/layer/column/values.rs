//! From the engine's report to the values of a record.

use outcrop_column_bench::{BenchReport, ColdReads, Operation, SizeReport};
use outcrop_measure::metric::{Measurement, Metric, Unavailable};
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, Value};

use super::metrics;
use crate::layer::TrialReport;
use crate::layer::latencies::latencies;

/// Everything a completed trial says.
pub(super) fn trial_report(report: &BenchReport, operation: Operation) -> TrialReport {
    let mut measurements = vec![Measurement::measured(
        metrics::FILE_BYTES,
        report.size.file_bytes as f64,
    )];
    let mut values = Vec::new();
    let mut histograms = Vec::new();
    match operation {
        Operation::Encode => {
            measurements.extend(sizes(&report.size));
            measurements.extend(whole_column(report, Some(metrics::ENCODE_SPEED)));
            if let Some(peak) = &report.encode_peak_memory_bytes {
                measurements.push(known_or_not(metrics::ENCODE_PEAK_MEMORY, peak));
            }
            measurements.extend(
                report
                    .open_ns
                    .map(|open_ns| Measurement::measured(metrics::OPEN_TIME, open_ns as f64)),
            );
        }
        Operation::Decode => measurements.extend(whole_column(report, Some(metrics::DECODE_SPEED))),
        Operation::Scan => measurements.extend(whole_column(report, None)),
        query => {
            measurements.extend(queries(report, query));
            values.extend(latencies("latency", &report.latency, "no query was answered"));
            let seconds = report.elapsed_ns as f64 / 1e9;
            let kind = HistogramKind::Latency;
            histograms.push(HistogramEntry::new(
                query.name(),
                kind,
                0,
                0.0,
                seconds,
                &report.latency,
            ));
        }
    }
    values.splice(0..0, measurements.iter().map(Value::from));
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: report.elapsed_ns as f64 / 1e9,
        values,
        histograms,
        notes: notes(&report.size),
    }
}

fn known_or_not(metric: Metric, value: &Result<u64, Unavailable>) -> Measurement {
    match value {
        Ok(value) => Measurement::measured(metric, *value as f64),
        Err(why) => Measurement::unavailable(metric, why.clone()),
    }
}

fn sizes(size: &SizeReport) -> Vec<Measurement> {
    let file = size.file_bytes as f64;
    let measured = |metric: Metric, value: u64| Measurement::measured(metric, value as f64);
    // Over nothing there is no ratio: the record says so by itself, as the quotient is not finite.
    let mut sizes = vec![
        measured(metrics::TEXT_BYTES, size.text_bytes),
        measured(metrics::ROWS, size.row_count),
        measured(metrics::NULL_ROWS, size.null_count),
        Measurement::derived(metrics::COMPRESSION_RATIO, size.text_bytes as f64 / file),
        Measurement::derived(metrics::BYTES_PER_ROW, file / size.row_count as f64),
    ];
    if let Some(distinct) = size.value_count {
        sizes.push(measured(metrics::DISTINCT_VALUES, distinct));
    }
    if let (Some(parts), Some(floor)) = (&size.parts, size.floor_bytes()) {
        sizes.extend([
            measured(metrics::DICTIONARY_BYTES, parts.dictionary_bytes),
            measured(metrics::CODES_BYTES, parts.codes_bytes),
            measured(metrics::POSTINGS_BYTES, parts.postings_bytes),
            Measurement::derived(metrics::FLOOR_BYTES, floor as f64),
            Measurement::derived(metrics::SIZE_OVER_FLOOR, file / floor as f64),
        ]);
    }
    sizes
}

/// Operations that go through all rows.
fn whole_column(report: &BenchReport, speed: Option<Metric>) -> Vec<Measurement> {
    let seconds = report.elapsed_ns as f64 / 1e9;
    let text = report.size.text_bytes as f64 * report.operations as f64;
    let mut measurements = vec![
        Measurement::measured(metrics::ROW_RATE, report.rows as f64 / seconds),
        Measurement::measured(metrics::CPU_PER_ROW, report.cpu_ns as f64 / report.rows as f64),
    ];
    measurements.extend(speed.map(|metric| Measurement::measured(metric, text / seconds)));
    measurements
}

fn queries(report: &BenchReport, operation: Operation) -> Vec<Measurement> {
    let seconds = report.elapsed_ns as f64 / 1e9;
    let operations = report.operations as f64;
    let mut measurements = vec![Measurement::measured(
        metrics::OPERATION_RATE,
        operations / seconds,
    )];
    if operation.is_search() {
        measurements.push(Measurement::measured(
            metrics::HITS_PER_OPERATION,
            report.rows as f64 / operations,
        ));
    }
    if let Some(ColdReads {
        queries,
        reads,
        bytes,
        most_reads,
    }) = report.cold_reads
    {
        let per_query =
            |metric: Metric, total: u64| Measurement::measured(metric, total as f64 / queries as f64);
        measurements.extend([
            per_query(metrics::COLD_READS, reads),
            Measurement::measured(metrics::COLD_READS_MAX, most_reads as f64),
            per_query(metrics::COLD_READ_BYTES, bytes),
        ]);
    }
    measurements
}

/// Which encodings the blocks of the file chose, or how it is packed.
fn notes(size: &SizeReport) -> Vec<String> {
    if let Some(form) = size.parts.as_ref().and_then(|parts| parts.packed) {
        return vec![format!(
            "packed as {form}: bytes of dictionary and codes are those of the ordinary form"
        )];
    }
    let encodings = size.parts.as_ref().map_or(&[][..], |parts| &parts.encodings);
    if encodings.is_empty() {
        return Vec::new();
    }
    let shares: Vec<String> = encodings
        .iter()
        .map(|share| format!("{} in {}", share.block_count, share.name))
        .collect();
    vec![format!("code blocks of 65,536 rows: {}", shares.join(", "))]
}
