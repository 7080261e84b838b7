//! Throughput and latency against processes or threads: a figure for each load that was measured with several numbers of them.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::Metric;
use outcrop_measure::units::format_count;
use outcrop_schema::FactorRef;
use outcrop_schema::kv::{
    OF_ENGINES, PROCESSES, READ_LATENCY, RECORDS, REQUESTS, SCHEMA, THREADS, THROUGHPUT, WORKLOAD,
};

use super::super::cell::{Chosen, listed, with, words};
use super::super::naming::Naming;
use super::super::servers;
use super::of_loads::{of_loads, sentences};
use crate::cell::{Cell, families};
use crate::chart::SeriesKind::Measured;
use crate::chart::{COLOURS, LineChart, Point, Quantity, Scale, Series, axis};
use crate::layer::not_drawn::not_drawn;
use crate::number::counted;
use crate::section::FigureSlot;

const PLAN: &str = "kv-scaling";
const NO_CURVE: &str = "no codec was measured with two or more numbers of threads or processes.";

/// The cells of one load, in all numbers of workers.
pub(super) struct Curves<'c, 'a> {
    /// What goes along the axis: processes, or threads.
    pub(super) workers: FactorRef,
    /// Cells that differ in it, and in what only engines have.
    pub(super) cells: Chosen<'c, 'a>,
    /// What tells the load from the others of the run: `ycsb-a, 10 threads`.
    pub(super) load: String,
    /// How its lines are named: as those of all loads of the run.
    pub(super) naming: Naming,
}

impl<'c, 'a> Curves<'c, 'a> {
    /// Its title and identifier: those of a figure alone, or with what tells its load from others.
    pub(super) fn names(&self, title: &str, id: &str, is_alone: bool) -> (String, String) {
        let title = format!("{title} by {}: {}", self.workers.name, self.load);
        match is_alone {
            true => (title, id.to_owned()),
            false => (title, format!("{id}-{}", slug(&self.load))),
        }
    }

    /// What was held fixed.
    pub(super) fn held(&self) -> String {
        let Some(first) = self.cells.first() else {
            return String::new();
        };
        // Where loads differ in it, it is in the load's words.
        let keys = Some(first.spelling(&REQUESTS)).filter(|keys| !self.load.contains(keys));
        let keys = keys.map_or_else(String::new, |keys| format!("{keys} requests"));
        let records = first.place(&RECORDS);
        let records = records.map(|records| format!("{} records in each database", format_count(records)));
        listed([self.load.clone(), keys, records.unwrap_or_default()])
    }

    /// The cells of each number of workers, from the least, with the number in words.
    pub(super) fn by_count(&self) -> Vec<(String, Chosen<'c, 'a>)> {
        let mut by_count: BTreeMap<u64, Chosen<'c, 'a>> = BTreeMap::new();
        for cell in self.cells.iter().copied() {
            let count = cell.place(self.workers.about()).unwrap_or(1.0) as u64;
            by_count.entry(count).or_default().push(cell);
        }
        let titled = by_count
            .into_values()
            .map(|cells| (counted_workers(self.workers, cells[0]), cells));
        titled.collect()
    }

    /// A line for each setting of the engines, with its name.
    pub(super) fn lines(&self) -> Vec<(String, Chosen<'c, 'a>)> {
        let lines = families(self.cells.iter().copied(), &[self.workers]);
        lines
            .into_iter()
            .map(|cells| (self.naming.settings(cells[0]), cells))
            .collect()
    }
}

/// `1 process`, `4 threads`.
fn counted_workers(workers: FactorRef, cell: &Cell<'_>) -> String {
    let count = cell.place(workers.about()).unwrap_or(1.0) as usize;
    match (is(workers, &THREADS), count) {
        (true, count) => counted(count, "thread"),
        (false, 1) => "1 process".to_owned(),
        (false, count) => format!("{count} processes"),
    }
}

fn is(one: FactorRef, other: FactorRef) -> bool {
    one.name == other.name
}

