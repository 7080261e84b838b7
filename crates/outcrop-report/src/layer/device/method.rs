//! How each quantity of the device report was obtained.

use outcrop_measure::units::format_nanoseconds;
use outcrop_schema::device::OVERHEAD_PER_OPERATION;

use super::cell::value_of;
use crate::cell::Cell;
use crate::section::Method;

const MEDIANS: (&str, &str) = (
    "Medians and intervals",
    "The median over the trials of a cell. Its 95 % interval is between two of the trials, by order statistics. With five trials or fewer it is \
     their range, whose confidence is stated (five: 94 %, three: 75 %).",
);
const KNEE: (&str, &str) = (
    "Knee",
    "Predicted: highest IOPS × mean latency at the smallest depth (Little's law). Observed: the depth of the highest IOPS ÷ mean latency (Kleinrock's power).",
);

/// Short forms of docs/methodology.md, in the order of the page.
const METHODS: &[(&str, &str)] = &[
    (
        "Order of trials",
        "Cells run in a seeded order that is shuffled for every repetition, so that drift of the machine affects every \
         cell equally. The warm-up of each trial is discarded.",
    ),
    (
        "Closed loop",
        "Each completed request is replaced by a new one at once, so the requested queue depth is maintained. Batched submission, which lowers the real depth, is a separate mode and is named where it was used.",
    ),
    (
        "IOPS and bandwidth",
        "Requests, and their bytes, that completed within the measured time, divided by that time. Failed requests are excluded and reported.",
    ),
    (
        "Latency",
        "Per request, from when it is ready until its completion is seen; in an open loop, from when it was due. Kept in a log-linear histogram with an error of at most 1.6 %.",
    ),
    (
        "Percentiles",
        "A percentile q is printed only if n(1 − q) ≥ 10, so that at least ten operations lie beyond it.",
    ),
    MEDIANS,
    KNEE,
    (
        "CPU per operation",
        "CPU time of the whole process during the measured time, including the kernel's I/O workers, divided by the operations.",
    ),
    (
        "Queue depth achieved",
        "The mean number of requests submitted and not yet seen to complete, integrated over time. It does not use the latencies, so Little's law is a check and not a tautology.",
    ),
    (
        "Bytes of the device",
        "The change of the block device's counters in /sys over the whole job, including warm-up and drain, compared with the bytes that completed in it.",
    ),
];

/// The same for figures that another program measured: short forms of docs/from-fio.md.
const METHODS_OF_IMPORTED: &[(&str, &str)] = &[
    (
        "Measurement",
        "Another program measured, and Outcrop read its results in fio's JSON. Outcrop chose neither the order of the trials nor their \
         warm-up, so drift of the machine may affect some cells more than others. The device's counters and the mean queue depth were not recorded.",
    ),
    (
        "IOPS and bandwidth",
        "As the results state them: `iops`, and `bw_bytes` or `bw` × 1024.",
    ),
    (
        "Latency",
        "As the results state it. Mean and maximum are those of `lat_ns` (`lat`), from the submission's start, and without it those of `clat_ns`, \
         from the submission's end. Percentiles are those of `lat_ns` if they were recorded, and otherwise those of `clat_ns`. Outcrop's own latencies begin \
         before the submission.",
    ),
    (
        "Percentiles",
        "A percentile q is printed only if the results state it and n(1 − q) ≥ 10, so that at least ten operations lie beyond it.",
    ),
    MEDIANS,
    KNEE,
    (
        "CPU per operation",
        "`usr_cpu` and `sys_cpu` over `job_runtime`, divided by the operations. fio counts its threads there, without the kernel's workers.",
    ),
];

pub(super) fn methods(cells: &[Cell<'_>]) -> Vec<Method> {
    if cells.iter().any(Cell::is_imported) {
        return Method::all(METHODS_OF_IMPORTED);
    }
    let mut methods = Method::all(METHODS);
    methods.extend(Method::all(&[("Overhead of measuring", &overhead(cells))]));
    methods
}

/// Our own cost, measured on this machine: what the other figures cannot be better than.
fn overhead(cells: &[Cell<'_>]) -> String {
    let trials = cells.iter().flat_map(Cell::trials);
    let mut sessions: Vec<f64> = trials
        .filter_map(|trial| value_of(trial, &OVERHEAD_PER_OPERATION))
        .collect();
    sessions.sort_unstable_by(f64::total_cmp);
    // Every trial carries the figure of its session; a resumed run has several sessions.
    sessions.dedup();
    let measured = match sessions.as_slice() {
        [] => "Not measured in this run.".to_owned(),
        [only] => format!("Measured here: {} of CPU time.", format_nanoseconds(*only)),
        [least, .., most] => format!(
            "Measured here, over {} sessions: {} to {} of CPU time.",
            sessions.len(),
            format_nanoseconds(*least),
            format_nanoseconds(*most)
        ),
    };
    format!(
        "The job loop with an engine that completes every request immediately, run for 0.1 s before the first trial. It includes offsets, clock and histogram, but not kernel and device. {measured}"
    )
}
