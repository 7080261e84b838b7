//! Little's law as a check on measurements: what is in flight = throughput × latency.
//!
//! It holds for any system in equilibrium, whatever its distributions; figures that break it were not measured
//! together, or were not measured.
//!
//! *Source*: Little, "A proof for the queuing formula: L = λW", Operations Research 9(3), 1961.

use serde::{Deserialize, Serialize};

/// How far measured figures may be off before the law counts as broken: ramp-up and ramp-down of a short
/// trial, and means of rounded figures.
pub const TOLERANCE: f64 = 0.10;

/// The law applied to one measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LittlesLaw {
    /// Requests in flight as asked for or counted.
    pub concurrency: f64,
    /// Requests in flight that throughput and mean latency imply.
    pub implied_concurrency: f64,
    /// Implied ÷ given; 1 when the law holds exactly.
    pub ratio: f64,
    /// Largest factor minus one that still counts as holding.
    pub tolerance: f64,
    /// Whether the ratio is at most 1 + tolerance either way. False when the ratio is not a number.
    pub holds: bool,
}

/// Checks `concurrency` = `throughput_per_s` × `mean_latency_s`.
///
/// The latency is the *mean*: a median does not obey the law.
pub fn check(concurrency: f64, throughput_per_s: f64, mean_latency_s: f64, tolerance: f64) -> LittlesLaw {
    let implied_concurrency = throughput_per_s * mean_latency_s;
    let ratio = implied_concurrency / concurrency;
    let limit = 1.0 + tolerance;
    let holds = ratio <= limit && ratio >= 1.0 / limit;
    LittlesLaw {
        concurrency,
        implied_concurrency,
        ratio,
        tolerance,
        holds,
    }
}
