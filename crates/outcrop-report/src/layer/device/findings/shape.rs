//! The shape of curves: where the knee is, and whether a mix is the mean of its parts.

use outcrop_measure::knee;
use outcrop_measure::metric::Unit;
use outcrop_schema::device::{Direction, IOPS, READ_WRITE_MIX};

use super::super::cell::DeviceCell;
use super::super::curve::{curves, depth_curve, load_points, still_rises};
use super::super::knee::ObservedKnee;
use crate::cell::{Cell, best};
use crate::finding::{Finding, Side, Verdict};
use crate::number::{Number, counted};

/// A predicted knee counts as right when the observed one is within this factor.
const KNEE_FACTOR: f64 = 2.0;
/// A mix counts as the mean of its parts when it is this close.
const MIX_TOLERANCE: f64 = 0.10;
/// Of so many mixes that stay open the figures are in the sentence; the report has the lowest and the highest in any case.
const MOST_NAMED: usize = 3;

/// The knee predicted from both ends of a depth curve is where it is observed.
pub(super) fn knee(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "knee-predicted-is-observed";
    const SENTENCE: &str = "The knee is at the highest IOPS × the latency of a single request.";
    let (mut numbers, mut sides, mut beyond) = (Vec::new(), Vec::new(), false);
    for direction in Direction::ALL {
        let Some(curve) = depth_curve(cells, direction) else {
            continue;
        };
        let Some(predicted) = predicted_knee(&curve, &format!("{direction}s, predicted depth")) else {
            continue;
        };
        numbers.push(predicted.clone());
        match ObservedKnee::of(&curve) {
            Some(observed) => {
                let name = format!("{direction}s, observed depth");
                numbers.extend(observed.numbers(&name, load_points(&curve).len()));
                sides.push(side(&predicted, still_rises(&curve), &observed));
            }
            None => beyond = true,
        }
    }
    if sides.is_empty() {
        let reason = if beyond {
            "throughput per latency is greatest at the deepest queue with figures, or fewer than three depths have figures."
        } else {
            "no closed loop of random reads alone or writes alone has IOPS and mean latency at several depths from 1 on (the plan ssd-queue-depth measures them)."
        };
        return Finding::not_testable(ID, SENTENCE, reason).numbers(numbers);
    }
    let tested = format!(
        "predicted depth compared with the depth of the highest IOPS ÷ latency, and with those that tie with it, within a factor of \
         {KNEE_FACTOR:.0} (depths are measured in steps)."
    );
    let count = |wanted: Side| sides.iter().filter(|side| **side == wanted).count();
    let verdict = Verdict::of_sides(count(Side::Beyond), count(Side::Open), || {
        format!(
            "a predicted depth is within a factor of {KNEE_FACTOR:.0} of some depths that may be the observed one, and not of others; or its \
             interval reaches beyond that; or it is lower, and deeper queues, which may give more IOPS, would raise it. More repetitions, or \
             deeper queues, may tell"
        )
    });
    Finding::judged(ID, SENTENCE, verdict, tested)
        .otherwise(
            "The two differ where a single request takes a different time than concurrent ones (caches, power states), or where the latencies are wrong (see Little's law).",
        )
        .numbers(numbers)
}

/// Whether a predicted knee is close to the observed one, whichever of the depths that tie is that. `is_bound`: more in flight than was measured
/// may give more IOPS, and then the knee is predicted deeper.
fn side(predicted: &Number, is_bound: bool, observed: &ObservedKnee) -> Side {
    let (least, most) = observed.ends();
    let side = Side::of(predicted, &observed.span(KNEE_FACTOR));
    // Close to each of those that tie, and not only to one.
    let is_close_to_all = || Side::of(predicted, &(most / KNEE_FACTOR..=least * KNEE_FACTOR)) == Side::Within;
    match side {
        Side::Beyond if is_bound && predicted.value < least => Side::Open,
        Side::Within if observed.is_open() && (observed.has_open_end() || !is_close_to_all()) => Side::Open,
        side => side,
    }
}

/// The IOPS of a mix ÷ what the weighted mean of its parts promises.
struct MixRatio {
    number: Number,
    /// The mix in words.
    words: String,
    /// The IOPS that it is computed from.
    inputs: Vec<Number>,
}

