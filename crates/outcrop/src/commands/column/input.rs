//! What `encode` and `append` read: text, CSV, Parquet or Arrow IPC, from a file or from stdin.

use super::flags::{Input, InputFormat};
use super::layout::Layout;
use super::of_column;
use crate::exit::bad_input;
use crate::output::note;
use crate::work::LongWork;
use anyhow::Context as _;
use outcrop_column::arrow::{ArrowStrings, ParquetStrings};
use outcrop_column::{
    ColumnError, CsvOptions, EncodeOptions, Encoder, InputColumn, encode_csv, encode_text_within,
};
use outcrop_column_bench::tabular::{FileKind, SAMPLE_BYTES};
use outcrop_input::Compression;
use std::fs::File;
use std::io::{Cursor, Read, Seek as _};
use std::path::Path;

/// An input, opened, with its first bytes read ahead.
pub(super) struct Opened {
    first: Vec<u8>,
    rest: Rest,
    pub(super) compression: Option<Compression>,
    /// Of the file as it is, compressed or not; `None` for what comes through a pipe.
    pub(super) size_bytes: Option<u64>,
    /// Lines that end in a carriage return, once they have been read as lines.
    returns_count: u64,
}

enum Rest {
    /// A regular file, which can be read more than once.
    File(File),
    Stream(Box<dyn Read>),
}

impl Opened {
    pub(super) fn of(path: &Path) -> anyhow::Result<Self> {
        let opened = if path == Path::new("-") {
            outcrop_input::Input::open("stdin", std::io::stdin().lock())
                .and_then(|input| Self::stream(input, None))
        } else {
            Self::of_file(path)
        };
        opened.map_err(|error| super::about(path, "read", bad_input(error)))
    }

    fn of_file(path: &Path) -> std::io::Result<Self> {
        let mut file = outcrop_probe::user_file::open(path)?;
        let metadata = file.metadata()?;
        let size_bytes = metadata.is_file().then_some(metadata.len());
        let name = path.display().to_string();
        let input = outcrop_input::Input::open(name, file.try_clone()?)?;
        if input.compression().is_some() || !metadata.is_file() {
            return Self::stream(input, size_bytes);
        }
        file.rewind()?;
        let mut first = Vec::new();
        file.by_ref().take(SAMPLE_BYTES).read_to_end(&mut first)?;
        Ok(Self {
            first,
            rest: Rest::File(file),
            compression: None,
            size_bytes,
            returns_count: 0,
        })
    }

    /// What is inside a compressed input, or an input that is read once.
    fn stream<R: Read + 'static>(
        mut input: outcrop_input::Input<R>,
        size_bytes: Option<u64>,
    ) -> std::io::Result<Self> {
        let mut first = Vec::new();
        input.by_ref().take(SAMPLE_BYTES).read_to_end(&mut first)?;
        Ok(Self {
            first,
            compression: input.compression(),
            rest: Rest::Stream(Box::new(input)),
            size_bytes,
            returns_count: 0,
        })
    }

    /// Whether the input is itself a column file.
    pub(super) fn is_column(&self) -> bool {
        outcrop_column::is_column(&self.first)
    }

    /// The beginning: all of a small input.
    pub(super) fn first(&self) -> &[u8] {
        &self.first
    }

    /// Lines that end in a carriage return, as those of Windows do; 0 where none was read.
    pub(super) const fn returns_count(&self) -> u64 {
        self.returns_count
    }

    /// The input as a file that can be read more than once: what comes through a pipe is kept in a temporary file.
    pub(super) fn into_file(self) -> anyhow::Result<Self> {
        let Rest::Stream(rest) = self.rest else {
            return Ok(self);
        };
        note("note: the input is read more than once, so it is copied to a temporary file first");
        let mut file = tempfile::tempfile().context("cannot create a temporary file for the input")?;
        let mut all = Cursor::new(&self.first).chain(rest);
        let size_bytes =
            std::io::copy(&mut all, &mut file).map_err(|error| of_column(ColumnError::Io(error)))?;
        Ok(Self {
            first: self.first,
            rest: Rest::File(file),
            compression: self.compression,
            size_bytes: self.size_bytes.or(Some(size_bytes)),
            returns_count: self.returns_count,
        })
    }

    /// The file, to be read again; `None` where it is not a file.
    pub(super) fn file(&self) -> Option<&File> {
        match &self.rest {
            Rest::File(file) => Some(file),
            Rest::Stream(_) => None,
        }
    }

    /// Everything from the first byte on, counted. A file can be read again.
    fn bytes<'a>(&'a mut self, work: &'a LongWork) -> anyhow::Result<Box<dyn Read + 'a>> {
        Ok(match &mut self.rest {
            Rest::File(file) => {
                let total = file.metadata().map_or(0, |file| file.len());
                file.rewind().context("cannot read the input again")?;
                Box::new(work.counted("reading", total, file))
            }
            Rest::Stream(stream) => {
                let all = Cursor::new(&self.first).chain(stream);
                // How much there is is not known, of a compressed file either.
                Box::new(work.counted("reading", 0, all))
            }
        })
    }
}

