//! One column of a CSV or TSV file as input.

use std::io::Read;

use super::encoder::Encoder;
use super::options::EncodeOptions;
use crate::error::{ColumnError, Result};

/// Which column of a delimited text to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvColumn<'a> {
    /// By its name in the header line.
    Named(&'a str),
    /// By its position, from 0.
    Numbered(usize),
}

/// How a delimited text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvOptions<'a> {
    /// The column.
    pub column: CsvColumn<'a>,
    /// The byte between fields, such as `b','`.
    pub delimiter: u8,
    /// Whether the first line names the columns. A column by name needs it.
    pub has_header: bool,
    /// A field that is exactly this is a null; `None`: there are no nulls, and an empty field is an empty value.
    pub null: Option<&'a str>,
}

impl Default for CsvOptions<'_> {
    fn default() -> Self {
        Self {
            column: CsvColumn::Numbered(0),
            delimiter: b',',
            has_header: true,
            null: None,
        }
    }
}

/// Reads one column of a delimited text (RFC 4180 quoting) to its end. One thread reads; the threads of `options` encode.
///
/// # Errors
/// [`ColumnError::Input`] for a column that is not there or a line without it, and as [`Encoder::push`].
///
/// ```
/// use outcrop_column::{Column, CsvColumn, CsvOptions, EncodeOptions, encode_csv};
/// let csv = "id,rock\n1,\"slate, grey\"\n2,chalk\n";
/// let csv_options = CsvOptions { column: CsvColumn::Named("rock"), ..Default::default() };
/// let mut file = Vec::new();
/// encode_csv(csv.as_bytes(), &csv_options, EncodeOptions::default())?.finish(&mut file)?;
/// assert_eq!(Column::open_in(file)?.get(0)?.as_deref(), Some(&b"slate, grey"[..]));
/// # Ok::<(), outcrop_column::ColumnError>(())
/// ```
pub fn encode_csv(input: impl Read, csv: &CsvOptions<'_>, options: EncodeOptions) -> Result<Encoder> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(csv.delimiter)
        .has_headers(csv.has_header)
        .flexible(true)
        .from_reader(input);
    let index = match csv.column {
        CsvColumn::Numbered(index) => index,
        CsvColumn::Named(name) => {
            let header = reader.byte_headers().map_err(of_csv)?;
            let names = || {
                header
                    .iter()
                    .map(String::from_utf8_lossy)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let found = if csv.has_header {
                header.iter().position(|field| field == name.as_bytes())
            } else {
                None
            };
            found.ok_or_else(|| ColumnError::Input {
                line: 1,
                detail: format!("no column is named {name:?}; there are {}", names()),
            })?
        }
    };
    let mut encoder = Encoder::new(options);
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(of_csv)? {
        let field = record.get(index).ok_or_else(|| ColumnError::Input {
            line: record.position().map_or(0, csv::Position::line),
            detail: format!(
                "{} fields, column {index} (from 0) is wanted; is the delimiter right?",
                record.len()
            ),
        })?;
        if csv.null.is_some_and(|null| null.as_bytes() == field) {
            encoder.push_null()?;
        } else {
            encoder.push(field)?;
        }
    }
    Ok(encoder)
}

fn of_csv(error: csv::Error) -> ColumnError {
    let line = error.position().map_or(0, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(source) => ColumnError::Io(source),
        kind => ColumnError::Input {
            line,
            detail: format!("{kind:?}"),
        },
    }
}
