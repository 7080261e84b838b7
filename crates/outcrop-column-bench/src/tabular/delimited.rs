//! CSV, TSV and plain lines.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use outcrop_column::arrow::ValueKind;
use outcrop_column::{CsvRecords, LINE_BYTES_LIMIT};

use super::kind::{FileKind, SAMPLE_BYTES};
use super::parts::{Ended, Part, Visit};
use super::{Extent, Table, TableColumn, TableFormat, of_path, open, table_error};
use crate::error::BenchError;

/// What may stand between fields, the likeliest first.
const DELIMITERS: [u8; 4] = *b",;|\t";
/// Records that must agree on the number of fields.
const RECORDS_COMPARED: usize = 100;

fn reader<R: Read>(input: R, delimiter: u8, has_quotes: bool) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .quoting(has_quotes)
        .from_reader(input)
}

/// What the user says about a text table; the rest is found in its first megabyte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Given {
    /// What separates the fields.
    pub delimiter: Option<u8>,
    /// Whether the first line names the columns.
    pub has_header: Option<bool>,
    /// Whether fields may stand in quotation marks.
    pub has_quotes: bool,
    /// The text of a field that is null.
    pub null: Option<String>,
}

impl Default for Given {
    fn default() -> Self {
        Self {
            delimiter: None,
            has_header: None,
            has_quotes: true,
            null: None,
        }
    }
}

impl Given {
    /// The kind of a text that is read so: lines are a table where somebody says what separates their fields, or whether they have a header.
    ///
    /// # Errors
    /// Where this says something of a file without fields of text.
    pub(super) fn kind_of(&self, kind: FileKind) -> Result<FileKind, String> {
        let is_of_fields = self.delimiter.is_some() || self.has_header.is_some();
        let what = match kind {
            FileKind::Delimited | FileKind::TabSeparated => return Ok(kind),
            FileKind::Lines if is_of_fields => return Ok(FileKind::Delimited),
            _ if *self == Self::default() => return Ok(kind),
            FileKind::Lines => "is read as lines of text, unless a delimiter or a header is given",
            FileKind::Parquet => "is a Parquet file",
            FileKind::Arrow => "is an Arrow file",
        };
        Err(format!("this {what}; {ONLY_OF_TEXT}"))
    }
}

/// What cannot be said of other files.
pub(super) const ONLY_OF_TEXT: &str =
    "delimiter, header, quotes and null text can be given for delimited text (CSV) only";

/// Says from the beginning of a file what its columns are. `sample` is the whole file, or its first
/// [`SAMPLE_BYTES`] bytes.
pub(super) fn describe(sample: &[u8], given: &Given) -> Result<Table, String> {
    let mut sample = sample;
    if sample.len() as u64 >= SAMPLE_BYTES {
        // The last record may be cut; without it the others are whole, but for newlines within quotes.
        let end = memchr::memrchr(b'\n', sample)
            .ok_or("no newline in the first megabyte; expected a table with one row per line")?;
        sample = &sample[..=end];
    }
    let has_quotes = given.has_quotes;
    let delimiter = given
        .delimiter
        .unwrap_or_else(|| guess_delimiter(sample, has_quotes));
    let records: Vec<csv::ByteRecord> = reader(sample, delimiter, has_quotes)
        .into_byte_records()
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let Some((first, rest)) = records.split_first() else {
        return Err("the file is empty; expected a table with at least one row".to_owned());
    };
    let has_header = given.has_header.unwrap_or_else(|| is_header(first, rest));
    let values = if has_header { rest } else { &records };
    let null = given.null.as_deref().map(str::as_bytes);
    let columns = (0..first.len()).map(|number| TableColumn {
        number,
        name: if has_header {
            String::from_utf8_lossy(&first[number]).trim().to_owned()
        } else {
            format!("column {number}")
        },
        kind: kind_of(values, number, null),
        type_name: None,
        extent: extent_of(values, number, sample.len()),
    });
    let format = TableFormat::Delimited {
        delimiter,
        has_header,
        has_quotes,
    };
    Ok(Table {
        null: given.null.clone(),
        ..Table::of_file(format, columns.collect())
    })
}

