//! The shape of curves: where the knee is, and whether a mix is the mean of its parts.

use outcrop_measure::knee;
use outcrop_measure::metric::Unit;
use outcrop_schema::device::{Direction, IOPS, READ_WRITE_MIX};

use super::super::cell::DeviceCell;
use super::super::curve::{curves, depth_curve, load_points};
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::Number;

/// A predicted knee counts as right when the observed one is within this factor.
const KNEE_FACTOR: f64 = 2.0;
/// A mix counts as the mean of its parts when it is this close.
const MIX_TOLERANCE: f64 = 0.10;

/// The knee predicted from both ends of a depth curve is where it is observed.
pub(super) fn knee(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "knee-predicted-is-observed";
    const SENTENCE: &str = "The knee is where the highest IOPS times the latency of a lone request puts it.";
    let (mut numbers, mut verdicts, mut beyond) = (Vec::new(), Vec::new(), false);
    for direction in Direction::ALL {
        let points = depth_curve(cells, direction).map_or_else(Vec::new, |curve| load_points(&curve));
        let peak = points.iter().map(|point| point.throughput).reduce(f64::max);
        let (Some(first), Some(peak)) = (points.first(), peak) else {
            continue;
        };
        let mut push = |what: &str, depth: f64| {
            let name = format!("{direction}s, {what} depth");
            numbers.push(Number::derived(name, depth, Unit::Count, points.len()));
        };
        let predicted = knee::predicted_depth(peak, first.latency / 1e9);
        push("predicted", predicted);
        match knee::observed(&points) {
            Some(observed) => {
                let depth = observed.concurrency;
                push("observed", depth);
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
            "no cells of one kind with IOPS and mean latency at several depths (plans/ssd-queue-depth.toml has them)."
        };
        return Finding::not_testable(ID, SENTENCE, reason).numbers(numbers);
    }
    let tested = format!(
        "predicted depth against the depth of greatest IOPS ÷ latency, within a factor of {KNEE_FACTOR:.0} (depths are \
         measured in steps)."
    );
    let holds = verdicts.iter().all(|holds| *holds);
    Finding::tested(ID, SENTENCE, holds, tested)
        .otherwise(
            "The two part where a lone request takes another time than one in company (caches, power states), or where \
             the latencies are wrong (see Little's law).",
        )
        .numbers(numbers)
}

/// Whether mixing reads and writes gives the weighted mean of doing them apart.
pub(super) fn mix(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "mix-is-weighted-mean";
    const SENTENCE: &str = "A mix of reads and writes gives the weighted mean of pure reads and pure writes.";
    let mut ratios: Vec<(f64, String)> = Vec::new();
    for curve in curves(cells, &READ_WRITE_MIX) {
        let mixed = curve.iter().filter(|cell| cell.is_mixed());
        ratios.extend(mixed.filter_map(|cell| {
            let expected = weighted_mean_iops(&curve, cell)?;
            Some((cell.value(&IOPS.both)? / expected.value, cell.words()))
        }));
    }
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some(lowest), Some(highest)) = (ratios.first(), ratios.last()) else {
        let reason = "no mix was measured together with pure reads and pure writes of the same size and depth \
                      (plans/ssd-read-write-mix.toml does).";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let is_off = |ratio: &&(f64, String)| (ratio.0 - 1.0).abs() > MIX_TOLERANCE;
    let off = ratios.iter().filter(is_off).count();
    let tested = format!(
        "IOPS of {} mixed cells against read share × pure-read IOPS + write share × pure-write IOPS, within {:.0} %; \
         {off} are outside.",
        ratios.len(),
        MIX_TOLERANCE * 100.0
    );
    let number = |what: &str, (ratio, words): &(f64, String)| {
        let name = format!("{what} mix ÷ weighted mean ({words})");
        Number::derived(name, *ratio, Unit::Ratio, ratios.len())
    };
    Finding::tested(ID, SENTENCE, off == 0, tested)
        .otherwise(
            "Plan capacity from a measured mix: two separate runs, averaged, are wrong for this device.",
        )
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
    let mean = share * reads.value + (1.0 - share) * writes.value;
    let n = reads.n.min(writes.n);
    Some(Number::derived(
        "weighted mean of pure IOPS",
        mean,
        Unit::PerSecond,
        n,
    ))
}
