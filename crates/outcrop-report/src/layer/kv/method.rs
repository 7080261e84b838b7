//! How each quantity of the key-value report was obtained.

/// Short forms of docs/methodology.md, in the order of the page.
pub(super) const METHODS: &[(&str, &str)] = &[
    (
        "Databases",
        "Each trial makes its databases in a separate folder, with a process for each, and removes them afterwards. They are loaded, flushed and synced, and settle as \
         the plan says; where the plan drops the page cache, their files leave it after a last sync. Then the workload runs.",
    ),
    (
        "Throughput and latency",
        "Throughput: operations whose end lies within the measured time, whenever they were due. Latency, closed loop: from the moment an operation \
         is ready until the engine returns. Open loop: of the operations due within the measured time, from the moment they were due; those not begun \
         at its end count with their age, a lower bound. Every value that is read is compared with what its key must hold, after the clock has \
         stopped: an older version than one acknowledged before the read began is an error. An update is one put of the whole record. YCSB's own \
         binding for RocksDB reads the record first, as a read-modify-write does: read:50,read-modify-write:50 (ycsb-f) is what it does under YCSB A.",
    ),
    (
        "Load",
        "Records per second from the first write to the end of the flush after the last.",
    ),
    (
        "CPU per operation",
        "User and kernel time of the processes over completed operations. The callers' part is that of the driver's threads, \
         calls into the engine included; the rest is that of the engine's own threads, or of its server. The share of the CPUs is that time over the measured time and the CPUs \
         that the processes may use. None of them includes the time that the driver's threads wait until operations of an open loop are due.",
    ),
    (
        "Space",
        "Bytes that the filesystem has given to the database's files after settling, log included, over bytes of keys and values. It differs \
         from the ratio of single blocks by index, filters, levels that are not merged, keys stored more than once, and the log. Where the log is more \
         than a tenth of the space, codecs are compared without it. Memory amplification: a server's resident memory over the same.",
    ),
    (
        "Amplification",
        "By the engine's statistics: log, flushes and compactions over bytes written, and bytes read from files over bytes returned. By the \
         device: the increase of its counters over the same time, sync included; this includes other processes.",
    ),
    (
        "Stalls",
        "Time in windows with less than a tenth of the median window's operations. A window is the plan's interval: at most a second unless it says so.",
    ),
    (
        "Compaction debt",
        "Bytes that the engine estimates it must still rewrite, before and after the run. An engine that postpones work looks faster.",
    ),
    (
        "Energy per operation",
        "Energy of the CPU packages from the start signal to the end of the run, over the operations of warm-up and run; operations per joule \
         are its inverse. It includes idle power, which is not subtracted. Unavailable where the machine \
         has no energy counters.",
    ),
];
