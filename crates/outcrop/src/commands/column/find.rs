//! `find` and `get`: rows by value, and values by row.

use super::flags::{AnswerFormat, Find, Get, MemoryFlag};
use super::print::{Answers, CountedValues, Field, refuse_terminal};
use super::wanted::Wanted;
use super::{Access, moment, of_opened, open, other_form};
use crate::exit::bad_input;
use crate::output::{note, stdout};
use outcrop_column::arrow::{batch_of_rows, batch_of_values, write_batch};
use outcrop_column::{Column, Selection};
use outcrop_measure::units::format_nanoseconds;
use outcrop_probe::Stopwatch;
use outcrop_report::number::counted;
use std::io::{BufWriter, Write as _};

/// Values from which on postings are built in memory where the file has none: a scan for each would take longer.
const VALUES_WORTH_POSTINGS: usize = 8;
/// What JSON calls the number of all rows found, …
const FOUND_ROWS: &str = "found_rows_count";
/// … and of all values.
const FOUND_VALUES: &str = "found_values_count";

pub(super) fn find(args: &Find) -> anyhow::Result<()> {
    refuse_terminal(args.format == AnswerFormat::Arrow)?;
    if args.format == AnswerFormat::Arrow && (args.by_value || args.count) {
        let flag = if args.by_value { "--by-value" } else { "--count" };
        return Err(bad_input(anyhow::anyhow!(
            "an Arrow answer has only row numbers, or values with --values; {flag} needs --format text, json or csv"
        )));
    }
    let mut asked = Wanted::of(args)?;
    let opening = Stopwatch::start();
    let access = match args.memory {
        MemoryFlag::InMemory => Access::Mapped,
        MemoryFlag::OnDisk => Access::OnDisk,
    };
    let mut column = open(&args.file, access, &args.memory_limit)?;
    let mut open_ns = opening.elapsed_ns();
    let bounds = moment::complete_bounds(&mut asked, &column).map_err(of_opened)?;
    for said in &bounds.notes {
        note(&format!("note: {said}"));
    }
    // Finding the values that a condition selects is a part of the search.
    let by_value = Stopwatch::start();
    let listed = match args.by_value {
        true => asked.by_value(&column).map_err(of_opened)?,
        false => None,
    };
    let wanted = listed.as_ref().unwrap_or(&asked);
    let by_value_ns = by_value.elapsed_ns();
    let values = wanted.several().map_or(1, <[_]>::len);
    if values >= VALUES_WORTH_POSTINGS {
        column.preload().map_err(of_opened)?;
        open_ns = opening.elapsed_ns() - by_value_ns;
    }
    let searching = Searching {
        stopwatch: Stopwatch::start(),
        by_value_ns,
        open_ns,
        searched_range: bounds.searched,
    };
    let selections = wanted.select(&column).map_err(of_opened)?;
    if args.values {
        let row_counts = print_values(&selections, args, &|| searching.took())?;
        say_other_form(&column, &asked, &row_counts);
        return Ok(());
    }
    if args.count {
        return print_counts(&column, (&asked, wanted), &selections, args, &searching);
    }
    let rows = selections.iter().map(Selection::rows);
    let rows = rows.collect::<Result<Vec<_>, _>>().map_err(of_opened)?;
    let found = rows.iter().map(Vec::len).sum::<usize>();
    let found = match found {
        1 => "1 row found".to_owned(),
        rows => format!("{rows} rows found"),
    };
    let took = searching.took();
    note(&took.in_words(&found));
    let counts: Vec<u64> = rows.iter().map(|rows| rows.len() as u64).collect();
    say_other_form(&column, &asked, &counts);
    match wanted.several() {
        Some(values) if args.format != AnswerFormat::Arrow => {
            print_rows_of_values(values, &rows, args, &took)
        }
        _ => print_rows(&rows, args, &took),
    }
}

