//! The figures of the key-value layer.

use std::collections::BTreeMap;

use outcrop_measure::metric::Metric;
use outcrop_results::{HistogramKind, RunView};
use outcrop_schema::FactorRef;
use outcrop_schema::kv::{
    COMPRESSION, COMPRESSION_BLOCK_SIZE, ENGINE, FILESYSTEM, OF_ENGINES, PROCESSES, READ_LATENCY,
    STORED_RATIO, THREADS, THROUGHPUT, WORKLOAD,
};
use outcrop_workload::keyed::OperationKind;

use super::blocks::{BlockRatio, ratio_of, ratios};
use super::cell::{Chosen, blocks, engine, family, is_closed_loop, load, words};
use super::space::{log_share, matters};
use crate::cell::Cell;
use crate::chart::SeriesKind::{Dense, Derived, Measured};
use crate::chart::{
    Bar, BarChart, BarGroup, Facet, LineChart, Part, Point, Quantity, Scale, Segment, Series, axis,
};
use crate::section::FigureSlot;

/// Lines that a reader can tell apart.
const MOST_LINES: usize = 6;
/// Groups of bars that fit a page.
const MOST_GROUPS: usize = 16;

/// All of them, in the order of the page; those about what the run did not measure say which plan would.
pub(super) fn all(run: &RunView, cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    vec![
        cost(cells),
        space(run, cells),
        by_workers(
            cells,
            &THROUGHPUT,
            "kv-throughput",
            "Throughput by threads and processes",
        ),
        by_workers(
            cells,
            &READ_LATENCY.mean,
            "kv-read-latency",
            "Read latency by threads and processes",
        ),
        over_time(cells),
        by_workload(cells),
    ]
}

/// What figures of codecs compare; that of throughput the last one too: a filesystem below that compresses is one way to compress.
const ALONG: [FactorRef; 4] = [&ENGINE, &COMPRESSION, &COMPRESSION_BLOCK_SIZE, &FILESYSTEM];

/// Throughput of each codec and block size.
fn cost(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Throughput by codec and block size";
    let family = family(cells, &ALONG, &THROUGHPUT);
    let caption = caption_of(
        &family,
        "Closed loop unless said otherwise. Bars: median; lines: interval.",
    );
    bars(&family, "kv-codec-throughput", TITLE, caption)
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
            groups: family.iter().take(MOST_GROUPS).map(group).collect(),
        }],
    };
    chart.slot(id, title, caption, "kv-compression")
}

fn caption_of(family: &[&Cell<'_>], rest: &str) -> String {
    family
        .first()
        .map_or_else(String::new, |cell| format!("{}. {rest}", load(cell)))
}

/// The ratio of the whole engine, next to that of its blocks alone where the run has the compression layer on the same data.
fn space(run: &RunView, cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Ratio of the whole engine, and of its blocks";
    let family = family(cells, &ALONG[..3], &STORED_RATIO);
    let ratios = ratios(run);
    let group = |cell: &&Cell<'_>| BarGroup {
        label: blocks(cell),
        bars: ratio_bars(cell, &ratios),
    };
    let chart = BarChart {
        value: axis(
            "Bytes of keys and values ÷ bytes stored",
            Quantity::Ratio,
            Scale::Linear,
        ),
        parts: Part::all([
            "the engine's files",
            "the engine's files without its log",
            "blocks alone, as the compression layer has it",
        ]),
        facets: vec![Facet {
            title: String::new(),
            groups: family.iter().take(MOST_GROUPS).map(group).collect(),
        }],
    };
    let blocks = match ratios.is_empty() {
        true => "A run with --data and the compression layer shows the ratio of single blocks next to it.",
        false => {
            "The engine's ratio differs from that of its blocks by the index, bloom filters, levels that are not full, the log, and keys."
        }
    };
    chart.slot("kv-space", TITLE, caption_of(&family, blocks), "kv-compression")
}

fn ratio_bars(cell: &Cell<'_>, ratios: &[BlockRatio]) -> Vec<Bar> {
    let own = cell
        .number(&STORED_RATIO)
        .map(|number| Bar::of(Measured, 0, number, &words(cell)));
    // A log that matters hides what the codec does.
    let log = log_share(cell).filter(|share| matters(*share) && *share < 1.0);
    let without_log = cell.value(&STORED_RATIO).zip(log).map(|(ratio, share)| {
        let ratio = ratio / (1.0 - share);
        let note = format!("{}, log left out: {ratio:.2}", blocks(cell));
        Bar::single(Derived, Segment::bare(1, ratio), note)
    });
    let of_blocks = ratio_of(ratios, cell).map(|ratio| {
        let note = format!("{}, blocks alone: {ratio:.2}", blocks(cell));
        Bar::single(Derived, Segment::bare(2, ratio), note)
    });
    own.into_iter().chain(without_log).chain(of_blocks).collect()
}

