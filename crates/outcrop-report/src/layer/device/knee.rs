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
    best: Knee,
    /// Requests in flight whose interval overlaps that of the best, and the best: each of them may be the knee. In ascending order.
    tied: Vec<f64>,
    /// Whether loads between two of these were measured that do not tie.
    has_gap: bool,
    /// Nothing less was measured than the first of these, and it is not a single request.
    may_lie_below: bool,
    /// Nothing deeper was measured than the last of these.
    may_lie_beyond: bool,
}

impl ObservedKnee {
    /// Of a curve in ascending order; none where fewer than three loads have figures, or where nothing ties with the deepest, which is best.
    pub(super) fn of(curve: &[&Cell<'_>]) -> Option<Self> {
        let best = knee::greatest_power(&load_points(curve))?;
        let powers: Vec<(f64, Number)> = curve.iter().filter_map(|cell| power(cell)).collect();
        let of_best = powers.iter().find(|(load, _)| *load == best.concurrency);
        let is_tied = |(load, number): &&(f64, Number)| {
            *load == best.concurrency || of_best.is_some_and(|(_, of_best)| overlap(number, of_best))
        };
        let tied: Vec<f64> = powers.iter().filter(is_tied).map(|(load, _)| *load).collect();
        let (least, most) = (*tied.first()?, *tied.last()?);
        let between = powers.iter().filter(|(load, _)| (least..=most).contains(load));
        let observed = Self {
            has_gap: between.count() > tied.len(),
            may_lie_below: least > 1.0 && powers.first().is_some_and(|(load, _)| *load == least),
            may_lie_beyond: powers.last().is_some_and(|(load, _)| *load == most),
            best,
            tied,
        };
        (observed.is_open() || !observed.may_lie_beyond).then_some(observed)
    }

    /// Whether other loads than one may be the knee.
    pub(super) fn is_open(&self) -> bool {
        self.tied.len() > 1
    }

    /// Whether the knee may lie beyond the depths measured, or below them.
    pub(super) fn has_open_end(&self) -> bool {
        self.may_lie_below || self.may_lie_beyond
    }

    /// The least and the most requests in flight that may be the knee, of those that were measured.
    pub(super) fn ends(&self) -> (f64, f64) {
        let at_best = self.best.concurrency;
        (
            self.tied.first().copied().unwrap_or(at_best),
            self.tied.last().copied().unwrap_or(at_best),
        )
    }

    /// Between which the knee is, wherever it is within this factor of the loads that may be it.
    pub(super) fn span(&self, factor: f64) -> std::ops::RangeInclusive<f64> {
        let (least, most) = self.ends();
        let low = if self.may_lie_below { 0.0 } else { least / factor };
        let high = if self.may_lie_beyond {
            f64::INFINITY
        } else {
            most * factor
        };
        low..=high
    }

    /// As numbers: the load, or the least and the most of those that tie.
    pub(super) fn numbers(&self, name: &str, n: usize) -> Vec<Number> {
        let number = |name: String, load: f64| Number::derived(name, load, Unit::Count, n);
        let (least, most) = self.ends();
        match self.is_open() {
            false => vec![number(name.to_owned(), least)],
            true => vec![
                number(format!("{name}, least of those that tie"), least),
                number(format!("{name}, most of those that tie"), most),
            ],
        }
    }

    /// Which depths tie. A range has no end that nothing was measured beyond: where a line is cut, it would be taken for a bound.
    fn among(&self) -> String {
        let (least, most) = self.ends();
        let [others @ .., _] = self.tied.as_slice() else {
            return format!("observed at {least}");
        };
        let listed = || others.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        match (self.may_lie_below, self.may_lie_beyond, self.has_gap) {
            (false, false, false) => format!("observed somewhere from {least} to {most}"),
            (false, true, false) => format!("observed at {least} or deeper"),
            (true, false, false) => format!("observed at {most} or lower"),
            (false, false, true) => format!("observed at {} or {most}", listed()),
            (false, true, true) => format!("observed at {}, {most} or deeper", listed()),
            (true, false, true) => format!("observed at {least} or lower, or somewhere up to {most}"),
            (true, true, _) => format!("observed anywhere from below {least} to beyond {most}"),
        }
    }

    /// Where it is, in brief and in full.
    pub(super) fn in_words(&self) -> (String, String) {
        if self.is_open() {
            let among = self.among();
            return (format!("{among} (a tie)"), format!("{among}: these tie"));
        }
        let (depth, share) = (self.best.concurrency, self.best.share_of_peak * 100.0);
        let (or_below, low) = match self.may_lie_below {
            true => (
                " or below",
                " (the smallest depth measured; the knee may be lower)",
            ),
            false => ("", ""),
        };
        (
            format!("observed at {depth}{or_below} ({share:.0} % of the peak)"),
            format!("observed at {depth}{low}, where it gives {share:.0} % of its peak"),
        )
    }
}

/// Whether the intervals of two numbers overlap. Without intervals the medians decide.
fn overlap(one: &Number, other: &Number) -> bool {
    one.interval.is_some() && ties(one, other) && ties(other, one)
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
