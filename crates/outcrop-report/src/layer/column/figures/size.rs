//! Size against cardinality and skew with the floor, and size by codec for the columns of a file.

use std::collections::BTreeSet;

use super::super::cell::Cell;
use super::{axis, missing};
use crate::chart::{
    Bar, BarChart, BarGroup, Facet, LineChart, Part, Point, Quantity, Scale, Segment, Series, SeriesKind,
};
use crate::section::FigureSlot;

/// Columns drawn; more make bars of a hair's breadth.
const MOST_COLUMNS: usize = 12;

/// Bytes a row by distinct values, one line a skew, each with its floor.
pub(super) fn by_cardinality(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Size by cardinality and skew";
    let wanted = [
        ("operation", "encode"),
        ("format", "ocol"),
        ("index", "none"),
        ("order", "random"),
        ("threads", "1"),
        ("profile", "balanced"),
    ];
    let cells: Vec<&Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.is_generated() && cell.is(&wanted))
        .collect();
    // One number of rows: the one that most cells have.
    let rows_of = |cell: &Cell<'_>| cell.parsed::<u64>("rows");
    let most = cells
        .iter()
        .filter_map(|cell| rows_of(cell))
        .max_by_key(|rows| cells.iter().filter(|cell| rows_of(cell) == Some(*rows)).count());
    let mut skews: Vec<&str> = cells.iter().map(|cell| cell.factor("skew")).collect();
    skews.sort_by(|left, right| {
        left.parse::<f64>()
            .ok()
            .partial_cmp(&right.parse().ok())
            .unwrap_or(left.cmp(right))
    });
    skews.dedup();
    let mut series = Vec::new();
    for (hue, skew) in skews.into_iter().enumerate() {
        let of_skew = cells
            .iter()
            .filter(|cell| cell.factor("skew") == skew && rows_of(cell) == most);
        series.extend(file_and_floor(of_skew.copied(), skew, hue));
    }
    let chart = LineChart {
        x: axis("Distinct values", Quantity::Count, Scale::Log10),
        y: axis("Bytes per row", Quantity::Ratio, Scale::Linear),
        series,
    };
    let caption = "The file without index (solid) and the least that it could be (dotted: the order of the rows by the counts of the \
                   values alone, and the dictionary). Rows in random order, profile balanced.";
    let drawn = chart.draw("column-size", TITLE, caption.to_owned());
    drawn.map_or_else(
        || {
            missing(
                TITLE,
                "no generated column in random order was encoded without index.",
                "column-size",
            )
        },
        FigureSlot::Drawn,
    )
}

/// The line of the files of one skew, and the line of what they could not be smaller than.
fn file_and_floor<'c, 'a: 'c>(
    cells: impl Iterator<Item = &'c Cell<'a>>,
    skew: &str,
    hue: usize,
) -> [Series; 2] {
    let (mut files, mut floors): (Vec<Point>, Vec<Point>) = (Vec::new(), Vec::new());
    for cell in cells {
        let (Some(x), Some(file)) = (cell.parsed("distinct"), cell.number("bytes_per_row")) else {
            continue;
        };
        let at = |y: f64, note: String| Point {
            x,
            y,
            interval: None,
            note,
        };
        files.push(at(
            file.value,
            format!("{:.3} B a row; {}", file.value, cell.column_words()),
        ));
        if let (Some(floor), Some(rows)) = (cell.value("floor_bytes"), cell.value("rows")) {
            floors.push(at(floor / rows, format!("floor {:.3} B a row", floor / rows)));
        }
    }
    let series = |name: String, points, kind| Series {
        name,
        hue,
        points,
        kind,
    };
    [
        series(format!("skew {skew}"), files, SeriesKind::Measured),
        series(format!("floor, skew {skew}"), floors, SeriesKind::Derived),
    ]
}

