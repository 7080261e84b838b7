//! How late the load generator of an open loop was itself: the same metric in every layer that records it.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unavailable;
use outcrop_measure::percentile::{self, Percentile};

use crate::metrics::{Metric, metrics};

metrics! { ALL:
    P50 = "generator_lateness_p50", Nanoseconds, Neither, Trial, "median delay of the load generator: from when a request of an open loop was due and a slot, a connection or a thread was free for it until it was issued";
    P99 = "generator_lateness_p99", Nanoseconds, Neither, Trial, "99th percentile of that delay, which is part of every latency";
    MAX = "generator_lateness_max", Nanoseconds, Neither, Trial, "maximum of that delay";
}

/// All of them, for the list of a layer.
pub(crate) const METRICS: &[Metric] = ALL;

/// Above this share of the median service latency, the p99 of the delay is called late.
pub const LATE: f64 = 0.10;

/// What the delays of a trial give, or why they do not.
pub fn figures(delays: &LatencyHistogram) -> [(Metric, Result<f64, Unavailable>); 3] {
    let at = |known: Percentile| {
        let why = || Unavailable::because(percentile::too_few(delays.count(), known));
        let delay_ns = delays.percentile(known.quantile).map(|ns| ns as f64);
        delay_ns.ok_or_else(why)
    };
    let none = || Unavailable::because("no request was issued in the measured time");
    let most_ns = delays.max().map(|ns| ns as f64);
    [
        (P50, at(percentile::STANDARD[0])),
        (P99, at(percentile::P99)),
        (MAX, most_ns.ok_or_else(none)),
    ]
}

/// Whether delays are too great a part of the latencies, by their p99 and the median time that a request takes once it is issued.
pub fn is_late(delay_p99_ns: f64, service_p50_ns: f64) -> bool {
    delay_p99_ns > LATE * service_p50_ns
}
