//! How an input holds its columns, as flags say or as its beginning shows, and which of them are meant.

use super::flags::Input;
use super::input::{Opened, kind_given};
use super::of_column;
use crate::exit::bad_input;
use crate::output::note;
use anyhow::Context as _;
use outcrop_column::ColumnError;
use outcrop_column::arrow::{arrow_fields, parquet_fields};
use outcrop_column_bench::tabular::{Extent, FileKind, Table, TableColumn, TableFormat, ValueKind};
use std::path::Path;

/// How an input holds its columns.
pub(super) struct Layout {
    pub(super) kind: FileKind,
    pub(super) delimiter: u8,
    pub(super) has_header: bool,
    pub(super) has_quotes: bool,
    columns: Vec<TableColumn>,
}

/// The input and its layout. What must be read more than once, or from its end, is a file from here on.
pub(super) fn open_input(input: &Input) -> anyhow::Result<(Opened, Layout)> {
    let mut opened = Opened::of(&input.input)?;
    if let Some(compression) = opened.compression {
        let shown = input.input.display();
        note(&format!("{shown}: {compression}, decompressed on reading"));
    }
    let is_read_again = input.all_columns || input.column.len() > 1;
    if is_read_again || kind_of(&opened, input)? == FileKind::Parquet {
        opened = opened.into_file()?;
    }
    let layout = Layout::of(&opened, input)?;
    Ok((opened, layout))
}

/// The kind that the flags name; else what the first bytes and the name say.
fn kind_of(opened: &Opened, input: &Input) -> anyhow::Result<FileKind> {
    let name = Some(input.input.as_path()).filter(|name| *name != Path::new("-"));
    let refused = |detail: String| bad_input(anyhow::anyhow!("{}: {detail}", input.input.display()));
    if let Some(given) = kind_given(input) {
        return Ok(given);
    }
    let asks_for_columns = !input.column.is_empty() || input.all_columns;
    match FileKind::of(name, opened.first()).map_err(refused)? {
        FileKind::Lines if asks_for_columns || input.table.say_fields() => Ok(FileKind::Delimited),
        kind => Ok(kind),
    }
}

/// Refuses flags that say how CSV is read, for an input that has no fields of text.
fn refuse_flags_of_csv(input: &Input, kind: FileKind) -> anyhow::Result<()> {
    let what = match kind {
        FileKind::Delimited | FileKind::TabSeparated => return Ok(()),
        FileKind::Parquet => "this is a Parquet file",
        FileKind::Arrow => "this is an Arrow file",
        FileKind::Lines => "this is read as lines of text (--input-format csv reads fields)",
    };
    match input.table.first() {
        Some(flag) => Err(bad_input(anyhow::anyhow!(
            "{}: {flag} applies to CSV only, and {what}; leave it out",
            input.input.display()
        ))),
        None => Ok(()),
    }
}

impl Layout {
    /// Looks at the beginning of the input, and says on stderr what it assumed.
    pub(super) fn of(opened: &Opened, input: &Input) -> anyhow::Result<Self> {
        let kind = kind_of(opened, input)?;
        refuse_flags_of_csv(input, kind)?;
        let given = input.table.given()?;
        let shown = input.input.display();
        let refused = |detail: String| bad_input(anyhow::anyhow!("{shown}: {detail}"));
        if matches!(kind, FileKind::Parquet | FileKind::Arrow) {
            return Self::of_foreign(opened, kind).map_err(|error| super::about(&input.input, "read", error));
        }
        let is_found = given.delimiter.is_none() || given.has_header.is_none();
        let table = Table::describe_text(kind, opened.first(), given).map_err(refused)?;
        if is_found {
            let assumed = table.assumed().map(|assumed| {
                format!("{shown}: {assumed} (--delimiter, --header and --no-header override this)")
            });
            assumed.iter().for_each(|assumed| note(assumed));
        }
        let (delimiter, has_header, has_quotes) = match table.format {
            TableFormat::Delimited {
                delimiter,
                has_header,
                has_quotes,
            } => (delimiter, has_header, has_quotes),
            _ => (b',', false, false),
        };
        Ok(Self {
            kind,
            delimiter,
            has_header,
            has_quotes,
            columns: table.columns,
        })
    }

