//! What studies of drives state in prose: how size, direction, depth and content change throughput and latency.

use outcrop_measure::metric::Unit;
use outcrop_schema::device::{
    ByDirection, CONTENT, Direction, IO_BLOCK_SIZE, IOPS, LATENCY, PUBLISHED_MEAN_LATENCY, QUEUE_DEPTH,
    READ_WRITE_MIX,
};

use super::super::cell::DeviceCell;
use super::super::curve::{Curve, curves, pure_curves};
use crate::cell::{Cell, families};
use crate::finding::{Finding, Side, Verdict};
use crate::number::Number;

/// Sizes and depths that differ by less than this factor say little of a trend.
const LEAST_STEP: f64 = 4.0;
/// Requests in flight that leave a device mostly idle.
const LOW_CONCURRENCY: f64 = 2.0;
/// IOPS fell beyond a depth when the deepest queue has less than this share of the best shallower one.
const FALLEN: f64 = 0.95;
/// Contents count as alike while the slowest has this share of the fastest's IOPS.
const ALIKE: f64 = 0.90;

/// Larger accesses raise bandwidth by less than their size: IOPS fall.
pub(super) fn size(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "bandwidth-grows-less-than-size";
    const SENTENCE: &str = "Larger accesses raise bandwidth by less than their size.";
    let mut ratios = Vec::new();
    for direction in Direction::ALL {
        for curve in pure_curves(cells, &IO_BLOCK_SIZE, direction) {
            let known = curve.iter().filter(|cell| cell.number(&IOPS.both).is_some());
            let Some((first, last)) = ends(&known.copied().collect(), &IO_BLOCK_SIZE) else {
                continue;
            };
            let (Some(small), Some(large)) = (first.number(&IOPS.both), last.number(&IOPS.both)) else {
                continue;
            };
            // Bandwidth is IOPS × size, so that the growth of the one ÷ that of the other is a ratio of IOPS.
            let name = format!("bandwidth ÷ size, {} to {}", first.words(), last.access());
            ratios.push(Number::computed(name, Unit::Ratio, &[large, small], |iops| {
                iops[0] / iops[1]
            }));
        }
    }
    let tested = "the factor of the bandwidths is less than that of the sizes";
    judged(ID, SENTENCE, ratios, 1.0, tested)
        .unwrap_or_else(|| {
            let reason =
                "no two sizes that differ fourfold have closed-loop figures under the same conditions (the plan ssd-access-size measures them).";
            Finding::not_testable(ID, SENTENCE, reason)
        })
        .otherwise("Something other than the medium slows small accesses, such as a limit on IOPS.")
}

/// A larger access takes longer, in either direction.
pub(super) fn latency_by_size(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "latency-grows-with-size";
    const SENTENCE: &str = "Latency grows with the size of an access, for writes as for reads.";
    let mut ratios = Vec::new();
    for direction in Direction::ALL {
        for curve in pure_curves(cells, &IO_BLOCK_SIZE, direction) {
            let known = curve
                .iter()
                .filter(|cell| mean_latency(cell, direction).is_some());
            let Some((first, last)) = ends(&known.copied().collect(), &IO_BLOCK_SIZE) else {
                continue;
            };
            let (Some(small), Some(large)) = (mean_latency(first, direction), mean_latency(last, direction))
            else {
                continue;
            };
            let name = format!("latency, {} ÷ {}", first.words(), last.access());
            ratios.push(Number::computed(name, Unit::Ratio, &[small, large], |means| {
                means[0] / means[1]
            }));
        }
    }
    let tested = "the mean latency of the smallest access is less than that of the largest";
    judged(ID, SENTENCE, ratios, 1.0, tested)
        .unwrap_or_else(|| {
            let reason = "no two sizes that differ fourfold have closed-loop figures under the same conditions (the plan ssd-access-size measures them).";
            Finding::not_testable(ID, SENTENCE, reason)
        })
        .otherwise("Accesses wait for something other than their transfer: a limit on IOPS, or a queue that hides it.")
}

