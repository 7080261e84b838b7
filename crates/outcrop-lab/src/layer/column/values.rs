//! From the engine's report to the values of a record.

use outcrop_column_bench::tabular::{Table, TableFormat};
use outcrop_column_bench::{BenchReport, ColdReads, Operation, SizeReport, WholeReport};
use outcrop_measure::metric::{Metric, Unavailable};
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, Value};
use outcrop_schema::{Remark, Settings, column};

use crate::layer::TrialReport;

/// Everything a completed trial says.
pub(super) fn trial_report(report: &BenchReport, operation: Operation) -> TrialReport {
    let mut values = vec![Value::measured(column::FILE_BYTES, report.size.file_bytes as f64)];
    let mut histograms = Vec::new();
    match operation {
        Operation::Encode => {
            values.extend(sizes(&report.size));
            values.extend(whole_column(report, Some(column::ENCODE_SPEED)));
            let peak = report.encode_peak_memory_bytes.clone();
            values.extend(
                peak.map(|peak| Value::known(column::ENCODE_PEAK_MEMORY, peak.map(|bytes| bytes as f64))),
            );
            values.extend(
                report
                    .open_ns
                    .map(|open_ns| Value::measured(column::OPEN_TIME, open_ns as f64)),
            );
        }
        Operation::Decode => values.extend(whole_column(report, Some(column::DECODE_SPEED))),
        Operation::Scan => values.extend(whole_column(report, None)),
        // It has no loop: [`whole_report`] is its report.
        Operation::Size => {}
        query => {
            values.extend(queries(report, query));
            values.extend(Value::latencies(
                &column::LATENCY,
                &report.latency,
                "no query was answered",
            ));
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
    TrialReport {
        outcome: Outcome::Completed,
        duration_s: report.elapsed_ns as f64 / 1e9,
        values,
        histograms,
        notes: kernels_used(report)
            .into_iter()
            .chain(notes(&report.size))
            .collect(),
    }
}

/// Which kernels ran: the cell says so only where it asks for some.
fn kernels_used(report: &BenchReport) -> Option<Remark> {
    let kernels = report.kernels?.name();
    Some(column::KERNELS_USED.remark(format!("the widest kernels that ran: {kernels}")))
}

/// A cell that cannot be measured here: its main figures are unavailable, for this reason.
pub(super) fn absent(operation: Operation, why: &str) -> TrialReport {
    let metrics: &[Metric] = match operation {
        Operation::Encode => &[column::ENCODE_SPEED, column::FILE_BYTES],
        Operation::Decode => &[column::DECODE_SPEED, column::FILE_BYTES],
        Operation::Scan => &[column::ROW_RATE, column::FILE_BYTES],
        _ => &[column::LATENCY.p50, column::OPERATION_RATE],
    };
    let unavailable = metrics.iter().map(|metric| Value::unavailable(*metric, why));
    TrialReport {
        values: unavailable.collect(),
        notes: vec![column::ABSENT.remark(format!("not measured: {why}"))],
        ..TrialReport::empty(Outcome::Completed)
    }
}

/// What a whole column takes in each form, with the other columns of its table where it is the user's.
pub(super) fn whole_report(report: &WholeReport, table: Option<&Table>, duration_s: f64) -> TrialReport {
    let known = |metric: Metric, value: &Result<u64, Unavailable>| {
        Value::known(metric, value.clone().map(|value| value as f64))
    };
    let file = report.size.file_bytes as f64;
    let over_stored = report.stored.bytes.clone().map(|stored| file / stored as f64);
    let mut values = vec![
        Value::measured(column::FILE_BYTES, file),
        known(column::STORED_BYTES, &report.stored.bytes),
        known(column::PARQUET_ZSTD_BYTES, &report.parquet_zstd_bytes),
        known(column::PARQUET_DEFAULT_BYTES, &report.parquet_default_bytes),
        known(column::TABLE_ROWS, &report.table_rows),
        match over_stored {
            Ok(ratio) => Value::derived(column::SIZE_OVER_STORED, ratio),
            Err(reason) => Value::known(column::SIZE_OVER_STORED, Err(reason)),
        },
    ];
    let of_file = report.compressed_file_bytes;
    values.extend(of_file.map(|bytes| Value::measured(column::COMPRESSED_FILE_BYTES, bytes as f64)));
    values.extend(sizes(&report.size));
    values.extend(table.map(|table| Value::measured(column::TABLE_COLUMNS, table.columns.len() as f64)));
    let left_out = table.and_then(|table| {
        let (others, why) = (super::data::others(table)?, super::data::why_left_out(table));
        let command = match table.format {
            TableFormat::Parquet => super::data::others_compared(table, &Settings::default()),
            // How a text file is read is not known here.
            _ => String::new(),
        };
        Some(column::LEFT_OUT.remark(format!("left out, as they {why}: {others}{command}")))
    });
    let parquet_as = report.parquet_as.map(|words| column::PARQUET_AS.remark(words));
    let encoding = report.parquet_encoding.as_ref();
    let encoding = encoding.map(|words| column::PARQUET_ENCODING.remark(words.clone()));
    let text_of = report.text_of.as_ref();
    let text_of = text_of.map(|type_name| column::TEXT_OF.remark(type_name.clone()));
    let form = report.stored.form.as_ref();
    let stored = form.map(|form| column::STORED_FORM.remark(format!("in this file ({form})")));
    TrialReport {
        duration_s,
        values,
        notes: stored
            .into_iter()
            .chain(parquet_as)
            .chain(encoding)
            .chain(text_of)
            .chain(left_out)
            .chain(notes(&report.size))
            .collect(),
        ..TrialReport::empty(Outcome::Completed)
    }
}

fn sizes(size: &SizeReport) -> Vec<Value> {
    let file = size.file_bytes as f64;
    let measured = |metric: Metric, value: u64| Value::measured(metric, value as f64);
    // Over nothing there is no ratio: the record says so by itself, as the quotient is not finite.
    let mut sizes = vec![
        measured(column::TEXT_BYTES, size.text_bytes),
        measured(column::ROW_COUNT, size.row_count),
        measured(column::NULL_ROWS, size.null_count),
        Value::derived(column::COMPRESSION_RATIO, size.text_bytes as f64 / file),
        Value::derived(column::BYTES_PER_ROW, file / size.row_count as f64),
    ];
    if let Some(distinct) = size.value_count {
        sizes.push(measured(column::DISTINCT_VALUES, distinct));
    }
    if let (Some(parts), Some(floor)) = (&size.parts, size.floor_bytes()) {
        sizes.extend([
            measured(column::DICTIONARY_BYTES, parts.dictionary_bytes),
            measured(column::CODES_BYTES, parts.codes_bytes),
            measured(column::POSTINGS_BYTES, parts.postings_bytes),
            Value::derived(column::FLOOR_BYTES, floor as f64),
            Value::derived(column::SIZE_OVER_FLOOR, file / floor as f64),
        ]);
        if parts.plain_postings_bytes > 0 {
            let plain = parts.plain_postings_bytes as f64;
            sizes.push(Value::derived(column::PLAIN_POSTINGS_BYTES, plain));
        }
    }
    sizes
}

/// Operations that go through all rows.
fn whole_column(report: &BenchReport, speed: Option<Metric>) -> Vec<Value> {
    let seconds = report.elapsed_ns as f64 / 1e9;
    let text = report.size.text_bytes as f64 * report.operations as f64;
    let mut values = vec![
        Value::measured(column::ROW_RATE, report.rows as f64 / seconds),
        Value::measured(column::CPU_PER_ROW, report.cpu_ns as f64 / report.rows as f64),
    ];
    values.extend(speed.map(|metric| Value::measured(metric, text / seconds)));
    values
}

fn queries(report: &BenchReport, operation: Operation) -> Vec<Value> {
    let seconds = report.elapsed_ns as f64 / 1e9;
    let operations = report.operations as f64;
    let mut values = vec![Value::measured(column::OPERATION_RATE, operations / seconds)];
    if operation.is_search() {
        values.push(Value::measured(
            column::HITS_PER_OPERATION,
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
        let per_query = |metric: Metric, total: u64| Value::measured(metric, total as f64 / queries as f64);
        values.extend([
            per_query(column::COLD_READS, reads),
            Value::measured(column::COLD_READS_MAX, most_reads as f64),
            per_query(column::COLD_READ_BYTES, bytes),
        ]);
    }
    values
}

/// Which encodings the blocks of the file chose, or how it is packed.
fn notes(size: &SizeReport) -> Vec<Remark> {
    if let Some(form) = size.parts.as_ref().and_then(|parts| parts.packed) {
        return vec![column::PACKED.remark(format!(
            "packed as {form}: bytes of dictionary and codes are those of the ordinary form"
        ))];
    }
    let encodings = size.parts.as_ref().map_or(&[][..], |parts| &parts.encodings);
    if encodings.is_empty() {
        return Vec::new();
    }
    let shares: Vec<String> = encodings
        .iter()
        .map(|share| format!("{} in {}", share.block_count, share.name))
        .collect();
    vec![column::ENCODINGS.remark(format!(
        "code blocks of at most 65,536 rows: {}",
        shares.join(", ")
    ))]
}
