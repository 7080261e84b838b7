//! Distributions as points of a line chart: how much lies at or below each value.

use outcrop_measure::histogram::LatencyHistogram;

use super::Point;

/// Most points of one curve: a drawing is 470 pixels wide, and between points a line is drawn.
const MOST_POINTS: usize = 60;

/// The cumulative distribution of latencies: share of operations, in percent, that took at most this many
/// nanoseconds.
pub(crate) fn cdf_of_latencies(histogram: &LatencyHistogram) -> Vec<Point> {
    let points = histogram.ccdf().map(|point| {
        let percent = (1.0 - point.fraction_above) * 100.0;
        Point::bare(point.latency_ns as f64, percent, "")
    });
    thinned(points.collect())
}

/// At most about as many points as a screen can show, the first and the last among them.
pub(crate) fn thinned(points: Vec<Point>) -> Vec<Point> {
    let stride = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    points
        .into_iter()
        .enumerate()
        .filter(|(index, _)| index % stride == 0 || *index == last)
        .map(|(_, point)| point)
        .collect()
}
