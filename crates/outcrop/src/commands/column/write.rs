//! `encode` and `append`: what writes column files.

use super::compact::{refuse_rows_without_codes, say_what_merging_gives};
use super::compare::{Compared, compared, only_in_parquet};
use super::flags::{Append, Encode};
use super::input::{Opened, read};
use super::kept::Kept;
use super::layout::{Layout, open_input};
use super::notes::{empty_values, may_mean_null, say_empty_fields, say_marks, say_no_marker, say_text_form};
use super::outputs::outputs;
use super::print::{Figure, SHUFFLED, bytes, bytes_with_unit, count, count_with_unit, word};
use super::{Access, about, of_column, open};
use crate::exit::bad_input;
use crate::output::{Cell, Format, Table, note, pretty_json, print};
use crate::output_file::{self, Force, refuse_input, refuse_stdout, where_full};
use crate::work::LongWork;
use outcrop_column::{Column, EncodeReport, Encoder, Index};
use outcrop_column_bench::tabular::{FileKind, TableColumn};
use outcrop_measure::metric::Unavailable;
use outcrop_measure::units::{format_nanoseconds, format_ratio};
use outcrop_probe::Stopwatch;
use outcrop_report::{ColumnSizes, OcolIndex, TotalSizes};
use std::path::{Path, PathBuf};

/// One column file that was written.
pub(super) struct Written {
    pub(super) column: String,
    pub(super) file: PathBuf,
    pub(super) report: EncodeReport,
    /// Of the whole input; `None` for a pipe.
    pub(super) input_bytes: Option<u64>,
    pub(super) elapsed_ns: u64,
    /// Of the file that rows were appended to, before that.
    pub(super) before_bytes: Option<u64>,
    /// What the column takes in other forms; `None` where that was not asked for.
    pub(super) compared: Option<Compared>,
}

impl Written {
    /// What the column takes in other forms, in words.
    fn verdict(&self) -> Option<String> {
        Some(self.compared.as_ref()?.verdict(&self.report))
    }

    /// The size of the file without its index, where it has one and was compared.
    fn bytes_without_index(&self) -> Option<Result<u64, Unavailable>> {
        self.compared.as_ref()?.bytes_without_index()
    }
}

pub(super) fn encode(args: &Encode) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    refuse_stdout(&args.output, "a column file")?;
    let (mut opened, layout) = open_input(&args.input)?;
    let columns = layout.chosen(&args.input)?;
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let files = outputs(&args.output, &names)?;
    for file in &files {
        refuse_input(&args.input.input, file)?;
        args.force.check(file)?;
    }
    if !args.no_compare {
        // A column file cannot hold them; that is no reason to say nothing of their size.
        for column in layout.without_text_form(&args.input) {
            match only_in_parquet((&opened, &layout), column) {
                Ok(sizes) => sizes.iter().for_each(|sizes| note(sizes)),
                // It is only named: that it cannot be read is no reason not to encode the others.
                Err(error) => note(&format!("{}: its size is not known: {error:#}", column.name)),
            }
        }
    }
    // Nothing is written before the last of them is known to be possible.
    let possible = layout.check_text_forms(&columns).map_err(of_column);
    possible.map_err(|error| about(&args.input.input, "read", error))?;
    let mut kept = None;
    let encoded = columns.iter().zip(files).zip(1..).map(|((column, file), count)| {
        let on_commit = |file: &Path| kept = Some(Kept::from_here_on(file, count, !args.no_compare));
        encode_column(args, (&mut opened, &layout, *column), (file, on_commit), &work)
    });
    let encoded: anyhow::Result<Vec<Written>> = encoded.collect();
    drop(work);
    let printed = encoded.and_then(|written| match &written[..] {
        [only] => print_report(only, args.format),
        several => print_reports(several, layout.column_count(), args.format),
    });
    printed.map_err(|error| match &kept {
        Some(kept) => kept.explained(error),
        None => error,
    })
}

