//! What stalls and windows are made of runs whose truth is known.

use outcrop_kv::{CpuReport, CpuTimes, Interval, PhaseReport, StoreCounters, Tally};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_workload::keyed::OperationKind;

use super::{stalls, window};

/// A run with so many operations in each window of 80 ms.
fn run_of(completed: &[u64]) -> PhaseReport {
    let interval = |(index, completed): (u32, &u64)| Interval {
        kind: OperationKind::Read,
        index,
        completed: *completed,
        latency: LatencyHistogram::new(),
        service: LatencyHistogram::new(),
    };
    PhaseReport {
        duration_ns: completed.len() as u64 * 80_000_000,
        interval_ns: 80_000_000,
        intervals: (0..).zip(completed).map(interval).collect(),
        tally: Tally::default(),
        cpu: CpuReport {
            process: Ok(CpuTimes::default()),
            callers_ns: 0,
            waiting_ns: 0,
        },
        counters: StoreCounters::unavailable("a test"),
        between_ns: 0,
        lateness: LatencyHistogram::new(),
    }
}

#[test]
fn stalls_are_counted_in_windows_and_in_time() {
    let of = |completed: &[u64]| stalls(&run_of(completed)).map(|value| value.value);
    assert_eq!(of(&[100, 9, 100, 0, 100, 11]), [Some(2.0), Some(160e6)]);
    assert_eq!(of(&[100, 100, 100]), [Some(0.0), Some(0.0)]);
    assert_eq!(of(&[100, 0]), [None, None], "too few to have a median");
}

#[test]
fn the_last_window_is_as_long_as_what_was_measured_of_it() {
    let of = |index| window(index, 1_000_000_000, 2_250_000_000);
    assert_eq!([of(0), of(1), of(2)], [(0.0, 1.0), (1.0, 1.0), (2.0, 0.25)]);
}
