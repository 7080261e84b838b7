//! What this device can do, what to configure and how sure that is.

use outcrop_measure::metric::Metric;
use outcrop_results::RunView;
use outcrop_schema::device::{
    BANDWIDTH, ByDirection, Direction, IO_BLOCK_SIZE, IOPS, READ_WRITE_MIX, SCHEMA,
};

use super::cell::{DeviceCell, P50, P99};
use super::{advice, limits};
use crate::answer::{Answer, Capability, Reading};
use crate::cell::{Cell, best};
use crate::command::Commands;
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
        "the measuring loop itself (noop engine): no device was accessed".to_owned()
    } else {
        let mut parts = vec![subjects(&reached), storage_line(&run.environment)];
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    };
    let mut cautions = cautions(run, &SCHEMA, cells, limits::all(&reached));
    if let Some(overload) = limits::overload(&reached) {
        cautions.insert(0, overload);
    }
    Answer {
        subject,
        capabilities: match reached.as_slice() {
            [] => of_the_loop(cells),
            reached => capabilities(reached, &Commands::of(run)),
        },
        advice: advice::claims(&reached),
        cautions,
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
fn capabilities(cells: &[Cell<'_>], commands: &Commands) -> Vec<Capability> {
    let lone = Direction::ALL.map(|direction| lone_cell(cells, direction));
    let has_lone = lone.iter().any(Option::is_some);
    let label = if has_lone { "QD 1 latency" } else { "Latency" };
    let latency = |percentile: &str, metric: &ByDirection<Metric>| {
        let find = |direction| match has_lone {
            true => lone_cell(cells, direction),
            false => answering(cells, direction),
        };
        let hint = |direction: Direction| {
            let mix = direction.mix();
            unmeasured(
                direction,
                commands.device(&format!("--read-write-mix {mix} --queue-depth 1")),
            )
        };
        row(format!("{label}, {percentile}"), metric, find, hint)
    };
    let mut rows = throughput(cells, commands);
    rows.extend([latency("p50", &P50), latency("p99", &P99)]);
    rows
}

/// Why a row is empty, and the command that fills it.
fn unmeasured(direction: Direction, command: Option<String>) -> String {
    let filled = command.map_or_else(String::new, |command| format!("; `{command}` measures it"));
    format!("this run has no cell with only {direction}s{filled}")
}

/// What is highest; where only open loops were run, what they answered of the rate that was offered.
fn throughput(cells: &[Cell<'_>], commands: &Commands) -> Vec<Capability> {
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
        unmeasured(direction, commands.device(&format!("--read-write-mix {mix}")))
    };
    // What an overloaded device answers is what it can do at that depth, and is not called the highest of a closed loop.
    let is_closed = cells.iter().any(DeviceCell::is_closed_loop);
    let label = if is_closed {
        "Highest"
    } else {
        "Overloaded, answered"
    };
    let highest = |what: &str, metric: &ByDirection<Metric>| {
        row(
            format!("{label} {what}"),
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
        // Fewer reads than alone is no loss where the others were writes: the name says so.
        let label = match mixed.read_percent() {
            Some(reads) => format!(
                "IOPS in a {} mix ({} % writes)",
                mixed.spelling(&READ_WRITE_MIX),
                100 - reads
            ),
            None => format!("IOPS in a {} mix", mixed.spelling(&READ_WRITE_MIX)),
        };
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
        let cell = find(direction);
        let found = cell.and_then(|cell| {
            let name = format!("{direction} {}", metric.both.words());
            let number = cell.directed(direction, metric)?.clone();
            Some((number.named(name), conditions(cell)))
        });
        // A cell that was measured without this number has its own reason.
        let why_not = cell.and_then(|cell| {
            let of_direction = cell.unavailable(&metric.of(Some(direction)));
            of_direction.or_else(|| cell.unavailable(&metric.both))
        });
        Reading::of(column, found, || {
            why_not.map_or_else(|| if_missing(direction), str::to_owned)
        })
    };
    Capability {
        label,
        readings: Direction::ALL.map(reading).to_vec(),
    }
}

/// The cells whose writes were read back: those writes were a closed loop of nothing else.
fn replays<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> impl Iterator<Item = &'c Cell<'a>> {
    let is_asked = direction == Direction::Write;
    cells.iter().filter(move |cell| is_asked && cell.reads_back())
}

/// The cell with the largest median of a metric among those that do nothing but this direction and whose rate the device set.
fn fastest<'c, 'a>(
    cells: &'c [Cell<'a>],
    direction: Direction,
    metric: &ByDirection<Metric>,
) -> Option<&'c Cell<'a>> {
    let pure = || cells.iter().filter(|cell| cell.only() == Some(direction));
    let closed = pure().filter(|cell| cell.shows_capability() && cell.is_closed_loop());
    let found = best(closed, &metric.both);
    let overloaded = || best(pure().filter(|cell| cell.shows_capability()), &metric.both);
    let replayed = || best(replays(cells, direction), &metric.of(Some(direction)));
    let found = found.or_else(overloaded).or_else(replayed);
    found.map(|(cell, _)| cell)
}

/// The cell whose latency stands for a direction where no request was alone: one that does nothing else; of a mix only where every
/// cell is one, so that reads and writes of a row are of one kind. One that kept up before one that was overloaded.
fn answering<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<&'c Cell<'a>> {
    let has_pure = cells.iter().any(|cell| cell.only().is_some());
    let kind = |cell: &&Cell<'_>| !has_pure || cell.only() == Some(direction);
    let kept_up = cells.iter().filter(kind).filter(|cell| !cell.is_overloaded());
    let metric = match has_pure {
        true => IOPS.both,
        false => IOPS.of(Some(direction)),
    };
    let closed = kept_up.clone().filter(|cell| cell.is_closed_loop());
    let found = best(closed, &metric).or_else(|| best(kept_up, &metric));
    let found = found.or_else(|| best(cells.iter().filter(kind), &metric));
    let found = found.or_else(|| best(replays(cells, direction), &IOPS.of(Some(direction))));
    found.map(|(cell, _)| cell)
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

/// The cell of one request at a time of a direction: without a sync before those that wait for one, random before
/// sequential, then the smallest access.
fn lone_cell<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<&'c Cell<'a>> {
    let is_lone = |cell: &&Cell<'_>| cell.concurrency() == Some(1.0);
    let order = |cell: &&Cell<'_>| {
        let size = cell.get(&IO_BLOCK_SIZE).copied();
        (cell.is_synced(), !cell.is_random(), size)
    };
    let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
    let found = pure
        .filter(|cell| cell.is_closed_loop())
        .filter(is_lone)
        .min_by_key(order);
    found.or_else(|| replays(cells, direction).filter(is_lone).min_by_key(order))
}

/// Where a number was reached; the column says the direction, unless it was a mix. In an open loop the schedule decides, and the
/// depth is only its limit.
fn conditions(cell: &Cell<'_>) -> String {
    let what = match cell.only() {
        Some(_) => cell.access(),
        None => cell.requests(),
    };
    let circumstances = cell.circumstances();
    let overloaded = if cell.is_overloaded() { ", overloaded" } else { "" };
    match cell.is_closed_loop() {
        true => format!("{what}, {}{circumstances}", cell.depth_words()),
        false => format!("{what}{circumstances}{overloaded}"),
    }
}
