//! What tells the cells of this layer apart: whose rows, and what was done with them.

use std::collections::BTreeMap;

use outcrop_measure::units::format_count;
use outcrop_schema::column::{
    COLUMN, DISTINCT, FORMAT, Format, INDEX, Index, KERNELS, Kernels, OPERATION, ORDER, PROFILE, Profile,
    ROWS, SCHEMA, SEARCH_MODE, SKEW, TABLE_ROWS, WITHOUT, Without,
};
use outcrop_schema::{About, Role};
use outcrop_workload::column::{Operation, RowOrder, SearchMode};

use crate::cell::Cell;

/// Whether the rows were made for the run.
pub(super) fn is_generated(cell: &Cell<'_>) -> bool {
    cell.factors().has(&DISTINCT)
}

/// Whether nothing was held back: no technique left out, and the widest kernels. Runs made before there was a choice do not say.
pub(super) fn is_unlimited(cell: &Cell<'_>) -> bool {
    let has_all = cell
        .get(&WITHOUT)
        .is_none_or(|without| *without == Without::Nothing);
    has_all
        && cell
            .get(&KERNELS)
            .is_none_or(|kernels| *kernels == Kernels::Widest)
}

/// Whether rows were encoded to a column file, by all techniques and the widest kernels.
pub(super) fn is_file(cell: &Cell<'_>) -> bool {
    cell.is(&OPERATION, &Operation::Encode) && cell.is(&FORMAT, &Format::Ocol) && is_unlimited(cell)
}

/// Whether newline text as it is stands for a column.
pub(super) fn is_plain_text(cell: &Cell<'_>) -> bool {
    matches!(cell.get(&FORMAT), Some(Format::Text(codec)) if codec.to_string() == "none")
}

/// Whether rows were encoded to a column file without an index.
pub(super) fn is_plain_file(cell: &Cell<'_>) -> bool {
    is_file(cell) && cell.is(&INDEX, &Index::None)
}

/// Whether rows were encoded to a column file without an index, by the profile between size and time.
pub(super) fn is_balanced_file(cell: &Cell<'_>) -> bool {
    is_plain_file(cell) && cell.is(&PROFILE, &Profile::Balanced)
}

/// Whether rows were searched in this way, in a file with one of these indexes, by all techniques and the widest kernels.
pub(super) fn is_search(cell: &Cell<'_>, operation: Operation, mode: SearchMode, indexes: &[Index]) -> bool {
    is_unlimited(cell) && searches(cell, operation, mode, indexes)
}

/// The same, whatever was held back.
pub(super) fn searches(cell: &Cell<'_>, operation: Operation, mode: SearchMode, indexes: &[Index]) -> bool {
    let has_index = indexes.iter().any(|index| cell.is(&INDEX, index));
    has_index && cell.is(&OPERATION, &operation) && cell.is(&SEARCH_MODE, &mode)
}

/// What tells its column from the others of the run: the subject, and the factors that describe data.
pub(super) fn column_key<'c>(cell: &'c Cell<'_>) -> (&'c str, Vec<&'c str>) {
    let of_data = SCHEMA.workload.iter().filter(|factor| factor.role == Role::Data);
    let factors = of_data.map(|factor| cell.spelling(factor.about()));
    (cell.subject(), factors.collect())
}

/// A column in words, and its cells.
pub(super) type Column<'c> = (String, Vec<&'c Cell<'c>>);

/// The columns of some cells, in words that differ.
pub(super) fn columns<'c>(cells: impl IntoIterator<Item = &'c Cell<'c>>) -> Vec<Column<'c>> {
    let mut columns: BTreeMap<_, Vec<&Cell<'_>>> = BTreeMap::new();
    for cell in cells {
        columns.entry(column_key(cell)).or_default().push(cell);
    }
    let names: Vec<String> = columns.values().map(|cells| column_words(cells[0])).collect();
    let in_words = |cells: Vec<&'c Cell<'c>>| {
        let (cell, mut words) = (cells[0], column_words(cells[0]));
        if names.iter().filter(|name| **name == words).count() > 1 {
            words += &format!(" ({}, rows: {})", cell.subject(), cell.spelling(&ROWS));
        }
        (words, cells)
    };
    columns.into_values().map(in_words).collect()
}

/// The column in words: its name, or `1 M rows, 10 k words, skew 1.2, sorted`.
pub(super) fn column_words(cell: &Cell<'_>) -> String {
    if !is_generated(cell) {
        return cell.spelling(&COLUMN).to_owned();
    }
    let order = match cell.get(&ORDER) {
        None | Some(RowOrder::Random) => String::new(),
        Some(order) => format!(", {order}"),
    };
    let (rows, distinct) = (count_of(cell, &ROWS), count_of(cell, &DISTINCT));
    let skew = cell.spelling(&SKEW);
    format!("{rows} rows, {distinct} words, skew {skew}{order}")
}

/// The rows that were worked on: of a table that has fewer than were asked for, all. None where all were asked for and the table does not
/// say how many it has.
pub(super) fn rows_taken(cell: &Cell<'_>) -> Option<f64> {
    match (cell.place(&ROWS), cell.value(&TABLE_ROWS)) {
        (Some(asked), Some(all)) => Some(asked.min(all)),
        (asked, all) => asked.or(all),
    }
}

/// A factor that counts, as people read it.
pub(super) fn count_of(cell: &Cell<'_>, factor: &About) -> String {
    cell.place(factor).map_or_else(|| "?".to_owned(), format_count)
}
