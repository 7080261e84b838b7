//! The cells of a layer as tables: a row per cell, which the page's script puts in the order of any column.

use maud::{Markup, html};

use crate::cell_table::{Grid, GridColumn};

/// Columns that a phone shows at once.
const COLUMNS_OF_A_PHONE: usize = 3;
/// Columns that a page of usual width shows at once.
const COLUMNS_OF_A_PAGE: usize = 10;
/// Columns that fit on a sheet of A4. In print, headings of tables with more columns may break within words.
const COLUMNS_OF_A_SHEET: usize = 16;

/// The tables of a layer, of `most` rows together; how many rows are left to the file of cells is said.
pub(super) fn body(grids: &[Grid], most: usize) -> Markup {
    let all = grids.iter().map(row_count).sum::<usize>();
    let mut left = most;
    let shown = grids.iter().map(|grid| {
        let rows = row_count(grid).min(left);
        left -= rows;
        (grid, rows)
    });
    let shown: Vec<_> = shown.filter(|(_, rows)| *rows > 0).collect();
    html! {
        @for (grid, rows) in shown { (table(grid, rows)) }
        @if all > most { p.soft { (most) " of " (all) " rows are on this page; cells.csv, in the folder of the run, has all of them." } }
    }
}

fn row_count(grid: &Grid) -> usize {
    grid.columns.first().map_or(0, |column| column.cells.len())
}

fn table(grid: &Grid, row_count: usize) -> Markup {
    let (caption, rest) = grid
        .head
        .split_first()
        .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let places: Vec<_> = grid.columns.iter().map(places).collect();
    let is_wide = grid.columns.len() > COLUMNS_OF_A_PAGE;
    html! {
        @if grid.columns.len() > COLUMNS_OF_A_PHONE {
            (scroll_cue(grid.columns.len(), is_wide))
        }
        div.scroll {
            table.sortable.dense[is_wide].densest[grid.columns.len() > COLUMNS_OF_A_SHEET] {
                caption { (caption) @for line in rest { br; (line) } }
                thead { tr { @for column in &grid.columns { th scope="col" { (column.heading) } } } }
                tbody { @for row in 0..row_count { tr {
                    @for (column, places) in grid.columns.iter().zip(&places) { (cell(column, places, row)) }
                } } }
            }
        }
        @for note in &grid.notes { p.soft { (note) } }
    }
}

/// What stands above a table that may be wider than the page; `is_wide` where that is not only so on a phone.
pub(super) fn scroll_cue(columns: usize, is_wide: bool) -> Markup {
    html! {
        p.soft.scroll-cue.wide[is_wide] { "The table has " (columns) " columns; where it is wider than the page, it scrolls sideways →" }
    }
}

/// Where each row of a column comes when it is sorted: the page needs the order, and not the values. Four digits keep the order of what a
/// reader can tell apart; where they are the text itself, it has the order.
fn places(column: &GridColumn) -> Vec<Option<usize>> {
    let rounded = |place: f64| format!("{place:.3e}").parse().unwrap_or(place);
    let values: Vec<Option<f64>> = column.places.iter().map(|place| place.map(rounded)).collect();
    let is_text =
        |(value, text): (&Option<f64>, &String)| value.is_some_and(|value| value.to_string() == *text);
    if values.iter().zip(&column.cells).all(is_text) {
        return Vec::new();
    }
    let mut sorted: Vec<f64> = values.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let place = |value: f64| sorted.partition_point(|other| *other < value);
    values.iter().map(|value| value.map(place)).collect()
}

fn cell(column: &GridColumn, places: &[Option<usize>], row: usize) -> Markup {
    let text = column.cells.get(row).map_or("", String::as_str);
    let place = places.get(row).copied().flatten();
    // Most columns have words, or figures with an interval: they need no class.
    let class = column.is_right.then_some("r");
    html! {
        td class=[class] data-v=[place] { (value(text)) }
    }
}

/// A value, which may break before its interval and nowhere else.
fn value(text: &str) -> Markup {
    html! {
        @match text.split_once(" (") {
            Some((value, interval)) => { (value) " " wbr; "(" (interval) },
            None => (text),
        }
    }
}