/// The delimiter that gives most fields, the same number in (nearly) every record; a comma where none does.
fn guess_delimiter(sample: &[u8], has_quotes: bool) -> u8 {
    let score = |delimiter: u8| {
        let counts: Vec<usize> = reader(sample, delimiter, has_quotes)
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

/// What all values that are neither empty nor null read as; text where they differ or there is none.
fn kind_of(records: &[csv::ByteRecord], number: usize, null: Option<&[u8]>) -> ValueKind {
    let values = records.iter().filter_map(|record| record.get(number));
    let values = values.filter(|value| Some(*value) != null);
    let values: Vec<&[u8]> = values
        .map(<[u8]>::trim_ascii)
        .filter(|value| !value.is_empty())
        .collect();
    if values.is_empty() {
        ValueKind::Strings
    } else if values.iter().all(|value| is_number(value)) {
        ValueKind::Numbers
    } else if values.iter().all(|value| is_date(value)) {
        ValueKind::Dates
    } else {
        ValueKind::Strings
    }
}

/// Of the records that were looked at, in a sample of this many bytes.
fn extent_of(records: &[csv::ByteRecord], number: usize, sample_bytes: usize) -> Extent {
    // With the delimiter or the newline behind each.
    let bytes_of = |field: &[u8]| field.len() as u64 + 1;
    let fields = records.iter().filter_map(|record| record.get(number));
    let text_bytes = fields.clone().map(bytes_of).sum();
    let distinct: BTreeSet<&[u8]> = fields.collect();
    Extent {
        row_count: records.len() as u64,
        text_bytes,
        file_bytes: text_bytes,
        distinct_bytes: distinct.into_iter().map(bytes_of).sum(),
        read_bytes: sample_bytes as u64,
    }
}

/// `2026-11-22`, and what may follow a date: a time.
fn is_date(value: &[u8]) -> bool {
    let (date, time) = value.split_at(value.len().min(10));
    let shape = |pattern: &[u8], text: &[u8]| {
        let fits = |(&wanted, &byte): (&u8, &u8)| match wanted {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        };
        text.len() == pattern.len() && pattern.iter().zip(text).all(fits)
    };
    let is_time =
        |time: &[u8]| time.len() >= 9 && matches!(time[0], b' ' | b'T') && shape(b"00:00:00", &time[1..9]);
    shape(b"0000-00-00", date) && (time.is_empty() || is_time(time))
}

/// Gives `visit` the field of each record until it wants no more; whether it came to the end.
pub(super) fn for_each(
    path: &Path,
    (delimiter, has_header, has_quotes): (u8, bool, bool),
    number: usize,
    visit: &mut Visit<'_>,
) -> Result<Ended, BenchError> {
    let input = BufReader::with_capacity(1 << 20, open(path)?);
    let mut records = CsvRecords::new(input, delimiter, has_quotes);
    let mut record = csv::ByteRecord::new();
    let mut is_first = true;
    loop {
        let more = records.read(&mut record);
        if !more.map_err(|error| table_error(path, error.to_string()))? {
            return Ok(Ended::AtTheEnd);
        }
        if std::mem::take(&mut is_first) && has_header {
            continue;
        }
        let Some(field) = record.get(number) else {
            let line = records.line_of(&record);
            let seen = record.len();
            return Err(table_error(
                path,
                format!(
                    "line {line} has {seen} fields, but column {number} (from 0) was requested; is it a table?"
                ),
            ));
        };
        if visit(Part::Value(field, records.read_bytes()))?.is_break() {
            return Ok(Ended::Before);
        }
    }
}

/// The same for a file of lines.
pub(super) fn for_each_line(path: &Path, visit: &mut Visit<'_>) -> Result<Ended, BenchError> {
    let mut reader = BufReader::with_capacity(1 << 20, open(path)?);
    let mut line = Vec::new();
    let mut read_bytes = 0;
    loop {
        line.clear();
        // One more for the newline, and one to see that there is more.
        let most = LINE_BYTES_LIMIT as u64 + 2;
        let read = reader.by_ref().take(most).read_until(b'\n', &mut line);
        let read = read.map_err(|source| of_path(path, source))?;
        if read == 0 {
            return Ok(Ended::AtTheEnd);
        }
        let value = line.strip_suffix(b"\n").unwrap_or(&line);
        if value.len() > LINE_BYTES_LIMIT {
            return Err(table_error(
                path,
                format!(
                    "the line that begins at byte {read_bytes} has more than {LINE_BYTES_LIMIT} bytes; is this text with newlines?"
                ),
            ));
        }
        read_bytes += read as u64;
        if visit(Part::Value(value, read_bytes))?.is_break() {
            return Ok(Ended::Before);
        }
    }
}
