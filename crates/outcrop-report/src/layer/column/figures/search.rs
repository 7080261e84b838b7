//! Latency of searches by mode and index.

use super::super::cell::Cell;
use super::{axis, missing};
use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, SeriesKind};
use crate::section::FigureSlot;

/// Where the file is and what it carries, in the order of the rows.
const WAYS: [(&str, &str, &str); 5] = [
    ("in memory, postings in the file", "in-memory", "postings"),
    ("in memory, postings built", "in-memory", "none"),
    ("on disk, postings in the file", "on-disk", "postings"),
    ("on disk, scan", "on-disk", "none"),
    ("in memory, scan", "scan", "none"),
];
const PERCENTILES: [(&str, &str); 2] = [("p50", "latency_p50"), ("p99", "latency_p99")];

/// p50 and p99 of each way to search; a facet for each operation.
pub(super) fn latency_by_mode(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Search latency by mode";
    let searched = |cell: &&Cell<'_>| cell.factor("operation") == "equality";
    // One column: that of the most rows; of a file, the one with the most text has no mark here, so the first.
    let Some(example) = cells
        .iter()
        .filter(searched)
        .max_by_key(|cell| cell.parsed::<u64>("rows").unwrap_or(0))
    else {
        return missing(TITLE, "no search was measured.", "column-search");
    };
    let key = example.column_key();
    let of_column: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.column_key() == key).collect();
    let facets = ["equality", "prefix", "range"].map(|operation| Facet {
        title: operation.to_owned(),
        groups: WAYS
            .iter()
            .map(|(label, mode, index)| {
                let wanted = [
                    ("operation", operation),
                    ("search_mode", *mode),
                    ("index", *index),
                ];
                let cell = of_column.iter().find(|cell| cell.is(&wanted));
                BarGroup {
                    label: (*label).to_owned(),
                    bars: cell.map_or_else(Vec::new, |cell| bars(cell)),
                }
            })
            .collect(),
    });
    let chart = BarChart {
        value: axis("Latency", Quantity::Latency, Scale::Log10),
        parts: PERCENTILES
            .iter()
            .enumerate()
            .map(|(hue, (name, _))| Part {
                name: (*name).to_owned(),
                hue,
            })
            .collect(),
        facets: facets.into(),
    };
    let hits = example
        .value("hits_per_operation")
        .map_or_else(String::new, |hits| {
            format!(" A value has {hits:.0} rows on average.")
        });
    let caption = format!(
        "From a value, a prefix of three letters, or a range of a hundredth of the dictionary, to the row numbers: {}.{hits} A missing \
         bar was not measured, or has too few queries for its percentile.",
        example.column_words()
    );
    let drawn = chart.draw("column-search", TITLE, caption);
    drawn.map_or_else(
        || missing(TITLE, "no search kept a latency.", "column-search"),
        FigureSlot::Drawn,
    )
}

fn bars(cell: &Cell<'_>) -> Vec<Bar> {
    let of_percentile = PERCENTILES
        .iter()
        .enumerate()
        .filter_map(|(part, (name, metric))| {
            let number = cell.number(metric)?;
            let segment = Segment {
                part,
                value: number.value,
                interval: number.interval.map(|interval| (interval.low, interval.high)),
            };
            let note = format!("{name} {number}; {}", number.certainty());
            Some(Bar::single(SeriesKind::Measured, segment, note))
        });
    of_percentile.collect()
}
