//! Figures of one direction with a line for each value of a second factor: IOPS over depth for each access size, latency and bandwidth
//! over access size for each depth. None where that factor has one value.

use outcrop_measure::metric::Metric;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{BANDWIDTH, ByDirection, Direction, IO_BLOCK_SIZE, IOPS, QUEUE_DEPTH};

use super::{at_work, points};
use crate::cell::Cell;
use crate::chart::{Axis, LineChart, Quantity, Scale, Series, SeriesKind, Wait, axis};
use crate::layer::device::cell::{DeviceCell, P50, P99};
use crate::layer::device::curve::{Curve, others_along, pure_curves};
use crate::section::FigureSlot;

/// Lines of more access sizes cannot be distinguished.
const MOST_SIZES: usize = 6;
/// Fewer depths, since each may have lines of two percentiles.
const MOST_DEPTHS: usize = 4;

/// Every figure that these cells have.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    let of_each = |figure: fn(&[Cell<'_>], Direction) -> Option<FigureSlot>| {
        let directions = Direction::ALL.into_iter();
        directions.filter_map(move |direction| figure(cells, direction))
    };
    let by_size = of_each(latency_by_size_and_depth).chain(of_each(bandwidth_by_size_and_depth));
    // One depth of them is in the figures of both directions.
    let mut slots: Vec<FigureSlot> = by_size.map(|slot| slot.that_can_wait(Wait::Early)).collect();
    slots.extend(of_each(iops_by_depth_and_size));
    slots
}

