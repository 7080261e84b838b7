//! The figures of the cache layer.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::Metric;
use outcrop_results::RunView;
use outcrop_schema::cache::{
    ARRIVAL, BUILD, CONNECTIONS, DRIVER_CPU, HIT_RATIO, ITEM_MEMORY, KEYS, LATENCY, MEMORY, OF_SERVERS,
    OFFERED, ORACLE, PIPELINE, POLICY, SERVER, SERVER_CPU, SIMULATED_HIT_RATIO, Server, THROUGHPUT,
};
use outcrop_schema::{About, FactorRef};

use super::cell::{
    Chosen, OTHERS, all_of, concurrency, held_over_limit, is_closed_loop, is_this_build, listed, loop_words,
    named, named_memory, peers_along, rank, server, typical, words,
};
use crate::cell::{Cell, largest_family};
use crate::chart::SeriesKind::{Dense, Measured, Modelled};
use crate::chart::{
    Bar, BarChart, BarGroup, COLOURS, Facet, LineChart, Part, Point, Quantity, Scale, Series, axis,
    cdf_of_latencies,
};
use crate::layer::not_drawn::{behind_blank, not_drawn};
use crate::layer::sensitivity::sensitivity;
use crate::section::{FigureSlot, LeastEffort};

/// Lines that a reader can tell apart.
const MOST_LINES: usize = 6;

/// What the panels of the sensitivity show.
const PANELS: [(&str, Metric); 4] = [
    ("hit ratio", HIT_RATIO),
    ("server CPU", SERVER_CPU),
    (THROUGHPUT.name, THROUGHPUT),
    ("p99 latency", LATENCY.p99),
];

/// All of them, in the order of the page; those about what the run did not measure say which plan would.
pub(super) fn all(run: &RunView, cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    vec![
        latencies(cells),
        hits_by_memory(cells),
        tail_by_load(cells),
        cpu_by_pipeline(cells),
        throughput_by_connections(cells),
        sensitivity(run, cells, "cache-sensitivity", &PANELS, words),
    ]
}

