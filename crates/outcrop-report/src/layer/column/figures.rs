//! The figures of the column layer.

use std::collections::BTreeSet;

use outcrop_measure::metric::Metric;
use outcrop_schema::column::{
    BYTES_PER_ROW, DISTINCT, ENCODE_SPEED, FILE_BYTES, FLOOR_BYTES, FORMAT, Format, HITS_PER_OPERATION,
    INDEX, Index, LATENCY, OPERATION, ORDER, PROFILE, Profile, ROW_COUNT, ROWS, SKEW, TEXT_BYTES, THREADS,
};
use outcrop_workload::column::SearchMode::{self, InMemory, OnDisk, Scan};
use outcrop_workload::column::{Operation, RowOrder};

use super::ablation_figure::size_by_technique;
use super::cell::{
    Column, column_key, column_words, columns, count_of, is_balanced_file, is_generated, is_plain_text,
    is_search, is_unlimited,
};
use super::kernel_figure::time_by_kernels;
use super::size_figure::sizes_by_form;
use crate::cell::{Cell, families};
use crate::chart::{
    Bar, BarChart, BarGroup, Facet, Figure, LineChart, Part, Point, Quantity, Scale, Segment, Series,
    SeriesKind, Support, axis,
};
use crate::layer::not_drawn::{behind_blank, cells_not_drawn, not_drawn};
use crate::section::FigureSlot;

/// Columns drawn; more make bars of a hair's breadth.
const MOST_COLUMNS: usize = 12;
/// Lines that one chart can hold and still be read.
const MOST_LINES: usize = 6;
/// Where the file is and what it carries, in the order of the rows.
const SEARCHES: [(&str, SearchMode, Index); 5] = [
    ("in memory, postings in the file", InMemory, Index::Postings),
    ("in memory, postings built", InMemory, Index::None),
    ("cached file, its postings", OnDisk, Index::Postings),
    ("cached file, scan", OnDisk, Index::None),
    ("in memory, scan", Scan, Index::None),
];
/// The row behind these.
const IN_TEXT: &str = "plain text, scan";
/// What is searched, and what a search begins with.
const SOUGHT: [(Operation, &str); 3] = [
    (Operation::Equality, "a value"),
    (Operation::Prefix, "a three-letter prefix"),
    (Operation::Range, "a range of 1 % of the dictionary"),
];
const PERCENTILES: [(&str, Metric); 2] = [("p50", LATENCY.p50), ("p99", LATENCY.p99)];

/// All figures, in the order of the page; those about what the run did not measure say which plan would.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    let has_file = cells.iter().any(|cell| !is_generated(cell));
    let has_generated = cells.iter().any(is_generated);
    let has_encoded = |cell: &Cell<'_>| !is_generated(cell) && cell.is(&OPERATION, &Operation::Encode);
    let wholes = sizes_by_form(cells);
    // Sizes of whole columns say what those of some rows would leave open.
    let by_codec = has_file && wholes.is_none() && cells.iter().any(has_encoded);
    let figures = [
        wholes,
        by_codec.then(|| size_by_codec(cells)),
        has_generated.then(|| size_by_cardinality(cells)),
        Some(search_latency(cells)),
        has_generated.then(|| encode_speed(cells)),
        time_by_kernels(cells),
        size_by_technique(cells),
    ];
    figures.into_iter().flatten().collect()
}

/// The figure, or what the run lacks for it.
fn slot(figure: Option<Figure>, title: &str, if_missing: &str, plan: &str) -> FigureSlot {
    figure.map_or_else(|| FigureSlot::missing(title, if_missing, plan), FigureSlot::Drawn)
}

/// How a column is stored: its place among the bars, and its name.
type Way = (usize, String);

