//! An open loop: latencies begin when requests are due, and say what of them is the driver's own lateness.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use outcrop_cache_load::WarmUp;
use outcrop_workload::Arrival;
use outcrop_workload::keyed::RequestKind;

use crate::driver::{misses, run, spec};
use crate::stub::Stub;

#[test]
fn a_stall_of_a_second_is_measured_from_the_intended_start() {
    let stalled = Arc::new((Mutex::new(false), Condvar::new()));
    let seen = AtomicU64::new(0);
    let gate = Arc::clone(&stalled);
    // Nobody opens the gate: the 300th request passes it when a second is over.
    let stub = Stub::new(move |line| {
        if seen.fetch_add(1, Ordering::Relaxed) == 300 {
            let (is_open, opened) = &*gate;
            let closed = is_open.lock().unwrap();
            let _ = opened
                .wait_timeout_while(closed, Duration::from_secs(1), |open| !*open)
                .unwrap();
        }
        misses(line)
    });
    let mut spec = spec(stub.target());
    (spec.connections, spec.sets_on_miss, spec.warm_up) = (1, false, WarmUp::None);
    (spec.arrival, spec.duration) = ("constant:1000".parse().unwrap(), Duration::from_secs(2));
    let report = run(&spec).unwrap();
    assert!(report.is_open_loop);
    let latency = report.tally.latency();
    // Every request that was due is in it; the one due at the very end may be.
    assert!((2000..=2001).contains(&latency.count()), "{}", latency.count());
    // At least half of the 1000 that were due meanwhile waited for more than half a second, and one for all of it
    let above = |latency: &outcrop_measure::LatencyHistogram| -> u64 {
        latency
            .buckets()
            .filter(|bucket| bucket.low_ns > 500_000_000)
            .map(|bucket| bucket.count)
            .sum()
    };
    assert!(above(&latency) >= 480, "{}", above(&latency));
    // (the counter that latencies are read from is calibrated within 200 ms, to some tenths of a percent on a busy machine) …
    let max = latency.max().unwrap();
    assert!(max >= 990_000_000, "{max}");
    // … while the server kept only one waiting: what a closed loop would have reported.
    let service = &report.tally.kind(RequestKind::Get).service;
    assert!(above(service) < above(&latency) / 10, "{}", above(service));
    // Waiting for the connection is the server's doing, and no lateness of the driver.
    let late = &report.tally.lateness;
    assert_eq!(late.count(), report.tally.due);
    assert!(
        late.sum() < latency.sum() / 10,
        "{} of {} ns",
        late.sum(),
        latency.sum()
    );
}

#[test]
fn where_connections_are_free_latency_is_service_plus_the_drivers_own_lateness() {
    let stub = Stub::new(misses);
    let mut spec = spec(stub.target());
    (spec.sets_on_miss, spec.warm_up) = (false, WarmUp::None);
    // More may be in flight than is ever due: nothing waits for a connection.
    (spec.connections, spec.pipeline) = (1, 1000);
    spec.arrival = "poisson:2000".parse().unwrap();
    let report = run(&spec).unwrap();
    let tally = &report.tally;
    let (latency, service, late) = (tally.latency(), tally.service(), &tally.lateness);
    assert!(tally.due > 0 && tally.due < 1000, "{}", tally.due);
    assert_eq!([late.count(), latency.count(), service.count()], [tally.due; 3]);
    // Each is rounded from ticks to nanoseconds.
    let parts = late.sum() + service.sum();
    assert!(
        latency.sum().abs_diff(parts) <= 2 * u128::from(late.count()),
        "{} ns of latency, {parts} ns of lateness and service",
        latency.sum()
    );
    spec.arrival = Arrival::Closed;
    let closed = run(&spec).unwrap().tally;
    assert!(closed.operations() > 0 && closed.lateness.is_empty());
}

#[test]
fn a_few_requests_by_a_schedule_are_answered_no_faster_than_they_are_due() {
    let stub = Stub::new(misses);
    for (requests, threads) in [(1, 1), (2, 1), (3, 2)] {
        let mut spec = spec(stub.target());
        (spec.requests, spec.threads) = (NonZeroU64::new(requests), threads);
        (spec.sets_on_miss, spec.warm_up) = (false, WarmUp::None);
        spec.arrival = "constant:20".parse().unwrap();
        let report = run(&spec).unwrap();
        assert_eq!(report.tally.completed_in_time, requests);
        // The counter is calibrated to some tenths of a percent.
        let answered = report.answered_per_second();
        assert!(answered <= 20.2, "{requests} requests: {answered} per second");
    }
}
