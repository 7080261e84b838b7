//! Encode speed by threads.

use std::collections::BTreeMap;

use outcrop_measure::units::format_count;

use super::super::cell::Cell;
use super::{axis, missing, point};
use crate::chart::{LineChart, Quantity, Scale, Series, SeriesKind};
use crate::section::FigureSlot;

/// Lines that one chart can hold and still be read.
const MOST_LINES: usize = 6;

/// Text encoded per second by threads: a line for each kind of column that was encoded with several.
pub(super) fn speed_by_threads(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Encode speed by threads";
    let wanted = [
        ("operation", "encode"),
        ("format", "ocol"),
        ("index", "none"),
        ("profile", "balanced"),
    ];
    let mut lines: BTreeMap<_, Vec<&Cell<'_>>> = BTreeMap::new();
    for cell in cells
        .iter()
        .filter(|cell| cell.is_generated() && cell.is(&wanted))
    {
        lines.entry(cell.column_key()).or_default().push(cell);
    }
    lines.retain(|_, cells| cells.len() > 1);
    let total = lines.len();
    let series = lines.values().take(MOST_LINES).enumerate().map(|(hue, cells)| {
        let points = cells
            .iter()
            .filter_map(|cell| Some(point(cell.parsed("threads")?, cell.number("encode_speed")?)));
        let count = |name: &str| cells[0].parsed(name).map_or_else(String::new, format_count);
        let skew = match cells[0].factor("skew") {
            "0" => String::new(),
            skew => format!(", skew {skew}"),
        };
        Series {
            name: format!("{} words, {}{skew}", count("distinct"), cells[0].factor("order")),
            hue,
            points: points.collect(),
            kind: SeriesKind::Measured,
        }
    });
    let chart = LineChart {
        x: axis("Threads", Quantity::QueueDepth, Scale::Log2),
        y: axis("Text encoded per second", Quantity::Bandwidth, Scale::Linear),
        series: series.collect(),
    };
    let which = if total > MOST_LINES {
        format!(" {MOST_LINES} of {total} kinds of columns.")
    } else {
        String::new()
    };
    let caption = format!(
        "Newline text in memory to a file without index, profile balanced; the bytes are the same.{which}"
    );
    let drawn = chart.draw("column-encode", TITLE, caption);
    drawn.map_or_else(
        || {
            missing(
                TITLE,
                "no column was encoded with several numbers of threads.",
                "column-encode",
            )
        },
        FigureSlot::Drawn,
    )
}
