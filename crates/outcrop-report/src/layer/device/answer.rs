//! What this device can do, what to configure and how sure that is.

use outcrop_measure::metric::Metric;
use outcrop_results::RunView;
use outcrop_schema::device::{
    ARRIVAL, BANDWIDTH, ByDirection, Direction, IO_BLOCK_SIZE, IOPS, READ_WRITE_MIX, SCHEMA,
};

use super::cell::{DeviceCell, P50, P99};
use super::{advice, limits};
use crate::answer::{Answer, Capability, Reading};
use crate::cell::{Cell, best};
use crate::environment::storage_line;
use crate::layer::{cautions, subjects};

/// The answer of a device run.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>]) -> Answer {
    let reached: Vec<Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.reaches_device())
        .cloned()
        .collect();
    let subject = if reached.is_empty() && !cells.is_empty() {
        "the measuring loop alone (noop engine): no device was reached".to_owned()
    } else {
        let mut parts = vec![subjects(&reached), storage_line(&run.environment)];
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    };
    let own = limits::all(&reached);
    Answer {
        subject,
        capabilities: match reached.as_slice() {
            [] => of_the_loop(cells),
            reached => capabilities(reached),
        },
        advice: advice::claims(&reached),
        cautions: cautions(run, &SCHEMA, cells, own),
    }
}

/// What the loop does when nothing is behind it. Its rows have names of their own, since they say nothing of a device.
fn of_the_loop(cells: &[Cell<'_>]) -> Vec<Capability> {
    let row = |what: &str, metric| {
        let find = |direction| busiest(cells, direction, &IOPS);
        row(format!("Loop alone, {what}"), metric, find, |_| String::new())
    };
    vec![row("IOPS", &IOPS), row("p50", &P50), row("p99", &P99)]
}

/// The rows: what is highest, and the latency of a lone request, or of the fastest cell where none was lone.
fn capabilities(cells: &[Cell<'_>]) -> Vec<Capability> {
    let lone = Direction::ALL.map(|direction| lone_cell(cells, direction));
    let has_lone = lone.iter().any(Option::is_some);
    let label = if has_lone { "QD 1 latency" } else { "Latency" };
    let latency = |percentile: &str, metric: &ByDirection<Metric>| {
        let find = |direction| match has_lone {
            true => lone_cell(cells, direction),
            false => busiest(cells, direction, &IOPS),
        };
        let hint = |direction: Direction| {
            let mix = direction.mix();
            format!(
                "no {direction}s alone in this run; `outcrop device --read-write-mix {mix} --queue-depth 1` measures them"
            )
        };
        row(format!("{label}, {percentile}"), metric, find, hint)
    };
    let mut rows = throughput(cells);
    rows.extend([latency("p50", &P50), latency("p99", &P99)]);
    rows
}

/// What is highest; where only open loops were run, what they answered of the rate that was offered.
fn throughput(cells: &[Cell<'_>]) -> Vec<Capability> {
    if !cells.iter().any(DeviceCell::shows_capability) {
        let answered = |what: &str, metric| {
            let hint = |_| "only open loops were run; a closed loop shows what the device can do".to_owned();
            row(
                format!("Answered {what}"),
                metric,
                |direction| busiest(cells, direction, &IOPS),
                hint,
            )
        };
        return vec![answered("IOPS", &IOPS), answered(BANDWIDTH.both.name, &BANDWIDTH)];
    }
    let hint = |direction: Direction| {
        let mix = direction.mix();
        format!("no {direction}s alone in this run; `outcrop device --read-write-mix {mix}` measures them")
    };
    let highest = |what: &str, metric: &ByDirection<Metric>| {
        row(
            format!("Highest {what}"),
            metric,
            |direction| fastest(cells, direction, metric),
            hint,
        )
    };
    let mut rows = vec![highest("IOPS", &IOPS), highest(BANDWIDTH.both.name, &BANDWIDTH)];
    let lacks = |direction| fastest(cells, direction, &IOPS).is_none();
    // Half of a mix is not what the device gives to that half alone: it has a row with its mix in the name.
    if Direction::ALL.into_iter().any(lacks)
        && let Some((mixed, _)) = best(cells.iter().filter(|cell| cell.is_mixed()), &IOPS.both)
    {
        let label = format!("IOPS in a {} mix", mixed.spelling(&READ_WRITE_MIX));
        rows.insert(
            1,
            row(label, &IOPS, |_| Some(mixed), |_| "not in this mix".to_owned()),
        );
    }
    rows
}

/// A metric of each direction, in the cells that `find` chooses.
fn row<'c, 'a: 'c>(
    label: String,
    metric: &ByDirection<Metric>,
    find: impl Fn(Direction) -> Option<&'c Cell<'a>>,
    if_missing: impl Fn(Direction) -> String,
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
        Reading::of(column, found, || if_missing(direction))
    };
    Capability {
        label,
        readings: Direction::ALL.map(reading).to_vec(),
    }
}

/// The cell with the largest median of a metric among those that do nothing but this direction and whose rate the device set.
fn fastest<'c, 'a>(
    cells: &'c [Cell<'a>],
    direction: Direction,
    metric: &ByDirection<Metric>,
) -> Option<&'c Cell<'a>> {
    let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
    best(pure.filter(|cell| cell.shows_capability()), &metric.both).map(|(cell, _)| cell)
}

/// The same, whatever set its rate; a mix where there is nothing else.
fn busiest<'c, 'a>(
    cells: &'c [Cell<'a>],
    direction: Direction,
    metric: &ByDirection<Metric>,
) -> Option<&'c Cell<'a>> {
    let any = || {
        let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
        let found = best(pure, &metric.both).or_else(|| best(cells, &metric.of(Some(direction))));
        found.map(|(cell, _)| cell)
    };
    fastest(cells, direction, metric).or_else(any)
}

/// The cell of one request at a time of a direction: random before sequential, then the smallest access.
fn lone_cell<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<&'c Cell<'a>> {
    cells
        .iter()
        .filter(|cell| cell.only() == Some(direction))
        .filter(|cell| cell.concurrency() == Some(1.0) && cell.is_closed_loop())
        .min_by_key(|cell| (!cell.is_random(), cell.get(&IO_BLOCK_SIZE)))
}

/// Where a number was reached; the column says the direction, unless it was a mix. In an open loop the schedule decides, and the
/// depth is only its limit.
fn conditions(cell: &Cell<'_>) -> String {
    match (cell.is_closed_loop(), cell.only()) {
        (true, Some(_)) => format!("{}, {}", cell.access(), cell.depth_words()),
        (true, None) => cell.words(),
        (false, Some(_)) => format!("{}, {}", cell.access(), cell.spelling(&ARRIVAL)),
        (false, None) => {
            let mix = cell.spelling(&READ_WRITE_MIX);
            format!("{} {mix}, {}", cell.access(), cell.spelling(&ARRIVAL))
        }
    }
}
