//! Columns of a user's file, or of all tables in a folder: which it has, which of them hold strings, and
//! their rows. Files are only read.

mod delimited;
mod described;
pub(crate) mod folder;
pub(crate) mod foreign;
mod kind;
pub(crate) mod parts;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub use delimited::Given;
pub use kind::{FileKind, SAMPLE_BYTES};
pub use outcrop_column::arrow::{TextType, ValueKind};

use outcrop_input::{Compression, Input, InputError};

use crate::error::BenchError;

pub(crate) fn open_file(path: &Path) -> Result<File, BenchError> {
    outcrop_probe::user_file::open(path).map_err(|source| of_path(path, source))
}

/// The content of a file, decompressed where it is compressed.
fn open(path: &Path) -> Result<Input<File>, BenchError> {
    let name = path.display().to_string();
    Input::open(name, open_file(path)?).map_err(|source| of_path(path, source))
}

/// How a file is compressed as a whole.
pub(crate) fn compression_of(path: &Path) -> Result<Option<Compression>, BenchError> {
    Ok(open(path)?.compression())
}

/// Damaged compressed data say themselves which file they are in.
fn of_path(path: &Path, source: std::io::Error) -> BenchError {
    if source
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<InputError>)
    {
        return table_error(path, source.to_string());
    }
    BenchError::Path {
        path: path.to_owned(),
        source,
    }
}

fn table_error(path: &Path, detail: impl Into<String>) -> BenchError {
    BenchError::Table {
        path: path.to_owned(),
        detail: detail.into(),
    }
}

/// How a file holds its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Fields between delimiters, quoted as RFC 4180 says.
    Delimited {
        /// What stands between fields.
        delimiter: u8,
        /// Whether the first line names the columns.
        has_header: bool,
        /// Whether fields may stand in quotation marks.
        has_quotes: bool,
    },
    /// Lines, each a value: one column.
    Lines,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, a file or a stream.
    Arrow,
    /// Tables of any of these formats, in one folder.
    Folder,
}

impl TableFormat {
    /// Whether the file itself names its columns.
    pub fn has_names(self) -> bool {
        match self {
            Self::Delimited { has_header, .. } => has_header,
            Self::Parquet | Self::Arrow => true,
            Self::Lines | Self::Folder => false,
        }
    }
}

/// One column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Position, from 0.
    pub number: usize,
    /// Its name; the position as `column 3`, from 0, where the file has no names.
    pub name: String,
    /// What it holds; in text, what every value looked at reads as.
    pub kind: ValueKind,
    /// Its type in a file that has types.
    pub type_name: Option<String>,
    /// How much of it there is.
    pub extent: Extent,
}

/// How much of a column there is, roughly: what can be said without reading the whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Extent {
    /// Rows.
    pub row_count: u64,
    /// Its values as newline text.
    pub text_bytes: u64,
    /// Its share of the file; exact where the file is Parquet.
    pub file_bytes: u64,
    /// What is left of the text where each value stands once: most of the work of encoding.
    pub distinct_bytes: u64,
    /// What must be read for it: all of a text file, its own chunks of Parquet.
    pub read_bytes: u64,
}

impl Extent {
    /// As many times as much.
    fn times(self, factor: f64) -> Self {
        let scaled = |count: u64| (count as f64 * factor) as u64;
        Self {
            row_count: scaled(self.row_count),
            text_bytes: scaled(self.text_bytes),
            file_bytes: scaled(self.file_bytes),
            distinct_bytes: scaled(self.distinct_bytes),
            read_bytes: scaled(self.read_bytes),
        }
    }
}

impl TableColumn {
    /// Whether a profile judges it. Numbers of a text file are not judged: Parquet would store them as numbers, so
    /// that their text says little of what the file could be.
    pub const fn is_judged(&self) -> bool {
        match self.kind {
            ValueKind::Strings | ValueKind::Dates => true,
            ValueKind::Numbers | ValueKind::Booleans => self.type_name.is_some(),
            ValueKind::Other => false,
        }
    }

    /// What Parquet has the values of a text file as, where that is to be said: the type that all of them have, or text where they look
    /// like numbers or dates that no type keeps as they are.
    pub const fn parquet_type(&self, found: Option<TextType>) -> Option<&'static str> {
        match (found, self.kind) {
            (Some(text_type), _) => Some(text_type.name()),
            (None, ValueKind::Numbers | ValueKind::Dates) => Some("text"),
            (None, _) => None,
        }
    }
}

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// How it holds its columns.
    pub format: TableFormat,
    /// Its columns in order; those of a folder are called `TABLE/COLUMN`.
    pub columns: Vec<TableColumn>,
    /// Why tables of a folder are not among them.
    pub left_out: Vec<String>,
    /// Those of a folder that are, by name.
    tables: BTreeMap<String, Table>,
    /// The text of a field that is null; a text file has no nulls of its own.
    null: Option<String>,
}

