//! Objectives and the search by one, against real sockets: a verdict is what the figures beside it say.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use outcrop_cache_load::{
    Failure, LoadSpec, Objective, SearchEnd, SearchReport, Shortage, Verdict, WarmUp, search_rate,
};
use outcrop_probe::Clock;
use outcrop_workload::keyed::RequestKind;

use crate::driver::{misses, run, spec, workload};
use crate::servers::Server;
use crate::stub::Stub;

/// Holds a connection's answer back for so long; nobody ends the wait.
fn hold(time: Duration) {
    let (never, ended) = (Mutex::new(()), Condvar::new());
    let waiting = never.lock().unwrap();
    let _ = ended.wait_timeout_while(waiting, time, |()| true).unwrap();
}

/// A server of which each connection takes 5 ms a request.
fn slow() -> Stub {
    Stub::new(|line| {
        hold(Duration::from_millis(5));
        misses(line)
    })
}

fn objective(text: &str) -> Option<Objective> {
    Some(text.parse().unwrap())
}

/// Gets alone, without a warm-up.
fn gets(stub: &Stub, connections: u32) -> LoadSpec {
    let mut spec = spec(stub.target());
    (spec.connections, spec.sets_on_miss, spec.warm_up) = (connections, false, WarmUp::None);
    workload(&mut spec).mix = "1:0".parse().unwrap();
    spec
}

fn search(spec: &LoadSpec) -> SearchReport {
    search_rate(spec, &Clock::new(), &AtomicBool::new(false), &mut |_| {}).unwrap()
}

#[test]
fn an_overloaded_server_keeps_no_objective_and_its_goodput_is_within_its_throughput() {
    let stub = slow();
    let mut spec = gets(&stub, 4);
    // Four connections of 5 ms answer at most 800 a second.
    (spec.arrival, spec.duration) = ("constant:1500".parse().unwrap(), Duration::from_secs(1));
    spec.objective = objective("p95<10s");
    let report = run(&spec).unwrap();
    assert!((1500..=1501).contains(&report.tally.due), "{}", report.tally.due);
    assert!(report.throughput_per_second() <= 810.0);
    assert!(report.goodput_per_second().unwrap() <= report.throughput_per_second());
    let needed = Duration::from_secs(20);
    assert_eq!(
        report.verdict(),
        Some(Verdict::Undecided(Shortage::Time { needed }))
    );
    // Within a quarter of a second 375 requests arrive; after 0.8 s more than 500 wait.
    spec.objective = objective("p50<250ms");
    spec.duration = Duration::from_millis(800);
    let verdict = run(&spec).unwrap().verdict();
    assert!(matches!(verdict, Some(Verdict::NotKept(_))), "{verdict:?}");
}

#[test]
fn a_request_that_is_lost_with_its_connection_counts_with_its_age() {
    for pipeline in [1, 8] {
        let seen = AtomicU64::new(0);
        let stub = Stub::new(move |line| {
            if seen.fetch_add(1, Ordering::Relaxed) == 50 {
                hold(Duration::from_millis(400));
                return None;
            }
            misses(line)
        });
        let mut spec = gets(&stub, 2);
        spec.pipeline = pipeline;
        (spec.arrival, spec.duration) = ("constant:200".parse().unwrap(), Duration::from_secs(1));
        spec.objective = objective("p50<10s");
        let report = run(&spec).unwrap();
        let tally = &report.tally;
        assert_eq!(tally.broken_connections, 1);
        assert!(tally.unfinished >= 1);
        let latency = tally.latency();
        assert_eq!(latency.count(), tally.operations() + tally.unfinished);
        // The counter that latencies are read from is calibrated to some tenths of a percent.
        assert!(latency.max().unwrap() >= 396_000_000, "{:?}", latency.max());
        assert_eq!(
            report.verdict(),
            Some(Verdict::NotKept(Failure::Unanswered(tally.unfinished)))
        );
    }
}

