//! `encode`, `append` and `compact`: what writes column files.

use super::flags::{Append, Compact, Encode};
use super::input::{Opened, read};
use super::layout::open_input;
use super::outputs::outputs;
use super::print::{SHUFFLED, bytes, count};
use super::{of_column, open};
use crate::exit::bad_input;
use crate::output::{Cell, Format, Table, note};
use crate::work::LongWork;
use outcrop_column::storage::ExclusiveFile;
use outcrop_column::{EncodeReport, Encoder};
use outcrop_column_bench::tabular::{TableColumn, ValueKind};
use outcrop_measure::units::{format_nanoseconds, format_ratio};
use outcrop_probe::Stopwatch;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// One column file that was written.
struct Written {
    column: String,
    file: PathBuf,
    report: EncodeReport,
    /// Of the whole input; `None` for a pipe.
    input_bytes: Option<u64>,
    elapsed_ns: u64,
}

pub(super) fn encode(args: &Encode) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    let (mut opened, layout) = open_input(&args.input)?;
    let columns = layout.chosen(&args.input)?;
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let files = outputs(&args.output, &names)?;
    let mut written = Vec::with_capacity(columns.len());
    for (column, file) in columns.iter().zip(files) {
        say_text_form(column);
        let stopwatch = Stopwatch::start();
        let (null, options) = (args.input.null.as_deref(), args.how.options());
        let mut encoder = read(&mut opened, (&layout, column.number), null, options, &work)?;
        watch(&mut encoder, &work);
        let report = encoder.write(&file).map_err(of_column)?;
        written.push(Written {
            column: column.name.clone(),
            file,
            report,
            input_bytes: opened.size_bytes,
            elapsed_ns: stopwatch.elapsed_ns(),
        });
    }
    drop(work);
    match &written[..] {
        [only] => print_report(only, args.format),
        several => print_reports(several, args.format),
    }
}

/// Values that are no strings are encoded as their text forms, and whoever searches must know them.
fn say_text_form(column: &TableColumn) {
    if let Some(type_name) = &column.type_name
        && column.kind != ValueKind::Strings
        && column.kind.has_text_form()
    {
        note(&format!(
            "{}: values of type {type_name} are encoded as text",
            column.name
        ));
    }
}

pub(super) fn append(args: &Append) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    let stopwatch = Stopwatch::start();
    let (column, report, input_bytes) = if is_column_file(&args.input.input) {
        let other = open(&args.input.input)?;
        let size = args.input.input.metadata().ok().map(|file| file.len());
        (
            String::new(),
            other.append_to(&args.file).map_err(of_column)?,
            size,
        )
    } else {
        let (mut opened, layout) = open_input(&args.input)?;
        let [column] = layout.chosen(&args.input)?[..] else {
            return Err(bad_input(anyhow::anyhow!(
                "a column file holds one column: append one with --column NAME"
            )));
        };
        say_text_form(column);
        let (null, options) = (args.input.null.as_deref(), args.how.options());
        let mut encoder = read(&mut opened, (&layout, column.number), null, options, &work)?;
        watch(&mut encoder, &work);
        let report = encoder.append_to(&args.file).map_err(of_column)?;
        (column.name.clone(), report, opened.size_bytes)
    };
    drop(work);
    let written = Written {
        column,
        file: args.file.clone(),
        report,
        input_bytes,
        elapsed_ns: stopwatch.elapsed_ns(),
    };
    print_report(&written, args.format)
}

pub(super) fn compact(args: &Compact) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    let stopwatch = Stopwatch::start();
    let input_bytes = args.file.metadata().ok().map(|file| file.len());
    // Rows appended while the file is being replaced by itself would be lost: who appends waits, and then finds the new file.
    let replaced = same_file(&args.file, &args.output).then(|| ExclusiveFile::open(&args.file));
    let lock = replaced.transpose().map_err(of_column)?;
    let mut column = open(&args.file)?;
    work.watch(&mut column, "reading");
    let mut encoder = column.compact(args.how.options()).map_err(of_column)?;
    watch(&mut encoder, &work);
    let report = encoder.write(&args.output).map_err(of_column)?;
    drop(lock);
    drop(work);
    let written = Written {
        column: String::new(),
        file: args.output.clone(),
        report,
        input_bytes,
        elapsed_ns: stopwatch.elapsed_ns(),
    };
    print_report(&written, args.format)
}

/// Whether the input is itself a column file: it is appended as it is. A pipe is read as rows.
fn is_column_file(path: &Path) -> bool {
    path.is_file() && Opened::of(path).is_ok_and(|opened| opened.is_column())
}

/// Whether both names lead to one file that exists.
fn same_file(a: &Path, b: &Path) -> bool {
    let of = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino()));
    matches!((of(a), of(b)), (Ok(a), Ok(b)) if a == b)
}

fn watch(encoder: &mut Encoder, work: &LongWork) {
    let work = work.clone();
    encoder.watch(move |progress| {
        let what = match progress.step {
            outcrop_column::Step::Postings => "indexing",
            outcrop_column::Step::Packing => "trying smaller forms",
            _ => "encoding",
        };
        work.advance(what, progress.done, progress.total);
    });
}

/// The values' bytes over the file's.
fn ratio(report: &EncodeReport) -> Cell {
    let ratio = report.text_bytes as f64 / report.file_bytes as f64;
    Cell::number(ratio, format_ratio(ratio))
}

fn time(nanoseconds: u64) -> Cell {
    let seconds = nanoseconds as f64 / 1e9;
    Cell::number(seconds, format_nanoseconds(nanoseconds as f64))
}

fn print_report(written: &Written, format: Format) -> anyhow::Result<()> {
    let report = &written.report;
    let mut table = Table::new([("what", "what"), ("value", "value")]);
    let mut push = |name, cell| table.push(vec![Cell::text(name), cell]);
    push("rows", count(report.row_count));
    push("distinct values", count(report.value_count));
    push("nulls", count(report.null_count));
    if let Some(input_bytes) = written.input_bytes {
        push("input", bytes(input_bytes));
    }
    push("text", bytes(report.text_bytes));
    push("file", bytes(report.file_bytes));
    push("text ÷ file", ratio(report));
    match report.packed {
        Some(form) => push("packed form", Cell::text(form.name())),
        None => {
            push("dictionary", bytes(report.dictionary_bytes));
            push("class map", bytes(report.class_map_bytes));
            push("codes", bytes(report.codes_bytes));
            push("postings", bytes(report.postings_bytes));
        }
    }
    push(SHUFFLED, bytes(report.floor_bytes));
    push("time", time(written.elapsed_ns));
    table.print(format)
}

/// A line for each of several columns.
fn print_reports(written: &[Written], format: Format) -> anyhow::Result<()> {
    let mut table = Table::new([
        ("column", "column"),
        ("rows", "rows"),
        ("distinct", "distinct_values"),
        ("nulls", "nulls"),
        ("text", "text_bytes"),
        ("file", "file_bytes"),
        ("text ÷ file", "ratio"),
        ("time", "time_s"),
        ("written to", "path"),
    ]);
    for one in written {
        let report = &one.report;
        table.push(vec![
            Cell::text(&one.column),
            count(report.row_count),
            count(report.value_count),
            count(report.null_count),
            bytes(report.text_bytes),
            bytes(report.file_bytes),
            ratio(report),
            time(one.elapsed_ns),
            Cell::text(one.file.to_string_lossy()),
        ]);
    }
    table.print(format)
}
