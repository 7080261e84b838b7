//! The vocabulary of what is measured: a metric has a name and a unit, a measurement has a value or the
//! reason why there is none, and every one says where it came from.

use serde::{Deserialize, Serialize};

/// The unit a metric is stored in. Records always carry base units; printing chooses the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Unit {
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Bytes per second (bandwidth, throughput).
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Events per second (IOPS, requests per second).
    #[serde(rename = "1/s")]
    PerSecond,
    /// Nanoseconds (latency, CPU time).
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Nanoseconds of CPU time per operation.
    #[serde(rename = "ns/op")]
    NanosecondsPerOperation,
    /// Nanoseconds of CPU time per byte.
    #[serde(rename = "ns/B")]
    NanosecondsPerByte,
    /// Bits per byte (entropy).
    #[serde(rename = "bit/B")]
    BitsPerByte,
    /// A dimensionless ratio; 1 means equal or whole.
    #[serde(rename = "ratio")]
    Ratio,
    /// A count of things.
    #[serde(rename = "count")]
    Count,
    /// Joules.
    #[serde(rename = "J")]
    Joules,
    /// Watts.
    #[serde(rename = "W")]
    Watts,
}

/// Which direction of a metric is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Larger values are better (throughput).
    Higher,
    /// Smaller values are better (latency, CPU per operation).
    Lower,
}

impl Unit {
    /// The symbol stored in records: `B`, `B/s`, `1/s`, `ns`, `ns/op`, `ns/B`, `bit/B`, `ratio`, `count`, `J`, `W`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::PerSecond => "1/s",
            Self::Nanoseconds => "ns",
            Self::NanosecondsPerOperation => "ns/op",
            Self::NanosecondsPerByte => "ns/B",
            Self::BitsPerByte => "bit/B",
            Self::Ratio => "ratio",
            Self::Count => "count",
            Self::Joules => "J",
            Self::Watts => "W",
        }
    }
}

/// How many values of a metric a cell can have that say something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One per trial: repetitions are samples.
    Trial,
    /// One per session of a run, carried by all of its trials.
    Run,
    /// One per set of data, whatever the repetition: a ratio of one sample, the size of a file.
    DataSet,
}

/// Something that a trial yields a number for.
///
/// Layers define theirs in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Stable identifier in records, `snake_case`, with the direction as prefix where there is one
    /// (`read_latency_p99`).
    pub name: &'static str,
    /// Unit of the stored value.
    pub unit: Unit,
    /// Which direction is an improvement; `None` where neither is.
    pub better: Option<Better>,
    /// How many values there are.
    pub scope: Scope,
    /// One sentence for tables and the glossary.
    pub meaning: &'static str,
}

impl Metric {
    /// The name in words: `read_latency_p99_9` is `read latency p99.9`.
    pub fn words(&self) -> String {
        words_of(self.name)
    }

    /// A value in the metric's unit, as people read it.
    pub fn format(&self, value: f64) -> String {
        match self.unit {
            Unit::PerSecond if self.name.ends_with("iops") => crate::units::format_iops(value),
            unit => unit.format(value),
        }
    }
}

/// A metric's name in words, also one that no schema has.
pub fn words_of(name: &str) -> String {
    let words = name
        .replace("p99_99", "p99.99")
        .replace("p99_9", "p99.9")
        .replace('_', " ");
    words.replace("iops", "IOPS").replace("cpu", "CPU")
}

/// Where a number came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// Measured in this run.
    Measured,
    /// Computed by a calibrated model, not measured.
    Modelled,
    /// Taken from a paper, a datasheet or another published source.
    Published,
    /// Computed from other numbers of the same provenance chain.
    Derived,
    /// Measured by another program, and read from its results.
    Imported,
}

impl Provenance {
    /// Its spelling in files: `measured`, `modelled`, `published`, `derived`, `imported`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Modelled => "modelled",
            Self::Published => "published",
            Self::Derived => "derived",
            Self::Imported => "imported",
        }
    }
}

/// Why a quantity has no value. Never replaced by zero or a guess.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("unavailable: {reason}")]
pub struct Unavailable {
    /// One clause a user understands: "no powercap energy source in this virtual machine".
    pub reason: String,
}

impl Unavailable {
    /// Wraps a reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}