/// The number of different places that cells have on a factor's axis.
fn places(cells: &[&Cell<'_>], factor: FactorRef) -> usize {
    let places = cells.iter().filter_map(|cell| cell.place(factor.about()));
    places.map(f64::to_bits).collect::<BTreeSet<u64>>().len()
}

/// The loads that were measured with several numbers of processes, as the study has them; of a load that has more numbers of threads, those.
pub(super) fn curves<'c, 'a>(cells: &'c [Cell<'a>], metric: &Metric) -> Vec<Curves<'c, 'a>> {
    let along = |workers: &[FactorRef]| -> Vec<FactorRef> {
        OF_ENGINES
            .iter()
            .copied()
            .chain(workers.iter().copied())
            .collect()
    };
    let mut found: Vec<(FactorRef, Chosen<'c, 'a>)> = Vec::new();
    for load in families(with(cells, metric), &along(&[&THREADS, &PROCESSES])) {
        let workers: FactorRef = match places(&load, &THREADS) > places(&load, &PROCESSES) {
            true => &THREADS,
            false => &PROCESSES,
        };
        let curves = families(load, &along(&[workers]));
        let curves = curves.into_iter().filter(|cells| places(cells, workers) > 1);
        found.extend(curves.map(|cells| (workers, cells)));
    }
    let all: Vec<&Cell<'_>> = found.iter().flat_map(|(_, cells)| cells).copied().collect();
    let naming = Naming::among(&all);
    let firsts: Vec<&Cell<'_>> = found.iter().map(|(_, cells)| cells[0]).collect();
    let differing = differing(&firsts);
    let of_one_subject = firsts.iter().all(|cell| cell.subject() == firsts[0].subject());
    found
        .into_iter()
        .map(|(workers, cells)| {
            let subject = match of_one_subject {
                true => String::new(),
                false => cells[0].subject().to_owned(),
            };
            Curves {
                load: listed([load_in_words(cells[0], workers, &differing), subject]),
                workers,
                cells,
                naming,
            }
        })
        .collect()
}

/// Names of the factors in which any of the cells differ.
fn differing<'c>(cells: &[&'c Cell<'_>]) -> BTreeSet<&'c str> {
    let Some((first, others)) = cells.split_first() else {
        return BTreeSet::new();
    };
    others.iter().flat_map(|cell| cell.differences(first)).collect()
}

/// `ycsb-a, 10 threads`, with all else in which the loads of the run differ.
fn load_in_words(cell: &Cell<'_>, workers: FactorRef, differing: &BTreeSet<&str>) -> String {
    let other: FactorRef = match is(workers, &THREADS) {
        true => &PROCESSES,
        false => &THREADS,
    };
    let count = counted_workers(other, cell);
    let is_more = |factor: &&FactorRef| {
        let is_said = [&WORKLOAD as FactorRef, &THREADS, &PROCESSES];
        let is_told = is_said.iter().chain(OF_ENGINES).any(|said| is(*said, **factor));
        !is_told && differing.contains(factor.name)
    };
    let more = SCHEMA.workload.iter().filter(is_more).map(|factor| {
        let label = cell.label(&[*factor]);
        match label.is_empty() {
            true => format!("{} {}", factor.words(), cell.shown(*factor)),
            false => label,
        }
    });
    listed(
        [cell.spelling(&WORKLOAD).to_owned(), count]
            .into_iter()
            .chain(more),
    )
}

/// Letters and digits of a name, with a hyphen for all that lies between them.
fn slug(words: &str) -> String {
    let parts = words.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<String> = parts
        .filter(|part| !part.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    parts.join("-")
}

/// Throughput and read latency.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    if curves(cells, &THROUGHPUT).is_empty() {
        const TITLE: &str = "Throughput and read latency by threads and processes";
        return vec![FigureSlot::missing(TITLE, NO_CURVE, PLAN)];
    }
    let throughput = ("Operations per second, all processes", Quantity::Iops);
    let latency = ("Mean latency of a read", Quantity::Latency);
    let throughput = drawn(cells, &THROUGHPUT, "kv-throughput", "Throughput", throughput);
    let latency = drawn(
        cells,
        &READ_LATENCY.mean,
        "kv-read-latency",
        "Read latency",
        latency,
    );
    [throughput, latency].concat()
}

/// A figure for each load; none where no load has the metric.
fn drawn(cells: &[Cell<'_>], metric: &Metric, id: &str, title: &str, y: (&str, Quantity)) -> Vec<FigureSlot> {
    let all = curves(cells, metric);
    // One colour for one setting in all of them.
    let mut names: Vec<String> = Vec::new();
    for (name, _) in all.iter().flat_map(Curves::lines) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    of_loads(with(cells, metric), &all, |curves, without_a_figure| {
        let x = |cell: &Cell<'_>| cell.place(curves.workers.about());
        let mut lines = curves.lines();
        let left_out = lines.split_off(lines.len().min(COLOURS)).into_iter();
        let left_out: Vec<String> = left_out.map(|(name, _)| name).collect();
        let series = lines.into_iter().map(|(name, cells)| {
            let hue = names.iter().position(|known| *known == name).unwrap_or(0);
            Series::new(name, hue, Measured, Point::of_cells(cells, x, metric, words))
        });
        let x_label = match is(curves.workers, &THREADS) {
            true => "Threads of each process",
            false => "Processes, each with its own database",
        };
        let chart = LineChart {
            x: axis(x_label, Quantity::QueueDepth, Scale::Log2),
            y: axis(y.0, y.1, Scale::Linear),
            series: series.collect(),
        };
        let (title, id) = curves.names(title, id, all.len() == 1);
        let caption = sentences([
            format!("{}.", curves.held()),
            curves.naming.note(),
            servers::note(&curves.cells),
            not_drawn(&left_out, "line"),
            without_a_figure,
        ]);
        chart.curves(&id, &title, caption, PLAN, NO_CURVE)
    })
}
