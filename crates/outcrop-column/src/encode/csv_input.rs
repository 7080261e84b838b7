//! One column of a CSV or TSV file as input.

use std::io::Read;

use super::csv_records::CsvRecords;
use super::encoder::Encoder;
use crate::error::{ColumnError, Result};
use crate::format::LINE_BYTES_LIMIT;
use crate::segment::EncodeOptions;

/// Which column of a table to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InputColumn<'a> {
    /// By its name.
    Named(&'a str),
    /// By its position, from 0.
    Numbered(usize),
    /// The only one that can be meant: in CSV the only column, in Parquet and Arrow the only one of strings.
    #[default]
    Only,
}

/// How a delimited text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvOptions<'a> {
    /// The column.
    pub column: InputColumn<'a>,
    /// The byte between fields, such as `b','`.
    pub delimiter: u8,
    /// Whether the first line names the columns. A column by name needs it.
    pub has_header: bool,
    /// Whether a field may stand in quotation marks (RFC 4180); if not, they are characters like others.
    pub has_quotes: bool,
    /// A field that is exactly this is a null; `None`: no nulls, and an empty field is an empty value.
    pub null: Option<&'a str>,
    /// Bytes that the fields of a record may have, and a delimiter between two. What has more in the input without an end is not read on.
    pub longest_record: usize,
}

impl Default for CsvOptions<'_> {
    fn default() -> Self {
        Self {
            column: InputColumn::Only,
            delimiter: b',',
            has_header: true,
            has_quotes: true,
            null: None,
            longest_record: LINE_BYTES_LIMIT,
        }
    }
}

/// Reads one column of a delimited text (RFC 4180 quoting) to its end. One thread reads;
/// the threads of `options` encode.
///
/// # Errors
/// [`ColumnError::Input`] for a line without the column or with more fields than the first, or a quote that is never closed, [`ColumnError::TooLong`] for a record,
/// [`ColumnError::NoSuchColumn`], and as [`Encoder::push`].
///
/// ```
/// use outcrop_column::{Column, InputColumn, CsvOptions, EncodeOptions, encode_csv};
/// let csv = "id,rock\n1,\"slate, grey\"\n2,chalk\n";
/// let csv_options = CsvOptions { column: InputColumn::Named("rock"), ..Default::default() };
/// let mut file = Vec::new();
/// encode_csv(csv.as_bytes(), &csv_options, EncodeOptions::default())?.finish(&mut file)?;
/// assert_eq!(Column::open_in(file)?.get(0)?.as_deref(), Some(&b"slate, grey"[..]));
/// # Ok::<(), outcrop_column::ColumnError>(())
/// ```
pub fn encode_csv(input: impl Read, csv: &CsvOptions<'_>, options: EncodeOptions) -> Result<Encoder> {
    let mut records = CsvRecords::within(input, csv.delimiter, csv.has_quotes, csv.longest_record);
    let mut record = csv::ByteRecord::new();
    let mut has_more = records.read(&mut record)?;
    let index = find_column(&record, csv)?;
    if csv.has_header && has_more {
        has_more = records.read(&mut record)?;
    }
    let mut encoder = Encoder::new(options);
    while has_more {
        let field = record.get(index).ok_or_else(|| ColumnError::Input {
            line: records.line_of(&record),
            detail: format!(
                "too few fields ({}) for column {index} (numbered from 0); is the delimiter right?",
                record.len()
            ),
        })?;
        if csv.null.is_some_and(|null| null.as_bytes() == field) {
            encoder.push_null()?;
        } else {
            encoder.push(field)?;
        }
        has_more = records.read(&mut record)?;
    }
    Ok(encoder)
}

/// Position of the column asked for. Where it is not there, the error names those that are.
fn find_column(first: &csv::ByteRecord, csv: &CsvOptions<'_>) -> Result<usize> {
    let count = first.len();
    let existing = || {
        let name = |(number, field): (usize, &[u8])| match csv.has_header {
            true => String::from_utf8_lossy(field).into_owned(),
            false => number.to_string(),
        };
        (0_usize..).zip(first).map(name).collect::<Vec<String>>()
    };
    let found = match csv.column {
        InputColumn::Numbered(index) if index < count || count == 0 => return Ok(index),
        InputColumn::Named(name) if csv.has_header => first.iter().position(|field| field == name.as_bytes()),
        InputColumn::Only if count <= 1 => Some(0),
        _ => None,
    };
    found.ok_or_else(|| ColumnError::NoSuchColumn {
        wanted: csv.column.wanted(),
        existing: existing(),
        delimiter: Some(char::from(csv.delimiter)),
    })
}

impl InputColumn<'_> {
    /// As errors say what was asked for; `None` where nothing was.
    pub(crate) fn wanted(&self) -> Option<String> {
        match self {
            Self::Named(name) => Some(format!("{name:?}")),
            Self::Numbered(number) => Some(format!("number {number} (from 0)")),
            Self::Only => None,
        }
    }
}
