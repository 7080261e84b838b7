//! The shape of curves: where the knee is, and whether a mix is the mean of its parts.

use outcrop_measure::knee;
use outcrop_measure::metric::Unit;
use outcrop_schema::device::{Direction, IOPS, READ_WRITE_MIX};

use super::super::cell::DeviceCell;
use super::super::curve::{curves, depth_curve, load_points};
use crate::cell::{Cell, best};
use crate::finding::Finding;
use crate::number::{Number, counted};

/// A predicted knee counts as right when the observed one is within this factor.
const KNEE_FACTOR: f64 = 2.0;
/// A mix counts as the mean of its parts when it is this close.
const MIX_TOLERANCE: f64 = 0.10;

/// The knee predicted from both ends of a depth curve is where it is observed.
pub(super) fn knee(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "knee-predicted-is-observed";
    const SENTENCE: &str = "The knee is at the highest IOPS × the latency of a single request.";
    let (mut numbers, mut verdicts, mut beyond) = (Vec::new(), Vec::new(), false);
    for direction in Direction::ALL {
        let Some(curve) = depth_curve(cells, direction) else {
            continue;
        };
        let Some(predicted) = predicted_knee(&curve, &format!("{direction}s, predicted depth")) else {
            continue;
        };
        let points = load_points(&curve);
        let number = predicted;
        let predicted = number.value;
        numbers.push(number);
        match knee::observed(&points) {
            Some(observed) => {
                let depth = observed.concurrency;
                let name = format!("{direction}s, observed depth");
                numbers.push(Number::derived(name, depth, Unit::Count, points.len()));
                let factor = (depth / predicted).max(predicted / depth);
                verdicts.push(factor <= KNEE_FACTOR || (observed.is_lowest_measured && predicted <= depth));
            }
            None => beyond = true,
        }
    }
    if verdicts.is_empty() {
        let reason = if beyond {
            "throughput per latency still rises at the deepest queue measured, or fewer than three depths were measured."
        } else {
            "no cells of one kind with IOPS and mean latency at several depths (the plan ssd-queue-depth measures them)."
        };
        return Finding::not_testable(ID, SENTENCE, reason).numbers(numbers);
    }
    let tested = format!(
        "predicted depth compared with the depth of the highest IOPS ÷ latency, within a factor of {KNEE_FACTOR:.0} (depths are measured in steps)."
    );
    let holds = verdicts.iter().all(|holds| *holds);
    Finding::tested(ID, SENTENCE, holds, tested)
        .otherwise(
            "The two differ where a single request takes a different time than concurrent ones (caches, power states), or where the latencies are wrong (see Little's law).",
        )
        .numbers(numbers)
}

/// Whether mixing reads and writes gives the weighted mean of doing them apart.
pub(super) fn mix(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "mix-is-weighted-mean";
    const SENTENCE: &str = "A mix of reads and writes gives the weighted mean of pure reads and pure writes.";
    let mut ratios: Vec<(Number, String)> = Vec::new();
    for curve in curves(cells, &READ_WRITE_MIX) {
        let mixed = curve.iter().filter(|cell| cell.is_mixed());
        ratios.extend(mixed.filter_map(|cell| {
            let expected = weighted_mean_iops(&curve, cell)?;
            let inputs = [cell.number(&IOPS.both)?, &expected];
            let name = "mix ÷ weighted mean";
            let ratio = Number::computed(name, Unit::Ratio, &inputs, |values| values[0] / values[1]);
            Some((ratio, cell.words()))
        }));
    }
    ratios.sort_by(|one, other| one.0.value.total_cmp(&other.0.value));
    let (Some(lowest), Some(highest)) = (ratios.first(), ratios.last()) else {
        let reason = "no mix was measured together with pure reads and pure writes of the same size and depth \
                      (the plan ssd-read-write-mix measures them).";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let is_off = |ratio: &&(Number, String)| (ratio.0.value - 1.0).abs() > MIX_TOLERANCE;
    let off = ratios.iter().filter(is_off).count();
    let tested = format!(
        "IOPS of {} compared with read share × pure-read IOPS + write share × pure-write IOPS, within {:.0} %; \
         {off} outside.",
        counted(ratios.len(), "mixed cell"),
        MIX_TOLERANCE * 100.0
    );
    let number = |what: &str, (ratio, words): &(Number, String)| {
        ratio
            .clone()
            .named(format!("{what} mix ÷ weighted mean ({words})"))
    };
    Finding::tested(ID, SENTENCE, off == 0, tested)
        .otherwise("Plan capacity from a measured mix: averaging two separate runs is wrong for this device.")
        .numbers([number("lowest", lowest), number("highest", highest)])
}

/// The weighted mean of the IOPS of a mix curve's ends, for the share of reads of one of its cells.
pub(in super::super) fn weighted_mean_iops(curve: &[&Cell<'_>], cell: &Cell<'_>) -> Option<Number> {
    let end = |direction: Direction| {
        let mut ends = curve.iter().filter(|cell| cell.only() == Some(direction));
        ends.next()?.number(&IOPS.both)
    };
    let (reads, writes) = (end(Direction::Read)?, end(Direction::Write)?);
    let share = f64::from(cell.read_percent()?) / 100.0;
    Some(Number::computed(
        "weighted mean of pure IOPS",
        Unit::PerSecond,
        &[reads, writes],
        |ends| share * ends[0] + (1.0 - share) * ends[1],
    ))
}

/// The depth from which on requests queue: the highest IOPS of a depth curve times the mean latency at its least depth.
pub(in super::super) fn predicted_knee(curve: &[&Cell<'_>], name: &str) -> Option<Number> {
    let (_, peak) = best(curve.iter().copied(), &IOPS.both)?;
    let lone = curve.first()?.mean_latency()?;
    Some(Number::computed(name, Unit::Count, &[peak, lone], |inputs| {
        knee::predicted_depth(inputs[0], inputs[1] / 1e9)
    }))
}
