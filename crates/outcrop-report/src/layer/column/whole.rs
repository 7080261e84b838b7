//! Whole columns: what each takes as a column file, in the user's file, and in Parquet with zstd.

use std::collections::BTreeSet;

use outcrop_schema::column::{
    COLUMN, COMPRESSED_FILE_BYTES, FILE_BYTES, OPERATION, PARQUET_AS, PARQUET_DEFAULT_BYTES,
    PARQUET_ENCODING, PARQUET_ZSTD_BYTES, PROFILE, Profile, ROW_COUNT, STORED_AS_TEXT, STORED_BYTES,
    STORED_FORM, TABLE_COLUMNS, TABLE_ROWS, TEXT_BYTES, TEXT_OF,
};
use outcrop_workload::column::Operation;

use super::cell::{columns, is_generated};
use super::total::TotalSizes;
use super::verdict::{ColumnSizes, OcolIndex};
use crate::cell::Cell;
use crate::number::Number;

/// What the smaller profile must save to be worth its time.
const WORTH_SMALLEST: f64 = 0.95;

/// A column whose whole size was taken.
pub(super) struct Whole<'c> {
    /// The cell of the profile that is recommended.
    pub(super) cell: &'c Cell<'c>,
    pub(super) ocol: &'c Number,
    pub(super) sizes: ColumnSizes,
    /// Whether the smaller profile was measured.
    pub(super) has_smallest: bool,
}

impl Whole<'_> {
    pub(super) fn stored(&self) -> Option<&Number> {
        self.cell.number(&STORED_BYTES)
    }

    pub(super) fn parquet(&self) -> Option<&Number> {
        self.cell.number(&PARQUET_ZSTD_BYTES)
    }

    /// Whether another cell is of the same column of the same table.
    pub(super) fn is_of_column(&self, other: &Cell<'_>) -> bool {
        self.cell.subject() == other.subject() && self.cell.spelling(&COLUMN) == other.spelling(&COLUMN)
    }
}

/// Whether the size of a whole column was taken.
pub(super) fn is_whole(cell: &Cell<'_>) -> bool {
    cell.is(&OPERATION, &Operation::Size)
}

/// Whether that column is one of a file.
pub(super) fn is_of_file(cell: &Cell<'_>) -> bool {
    is_whole(cell) && !is_generated(cell)
}

/// The columns of files whose whole sizes were taken, those that take most of their file first.
pub(super) fn wholes<'c>(cells: &'c [Cell<'c>]) -> Vec<Whole<'c>> {
    let taken = cells.iter().filter(|cell| is_of_file(cell));
    let mut wholes: Vec<Whole<'c>> = columns(taken).into_iter().filter_map(of_column).collect();
    wholes.sort_by(|left, right| right.sizes.base_bytes().total_cmp(&left.sizes.base_bytes()));
    wholes
}

fn of_column<'c>((name, cells): (String, Vec<&'c Cell<'c>>)) -> Option<Whole<'c>> {
    let of_profile = |profile: Profile| {
        let found = cells
            .iter()
            .copied()
            .find(move |cell| cell.is(&PROFILE, &profile))?;
        Some((found, found.number(&FILE_BYTES)?))
    };
    let balanced = of_profile(Profile::Balanced).or_else(|| {
        cells
            .iter()
            .find_map(|cell| Some((*cell, cell.number(&FILE_BYTES)?)))
    })?;
    let saves = |(_, small): &(_, &Number)| small.value < balanced.1.value * WORTH_SMALLEST;
    let (cell, ocol) = of_profile(Profile::Smallest).filter(saves).unwrap_or(balanced);
    let place = cell.remark(&STORED_FORM).unwrap_or("in this file").to_owned();
    let is_stored_in_parquet = cell.value(&STORED_BYTES).is_some() && place != STORED_AS_TEXT;
    let has_smallest = of_profile(Profile::Smallest).is_some();
    let sizes = ColumnSizes {
        name,
        ocol_bytes: ocol.value,
        // Whole columns are encoded without an index.
        ocol_index: OcolIndex::None,
        may_be_smaller: !has_smallest,
        text_bytes: cell.value(&TEXT_BYTES)?,
        stored: cell.value(&STORED_BYTES).map(|bytes| (bytes, place)),
        compressed_file_bytes: cell.value(&COMPRESSED_FILE_BYTES),
        is_stored_in_parquet,
        parquet_zstd_bytes: cell.value(&PARQUET_ZSTD_BYTES),
        parquet_usual_bytes: cell.value(&PARQUET_DEFAULT_BYTES),
        parquet_encoding: cell.remark(&PARQUET_ENCODING).map(str::to_owned),
        parquet_as: cell.remark(&PARQUET_AS).map(str::to_owned),
        row_count: cell.value(&ROW_COUNT)?,
        table_rows: cell.value(&TABLE_ROWS),
        text_of: cell.remark(&TEXT_OF).map(str::to_owned),
    };
    Some(Whole {
        cell,
        ocol,
        sizes,
        has_smallest,
    })
}

/// Where the user has the columns: a folder of tables is several files.
pub(super) fn in_file(wholes: &[Whole<'_>]) -> &'static str {
    let is_folder = |whole: &Whole<'_>| whole.cell.subject().starts_with("folder ");
    let is_one = wholes
        .windows(2)
        .all(|pair| pair[0].cell.subject() == pair[1].cell.subject());
    match wholes.iter().any(is_folder) || !is_one {
        true => "in these files",
        false => "in this file",
    }
}

/// What all of them take together; none of fewer than two.
pub(super) fn total_of(wholes: &[Whole<'_>]) -> Option<TotalSizes> {
    let sizes: Vec<&ColumnSizes> = wholes.iter().map(|whole| &whole.sizes).collect();
    let total = TotalSizes::of(&sizes)?.stored(in_file(wholes));
    let first = wholes.first()?.cell;
    let is_one_table = wholes.iter().all(|whole| whole.cell.subject() == first.subject());
    let count = first.value(&TABLE_COLUMNS).filter(|_| is_one_table);
    Some(match count {
        // A claim of their own names those that are left out.
        Some(count) => total.in_table(count as usize),
        // Runs made before the table's columns were counted do not say.
        None => total,
    })
}

/// The rows that the sizes of some columns are for, in words: one for all of them where that is so.
pub(super) fn rows_of(wholes: &[Whole<'_>]) -> Option<String> {
    let rows: BTreeSet<String> = wholes.iter().map(|whole| whole.sizes.rows_in_words()).collect();
    let parts = wholes.iter().filter(|whole| !whole.sizes.has_all_rows());
    let parts = parts.count();
    match (rows.len(), parts) {
        (0, _) => None,
        (1, _) => rows.into_iter().next(),
        (_, 0) => Some("whole columns".to_owned()),
        (_, parts) => Some(format!(
            "whole columns, but only the first rows of {parts} of {}",
            wholes.len()
        )),
    }
}
