//! Columns of a user's file, or of all tables in a folder: which it has, which of them hold strings, and
//! their rows. Files are only read.

mod delimited;
mod folder;
mod foreign;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::BenchError;
use crate::input::ColumnInput;

fn open(path: &Path) -> Result<File, BenchError> {
    File::open(path).map_err(|source| BenchError::Path {
        path: path.to_owned(),
        source,
    })
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

/// One column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Position, from 0.
    pub number: usize,
    /// Its name; the position as `column 3`, from 0, where the file has no names.
    pub name: String,
    /// Whether it holds strings: not every value looked at reads as a number.
    pub is_string: bool,
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
}

/// The endings of file names that are taken for tables.
pub const ENDINGS: [&str; 9] = [
    "csv", "tsv", "txt", "text", "parquet", "arrow", "arrows", "feather", "ipc",
];

/// Whether a file's name says that it is a table of a kind that [`Table::describe`] takes.
pub fn is_table(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

impl Table {
    /// Looks at the beginning of a file: delimiter, names, and which columns hold strings.
    ///
    /// The ending of the name decides between lines (`.txt`, `.text`), fields (`.csv`, `.tsv`), Parquet and
    /// Arrow IPC; of a folder, every table in it is looked at. *Cost*: one megabyte read a table; the footer,
    /// or the schema, of those that have one.
    ///
    /// # Errors
    /// [`BenchError::Path`], and [`BenchError::Table`] for what is no such file.
    pub fn describe(path: &Path) -> Result<Self, BenchError> {
        if path.is_dir() {
            return folder::describe(path);
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("txt" | "text") => Ok(Self::of_file(
                TableFormat::Lines,
                vec![TableColumn {
                    number: 0,
                    name: "lines".to_owned(),
                    is_string: true,
                }],
            )),
            Some("csv") => delimited::describe(path, None),
            Some("tsv") => delimited::describe(path, Some(b'\t')),
            Some("parquet") => foreign::describe(path, TableFormat::Parquet),
            Some("arrow" | "arrows" | "feather" | "ipc") => foreign::describe(path, TableFormat::Arrow),
            _ => Err(BenchError::Table {
                path: path.to_owned(),
                detail: format!(
                    "not the name of a table; expected one that ends in .{}",
                    ENDINGS.join(", .")
                ),
            }),
        }
    }

    fn of_file(format: TableFormat, columns: Vec<TableColumn>) -> Self {
        Self {
            format,
            columns,
            left_out: Vec::new(),
            tables: BTreeMap::new(),
        }
    }

    /// The columns that hold strings.
    pub fn string_columns(&self) -> impl Iterator<Item = &TableColumn> {
        self.columns.iter().filter(|column| column.is_string)
    }

    /// The column of a name, or of a position from 0.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        let by_name = self.columns.iter().find(|column| column.name == name);
        by_name.or_else(|| self.columns.get(name.parse::<usize>().ok()?))
    }

    /// The first `row_limit` rows of a column of the table at `path`, which this describes.
    ///
    /// # Errors
    /// [`BenchError::Path`], and [`BenchError::Table`] for a row without the column.
    pub fn load(&self, path: &Path, column: &TableColumn, row_limit: u64) -> Result<ColumnInput, BenchError> {
        match self.format {
            TableFormat::Delimited {
                delimiter,
                has_header,
            } => delimited::load(path, delimiter, has_header, column.number, row_limit),
            TableFormat::Lines => delimited::load_lines(path, row_limit),
            TableFormat::Parquet => foreign::load_parquet(path, column, row_limit),
            TableFormat::Arrow => foreign::load_arrow(path, column, row_limit),
            TableFormat::Folder => folder::load(self, path, column, row_limit),
        }
    }
}

/// Name of the column that a plan calls by its name or its position from 0; `None` where there is none. In a
/// folder, only the table that has it is looked at.
///
/// # Errors
/// As [`Table::describe`].
pub fn column_name(path: &Path, called: &str) -> Result<Option<String>, BenchError> {
    if path.is_dir() {
        return folder::column_name(path, called);
    }
    let table = Table::describe(path)?;
    Ok(table.column(called).map(|column| column.name.clone()))
}

/// The file that holds a column: `path`, or in a folder the table that the column's name begins with.
pub fn file_of(path: &Path, column: &str) -> PathBuf {
    if path.is_dir() {
        folder::table_of(path, column)
    } else {
        path.to_owned()
    }
}
