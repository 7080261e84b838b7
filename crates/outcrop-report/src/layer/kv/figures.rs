//! The figures of the key-value layer.

mod of_loads;
mod parts;
mod processor;
mod workers;

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::units::format_bytes;
use outcrop_results::{HistogramKind, RunView};
use outcrop_schema::FactorRef;
use outcrop_schema::kv::{
    BLOCK_CACHE, COMPRESSION, COMPRESSION_BLOCK_SIZE, ENGINE, FILESYSTEM, OF_ENGINES, REQUESTS, SCHEMA,
    THROUGHPUT, VALUE_SIZE, WORKLOAD,
};
use outcrop_workload::keyed::{OperationKind, ValueSize};

use self::of_loads::{MOST_GROUPS, sentences};
use super::cell::{Chosen, blocks, engine, family, is_closed_loop, load_but, requests, with, words, workers};
use super::naming::Naming;
use super::servers;
use crate::cell::Cell;
use crate::chart::SeriesKind::{Dense, Measured};
use crate::chart::{Bar, BarChart, BarGroup, Facet, LineChart, Part, Point, Quantity, Scale, Series, axis};
use crate::layer::not_drawn::cells_not_drawn;
use crate::section::FigureSlot;

/// Lines that a reader can tell apart.
const MOST_LINES: usize = 6;

/// All of them, in the order of the page; those about what the run did not measure say which plan would.
pub(super) fn all(run: &RunView, cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    let mut slots = vec![cost(cells), parts::ratios(run, cells)];
    // Of a profile, which asks what to set in every layer, the table of cells has what these draw.
    let is_profile = run.trials.iter().any(|trial| trial.layer != SCHEMA.name);
    if !is_profile {
        slots.extend(parts::parts(cells));
    }
    let of_workers = workers::all(cells).into_iter();
    slots.extend(of_workers.filter(|slot| !is_profile || matches!(slot, FigureSlot::Drawn(_))));
    if !is_profile {
        slots.extend(processor::cpu(cells));
        slots.extend(processor::operations_per_joule(cells));
    }
    slots.extend([over_time(cells), by_workload(cells)]);
    slots
}

/// What figures of codecs compare; that of throughput the last one too: a filesystem below that compresses is one way to compress.
const ALONG: [FactorRef; 4] = [&ENGINE, &COMPRESSION, &COMPRESSION_BLOCK_SIZE, &FILESYSTEM];

/// Throughput of each codec and block size.
fn cost(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Throughput by codec and block size";
    let family = family(cells, &ALONG, &THROUGHPUT);
    let drawn = &family[..family.len().min(MOST_GROUPS)];
    let how = "Closed loop unless said otherwise. Bars: median; lines: interval.".to_owned();
    let left_out = cells_not_drawn(with(cells, &THROUGHPUT), drawn);
    let caption = caption_of(drawn, &ALONG, [how, servers::note(drawn), left_out]);
    bars(drawn, "kv-codec-throughput", TITLE, caption)
}

fn bars(family: &[&Cell<'_>], id: &str, title: &str, caption: String) -> FigureSlot {
    let parts = [("throughput of all operations", &THROUGHPUT)];
    let group = |cell: &&Cell<'_>| BarGroup {
        label: blocks(cell),
        bars: cell
            .number(parts[0].1)
            .map(|number| Bar::of(Measured, 0, number, &words(cell)))
            .into_iter()
            .collect(),
    };
    let chart = BarChart {
        value: axis("Operations per second", Quantity::Iops, Scale::Linear),
        parts: Part::all(parts.map(|(name, _)| name)),
        facets: vec![Facet {
            title: String::new(),
            groups: family.iter().map(group).collect(),
        }],
    };
    chart.slot(id, title, caption, "kv-compression")
}

