//! What a trial of a cache yields: the metrics' names, units and meanings.

use outcrop_measure::metric::Metric;

use crate::layer::metrics;

metrics! {
    THROUGHPUT = "throughput", PerSecond, "answers per second of measured time, of all kinds of request";
    GOODPUT = "goodput", PerSecond, "answers per second that came within the objective's limit";
    OFFERED = "offered_load", PerSecond, "requests per second that the schedule of an open loop asked for";
    CLOSED_LOOP = "closed_loop_throughput", PerSecond, "throughput of the closed loop that the offered load is a share of";
    HIT_RATIO = "hit_ratio", Ratio, "gets that found a value over all gets";
    BYTE_HIT_RATIO = "byte_hit_ratio", Ratio, "bytes of the values found over those of all values asked for";
    SIMULATED_HIT_RATIO = "simulated_hit_ratio", Ratio, "hit ratio of a textbook simulation of the policy with as many items as the server held";
    SERVER_CPU = "server_cpu_per_request", NanosecondsPerOperation, "CPU time of the server, kernel included, per answer";
    DRIVER_CPU = "driver_cpu_per_request", NanosecondsPerOperation, "CPU time of the driver's threads per answer";
    DRIVER_BUSY = "driver_busy_share", Ratio, "CPU time of the driver's busiest thread over the measured time; near 1 the driver is the limit";
    ITEMS = "items_held", Count, "items that the server held at the end, by its own count";
    EVICTIONS = "evictions", Count, "items that had left for want of memory, since the server's start";
    STORE_BYTES = "store_memory", Bytes, "memory that the server counts against its limit: what that includes is its own matter";
    RESIDENT_BYTES = "resident_memory", Bytes, "resident memory of the server's process at the end";
    UNFINISHED = "unfinished_requests", Count, "requests that were due or sent, and never answered";
    REFUSED = "refused_requests", Count, "requests that the server refused, those that filled it included";
    MISMATCHES = "mismatched_values", Count, "values that came back and were not those stored";
    WARM_UP_SETS = "warm_up_sets", Count, "sets that filled the cache before measuring";
    WARM_UP_REQUESTS = "warm_up_requests", Count, "requests of the load itself before measuring";
}

/// What is missing when there is no server: the figures that people look for.
pub(super) const MAIN: [Metric; 4] = [THROUGHPUT, HIT_RATIO, SERVER_CPU, ITEMS];