/// How many times as large as a compressed text file its text is assumed to be.
const ASSUMED_RATIO: u64 = 6;

/// The endings of file names that say that a file is a table.
pub const ENDINGS: [&str; 10] = [
    "csv", "tsv", "psv", "txt", "text", "parquet", "arrow", "arrows", "feather", "ipc",
];

/// Whether a file's name says that it is a table, compressed or not.
pub fn is_table(path: &Path) -> bool {
    let ending = kind::without_compression(path).extension();
    ending
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

impl Table {
    /// Looks at the beginning of a file: what it is, delimiter, names, and what its columns hold.
    ///
    /// [`FileKind::of`] says which files are taken; of a folder, every file whose name ends as a table's is
    /// looked at. *Cost*: one megabyte read a table, the first time and when the file has changed; the footer, or the schema, of those that
    /// have one.
    ///
    /// # Errors
    /// [`BenchError::Path`], and [`BenchError::Table`] for what is no such file.
    pub fn describe(path: &Path) -> Result<Self, BenchError> {
        Self::describe_as(path, &Given::default())
    }

    /// The same of a text table, or a folder with some, that somebody says something about.
    ///
    /// # Errors
    /// As [`Table::describe`], and [`BenchError::Table`] where there is no delimited text.
    pub fn describe_as(path: &Path, given: &Given) -> Result<Self, BenchError> {
        if path.is_dir() {
            return folder::describe(path, given);
        }
        described::once(path, given, Self::look_at)
    }

    /// See [`Table::describe`].
    fn look_at(path: &Path, given: &Given) -> Result<Self, BenchError> {
        let mut sample = Vec::new();
        let mut input = open(path)?;
        let read = input.by_ref().take(SAMPLE_BYTES).read_to_end(&mut sample);
        read.map_err(|source| of_path(path, source))?;
        let kind = FileKind::of(Some(path), &sample).and_then(|kind| given.kind_of(kind));
        let kind = kind.map_err(|detail| table_error(path, detail))?;
        match kind {
            FileKind::Parquet if input.compression().is_some() => Err(table_error(
                path,
                "a compressed Parquet file; Parquet is read from its end, so decompress it first",
            )),
            FileKind::Parquet => foreign::describe(path, TableFormat::Parquet),
            FileKind::Arrow => foreign::describe(path, TableFormat::Arrow),
            text => {
                let table = Self::describe_text(text, &sample, given.clone());
                let mut table = table.map_err(|detail| table_error(path, detail))?;
                let file_bytes = open_file(path)?.metadata().map_or(0, |file| file.len());
                table.scale(sample.len() as u64, file_bytes, input.compression().is_some());
                Ok(table)
            }
        }
    }

    /// Looks at a text of a kind that is known. `sample` is all of it, or its first [`SAMPLE_BYTES`] bytes.
    ///
    /// # Errors
    /// What was seen and what is expected.
    pub fn describe_text(kind: FileKind, sample: &[u8], mut given: Given) -> Result<Self, String> {
        match kind {
            FileKind::Lines => Ok(Self::of_file(
                TableFormat::Lines,
                vec![TableColumn {
                    number: 0,
                    name: "lines".to_owned(),
                    kind: ValueKind::Strings,
                    type_name: None,
                    extent: Extent {
                        row_count: memchr::memchr_iter(b'\n', sample).count() as u64,
                        text_bytes: sample.len() as u64,
                        file_bytes: sample.len() as u64,
                        distinct_bytes: sample.len() as u64,
                        read_bytes: sample.len() as u64,
                    },
                }],
            )),
            FileKind::TabSeparated => {
                given.delimiter = given.delimiter.or(Some(b'\t'));
                delimited::describe(sample, &given)
            }
            _ => delimited::describe(sample, &given),
        }
    }

    /// Takes what a sample of a text file shows for the whole file.
    fn scale(&mut self, sample_bytes: u64, file_bytes: u64, is_compressed: bool) {
        if sample_bytes < SAMPLE_BYTES {
            // The sample is all of it.
            return;
        }
        let text_bytes = if is_compressed {
            file_bytes.saturating_mul(ASSUMED_RATIO)
        } else {
            file_bytes
        };
        let factor = text_bytes as f64 / sample_bytes as f64;
        for column in &mut self.columns {
            column.extent = column.extent.times(factor.max(1.0));
        }
    }

    /// What was found in a text table and not said by anybody: `delimiter '|', no header, 9 columns`.
    pub fn assumed(&self) -> Option<String> {
        let TableFormat::Delimited {
            delimiter,
            has_header,
            ..
        } = self.format
        else {
            return None;
        };
        let delimiter = match delimiter {
            b'\t' => "tab".to_owned(),
            other => format!("{:?}", char::from(other)),
        };
        let header = if has_header { "a header" } else { "no header" };
        let columns = match self.columns.len() {
            1 => "1 column".to_owned(),
            count => format!("{count} columns"),
        };
        Some(format!("delimiter {delimiter}, {header}, {columns}"))
    }

    fn of_file(format: TableFormat, columns: Vec<TableColumn>) -> Self {
        Self {
            format,
            columns,
            left_out: Vec::new(),
            tables: BTreeMap::new(),
            null: None,
        }
    }

    /// The columns that a profile judges.
    pub fn judged_columns(&self) -> impl Iterator<Item = &TableColumn> {
        self.columns.iter().filter(|column| column.is_judged())
    }

    /// What the text of this many nulls takes in the file.
    pub(crate) fn null_bytes(&self, null_count: u64) -> u64 {
        let text_bytes = self.null.as_ref().map_or(0, String::len) as u64;
        null_count.saturating_mul(text_bytes)
    }

    /// Rows of the table where it says so without being read.
    pub fn row_count(&self, column: &TableColumn) -> Option<u64> {
        match self.format {
            TableFormat::Parquet => Some(column.extent.row_count),
            TableFormat::Folder => {
                let (table, column) = folder::table_and_column(self, column)?;
                table.row_count(column)
            }
            _ => None,
        }
    }

    /// The others, each with what it holds: `mass (numbers)`, `price (Float64)`.
    pub fn other_columns(&self) -> Vec<String> {
        let others = self.columns.iter().filter(|column| !column.is_judged());
        let in_words = |column: &TableColumn| {
            let kind = column.type_name.as_deref().unwrap_or(column.kind.name());
            format!("{} ({kind})", column.name)
        };
        others.map(in_words).collect()
    }

    /// Bytes that those others take in the file, and which part of all its columns; only Parquet says so.
    pub fn others_extent(&self) -> Option<(u64, f64)> {
        if self.format != TableFormat::Parquet {
            return None;
        }
        let bytes = |is_counted: &dyn Fn(&TableColumn) -> bool| -> u64 {
            let counted = self.columns.iter().filter(|&column| is_counted(column));
            counted.map(|column| column.extent.file_bytes).sum()
        };
        let (others, all) = (bytes(&|column| !column.is_judged()), bytes(&|_| true));
        (others > 0).then(|| (others, others as f64 / all as f64))
    }

    /// The column of a name, or of a position from 0.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        let by_name = self.columns.iter().find(|column| column.name == name);
        by_name.or_else(|| self.columns.get(name.parse::<usize>().ok()?))
    }
}