/// The cumulative distribution of latency, by server or memory, closed and open loop.
fn latencies(cells: &[Cell<'_>]) -> FigureSlot {
    // Of peers at every concurrency, the one that most have; of one server, every memory.
    let mut family = typical(cells, &peers_along(&ARRIVAL), &LATENCY.p50);
    if family.len() < 3 {
        family = typical(cells, &[&MEMORY, &ARRIVAL], &LATENCY.p50);
    }
    let shown = few_enough(family);
    let line = |(hue, cell): (usize, &&Cell<'_>)| {
        let points = cdf_of_latencies(&cell.latencies());
        Series::new(distinguishing(cells, &shown, cell), hue, Dense, points)
    };
    let series = shown.iter().enumerate().map(line).collect();
    let x = axis("Latency", Quantity::Latency, Scale::Log10);
    let y = axis("Requests answered", Quantity::Percent, Scale::Linear);
    let held = shown.first().map_or_else(String::new, |cell| concurrency(cell));
    let choice = choice(cells, &shown, &[&PIPELINE]);
    let what = match shown[..] {
        [one] if choice.is_empty() => words(one),
        _ => format!("each cell that is drawn, {held}"),
    };
    let caption = format!(
        "All requests of all trials of {what}. In a closed loop a connection sends its next request only after a reply, so a slow server gets fewer requests; in an open loop latency counts from when a request was due.{choice}"
    );
    LineChart { x, y, series }.slot("cache-latency-cdf", "Latency distribution", caption, "cache-etc")
}

/// As many lines as can be told apart, and every server under the same loads: the closed loop first, then open ones, the least
/// offered load first.
fn few_enough<'c, 'a>(mut cells: Chosen<'c, 'a>) -> Chosen<'c, 'a> {
    let arrival = |cell: &&'c Cell<'a>| cell.factors().setting(ARRIVAL.name);
    let arrivals: BTreeSet<_> = cells.iter().map(arrival).collect();
    let servers = cells.len().div_ceil(arrivals.len().max(1)).max(1);
    let loads = (MOST_LINES / servers).max(1);
    let shown: BTreeSet<_> = arrivals.into_iter().take(loads).collect();
    cells.retain(|cell| shown.contains(&arrival(cell)));
    let step = cells.len().div_ceil(MOST_LINES).max(1);
    cells.into_iter().step_by(step).collect()
}

/// The policies or memories of a run: more than one, and a line or bar says its own, since the data behind it have no caption.
fn has_several(all: &[Cell<'_>], factor: FactorRef) -> bool {
    let values: BTreeSet<String> = all.iter().map(|cell| cell.shown(factor)).collect();
    values.iter().filter(|value| !value.is_empty()).count() > 1
}

/// What tells a cell apart from these, and its policy and memory from others of the run, the server first; always with its loop, without
/// which a latency says nothing.
fn distinguishing(all: &[Cell<'_>], cells: &[&Cell<'_>], cell: &Cell<'_>) -> String {
    let differs = |factor: &&About| {
        let is_other = |other: &&Cell<'_>| other.spelling(factor) != cell.spelling(factor);
        cells.iter().any(is_other)
    };
    let is_server = differs(&&*SERVER) || differs(&&*BUILD);
    let server = is_server.then(|| server(cell));
    let others: [FactorRef; 2] = [&POLICY, &MEMORY];
    let others = others
        .into_iter()
        .filter(|factor| differs(&factor.about()) || has_several(all, *factor));
    let others = others.map(|factor| cell.shown(factor));
    let more: [FactorRef; 2] = [&ITEM_MEMORY, &ORACLE];
    let apart = more
        .into_iter()
        .chain(OTHERS)
        .filter(|factor| differs(&factor.about()));
    let apart = apart.map(|factor| named(cell, factor));
    listed(
        server
            .into_iter()
            .chain(others)
            .chain([loop_words(cell)])
            .chain(apart),
    )
}

/// Which policy and memory a figure is of, and which load by those factors of it that the caption does not say, where the run has others
/// that the figure does not show.
fn choice(cells: &[Cell<'_>], shown: &[&Cell<'_>], load: &[FactorRef]) -> String {
    let of_one = |factor: FactorRef| {
        let measured: BTreeSet<String> = cells.iter().map(|cell| cell.shown(factor)).collect();
        let measured = measured.iter().filter(|value| !value.is_empty()).count();
        let with_value = shown.iter().filter(|cell| !cell.shown(factor).is_empty());
        let names: BTreeSet<String> = with_value.map(|cell| named(cell, factor)).collect();
        let name = names.first().filter(|_| names.len() == 1 && measured > 1)?;
        // A peer has no policy.
        let of_whom = match shown.iter().any(|cell| cell.shown(factor).is_empty()) {
            true => " of outcrop",
            false => "",
        };
        Some(format!("{name}{of_whom} (of {measured} measured)"))
    };
    let sizes: [FactorRef; 4] = [&POLICY, &MEMORY, &ITEM_MEMORY, &KEYS];
    let factors = sizes.into_iter().chain(load.iter().copied());
    let ones: Vec<String> = factors.chain(OTHERS).filter_map(of_one).collect();
    match ones.is_empty() {
        true => String::new(),
        false => format!(" Shown: {}.", listed(ones)),
    }
}

/// Cells that differ in what the axis shows, and in nothing else.
struct Line<'c, 'a> {
    /// The place of its server.
    rank: usize,
    name: String,
    cells: Chosen<'c, 'a>,
}

/// Peers by the line along a factor that they are on: servers in the order of the page, then by name. Where those of one name differ in what
/// else servers are started with, such as their threads, there is a line for each, which says it.
fn lines<'c, 'a>(
    cells: &Chosen<'c, 'a>,
    along: FactorRef,
    name: fn(&Cell<'_>) -> String,
) -> Vec<Line<'c, 'a>> {
    let full_name = |cell: &Cell<'_>| {
        let plain = name(cell);
        let alike = || cells.iter().filter(|other| name(other) == plain);
        let differs = |factor: &&FactorRef| {
            let is_other = |other: &&Cell<'_>| other.spelling(factor) != cell.spelling(factor);
            factor.name != along.name && alike().any(is_other)
        };
        let apart: Vec<String> = OF_SERVERS
            .iter()
            .filter(differs)
            .map(|factor| named(cell, *factor))
            .collect();
        listed([plain].into_iter().chain(apart))
    };
    let mut by_name: BTreeMap<(usize, String), Chosen<'c, 'a>> = BTreeMap::new();
    for cell in cells {
        by_name
            .entry((rank(cell), full_name(cell)))
            .or_default()
            .push(cell);
    }
    let line = |((rank, name), cells)| Line { rank, name, cells };
    by_name.into_iter().map(line).collect()
}

/// A line and its colour: that of its server, or where that has several lines, one that no other has.
type Coloured<'c, 'a> = (usize, Line<'c, 'a>);

/// As many lines as colours tell apart, and those left out as a sentence with a blank before it. The first line of each server comes before the
/// second of any.
fn coloured<'c, 'a>(lines: Vec<Line<'c, 'a>>, most: usize) -> (Vec<Coloured<'c, 'a>>, String) {
    let is_like = |at: usize| move |one: &&Line<'_, '_>| one.rank == at;
    let place = |at: usize| lines[..at].iter().filter(is_like(lines[at].rank)).count();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|at| place(*at));
    let shown: BTreeSet<usize> = order.into_iter().take(most).collect();
    let (shown, left_out): (Vec<_>, Vec<_>) = lines
        .into_iter()
        .enumerate()
        .partition(|(at, _)| shown.contains(at));
    let mut own: BTreeSet<usize> = shown.iter().map(|(_, line)| line.rank).collect();
    let mut free = Free::beside(&own);
    let colour = |(_, line): (usize, Line<'c, 'a>)| match own.remove(&line.rank) {
        true => (line.rank, line),
        false => (free.next(line.rank), line),
    };
    let shown = shown.into_iter().map(colour).collect();
    let left_out: Vec<String> = left_out.into_iter().map(|(_, line)| line.name).collect();
    (shown, behind_blank(not_drawn(&left_out, "line")))
}

/// Colours that no line has.
struct Free(Vec<usize>);

impl Free {
    fn beside(taken: &BTreeSet<usize>) -> Self {
        Self((0..COLOURS).filter(|hue| !taken.contains(hue)).collect())
    }

    /// The next of them, or this one if it is free, or there is none.
    fn next(&mut self, wanted: usize) -> usize {
        let at = self.0.iter().position(|hue| *hue == wanted).unwrap_or(0);
        match self.0.is_empty() {
            true => wanted,
            false => self.0.remove(at),
        }
    }
}

/// One line per policy, and one per peer; the simulation of each in its colour.
fn hits_by_memory(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Hit ratio against memory";
    // A server that does not keep to its limit has no place along it.
    let has_hits = |cell: &Cell<'_>| {
        cell.value(&HIT_RATIO).is_some() && cell.get(&MEMORY).is_some() && held_over_limit(cell).is_none()
    };
    let family = largest_family(all_of(cells, has_hits), &peers_along(&MEMORY));
    let choice = choice(cells, &family, &[&CONNECTIONS, &PIPELINE, &ARRIVAL]);
    let x = |cell: &Cell<'_>| cell.place(&MEMORY);
    let mut series = Vec::new();
    // Policies are told apart here, and have a colour each.
    let (lines, left_out) = coloured(lines(&family, &MEMORY, policy_or_server), COLOURS);
    for (hue, (_, Line { name, cells, .. })) in lines.into_iter().enumerate() {
        let points = |metric| Point::of_cells(cells.iter().copied(), x, metric, words);
        let simulated = format!("{name}, simulated");
        let simulated = Series::new(simulated, hue, Modelled, points(&SIMULATED_HIT_RATIO));
        let measured = Series::new(name, hue, Measured, points(&HIT_RATIO));
        series.extend([measured, simulated]);
    }
    let is_simulated = |series: &Series| series.kind == Modelled && !series.points.is_empty();
    let simulated = match series.iter().any(is_simulated) {
        true => {
            "Dashes and dots: a textbook simulation of the policy with as many items as the server held (for memcached and Redis: LRU, which is close to what they do). "
        }
        false => "",
    };
    let beyond = beyond_limits(cells);
    let (reason, plan) = match has_several_limits(cells) {
        false => (
            "no server has a hit ratio at two or more memory limits.".to_owned(),
            "cache-policies",
        ),
        // They were measured, and no plan that ships has them under limits that they keep.
        true => (
            format!("no server that keeps to its memory limit has a hit ratio at two or more.{beyond}"),
            "",
        ),
    };
    let x = axis("Memory limit", Quantity::AccessSize, Scale::Log2);
    let y = axis("Hit ratio", Quantity::Share, Scale::Fitted);
    let caption = format!(
        "{simulated}The limit is the configured one; a process takes more.{choice}{beyond}{left_out}"
    );
    let slot = LineChart { x, y, series }.curves("cache-hit-ratio", TITLE, caption, plan, &reason);
    slot.with_effort(LeastEffort::Default)
}

