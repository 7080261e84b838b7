//! Figures of single commands: the miss-ratio curve of `outcrop cache simulate`, the latencies of `outcrop cache load`.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::units::{ByteSize, format_ratio};

use crate::chart::SeriesKind::{Dense, Modelled};
use crate::chart::{Figure, LineChart, Point, Quantity, Scale, Series, axis, cdf_of_latencies};

/// A policy by name, and its miss ratio at each memory in bytes.
pub type PolicyCurve = (String, Vec<(u64, f64)>);

/// Miss ratio against memory, one line per policy. None without a point.
pub fn miss_ratio_figure(caption: &str, policies: &[PolicyCurve]) -> Option<Figure> {
    let line = |(hue, (name, points)): (usize, &PolicyCurve)| {
        let points = points.iter().map(|(memory_bytes, ratio)| {
            let note = format!(
                "{name} at {}: {} missed",
                ByteSize(*memory_bytes),
                format_ratio(*ratio)
            );
            Point::bare(*memory_bytes as f64, *ratio * 100.0, note)
        });
        Series::new(name.as_str(), hue, Modelled, points)
    };
    let chart = LineChart {
        x: axis("Memory", Quantity::AccessSize, Scale::Log2),
        y: axis("Gets that missed", Quantity::Percent, Scale::Linear),
        series: policies.iter().enumerate().map(line).collect(),
    };
    chart.draw(
        "cache-miss-ratio",
        "Miss ratio by memory, simulated",
        caption.to_owned(),
    )
}

/// The cumulative distribution of latency, one line for each kind of request. None without a request.
pub fn latency_figure(caption: &str, kinds: &[(String, &LatencyHistogram)]) -> Option<Figure> {
    let line = |(hue, (name, latencies)): (usize, &(String, &LatencyHistogram))| {
        Series::new(name.as_str(), hue, Dense, cdf_of_latencies(latencies))
    };
    let chart = LineChart {
        x: axis("Latency", Quantity::Latency, Scale::Log10),
        y: axis("Requests answered", Quantity::Percent, Scale::Linear),
        series: kinds.iter().enumerate().map(line).collect(),
    };
    chart.draw("cache-latency-cdf", "Latency distribution", caption.to_owned())
}
