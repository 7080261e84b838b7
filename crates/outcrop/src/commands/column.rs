//! `outcrop column …`: encode, search, decode and check dictionary column files.

mod flags;

use crate::exit::{Ending, bad_input};
use crate::output::{Cell, Format, Table, note};
use anyhow::Context as _;
use outcrop_column::{
    Column, ColumnError, CsvColumn, CsvOptions, EncodeOptions, EncodeReport, Encoder, Selection, encode_csv,
    encode_text,
};
use outcrop_measure::units::format_bytes;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::ops::Bound;
use std::path::Path;

use flags::{Action, Described, Find, Get, Input, MemoryFlag};

/// Encode a string column into one small, searchable file, and ask it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column encode words.txt -o words.ocol --index postings
  outcrop column encode trips.csv --column zone --delimiter ',' -o zone.ocol
  outcrop column find words.ocol granite basalt
  outcrop column find words.ocol --prefix gra --values
  outcrop column decode words.ocol > words.txt")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::Encode(encode) => {
            let written = read(&encode.input, encode.how.options())?
                .write(&encode.output)
                .map_err(of_column)?;
            print_report(&written, encode.format)?;
        }
        Action::Decode(decode) => {
            let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            open(&decode.file)?.decode_text(&mut out).map_err(of_column)?;
            out.flush()?;
        }
        Action::Find(find) => print_found(find)?,
        Action::Get(get) => print_values(get)?,
        Action::Info(described) => print_description(described)?,
        Action::Verify(described) => return verify(described),
        Action::Append(append) => {
            let written = read(&append.input, append.how.options())?
                .append_to(&append.file)
                .map_err(of_column)?;
            print_report(&written, append.format)?;
        }
        Action::Compact(compact) => {
            let encoder = open(&compact.file)?
                .compact(compact.how.options())
                .map_err(of_column)?;
            print_report(
                &encoder.write(&compact.output).map_err(of_column)?,
                compact.format,
            )?;
        }
    }
    Ok(Ending::Done)
}

/// Files and rows that are not there, and files that are no columns, are the user's; the rest are failures.
fn of_column(error: ColumnError) -> anyhow::Error {
    match error {
        ColumnError::Io(error) => error.into(),
        other => bad_input(other),
    }
}

fn open(path: &Path) -> anyhow::Result<Column> {
    Column::open(path)
        .map_err(of_column)
        .with_context(|| format!("cannot open {}", path.display()))
}

fn read(input: &Input, options: EncodeOptions) -> anyhow::Result<Encoder> {
    let source: Box<dyn Read> = if input.input == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let opened =
            File::open(&input.input).with_context(|| format!("cannot open {}", input.input.display()));
        Box::new(opened.map_err(bad_input)?)
    };
    let Some(column) = &input.column else {
        return encode_text(source, options).map_err(of_column);
    };
    let &[delimiter] = input.delimiter.as_bytes() else {
        return Err(bad_input(anyhow::anyhow!(
            "delimiter {:?}: one byte is expected, such as ',' or '|'",
            input.delimiter
        )));
    };
    let csv = CsvOptions {
        column: column
            .parse()
            .map_or(CsvColumn::Named(column), CsvColumn::Numbered),
        delimiter,
        has_header: !input.no_header,
        null: input.null.as_deref(),
    };
    encode_csv(source, &csv, options).map_err(of_column)
}

fn bytes(value: u64) -> Cell {
    Cell::number(value as f64, format_bytes(value))
}

fn count(value: u64) -> Cell {
    Cell::number(value as f64, value.to_string())
}

fn print_report(report: &EncodeReport, format: Format) -> anyhow::Result<()> {
    let mut table = Table::new([("what", "what"), ("", "value")]);
    for (name, cell) in [
        ("rows", count(report.row_count)),
        ("distinct values", count(report.value_count)),
        ("nulls", count(report.null_count)),
        ("text", bytes(report.text_bytes)),
        ("dictionary", bytes(report.dictionary_bytes)),
        ("class map", bytes(report.class_map_bytes)),
        ("codes", bytes(report.codes_bytes)),
        ("postings", bytes(report.postings_bytes)),
        ("file", bytes(report.file_bytes)),
        ("floor of the codes", bytes(report.floor_bytes)),
    ] {
        table.push(vec![Cell::text(name), cell]);
    }
    table.print(format)
}

fn shown(value: Option<&[u8]>) -> Cell {
    value.map_or_else(
        || Cell::Absent("null".to_owned()),
        |value| Cell::text(String::from_utf8_lossy(value)),
    )
}

