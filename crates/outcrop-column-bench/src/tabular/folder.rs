//! A folder of tables: its columns are those of its tables, called `TABLE/COLUMN`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::delimited::ONLY_OF_TEXT;
use super::{Given, Table, TableColumn, TableFormat, is_table, table_error};
use crate::error::BenchError;

/// Stands between the name of a table and that of its column; no name of a file has it.
const SEPARATOR: char = '/';

/// Describes every table directly in the folder, in order of name. Those that cannot be
/// read are left out and reported. What somebody says of text tables is taken for every one that is delimited text.
pub(super) fn describe(folder: &Path, given: &Given) -> Result<Table, BenchError> {
    let mut found = Table {
        format: TableFormat::Folder,
        columns: Vec::new(),
        left_out: Vec::new(),
        tables: BTreeMap::new(),
        null: None,
    };
    for (name, path) in tables_in(folder)? {
        let table = match describe_table(&path, given) {
            Ok(table) => table,
            Err(error) => {
                found.left_out.push(error.to_string());
                continue;
            }
        };
        for column in &table.columns {
            found.columns.push(TableColumn {
                number: found.columns.len(),
                name: format!("{name}{SEPARATOR}{}", column.name),
                kind: column.kind,
                type_name: column.type_name.clone(),
                extent: column.extent,
            });
        }
        found.tables.insert(name, table);
    }
    if found.columns.is_empty() {
        let detail = match found.left_out.pop() {
            Some(error) => error,
            None => format!(
                "no table in this folder; expected files that end in .{}",
                super::ENDINGS.join(", .")
            ),
        };
        return Err(table_error(folder, detail));
    }
    let mut tables = found.tables.values();
    let has_text = tables.any(|table| matches!(table.format, TableFormat::Delimited { .. }));
    if *given != Given::default() && !has_text {
        let detail = format!("no table in this folder is delimited text; {ONLY_OF_TEXT}");
        return Err(table_error(folder, detail));
    }
    Ok(found)
}

/// A table of the folder, with what is said of those that are delimited text where it is one.
pub(super) fn describe_table(path: &Path, given: &Given) -> Result<Table, BenchError> {
    let as_found = Table::describe(path)?;
    let is_of_fields = given.delimiter.is_some() || given.has_header.is_some();
    match as_found.format {
        TableFormat::Delimited { .. } => Table::describe_as(path, given),
        TableFormat::Lines if is_of_fields => Table::describe_as(path, given),
        _ => Ok(as_found),
    }
}

/// Name and path of each file that is called as a table is. Names that are not UTF-8 cannot stand in a plan.
fn tables_in(folder: &Path) -> Result<Vec<(String, PathBuf)>, BenchError> {
    let failed = |source| BenchError::Path {
        path: folder.to_owned(),
        source,
    };
    let mut tables = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !is_table(&path) || !path.is_file() {
            continue;
        }
        if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            tables.push((name.to_owned(), path));
        }
    }
    tables.sort();
    Ok(tables)
}

/// The names of a column's table and of the column in it; both empty if that is not
/// the name of a folder's column.
fn parts(column: &str) -> (&str, &str) {
    column.split_once(SEPARATOR).unwrap_or_default()
}

/// The table that a column of the folder is in; the folder itself for a name of no column of it.
pub(super) fn table_of(folder: &Path, column: &str) -> PathBuf {
    folder.join(parts(column).0)
}

/// See [`super::column_name`].
pub(super) fn column_name(folder: &Path, given: &Given, called: &str) -> Result<Option<String>, BenchError> {
    let (table, name) = parts(called);
    let path = folder.join(table);
    if !is_table(&path) || !path.is_file() {
        // Perhaps a position among all columns.
        return Ok(describe(folder, given)?
            .column(called)
            .map(|column| column.name.clone()));
    }
    let found = describe_table(&path, given)?;
    Ok(found
        .columns
        .iter()
        .find(|column| column.name == name)
        .map(|_| called.to_owned()))
}

/// The name of a folder's column in its table.
pub(super) fn name_in_table(column: &str) -> &str {
    parts(column).1
}

/// The table of a folder that has a column, and the column in it.
pub(super) fn table_and_column<'t>(
    described: &'t Table,
    column: &TableColumn,
) -> Option<(&'t Table, &'t TableColumn)> {
    let (table, name) = parts(&column.name);
    let table = described.tables.get(table)?;
    let column = table.columns.iter().find(|column| column.name == name)?;
    Some((table, column))
}

/// The same with the path of the table.
pub(crate) fn inner<'t>(
    described: &'t Table,
    folder: &Path,
    column: &TableColumn,
) -> Result<(&'t Table, PathBuf, &'t TableColumn), BenchError> {
    let path = table_of(folder, &column.name);
    match table_and_column(described, column) {
        Some((table, column)) => Ok((table, path, column)),
        None => Err(table_error(
            &path,
            format!(
                "the column {:?} was not there when the folder was read",
                column.name
            ),
        )),
    }
}