impl MixRatio {
    fn of(curve: &[&Cell<'_>], cell: &Cell<'_>) -> Option<Self> {
        let (total, expected) = (cell.number(&IOPS.both)?, weighted_mean_iops(curve, cell)?);
        let name = "mix ÷ weighted mean";
        let number = Number::computed(name, Unit::Ratio, &[total, &expected], |values| {
            values[0] / values[1]
        });
        let ends = Direction::ALL
            .into_iter()
            .filter_map(|direction| pure(curve, direction));
        let inputs = ends.chain([cell]).filter_map(|input| {
            let number = input.number(&IOPS.both)?.clone();
            Some(number.named(format!("IOPS of {}", input.words())))
        });
        Some(Self {
            number,
            words: cell.words(),
            inputs: inputs.collect(),
        })
    }

    /// `4 KiB random 70:30, QD 32: 0.98 (0.85–1.22)`
    fn in_words(&self) -> String {
        format!("{}: {}", self.words, self.number.with_ends())
    }

    fn side(&self) -> Side {
        Side::of(&self.number, &(1.0 - MIX_TOLERANCE..=1.0 + MIX_TOLERANCE))
    }
}

/// Whether mixing reads and writes gives the weighted mean of doing them apart.
pub(super) fn mix(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "mix-is-weighted-mean";
    const SENTENCE: &str = "A mix of reads and writes gives the weighted mean of pure reads and pure writes.";
    let mut ratios: Vec<MixRatio> = Vec::new();
    for curve in curves(cells, &READ_WRITE_MIX) {
        let mixed = curve.iter().filter(|cell| cell.is_mixed());
        ratios.extend(mixed.filter_map(|cell| MixRatio::of(&curve, cell)));
    }
    ratios.sort_by(|one, other| one.number.value.total_cmp(&other.number.value));
    let (Some(lowest), Some(highest)) = (ratios.first(), ratios.last()) else {
        let reason = "no mix was measured in a closed loop together with pure reads and pure writes of the same size and depth \
                      (the plan ssd-read-write-mix measures them).";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let of =
        |wanted: Side| -> Vec<&MixRatio> { ratios.iter().filter(|ratio| ratio.side() == wanted).collect() };
    let (open, off) = (of(Side::Open), of(Side::Beyond));
    let (all, within) = (counted(ratios.len(), "mixed cell"), MIX_TOLERANCE * 100.0);
    let number = |what: &str, ratio: &MixRatio| {
        let name = format!("{what} mix ÷ weighted mean ({})", ratio.words);
        ratio.number.clone().named(name)
    };
    let mut numbers = vec![number("lowest", lowest), number("highest", highest)];
    // A ratio may be known better than one of its parts, which decides no more for that.
    for input in lowest.inputs.iter().chain(&highest.inputs) {
        if input.is_too_wide() && numbers.iter().all(|known| known.name != input.name) {
            numbers.push(input.clone());
        }
    }
    let undecided = match open.len() {
        0 => String::new(),
        count => format!(", and {count} whose interval has values within and outside"),
    };
    let tested = format!(
        "IOPS of {all} compared with read share × pure-read IOPS + write share × pure-write IOPS, within {within:.0} %; \
         {} outside{undecided}.",
        off.len()
    );
    let verdict = match numbers.iter().any(Number::is_too_wide) {
        // Where a number is too wide, the rule for all findings says so, with the command that would decide it.
        true => Verdict::from_test(off.is_empty()),
        false => Verdict::of_sides(off.len(), open.len(), || {
            format!(
                "in {} of {all}, the interval of IOPS ÷ weighted mean has values within {within:.0} % of 1 and others: {}. More \
                 repetitions narrow it",
                open.len(),
                open.iter()
                    .map(|ratio| ratio.in_words())
                    .take(MOST_NAMED)
                    .collect::<Vec<_>>()
                    .join("; ")
            )
        }),
    };
    Finding::judged(ID, SENTENCE, verdict, tested)
        .otherwise("Plan capacity from a measured mix: averaging two separate runs is wrong for this device.")
        .numbers(numbers)
}

/// The cell of a mix curve that has one direction only.
fn pure<'c, 'a>(curve: &[&'c Cell<'a>], direction: Direction) -> Option<&'c Cell<'a>> {
    let mut ends = curve.iter().filter(|cell| cell.only() == Some(direction));
    ends.next().copied()
}

/// The weighted mean of the IOPS of a mix curve's ends, for the share of reads of one of its cells.
pub(in super::super) fn weighted_mean_iops(curve: &[&Cell<'_>], cell: &Cell<'_>) -> Option<Number> {
    let end = |direction: Direction| pure(curve, direction)?.number(&IOPS.both);
    let (reads, writes) = (end(Direction::Read)?, end(Direction::Write)?);
    let share = f64::from(cell.read_percent()?) / 100.0;
    Some(Number::computed(
        "weighted mean of pure IOPS",
        Unit::PerSecond,
        &[reads, writes],
        |ends| share * ends[0] + (1.0 - share) * ends[1],
    ))
}

/// The depth from which on requests queue: the highest IOPS of a depth curve times the mean latency of a single request; none where the curve
/// does not begin at one.
pub(in super::super) fn predicted_knee(curve: &[&Cell<'_>], name: &str) -> Option<Number> {
    let (_, peak) = best(curve.iter().copied(), &IOPS.both)?;
    let lone = curve.first().filter(|cell| cell.concurrency() == Some(1.0))?;
    let lone = lone.mean_latency()?;
    Some(Number::computed(name, Unit::Count, &[peak, lone], |inputs| {
        knee::predicted_depth(inputs[0], inputs[1] / 1e9)
    }))
}
