//! What this device can do, what to configure and how sure that is.

use outcrop_measure::metric::Metric;
use outcrop_results::RunView;
use outcrop_schema::device::{
    BANDWIDTH, ByDirection, CONTENT, Direction, IO_BLOCK_SIZE, IOPS, READ_WRITE_MIX, REPLAY, SCHEMA, SPAN,
    SYNC,
};

use super::cell::{DeviceCell, P50, P99};
use super::{advice, limits};
use crate::answer::{Absence, Answer, Capability, Reading, ReadingOutcome};
use crate::cell::{Cell, best};
use crate::command::{Commands, quoted, to_fill_in};
use crate::environment::storage_line;
use crate::layer::{cautions, subjects};
use crate::ties;

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
    // Where no request was alone, it is that of the cells above, and not the lowest of the run. In an open loop the schedule set their rate.
    let label = match (has_lone, cells.iter().any(DeviceCell::is_closed_loop)) {
        (true, _) => lone_label(&lone),
        (false, true) => "Latency at highest IOPS".to_owned(),
        (false, false) => "Latency at the answered rate".to_owned(),
    };
    let latency = |percentile: &str, metric: &ByDirection<Metric>| {
        let find = |direction| match has_lone {
            true => lone_cell(cells, direction),
            false => answering(cells, direction).or_else(|| withheld(cells, direction, metric)),
        };
        let hint = |direction: Direction| {
            let flags = with_only(direction, find(direction.other()), cells, commands);
            let lacking = match has_lone {
                true => lacking(cells, direction, Wanted::Lone),
                false => lacking(cells, direction, Wanted::Any),
            };
            unmeasured(lacking, commands.device(direction, &flags))
        };
        row(format!("{label}, {percentile}"), metric, find, hint)
    };
    let mut rows = throughput(cells, commands);
    rows.extend([latency("p50", &P50), latency("p99", &P99)]);
    rows
}

/// The name of the rows of lone requests, with their access where the run has others.
fn lone_label(lone: &[Option<&Cell<'_>>]) -> String {
    let mut apart = lone.iter().flatten().map(|cell| cell.access_apart());
    let first = apart.next().unwrap_or_default();
    let is_of_both = apart.all(|other| other == first);
    match first.strip_prefix(", ").filter(|_| is_of_both) {
        Some(access) => format!("QD 1 latency ({access})"),
        None => "QD 1 latency".to_owned(),
    }
}

/// Which cells of a direction alone a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Any,
    /// Those whose rate the device set.
    Closed,
    /// Of those, one request at a time.
    Lone,
}