    fn of_foreign(opened: &Opened, kind: FileKind) -> anyhow::Result<Self> {
        let fields = if kind == FileKind::Arrow {
            arrow_fields(opened.first())
        } else {
            parquet_fields(
                opened
                    .file()
                    .context("Parquet needs a seekable file: it is read from its end")?,
            )
        };
        let fields = fields.map_err(of_column)?.into_iter().enumerate();
        let columns = fields.map(|(number, field)| TableColumn {
            number,
            name: field.name,
            kind: field.kind,
            type_name: Some(field.type_name),
            extent: Extent::default(),
        });
        Ok(Self {
            kind,
            delimiter: b',',
            has_header: false,
            has_quotes: false,
            columns: columns.collect(),
        })
    }

    /// How many columns the input has.
    pub(super) fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// What the input calls column `number`; `None` where it has no names.
    pub(super) fn name_of(&self, number: usize) -> Option<&str> {
        let has_names = self.has_header || matches!(self.kind, FileKind::Parquet | FileKind::Arrow);
        let column = self.columns.get(number).filter(|_| has_names)?;
        Some(&column.name)
    }

    /// The columns that are meant, in the order in which they were named.
    pub(super) fn chosen(&self, input: &Input) -> anyhow::Result<Vec<&TableColumn>> {
        if input.all_columns {
            let (taken, rest): (Vec<_>, Vec<_>) = self
                .columns
                .iter()
                .partition(|column| column.kind.has_text_form());
            for column in rest {
                let type_name = column.type_name.as_deref().unwrap_or_default();
                note(&format!(
                    "left out: {} holds {type_name}, which has no text form here",
                    column.name
                ));
            }
            return Ok(taken);
        }
        if !input.column.is_empty() {
            return input.column.iter().map(|called| self.column(called)).collect();
        }
        let only = |wanted: &dyn Fn(ValueKind) -> bool| {
            let mut found = self.columns.iter().filter(|column| wanted(column.kind));
            found.next().filter(|_| found.next().is_none())
        };
        let is_typed = matches!(self.kind, FileKind::Parquet | FileKind::Arrow);
        let found = only(&|_| true).or_else(|| only(&|kind| is_typed && kind == ValueKind::Strings));
        found
            .map(|column| vec![column])
            .ok_or_else(|| self.no_such_column(None))
    }

    /// Refuses columns that cannot be encoded.
    pub(super) fn check_text_forms(&self, columns: &[&TableColumn]) -> Result<(), ColumnError> {
        let Some(column) = columns.iter().find(|column| !column.kind.has_text_form()) else {
            return Ok(());
        };
        let others = self.columns.iter().filter(|column| column.kind.has_text_form());
        Err(ColumnError::NotStrings {
            name: column.name.clone(),
            seen: column.type_name.clone().unwrap_or_default(),
            strings: others.map(|column| column.name.clone()).collect(),
        })
    }

    /// Those that are asked for and have no text form; with all columns, those that are left out.
    pub(super) fn without_text_form(&self, input: &Input) -> Vec<&TableColumn> {
        let is_asked = |column: &&TableColumn| {
            let is_called = |called: &String| *called == column.name || *called == column.number.to_string();
            input.all_columns || input.column.iter().any(is_called)
        };
        let without = self.columns.iter().filter(|column| !column.kind.has_text_form());
        without.filter(is_asked).collect()
    }

    fn column(&self, called: &str) -> anyhow::Result<&TableColumn> {
        let mut named = self.columns.iter().filter(|column| column.name == called);
        let by_name = named.next();
        if let (Some(first), Some(second)) = (by_name, named.next()) {
            return Err(bad_input(anyhow::anyhow!(
                "several columns are called {called:?}; give the number of one, such as {} or {} (from 0)",
                first.number,
                second.number
            )));
        }
        let found = by_name.or_else(|| self.columns.get(called.parse::<usize>().ok()?));
        found.ok_or_else(|| match called {
            "all" | "*" => bad_input(anyhow::anyhow!(
                "there is no column {called:?}; --all-columns takes all of them"
            )),
            _ => self.no_such_column(Some(called)),
        })
    }

    fn no_such_column(&self, called: Option<&str>) -> anyhow::Error {
        let is_text = matches!(self.kind, FileKind::Delimited | FileKind::TabSeparated);
        of_column(ColumnError::NoSuchColumn {
            wanted: called.map(|called| format!("{called:?}")),
            existing: self.columns.iter().map(|column| column.name.clone()).collect(),
            delimiter: is_text.then_some(char::from(self.delimiter)),
        })
    }
}
