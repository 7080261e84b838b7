//! Curves: cells that differ in one factor only, in the order of that factor.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use outcrop_measure::knee::{Point, SATURATED};
use outcrop_measure::metric::Metric;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{ARRIVAL, Direction, IO_BLOCK_SIZE, IOPS, QUEUE_DEPTH, READ_WRITE_MIX};

use super::cell::DeviceCell;
use crate::cell::{Cell, best, families};
use crate::layer::not_drawn::curves_not_drawn;
use crate::number::Number;

/// The depth at which curves over size and mix are looked at, where there is a choice.
const USUAL_DEPTH: u32 = 32;

/// Percent of reads of the mix that is looked at, where there is a choice.
pub(super) const USUAL_MIX: u8 = 70;

/// At least two cells of one subject that differ in one factor only, in ascending order of it.
pub(super) type Curve<'c, 'a> = Vec<&'c Cell<'a>>;

/// All curves along a factor: those of writes that wait for no sync before others, then the longest first; among equals those at the usual
/// depth, and then the smallest access and the fewest jobs, come first.
pub(super) fn curves<'c, 'a>(cells: &'c [Cell<'a>], along: FactorRef) -> Vec<Curve<'c, 'a>> {
    let placed = cells.iter().filter(|cell| cell.place(along).is_some());
    let mut curves = families(placed, &[along]);
    curves.retain(|curve| curve.len() >= 2);
    curves.sort_by_key(|curve| {
        let first = curve[0];
        // Where the depth is held, one that keeps a device busy says more than a lone request.
        let depth = first.get(&QUEUE_DEPTH).filter(|_| along.name != QUEUE_DEPTH.name);
        let from_usual = depth.map(|depth| depth.abs_diff(USUAL_DEPTH));
        let size = first.get(&IO_BLOCK_SIZE).copied();
        (
            first.is_synced(),
            Reverse(curve.len()),
            from_usual,
            size,
            first.jobs(),
        )
    });
    curves
}

/// The curves of random accesses in one direction only, in the same order.
pub(super) fn pure_curves<'c, 'a>(
    cells: &'c [Cell<'a>],
    along: FactorRef,
    direction: Direction,
) -> impl Iterator<Item = Curve<'c, 'a>> {
    let curves = curves(cells, along).into_iter();
    curves.filter(move |curve| curve[0].only() == Some(direction) && curve[0].is_random())
}

/// The depth curve of one direction that figures and the answer use: the longest, of the smallest access.
pub(super) fn depth_curve<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<Curve<'c, 'a>> {
    pure_curves(cells, &QUEUE_DEPTH, direction).next()
}

/// The depth curves of mixes of random accesses, that nearest to 70:30 first: one for each mix, its longest of the smallest access.
pub(super) fn mixed_depth_curves<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<Curve<'c, 'a>> {
    let mut mixes = BTreeSet::new();
    let mut curves = curves(cells, &QUEUE_DEPTH);
    curves.retain(|curve| {
        let is_mix = curve[0].is_mixed() && curve[0].is_random();
        is_mix && mixes.insert(curve[0].read_percent())
    });
    curves.sort_by_key(|curve| curve[0].read_percent().map(|reads| reads.abs_diff(USUAL_MIX)));
    curves
}

/// The first of them, which the figures of a single mix and the advice are of.
pub(super) fn mixed_depth_curve<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<Curve<'c, 'a>> {
    mixed_depth_curves(cells).into_iter().next()
}

/// The mix curve of the page: the longest one with a mix in it, by rising share of reads.
pub(super) fn mix_curve<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<Curve<'c, 'a>> {
    let mut curves = curves(cells, &READ_WRITE_MIX).into_iter();
    let mut curve = curves.find(|curve| curve.iter().any(|cell| cell.is_mixed()))?;
    curve.reverse();
    Some(curve)
}

/// The cells of one arrival process that differ in the offered rate only, by rising rate: the longest such curve.
pub(super) fn offered_curve<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<Curve<'c, 'a>> {
    let process = |cell: &Cell<'_>| {
        let spelling = cell.spelling(&ARRIVAL);
        let process = spelling.split_once(':').map_or(spelling, |(process, _)| process);
        // Rates and shares are two scales.
        (process.to_owned(), spelling.ends_with('%'))
    };
    let open = || {
        cells
            .iter()
            .filter(|cell| !cell.is_closed_loop() && cell.reaches_device())
    };
    let processes: BTreeSet<(String, bool)> = open().map(process).collect();
    let mut curves: Vec<Curve<'c, 'a>> = processes
        .iter()
        .flat_map(|wanted| families(open().filter(|cell| process(cell) == *wanted), &[&ARRIVAL]))
        .filter(|curve| curve.len() >= 2)
        .collect();
    curves.sort_by_key(|curve| Reverse(curve.len()));
    let mut curve = curves.into_iter().next()?;
    let rate = |cell: &Cell<'_>| cell.offered().unwrap_or(0.0);
    curve.sort_by(|one, other| rate(one).total_cmp(&rate(other)));
    Some(curve)
}

