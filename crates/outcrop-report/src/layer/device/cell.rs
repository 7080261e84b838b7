//! One device cell with its factors parsed: measured by this run, or published by somebody.
//!
//! Findings look at these and not at records, so that published figures go through the very same checks.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::ByteSize;
use outcrop_measure::units::format_bytes;
use outcrop_results::CellView;

use super::super::readings::Readings;
pub(super) use super::super::readings::words_for;
use crate::number::Number;

/// Factors that a cell has fields for; the others only tell cells apart.
const PARSED: [&str; 5] = [
    "io_block_size",
    "queue_depth",
    "jobs",
    "read_write_mix",
    "access_pattern",
];

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the device.
    Read,
    /// To the device.
    Write,
}

impl Direction {
    /// Both, in the order of the page.
    pub(super) const BOTH: [Self; 2] = [Self::Read, Self::Write];

    /// `read`, `write`: the prefix of directed metrics and the operation of histograms.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// The mix that does nothing else.
    pub(super) const fn read_percent(self) -> u8 {
        match self {
            Self::Read => 100,
            Self::Write => 0,
        }
    }
}

/// One combination of factors, with the median of every metric.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    /// Bytes of one access; `None` where a publication does not say.
    pub(super) block_size_bytes: Option<u64>,
    /// Requests kept in flight per job, as asked for.
    pub(super) queue_depth: Option<u32>,
    /// Submitting threads.
    pub(super) jobs: u32,
    /// Share of reads, 0 to 100.
    pub(super) read_percent: Option<u8>,
    /// `random`, `sequential`, …
    pub(super) access_pattern: String,
    /// Factors without a field: engine, arrival, content, span, …
    pub(super) other: BTreeMap<String, String>,
    /// Every metric that has a value.
    pub(super) numbers: BTreeMap<String, Number>,
    /// Every metric that has none, with the reason.
    pub(super) unavailable: BTreeMap<String, String>,
    /// Plans that asked for the cell.
    pub(super) plans: BTreeSet<String>,
    /// The records behind it; `None` for a published cell.
    pub(super) view: Option<&'a CellView<'a>>,
}

impl<'a> Cell<'a> {
    /// A cell without numbers.
    pub(super) fn with_factors(factors: &BTreeMap<String, String>) -> Self {
        let text = |name: &str| factors.get(name).map(String::as_str);
        let other = factors
            .iter()
            .filter(|(name, _)| !PARSED.contains(&name.as_str()));
        Self {
            block_size_bytes: text("io_block_size")
                .and_then(|size| size.parse::<ByteSize>().ok())
                .map(|size| size.0),
            queue_depth: text("queue_depth").and_then(|depth| depth.parse().ok()),
            jobs: text("jobs").and_then(|jobs| jobs.parse().ok()).unwrap_or(1),
            read_percent: text("read_write_mix").and_then(|mix| mix.split(':').next()?.parse().ok()),
            access_pattern: text("access_pattern").unwrap_or_default().to_owned(),
            other: other.map(|(name, value)| (name.clone(), value.clone())).collect(),
            numbers: BTreeMap::new(),
            unavailable: BTreeMap::new(),
            plans: BTreeSet::new(),
            view: None,
        }
    }

    /// A cell of this run.
    pub(super) fn measured(view: &'a CellView<'a>) -> Self {
        let mut cell = Self::with_factors(view.factors);
        cell.plans = view.plans.iter().map(|plan| (*plan).to_owned()).collect();
        cell.view = Some(view);
        let readings = Readings::of(view);
        cell.numbers = readings.numbers;
        cell.unavailable = readings.unavailable;
        cell
    }

    /// Its place in numeric order: reads before writes, then by size, depth and jobs.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        let mix = std::cmp::Reverse(self.read_percent);
        (mix, self.block_size_bytes, self.queue_depth, self.jobs)
    }

    /// The number of a metric.
    pub(super) fn number(&self, metric: &str) -> Option<&Number> {
        self.numbers.get(metric)
    }

    /// The value of a metric.
    pub(super) fn value(&self, metric: &str) -> Option<f64> {
        self.numbers.get(metric).map(|number| number.value)
    }

    /// A metric of one direction: the directed metric (`read_iops`), or the plain one of a cell that does
    /// nothing else.
    pub(super) fn directed(&self, direction: Direction, metric: &str) -> Option<&Number> {
        let directed = self.number(&format!("{}_{metric}", direction.name()));
        let is_pure = self.read_percent == Some(direction.read_percent());
        directed.or_else(|| self.number(metric).filter(|_| is_pure))
    }

    /// The mean latency, or what a publication calls one.
    pub(super) fn mean_latency(&self) -> Option<&Number> {
        self.number("latency_mean")
            .or_else(|| self.number("latency_mean_as_published"))
    }

    /// Requests kept in flight over all jobs, as asked for.
    pub(super) fn concurrency(&self) -> Option<f64> {
        self.queue_depth
            .map(|depth| f64::from(depth) * f64::from(self.jobs))
    }

    /// Whether a new request goes out when one completes.
    pub(super) fn is_closed_loop(&self) -> bool {
        self.other
            .get("arrival")
            .is_none_or(|arrival| arrival == "closed")
    }

    /// The access in words: `4 KiB random`.
    pub(super) fn access(&self) -> String {
        let size = self
            .block_size_bytes
            .map_or_else(|| "size not stated".to_owned(), format_bytes);
        format!("{size} {}", self.access_pattern)
    }

    /// The cell in words: `4 KiB random 70:30, QD 32`, with the jobs where there are several.
    pub(super) fn words(&self) -> String {
        let mix = self.read_percent.map_or_else(String::new, |read| match read {
            100 => " reads".to_owned(),
            0 => " writes".to_owned(),
            read => format!(" {read}:{} mix", 100 - read),
        });
        format!("{}{mix}, {}", self.access(), self.depth_words())
    }

    /// The depth in words: `QD 32`, `4 jobs × QD 64`.
    pub(super) fn depth_words(&self) -> String {
        let depth = self
            .queue_depth
            .map_or_else(|| "QD not stated".to_owned(), |depth| format!("QD {depth}"));
        if self.jobs > 1 {
            format!("{} jobs × {depth}", self.jobs)
        } else {
            depth
        }
    }

    /// Whether the interval of its IOPS is narrow enough to be relied on.
    pub(super) fn is_wide(&self) -> bool {
        self.number("iops").is_some_and(Number::is_wide)
    }
}