/// What a figure over sizes that draws one curve of each direction says of the others, as sentences behind blanks; nothing where there are none.
pub(super) fn other_sizes(cells: &[Cell<'_>], figure: &str) -> String {
    let alone = Direction::ALL.map(|direction| pure_curves(cells, &IO_BLOCK_SIZE, direction).next());
    let drawn: Vec<&Cell<'_>> = alone.iter().flatten().map(|curve| curve[0]).collect();
    // Those of other depths alone have figures.
    let of_depths: [FactorRef; 2] = [&IO_BLOCK_SIZE, &QUEUE_DEPTH];
    let could_have = |cell: &Cell<'_>| !drawn.iter().any(|one| one.is_like(cell, &of_depths));
    let others = others_along(cells, &IO_BLOCK_SIZE, &drawn, could_have);
    format!("{}{others}", other_depths(cells, figure))
}

/// How many depths have no line, and where they have one.
fn other_depths(cells: &[Cell<'_>], figure: &str) -> String {
    let several = Direction::ALL.into_iter().filter_map(|direction| {
        let lines = Lines::along(&IO_BLOCK_SIZE, cells, direction)?;
        Some((direction, lines.curves.len()))
    });
    let several: Vec<(Direction, usize)> = several.collect();
    let counts = several.iter().enumerate().map(|(index, (direction, count))| {
        let noun = if index == 0 { " queue depths" } else { "" };
        format!("1 of {count}{noun} of {direction}s")
    });
    let figures = several
        .iter()
        .map(|(direction, _)| format!("{figure}-of-{direction}s"));
    let [counts, figures] = [counts.collect(), figures.collect()].map(|all: Vec<String>| all.join(" and "));
    match several.is_empty() {
        true => String::new(),
        false => format!(" It draws {counts}; for more of them, see {figures}."),
    }
}

/// Curves along one factor that differ from each other in a second factor only, in ascending order of that.
struct Lines<'c, 'a> {
    along: FactorRef,
    direction: Direction,
    curves: Vec<Curve<'c, 'a>>,
}

impl<'c, 'a> Lines<'c, 'a> {
    /// Those along the access size differ in the depth, and those along the depth in the size. None where there is a single curve.
    fn along(along: FactorRef, cells: &'c [Cell<'a>], direction: Direction) -> Option<Self> {
        const APART: [FactorRef; 2] = [&IO_BLOCK_SIZE, &QUEUE_DEPTH];
        let all: Vec<Curve<'c, 'a>> = pure_curves(cells, along, direction).collect();
        let first = all.first()?[0];
        let is_like = |curve: &Curve<'_, '_>| curve[0].is_like(first, &APART);
        let mut curves: Vec<Curve<'c, 'a>> = all.iter().filter(|curve| is_like(curve)).cloned().collect();
        curves.sort_by_key(|curve| {
            (
                curve[0].get(&IO_BLOCK_SIZE).copied(),
                curve[0].get(&QUEUE_DEPTH).copied(),
            )
        });
        (curves.len() >= 2).then_some(Self {
            along,
            direction,
            curves,
        })
    }

    /// The curves that are drawn: the first, the last and those evenly between them.
    fn drawn(&self, most: usize) -> Vec<&Curve<'c, 'a>> {
        let count = self.curves.len();
        match count <= most {
            true => self.curves.iter().collect(),
            false => (0..most)
                .map(|index| &self.curves[(index * (count - 1) + (most - 1) / 2) / (most - 1)])
                .collect(),
        }
    }

    /// A line for each drawn curve and metric, whose name follows that of the curve.
    fn series(
        &self,
        most: usize,
        name: impl Fn(&Cell<'_>) -> String,
        metrics: &[(&ByDirection<Metric>, &str)],
    ) -> Vec<Series> {
        let drawn = self.drawn(most);
        let each = metrics.iter().enumerate();
        let series = each.flat_map(|(row, (metric, suffix))| {
            let (name, drawn) = (&name, &drawn);
            drawn.iter().enumerate().map(move |(index, curve)| {
                let x = |cell: &Cell<'_>| cell.place(self.along);
                let points = points(*curve, x, |cell| cell.directed(self.direction, metric));
                let name = format!("{}{suffix}", name(curve[0]));
                Series::new(name, index + row * drawn.len(), SeriesKind::Measured, points)
            })
        });
        series.collect()
    }

    /// Curves of the same direction that have no line, as a sentence behind a blank; nothing where all have one.
    fn not_drawn(&self, cells: &[Cell<'_>], most: usize) -> String {
        let drawn: Vec<&Cell<'_>> = self.drawn(most).into_iter().map(|curve| curve[0]).collect();
        let could_have = |cell: &Cell<'_>| cell.only() == Some(self.direction);
        others_along(cells, self.along, &drawn, could_have)
    }

    /// What all of them have besides reads or writes.
    fn circumstances(&self) -> String {
        self.curves[0][0].circumstances()
    }
}

fn access_size() -> Axis {
    axis("Access size", Quantity::AccessSize, Scale::Log2)
}

fn latency_by_size_and_depth(cells: &[Cell<'_>], direction: Direction) -> Option<FigureSlot> {
    let lines = Lines::along(&IO_BLOCK_SIZE, cells, direction)?;
    let percentiles = [(&P50, " p50"), (&P99, " p99")];
    let chart = LineChart {
        x: access_size(),
        y: axis("Latency", Quantity::Latency, Scale::Log10),
        series: lines.series(MOST_DEPTHS, |cell| cell.depth_words(), &percentiles),
    };
    let id = format!("latency-by-size-of-{direction}s");
    let title = format!("Latency of {direction}s by access size, for each queue depth");
    let caption = format!(
        "Random accesses; only {direction}s{}. A percentile needs ten operations beyond it.{}",
        lines.circumstances(),
        lines.not_drawn(cells, MOST_DEPTHS)
    );
    Some(chart.slot(&id, &title, caption, "ssd-access-size"))
}

fn bandwidth_by_size_and_depth(cells: &[Cell<'_>], direction: Direction) -> Option<FigureSlot> {
    let lines = Lines::along(&IO_BLOCK_SIZE, cells, direction)?;
    let chart = LineChart {
        x: access_size(),
        y: axis("Bandwidth", Quantity::Bandwidth, Scale::Linear),
        series: lines.series(MOST_DEPTHS, |cell| cell.depth_words(), &[(&BANDWIDTH, "")]),
    };
    let id = format!("bandwidth-by-size-of-{direction}s");
    let title = format!("Bandwidth of {direction}s by access size, for each queue depth");
    let caption = format!(
        "Random accesses; only {direction}s{}. Where lines meet, more depth adds no bandwidth.{}",
        lines.circumstances(),
        lines.not_drawn(cells, MOST_DEPTHS)
    );
    Some(chart.slot(&id, &title, caption, "ssd-access-size"))
}

fn iops_by_depth_and_size(cells: &[Cell<'_>], direction: Direction) -> Option<FigureSlot> {
    let lines = Lines::along(&QUEUE_DEPTH, cells, direction)?;
    let chart = LineChart {
        x: axis("Queue depth", Quantity::QueueDepth, Scale::Log2),
        y: axis("IOPS", Quantity::Iops, Scale::Log10),
        series: lines.series(MOST_SIZES, |cell| cell.access(), &[(&IOPS, "")]),
    };
    let id = format!("iops-by-depth-of-{direction}s");
    let title = format!("IOPS of {direction}s by queue depth, for each access size");
    let caption = format!(
        "Only {direction}s{}{}. A line that stays flat is of a size at which the least depth is enough.{}",
        at_work(lines.curves[0][0]),
        lines.circumstances(),
        lines.not_drawn(cells, MOST_SIZES)
    );
    Some(chart.slot(&id, &title, caption, "ssd-queue-depth"))
}
