//! One cache cell with its factors parsed.
//!
//! Names of factors and metrics are those of docs/design/0006-cache-lab.md.

use std::cmp::Ordering;

use outcrop_measure::ByteSize;
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::units::format_count;
use outcrop_results::{CellView, HistogramKind};

use super::super::readings::Readings;
use crate::number::Number;

/// One combination of factors, with the median of every metric.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    view: &'a CellView<'a>,
    readings: Readings,
}

impl<'a> Cell<'a> {
    pub(super) fn of(view: &'a CellView<'a>) -> Self {
        Self {
            view,
            readings: Readings::of(view),
        }
    }

    /// Servers in the order of the page, numeric factors in numeric order, then all as text.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let numeric = |cell: &Self| {
            let counts = ["pipeline", "connections", "keys", "server_threads"];
            let counts = counts.map(|name| cell.parsed::<f64>(name).unwrap_or(0.0));
            (
                cell.memory_bytes().unwrap_or(0.0),
                counts,
                cell.offered().unwrap_or(0.0),
            )
        };
        let by_number = numeric(self)
            .partial_cmp(&numeric(other))
            .unwrap_or(Ordering::Equal);
        self.rank()
            .cmp(&other.rank())
            .then(by_number)
            .then_with(|| self.view.factors.cmp(other.view.factors))
    }

    pub(super) fn view(&self) -> &'a CellView<'a> {
        self.view
    }

    pub(super) fn factor(&self, name: &str) -> &'a str {
        self.view.factor(name).unwrap_or_default()
    }

    /// A factor as a number.
    pub(super) fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.view.factor(name)?.parse().ok()
    }

    pub(super) fn memory_bytes(&self) -> Option<f64> {
        self.parsed::<ByteSize>("memory").map(|size| size.0 as f64)
    }

    pub(super) fn number(&self, metric: &str) -> Option<&Number> {
        self.readings.numbers.get(metric)
    }

    pub(super) fn value(&self, metric: &str) -> Option<f64> {
        self.number(metric).map(|number| number.value)
    }

    /// Why the cell could not be measured at all.
    pub(super) fn absent(&self) -> Option<&str> {
        self.readings.unavailable.get("throughput").map(String::as_str)
    }

    /// Its server in words: `outcrop`, `memcached`, the URL, `outcrop (release)`.
    pub(super) fn server(&self) -> String {
        match (self.factor("server"), self.factor("build")) {
            ("", _) => self.view.subject.to_owned(),
            (server, "" | "this") => server.to_owned(),
            (server, build) => format!("{server} ({build})"),
        }
    }

    /// Place of its server on the page; the same number is the same colour.
    pub(super) fn rank(&self) -> usize {
        let known = ["outcrop", "memcached", "redis", "$MEMCACHED"];
        let server = self.factor("server");
        known.iter().position(|name| *name == server).unwrap_or(0)
    }

    pub(super) fn is_closed_loop(&self) -> bool {
        self.factor("arrival") == "closed"
    }

    /// `closed loop`, `open loop, poisson:50%`: it stands at every latency.
    pub(super) fn loop_words(&self) -> String {
        match self.factor("arrival") {
            "closed" => "closed loop".to_owned(),
            arrival => format!("open loop, {arrival}"),
        }
    }

    /// Requests per second that were asked for; none in a closed loop.
    pub(super) fn offered(&self) -> Option<f64> {
        self.value("offered_load")
    }

    /// Connections and pipeline in words: `50 connections`, `50 connections × 8`.
    pub(super) fn concurrency_words(&self) -> String {
        let pipeline = self.factor("pipeline");
        let depth = if pipeline == "1" {
            String::new()
        } else {
            format!(" × {pipeline}")
        };
        format!("{} connections{depth}", self.factor("connections"))
    }

    /// The cell in words: server, memory, policy, keys, concurrency, loop.
    pub(super) fn words(&self) -> String {
        let keys = self.parsed("keys").map_or_else(|| "?".to_owned(), format_count);
        let mut words = vec![self.server()];
        for name in ["memory", "policy"] {
            if let Some(value) = self.view.factor(name) {
                words.push(value.to_owned());
            }
        }
        words.extend([
            format!("{keys} keys"),
            self.concurrency_words(),
            self.loop_words(),
        ]);
        words.join(", ")
    }

    /// The factors in which two cells differ.
    pub(super) fn differences(&self, other: &Self) -> Vec<&'a str> {
        let names = self.view.factors.keys().chain(other.view.factors.keys());
        let mut differ: Vec<&str> = names
            .filter(|name| self.view.factor(name) != other.view.factor(name))
            .map(String::as_str)
            .collect();
        differ.sort_unstable();
        differ.dedup();
        differ
    }

    /// Whether they differ in nothing but these factors.
    pub(super) fn is_like(&self, other: &Self, but_for: &[&str]) -> bool {
        self.differences(other).iter().all(|name| but_for.contains(name))
    }

    /// Latencies of all its requests, from the intended start.
    pub(super) fn latencies(&self) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        for (operation, kind) in self.view.histogram_keys() {
            // A damaged histogram leaves a gap that its count shows.
            if kind == HistogramKind::Latency
                && let Ok(histogram) = self.view.histogram(operation, kind)
            {
                all.merge(&histogram);
            }
        }
        all
    }

    /// Whether a remark of its trials has these words.
    pub(super) fn has_note(&self, words: &str) -> bool {
        let mut notes = self.view.completed.iter().flat_map(|trial| &trial.notes);
        notes.any(|note| note.contains(words))
    }

    pub(super) fn is_asked_by(&self, plan: &str) -> bool {
        self.view.plans.contains(plan)
    }
}

/// Connections of a server in use, where there is a choice of cells.
const TYPICAL_CONNECTIONS: f64 = 50.0;

/// The cells with a usual number of connections before the others; otherwise in their order. Of ours only those of the default
/// policy and this build, where there are such: lines of servers are not to mix with those of policies.
pub(super) fn typical_first<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<&'c Cell<'a>> {
    let distance = |cell: &Cell<'_>| {
        let connections: f64 = cell.parsed("connections").unwrap_or(TYPICAL_CONNECTIONS);
        (connections / TYPICAL_CONNECTIONS).ln().abs()
    };
    let is_usual = |cell: &Cell<'_>| {
        let is_default = |name: &str, default: &str| {
            matches!(cell.factor(name), "" | "this") || cell.factor(name) == default
        };
        is_default("policy", "s3-fifo") && is_default("build", "this")
    };
    let has_usual = cells.iter().any(is_usual);
    let mut sorted: Vec<&Cell<'_>> = cells.iter().filter(|cell| !has_usual || is_usual(cell)).collect();
    sorted.sort_by(|left, right| distance(left).total_cmp(&distance(right)));
    sorted
}

/// The biggest set of cells that differ in these factors only; the first of those that are as big.
pub(super) fn largest_family<'c, 'a>(
    cells: impl Iterator<Item = &'c Cell<'a>>,
    along: &[&str],
) -> Vec<&'c Cell<'a>> {
    let cells: Vec<&'c Cell<'a>> = cells.collect();
    let mut best: Vec<&'c Cell<'a>> = Vec::new();
    for of in &cells {
        let family = cells.iter().copied().filter(|cell| cell.is_like(of, along));
        let family: Vec<&'c Cell<'a>> = family.collect();
        if family.len() > best.len() {
            best = family;
        }
    }
    best
}