/// Which hit ratios are of more memory than the limit, as a sentence with a blank before it:
/// ` Not drawn: 1 hit ratio (memcached, memory 12 MiB (holds 18.8 MB)).`
fn beyond_limits(cells: &[Cell<'_>]) -> String {
    let is_beyond = |cell: &&Cell<'_>| cell.value(&HIT_RATIO).is_some() && held_over_limit(cell).is_some();
    let mut names: Vec<String> = Vec::new();
    for cell in cells.iter().filter(is_beyond) {
        let name = format!("{}, {}", policy_or_server(cell), named_memory(cell));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    behind_blank(not_drawn(&names, "hit ratio"))
}

/// Whether a server has hit ratios under several memory limits, kept or not.
fn has_several_limits(cells: &[Cell<'_>]) -> bool {
    let has_hits = |cell: &Cell<'_>| cell.value(&HIT_RATIO).is_some() && cell.get(&MEMORY).is_some();
    let family = largest_family(all_of(cells, has_hits), &peers_along(&MEMORY));
    let lines = lines(&family, &MEMORY, policy_or_server);
    lines.iter().any(|line| line.cells.len() > 1)
}

/// The policy where there is a choice of one, the server where it is not ours.
fn policy_or_server(cell: &Cell<'_>) -> String {
    let is_ours = cell.is(&SERVER, &Server::Outcrop) && is_this_build(cell);
    let server = (!is_ours).then(|| server(cell));
    let policy = cell.spelling(&POLICY).to_owned();
    listed(server.into_iter().chain([policy]))
}

/// p99 against throughput, a point for each offered load, with the closed loop as a point of its own.
fn tail_by_load(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "p99 latency by requests answered per second";
    let family = typical(cells, &peers_along(&ARRIVAL), &OFFERED);
    let held = |cell: &&Cell<'_>| listed([concurrency(cell), cell.label(&[&MEMORY])]);
    let held = family.first().map(held).unwrap_or_default();
    let line_of = |name: String, hue: usize, cells: &[&Cell<'_>]| {
        let x = |cell: &Cell<'_>| cell.value(&THROUGHPUT);
        let points = Point::of_cells(cells.iter().copied(), x, &LATENCY.p99, words);
        Series::new(name, hue, Measured, points)
    };
    let lines = lines(&family, &ARRIVAL, server);
    let has_loads = lines.iter().any(|line| line.cells.len() >= 2);
    let open = |hue, line: &Line<'_, '_>| line_of(format!("{}, open loop", line.name), hue, &line.cells);
    let (lines, lacking): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| open(0, line).is_curve());
    let lacking: Vec<String> = lacking.into_iter().map(|line| line.name).collect();
    let lacking = match lacking.is_empty() {
        true => String::new(),
        false => format!(" Not drawn, without a p99 at two loads: {}.", lacking.join("; ")),
    };
    // A line takes a colour, and its closed loop another.
    let (lines, left_out) = coloured(lines, COLOURS / 2);
    let shown: Chosen<'_, '_> = lines
        .iter()
        .flat_map(|(_, line)| line.cells.iter().copied())
        .collect();
    let choice = choice(cells, &shown, &[]);
    let mut free = Free::beside(&lines.iter().map(|(hue, _)| *hue).collect());
    let both = |(hue, line): &Coloured<'_, '_>| {
        let is_like = |cell: &Cell<'_>| is_closed_loop(cell) && cell.is_like(line.cells[0], &[&ARRIVAL]);
        let closed = all_of(cells, is_like);
        let (name, other) = (format!("{}, closed loop", line.name), free.next(hue + 4));
        [open(*hue, line), line_of(name, other, &closed)]
    };
    let series = lines.iter().flat_map(both).collect();
    let reason = match has_loads {
        true => {
            "no server has a p99 latency at two or more of the loads that it was offered: that needs more requests."
        }
        false => "no server was offered two or more loads in an open loop.",
    };
    let x = axis("Requests answered per second", Quantity::Iops, Scale::Linear);
    let y = axis("p99 latency", Quantity::Latency, Scale::Log10);
    let caption = format!(
        "{held}. Each point of a line is one offered load, latency from the intended start. Where a line turns upwards, requests queue; the single point is a closed loop with the same connections.{choice}{lacking}{left_out}"
    );
    let slot = LineChart { x, y, series }.curves("cache-offered-load", TITLE, caption, "cache-peers", reason);
    slot.with_effort(LeastEffort::Default)
}

/// CPU time per answer of server and driver, closed loop, by server and pipeline.
fn cpu_by_pipeline(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "CPU time per request";
    let mut family = typical(cells, &peers_along(&PIPELINE), &SERVER_CPU);
    family.sort_by_key(|cell| cell.get(&PIPELINE));
    let factors: [FactorRef; 2] = [&POLICY, &MEMORY];
    let told = factors.map(|factor| has_several(cells, factor).then_some(factor));
    let name = |cell: &Cell<'_>| {
        let told = told.iter().flatten().map(|factor| cell.shown(*factor));
        listed([server(cell)].into_iter().chain(told))
    };
    // Two bars of one name would be one to their reader.
    let label = |cell: &Cell<'_>| {
        let is_like =
            |other: &&&Cell<'_>| other.get(&PIPELINE) == cell.get(&PIPELINE) && name(other) == name(cell);
        match family.iter().filter(is_like).count() {
            0 | 1 => name(cell),
            _ => distinguishing(cells, &family, cell),
        }
    };
    let group = |cell: &&Cell<'_>| {
        let numbers = [SERVER_CPU, DRIVER_CPU].into_iter().enumerate();
        let bar = |(part, metric)| Some(Bar::of(Measured, part, cell.number(&metric)?, &words(cell)));
        let bars = numbers.filter_map(bar).collect();
        BarGroup {
            label: label(cell),
            bars,
        }
    };
    let facet = |cells: &[&Cell<'_>]| {
        let title = match cells[0].get(&PIPELINE) {
            None | Some(1) => "no pipeline".to_owned(),
            Some(pipeline) => format!("pipeline {pipeline}"),
        };
        let groups = cells.iter().map(group).collect();
        Facet { title, groups }
    };
    let of_pipelines = family.chunk_by(|one, other| one.get(&PIPELINE) == other.get(&PIPELINE));
    let chart = BarChart {
        value: axis("CPU time per answer", Quantity::Latency, Scale::Linear),
        parts: Part::all(["server", "driver"]),
        facets: of_pipelines.map(facet).collect(),
    };
    let connections = family.first().map_or("", |cell| cell.spelling(&CONNECTIONS));
    let choice = choice(cells, &family, &[]);
    let of_one = match family[..] {
        [one] if choice.is_empty() => format!(" Drawn: {}.", words(one)),
        _ => String::new(),
    };
    let caption = format!(
        "User and kernel time of the server's threads, and of the driver's, per answer; {connections} connections, closed loop. \
         Where the driver takes more CPU time than the server, the throughput is limited by the driver.{choice}{of_one}"
    );
    let missing = || FigureSlot::missing(TITLE, "no cell of a closed loop gave a CPU time.", "cache-peers");
    let figure = chart.draw("cache-cpu-per-request", TITLE, caption);
    figure.map_or_else(missing, FigureSlot::Drawn)
}

