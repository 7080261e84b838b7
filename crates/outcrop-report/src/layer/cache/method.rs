//! How each quantity of the cache report was obtained.

/// Short forms of docs/methodology.md, in the order of the page.
pub(super) const METHODS: &[(&str, &str)] = &[
    (
        "Servers",
        "Each trial starts its own server on the loopback interface (Outcrop's on threads of this process, others as processes), fills it with every key, the most popular last, runs the load for the warm-up, measures, and stops the server. A server at a URL keeps its state, except for keys that begin with oc-.",
    ),
    (
        "Closed and open loop",
        "Closed: every connection sends its next request after a reply. Open: requests are due by a schedule, whether or not earlier ones were answered; the rate is given, or is a share of the throughput of a closed loop measured just before.",
    ),
    (
        "Latency",
        "Closed loop: from when a request is ready until its reply is read. Open loop: from when it was due, so waiting behind a stall counts (no coordinated omission); requests that were never answered count with their age.",
    ),
    (
        "Hit ratio",
        "Gets that found a value, over all gets of the measured time. A miss is followed by a set of its key. Every value is compared with the one stored.",
    ),
    (
        "Simulated hit ratio",
        "The policy as its paper describes it, on lists of keys, with as many items as the server held at the end and as many requests as it received, including fill and warm-up, drawn separately from the same workload. Modelled, not measured.",
    ),
    (
        "CPU per request",
        "User and kernel time of the server's threads during the measured time, divided by answers; the driver's likewise. With two CPUs or more, server and driver have one each.",
    ),
    (
        "Memory",
        "The configured limit. Servers count different things against it: Outcrop's counts everything that it holds, memcached and Redis leave out a part. Resident memory is the kernel's figure, for servers that run as a process.",
    ),
];
