//! The figure of text, dictionary, postings and kernels: what each of them saves.

use outcrop_measure::metric::Metric;
use outcrop_schema::column::{
    FORMAT, HITS_PER_OPERATION, Index, KERNELS, Kernels, LATENCY, OPERATION, ROW_RATE,
};
use outcrop_workload::column::{Operation, SearchMode};

use super::cell::{column_key, column_words, is_plain_text, rows_taken, searches};
use crate::cell::Cell;
use crate::chart::{
    Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, SeriesKind, Support, axis,
};
use crate::number::Number;
use crate::section::FigureSlot;

const TITLE: &str = "Text, dictionary, postings and kernels";
/// What a search goes through, in the order of the rows; plain text comes first.
const SEARCHES: [(&str, SearchMode, Index); 2] = [
    ("dictionary codes, scan", SearchMode::Scan, Index::None),
    ("dictionary, postings", SearchMode::InMemory, Index::Postings),
];
const PLAIN_TEXT: &str = "plain text, scan";
const WHOLE: [(&str, Operation); 3] = [
    ("all rows: encode", Operation::Encode),
    ("all rows: decode to text", Operation::Decode),
    ("all rows: scan the codes", Operation::Scan),
];
/// Colours: text is searched by a library, which chooses its instructions itself.
const PARTS: [&str; 4] = ["memchr", "scalar", "avx2", "avx512"];
const BY_KERNELS: [Kernels; 3] = [Kernels::Scalar, Kernels::Avx2, Kernels::Avx512];

/// Time by what is searched and by the instructions that do it; `None` where kernels were no factor.
pub(super) fn time_by_kernels(cells: &[Cell<'_>]) -> Option<FigureSlot> {
    let has_kernels = |cell: &&Cell<'_>| {
        cell.get(&KERNELS)
            .is_some_and(|kernels| *kernels != Kernels::Widest)
    };
    let rows = |cell: &Cell<'_>| rows_taken(cell).unwrap_or(f64::NEG_INFINITY);
    let with_kernels = cells.iter().filter(has_kernels);
    // One column: that of the most rows, the first of those that have as many.
    let example = with_kernels.reduce(|best, next| if rows(next) > rows(best) { next } else { best })?;
    let of_column: Vec<&Cell<'_>> = cells
        .iter()
        .filter(|cell| column_key(cell) == column_key(example))
        .collect();
    let facets = vec![
        searches_of(&of_column, Operation::Equality),
        searches_of(&of_column, Operation::Prefix),
        Facet {
            title: "whole column".to_owned(),
            groups: WHOLE
                .map(|(label, operation)| whole_group(&of_column, label, operation))
                .into(),
        },
    ];
    let chart = BarChart {
        value: axis("Time", Quantity::Latency, Scale::Log10),
        parts: Part::all(PARTS),
        facets: facets
            .into_iter()
            .filter(|facet| facet.groups.iter().any(|group| !group.bars.is_empty()))
            .collect(),
    };
    let hits = of_column
        .iter()
        .find(|cell| cell.is(&OPERATION, &Operation::Equality));
    let hits = match hits.and_then(|cell| cell.value(&HITS_PER_OPERATION)) {
        Some(hits) => format!(" A value has {hits:.0} rows on average."),
        None => String::new(),
    };
    let caption = format!(
        "Logarithmic. Searches: p50 from a value, or a prefix of three letters, to its row numbers, in one thread and in memory. Whole column: \
         mean time of all rows.{hits} Text is searched by the memchr crate, which uses the widest instructions that it supports. {}. A \
         missing bar was not measured, or the processor lacks its instructions.",
        column_words(example)
    );
    let missing = || FigureSlot::missing(TITLE, "no cell with kernels gave a time.", "column-kernels");
    let figure = chart.draw("column-kernels", TITLE, caption);
    Some(figure.map_or_else(missing, FigureSlot::Drawn))
}

fn searches_of(cells: &[&Cell<'_>], operation: Operation) -> Facet {
    let in_text = cells
        .iter()
        .find(|cell| is_plain_text(cell) && cell.is(&OPERATION, &operation));
    let in_text = in_text.and_then(|cell| latency_bar(cell, 0));
    let text = BarGroup {
        label: PLAIN_TEXT.to_owned(),
        bars: in_text.into_iter().collect(),
    };
    let group = |(label, mode, index): (&str, SearchMode, Index)| {
        let bar = |(part, kernels): (usize, &Kernels)| {
            let is_wanted =
                |cell: &&&Cell<'_>| searches(cell, operation, mode, &[index]) && cell.is(&KERNELS, kernels);
            latency_bar(cells.iter().find(is_wanted)?, part)
        };
        BarGroup {
            label: label.to_owned(),
            bars: (1..).zip(&BY_KERNELS).filter_map(bar).collect(),
        }
    };
    Facet {
        title: operation.to_string(),
        groups: [text].into_iter().chain(SEARCHES.map(group)).collect(),
    }
}

fn latency_bar(cell: &Cell<'_>, part: usize) -> Option<Bar> {
    let number = cell.number(&LATENCY.p50)?;
    Some(Bar::of(SeriesKind::Measured, part, number, &column_words(cell)))
}

/// The time of all rows, by kernels.
fn whole_group(cells: &[&Cell<'_>], label: &str, operation: Operation) -> BarGroup {
    let bar = |(part, kernels): (usize, &Kernels)| {
        let is_wanted = |cell: &&&Cell<'_>| {
            let is_text = cell.get(&FORMAT).is_some() && is_plain_text(cell);
            cell.is(&OPERATION, &operation) && cell.is(&KERNELS, kernels) && !is_text
        };
        let cell = cells.iter().find(is_wanted)?;
        let (rate, rows) = (cell.number(&ROW_RATE)?, rows_taken(cell)?);
        Some(time_bar(part, rate, rows, &ROW_RATE))
    };
    BarGroup {
        label: label.to_owned(),
        bars: (1..).zip(&BY_KERNELS).filter_map(bar).collect(),
    }
}

/// Nanoseconds that so many rows take at a rate; the ends of its interval change places.
fn time_bar(part: usize, rate: &Number, rows: f64, metric: &Metric) -> Bar {
    let time = |rate: f64| rows / rate * 1e9;
    let segment = Segment {
        part,
        kind: None,
        value: time(rate.value),
        interval: rate.ends().map(|(low, high)| (time(high), time(low))),
        support: Support::of(rate),
    };
    let note = format!("{:.3} ms, from {}: {rate}", segment.value / 1e6, metric.name);
    Bar::single(SeriesKind::Measured, segment, note)
}
