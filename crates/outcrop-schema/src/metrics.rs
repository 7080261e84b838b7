//! How layers define their metrics: one line each, and families of them where a histogram or a direction makes several.

pub use outcrop_measure::metric::{Better, Metric, Scope, Unit};
use outcrop_measure::percentile::{self, Percentile};
use outcrop_workload::word::nearest;

use crate::Vocabulary;

/// Published figures whose definition is not known have names that end in this.
pub const AS_PUBLISHED: &str = "_as_published";

/// One metric.
#[macro_export]
macro_rules! metric {
    ($name:expr, $unit:ident, Neither, $scope:ident, $meaning:expr) => {
        $crate::metric!(@ $name, $unit, None, $scope, $meaning)
    };
    ($name:expr, $unit:ident, $better:ident, $scope:ident, $meaning:expr) => {
        $crate::metric!(@ $name, $unit, Some($crate::metrics::Better::$better), $scope, $meaning)
    };
    (@ $name:expr, $unit:ident, $better:expr, $scope:ident, $meaning:expr) => {
        $crate::metrics::Metric {
            name: $name,
            unit: $crate::metrics::Unit::$unit,
            better: $better,
            scope: $crate::metrics::Scope::$scope,
            meaning: $meaning,
        }
    };
}
pub use metric;

/// Constants of metrics: name in records, unit, which way is better, how many values there are, and meaning.
///
/// `$list` becomes the list of them all.
#[macro_export]
macro_rules! metrics {
    ($list:ident: $($constant:ident = $name:literal, $unit:ident, $better:ident, $scope:ident, $meaning:literal;)+) => {
        $(
            #[doc = concat!("`", $name, "`: ", $meaning, ".")]
            pub const $constant: $crate::metrics::Metric =
                $crate::metric!($name, $unit, $better, $scope, $meaning);
        )+
        const $list: &[$crate::metrics::Metric] = &[$($constant),+];
    };
}
pub use metrics;

/// The statistics of one latency histogram: mean, the percentiles of every report, and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// `…_mean`.
    pub mean: Metric,
    /// `…_p50`.
    pub p50: Metric,
    /// `…_p90`.
    pub p90: Metric,
    /// `…_p95`.
    pub p95: Metric,
    /// `…_p99`.
    pub p99: Metric,
    /// `…_p99_9`.
    pub p99_9: Metric,
    /// `…_p99_99`.
    pub p99_99: Metric,
    /// `…_max`.
    pub max: Metric,
}

impl Latencies {
    /// The metric of each percentile of every report.
    pub fn percentiles(&self) -> impl Iterator<Item = (Percentile, Metric)> {
        let metrics = [self.p50, self.p90, self.p95, self.p99, self.p99_9, self.p99_99];
        percentile::STANDARD.into_iter().zip(metrics)
    }

    /// The metric of one percentile.
    pub fn of(&self, percentile: &Percentile) -> Option<Metric> {
        self.percentiles()
            .find(|(known, _)| known == percentile)
            .map(|(_, metric)| metric)
    }

    /// All of them.
    pub const fn all(&self) -> [Metric; 8] {
        [
            self.mean,
            self.p50,
            self.p90,
            self.p95,
            self.p99,
            self.p99_9,
            self.p99_99,
            self.max,
        ]
    }
}

/// The statistics of a latency histogram whose metrics begin with `$stem`.
macro_rules! latencies {
    ($stem:literal, $meaning:literal) => {
        $crate::metrics::latencies! { @ $stem, $meaning;
            mean: "_mean", "mean";
            p50: "_p50", "median";
            p90: "_p90", "90th percentile";
            p95: "_p95", "95th percentile";
            p99: "_p99", "99th percentile";
            p99_9: "_p99_9", "99.9th percentile";
            p99_99: "_p99_99", "99.99th percentile";
            max: "_max", "maximum";
        }
    };
    (@ $stem:literal, $meaning:literal; $($field:ident: $ending:literal, $what:literal;)+) => {
        $crate::metrics::Latencies {
            $($field: $crate::metric!(
                concat!($stem, $ending), Nanoseconds, Lower, Trial, concat!($what, " of ", $meaning)
            ),)+
        }
    };
}
pub(crate) use latencies;

/// The full name of a metric from a short one: `p99` is `latency_p99`, `read_bw` is `read_bandwidth`.
pub fn full_name(short: &str) -> String {
    for prefix in ["read_", "write_", "service_", "compress_", "decompress_"] {
        if let Some(rest) = short.strip_prefix(prefix) {
            return format!("{prefix}{}", full_name(rest));
        }
    }
    let full = match short {
        "p50" | "median" => "latency_p50",
        "p90" => "latency_p90",
        "p95" => "latency_p95",
        "p99" => "latency_p99",
        "p99.9" | "p999" | "p99_9" | "latency_p99.9" | "latency_p999" => "latency_p99_9",
        "p99.99" | "p9999" | "p99_99" | "latency_p99.99" | "latency_p9999" => "latency_p99_99",
        "max" => "latency_max",
        "mean" | "latency" => "latency_mean",
        "bw" => "bandwidth",
        "cpu" => "cpu_per_operation",
        other => other,
    };
    full.to_owned()
}

/// Metrics that are named where several end in what was written.
const MOST_NAMED: usize = 5;

/// What to say of a metric that is none of these: the one that tables head with this word, those that end in it, the one that it is a slip of,
/// those that end in the same word, or all that there are.
pub fn hint(seen: &str, names: &[&str]) -> String {
    let headed = Vocabulary::default().under_heading(seen);
    let ending = format!("_{seen}");
    let of_table = names.iter().filter(|name| headed.contains(*name));
    let longer: Vec<&&str> = match of_table.clone().count() {
        0 => names.iter().filter(|name| name.ends_with(&ending)).collect(),
        _ => of_table.collect(),
    };
    let named = |names: Vec<&&str>| {
        let first = names.into_iter().take(MOST_NAMED);
        first
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(" or ")
    };
    if !longer.is_empty() {
        return format!("did you mean {}?", named(longer));
    }
    if let Some(near) = nearest(seen, names) {
        return format!("did you mean `{near}`?");
    }
    // That of another layer: this one may have a figure of the kind.
    let kind = seen.rfind('_').map(|at| &seen[at..]);
    let of_kind: Vec<&&str> = kind.map_or_else(Vec::new, |kind| {
        names.iter().filter(|name| name.ends_with(kind)).collect()
    });
    match of_kind.len() {
        1..=MOST_NAMED => format!("did you mean {}?", named(of_kind)),
        _ => format!("there are {}", names.join(", ")),
    }
}
