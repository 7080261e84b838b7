//! The compression figures: front, stages, percentiles, speeds and robustness, published ones beside ours.

mod front;
mod percentiles;
mod robustness;
mod shares;
mod speeds;

use std::collections::BTreeMap;

use outcrop_measure::metric::Metric;
use outcrop_schema::compression::{
    CODEC, Direction, LATENCY, MODELLED_COMPRESS_SPEED, MODELLED_PAGE_LATENCY, PUBLISHED_LATENCY, SPEED,
};

use super::cell::{CompressionCell, title};
use super::references::Published;
use super::wishes::candidates;
use crate::cell::Cell;
use crate::chart::{Axis, Point, Quantity, Scale, Series, SeriesKind, axis};
use crate::section::{FigureSlot, Missing};

/// Figures of the page in reading order.
pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<FigureSlot> {
    let timed = cells.iter().filter(|cell| cell.is_plain() && !cell.is_copy());
    let mut codecs: Vec<&str> = timed.map(|cell| cell.spelling(&CODEC)).collect();
    codecs.dedup();
    let candidates = candidates(cells);
    let mut slots = front::all(cells, &candidates, &codecs);
    slots.extend(speeds::all(cells, &candidates, published));
    slots.extend(percentiles::all(cells, published, &codecs));
    slots.extend(robustness::all(cells, published, &codecs));
    slots.extend(shares::all(cells, published));
    by_plan(slots)
}

/// One sentence for all figures of a plan that was not run, behind those that could be drawn.
fn by_plan(slots: Vec<FigureSlot>) -> Vec<FigureSlot> {
    let mut missing: BTreeMap<String, Vec<Missing>> = BTreeMap::new();
    let mut kept = Vec::new();
    for slot in slots {
        match slot {
            FigureSlot::Drawn(_) => kept.push(slot),
            FigureSlot::Missing(one) => missing.entry(one.plan.clone()).or_default().push(one),
        }
    }
    kept.extend(missing.into_iter().map(|(plan, ones)| match ones.as_slice() {
        [one] => FigureSlot::Missing(one.clone()),
        ones => {
            let titles: Vec<&str> = ones.iter().map(|one| one.title.as_str()).collect();
            let (title, reason) = (format!("{} figures of {plan}", ones.len()), titles.join("; "));
            FigureSlot::Missing(Missing {
                title,
                reason: format!("{reason}."),
                plan,
                effort: ones.iter().map(|one| one.effort).max().unwrap_or_default(),
                generates_data: ones.iter().any(|one| one.generates_data),
            })
        }
    }));
    kept
}

/// The colour and marker of a codec: each of a run has its own in every figure of lines.
fn hue_of(codecs: &[&str], codec: &str) -> usize {
    codecs
        .iter()
        .position(|name| *name == codec)
        .unwrap_or(codecs.len())
}

/// A line of cells of one codec.
fn line_of<'c>(
    cells: &[&'c Cell<'_>],
    codecs: &[&str],
    metric: &Metric,
    x_of: impl Fn(&'c Cell<'_>) -> Option<f64>,
) -> Series {
    let codec = cells.first().map_or("", |cell| cell.spelling(&CODEC));
    let point = |cell: &&'c Cell<'_>| Some(Point::of(x_of(cell)?, cell.number(metric)?, &cell.words()));
    let points = cells.iter().filter_map(point);
    Series::new(codec, hue_of(codecs, codec), SeriesKind::Measured, points)
}

/// What codecs are timed for, in one direction.
struct Timing {
    direction: Direction,
    word: &'static str,
    metric: Metric,
    published: Metric,
    quantity: Quantity,
}

impl Timing {
    /// Throughput and latency, in the order of the page.
    fn all() -> [Self; 4] {
        let [compress, decompress] = Direction::ALL;
        [
            Self::throughput(compress),
            Self::throughput(decompress),
            Self::latency(compress),
            Self::latency(decompress),
        ]
    }

    const fn throughput(direction: Direction) -> Self {
        Self {
            direction,
            word: "throughput",
            metric: SPEED.of(direction),
            published: SPEED.of(direction),
            quantity: Quantity::Bandwidth,
        }
    }

    const fn latency(direction: Direction) -> Self {
        Self {
            direction,
            word: "latency",
            metric: LATENCY.of(direction).mean,
            published: PUBLISHED_LATENCY.of(direction),
            quantity: Quantity::Latency,
        }
    }

    /// `Compress throughput`.
    fn title(&self) -> String {
        format!("{} {}", title(self.direction), self.word)
    }

    fn axis(&self, label: &str) -> Axis {
        axis(label, self.quantity, Scale::Log10)
    }

    /// What dpzip's cycle model says; it models compression of pages.
    fn modelled(&self, cell: &Cell<'_>) -> Option<Metric> {
        match (self.direction, self.quantity) {
            (Direction::Compress, Quantity::Bandwidth) => Some(MODELLED_COMPRESS_SPEED),
            (Direction::Compress, _) if cell.size_bytes() == 4096 => Some(MODELLED_PAGE_LATENCY),
            _ => None,
        }
    }
}
