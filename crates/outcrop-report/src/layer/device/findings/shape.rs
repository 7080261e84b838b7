//! The shape of curves: where the knee is, and whether a mix is the mean of its parts.

use outcrop_measure::knee;
use outcrop_measure::metric::Unit;

use super::super::cell::{Cell, Direction};
use super::super::curve::{Along, Curve, curves};
use super::super::figures::depth_curve;
use crate::chart::Point;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// A predicted knee counts as right when the observed one is within this factor.
const KNEE_FACTOR: f64 = 2.0;
/// A mix counts as the mean of its parts when it is this close.
const MIX_TOLERANCE: f64 = 0.10;

/// The knee predicted from both ends of a depth curve is where it is observed.
pub(super) fn knee(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "knee-predicted-is-observed";
    const SENTENCE: &str = "The knee is where the highest IOPS times the latency of a lone request puts it.";
    let mut numbers = Vec::new();
    let mut verdicts = Vec::new();
    let mut beyond = false;
    for direction in Direction::BOTH {
        let Some(curve) = depth_curve(cells, direction) else {
            continue;
        };
        let points = curve.load_points();
        let (Some(first), Some(peak)) = (
            points.first(),
            points.iter().map(|point| point.throughput).reduce(f64::max),
        ) else {
            continue;
        };
        let predicted = knee::predicted_depth(peak, first.latency / 1e9);
        let name = direction.name();
        numbers.push(Number::derived(
            format!("{name}s, predicted depth"),
            predicted,
            Unit::Count,
            points.len(),
        ));
        match knee::observed(&points) {
            Some(observed) => {
                let depth = observed.concurrency;
                numbers.push(Number::derived(
                    format!("{name}s, observed depth"),
                    depth,
                    Unit::Count,
                    points.len(),
                ));
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
        return Finding {
            numbers,
            ..Finding::not_testable(ID, SENTENCE, reason)
        };
    }
    let holds = verdicts.iter().all(|holds| *holds);
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(holds),
        tested: format!(
            "predicted depth against the depth of greatest IOPS ÷ latency, within a factor of {KNEE_FACTOR:.0} \
             (depths are measured in steps)."
        ),
        meaning: if holds {
            String::new()
        } else {
            "The two part where a lone request takes another time than one in company (caches, power states), or where \
             the latencies are wrong (see Little's law)."
                .to_owned()
        },
        numbers,
    }
}

/// Whether mixing reads and writes gives the weighted mean of doing them apart.
pub(super) fn mix(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "mix-is-weighted-mean";
    const SENTENCE: &str = "A mix of reads and writes gives the weighted mean of pure reads and pure writes.";
    let mut ratios: Vec<(f64, String)> = Vec::new();
    for curve in curves(cells, Along::Mix) {
        for cell in &curve.cells {
            let is_mixed = cell.read_percent.is_some_and(|read| (1..100).contains(&read));
            let expected = weighted_mean_iops(&curve, cell).filter(|_| is_mixed);
            if let (Some(expected), Some(total)) = (expected, cell.value("iops")) {
                ratios.push((total / expected.value, cell.words()));
            }
        }
    }
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some(lowest), Some(highest)) = (ratios.first(), ratios.last()) else {
        let reason = "no mix was measured beside pure reads and pure writes of the same size and depth \
                      (plans/ssd-read-write-mix.toml does).";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let off = ratios
        .iter()
        .filter(|(ratio, _)| (ratio - 1.0).abs() > MIX_TOLERANCE)
        .count();
    let number = |what: &str, (ratio, words): &(f64, String)| {
        Number::derived(
            format!("{what} mix ÷ weighted mean ({words})"),
            *ratio,
            Unit::Ratio,
            ratios.len(),
        )
    };
    let meaning = if off == 0 {
        ""
    } else {
        "Plan capacity from a measured mix: two separate runs, averaged, are wrong for this device."
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(off == 0),
        tested: format!(
            "IOPS of {} mixed cells against read share × pure-read IOPS + write share × pure-write IOPS, within {:.0} %; \
             {off} are outside.",
            ratios.len(),
            MIX_TOLERANCE * 100.0
        ),
        meaning: meaning.to_owned(),
        numbers: vec![number("lowest", lowest), number("highest", highest)],
    }
}

/// The weighted mean of the IOPS of a mix curve's ends, for the share of reads of one of its cells.
pub(in super::super) fn weighted_mean_iops(curve: &Curve<'_, '_>, cell: &Cell<'_>) -> Option<Number> {
    let end = |read_percent: u8| {
        curve
            .cells
            .iter()
            .find(|cell| cell.read_percent == Some(read_percent))
            .and_then(|cell| cell.number("iops"))
    };
    let (reads, writes) = (end(100)?, end(0)?);
    let share = f64::from(cell.read_percent?) / 100.0;
    let mean = share * reads.value + (1.0 - share) * writes.value;
    Some(Number::derived(
        "weighted mean of pure IOPS",
        mean,
        Unit::PerSecond,
        reads.n.min(writes.n),
    ))
}

/// The same along the whole curve, for a figure.
pub(in super::super) fn weighted_mean_line(curve: &Curve<'_, '_>) -> Option<Vec<Point>> {
    let point = |cell: &&Cell<'_>| {
        let expected = weighted_mean_iops(curve, cell)?;
        let x = f64::from(cell.read_percent?);
        let note = format!("weighted mean at {x:.0} % reads: {expected}");
        Some(Point {
            x,
            y: expected.value,
            interval: None,
            note,
        })
    };
    curve.cells.iter().map(point).collect()
}
