//! The figure of whole columns: each in its file, as a column file, and in Parquet with zstd.

use super::whole::{Whole, wholes};
use crate::cell::Cell;
use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, SeriesKind, axis};
use crate::number::Number;
use crate::section::FigureSlot;

const TITLE: &str = "Size of each column by form";
/// Columns drawn; more make bars of a hair's breadth.
const MOST_COLUMNS: usize = 12;
const FORMS: [&str; 3] = ["in this file", "as .ocol", "Parquet, zstd:3"];

/// Per cent of the text, for each whole column and each form; `None` where no whole column was measured.
pub(super) fn sizes_by_form(cells: &[Cell<'_>]) -> Option<FigureSlot> {
    let wholes = wholes(cells);
    let which = match wholes.len() {
        0 => return None,
        1..=MOST_COLUMNS => String::new(),
        total => format!(" The {MOST_COLUMNS} largest of {total} columns."),
    };
    let group = |whole: &Whole<'_>| BarGroup {
        bars: bars(whole),
        label: whole.sizes.name.clone(),
    };
    let part = |(hue, name): (usize, &str)| Part {
        name: name.to_owned(),
        hue,
    };
    let chart = BarChart {
        value: axis("Size, in % of the newline text", Quantity::Percent, Scale::Log10),
        parts: FORMS.into_iter().enumerate().map(part).collect(),
        facets: vec![Facet {
            title: String::new(),
            groups: wholes.iter().take(MOST_COLUMNS).map(group).collect(),
        }],
    };
    let caption = format!(
        "Logarithmic axis. Each size is of the same rows in every form, and the same in every trial, so it has no interval.{which}"
    );
    let missing = || FigureSlot::missing(TITLE, "no whole column was measured.", "column-choice");
    Some(
        chart
            .draw("column-forms", TITLE, caption)
            .map_or_else(missing, FigureSlot::Drawn),
    )
}

fn bars(whole: &Whole<'_>) -> Vec<Bar> {
    let bar = |(part, number): (usize, Option<&Number>)| {
        let number = number?;
        let percent = number.value / whole.sizes.text_bytes * 100.0;
        let note = format!(
            "{}, {}: {number}, {percent:.1} % of text",
            whole.sizes.name, FORMS[part]
        );
        Some(Bar::single(
            SeriesKind::Measured,
            Segment::derived(part, percent, Some(number.n)),
            note,
        ))
    };
    let numbers = [whole.stored(), Some(whole.ocol), whole.parquet()];
    numbers.into_iter().enumerate().filter_map(bar).collect()
}
