//! One finished, interrupted or failed trial, as one line of the journal.

mod intervals;
mod possible;

use std::collections::BTreeMap;

use outcrop_measure::MeasureError;
use outcrop_measure::histogram::{LatencyHistogram, Totals};
use outcrop_measure::metric::{Metric, Provenance, Unavailable, Unit};
use outcrop_measure::percentile;
use outcrop_schema::{Latencies, Remark, lateness};
use serde::{Deserialize, Serialize};

pub(crate) use possible::LARGEST;

/// What begins the name of an option of fio that no factor has: in imported records it is a factor all the same.
pub const OPTION_OF_FIO: &str = "fio_";

/// What follows it in the factor of a job that fio ran at the same time as others; a cell without it ran alone.
pub const SHARED_WITH: &str = "shared_with";

/// What follows it in the factor of a file that fio may not have written before it synced writes to it; other synced writes to a file are to one that
/// was written in full.
pub const LAYOUT: &str = "layout";

/// How a trial ended. Only completed trials yield records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It ran for its whole time; its values count.
    Completed,
    /// It was stopped from outside (Ctrl-C); it is listed and run again by a resume.
    Interrupted,
    /// It could not be measured; it is listed and run again by a resume.
    Failed {
        /// What went wrong, in a sentence for the user.
        message: String,
    },
}

/// One metric of one trial, as it stands in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Stable metric name (`read_latency_p99`).
    pub metric: String,
    /// Unit of the value.
    pub unit: Unit,
    /// The value in that unit; `None` where this machine or trial could not give one.
    #[serde(default, deserialize_with = "possible")]
    pub value: Option<f64>,
    /// Where the value came from; `measured` for an unavailable one.
    pub provenance: Provenance,
    /// The source of a value, or the reason why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

fn possible<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let value = Option::<f64>::deserialize(deserializer)?;
    value
        .map_or(Ok(()), possible::figure)
        .map_err(serde::de::Error::custom)?;
    Ok(value)
}

impl Value {
    /// The value of a metric, or the reason why there is none.
    ///
    /// A value that is not finite has no meaning in a record: it becomes absent, with that as its reason.
    pub fn of(metric: Metric, value: Result<f64, Unavailable>, provenance: Provenance) -> Self {
        let (value, source) = match value {
            Ok(value) if value.is_finite() => (Some(value), None),
            Ok(value) => (None, Some(format!("not a finite number: {value}"))),
            Err(unavailable) => (None, Some(unavailable.reason)),
        };
        Self {
            metric: metric.name.to_owned(),
            unit: metric.unit,
            value,
            provenance,
            source,
        }
    }

    /// A value measured in this trial.
    pub fn measured(metric: Metric, value: f64) -> Self {
        Self::of(metric, Ok(value), Provenance::Measured)
    }

    /// A value measured in this trial, where this machine could give it.
    pub fn known(metric: Metric, value: Result<f64, Unavailable>) -> Self {
        Self::of(metric, value, Provenance::Measured)
    }

    /// A value computed from other values of this trial.
    pub fn derived(metric: Metric, value: f64) -> Self {
        Self::of(metric, Ok(value), Provenance::Derived)
    }

    /// A metric that this machine or trial cannot give.
    pub fn unavailable(metric: Metric, reason: impl Into<String>) -> Self {
        Self::known(metric, Err(Unavailable::because(reason)))
    }

    /// The statistics of a latency histogram; `if_empty` is why an empty one has none.
    pub fn latencies(metrics: &Latencies, histogram: &LatencyHistogram, if_empty: &str) -> Vec<Self> {
        let none = || Unavailable::because(if_empty);
        let mut values = vec![Self::known(metrics.mean, histogram.mean().ok_or_else(none))];
        values.extend(metrics.percentiles().map(|(percentile, metric)| {
            let latency_ns = histogram.percentile(percentile.quantile).map(|ns| ns as f64);
            let why = || Unavailable::because(percentile::too_few(histogram.count(), percentile));
            Self::known(metric, latency_ns.ok_or_else(why))
        }));
        values.push(Self::known(
            metrics.max,
            histogram.max().map(|ns| ns as f64).ok_or_else(none),
        ));
        values
    }

    /// The delays of the generator of an open loop.
    pub fn lateness(delays: &LatencyHistogram) -> [Self; 3] {
        lateness::figures(delays).map(|(metric, delay_ns)| Self::known(metric, delay_ns))
    }
}

/// From where the latencies of a histogram are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistogramKind {
    /// From the intended start: the schedule's under open-loop load, the submission under closed-loop load.
    Latency,
    /// From the real start; kept only where it differs (open loop).
    Service,
    /// From the real start until it was handed over; kept only where that is timed apart.
    Submission,
    /// From there until its completion was seen; kept likewise.
    Completion,
    /// From the real start until the data were written, without the sync that followed; kept only where syncs follow writes.
    Transfer,
    /// From there until the sync completed, of the writes that one followed.
    Sync,
}

impl HistogramKind {
    /// The spelling in files: `latency`, `service`, …
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Service => "service",
            Self::Submission => "submission",
            Self::Completion => "completion",
            Self::Transfer => "transfer",
            Self::Sync => "sync",
        }
    }
}