/// A search that is right and finds nothing may have asked for another form than the column has. The rows of what selects values, such
/// as a prefix, are those of all that it selected.
fn say_other_form(column: &Column, asked: &Wanted, row_counts: &[u64]) {
    let of_all = [row_counts.iter().sum()];
    let row_counts = match asked {
        Wanted::Values { .. } => row_counts,
        _ => &of_all,
    };
    if let Some(hint) = other_form::hint(column, asked, row_counts) {
        note(&format!("note: {hint}"));
    }
}

/// How long a search took.
struct Took {
    search_ns: u64,
    open_ns: u64,
    searched_range: Option<String>,
}

/// A search that goes on.
struct Searching {
    stopwatch: Stopwatch,
    /// What finding the values took.
    by_value_ns: u64,
    open_ns: u64,
    /// The range, where it is spelled otherwise than asked for.
    searched_range: Option<String>,
}

impl Searching {
    fn took(&self) -> Took {
        Took {
            search_ns: self.by_value_ns + self.stopwatch.elapsed_ns(),
            open_ns: self.open_ns,
            searched_range: self.searched_range.clone(),
        }
    }
}

impl Took {
    /// `3 rows found in 41 µs, after opening the file in 2 ms`.
    fn in_words(&self, done: &str) -> String {
        let [search, open] = [self.search_ns, self.open_ns].map(|time| format_nanoseconds(time as f64));
        format!("{done} in {search}, after opening the file in {open}")
    }

    /// The same for programs, which read no notes: with the range that was searched, if it is not the one asked for.
    fn details(&self) -> serde_json::Map<String, serde_json::Value> {
        let times = [("search_ns", self.search_ns), ("open_ns", self.open_ns)];
        let times = times.map(|(name, time)| (name.to_owned(), time.into()));
        let range = self.searched_range.as_ref();
        let range = range.map(|range| ("searched_range".to_owned(), range.as_str().into()));
        times.into_iter().chain(range).collect()
    }

    /// The same with the number of all that were found, however many are printed.
    fn details_of(&self, name: &str, found: u64) -> serde_json::Map<String, serde_json::Value> {
        let mut details = self.details();
        details.insert(name.to_owned(), found.into());
        details
    }
}

