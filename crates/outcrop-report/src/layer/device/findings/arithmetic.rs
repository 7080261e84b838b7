//! The arithmetic that every honest set of figures obeys: bandwidth is IOPS times access size, and Little's law.

use outcrop_measure::interval::median;
use outcrop_measure::littles_law::{TOLERANCE, check};
use outcrop_measure::metric::Unit;
use outcrop_results::TrialEntry;
use outcrop_schema::device::{ACHIEVED_QUEUE_DEPTH, BANDWIDTH, IO_BLOCK_SIZE, IOPS, LATENCY};

use super::super::cell::{DeviceCell, value_of};
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// How far bandwidth may be from IOPS × size: rounding of printed figures.
const BANDWIDTH_TOLERANCE: f64 = 0.01;
/// Kilobytes of 1000 where kibibytes of 1024 were meant.
const KILO_FOR_KIBI: f64 = 1000.0 / 1024.0;
/// How close a common factor must be to a known mistake to be named as one.
const NAMED_MISTAKE: f64 = 0.005;
/// Share of cells that may be off: a stall of the device that outlasts a short trial.
const STALLED_CELLS: f64 = 0.05;

/// Bandwidth is IOPS times the size of an access.
pub(super) fn bandwidth(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "bandwidth-is-iops-times-size";
    const SENTENCE: &str = "Bandwidth = IOPS × access size.";
    let ratio = |cell: &Cell<'_>| {
        let implied = cell.value(&IOPS.both)? * cell.place(&IO_BLOCK_SIZE)?;
        (implied > 0.0).then_some(cell.value(&BANDWIDTH.both)? / implied)
    };
    let ratios: Vec<f64> = cells.iter().filter_map(ratio).collect();
    let Some(common) = median(&ratios) else {
        return Finding::not_testable(ID, SENTENCE, "no cell has IOPS, bandwidth and an access size.");
    };
    let far_from = |target: f64| move |ratio: &&f64| (*ratio / target - 1.0).abs() > BANDWIDTH_TOLERANCE;
    let off = ratios.iter().filter(far_from(1.0)).count();
    let all_share_it = ratios.iter().find(far_from(common)).is_none();
    let is_kilo = off > 0 && all_share_it && (common / KILO_FOR_KIBI - 1.0).abs() < NAMED_MISTAKE;
    let tested = format!(
        "bandwidth ÷ (IOPS × access size) in {}, within {:.0} %; {off} outside.",
        counted(ratios.len(), "cell"),
        BANDWIDTH_TOLERANCE * 100.0
    );
    let finding = Finding::tested(ID, SENTENCE, off == 0, tested)
        .numbers(extremes("bandwidth ÷ (IOPS × size)", &ratios));
    if is_kilo {
        return finding.meaning(
            "All cells are off by the same factor, 1000/1024: kibibytes were summed as kilobytes, so every bandwidth is 2.3 % too low.",
        );
    }
    finding
}

/// Smallest and largest of some ratios.
fn extremes(name: &str, ratios: &[f64]) -> impl Iterator<Item = Number> {
    let ends = [
        ("lowest", ratios.iter().copied().reduce(f64::min)),
        ("highest", ratios.iter().copied().reduce(f64::max)),
    ];
    ends.into_iter().filter_map(move |(what, value)| {
        let name = format!("{what}, {name}");
        Some(Number::derived(name, value?, Unit::Ratio, ratios.len()))
    })
}

/// Cells of one kind with the ratio of what is in flight: implied ÷ counted or asked for.
struct Group {
    name: &'static str,
    ratios: Vec<f64>,
}

impl Group {
    fn off(&self) -> usize {
        let limit = 1.0 + TOLERANCE;
        let is_off = |ratio: &&f64| **ratio > limit || **ratio < 1.0 / limit;
        self.ratios.iter().filter(is_off).count()
    }

    fn number(&self) -> Option<Number> {
        let name = format!("{}, median of implied ÷ given", self.name);
        let middle = median(&self.ratios)?;
        Some(Number::derived(name, middle, Unit::Ratio, self.ratios.len()))
    }

    fn is_near(&self, target: f64, tolerance: f64) -> bool {
        median(&self.ratios).is_some_and(|middle| (middle / target - 1.0).abs() <= tolerance)
    }
}

/// What is in flight is throughput times mean latency.
pub(super) fn littles_law(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "littles-law";
    const SENTENCE: &str = "Little's law: requests in flight = IOPS × mean latency.";
    let group = |name, is_pure: bool| {
        let closed = cells.iter().filter(|cell| cell.is_closed_loop());
        let ours = closed.filter(|cell| cell.only().is_some() == is_pure);
        let ratios = ours.filter_map(ratio).collect();
        Group { name, ratios }
    };
    let groups = [group("pure reads and pure writes", true), group("mixes", false)];
    let ratios: Vec<f64> = groups.iter().flat_map(|group| &group.ratios).copied().collect();
    if ratios.is_empty() {
        let reason = "no closed-loop cell has a queue depth, IOPS and a mean latency";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let off: usize = groups.iter().map(Group::off).sum();
    let holds = off as f64 <= STALLED_CELLS * ratios.len() as f64;
    let filled = groups.iter().filter(|group| !group.ratios.is_empty());
    let counts = filled.map(|group| format!("{} {} of {}", group.name, group.off(), group.ratios.len()));
    let tested = format!(
        "IOPS × mean latency ÷ requests in flight (counted by the engine, else queue depth × jobs) within {:.0} % \
         in each closed-loop cell; up to {:.0} % of the cells may be outside. Outside: {}.",
        TOLERANCE * 100.0,
        STALLED_CELLS * 100.0,
        counts.collect::<Vec<_>>().join(", ")
    );
    let medians = groups.iter().filter_map(Group::number);
    Finding::tested(ID, SENTENCE, holds, tested)
        .otherwise(explain(&groups))
        .numbers(medians.chain(extremes("implied ÷ given", &ratios)))
}

/// Implied ÷ given of a cell: the median of its trials, or of what was published.
fn ratio(cell: &Cell<'_>) -> Option<f64> {
    let asked = cell.concurrency();
    let held = |in_flight: f64, iops: f64, latency_ns: f64| {
        let ratio = check(in_flight, iops, latency_ns / 1e9, TOLERANCE).ratio;
        ratio.is_finite().then_some(ratio)
    };
    if cell.view().is_none() {
        return held(asked?, cell.value(&IOPS.both)?, cell.mean_latency()?.value);
    }
    let of_trial = |trial: &&TrialEntry| {
        held(
            value_of(trial, &ACHIEVED_QUEUE_DEPTH).or(asked)?,
            value_of(trial, &IOPS.both)?,
            value_of(trial, &LATENCY.both.mean)?,
        )
    };
    median(&cell.trials().iter().filter_map(of_trial).collect::<Vec<_>>())
}

/// Names the mistake that the pattern of ratios gives away.
fn explain([pure, mixed]: &[Group; 2]) -> &'static str {
    match (pure.is_near(0.5, 0.05), mixed.is_near(1.0, TOLERANCE)) {
        (true, true) => {
            "Cells of pure reads and pure writes are off by a factor of 2, mixed cells are not. This is the mean of a read latency and a write latency where one of the two did not occur and counted as zero: the published latency of every pure cell must be doubled."
        }
        (true, false) => {
            "Cells of pure reads and pure writes are off by a factor of 2: their latency is half of what their \
             throughput requires."
        }
        (false, _) => {
            "Throughput, latency and depth of these cells cannot all be right, or were not measured together."
        }
    }
}
