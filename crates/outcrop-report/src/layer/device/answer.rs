//! What this device can do, what to configure and how sure that is.

use outcrop_measure::metric::Metric;
use outcrop_results::RunView;
use outcrop_schema::device::{BANDWIDTH, ByDirection, CONTAMINATION, Direction, IO_BLOCK_SIZE, IOPS, SCHEMA};

use super::advice;
use super::cell::{DeviceCell, P50, P99};
use super::findings::{contaminated, unchecked};
use crate::answer::{Answer, Capability, Caution, Reading};
use crate::cell::{Cell, best};
use crate::environment::storage_line;
use crate::layer::{cautions, subjects};

/// The answer of a device run.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>]) -> Answer {
    let mut subject = vec![subjects(cells), storage_line(&run.environment)];
    subject.retain(|part| !part.is_empty());
    let own = contamination(cells).into_iter().chain(duration(cells));
    Answer {
        subject: subject.join(" · "),
        capabilities: capabilities(cells),
        advice: advice::claims(cells),
        cautions: cautions(run, &SCHEMA, cells, own),
    }
}

/// The rows: what is highest, and the latency of a lone request, or of the fastest cell where none was lone.
fn capabilities(cells: &[Cell<'_>]) -> Vec<Capability> {
    let lone = Direction::ALL.map(|direction| lone_cell(cells, direction));
    let has_lone = lone.iter().any(Option::is_some);
    let label = if has_lone { "QD 1 latency" } else { "Latency" };
    let latency = |percentile: &str, metric: &ByDirection<Metric>| {
        let find = |direction| match has_lone {
            true => lone_cell(cells, direction),
            false => fastest(cells, direction, &IOPS),
        };
        row(format!("{label}, {percentile}"), metric, "ssd-queue-depth", find)
    };
    let highest = |what: &str, metric: &ByDirection<Metric>| {
        let find = |direction| fastest(cells, direction, metric);
        row(format!("Highest {what}"), metric, "ssd-max", find)
    };
    vec![
        highest("IOPS", &IOPS),
        highest(BANDWIDTH.both.name, &BANDWIDTH),
        latency("p50", &P50),
        latency("p99", &P99),
    ]
}

/// A metric of each direction, in the cells that `find` chooses.
fn row<'c, 'a: 'c>(
    label: String,
    metric: &ByDirection<Metric>,
    plan: &str,
    find: impl Fn(Direction) -> Option<&'c Cell<'a>>,
) -> Capability {
    let reading = |direction: Direction| {
        let column = match direction {
            Direction::Read => "Reads",
            Direction::Write => "Writes",
        };
        let found = find(direction).and_then(|cell| {
            let name = format!("{direction} {}", metric.both.words());
            let number = cell.directed(direction, metric)?.clone();
            Some((number.named(name), conditions(cell)))
        });
        Reading::of(column, found, || {
            format!("no such cell in this run; plans/{plan}.toml has it")
        })
    };
    Capability {
        label,
        readings: Direction::ALL.map(reading).to_vec(),
    }
}

/// The cell with the largest median of a metric among those that do nothing but this direction, or, where
/// there are none, among the mixes.
fn fastest<'c, 'a>(
    cells: &'c [Cell<'a>],
    direction: Direction,
    metric: &ByDirection<Metric>,
) -> Option<&'c Cell<'a>> {
    let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
    let found = best(pure, &metric.both).or_else(|| best(cells, &metric.of(Some(direction))));
    found.map(|(cell, _)| cell)
}

/// The cell of one request at a time of a direction: random before sequential, then the smallest access.
fn lone_cell<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<&'c Cell<'a>> {
    cells
        .iter()
        .filter(|cell| cell.only() == Some(direction))
        .filter(|cell| cell.concurrency() == Some(1.0) && cell.is_closed_loop())
        .min_by_key(|cell| (!cell.is_random(), cell.get(&IO_BLOCK_SIZE)))
}

/// Where a number was reached; the column says the direction, unless it was a mix.
fn conditions(cell: &Cell<'_>) -> String {
    match cell.only() {
        Some(_) => format!("{}, {}", cell.access(), cell.depth_words()),
        None => cell.words(),
    }
}

/// Whether the device moved what this run asked for and nothing else.
fn contamination(cells: &[Cell<'_>]) -> Option<Caution> {
    let dirty = contaminated(cells);
    if let Some((worst, ratio)) = dirty.first() {
        return Some(Caution::warning(format!(
            "In {} of {} cells the device moved over {:.0} % more or fewer bytes than asked (worst: {:.2} times, {}): \
             others used it, or a layer between amplified or absorbed.",
            dirty.len(),
            cells.len(),
            CONTAMINATION * 100.0,
            ratio.value,
            worst.words()
        )));
    }
    unchecked(cells).map(|reason| {
        Caution::note(format!(
            "Whether others used the device meanwhile could not be checked: {reason}."
        ))
    })
}

/// Short writes end in a cache.
fn duration(cells: &[Cell<'_>]) -> Option<Caution> {
    let writes = cells.iter().any(|cell| cell.only() != Some(Direction::Read));
    let trials = cells.iter().flat_map(Cell::trials);
    let longest_s = trials.map(|trial| trial.duration_s).fold(0.0, f64::max);
    (writes && longest_s > 0.0 && longest_s < 30.0).then(|| {
        Caution::note(format!(
            "The longest trial lasted {longest_s:.1} s: writes show what the device takes in a burst, not what it \
             sustains when its cache is full."
        ))
    })
}
