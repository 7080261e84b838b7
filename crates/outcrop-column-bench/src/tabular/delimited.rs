//! CSV, TSV and plain lines.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::{Table, TableColumn, TableFormat, open, table_error};
use crate::error::BenchError;
use crate::input::ColumnInput;

/// How much of a file is looked at to learn what it is.
const SAMPLE_BYTES: u64 = 1 << 20;
/// What may stand between fields, the likeliest first.
const DELIMITERS: [u8; 4] = *b",;|\t";
/// Records that must agree on the number of fields.
const RECORDS_COMPARED: usize = 100;

fn reader<R: Read>(input: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(input)
}

/// Reads the beginning of a file and says what its columns are.
pub(super) fn describe(path: &Path, delimiter: Option<u8>) -> Result<Table, BenchError> {
    let mut sample = Vec::new();
    let read = open(path)?.take(SAMPLE_BYTES).read_to_end(&mut sample);
    read.map_err(|source| BenchError::Path {
        path: path.to_owned(),
        source,
    })?;
    if sample.len() as u64 == SAMPLE_BYTES {
        // The last record may be cut; without it the others are whole, but for newlines within quotes.
        let end = memchr::memrchr(b'\n', &sample).ok_or_else(|| {
            table_error(
                path,
                "no newline in the first megabyte; expected a table of fields and lines",
            )
        })?;
        sample.truncate(end + 1);
    }
    let delimiter = delimiter.unwrap_or_else(|| guess_delimiter(&sample));
    let records: Vec<csv::ByteRecord> = reader(sample.as_slice(), delimiter)
        .into_byte_records()
        .collect::<Result<_, _>>()
        .map_err(|error| table_error(path, error.to_string()))?;
    let Some((first, rest)) = records.split_first() else {
        return Err(table_error(path, "empty; expected a table with at least one row"));
    };
    let has_header = is_header(first, rest);
    let values = if has_header { rest } else { &records };
    let columns = (0..first.len()).map(|number| TableColumn {
        number,
        name: if has_header {
            String::from_utf8_lossy(&first[number]).trim().to_owned()
        } else {
            format!("column {number}")
        },
        is_string: holds_strings(values, number),
    });
    let format = TableFormat::Delimited {
        delimiter,
        has_header,
    };
    Ok(Table::of_file(format, columns.collect()))
}

/// The delimiter that gives most fields, the same number in (nearly) every record; a comma where none does.
fn guess_delimiter(sample: &[u8]) -> u8 {
    let score = |delimiter: u8| {
        let counts: Vec<usize> = reader(sample, delimiter)
            .into_byte_records()
            .take(RECORDS_COMPARED)
            .map_while(Result::ok)
            .map(|record| record.len())
            .collect();
        let fields = counts.first().copied().unwrap_or(0);
        let agreeing = counts.iter().filter(|&&count| count == fields).count();
        let is_regular = fields > 1 && agreeing * 10 >= counts.len() * 9;
        if is_regular { fields } else { 0 }
    };
    // Of equal scores the first wins: `max_by_key` keeps the last, so they are asked in reverse.
    let best = DELIMITERS
        .into_iter()
        .rev()
        .max_by_key(|&delimiter| score(delimiter));
    best.filter(|&delimiter| score(delimiter) > 0).unwrap_or(b',')
}

/// A first record names the columns if its fields are different words, none a number, and
/// none comes again in its column.
fn is_header(first: &csv::ByteRecord, rest: &[csv::ByteRecord]) -> bool {
    let names: BTreeSet<&[u8]> = first.iter().collect();
    let are_names = names.len() == first.len()
        && first
            .iter()
            .all(|name| !name.trim_ascii().is_empty() && !is_number(name));
    let recurs = rest
        .iter()
        .any(|record| first.iter().zip(record).any(|(name, value)| name == value));
    are_names && !recurs
}

fn is_number(value: &[u8]) -> bool {
    let text = std::str::from_utf8(value.trim_ascii());
    text.is_ok_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
}

fn holds_strings(records: &[csv::ByteRecord], number: usize) -> bool {
    let values = records.iter().filter_map(|record| record.get(number));
    values
        .filter(|value| !value.is_empty())
        .any(|value| !is_number(value))
}

pub(super) fn load(
    path: &Path,
    delimiter: u8,
    has_header: bool,
    number: usize,
    row_limit: u64,
) -> Result<ColumnInput, BenchError> {
    let mut reader = reader(BufReader::with_capacity(1 << 20, open(path)?), delimiter);
    let mut record = csv::ByteRecord::new();
    let mut input = ColumnInput::default();
    let mut is_first = true;
    while input.row_count() < row_limit {
        let more = reader.read_byte_record(&mut record);
        if !more.map_err(|error| table_error(path, error.to_string()))? {
            break;
        }
        if std::mem::take(&mut is_first) && has_header {
            continue;
        }
        let Some(field) = record.get(number) else {
            let line = record.position().map_or(0, csv::Position::line);
            let seen = record.len();
            return Err(table_error(
                path,
                format!(
                    "line {line} has {seen} fields, and column {number} (from 0) is wanted; is it a table?"
                ),
            ));
        };
        input.push(Some(field));
    }
    Ok(input)
}

pub(super) fn load_lines(path: &Path, row_limit: u64) -> Result<ColumnInput, BenchError> {
    let mut reader = BufReader::with_capacity(1 << 20, open(path)?);
    let mut line = Vec::new();
    let mut input = ColumnInput::default();
    while input.row_count() < row_limit {
        line.clear();
        let read = reader.read_until(b'\n', &mut line);
        let read = read.map_err(|source| BenchError::Path {
            path: path.to_owned(),
            source,
        })?;
        if read == 0 {
            break;
        }
        input.push(Some(line.strip_suffix(b"\n").unwrap_or(&line)));
    }
    Ok(input)
}