/// Text under codecs comes behind column files.
fn way(cell: &Cell<'_>) -> Option<Way> {
    let (place, name) = match (cell.get(&FORMAT)?, cell.get(&INDEX), cell.get(&PROFILE)) {
        (Format::Text(codec), ..) => return Some((3, format!("text, {codec}"))),
        (_, Some(Index::None), Some(Profile::Smallest)) => (0, "ocol smallest"),
        (_, Some(Index::None), Some(Profile::Balanced)) => (1, "ocol balanced"),
        (_, Some(Index::Postings), Some(Profile::Balanced)) => (2, "ocol balanced + postings"),
        _ => return None,
    };
    Some((place, name.to_owned()))
}

/// Per cent of the text, for each column of a file and each way to store it.
fn size_by_codec(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Size of each column by codec";
    let is_encode = |cell: &&Cell<'_>| !is_generated(cell) && cell.is(&OPERATION, &Operation::Encode);
    let encodes = cells.iter().filter(is_encode);
    let ways: BTreeSet<Way> = encodes.clone().filter_map(way).collect();
    let mut columns = columns(encodes.filter(|cell| cell.value(&TEXT_BYTES).is_some()));
    let text = |cells: &[&Cell<'_>]| cells[0].value(&TEXT_BYTES).unwrap_or_default();
    columns.sort_by(|left, right| text(&right.1).total_cmp(&text(&left.1)));
    let which = match columns.len() {
        ..=MOST_COLUMNS => String::new(),
        total => format!(" The {MOST_COLUMNS} largest of {total} columns."),
    };
    let group = |(label, cells): Column<'_>| BarGroup {
        bars: size_bars(&label, &cells, &ways),
        label,
    };
    let groups = columns.into_iter().take(MOST_COLUMNS).map(group).collect();
    let title = String::new();
    let chart = BarChart {
        value: axis("Size, in % of the newline text", Quantity::Percent, Scale::Log10),
        parts: parts(ways.iter().map(|(_, name)| name)),
        facets: vec![Facet { title, groups }],
    };
    let caption =
        format!("Logarithmic axis. Compressed text is sometimes smaller, but it cannot be searched.{which}");
    let figure = chart.draw("column-codecs", TITLE, caption);
    slot(figure, TITLE, "no column of a file was encoded.", "column-size")
}

fn size_bars(column: &str, cells: &[&Cell<'_>], ways: &BTreeSet<Way>) -> Vec<Bar> {
    let size = |(part, stored): (usize, &Way)| {
        let cell = cells.iter().find(|cell| way(cell).as_ref() == Some(stored))?;
        let file = cell.number(&FILE_BYTES)?;
        let percent = file.value / cell.value(&TEXT_BYTES)? * 100.0;
        let note = format!("{column}, {}: {file}, {percent:.1} % of text", stored.1);
        Some(Bar::single(
            SeriesKind::Measured,
            Segment::derived(part, percent, Some(file.n)),
            note,
        ))
    };
    ways.iter().enumerate().filter_map(size).collect()
}

/// Bytes a row by distinct values, one line a skew, each with its floor.
fn size_by_cardinality(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Size by cardinality and skew";
    let is_wanted = |cell: &&Cell<'_>| {
        let is_random = cell.is(&ORDER, &RowOrder::Random);
        is_generated(cell) && is_balanced_file(cell) && is_random && cell.is(&THREADS, &1)
    };
    // One number of rows: the one that most cells have, the larger of two.
    let of_rows = families(cells.iter().filter(is_wanted), &[&DISTINCT, &SKEW]);
    let most = of_rows.into_iter().max_by_key(Vec::len).unwrap_or_default();
    let rows = most
        .first()
        .map_or_else(String::new, |cell| count_of(cell, &ROWS));
    let others = behind_blank(cells_not_drawn(cells.iter().filter(is_wanted), &most));
    let mut lines = families(most, &[&DISTINCT]);
    lines.sort_by(|left, right| left[0].compare(right[0], &[&SKEW]));
    let chart = LineChart {
        x: axis("Distinct values", Quantity::Count, Scale::Log10),
        y: axis("Bytes per row", Quantity::Ratio, Scale::Linear),
        series: lines.iter().enumerate().flat_map(file_and_floor).collect(),
    };
    let caption = format!(
        "The file without index (solid) and its floor (dotted: the entropy of the row order given the values' counts, plus the dictionary). {rows} rows in random order, profile balanced.{others}"
    );
    let figure = chart.draw("column-size", TITLE, caption);
    let if_missing = "no generated column in random order was encoded without index.";
    slot(figure, TITLE, if_missing, "column-size")
}

