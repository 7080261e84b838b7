//! The figure of what each technique saves: the file without it, section by section.

use outcrop_measure::metric::Metric;
use outcrop_schema::column::{
    CODES_BYTES, DICTIONARY_BYTES, OPERATION, ORDER, PLAIN_POSTINGS_BYTES, POSTINGS_BYTES, ROW_COUNT, SKEW,
    WITHOUT, Without,
};
use outcrop_workload::column::Operation;

use super::cell::{Column, columns};
use crate::cell::Cell;
use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, SeriesKind, axis};
use crate::section::FigureSlot;

const TITLE: &str = "Size without each technique";
/// Panels that fit side by side.
const MOST_COLUMNS: usize = 4;
const SECTIONS: [(&str, Metric); 3] = [
    ("dictionary (text)", DICTIONARY_BYTES),
    ("codes (integers)", CODES_BYTES),
    ("postings (integers)", POSTINGS_BYTES),
];

/// Bytes a row of each section, without each technique; `None` where no technique was left out.
pub(super) fn size_by_technique(cells: &[Cell<'_>]) -> Option<FigureSlot> {
    let is_left_out = |cell: &Cell<'_>| {
        cell.get(&WITHOUT)
            .is_some_and(|without| *without != Without::Nothing)
    };
    if !cells.iter().any(is_left_out) {
        return None;
    }
    let encodes = cells
        .iter()
        .filter(|cell| cell.is(&OPERATION, &Operation::Encode));
    let mut columns = columns(encodes.filter(|cell| cell.value(&DICTIONARY_BYTES).is_some()));
    columns.retain(|(_, cells)| cells.iter().any(|cell| is_left_out(cell)));
    let which = match columns.len() {
        ..=MOST_COLUMNS => String::new(),
        total => format!(" {MOST_COLUMNS} of {total} columns."),
    };
    let chart = BarChart {
        value: axis("Bytes per row", Quantity::Ratio, Scale::Linear),
        parts: Part::all(SECTIONS.map(|(name, _)| name)),
        facets: columns
            .iter()
            .take(MOST_COLUMNS)
            .map(|column| facet(column, &title_of(column, &columns)))
            .collect(),
    };
    let example = columns.first().map_or("", |(words, _)| words);
    let caption = format!(
        "The first panel: {example}. Each file is actually written without the technique and read back. Codes include their class map. The last row is computed: row numbers \
         of the postings with the bits of the last one each, instead of the file's Elias–Fano lists.{which}"
    );
    let missing = || FigureSlot::missing(TITLE, "no file has sections.", "column-ablation");
    let figure = chart.draw("column-ablation", TITLE, caption);
    Some(figure.map_or_else(missing, FigureSlot::Drawn))
}

/// What tells a column from the others, in the width of a panel: skew and order where these are enough.
fn title_of(column: &Column<'_>, columns: &[Column<'_>]) -> String {
    let short = |(words, cells): &Column<'_>| match cells[0].get(&SKEW) {
        None => words.clone(),
        Some(skew) => format!("skew {skew}, {}", cells[0].spelling(&ORDER)),
    };
    let title = short(column);
    if columns.iter().filter(|other| short(other) == title).count() > 1 {
        return column.0.clone();
    }
    title
}

fn facet((_, cells): &Column<'_>, title: &str) -> Facet {
    let files = Without::ALL.into_iter().map(|without| {
        let cell = cells.iter().find(|cell| cell.is(&WITHOUT, &without));
        let label = match without {
            Without::Nothing => "all techniques".to_owned(),
            Without::All => "without all of them".to_owned(),
            other => format!("without {other}"),
        };
        BarGroup {
            label,
            bars: cell
                .and_then(|cell| stacked(cell, SeriesKind::Measured, &POSTINGS_BYTES))
                .into_iter()
                .collect(),
        }
    });
    let whole = cells.iter().find(|cell| cell.is(&WITHOUT, &Without::Nothing));
    let plain = whole.filter(|cell| cell.value(&PLAIN_POSTINGS_BYTES).is_some());
    let plain = plain.and_then(|cell| stacked(cell, SeriesKind::Derived, &PLAIN_POSTINGS_BYTES));
    let plain = BarGroup {
        label: "postings as plain numbers".to_owned(),
        bars: plain.into_iter().collect(),
    };
    Facet {
        title: title.to_owned(),
        groups: files.chain([plain]).collect(),
    }
}

/// The sections of a file on top of each other; `postings` are those written, or those computed.
fn stacked(cell: &Cell<'_>, kind: SeriesKind, postings: &Metric) -> Option<Bar> {
    let rows = cell.number(&ROW_COUNT)?;
    let (rows, n) = (rows.value, rows.n);
    let metrics = [&DICTIONARY_BYTES, &CODES_BYTES, postings];
    let bytes = metrics.map(|metric| cell.value(metric).unwrap_or_default() / rows);
    let segments = (0..).zip(bytes).filter(|(_, bytes)| *bytes > 0.0);
    let sections = SECTIONS
        .iter()
        .zip(bytes)
        .map(|((name, _), bytes)| format!("{name} {bytes:.3} B"));
    Some(Bar {
        kind,
        segments: segments
            .map(|(part, bytes)| Segment::derived(part, bytes, Some(n)))
            .collect(),
        note: format!("{} a row", sections.collect::<Vec<_>>().join(", ")),
    })
}