/// Throughput by connections, closed loop, without a pipeline or with the least.
fn throughput_by_connections(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Throughput by connections";
    let family = typical(cells, &peers_along(&CONNECTIONS), &THROUGHPUT);
    let pipeline = family.first().map_or("", |cell| cell.spelling(&PIPELINE));
    let choice = choice(cells, &family, &[]);
    let line = |(hue, Line { name, cells, .. }): Coloured<'_, '_>| {
        let x = |cell: &Cell<'_>| cell.place(&CONNECTIONS);
        let points = Point::of_cells(cells, x, &THROUGHPUT, words);
        Series::new(format!("{name}, closed loop"), hue, Measured, points)
    };
    let (lines, left_out) = coloured(lines(&family, &CONNECTIONS, server), COLOURS);
    let series = lines.into_iter().map(line).collect();
    let reason = "no server was measured with two or more numbers of connections in a closed loop.";
    let x = axis("Connections", Quantity::QueueDepth, Scale::Log2);
    let y = axis("Requests answered per second", Quantity::Iops, Scale::Linear);
    let caption = format!(
        "Pipeline {pipeline}, closed loop, server and driver each on its own CPU where there are two.{choice}{left_out}"
    );
    let slot = LineChart { x, y, series }.curves("cache-connections", TITLE, caption, "cache-peers", reason);
    slot.with_effort(LeastEffort::Default)
}