/// The line of the files of one skew, and the line of what they could not be smaller than.
fn file_and_floor((hue, cells): (usize, &Vec<&Cell<'_>>)) -> [Series; 2] {
    let file = |cell: &&Cell<'_>| {
        let number = cell.number(&BYTES_PER_ROW)?;
        let bytes = number.value;
        let note = format!("{bytes:.3} B a row; {}", column_words(cell));
        Some(Point {
            support: Support::derived(Some(number.n)),
            ..Point::bare(cell.place(&DISTINCT)?, bytes, note)
        })
    };
    let floor = |cell: &&Cell<'_>| {
        let bytes = cell.value(&FLOOR_BYTES)? / cell.value(&ROW_COUNT)?;
        let note = format!("floor {bytes:.3} B a row");
        Some(Point::bare(cell.place(&DISTINCT)?, bytes, note))
    };
    let (files, floors) = (cells.iter().filter_map(file), cells.iter().filter_map(floor));
    let skew = format!("skew {}", cells[0].spelling(&SKEW));
    [
        Series::new(&skew, hue, SeriesKind::Measured, files),
        Series::new(format!("floor, {skew}"), hue, SeriesKind::Derived, floors),
    ]
}

/// p50 and p99 of each way to search; a facet for each operation.
fn search_latency(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Search latency by mode";
    // One column: that of the most rows. Whole columns of files do not say how many they have, and come after those that do.
    let rows = |cell: &Cell<'_>| cell.place(&ROWS).unwrap_or(f64::NEG_INFINITY);
    let is_lookup = |cell: &&Cell<'_>| cell.is(&OPERATION, &Operation::Equality);
    let searched = cells.iter().filter(is_lookup);
    let Some(example) = searched.max_by(|left, right| rows(left).total_cmp(&rows(right))) else {
        return FigureSlot::missing(TITLE, "no search was measured.", "column-search");
    };
    let ways = SEARCHES.map(|(label, ..)| label).into_iter().chain([IN_TEXT]);
    let mut drawn = Vec::new();
    let mut facet = |operation: Operation| {
        let of_column = cells
            .iter()
            .filter(|cell| column_key(cell) == column_key(example));
        let of_column: Vec<&Cell<'_>> = of_column.filter(|cell| cell.is(&OPERATION, &operation)).collect();
        let mut group = |label: &'static str| {
            let cell = of_column.iter().find(|cell| way_of_search(cell) == Some(label));
            let bars = cell.map(|cell| latency_bars(cell)).unwrap_or_default();
            drawn.extend(cell.filter(|_| !bars.is_empty()).copied());
            let label = label.to_owned();
            BarGroup { label, bars }
        };
        Facet {
            title: operation.to_string(),
            groups: ways.clone().map(&mut group).collect(),
        }
    };
    let facets = SOUGHT.map(|(operation, _)| facet(operation)).into();
    let chart = BarChart {
        value: axis("Latency", Quantity::Latency, Scale::Log10),
        parts: parts(PERCENTILES.map(|(name, _)| name)),
        facets,
    };
    // Whatever was held back, and whether it has a row: a search with other kernels was measured too.
    let is_sought = |cell: &&Cell<'_>| SOUGHT.iter().any(|(sought, _)| cell.is(&OPERATION, sought));
    let could_have = cells.iter().filter(is_sought);
    let all_of_it = match could_have.clone().all(is_unlimited) {
        true => "",
        false => " with all techniques and the widest kernels",
    };
    let others = Some(cells_not_drawn(could_have, &drawn)).filter(|others| !others.is_empty());
    let others = others.map_or_else(String::new, |others| format!(" {others}"));
    let is_drawn = |operation: &Operation| drawn.iter().any(|cell| cell.is(&OPERATION, operation));
    let sought = SOUGHT.into_iter().filter(|(operation, _)| is_drawn(operation));
    let sought: Vec<&str> = sought.map(|(_, sought)| sought).collect();
    let hits = match example.value(&HITS_PER_OPERATION) {
        Some(hits) => format!(" A value has {hits:.0} rows on average."),
        None => String::new(),
    };
    let caption = format!(
        "Time from {} to the row numbers: {}.{hits} A missing bar was not measured{all_of_it}, or has too few queries for its percentile.{others}",
        sought.join(" or "),
        column_words(example)
    );
    let figure = chart.draw("column-search", TITLE, caption);
    slot(figure, TITLE, "no search kept a latency.", "column-search")
}

