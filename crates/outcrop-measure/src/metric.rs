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

    /// The direction that is an improvement where the unit alone decides it.
    pub const fn better(self) -> Option<Better> {
        match self {
            Self::BytesPerSecond | Self::PerSecond => Some(Better::Higher),
            Self::Nanoseconds
            | Self::NanosecondsPerOperation
            | Self::NanosecondsPerByte
            | Self::Joules
            | Self::Watts => Some(Better::Lower),
            Self::Bytes | Self::BitsPerByte | Self::Ratio | Self::Count => None,
        }
    }
}

/// Something that a trial yields a number for.
///
/// Layers define their own as constants beside the engine that measures them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Stable identifier in records, `snake_case`, with the direction as prefix where there is one
    /// (`read_latency_p99`).
    pub name: &'static str,
    /// Unit of the stored value.
    pub unit: Unit,
    /// One sentence for tables and the glossary.
    pub meaning: &'static str,
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

/// One metric of one trial: its value, or why it has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What was measured.
    pub metric: Metric,
    /// The value in the metric's unit, or the reason for its absence.
    pub value: Result<f64, Unavailable>,
    /// Where the value came from.
    pub provenance: Provenance,
}

impl Measurement {
    /// A value measured in this trial.
    pub const fn measured(metric: Metric, value: f64) -> Self {
        Self {
            metric,
            value: Ok(value),
            provenance: Provenance::Measured,
        }
    }

    /// A value computed from other measurements of this trial.
    pub const fn derived(metric: Metric, value: f64) -> Self {
        Self {
            metric,
            value: Ok(value),
            provenance: Provenance::Derived,
        }
    }

    /// A metric that this machine or trial cannot give.
    pub const fn unavailable(metric: Metric, why: Unavailable) -> Self {
        Self {
            metric,
            value: Err(why),
            provenance: Provenance::Measured,
        }
    }
}