/// Text of which the lines that end in a carriage return are counted.
struct Lines<R> {
    input: R,
    /// The last byte that was read.
    last: u8,
    returns_count: u64,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(buffer)?;
        let bytes = &buffer[..read];
        let Some((first, last)) = bytes.first().zip(bytes.last()) else {
            // The last line may have no newline.
            let is_end = !buffer.is_empty();
            self.returns_count += u64::from(is_end && std::mem::take(&mut self.last) == b'\r');
            return Ok(0);
        };
        self.returns_count += u64::from(self.last == b'\r' && *first == b'\n');
        let pairs = bytes.iter().zip(&bytes[1..]);
        self.returns_count += pairs
            .filter(|(one, next)| **one == b'\r' && **next == b'\n')
            .count() as u64;
        self.last = *last;
        Ok(read)
    }
}

/// Reads column `number` of the input to its end, with the name that it has there.
pub(super) fn read(
    opened: &mut Opened,
    (layout, number): (&Layout, usize),
    input: &Input,
    options: EncodeOptions,
    work: &LongWork,
) -> anyhow::Result<Encoder> {
    let mut encoder = read_rows(opened, (layout, number), input, options, work)?;
    if let Err(error) = encoder.set_name(layout.name_of(number).unwrap_or_default()) {
        note(&format!("note: {error}"));
    }
    Ok(encoder)
}

fn read_rows(
    opened: &mut Opened,
    (layout, number): (&Layout, usize),
    input: &Input,
    options: EncodeOptions,
    work: &LongWork,
) -> anyhow::Result<Encoder> {
    let (null, longest) = (input.table.null.as_deref(), input.longest_value());
    let column = InputColumn::Numbered(number);
    match layout.kind {
        FileKind::Lines => {
            let mut lines = Lines {
                input: opened.bytes(work)?,
                last: 0,
                returns_count: 0,
            };
            let encoder = encode_text_within(&mut lines, longest, options).map_err(of_column)?;
            let returns_count = lines.returns_count;
            drop(lines);
            opened.returns_count = returns_count;
            Ok(encoder)
        }
        FileKind::Delimited | FileKind::TabSeparated => {
            let csv = CsvOptions {
                column,
                delimiter: layout.delimiter,
                has_header: layout.has_header,
                has_quotes: layout.has_quotes,
                null,
                longest_record: longest,
            };
            encode_csv(opened.bytes(work)?, &csv, options).map_err(of_column)
        }
        FileKind::Arrow => {
            let mut encoder = Encoder::new(options);
            for array in ArrowStrings::open(opened.bytes(work)?, column).map_err(of_column)? {
                let pushed = array.and_then(|array| encoder.push_array(&array));
                pushed.map_err(of_column)?;
            }
            Ok(encoder)
        }
        FileKind::Parquet => {
            let mut encoder = Encoder::new(options);
            let file = opened
                .file()
                .context("Parquet needs a seekable file: it is read from its end")?;
            let arrays = ParquetStrings::open(file.try_clone()?, column).map_err(of_column)?;
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

/// The kind that the flags name, if they do.
pub(super) fn kind_given(input: &Input) -> Option<FileKind> {
    Some(match input.input_format? {
        InputFormat::Text => FileKind::Lines,
        InputFormat::Csv => FileKind::Delimited,
        InputFormat::Tsv => FileKind::TabSeparated,
        InputFormat::Parquet => FileKind::Parquet,
        InputFormat::Arrow => FileKind::Arrow,
    })
}