#[test]
fn a_sample_that_does_not_support_the_percentile_decides_nothing() {
    let stub = Stub::new(misses);
    let mut spec = gets(&stub, 4);
    (spec.arrival, spec.duration) = ("constant:200".parse().unwrap(), Duration::from_millis(200));
    spec.objective = objective("p99.9<10s");
    match run(&spec).unwrap().verdict() {
        Some(Verdict::Undecided(Shortage::Requests { seen, needed: 10_000 })) => {
            assert!((40..=41).contains(&seen), "{seen}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_that_cannot_have_its_sample_says_how_long_it_would_take() {
    let stub = slow();
    let mut spec = gets(&stub, 1);
    spec.objective = objective("p99.99<500ms");
    let found = search(&spec);
    // At most 200 a second: a hundred thousand requests take at least eight minutes.
    match found.end {
        SearchEnd::TooSlow { needed, .. } => assert!(needed > Duration::from_secs(480), "{needed:?}"),
        other => panic!("{other:?}"),
    }
    assert!(found.steps.is_empty() && found.best().is_none() && found.refuted().is_none());
}

#[test]
fn a_search_ends_between_a_rate_that_keeps_and_one_that_does_not() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let mut spec = spec(server.target.clone());
    spec.duration = Duration::from_millis(100);
    spec.objective = objective("p50<20ms");
    let found = search(&spec);
    assert!(!found.steps.is_empty());
    for step in &found.steps {
        let report = &step.report;
        assert!(report.is_open_loop);
        assert!(report.goodput_per_second().unwrap() <= report.throughput_per_second());
        let p50 = report.tally.latency().percentile(0.5);
        match step.verdict {
            Verdict::Kept => {
                assert!(p50.unwrap() < 20_000_000);
            }
            // A step fails by its own figures, never by a share of a rate that was not even drawn.
            Verdict::NotKept(Failure::Latency { latency_ns, .. }) => {
                assert!(latency_ns >= 20_000_000 && Some(latency_ns) == p50);
            }
            Verdict::NotKept(Failure::Backlog { half_way, at_end }) => assert!(at_end > half_way),
            other => panic!("{other:?}"),
        }
    }
    spec.objective = objective("p50<1ns");
    let found = search(&spec);
    assert!(found.best().is_none() && found.refuted().is_some());
}

#[test]
fn sets_on_miss_of_the_warm_up_are_counted_apart() {
    let stub = Stub::new(misses);
    let mut spec = gets(&stub, 2);
    spec.sets_on_miss = true;
    spec.warm_up = "fill:50ms".parse().unwrap();
    let warm_up = run(&spec).unwrap().warm_up;
    // Every get misses, and all but the last of each connection are followed by their set.
    assert!(warm_up.fills > 0);
    let gets = warm_up.operations - warm_up.fills;
    assert!(gets >= warm_up.fills && gets <= warm_up.fills + 2, "{warm_up:?}");
}

#[test]
fn refusals_are_part_of_the_cost_of_an_answer_and_their_share_is_named() {
    // Every other request is refused.
    let seen = AtomicU64::new(0);
    let stub = Stub::new(move |line| {
        if seen.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            return Some(b"SERVER_ERROR out of memory\r\n".to_vec());
        }
        misses(line)
    });
    let mut spec = gets(&stub, 1);
    spec.objective = objective("p50<10s");
    let report = run(&spec).unwrap();
    let tally = &report.tally;
    let share = tally.refused_share().unwrap();
    assert!((0.45..0.55).contains(&share), "{share}");
    assert_eq!(tally.operations(), tally.kind(RequestKind::Get).operations);
    let answers = tally.operations() + tally.refused;
    let cost = report.driver_cpu_per_operation_ns().unwrap();
    assert_eq!(cost, report.driver_cpu.total_ns as f64 / answers as f64);
    let problems = report.problems();
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("% of all answers")),
        "{problems:?}"
    );
    assert!(matches!(
        report.verdict(),
        Some(Verdict::NotKept(Failure::Refused(_)))
    ));
}