/// A metric against threads × processes, a line for each codec.
fn by_workers(cells: &[Cell<'_>], metric: &Metric, id: &str, title: &str) -> FigureSlot {
    // Processes as the study has them; where there is one, threads.
    let along = |workers: FactorRef| -> Chosen<'_, '_> {
        let factors: Vec<FactorRef> = OF_ENGINES.iter().copied().chain([workers]).collect();
        family(cells, &factors, metric)
    };
    let is_curve = |cells: &Chosen<'_, '_>, workers: FactorRef| {
        cells
            .iter()
            .any(|cell| cell.place(workers.about()) != cells[0].place(workers.about()))
    };
    let processes = along(&PROCESSES);
    let (name, workers, chosen): (_, FactorRef, _) = match is_curve(&processes, &PROCESSES) {
        true => ("Processes, each with its own database", &PROCESSES, processes),
        false => ("Threads", &THREADS, along(&THREADS)),
    };
    let mut lines: BTreeMap<_, Chosen<'_, '_>> = BTreeMap::new();
    for cell in &chosen {
        let key = (
            cell.factors().setting(ENGINE.name),
            cell.factors().setting(COMPRESSION.name),
            cell.factors().setting(COMPRESSION_BLOCK_SIZE.name),
            blocks(cell),
        );
        lines.entry(key).or_default().push(cell);
    }
    let x = |cell: &Cell<'_>| cell.place(workers.about());
    let line = |(hue, cells): (usize, Chosen<'_, '_>)| {
        let name = blocks(cells[0]);
        Series::new(name, hue, Measured, Point::of_cells(cells, x, metric, words))
    };
    let series = lines
        .into_values()
        .take(MOST_LINES)
        .enumerate()
        .map(line)
        .collect();
    let (label, quantity) = match metric == &THROUGHPUT {
        true => ("Operations per second, all processes", Quantity::Iops),
        false => ("Mean latency of a read", Quantity::Latency),
    };
    let reason = "no codec was measured with two or more numbers of threads or processes.";
    let chart = LineChart {
        x: axis(name, Quantity::QueueDepth, Scale::Log2),
        y: axis(label, quantity, Scale::Linear),
        series,
    };
    let held = chosen
        .first()
        .map(|cell| cell.label(&[&WORKLOAD]))
        .unwrap_or_default();
    let caption = format!("{held}. Shaded: confidence interval of the median.");
    chart.curves(id, title, caption, "kv-scaling", reason)
}

/// Operations per second of each window of the first repetition, a line for each codec.
fn over_time(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Throughput over time";
    let family = family(cells, &ALONG[..3], &THROUGHPUT);
    let step = family.len().div_ceil(MOST_LINES).max(1);
    let line = |(hue, cell): (usize, &&Cell<'_>)| Series::new(blocks(cell), hue, Dense, windows(cell));
    let series: Vec<Series> = family.iter().step_by(step).enumerate().map(line).collect();
    let chart = LineChart {
        x: axis(
            "Seconds since the start of measuring",
            Quantity::Seconds,
            Scale::Linear,
        ),
        y: axis("Operations per second", Quantity::Iops, Scale::Linear),
        series,
    };
    let caption = caption_of(
        &family,
        "First repetition, window by window. Flushes and compactions are dips, and so is other load on the machine; a stall is a window below a tenth of the median.",
    );
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

/// Throughput and tail of each engine under each workload.
fn by_workload(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Engines by workload";
    let factors: Vec<FactorRef> = OF_ENGINES
        .iter()
        .copied()
        .chain([&WORKLOAD as FactorRef, &outcrop_schema::kv::REQUESTS])
        .collect();
    let family = family(cells, &factors, &THROUGHPUT);
    // In the order of the cells, in which 4 KiB comes before 16 KiB.
    let mut engines: Vec<String> = Vec::new();
    for engine in family.iter().map(|cell| blocks(cell)) {
        if !engines.contains(&engine) {
            engines.push(engine);
        }
    }
    let mut workloads: BTreeMap<String, Chosen<'_, '_>> = BTreeMap::new();
    for cell in &family {
        workloads
            .entry(cell.spelling(&WORKLOAD).to_owned())
            .or_default()
            .push(cell);
    }
    if workloads.len() < 2 {
        return FigureSlot::missing(TITLE, "the run has a single workload.", "kv-ycsb");
    }
    let facet = |metric: &Metric, title: &str| Facet {
        title: title.to_owned(),
        groups: workloads
            .iter()
            .map(|(workload, cells)| BarGroup {
                label: workload.clone(),
                bars: cells
                    .iter()
                    .filter_map(|cell| {
                        let part = engines.iter().position(|engine| *engine == blocks(cell))?;
                        Some(Bar::of(Measured, part, cell.number(metric)?, &words(cell)))
                    })
                    .collect(),
            })
            .collect(),
    };
    let chart = BarChart {
        value: axis("Operations per second", Quantity::Iops, Scale::Linear),
        parts: Part::all(engines.iter().map(String::as_str)),
        facets: vec![facet(&THROUGHPUT, "")],
    };
    let caption = "Closed loop. Latency by kind of operation is in the table of cells.";
    chart.slot("kv-workloads", TITLE, caption, "kv-ycsb")
}
