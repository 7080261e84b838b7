//! The knee of a load curve: the concurrency beyond which more of it buys waiting instead of throughput.
//!
//! Two ways to it, which a report holds against each other: *predicted* from the two ends of the curve by Little's law,
//! and *observed* as the point of greatest power (throughput ÷ latency). For a device that serves C requests
//! in parallel, both give C.

use serde::{Deserialize, Serialize};

use crate::interval::median;

/// Fraction of the largest throughput that counts as saturated.
pub const SATURATED: f64 = 0.90;
/// Distinct concurrencies below which no knee is looked for.
const FEWEST_LEVELS: usize = 3;

/// One measured point of a load curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Requests in flight (queue depth × jobs).
    pub concurrency: f64,
    /// Operations per second, or bytes per second.
    pub throughput: f64,
    /// Mean latency, in any one unit.
    pub latency: f64,
}

/// The point of greatest power on a load curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// Requests in flight at the knee.
    pub concurrency: f64,
    /// Throughput there, in the unit of the points.
    pub throughput: f64,
    /// Latency there, in the unit of the points.
    pub latency: f64,
    /// Throughput there ÷ the largest on the curve.
    pub share_of_peak: f64,
    /// It is the least concurrency measured: the knee may lie lower still.
    pub is_lowest_measured: bool,
    /// It is the greatest concurrency measured: power may still rise beyond it, and then so does the knee.
    pub is_highest_measured: bool,
}

/// The concurrency at which a system that reaches `max_throughput_per_s` and answers a lone request in
/// `min_latency_s` starts to queue: their product.
///
/// *Source*: Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance", 1984, chapter 5: N* where the
/// two asymptotic bounds cross.
pub fn predicted_depth(max_throughput_per_s: f64, min_latency_s: f64) -> f64 {
    max_throughput_per_s * min_latency_s
}

/// The knee of measured points, in any order.
///
/// The point of greatest throughput ÷ latency. Below the knee throughput rises with concurrency at equal latency,
/// above it latency rises at equal throughput, so that power halves per doubling of concurrency on either side:
/// it takes noise of tens of percent to move the maximum to a neighbour, and there is nothing to tune. Repetitions of
/// a concurrency count as the median of their throughputs and of their latencies.
///
/// None with fewer than three distinct concurrencies. At the largest, power may still rise, and the knee lies beyond what
/// was measured ([`Knee::is_highest_measured`]). Points that are not positive and finite are passed over.
///
/// *Source*: Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer
/// communications", ICC 1979. Chosen over Kneedle (Satopää et al., 2011), which needs a smoother and a sensitivity,
/// and whose answer depends on the range measured.
pub fn greatest_power(points: &[Point]) -> Option<Knee> {
    let levels = levels(points);
    if levels.len() < FEWEST_LEVELS {
        return None;
    }
    let peak = peak_throughput(&levels)?;
    let power = |point: &Point| point.throughput / point.latency;
    // Of equal powers the least concurrency: `max_by` would take the last.
    let (index, knee) = levels
        .iter()
        .enumerate()
        .rev()
        .max_by(|(_, left), (_, right)| power(left).total_cmp(&power(right)))?;
    Some(Knee {
        concurrency: knee.concurrency,
        throughput: knee.throughput,
        latency: knee.latency,
        share_of_peak: knee.throughput / peak,
        is_lowest_measured: index == 0,
        is_highest_measured: index + 1 == levels.len(),
    })
}

/// The point of least concurrency whose throughput is at least `fraction` of the largest: what to configure when
/// throughput matters more than latency ([`SATURATED`] is the usual fraction). Repetitions count as in
/// [`greatest_power`]. None without points, or for a fraction above 1.
pub fn saturation(points: &[Point], fraction: f64) -> Option<Point> {
    let levels = levels(points);
    let wanted = fraction * peak_throughput(&levels)?;
    levels.into_iter().find(|point| point.throughput >= wanted)
}

fn peak_throughput(levels: &[Point]) -> Option<f64> {
    levels.iter().map(|point| point.throughput).max_by(f64::total_cmp)
}

/// One point per concurrency, ascending: medians of the usable points.
fn levels(points: &[Point]) -> Vec<Point> {
    let is_usable = |point: &&Point| {
        [point.concurrency, point.throughput, point.latency]
            .iter()
            .all(|value| value.is_finite() && *value > 0.0)
    };
    let mut usable: Vec<Point> = points.iter().filter(is_usable).copied().collect();
    usable.sort_by(|left, right| left.concurrency.total_cmp(&right.concurrency));
    usable
        .chunk_by(|left, right| left.concurrency == right.concurrency)
        .filter_map(|repetitions| {
            let median_of =
                |value: fn(&Point) -> f64| median(&repetitions.iter().map(value).collect::<Vec<_>>());
            Some(Point {
                concurrency: repetitions.first()?.concurrency,
                throughput: median_of(|point| point.throughput)?,
                latency: median_of(|point| point.latency)?,
            })
        })
        .collect()
}
