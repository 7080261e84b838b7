//! Speed and latency as data compress less and less: by the ratio asked for, and by the entropy asked for.

use outcrop_schema::compression::{CODEC, COMPRESSED_PERCENT, CONTENT};
use outcrop_workload::{BlockContent, Content};

use super::super::cell::CompressionCell;
use super::super::references::{Published, ROBUSTNESS};
use super::{Timing, line_of};
use crate::cell::{Cell, families, largest_family};
use crate::chart::{COLOURS, LineChart, Point, Quantity, Scale, Series, SeriesKind, axis};
use crate::section::FigureSlot;

const PLAN: &str = "robustness";

#[derive(Clone, Copy, PartialEq)]
enum Along {
    Ratio,
    Entropy,
}

impl Along {
    /// Where a cell stands, if its content was made that way.
    fn place(self, cell: &Cell<'_>) -> Option<f64> {
        let Some(BlockContent::Generated(content)) = cell.get(&CONTENT) else {
            return None;
        };
        match (self, content) {
            (Self::Ratio, Content::Compressible { ratio }) => Some(100.0 / ratio),
            (Self::Ratio, Content::Zeros) => Some(0.0),
            (Self::Ratio, Content::Random) => Some(100.0),
            (Self::Entropy, Content::Entropy { bits_per_byte }) => Some(*bits_per_byte),
            _ => None,
        }
    }
}

pub(super) fn all(cells: &[Cell<'_>], published: &Published, codecs: &[&str]) -> Vec<FigureSlot> {
    let of = |along| Timing::all().map(|timing| lines(cells, published, codecs, along, &timing));
    [Along::Ratio, Along::Entropy].into_iter().flat_map(of).collect()
}

fn lines(
    cells: &[Cell<'_>],
    published: &Published,
    codecs: &[&str],
    along: Along,
    timing: &Timing,
) -> FigureSlot {
    let (by, quantity) = match along {
        Along::Ratio => ("target ratio", Quantity::Percent),
        Along::Entropy => ("target entropy", Quantity::Bits),
    };
    let x_label = match along {
        Along::Ratio => "Compressed ÷ original, requested",
        Along::Entropy => "Order-0 entropy per byte, requested",
    };
    let title = format!("{} by {by}", timing.title());
    // The block size that most of the cells have.
    let made = cells.iter().filter(|cell| {
        cell.is_plain() && !cell.is_copy() && cell.threads() == 1 && along.place(cell).is_some()
    });
    let made = largest_family(made, &[&CODEC, &CONTENT]);
    let size = made.first().map(|cell| cell.size()).unwrap_or_default();
    let line = |family: Vec<&Cell<'_>>| {
        let mut line = line_of(&family, codecs, &timing.metric, |cell| along.place(cell));
        line.points.sort_by(|one, other| one.x.total_cmp(&other.x));
        line
    };
    let mut series: Vec<Series> = families(made, &[&CONTENT]).into_iter().map(line).collect();
    series.retain(|line| line.points.len() > 1);
    if series.is_empty() {
        let reason = format!("no codec was measured at two values of the {by}.");
        return FigureSlot::missing(&title, &reason, PLAN).of_generated_data();
    }
    let mut caption = format!("Generated content, blocks of {size}, one thread.");
    if along == Along::Entropy {
        caption.push_str(
            " Bytes drawn independently: an entropy coder gains what the axis shows. A pure LZ coder (LZ4, Snappy) finds only what chance repeats: little from 4 bits up, more the fewer bits there are, and at 0.8 bits more than half of the size.",
        );
    } else {
        let theirs = published_lines(published, timing, &series);
        let how = "Dashed: published devices (arXiv 2509.23693, figure 12).";
        caption.push_str(&published.caption(ROBUSTNESS, how));
        series.extend(theirs);
    }
    let chart = LineChart {
        x: axis(x_label, quantity, Scale::Linear),
        y: timing.axis(&timing.title()),
        series,
    };
    let id = format!("{}-{}-by-{}", timing.direction, timing.word, by.replace(' ', "-"));
    chart.slot(&id, &title, caption, PLAN)
}

/// Published devices, in colours that our lines do not have, as far as there are some.
fn published_lines(published: &Published, timing: &Timing, ours: &[Series]) -> Vec<Series> {
    let is_free = |hue: &usize| ours.iter().all(|line| line.hue % COLOURS != *hue);
    // More published lines than colours are left: dashes and names tell them apart.
    let hues = (0..COLOURS).filter(is_free).chain(COLOURS..);
    let line = |(hue, curve): (usize, Vec<&Cell<'static>>)| {
        let subject = curve.first().map_or("", |cell| cell.subject());
        let point = |cell: &&Cell<'_>| {
            let y = cell.value(&timing.metric)?;
            let note = format!("{subject}, published: {}", timing.quantity.spell(y));
            Some(Point::bare(*cell.get(&COMPRESSED_PERCENT)?, y, note))
        };
        let name = format!("{subject} (published)");
        Series::new(name, hue, SeriesKind::Published, curve.iter().filter_map(point))
    };
    let mut lines: Vec<Series> = hues.zip(published.by_compressibility()).map(line).collect();
    lines.retain(|line| !line.points.is_empty());
    lines
}
