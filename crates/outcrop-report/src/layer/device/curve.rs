//! Curves: cells that differ in one factor only, in the order of that factor.

use std::collections::BTreeMap;

use outcrop_measure::knee::Point;

use super::cell::Cell;

/// The depth at which curves over size and mix are looked at, where there is a choice.
const USUAL_DEPTH: u32 = 32;

/// The factor that varies along a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// Queue depth.
    Depth,
    /// Access size.
    Size,
    /// Share of reads.
    Mix,
}

/// Cells that differ in one factor only.
#[derive(Clone, Debug)]
pub(super) struct Curve<'c, 'a> {
    /// In ascending order of the factor.
    pub(super) cells: Vec<&'c Cell<'a>>,
}

/// What all cells of a curve share.
type Key<'c> = (
    &'c str,
    Option<u8>,
    Option<u64>,
    Option<u32>,
    u32,
    &'c BTreeMap<String, String>,
);

impl Along {
    fn position(self, cell: &Cell<'_>) -> Option<u64> {
        match self {
            Self::Depth => cell.queue_depth.map(u64::from),
            Self::Size => cell.block_size_bytes,
            Self::Mix => cell.read_percent.map(u64::from),
        }
    }

    fn key<'c>(self, cell: &'c Cell<'_>) -> Key<'c> {
        (
            &cell.access_pattern,
            if self == Self::Mix {
                None
            } else {
                cell.read_percent
            },
            if self == Self::Size {
                None
            } else {
                cell.block_size_bytes
            },
            if self == Self::Depth {
                None
            } else {
                cell.queue_depth
            },
            cell.jobs,
            &cell.other,
        )
    }
}

/// All curves of at least two cells along a factor, longest first; among equals those at the usual depth, and
/// then the smallest access, come first.
pub(super) fn curves<'c, 'a>(cells: &'c [Cell<'a>], along: Along) -> Vec<Curve<'c, 'a>> {
    let mut groups: BTreeMap<Key<'c>, Vec<&'c Cell<'a>>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| along.position(cell).is_some()) {
        groups.entry(along.key(cell)).or_default().push(cell);
    }
    let mut curves: Vec<_> = groups
        .into_values()
        .filter(|cells| cells.len() >= 2)
        .map(|mut cells| {
            cells.sort_by_key(|cell| along.position(cell));
            Curve { cells }
        })
        .collect();
    curves.sort_by_key(|curve| {
        let first = curve.cells.first();
        let size = first.and_then(|cell| cell.block_size_bytes);
        // Where the depth is held, one that keeps a device busy says more than a lone request.
        let depth = first
            .and_then(|cell| cell.queue_depth)
            .filter(|_| along != Along::Depth);
        let from_usual = depth.map(|depth| depth.abs_diff(USUAL_DEPTH));
        (std::cmp::Reverse(curve.cells.len()), from_usual, size)
    });
    curves
}

/// The longest curve whose first cell meets a condition.
pub(super) fn longest<'c, 'a>(
    cells: &'c [Cell<'a>],
    along: Along,
    condition: impl Fn(&Cell<'a>) -> bool,
) -> Option<Curve<'c, 'a>> {
    let meets = |curve: &Curve<'c, 'a>| curve.cells.first().is_some_and(|cell| condition(cell));
    curves(cells, along).into_iter().find(meets)
}

impl<'c, 'a> Curve<'c, 'a> {
    /// The least cell of the curve.
    pub(super) fn first(&self) -> Option<&'c Cell<'a>> {
        self.cells.first().copied()
    }

    /// The cell with the largest value of a metric.
    pub(super) fn highest(&self, metric: &str) -> Option<&'c Cell<'a>> {
        highest(self.cells.iter().copied(), metric)
    }

    /// One point of load per cell, as the knee wants it.
    pub(super) fn load_points(&self) -> Vec<Point> {
        let point = |cell: &&Cell<'_>| {
            Some(Point {
                concurrency: cell.concurrency()?,
                throughput: cell.value("iops")?,
                latency: cell.mean_latency()?.value,
            })
        };
        self.cells.iter().filter_map(point).collect()
    }
}

/// The cell with the largest value of a metric; the first among equals.
pub(super) fn highest<'c, 'a: 'c>(
    cells: impl Iterator<Item = &'c Cell<'a>>,
    metric: &str,
) -> Option<&'c Cell<'a>> {
    cells.fold(None, |best: Option<&Cell<'a>>, cell| {
        match (best.and_then(|best| best.value(metric)), cell.value(metric)) {
            (Some(best_value), Some(value)) if value <= best_value => best,
            (_, None) => best,
            _ => Some(cell),
        }
    })
}