/// Encodes one column of the input into a separate file, and compares its size if that is asked for.
fn encode_column(
    args: &Encode,
    (opened, layout, column): (&mut Opened, &Layout, &TableColumn),
    (file, on_commit): (PathBuf, impl FnOnce(&Path)),
    work: &LongWork,
) -> anyhow::Result<Written> {
    say_text_form(column);
    let stopwatch = Stopwatch::start();
    let (null, options) = (args.input.table.null.as_deref(), args.how.options());
    let encoder = read(opened, (layout, column.number), &args.input, options, work);
    let mut encoder = encoder.map_err(|error| about(&args.input.input, "read", error))?;
    watch(&mut encoder, work);
    let report = write(encoder, &file, args.force)?;
    on_commit(&file);
    let elapsed_ns = stopwatch.elapsed_ns();
    if may_mean_null(layout, null) {
        say_empty_fields(column, empty_values(&file)?);
    }
    if layout.kind == FileKind::Lines {
        say_marks(opened);
    }
    let is_compared = !args.no_compare;
    let compared = is_compared
        .then(|| compared((opened, layout), column, (&file, &report), options, work))
        .transpose()?;
    Ok(Written {
        column: column.name.clone(),
        file,
        report,
        input_bytes: opened.size_bytes,
        elapsed_ns,
        before_bytes: None,
        compared,
    })
}

/// Writes a column file, which replaces another one only with --force.
pub(super) fn write(encoder: Encoder, path: &Path, force: Force) -> anyhow::Result<EncodeReport> {
    let mut file = force.create(path)?;
    let finished = encoder.finish(&mut file).map_err(of_column);
    let report = finished.map_err(|error| where_full(path, error))?;
    output_file::commit(file, path)?;
    Ok(report)
}

pub(super) fn append(args: &Append) -> anyhow::Result<()> {
    let work = LongWork::on_stderr();
    let stopwatch = Stopwatch::start();
    let before_bytes = args.file.metadata().ok().map(|file| file.len());
    let (column, report, input_bytes) = if is_column_file(&args.input.input) {
        if let Some(flag) = args.input.flag_of_tables().or_else(|| args.how.first()) {
            return Err(bad_input(anyhow::anyhow!(
                "{}: {flag} does not apply to a column file, which is appended as it is; leave it out",
                args.input.input.display()
            )));
        }
        let other = open(&args.input.input, Access::OnDisk, &args.memory_limit)?;
        refuse_rows_without_codes(&args.file, !other.has_codes())?;
        let size = args.input.input.metadata().ok().map(|file| file.len());
        say_other_name(&args.file, &other.name().ok().flatten().unwrap_or_default());
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
        // What cannot be opened is refused by the append itself.
        let existing = Column::open_on_disk(&args.file);
        let nulls_before = existing.as_ref().map_or(0, Column::null_count);
        let options = existing.map_or_else(|_| args.how.options(), |file| args.how.options_like(&file));
        refuse_rows_without_codes(&args.file, options.index == Index::Only)?;
        let encoder = read(&mut opened, (&layout, column.number), &args.input, options, &work);
        let mut encoder = encoder.map_err(|error| about(&args.input.input, "read", error))?;
        watch(&mut encoder, &work);
        say_other_name(&args.file, layout.name_of(column.number).unwrap_or_default());
        // A file that cannot be read is refused by the append itself.
        let empty_before = may_mean_null(&layout, args.input.table.null.as_deref())
            .then(|| empty_values(&args.file).ok())
            .flatten();
        let appended = encoder.append_to(&args.file).map_err(of_column);
        let report = appended.map_err(|error| where_full(&args.file, error))?;
        if let Some(before) = empty_before {
            let empty = empty_values(&args.file)?.saturating_sub(before);
            say_empty_fields(column, empty);
            // Empty fields were probably the nulls.
            if empty == 0 && report.row_count > 0 {
                say_no_marker(&args.file, nulls_before);
            }
        }
        if layout.kind == FileKind::Lines {
            say_marks(&opened);
        }
        (column.name.clone(), report, opened.size_bytes)
    };
    drop(work);
    let written = Written {
        column,
        file: args.file.clone(),
        report,
        input_bytes,
        elapsed_ns: stopwatch.elapsed_ns(),
        before_bytes,
        compared: None,
    };
    print_report(&written, args.format)?;
    say_what_merging_gives(&args.file, report.row_count);
    Ok(())
}

