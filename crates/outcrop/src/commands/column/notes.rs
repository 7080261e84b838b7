//! What people learn of the values that were encoded, in addition to their size.

use super::input::Opened;
use super::layout::Layout;
use super::of_column;
use crate::output::note;
use outcrop_column::Column;
use outcrop_column_bench::tabular::{FileKind, TableColumn, ValueKind};
use outcrop_report::number::counted;
use std::path::Path;

/// Whether the input is CSV, where an empty field may mean an empty value or none, and no flag says which.
pub(super) fn may_mean_null(layout: &Layout, null: Option<&str>) -> bool {
    matches!(layout.kind, FileKind::Delimited | FileKind::TabSeparated) && null.is_none()
}

/// People learn what was made of empty fields.
pub(super) fn say_empty_fields(column: &TableColumn, empty: u64) {
    if empty > 0 {
        let (fields, are) = (
            counted(empty as usize, "empty field"),
            if empty == 1 { "is" } else { "are" },
        );
        let name = &column.name;
        note(&format!(
            "note: {name}: {fields} {are} encoded as empty text; --null '' makes them null"
        ));
    }
}

/// A file does not remember which text meant null: rows that are appended without it have none.
pub(super) fn say_no_marker(file: &Path, nulls_before: u64) {
    if nulls_before > 0 {
        note(&format!(
            "note: {} already had {}, but no appended row is null, because --null was not given; a text that means null has to be given each time, as \
             in --null NA",
            file.display(),
            counted(nulls_before as usize, "null")
        ));
    }
}

/// People learn what lines have in addition to their words, since they see neither.
pub(super) fn say_marks(opened: &Opened) {
    if opened.first().starts_with(b"\xef\xbb\xbf") {
        note("note: the first value begins with a UTF-8 byte order mark, as the file does");
    }
    let count = opened.returns_count();
    if count > 0 {
        let (lines, end, values) = match count {
            1 => ("1 line".to_owned(), "ends", "its value"),
            _ => (counted(count as usize, "line"), "end", "their values"),
        };
        note(&format!(
            "note: {lines} {end} in a carriage return, which is a part of {values}; `tr -d '\\r'` removes it"
        ));
    }
}

/// Rows of a file whose value is empty.
pub(super) fn empty_values(file: &Path) -> anyhow::Result<u64> {
    let column = Column::open_on_disk(file).map_err(of_column)?;
    let found = column.find(b"").and_then(|found| found.count());
    found.map_err(of_column)
}

/// Values that are not strings are encoded as their text forms, and whoever searches must know them.
pub(super) fn say_text_form(column: &TableColumn) {
    if let Some(type_name) = &column.type_name
        && column.kind != ValueKind::Strings
        && column.kind.has_text_form()
    {
        note(&format!(
            "{}: values of type {type_name} are encoded as text",
            column.name
        ));
    }
}
