//! The cells of a layer as tables: a row per cell, which the page's script puts in the order of any column.

use maud::{Markup, html};

use crate::cell_table::{Grid, GridColumn};

/// Columns that a phone shows at once.
const COLUMNS_OF_A_PHONE: usize = 3;
/// Columns that a page of usual width shows at once.
const COLUMNS_OF_A_PAGE: usize = 10;

pub(super) fn body(grids: &[Grid]) -> Markup {
    html! { @for grid in grids { (table(grid)) } }
}

fn table(grid: &Grid) -> Markup {
    let (caption, rest) = grid
        .head
        .split_first()
        .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let row_count = grid.columns.first().map_or(0, |column| column.cells.len());
    let is_wide = grid.columns.len() > COLUMNS_OF_A_PAGE;
    html! {
        @if grid.columns.len() > COLUMNS_OF_A_PHONE {
            p.soft.scroll-cue.wide[is_wide] { "The table has " (grid.columns.len()) " columns; where it is wider than the page, it scrolls sideways →" }
        }
        div.scroll {
            table.sortable.dense[is_wide] {
                caption { (caption) @for line in rest { br; (line) } }
                thead { tr { @for column in &grid.columns { th scope="col" { (column.heading) } } } }
                tbody { @for row in 0..row_count { tr { @for column in &grid.columns { (cell(column, row)) } } } }
            }
        }
        @for note in &grid.notes { p.soft { (note) } }
    }
}

fn cell(column: &GridColumn, row: usize) -> Markup {
    let text = column.cells.get(row).map_or("", String::as_str);
    // Four digits keep the order of what a reader can tell apart; where they are the text itself, it has the order.
    let place = column.places.get(row).copied().flatten();
    let place = place.map(|place| format!("{place:.3e}").parse().unwrap_or(place));
    let place = place
        .map(|place: f64| place.to_string())
        .filter(|place| place != text);
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
