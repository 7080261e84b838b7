//! What `encode` and `append` read: text, CSV, Parquet or Arrow IPC, from a file or from stdin.

use super::flags::{Input, InputFormat};
use super::of_column;
use crate::exit::bad_input;
use crate::output::note;
use crate::work::LongWork;
use anyhow::Context as _;
use outcrop_column::arrow::{ArrowStrings, ParquetStrings};
use outcrop_column::{CsvOptions, EncodeOptions, Encoder, InputColumn, encode_csv, encode_text};
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

/// Bytes that tell the formats apart.
const MAGIC_BYTES: u64 = 8;

/// An input, opened, with its first bytes read ahead.
pub(super) struct Opened {
    first: Vec<u8>,
    /// `None` is stdin.
    file: Option<File>,
    size_bytes: u64,
}

impl Opened {
    pub(super) fn of(path: &Path) -> anyhow::Result<Self> {
        let mut first = Vec::new();
        if path == Path::new("-") {
            std::io::stdin()
                .lock()
                .take(MAGIC_BYTES)
                .read_to_end(&mut first)?;
            return Ok(Self {
                first,
                file: None,
                size_bytes: 0,
            });
        }
        let mut open = || {
            let mut file = File::open(path)?;
            let size_bytes = file.metadata()?.len();
            file.by_ref().take(MAGIC_BYTES).read_to_end(&mut first)?;
            Ok((file, size_bytes))
        };
        let opened: std::io::Result<_> = open();
        let (file, size_bytes) = opened
            .with_context(|| format!("cannot read {}", path.display()))
            .map_err(bad_input)?;
        Ok(Self {
            first,
            file: Some(file),
            size_bytes,
        })
    }

    /// Whether the input is itself a column file.
    pub(super) fn is_column(&self) -> bool {
        outcrop_column::is_column(&self.first)
    }

    fn format(&self, input: &Input) -> InputFormat {
        if let Some(format) = input.input_format {
            return format;
        }
        let ending = input.input.extension().and_then(|ending| ending.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            _ if self.first.starts_with(b"PAR1") => InputFormat::Parquet,
            _ if self.first.starts_with(b"ARROW1") => InputFormat::Arrow,
            Some("parquet") => InputFormat::Parquet,
            Some("arrow" | "arrows" | "feather" | "ipc") => InputFormat::Arrow,
            Some("tsv") => InputFormat::Tsv,
            Some("csv") => InputFormat::Csv,
            _ if input.column.is_some() => InputFormat::Csv,
            _ => InputFormat::Text,
        }
    }

    /// Everything from the first byte on, counted.
    fn bytes<'a>(self, work: &'a LongWork) -> impl Read + 'a {
        let rest: Box<dyn Read> = match self.file {
            Some(file) => Box::new(file),
            None => Box::new(std::io::stdin().lock()),
        };
        work.counted("reading", self.size_bytes, Cursor::new(self.first).chain(rest))
    }
}

/// Reads the input to its end.
pub(super) fn read(
    opened: Opened,
    input: &Input,
    options: EncodeOptions,
    work: &LongWork,
) -> anyhow::Result<Encoder> {
    let column = input.column.as_deref().map_or(InputColumn::Only, |column| {
        column
            .parse()
            .map_or(InputColumn::Named(column), InputColumn::Numbered)
    });
    let format = opened.format(input);
    match format {
        InputFormat::Text => encode_text(opened.bytes(work), options).map_err(of_column),
        InputFormat::Csv | InputFormat::Tsv => {
            let csv = CsvOptions {
                column,
                delimiter: delimiter(input.delimiter.as_deref(), format)?,
                has_header: !input.no_header,
                has_quotes: !input.no_quotes,
                null: input.null.as_deref(),
            };
            encode_csv(opened.bytes(work), &csv, options).map_err(of_column)
        }
        InputFormat::Arrow => {
            let mut encoder = Encoder::new(options);
            for array in ArrowStrings::open(opened.bytes(work), column).map_err(of_column)? {
                let pushed = array.and_then(|array| encoder.push_array(&array));
                pushed.map_err(of_column)?;
            }
            Ok(encoder)
        }
        InputFormat::Parquet => {
            let mut encoder = Encoder::new(options);
            let arrays = ParquetStrings::open(seekable(opened)?, column).map_err(of_column)?;
            let row_count = arrays.row_count();
            for array in arrays {
                let pushed = array.and_then(|array| encoder.push_array(&array));
                pushed.map_err(of_column)?;
                work.advance("reading", encoder.row_count(), row_count);
            }
            Ok(encoder)
        }
    }
}

/// Parquet is read from its end: what comes through a pipe is kept in a temporary file first.
fn seekable(opened: Opened) -> anyhow::Result<File> {
    if let Some(file) = opened.file {
        return Ok(file);
    }
    note("note: Parquet is read from its end, so stdin goes to a temporary file first");
    let mut file = tempfile::tempfile().context("cannot make a temporary file for stdin")?;
    let mut all = Cursor::new(opened.first).chain(std::io::stdin().lock());
    std::io::copy(&mut all, &mut file).context("cannot keep stdin in a temporary file")?;
    Ok(file)
}

fn delimiter(wanted: Option<&str>, format: InputFormat) -> anyhow::Result<u8> {
    match wanted {
        None if format == InputFormat::Tsv => Ok(b'\t'),
        None => Ok(b','),
        Some("tab" | "\\t") => Ok(b'\t'),
        Some(one) if one.len() == 1 => Ok(one.as_bytes()[0]),
        Some(other) => Err(bad_input(anyhow::anyhow!(
            "delimiter {other:?}: one byte is expected, such as ',' or '|', or `tab`"
        ))),
    }
}