/// Name of the column that a plan calls by its name or its position from 0; `None` where there is none. In a
/// folder, only the table that has it is looked at.
///
/// # Errors
/// As [`Table::describe`].
pub fn column_name(path: &Path, given: &Given, called: &str) -> Result<Option<String>, BenchError> {
    if path.is_dir() {
        return folder::column_name(path, given, called);
    }
    let table = Table::describe_as(path, given)?;
    Ok(table.column(called).map(|column| column.name.clone()))
}

/// How much of a column there is, roughly; of a folder, only the table that has the column is looked at.
///
/// # Errors
/// As [`Table::describe`], and [`BenchError::Table`] where there is no such column.
pub fn extent_of(path: &Path, given: &Given, column: &str) -> Result<Extent, BenchError> {
    let file = file_of(path, column);
    let (name, table) = if path.is_dir() {
        (
            folder::name_in_table(column),
            folder::describe_table(&file, given)?,
        )
    } else {
        (column, Table::describe_as(&file, given)?)
    };
    let found = table.column(name).map(|column| column.extent);
    found.ok_or_else(|| table_error(&file, format!("no column {name:?}")))
}

/// The file that holds a column: `path`, or in a folder the table that the column's name begins with.
pub fn file_of(path: &Path, column: &str) -> PathBuf {
    if path.is_dir() {
        folder::table_of(path, column)
    } else {
        path.to_owned()
    }
}