/// The latencies of one operation in one interval of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistogramEntry {
    /// `read`, `write`, or what the layer calls its operation.
    pub operation: String,
    /// From where the latencies are counted.
    pub kind: HistogramKind,
    /// Number of the interval within the trial, from 0.
    pub interval_index: u32,
    /// Start of the interval, in seconds from the end of the warm-up.
    pub start_s: f64,
    /// Length of the interval in seconds.
    pub duration_s: f64,
    /// Operations recorded.
    pub count: u64,
    /// Smallest latency, 0 when nothing was recorded.
    pub min_ns: u64,
    /// Largest latency, 0 when nothing was recorded.
    pub max_ns: u64,
    /// Sum of the latencies, saturating; mean = sum / count, free of the histogram's rounding.
    pub sum_ns: u64,
    /// The histogram in HdrHistogram's V2 encoding, base64.
    pub hdr: String,
}

impl HistogramEntry {
    /// The entry of what was recorded for an operation in an interval.
    pub fn new(
        operation: &str,
        kind: HistogramKind,
        interval_index: u32,
        start_s: f64,
        duration_s: f64,
        histogram: &LatencyHistogram,
    ) -> Self {
        Self {
            operation: operation.to_owned(),
            kind,
            interval_index,
            start_s,
            duration_s,
            count: histogram.count(),
            min_ns: histogram.min().unwrap_or(0),
            max_ns: histogram.max().unwrap_or(0),
            sum_ns: u64::try_from(histogram.sum()).unwrap_or(u64::MAX),
            hdr: histogram.to_hdr_base64(),
        }
    }

    /// What was recorded, with its exact minimum, maximum and sum.
    pub(crate) fn histogram(&self) -> Result<LatencyHistogram, MeasureError> {
        let totals = Totals {
            count: self.count,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            sum_ns: u128::from(self.sum_ns),
        };
        LatencyHistogram::from_hdr_base64(&self.hdr)?.with_totals(&totals)
    }
}

/// The data that a trial worked on, by their content: what tells two files of one name and length apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataIdentity {
    /// All of the data: a fingerprint of their content, or what they were made from.
    pub whole: String,
    /// What was taken of them: a fingerprint of its content.
    pub taken: String,
    /// Bytes that were taken.
    pub taken_bytes: u64,
}

/// Which of the two variants of a run a trial is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// `a` or `b`.
    pub name: String,
    /// What joins it to the trials of the other variant: the same for the two cells that are compared.
    pub pair: String,
}

/// One repetition of one cell: one line of `trials.ndjson`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialEntry {
    /// Number of the trial in the order of the run, from 0.
    pub trial: u32,
    /// Identifier of the cell, stable over resumes of the run.
    pub cell: String,
    /// Layer measured (`device`).
    pub layer: String,
    /// What was measured (`scratch-file 2GiB`).
    pub subject: String,
    /// Names of the plans that asked for this cell.
    pub plans: Vec<String>,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Seed of every random choice of the trial.
    pub seed: u64,
    /// The cell: factor name to value, in the plan's spelling.
    pub factors: BTreeMap<String, String>,
    /// The data it worked on; none where a layer has none, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataIdentity>,
    /// The variant that it is of, in a run of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// When the trial began, RFC 3339 in UTC.
    pub started_at: String,
    /// How long it ran, in seconds, warm-up excluded.
    pub duration_s: f64,
    /// How long it took in all, in seconds: what it made, loaded and removed included. Unknown in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_s: Option<f64>,
    /// Share of the machine's CPUs that others used in that time, from 0 to 1. Unknown in runs of earlier versions, and of trials too short
    /// to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_cpu_share: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it yielded.
    pub values: Vec<Value>,
    /// Latency histograms, one per interval, operation and kind.
    #[serde(default)]
    pub histograms: Vec<HistogramEntry>,
    /// Remarks about this trial (engine features that fell back, warnings).
    #[serde(default)]
    pub notes: Vec<Remark>,
}

impl TrialEntry {
    /// True when the trial ran for its whole time and its values count.
    pub fn is_completed(&self) -> bool {
        self.outcome == Outcome::Completed
    }

    /// Whether it is completed and has a figure: of a cell that cannot be measured here, trials have only reasons.
    pub fn is_measured(&self) -> bool {
        self.is_completed()
            && (self.values.is_empty() || self.values.iter().any(|value| value.value.is_some()))
    }

    /// What it measured of a metric; none where it has no such value, or only why there is none.
    pub fn number(&self, metric: &Metric) -> Option<f64> {
        self.values
            .iter()
            .find(|value| value.metric == metric.name)?
            .value
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn figures_that_no_machine_gives_are_refused_with_the_figure() {
        let line = |value: &str| {
            format!(
                r#"{{"metric":"compression_ratio","unit":"ratio","value":{value},"provenance":"measured"}}"#
            )
        };
        let read = |value: &str| serde_json::from_str::<Value>(&line(value));
        for value in ["2.5", "-3", "1e30", "null"] {
            assert!(read(value).is_ok(), "{value}: {:?}", read(value));
        }
        for value in ["1e308", "-1e31"] {
            let refused = read(value).map(|value| value.value).unwrap_err().to_string();
            assert!(refused.contains("is impossible"), "{refused}");
        }
        let without = r#"{"metric":"compression_ratio","unit":"ratio","provenance":"measured"}"#;
        assert_eq!(
            serde_json::from_str::<Value>(without)
                .map(|value| value.value)
                .ok(),
            Some(None)
        );
    }
}