/// Writes are acknowledged from a buffer: with few requests in flight they take less time than reads.
pub(super) fn writes_at_low_depth(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "writes-are-faster-at-low-depth";
    const SENTENCE: &str = "With one or two requests in flight, writes take less time than reads.";
    let idle = |curve: &Curve<'_, '_>| {
        curve[0]
            .concurrency()
            .is_some_and(|depth| depth <= LOW_CONCURRENCY)
    };
    let ratio = |curve: Curve<'_, '_>| {
        let mean = |direction: Direction| {
            let mut ends = curve.iter().filter(|cell| cell.only() == Some(direction));
            mean_latency(ends.next()?, direction)
        };
        let (write, read) = (mean(Direction::Write)?, mean(Direction::Read)?);
        let name = format!(
            "writes ÷ reads, {}, {}",
            curve[0].access(),
            curve[0].depth_words()
        );
        Some(Number::computed(name, Unit::Ratio, &[write, read], |means| {
            means[0] / means[1]
        }))
    };
    let ratios = curves(cells, &READ_WRITE_MIX)
        .into_iter()
        .filter(idle)
        .filter_map(ratio);
    let tested = "the mean latency of pure writes is less than that of pure reads";
    judged(ID, SENTENCE, ratios.collect(), 1.0, tested)
        .unwrap_or_else(|| {
            let reason = "pure reads and writes were not measured in a closed loop under the same conditions at a depth of 1 or 2 (the plan ssd-matrix does).";
            Finding::not_testable(ID, SENTENCE, reason)
        })
        .otherwise(
            "These writes are not answered from a buffer, reads are answered from a cache, or other I/O delayed the writes.",
        )
}

/// What depth brings for small accesses, compared with large ones.
pub(super) fn depth_by_size(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "depth-helps-small-accesses";
    const SENTENCE: &str =
        "A deeper queue raises the IOPS of small accesses by more than those of large ones.";
    let mut ratios = Vec::new();
    for direction in Direction::ALL {
        let deep = pure_curves(cells, &QUEUE_DEPTH, direction).filter_map(|curve| {
            let (shallow, deep) = ends(&curve, &QUEUE_DEPTH)?;
            let gain = [deep.number(&IOPS.both)?, shallow.number(&IOPS.both)?];
            let size = shallow.place(&IO_BLOCK_SIZE)?;
            let gain = Number::computed("gain", Unit::Ratio, &gain, |iops| iops[0] / iops[1]);
            Some((size, shallow.access(), gain))
        });
        let mut gains: Vec<_> = deep.collect();
        gains.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (Some(small), Some(large)) = (gains.first(), gains.last()) else {
            continue;
        };
        if large.0 >= LEAST_STEP * small.0 {
            let name = format!("gain of {} ÷ gain of {} {direction}s", large.1, small.1);
            let inputs = [&large.2, &small.2];
            ratios.push(Number::computed(name, Unit::Ratio, &inputs, |gains| {
                gains[0] / gains[1]
            }));
        }
    }
    let tested = "the factor of IOPS from the shallowest to the deepest queue is less for the largest access";
    judged(ID, SENTENCE, ratios, 1.0, tested)
        .unwrap_or_else(|| {
            let reason = "no two sizes that differ fourfold were measured at several depths in a closed loop (the plan ssd-depth-by-size does).";
            Finding::not_testable(ID, SENTENCE, reason)
        })
        .otherwise("Plan for depth with large accesses too: one of them does not saturate this device.")
}

/// Whether the IOPS of reads fall beyond some depth, as one study states.
pub(super) fn reads_beyond_a_depth(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "depth-never-lowers-reads";
    const SENTENCE: &str = "A deeper queue does not lower the IOPS of reads.";
    let ratio = |curve: Curve<'_, '_>| {
        ends(&curve, &QUEUE_DEPTH)?;
        let (deepest, shallower) = curve.split_last()?;

        let best = shallower
            .iter()
            .filter_map(|cell| Some((cell, cell.number(&IOPS.both)?)))
            .max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
        let name = format!("IOPS, {} ÷ {}", best.0.words(), deepest.depth_words());
        let inputs = [best.1, deepest.number(&IOPS.both)?];
        Some(Number::computed(name, Unit::Ratio, &inputs, |iops| {
            iops[0] / iops[1]
        }))
    };
    let ratios = pure_curves(cells, &QUEUE_DEPTH, Direction::Read).filter_map(ratio);
    let limit = 1.0 / FALLEN;
    let tested = format!("no shallower queue has {limit:.2} × the IOPS of the deepest");
    judged(ID, SENTENCE, ratios.collect(), limit, &tested)
        .unwrap_or_else(|| {
            let reason =
                "reads were not measured in a closed loop at depths that differ fourfold (the plan ssd-queue-depth does).";
            Finding::not_testable(ID, SENTENCE, reason)
        })
        .otherwise("Limit the depth of reads to where their IOPS are highest.")
}