/// What a row lacks: cells of a direction alone, those of them that it is of, or their figure.
fn lacking(cells: &[Cell<'_>], direction: Direction, wanted: Wanted) -> String {
    let pure = || cells.iter().filter(|cell| cell.only() == Some(direction));
    let has_closed = pure().any(DeviceCell::is_closed_loop);
    let only = format!("cell with only {direction}s");
    match wanted {
        _ if pure().next().is_none() => format!("this run has no {only}"),
        Wanted::Lone if lone_cell(cells, direction).is_none() => {
            format!("this run has no closed-loop {only} at QD 1 (one request in flight)")
        }
        Wanted::Closed if !has_closed => format!("this run has no closed-loop {only}"),
        Wanted::Any | Wanted::Closed | Wanted::Lone => format!("no {only} has this figure"),
    }
}

/// Why a row is empty, and the command that fills it.
fn unmeasured(lacking: String, command: Option<String>) -> String {
    let filled = |command: String| format!("; `{command}` measures it{}", to_fill_in(&command));
    lacking + &command.map_or_else(String::new, filled)
}

/// The flags that measure a direction alone as the row's other figure was measured; what is the same in all cells where it has none. What has
/// its default is not said.
fn with_only(
    direction: Direction,
    beside: Option<&Cell<'_>>,
    cells: &[Cell<'_>],
    commands: &Commands,
) -> String {
    let mut flags = format!("--read-write-mix {}", direction.mix());
    for factor in SCHEMA.workload {
        let is_of_writes = [SYNC.name, CONTENT.name].contains(&factor.name);
        let is_changed = [READ_WRITE_MIX.name, REPLAY.name].contains(&factor.name);
        if is_changed || is_of_writes && direction == Direction::Read {
            continue;
        }
        let mut values = cells.iter().map(|cell| cell.spelling(factor.about()));
        let value = match beside {
            Some(cell) => cell.spelling(factor.about()),
            None => values
                .next()
                .filter(|first| values.all(|value| value == *first))
                .unwrap_or_default(),
        };
        // All of the subject is the default, and a cell has it in bytes.
        if factor.name == SPAN.name && commands.size_of_device() == Some(value) {
            continue;
        }
        if !value.is_empty() && Some(value) != factor.default {
            flags.push_str(&format!(" --{} {}", factor.flag_name(), quoted(value)));
        }
    }
    flags
}

/// What is highest; where only open loops were run, what they answered of the rate that was offered.
fn throughput(cells: &[Cell<'_>], commands: &Commands) -> Vec<Capability> {
    if !cells.iter().any(DeviceCell::shows_capability) {
        let answered = |what: &str, metric| {
            let hint = |direction: Direction| {
                let beside = busiest(cells, direction.other(), &IOPS);
                let flags = with_only(direction, beside, cells, commands);
                unmeasured(
                    lacking(cells, direction, Wanted::Any),
                    commands.device(direction, &flags),
                )
            };
            row(
                format!("Answered {what}"),
                metric,
                |direction| busiest(cells, direction, &IOPS).or_else(|| withheld(cells, direction, &IOPS)),
                hint,
            )
        };
        return vec![answered("IOPS", &IOPS), answered(BANDWIDTH.both.name, &BANDWIDTH)];
    }
    // What an overloaded device answers is what it can do at that depth, and is not called the highest of a closed loop.
    let is_closed = cells.iter().any(DeviceCell::is_closed_loop);
    let label = if is_closed {
        "Highest"
    } else {
        "Overloaded, answered"
    };
    let highest = |what: &str, metric: &ByDirection<Metric>| {
        let hint = |direction: Direction| {
            if !is_closed && cells.iter().any(|cell| cell.only() == Some(direction)) {
                return format!("no cell with only {direction}s was overloaded");
            }
            let beside = fastest(cells, direction.other(), metric);
            let flags = with_only(direction, beside, cells, commands);
            unmeasured(
                lacking(cells, direction, Wanted::Closed),
                commands.device(direction, &flags),
            )
        };
        let mut row = row(
            format!("{label} {what}"),
            metric,
            |direction| fastest(cells, direction, metric).or_else(|| withheld(cells, direction, metric)),
            hint,
        );
        for (direction, reading) in Direction::ALL.into_iter().zip(&mut row.readings) {
            if let ReadingOutcome::Measured { conditions, .. } = &mut reading.outcome {
                if outdoing(cells, direction, metric).is_some() {
                    conditions.push_str(&format!(", only {direction}s"));
                }
                conditions.push_str(&beside_fastest(cells, direction, metric));
            }
        }
        row
    };
    let name = BANDWIDTH.both.name;
    let mut rows = vec![highest("IOPS", &IOPS)];
    rows.extend(iops_of_mix(cells));
    rows.push(highest(name, &BANDWIDTH));
    let mut directions = Direction::ALL.into_iter();
    let mixed = directions.find_map(|direction| outdoing(cells, direction, &BANDWIDTH));
    rows.extend(mixed.map(|mixed| {
        let label = format!("{label} {name} in a {} mix", mixed.spelling(&READ_WRITE_MIX));
        of_mix(label, &BANDWIDTH, mixed)
    }));
    rows
}

/// IOPS of a mix. Half of a mix is not what the device gives to that half alone, so it has a row with its mix in the name: where a
/// direction was not measured alone, or reached more in the mix.
fn iops_of_mix(cells: &[Cell<'_>]) -> Option<Capability> {
    let mut directions = Direction::ALL.into_iter();
    let mixed = match directions.all(|direction| fastest(cells, direction, &IOPS).is_some()) {
        true => Direction::ALL
            .into_iter()
            .find_map(|direction| outdoing(cells, direction, &IOPS)),
        false => best(cells.iter().filter(|cell| cell.is_mixed()), &IOPS.both).map(|(cell, _)| cell),
    }?;
    // Fewer reads than alone is no loss where the others were writes: the name says so.
    let label = match mixed.read_percent() {
        Some(reads) => format!(
            "IOPS in a {} mix ({} % writes)",
            mixed.spelling(&READ_WRITE_MIX),
            100 - reads
        ),
        None => format!("IOPS in a {} mix", mixed.spelling(&READ_WRITE_MIX)),
    };
    Some(of_mix(label, &IOPS, mixed))
}

/// A metric of each direction in a mix.
fn of_mix(label: String, metric: &ByDirection<Metric>, mixed: &Cell<'_>) -> Capability {
    row(label, metric, |_| Some(mixed), |_| "not in this mix".to_owned())
}

/// The closed loop of a mix in which a direction reached more than in any cell that does nothing else.
fn outdoing<'c, 'a>(
    cells: &'c [Cell<'a>],
    direction: Direction,
    metric: &ByDirection<Metric>,
) -> Option<&'c Cell<'a>> {
    let alone = fastest(cells, direction, metric)?.directed(direction, metric)?;
    let is_asked = |cell: &&Cell<'_>| cell.is_mixed() && cell.is_closed_loop();
    let (cell, number) = best(cells.iter().filter(is_asked), &metric.of(Some(direction)))?;
    (number.value > alone.value).then_some(cell)
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
            Absence::recorded_or(why_not, || if_missing(direction))
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

/// The cells among which the fastest of a direction is found, and the metric that it is found by: those that do nothing but this direction and
/// whose rate the device set; of open loops where no loop was closed.
fn contenders<'c, 'a>(
    cells: &'c [Cell<'a>],
    direction: Direction,
    metric: &ByDirection<Metric>,
) -> Option<(Vec<&'c Cell<'a>>, Metric)> {
    let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
    let capable: Vec<&Cell<'_>> = pure.filter(|cell| cell.shows_capability()).collect();
    let closed = capable.iter().copied().filter(|cell| cell.is_closed_loop());
    let closed: Vec<&Cell<'_>> = closed.collect();
    let replayed: Vec<&Cell<'_>> = replays(cells, direction).collect();
    let groups = [
        (closed, metric.both),
        (capable, metric.both),
        (replayed, metric.of(Some(direction))),
    ];
    let has_any = |(group, metric): &(Vec<&Cell<'_>>, Metric)| best(group.iter().copied(), metric).is_some();
    groups.into_iter().find(has_any)
}

/// The contender with the largest median of a metric.
fn fastest<'c, 'a>(
    cells: &'c [Cell<'a>],
    direction: Direction,
    metric: &ByDirection<Metric>,
) -> Option<&'c Cell<'a>> {
    let (group, metric) = contenders(cells, direction, metric)?;
    best(group, &metric).map(|(cell, _)| cell)
}

/// Where no cell has a number: the first that was measured without one, and says why.
fn withheld<'c, 'a>(
    cells: &'c [Cell<'a>],
    direction: Direction,
    metric: &ByDirection<Metric>,
) -> Option<&'c Cell<'a>> {
    let mut pure = cells.iter().filter(|cell| cell.only() == Some(direction));
    pure.find(|cell| cell.unavailable(&metric.both).is_some())
}

/// Which contenders the trials do not distinguish from the fastest.
fn beside_fastest(cells: &[Cell<'_>], direction: Direction, metric: &ByDirection<Metric>) -> String {
    let found = contenders(cells, direction, metric).and_then(|(group, metric)| {
        let (fastest, _) = best(group.iter().copied(), &metric)?;
        Some(ties::beside(&group, fastest, &metric))
    });
    found.unwrap_or_default()
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

/// The cell of one request at a time of a direction: one that has its latency before those that lack it, as fio's with `fsync` do, then without
/// a sync before those that wait for one, random before sequential, then the smallest access.
fn lone_cell<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<&'c Cell<'a>> {
    let is_lone = |cell: &&Cell<'_>| cell.concurrency() == Some(1.0);
    let order = |cell: &&Cell<'_>| {
        let size = cell.get(&IO_BLOCK_SIZE).copied();
        let lacks = |metric| cell.directed(direction, metric).is_none();
        (
            lacks(&P50),
            cell.is_synced(),
            !cell.is_random(),
            size,
            lacks(&P99),
        )
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
