//! How each quantity of the cache report was obtained.

/// Short forms of docs/methodology.md, in the order of the page.
pub(super) const METHODS: &[(&str, &str)] = &[
    (
        "Servers",
        "Each trial starts its own server on the loopback interface (ours on threads of this process, others as processes), fills it \
         with every key, the most popular last, runs the load for the warm-up, measures, and ends it. A server at a URL is \
         left as it is found, but for keys that begin with oc-.",
    ),
    (
        "Closed and open loop",
        "Closed: every connection asks again when it was answered. Open: requests are due by a schedule, whether earlier ones \
         were answered or not; the rate is given, or a share of what a closed loop got just before.",
    ),
    (
        "Latency",
        "Closed loop: from the moment a request is made ready to that at which its reply is read. Open loop: from the moment it \
         was due, so that waiting behind a stall counts (no coordinated omission); requests never answered count with their age.",
    ),
    (
        "Hit ratio",
        "Gets that found a value over all gets of the measured time; a get that misses is followed by a set of its key. Every value \
         is compared with what was stored.",
    ),
    (
        "Simulated hit ratio",
        "The policy as its paper has it, on lists of keys, with as many items as the server held at the end and as many requests as it \
         was asked, fill and warm-up included; its own draws of the same workload. Modelled, not measured.",
    ),
    (
        "CPU per request",
        "User and kernel time of the server's threads between the begin and the end of the measured time, over answers; likewise \
         of the driver's. Where there are two CPUs, server and driver have one each.",
    ),
    (
        "Memory",
        "The limit is the one configured. What counts against it differs: ours counts everything that it holds, memcached \
         and Redis leave out a part. Resident memory is the kernel's count, for servers that run as a process.",
    ),
];