/// Whether what is written changes how fast it is written.
pub(super) fn content(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "content-changes-nothing";
    const SENTENCE: &str = "The IOPS of writes do not depend on their content.";
    let writes = cells.iter().filter(|cell| cell.only() == Some(Direction::Write));
    let ratio = |family: Vec<&Cell<'_>>| {
        let mut contents: Vec<_> = family
            .iter()
            .filter_map(|cell| Some((cell, cell.number(&IOPS.both)?)))
            .collect();
        contents.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
        let ((slowest, slow), (fastest, fast)) = (contents.first()?, contents.last()?);
        let of = |cell: &Cell<'_>| cell.spelling(&CONTENT).to_owned();
        let name = format!(
            "{} ÷ {}, {}, {}",
            of(fastest),
            of(slowest),
            fastest.access(),
            fastest.depth_words()
        );
        let share = Number::computed(name, Unit::Ratio, &[fast, slow], |iops| iops[0] / iops[1]);
        (contents.len() > 1).then_some(share)
    };
    let ratios: Vec<Number> = families(writes, &[&CONTENT])
        .into_iter()
        .filter_map(ratio)
        .collect();
    let tested = format!(
        "the fastest content has less than {:.2} × the IOPS of the slowest",
        1.0 / ALIKE
    );
    judged(ID, SENTENCE, ratios, 1.0 / ALIKE, &tested)
        .unwrap_or_else(|| {
            let reason = "writes of several contents were not measured in a closed loop under the same conditions (the plan ssd-content does).";
            Finding::not_testable(ID, SENTENCE, reason)
        })
        .otherwise("Something below compresses or recognises content. Measure with data like yours.")
}

/// The mean latency of the accesses in one direction, or the published one, which names none.
fn mean_latency<'c>(cell: &'c Cell<'_>, direction: Direction) -> Option<&'c Number> {
    let directed: ByDirection<_> = ByDirection {
        both: LATENCY.both.mean,
        read: LATENCY.read.mean,
        write: LATENCY.write.mean,
    };
    cell.directed(direction, &directed)
        .or_else(|| cell.number(&PUBLISHED_MEAN_LATENCY))
}

/// The ends of a curve that spans enough of a factor.
fn ends<'c, 'a>(
    curve: &Curve<'c, 'a>,
    along: outcrop_schema::FactorRef,
) -> Option<(&'c Cell<'a>, &'c Cell<'a>)> {
    let (first, last) = (*curve.first()?, *curve.last()?);
    (last.place(along)? >= LEAST_STEP * first.place(along)?).then_some((first, last))
}

/// Whether all ratios are below a limit; `None` without one. A ratio whose interval has the limit in it decides nothing.
fn judged(id: &str, sentence: &str, mut ratios: Vec<Number>, limit: f64, tested: &str) -> Option<Finding> {
    ratios.sort_by(|one, other| one.value.total_cmp(&other.value));
    let (lowest, highest) = (ratios.first()?.clone(), ratios.last()?.clone());
    // The limit itself is not below it.
    let below = f64::NEG_INFINITY..=limit.next_down();
    let of = |wanted: Side| {
        let sides = ratios.iter().map(|ratio| Side::of(ratio, &below));
        sides.filter(|side| *side == wanted).count()
    };
    let (above, open) = (of(Side::Beyond), of(Side::Open));
    let count = ratios.len();
    let mut numbers = vec![lowest];
    if count > 1 {
        numbers.push(highest);
    }
    let verdict = Verdict::of_sides(above, open, || {
        format!("the intervals of {open} of {count} comparisons have {limit:.2} in them")
    });
    let tested = format!("{tested}; in {above} of {count} comparisons it is not.");
    Some(
        Finding::judged(id, sentence, verdict, tested)
            .by_intervals()
            .numbers(numbers),
    )
}