/// The way in which it searches, as a row of the figure is called; none of a search that has no row.
fn way_of_search(cell: &Cell<'_>) -> Option<&'static str> {
    row_of(cell).or_else(|| is_plain_text(cell).then_some(IN_TEXT))
}

/// The row of a search in a column file.
fn row_of(cell: &Cell<'_>) -> Option<&'static str> {
    let operation = *cell.get(&OPERATION)?;
    let mut ways = SEARCHES.into_iter();
    let way = ways.find(|(_, mode, index)| is_search(cell, operation, *mode, &[*index]));
    way.map(|(label, ..)| label)
}

fn latency_bars(cell: &Cell<'_>) -> Vec<Bar> {
    let latency = |(part, (name, metric)): (usize, &(&str, Metric))| {
        let number = cell.number(metric)?;
        let note = format!("{name} {number}; {}", number.certainty());
        Some(Bar::single(SeriesKind::Measured, Segment::of(part, number), note))
    };
    PERCENTILES.iter().enumerate().filter_map(latency).collect()
}

/// Text encoded per second by threads: a line for each kind of column that was encoded with several.
fn encode_speed(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Encode speed by threads";
    let is_wanted = |cell: &&Cell<'_>| is_generated(cell) && is_balanced_file(cell);
    let mut lines = columns(cells.iter().filter(is_wanted));
    lines.retain(|(_, cells)| cells.len() > 1);
    let chart = LineChart {
        x: axis("Threads", Quantity::QueueDepth, Scale::Log2),
        y: axis("Text encoded per second", Quantity::Bandwidth, Scale::Linear),
        series: lines.iter().take(MOST_LINES).enumerate().map(speeds).collect(),
    };
    let names = lines.iter().skip(MOST_LINES).map(|(name, _)| name.clone());
    let which = behind_blank(not_drawn(&names.collect::<Vec<_>>(), "generated column"));
    let caption = format!(
        "Newline text in memory to a file without index, profile balanced; the bytes are the same.{which}"
    );
    let figure = chart.draw("column-encode", TITLE, caption);
    let if_missing = "no column was encoded with several numbers of threads.";
    slot(figure, TITLE, if_missing, "column-encode")
}

fn speeds((hue, (name, cells)): (usize, &Column<'_>)) -> Series {
    let point = |cell: &&Cell<'_>| Some(Point::of(cell.place(&THREADS)?, cell.number(&ENCODE_SPEED)?, ""));
    Series::new(name, hue, SeriesKind::Measured, cells.iter().filter_map(point))
}

fn parts(names: impl IntoIterator<Item = impl ToString>) -> Vec<Part> {
    let names = names.into_iter().map(|name| name.to_string());
    names.enumerate().map(|(hue, name)| Part { name, hue }).collect()
}