/// The number of rows, of several values one for each: 0 for one that is not in the column. The total of those is no part of the answer: a
/// value may be called like it.
fn print_counts(
    column: &Column,
    (asked, wanted): (&Wanted, &Wanted),
    selections: &[Selection<'_>],
    args: &Find,
    searching: &Searching,
) -> anyhow::Result<()> {
    let counts = selections.iter().map(Selection::count);
    let counts = counts.collect::<Result<Vec<u64>, _>>().map_err(of_opened)?;
    // Different values have different rows: their numbers add up.
    let total: u64 = counts.iter().sum();
    let took = searching.took();
    let Some(values) = wanted.several() else {
        note(&took.in_words("counted"));
        say_other_form(column, asked, &counts);
        let mut answers = Answers::begin(args.format, ["rows"], None)?;
        answers.push([Field::Number(total)])?;
        return answers.finish(took.details());
    };
    let rows = counted(total as usize, "row");
    let of_values = counted(values.len(), "value");
    note(&took.in_words(&format!("{rows} of {of_values} counted")));
    say_other_form(column, asked, &counts);
    let mut answers = CountedValues::begin(args.format, "rows", None)?;
    for (value, &rows) in values.iter().zip(&counts) {
        answers.push(Some(value), rows)?;
    }
    answers.finish(took.details_of(FOUND_ROWS, total))
}

/// Row numbers, ascending.
fn print_rows(rows: &[Vec<u64>], args: &Find, took: &Took) -> anyhow::Result<()> {
    let is_merged = rows.len() > 1;
    let mut rows = rows.concat();
    let found = rows.len() as u64;
    if is_merged {
        rows.sort_unstable();
    }
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    if args.format == AnswerFormat::Arrow {
        let batch = batch_of_rows(rows).map_err(of_opened)?;
        return write_batch(&batch, stdout()).map_err(of_opened);
    }
    let mut answers = Answers::begin(args.format, ["row"], None)?;
    for row in rows {
        answers.push([Field::Number(row)])?;
    }
    answers.finish(took.details_of(FOUND_ROWS, found))
}

/// Each value with its rows: for people a line a value, for programs a line a row.
fn print_rows_of_values(
    values: &[Vec<u8>],
    rows: &[Vec<u64>],
    args: &Find,
    took: &Took,
) -> anyhow::Result<()> {
    let limit = args.limit.unwrap_or(usize::MAX);
    if args.format == AnswerFormat::Text {
        let mut out = BufWriter::with_capacity(1 << 16, stdout());
        let mut left = limit;
        for (value, rows) in values.iter().zip(rows) {
            out.write_all(value)?;
            let unit = if rows.len() == 1 { "row" } else { "rows" };
            write!(out, "  {} {unit}", rows.len())?;
            let shown = &rows[..rows.len().min(left)];
            left -= shown.len();
            for (index, row) in shown.iter().enumerate() {
                write!(out, "{} {row}", if index == 0 { ":" } else { "" })?;
            }
            let is_cut = shown.len() < rows.len();
            out.write_all(if is_cut { " …\n".as_bytes() } else { b"\n" })?;
        }
        return Ok(out.flush()?);
    }
    let mut answers = Answers::begin(args.format, ["value", "row"], args.limit)?;
    for (value, rows) in values.iter().zip(rows) {
        for &row in rows {
            answers.push([Field::Value(Some(value)), Field::Number(row)])?;
        }
    }
    let found = rows.iter().map(|rows| rows.len() as u64).sum();
    answers.finish(took.details_of(FOUND_ROWS, found))
}

/// Prints the values; the number of rows of each selection that was read for it.
fn print_values(
    selections: &[Selection<'_>],
    args: &Find,
    took: &dyn Fn() -> Took,
) -> anyhow::Result<Vec<u64>> {
    let limit = args.limit.unwrap_or(usize::MAX);
    if args.format == AnswerFormat::Arrow {
        let batch = batch_of_values(selections, limit).map_err(of_opened)?;
        note(&took().in_words("answered"));
        // What no value was found for has no row; else the batch does not say which of several has none.
        let is_empty = limit > 0 && batch.num_rows() == 0;
        write_batch(&batch, stdout()).map_err(of_opened)?;
        let rows = u64::from(!is_empty);
        return Ok(vec![rows; selections.len()]);
    }
    let mut answers = CountedValues::begin(args.format, "rows", args.limit)?;
    let (mut found, mut row_counts) = (0, Vec::new());
    for selection in selections {
        let mut row_count = 0;
        selection
            .for_each_value(|value, rows| {
                found += 1;
                row_count += rows;
                Ok(answers.push(value, rows)?)
            })
            .map_err(of_opened)?;
        row_counts.push(row_count);
        // JSON says how many there are.
        if answers.is_full() && args.format != AnswerFormat::Json {
            break;
        }
    }
    let took = took();
    note(&took.in_words("answered"));
    answers.finish(took.details_of(FOUND_VALUES, found))?;
    Ok(row_counts)
}

pub(super) fn get(args: &Get) -> anyhow::Result<()> {
    refuse_terminal(args.format == AnswerFormat::Arrow)?;
    let column = open(&args.file, Access::OnDisk, &args.memory_limit)?;
    if args.format == AnswerFormat::Arrow {
        let batch = column.get_batch(&args.row).map_err(of_opened)?;
        return write_batch(&batch, stdout()).map_err(of_opened);
    }
    let mut answers = Answers::begin(args.format, ["row", "value"], None)?;
    for &row in &args.row {
        let value = column.get(row).map_err(of_opened)?;
        answers.push([Field::Number(row), Field::Value(value.as_deref())])?;
    }
    answers.finish(serde_json::Map::new())
}