/// Ways to store a column as a column file, in the order of the bars; text under codecs comes behind.
const COLUMN_FILES: [(&str, [(&str, &str); 3]); 3] = [
    (
        "ocol smallest",
        [("format", "ocol"), ("index", "none"), ("profile", "smallest")],
    ),
    (
        "ocol balanced",
        [("format", "ocol"), ("index", "none"), ("profile", "balanced")],
    ),
    (
        "ocol balanced + postings",
        [("format", "ocol"), ("index", "postings"), ("profile", "balanced")],
    ),
];

/// One way to store a column, and the factors that tell it.
struct Way<'a> {
    name: String,
    factors: Vec<(&'static str, &'a str)>,
}

/// The ways that occur.
fn ways<'a>(cells: &[Cell<'a>]) -> Vec<Way<'a>> {
    let files = COLUMN_FILES.iter().map(|(name, factors)| Way {
        name: (*name).to_owned(),
        factors: factors.to_vec(),
    });
    let codecs: BTreeSet<&'a str> = encodes(cells)
        .map(|cell| cell.factor("format"))
        .filter(|format| *format != "ocol")
        .collect();
    let texts = codecs.into_iter().map(|codec| Way {
        name: format!("text, {codec}"),
        factors: vec![("format", codec)],
    });
    let occurs = |way: &Way<'_>| encodes(cells).any(|cell| cell.is(&way.factors));
    files.chain(texts).filter(occurs).collect()
}

/// Per cent of the text, for each column of a file and each way to store it.
pub(super) fn by_codec(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Size of each column by codec";
    let mut columns: Vec<(&str, f64)> = Vec::new();
    for cell in encodes(cells) {
        let name = cell.factor("column");
        if let Some(text) = cell.value("text_bytes")
            && !columns.iter().any(|(known, _)| *known == name)
        {
            columns.push((name, text));
        }
    }
    columns.sort_by(|left, right| right.1.total_cmp(&left.1));
    let total = columns.len();
    columns.truncate(MOST_COLUMNS);
    let ways = ways(cells);
    let groups = columns.iter().map(|(column, _)| BarGroup {
        label: (*column).to_owned(),
        bars: bars(cells, &ways, column),
    });
    let chart = BarChart {
        value: axis("Size, in % of the newline text", Quantity::Percent, Scale::Log10),
        parts: ways
            .iter()
            .enumerate()
            .map(|(hue, way)| Part {
                name: way.name.clone(),
                hue,
            })
            .collect(),
        facets: vec![Facet {
            title: String::new(),
            groups: groups.collect(),
        }],
    };
    let which = if total > MOST_COLUMNS {
        format!(" The {MOST_COLUMNS} largest of {total} columns.")
    } else {
        String::new()
    };
    let caption = format!(
        "Logarithmic: a step of the axis is a factor. Text under a codec is smaller at times, and cannot be searched.{which}"
    );
    let drawn = chart.draw("column-codecs", TITLE, caption);
    drawn.map_or_else(
        || missing(TITLE, "no column of a file was encoded.", "column-size"),
        FigureSlot::Drawn,
    )
}

fn encodes<'c, 'a>(cells: &'c [Cell<'a>]) -> impl Iterator<Item = &'c Cell<'a>> {
    cells
        .iter()
        .filter(|cell| !cell.is_generated() && cell.factor("operation") == "encode")
}

fn bars(cells: &[Cell<'_>], ways: &[Way<'_>], column: &str) -> Vec<Bar> {
    let of_way = ways.iter().enumerate().filter_map(|(part, way)| {
        let cell = encodes(cells).find(|cell| cell.factor("column") == column && cell.is(&way.factors))?;
        let file = cell.number("file_bytes")?;
        let value = file.value / cell.value("text_bytes")? * 100.0;
        let segment = Segment {
            part,
            value,
            interval: None,
        };
        let note = format!("{column}, {}: {file}, {value:.1} % of text", way.name);
        Some(Bar::single(SeriesKind::Measured, segment, note))
    });
    of_way.collect()
}