/// The curves of a run along a factor that a figure could have and has not, as a sentence behind a blank: how many, and in which values they
/// differ from all that it has. Nothing where it has all.
pub(super) fn others_along(
    cells: &[Cell<'_>],
    along: FactorRef,
    drawn: &[&Cell<'_>],
    could_have: impl Fn(&Cell<'_>) -> bool,
) -> String {
    let all = curves(cells, along);
    let firsts = all.iter().map(|curve| curve[0]).filter(|cell| could_have(cell));
    let is_drawn = |cell: &Cell<'_>| drawn.iter().any(|one| one.is_like(cell, &[along]));
    let others: Vec<&Cell<'_>> = firsts.filter(|cell| !is_drawn(cell)).collect();
    let sentence = curves_not_drawn(&others, drawn, along);
    if sentence.is_empty() {
        sentence
    } else {
        format!(" {sentence}")
    }
}

/// One point of load per cell, as the knee wants it.
pub(super) fn load_points(curve: &[&Cell<'_>]) -> Vec<Point> {
    let point = |cell: &&Cell<'_>| {
        Some(Point {
            concurrency: cell.concurrency()?,
            throughput: cell.value(&IOPS.both)?,
            latency: cell.mean_latency()?.value,
        })
    };
    curve.iter().filter_map(point).collect()
}

/// A cell with what it reached.
type Reached<'c, 'a> = (&'c Cell<'a>, &'c Number);

/// The IOPS of a curve, as claims name them.
pub(super) fn iops_of<'c>(
    curve: &'c [&Cell<'_>],
    direction: Direction,
) -> impl Iterator<Item = (String, &'c Number)> {
    let name = move |cell: &Cell<'_>| format!("{direction} IOPS at {}", cell.depth_words());
    curve
        .iter()
        .filter_map(move |cell| Some((name(cell), cell.number(&IOPS.both)?)))
}

/// Which cells of a curve have no IOPS: `; QD 1024 has no figure`; empty where all have.
pub(super) fn without_iops(curve: &[&Cell<'_>], words_of: &dyn Fn(&Cell<'_>) -> String) -> String {
    let lacking = curve.iter().filter(|cell| cell.number(&IOPS.both).is_none());
    let lacking: Vec<String> = lacking.map(|cell| words_of(cell)).collect();
    match lacking.len() {
        0 => String::new(),
        1 => format!("; {} has no figure", lacking[0]),
        _ => format!("; {} have no figure", lacking.join(", ")),
    }
}

/// Whether a number is as high as the highest, as far as the trials can tell: their intervals overlap, or, without intervals,
/// it is nearly as high.
pub(super) fn ties(number: &Number, highest: &Number) -> bool {
    match (number.ends(), highest.ends()) {
        (Some((_, high)), Some((low, _))) => high >= low,
        _ => number.value >= SATURATED * highest.value,
    }
}

/// Whether throughput still rises at the end of a curve: none of its other cells ties with the last.
pub(super) fn still_rises(curve: &[&Cell<'_>]) -> bool {
    first_of_ties(curve, &IOPS.both).is_some_and(|((cell, _), _)| is_deepest(cell, curve))
}

/// Whether a cell is the last of its curve, beyond which nothing was measured.
pub(super) fn is_deepest(cell: &Cell<'_>, curve: &[&Cell<'_>]) -> bool {
    curve.len() > 1 && curve.last().is_some_and(|last| std::ptr::eq(*last, cell))
}

/// Of the cells that tie with the best, in the order of a curve, the first, and the best of the others: the one that a reader compares it
/// with.
pub(super) fn first_of_ties<'c, 'a>(
    curve: &[&'c Cell<'a>],
    metric: &Metric,
) -> Option<(Reached<'c, 'a>, Option<Reached<'c, 'a>>)> {
    let (_, peak) = best(curve.iter().copied(), metric)?;
    let reached = curve
        .iter()
        .filter_map(|cell| Some((*cell, cell.number(metric)?)));
    let tied: Vec<Reached<'c, 'a>> = reached.filter(|(_, number)| ties(number, peak)).collect();
    let (first, others) = tied.split_first()?;
    let best_other = best(others.iter().map(|(cell, _)| *cell), metric);
    Some((*first, best_other))
}
