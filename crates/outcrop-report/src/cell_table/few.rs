//! A table without room for all its rows: which stay, and how many of each kind do not.

use std::collections::BTreeMap;

use super::{Grid, GridColumn};
use crate::number::counted;

/// Rows of each engine, or whatever else tells kinds of cells apart, in such a table.
const LEAST_OF_A_KIND: usize = 2;

impl Grid {
    /// Leaves out rows where there are more than a few, and says so.
    pub(super) fn keep(&mut self, most: usize) {
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        // A line that says that one row is missing would take its place.
        if rows <= most.saturating_add(1) {
            return;
        }
        let apart = self.kinds(most);
        let kept = kept(apart, rows, most);
        let of_each = apart.map_or_else(String::new, |column| left_out_of_each(column, &kept));
        for column in &mut self.columns {
            column.cells = kept.iter().map(|row| column.cells[*row].clone()).collect();
            column.places = kept.iter().map(|row| column.places[*row]).collect();
        }
        self.notes.insert(
            0,
            format!(
                "… {}{of_each}: report.html, cells.csv and `--format csv` have them all.",
                counted(rows - most, "more cell")
            ),
        );
    }

    /// The first column of words that tells a few kinds of cells apart, such as engines, of each of which there is room for rows.
    fn kinds(&self, most: usize) -> Option<&GridColumn> {
        let mut words = self
            .columns
            .iter()
            .filter(|column| column.rank.is_none() && !column.is_right);
        words.find(|column| (2..=most / LEAST_OF_A_KIND).contains(&distinct(column).len()))
    }
}

/// The values of a column, each once, in their order.
fn distinct(column: &GridColumn) -> Vec<&str> {
    let mut values: Vec<&str> = Vec::new();
    for cell in &column.cells {
        if !values.contains(&cell.as_str()) {
            values.push(cell);
        }
    }
    values
}

/// The rows that stay: the first few, of each kind as many.
fn kept(kinds: Option<&GridColumn>, rows: usize, most: usize) -> Vec<usize> {
    let Some(column) = kinds else {
        return (0..most).collect();
    };
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut places: Vec<(usize, usize)> = Vec::new();
    for row in 0..rows {
        let before = seen.entry(&column.cells[row]).or_default();
        places.push((*before, row));
        *before += 1;
    }
    places.sort_unstable();
    let mut kept: Vec<usize> = places.into_iter().take(most).map(|(_, row)| row).collect();
    kept.sort_unstable();
    kept
}

/// How many rows of each kind have no place: ` (not shown: 4 of 6 with engine fjall)`.
fn left_out_of_each(column: &GridColumn, kept: &[usize]) -> String {
    let of = |value: &str| {
        let all = column.cells.iter().filter(|cell| *cell == value).count();
        let shown = kept.iter().filter(|row| column.cells[**row] == value).count();
        (all > shown).then(|| format!("{} of {all} with {} {value}", all - shown, column.heading))
    };
    let each: Vec<String> = distinct(column).into_iter().filter_map(of).collect();
    format!(" (not shown: {})", each.join(", "))
}
