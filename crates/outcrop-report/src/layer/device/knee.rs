//! The observed knee of a curve, as far as its trials can tell.

use outcrop_measure::knee::{self, Knee};
use outcrop_measure::metric::Unit;
use outcrop_schema::device::IOPS;

use super::cell::DeviceCell;
use super::curve::{load_points, ties};
use crate::cell::Cell;
use crate::number::Number;

/// The load of greatest throughput ÷ latency, and those that tie with it.
pub(super) struct ObservedKnee {
    /// By the medians.
    pub(super) best: Knee,
    /// The least requests in flight whose interval overlaps that of the best, and the most: these two and what lies between may be the knee.
    pub(super) ends: (f64, f64),
    /// Nothing deeper was measured than the latter.
    pub(super) may_lie_beyond: bool,
}

impl ObservedKnee {
    /// Of a curve in ascending order; none where its medians have none.
    pub(super) fn of(curve: &[&Cell<'_>]) -> Option<Self> {
        let best = knee::observed(&load_points(curve))?;
        let powers: Vec<(f64, Number)> = curve.iter().filter_map(|cell| power(cell)).collect();
        let highest = powers.iter().find(|(load, _)| *load == best.concurrency);
        let tying = |number: &Number| highest.is_some_and(|(_, highest)| ties_by_interval(number, highest));
        let tied = powers.iter().filter(|(_, number)| tying(number));
        let loads = tied.map(|(load, _)| *load);
        let least = loads.clone().fold(best.concurrency, f64::min);
        let most = loads.fold(best.concurrency, f64::max);
        let may_lie_beyond = powers.last().is_some_and(|(deepest, _)| *deepest == most);
        Some(Self {
            best,
            ends: (least, most),
            may_lie_beyond,
        })
    }

    /// Whether other loads than one may be the knee.
    pub(super) fn is_open(&self) -> bool {
        self.ends.0 < self.ends.1
    }
}

/// Without intervals the medians decide.
fn ties_by_interval(number: &Number, highest: &Number) -> bool {
    number.interval.is_some() && ties(number, highest)
}

/// Requests in flight, and throughput ÷ latency there: by Little's law the square of throughput ÷ requests in flight, so that one interval
/// counts once.
fn power(cell: &Cell<'_>) -> Option<(f64, Number)> {
    let load = cell.concurrency()?;
    let power = |inputs: &[f64]| inputs[0] * inputs[0] / load;
    let iops = cell.number(&IOPS.both)?;
    Some((
        load,
        Number::computed("throughput ÷ latency", Unit::PerSecond, &[iops], power),
    ))
}