/// The load of some cells but for what the names of their bars say, and more sentences.
fn caption_of(family: &[&Cell<'_>], said: &[FactorRef], more: impl IntoIterator<Item = String>) -> String {
    let load = family.first().map(|cell| format!("{}.", load_but(cell, said)));
    load.map_or_else(String::new, |load| sentences([load].into_iter().chain(more)))
}

/// Operations per second of each window of the first repetition, a line for each codec.
fn over_time(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Throughput over time";
    let family = family(cells, &ALONG[..3], &THROUGHPUT);
    let step = family.len().div_ceil(MOST_LINES).max(1);
    let drawn: Chosen<'_, '_> = family.into_iter().step_by(step).collect();
    let line = |(hue, cell): (usize, &&Cell<'_>)| Series::new(blocks(cell), hue, Dense, windows(cell));
    let series: Vec<Series> = drawn.iter().enumerate().map(line).collect();
    let chart = LineChart {
        x: axis(
            "Seconds since the start of measuring",
            Quantity::Seconds,
            Scale::Linear,
        ),
        y: axis("Operations per second", Quantity::Iops, Scale::Linear),
        series,
    };
    const HOW: &str = "First repetition, window by window. Flushes and compactions are dips, and so is other load on the machine; a stall is a window \
                       below a tenth of the median.";
    let left_out = cells_not_drawn(with(cells, &THROUGHPUT), &drawn);
    let caption = caption_of(&drawn, &ALONG, [HOW.to_owned(), servers::note(&drawn), left_out]);
    chart.curves(
        "kv-over-time",
        TITLE,
        caption,
        "kv-compression",
        "no run has two windows.",
    )
}

/// The windows of the first repetition, all kinds of operation together.
fn windows(cell: &Cell<'_>) -> Vec<Point> {
    let Some(view) = cell.view() else {
        return Vec::new();
    };
    // The latencies of an open loop have what was never begun, and lack what was due in the warm-up.
    let kept = match is_closed_loop(cell) {
        true => HistogramKind::Latency,
        false => HistogramKind::Service,
    };
    let mut counts: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for kind in OperationKind::ALL {
        // A damaged histogram leaves a gap that its count shows.
        for point in view.series(kind.name(), kept).unwrap_or_default() {
            if point.repetition == 0 {
                let start_ms = (point.start_s * 1000.0).round() as u64;
                let window = counts.entry(start_ms).or_insert((point.duration_s, 0.0));
                window.1 += point.histogram.count() as f64;
            }
        }
    }
    let longest_s = counts.values().map(|window| window.0).fold(0.0, f64::max);
    add_idle(&mut counts, longest_s);
    // The time measured may end soon after a window has begun: its few operations say little of a second.
    let is_shown = |window: &(u64, (f64, f64))| window.1.0 >= longest_s / 2.0;
    let point = |(start_ms, (duration_s, count)): (u64, (f64, f64))| {
        let (start_s, rate) = (start_ms as f64 / 1000.0, count / duration_s.max(1e-9));
        Point::bare(
            start_s,
            rate,
            format!("{}: {rate:.0} operations/s at {start_s} s", engine(cell)),
        )
    };
    counts.into_iter().filter(is_shown).map(point).collect()
}

/// Windows before the last one in which no operation ended, which have no record: their rate was zero.
fn add_idle(counts: &mut BTreeMap<u64, (f64, f64)>, longest_s: f64) {
    let longest_ms = (longest_s * 1000.0).round() as u64;
    let last_ms = counts.keys().last().copied().unwrap_or(0);
    if longest_ms < 2 {
        return;
    }
    for start_ms in (0..last_ms).step_by(longest_ms as usize) {
        let near = start_ms.saturating_sub(longest_ms / 2)..start_ms + longest_ms / 2;
        if counts.range(near).next().is_none() {
            counts.insert(start_ms, (longest_s, 0.0));
        }
    }
}

/// Throughput of each engine under each workload, a panel for each size of values.
fn by_workload(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Engines by workload";
    let family = family(cells, &along_workloads(cells), &THROUGHPUT);
    let naming = Naming::among(&family);
    let engines = distinct(family.iter().map(|cell| naming.settings(cell)));
    let workloads: BTreeSet<&str> = family.iter().map(|cell| cell.spelling(&WORKLOAD)).collect();
    if workloads.len() < 2 {
        return FigureSlot::missing(TITLE, "the run has a single workload.", "kv-ycsb");
    }
    let bar = |cell: &&Cell<'_>| {
        let name = naming.settings(cell);
        let part = engines.iter().position(|engine| *engine == name)?;
        Some(Bar::of(Measured, part, cell.number(&THROUGHPUT)?, &words(cell)))
    };
    let loads: BTreeSet<String> = family.iter().map(|cell| load_among(&family, cell)).collect();
    let sizes: BTreeSet<(u64, String)> = family.iter().map(|cell| values_in_words(cell)).collect();
    let facet = |size: &(u64, String)| {
        let of_size = family.iter().filter(|cell| values_in_words(cell) == *size);
        let group = |load: &String| BarGroup {
            label: load.clone(),
            bars: of_size
                .clone()
                .filter(|cell| load_among(&family, cell) == *load)
                .filter_map(bar)
                .collect(),
        };
        Facet {
            title: if sizes.len() > 1 {
                size.1.clone()
            } else {
                String::new()
            },
            groups: loads.iter().map(group).collect(),
        }
    };
    let chart = BarChart {
        value: axis("Operations per second", Quantity::Iops, Scale::Linear),
        parts: Part::all(engines.iter().map(String::as_str)),
        facets: sizes.iter().map(facet).collect(),
    };
    const HOW: &str = "Latency by kind of operation is in the table of cells.";
    let caption = sentences([
        family.first().map_or_else(String::new, |cell| asked_by(cell)),
        HOW.to_owned(),
        naming.note(),
        servers::note(&family),
        cells_not_drawn(with(cells, &THROUGHPUT), &family),
    ]);
    chart.slot("kv-workloads", TITLE, caption, "kv-ycsb")
}

/// The workload of a cell, with its requests where it has several kinds of them in the figure: `ycsb-b uniform`.
fn load_among(family: &[&Cell<'_>], cell: &Cell<'_>) -> String {
    let mut same = family
        .iter()
        .filter(|other| other.spelling(&WORKLOAD) == cell.spelling(&WORKLOAD));
    match same.any(|other| other.spelling(&REQUESTS) != cell.spelling(&REQUESTS)) {
        true => requests(cell),
        false => cell.spelling(&WORKLOAD).to_owned(),
    }
}

/// In what the engines of one figure by workload may differ.
fn along_workloads(cells: &[Cell<'_>]) -> Vec<FactorRef> {
    // Servers have no block cache: where all others have the same, that is no difference between loads.
    let caches: BTreeSet<_> = cells
        .iter()
        .filter_map(|cell| cell.factors().setting(BLOCK_CACHE.name))
        .collect();
    OF_ENGINES
        .iter()
        .copied()
        .chain([&WORKLOAD as FactorRef, &REQUESTS, &VALUE_SIZE])
        .chain((caches.len() < 2).then_some(&BLOCK_CACHE as FactorRef))
        .collect()
}

/// `Closed loop, 4 threads.`
fn asked_by(cell: &Cell<'_>) -> String {
    let arrival = match is_closed_loop(cell) {
        true => "Closed loop",
        false => "Open loop",
    };
    format!("{arrival}, {}.", workers(cell))
}

/// `values of 100 B`, behind their length, by which panels are ordered; sizes that differ come last.
fn values_in_words(cell: &Cell<'_>) -> (u64, String) {
    match cell.get(&VALUE_SIZE) {
        Some(ValueSize::Fixed(size)) => (size.0, format!("values of {}", format_bytes(size.0))),
        _ => (u64::MAX, format!("values as in {}", cell.spelling(&VALUE_SIZE))),
    }
}

/// Each name once, in the order of the cells, in which 4 KiB comes before 16 KiB.
fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