fn select<'a>(column: &'a Column, find: &Find) -> Result<Vec<Selection<'a>>, ColumnError> {
    if find.is_null {
        return Ok(vec![column.find_null()?]);
    }
    if let Some(prefix) = &find.prefix {
        return Ok(vec![column.find_prefix(prefix.as_bytes())?]);
    }
    if let Some((start, end)) = find.range.as_deref().and_then(|range| range.split_once("..")) {
        let start = if start.is_empty() {
            Bound::Unbounded
        } else {
            Bound::Included(start.as_bytes())
        };
        let end = if end.is_empty() {
            Bound::Unbounded
        } else {
            Bound::Excluded(end.as_bytes())
        };
        return Ok(vec![column.find_range((start, end))?]);
    }
    find.value
        .iter()
        .map(|value| column.find(value.as_bytes()))
        .collect()
}

fn print_found(find: &Find) -> anyhow::Result<()> {
    let asks = !find.value.is_empty() || find.prefix.is_some() || find.is_null;
    let has_range = find.range.as_deref().is_some_and(|range| range.contains(".."));
    if !asks && !has_range {
        return Err(bad_input(anyhow::anyhow!(
            "nothing to find: give values, --prefix, --range A..B or --is-null"
        )));
    }
    let column = match find.memory {
        MemoryFlag::InMemory => open(&find.file)?,
        MemoryFlag::OnDisk => Column::open_on_disk(&find.file).map_err(of_column)?,
    };
    let limit = find.limit.unwrap_or(usize::MAX);
    let selections = select(&column, find).map_err(of_column)?;
    if find.values {
        let mut table = Table::new([("value", "value"), ("rows", "rows")]);
        let mut lines = 0;
        for selection in selections {
            let push = |value: Option<&[u8]>, rows| {
                lines += 1;
                if lines <= limit {
                    table.push(vec![shown(value), count(rows)]);
                }
                Ok(())
            };
            selection.for_each_value(push).map_err(of_column)?;
        }
        return table.print(find.format);
    }
    let mut rows = Vec::new();
    for selection in selections {
        rows.append(&mut selection.rows().map_err(of_column)?);
    }
    rows.sort_unstable();
    rows.dedup();
    note(&format!("{} rows", rows.len()));
    let mut table = Table::new([("row", "row")]);
    rows.into_iter()
        .take(limit)
        .for_each(|row| table.push(vec![count(row)]));
    table.print(find.format)
}

fn print_values(get: &Get) -> anyhow::Result<()> {
    let column = open(&get.file)?;
    let mut table = Table::new([("row", "row"), ("value", "value")]);
    for &row in &get.row {
        let value = column.get(row).map_err(of_column)?;
        table.push(vec![count(row), shown(value.as_deref())]);
    }
    table.print(get.format)
}

fn print_description(described: &Described) -> anyhow::Result<()> {
    let report = open(&described.file)?.report().map_err(of_column)?;
    let mut table = Table::new([
        ("segment", "segment"),
        ("what", "what"),
        ("name", "name"),
        ("", "value"),
    ]);
    for (number, segment) in (0_u64..).zip(&report.segments) {
        let mut push = |what: &str, name: &str, cell| {
            table.push(vec![count(number), Cell::text(what), Cell::text(name), cell]);
        };
        push("count", "rows", count(segment.row_count));
        push("count", "distinct values", count(segment.value_count));
        push("count", "nulls", count(segment.null_count));
        push("size", "text", bytes(segment.text_bytes));
        push("size", "floor of the codes", bytes(segment.floor_bytes));
        for (name, &size) in &segment.section_bytes {
            push("section", name, bytes(size));
        }
        for (name, encoding) in &segment.encodings {
            push("blocks", name, count(encoding.block_count));
            push("block bytes", name, bytes(encoding.bytes));
        }
    }
    table.print(described.format)
}

fn verify(described: &Described) -> anyhow::Result<Ending> {
    let report = open(&described.file)?.verify().map_err(of_column)?;
    let mut table = Table::new([("damage", "damage")]);
    report
        .damage
        .iter()
        .for_each(|damage| table.push(vec![Cell::text(damage.to_string())]));
    if report.damage.is_empty() {
        note(&format!("{} rows, no damage", report.row_count));
        return Ok(Ending::Done);
    }
    table.print(described.format)?;
    Err(bad_input(anyhow::anyhow!(
        "{} is damaged in {} places",
        described.file.display(),
        report.damage.len()
    )))
}
