//! Little's law: figures that break it were not measured together, or were not measured.

use outcrop_measure::interval::median;
use outcrop_measure::littles_law::{TOLERANCE, check};
use outcrop_measure::metric::Unit;
use outcrop_results::TrialEntry;

use super::super::cell::Cell;
use super::bandwidth::extremes;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// Share of cells that may be off: a stall of the device that outlasts a short trial.
const STALLED_CELLS: f64 = 0.05;

/// Cells of one kind with the ratio of what is in flight: implied ÷ counted or asked for.
struct Group {
    name: &'static str,
    ratios: Vec<f64>,
}

impl Group {
    fn off(&self) -> usize {
        let limit = 1.0 + TOLERANCE;
        self.ratios
            .iter()
            .filter(|ratio| **ratio > limit || **ratio < 1.0 / limit)
            .count()
    }

    fn middle(&self) -> Option<f64> {
        median(&self.ratios)
    }

    fn number(&self) -> Option<Number> {
        let name = format!("{}, median of implied ÷ given", self.name);
        self.middle()
            .map(|value| Number::derived(name, value, Unit::Ratio, self.ratios.len()))
    }
}

/// What is in flight is throughput times mean latency.
pub(super) fn littles_law(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "littles-law";
    const SENTENCE: &str = "Little's law: what is in flight is IOPS times mean latency.";
    let closed = || cells.iter().filter(|cell| cell.is_closed_loop());
    let group = |name, is_pure: bool| Group {
        name,
        ratios: closed()
            .filter(|cell| matches!(cell.read_percent, Some(0 | 100)) == is_pure)
            .filter_map(ratio)
            .collect(),
    };
    let groups = [group("pure reads and pure writes", true), group("mixes", false)];
    let ratios: Vec<f64> = groups.iter().flat_map(|group| &group.ratios).copied().collect();
    if ratios.is_empty() {
        let reason = "no closed-loop cell has a queue depth, IOPS and a mean latency";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let off: usize = groups.iter().map(Group::off).sum();
    let holds = off as f64 <= STALLED_CELLS * ratios.len() as f64;
    let mut numbers: Vec<Number> = groups.iter().filter_map(Group::number).collect();
    numbers.extend(extremes("implied ÷ given", &ratios));
    let counts: Vec<String> = groups
        .iter()
        .filter(|group| !group.ratios.is_empty())
        .map(|group| format!("{} {} of {}", group.name, group.off(), group.ratios.len()))
        .collect();
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(holds),
        tested: format!(
            "IOPS × mean latency ÷ requests in flight (counted by the engine, else queue depth × jobs) within {:.0} % \
             in each closed-loop cell; {:.0} % of them may be outside. Outside are: {}.",
            TOLERANCE * 100.0,
            STALLED_CELLS * 100.0,
            counts.join(", ")
        ),
        meaning: if holds { String::new() } else { explain(&groups) },
        numbers,
    }
}

/// Implied ÷ given of a cell: the median of its trials, or of what was published.
fn ratio(cell: &Cell<'_>) -> Option<f64> {
    let asked = cell.concurrency();
    let held = |in_flight: f64, iops: f64, latency_ns: f64| {
        let ratio = check(in_flight, iops, latency_ns / 1e9, TOLERANCE).ratio;
        ratio.is_finite().then_some(ratio)
    };
    match cell.view {
        Some(view) => {
            let of_trial = |trial: &&TrialEntry| {
                let value = |metric: &str| {
                    trial
                        .values
                        .iter()
                        .find(|value| value.metric == metric)
                        .and_then(|value| value.value)
                };
                held(
                    value("achieved_queue_depth").or(asked)?,
                    value("iops")?,
                    value("latency_mean")?,
                )
            };
            median(&view.completed.iter().filter_map(of_trial).collect::<Vec<_>>())
        }
        None => held(asked?, cell.value("iops")?, cell.mean_latency()?.value),
    }
}

/// Names the mistake that the pattern of ratios gives away.
fn explain([pure, mixed]: &[Group; 2]) -> String {
    let near = |group: &Group, target: f64, tolerance: f64| {
        group
            .middle()
            .is_some_and(|middle| (middle / target - 1.0).abs() <= tolerance)
    };
    let halved = near(pure, 0.5, 0.05);
    if halved && near(mixed, 1.0, TOLERANCE) {
        return "Cells of pure reads and pure writes are off by a factor of 2, mixed cells are not. That is what the mean \
                of a read latency and a write latency gives when one of the two never happened and was averaged in as \
                zero: the published latency of every pure cell has to be doubled."
            .to_owned();
    }
    if halved {
        return "Cells of pure reads and pure writes are off by a factor of 2: their latency is half of what their \
                throughput requires."
            .to_owned();
    }
    "Throughput, latency and depth of these cells cannot all be right, or were not measured together."
        .to_owned()
}
