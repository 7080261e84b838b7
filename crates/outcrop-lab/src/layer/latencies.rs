//! A latency histogram as the values of a record.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Provenance, Unavailable, Unit};
use outcrop_measure::percentile;
use outcrop_results::Value;

/// Mean, percentiles and maximum, named `STEM_mean`, `STEM_p50`, … `STEM_max`; `if_empty` is why an empty histogram has none.
pub(super) fn latencies(stem: &str, histogram: &LatencyHistogram, if_empty: &'static str) -> Vec<Value> {
    let none = || Unavailable::because(if_empty);
    let mut values = vec![nanoseconds(
        &format!("{stem}_mean"),
        histogram.mean().ok_or_else(none),
    )];
    for standard in percentile::STANDARD {
        let value = histogram
            .percentile(standard.quantile)
            .map(|latency_ns| latency_ns as f64);
        let why = || Unavailable::because(format!("n = {} supports no {}", histogram.count(), standard.name));
        values.push(nanoseconds(
            &format!("{stem}_{}", standard.identifier),
            value.ok_or_else(why),
        ));
    }
    let max = histogram.max().map(|latency_ns| latency_ns as f64);
    values.push(nanoseconds(&format!("{stem}_max"), max.ok_or_else(none)));
    values
}

fn nanoseconds(metric: &str, value: Result<f64, Unavailable>) -> Value {
    let (value, source) = match value {
        Ok(value) => (Some(value), None),
        Err(why) => (None, Some(why.reason)),
    };
    Value {
        metric: metric.to_owned(),
        unit: Unit::Nanoseconds,
        value,
        provenance: Provenance::Measured,
        source,
    }
}