/// Rows of another column may well belong to this one; a slip is seen here. What cannot be opened is the append's to refuse.
fn say_other_name(file: &Path, appended: &str) {
    let own = Column::open_on_disk(file).and_then(|column| column.name());
    let own = own.ok().flatten().unwrap_or_default();
    if !own.is_empty() && !appended.is_empty() && own != appended {
        note(&format!(
            "note: rows of column {appended:?} are appended to column {own:?}"
        ));
    }
}

/// Whether the input is itself a column file: it is appended as it is. A pipe is read as rows.
fn is_column_file(path: &Path) -> bool {
    path.is_file() && Opened::of(path).is_ok_and(|opened| opened.is_column())
}

pub(super) fn watch(encoder: &mut Encoder, work: &LongWork) {
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

pub(super) fn print_report(written: &Written, format: Format) -> anyhow::Result<()> {
    let report = &written.report;
    let mut table = Table::new([("what", "what"), ("value", "value"), ("", "unit")]);
    let mut push = |name, [cell, unit]: Figure| table.push(vec![Cell::text(name), cell, unit]);
    let rows = if written.before_bytes.is_some() {
        "rows appended"
    } else {
        "rows"
    };
    push(rows, count_with_unit(report.row_count));
    push("distinct values", count_with_unit(report.value_count));
    push("nulls", count_with_unit(report.null_count));
    if let Some(input_bytes) = written.input_bytes {
        push("input file", bytes_with_unit(input_bytes));
    }
    push(
        "values as text, without newlines",
        bytes_with_unit(report.text_bytes),
    );
    match written.before_bytes {
        // The file has other rows too, so that no ratio of these would be one of the file.
        Some(before) => {
            push("file before", bytes_with_unit(before));
            push("file", bytes_with_unit(report.file_bytes));
        }
        None => {
            push("file", bytes_with_unit(report.file_bytes));
            push("values ÷ file", [ratio(report), Cell::text("ratio")]);
        }
    }
    if let Some(without) = written.bytes_without_index() {
        push("file without its index", [size(&without), Cell::text("B")]);
    }
    if let Some(compared) = &written.compared {
        push("in the input", [size(&compared.stored.bytes), Cell::text("B")]);
        push("as Parquet, zstd:3", [size(&compared.parquet), Cell::text("B")]);
    }
    match report.packed {
        Some(form) => push("packed form", word(form.name())),
        None => {
            push("dictionary", bytes_with_unit(report.dictionary_bytes));
            push("class map", bytes_with_unit(report.class_map_bytes));
            push("codes", bytes_with_unit(report.codes_bytes));
            push("postings", bytes_with_unit(report.postings_bytes));
        }
    }
    push(SHUFFLED, bytes_with_unit(report.floor_bytes));
    push("time", [time(written.elapsed_ns), Cell::text("s")]);
    let verdict = written.verdict();
    match (verdict, format) {
        (Some(verdict), Format::Text) => {
            table.print(format)?;
            // A sentence would make the column of values as wide as itself.
            print(&format!("{verdict}\n"))
        }
        (Some(verdict), _) => {
            push("verdict", word(&verdict));
            table.print(format)
        }
        (None, _) => table.print(format),
    }
}

/// A size, or why it is not known.
fn size(size: &Result<u64, Unavailable>) -> Cell {
    match size {
        Ok(size) => bytes(*size),
        Err(why) => Cell::Absent(why.reason.clone()),
    }
}

/// A line for each of several columns; `column_count` is how many the table has.
fn print_reports(written: &[Written], column_count: usize, format: Format) -> anyhow::Result<()> {
    let table = table_of(written);
    let sizes = written.iter().filter_map(|one| one.compared.as_ref());
    let sizes: Vec<&ColumnSizes> = sizes.map(|compared| &compared.sizes).collect();
    let total = TotalSizes::of(&sizes).map(|total| total.in_table(column_count));
    match (&total, format) {
        (Some(total), Format::Json) => print(&pretty_json(
            &table
                .in_envelope()
                .with_detail("total", total_for_programs(total)),
        )?)?,
        _ => table.print(format)?,
    }
    let verdicts = written.iter().filter_map(Written::verdict);
    let sentences: Vec<String> = verdicts.chain(total.map(|total| total.in_words())).collect();
    match format {
        // For people the answer belongs to the output, below the sizes that it is about.
        Format::Text if !sentences.is_empty() => print(&format!("\n{}\n", sentences.join("\n"))),
        _ => {
            sentences.iter().for_each(|sentence| note(sentence));
            Ok(())
        }
    }
}

/// The columns that were written, a line each; what a file takes without its index stands there where files have one.
fn table_of(written: &[Written]) -> Table {
    let has_index = written.iter().any(|one| one.bytes_without_index().is_some());
    let without_index = has_index.then_some(("without its index", "file_without_index_bytes"));
    let before = [
        ("column", "column"),
        ("rows", "rows_count"),
        ("distinct", "distinct_values_count"),
        ("nulls", "nulls_count"),
        ("values", "text_bytes"),
        ("file", "file_bytes"),
        ("values ÷ file", "text_over_file_ratio"),
    ];
    let after = [
        ("in the input", "stored_bytes"),
        ("Parquet, zstd:3", "parquet_zstd_bytes"),
        ("time", "time_s"),
        ("written to", "path"),
        // People read both in the sentences below the table.
        ("", "parquet_default_bytes"),
        ("", "verdict"),
    ];
    let mut table = Table::new(before.into_iter().chain(without_index).chain(after));
    for one in written {
        let (report, compared) = (&one.report, one.compared.as_ref());
        let without_index = has_index.then(|| one.bytes_without_index());
        let without_index = without_index.map(|bytes| bytes.map_or_else(not_compared, |bytes| size(&bytes)));
        let mut row = vec![
            Cell::text(&one.column),
            count(report.row_count),
            count(report.value_count),
            count(report.null_count),
            bytes(report.text_bytes),
            bytes(report.file_bytes),
            ratio(report),
        ];
        row.extend(without_index);
        row.extend([
            compared.map_or_else(not_compared, |compared| size(&compared.stored.bytes)),
            compared.map_or_else(not_compared, |compared| size(&compared.parquet)),
            time(one.elapsed_ns),
            Cell::text(one.file.to_string_lossy()),
            compared.map_or_else(not_compared, |compared| size(&compared.parquet_default)),
            one.verdict().map_or_else(not_compared, Cell::text),
        ]);
        table.push(row);
    }
    table
}

/// What the columns take together, over which of them.
fn total_for_programs(total: &TotalSizes) -> serde_json::Value {
    let (file_bytes, without_index_bytes) = match total.ocol_index {
        OcolIndex::LeftOut { file_bytes } => (file_bytes, Some(total.ocol_bytes)),
        OcolIndex::None | OcolIndex::Counted => (total.ocol_bytes, None),
    };
    serde_json::json!({
        "columns": total.columns,
        "compared_columns_count": total.compared_count,
        "stored_bytes": total.stored_bytes,
        "compressed_file_bytes": total.compressed_file_bytes,
        "text_bytes": total.text_bytes,
        "parquet_zstd_bytes": total.parquet_zstd_bytes,
        "parquet_default_bytes": total.parquet_default_bytes,
        "file_bytes": file_bytes,
        "file_without_index_bytes": without_index_bytes,
        "smallest_form_bytes": total.smallest_bytes,
    })
}

fn not_compared() -> Cell {
    Cell::Absent("--no-compare was given".to_owned())
}
