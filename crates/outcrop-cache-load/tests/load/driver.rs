//! The driver against real servers and stubs: what it counts is what happened.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use outcrop_cache_load::{
    CacheLoadError, LoadProgress, LoadReport, LoadSpec, RequestSource, Target, WarmUp, run_load,
};
use outcrop_measure::Seed;
use outcrop_probe::Clock;
use outcrop_workload::keyed::{KeyPopularity, KeyedWorkload, Preset, RequestKind, Trace, ValueSize};

use crate::servers::Server;
use crate::stub::Stub;

pub(crate) fn spec(target: Target) -> LoadSpec {
    let mut spec = LoadSpec::new(target, Seed(7));
    spec.connections = 4;
    spec.duration = Duration::from_millis(300);
    set_keys(&mut spec, 1000);
    spec
}

pub(crate) fn set_keys(spec: &mut LoadSpec, keys: u64) {
    if let RequestSource::Generated { key_count, .. } = &mut spec.source {
        *key_count = keys;
    }
}

pub(crate) fn workload(spec: &mut LoadSpec) -> &mut KeyedWorkload {
    match &mut spec.source {
        RequestSource::Generated { workload, .. } => workload,
        RequestSource::Trace { .. } => panic!("the spec has a trace"),
    }
}

pub(crate) fn run(spec: &LoadSpec) -> Result<LoadReport, CacheLoadError> {
    run_load(spec, &Clock::new(), &AtomicBool::new(false), &mut |_| {})
}

pub(crate) fn both() -> impl Iterator<Item = Server> {
    [Server::memcached(&[]), Server::redis()].into_iter().flatten()
}

/// `VALUE` in stubs has nothing to do with what was stored; a miss is always true.
pub(crate) fn misses(line: &str) -> Option<Vec<u8>> {
    Some(match line.split(' ').next() {
        Some("get") => b"END\r\n".to_vec(),
        Some("set") => b"STORED\r\n".to_vec(),
        _ => b"DELETED\r\n".to_vec(),
    })
}

#[test]
fn a_cache_with_room_for_everything_hits_always() {
    for server in both() {
        for (pipeline, threads) in [(1, 1), (32, 2)] {
            let report = run(&LoadSpec {
                pipeline,
                threads,
                ..spec(server.target.clone())
            })
            .unwrap();
            assert_eq!(report.problems(), Vec::<String>::new());
            assert!(report.tally.hits > 100);
            assert_eq!((report.tally.misses, report.tally.hit_ratio()), (0, Some(1.0)));
            assert_eq!(
                (report.warm_up.sets, report.warm_up.is_steady),
                (1000, Some(true))
            );
            assert!(!report.is_open_loop && report.throughput_per_second() > 100.0);
            let gets = report.tally.kind(RequestKind::Get);
            assert_eq!(gets.operations, report.tally.hits);
            assert_eq!(gets.latency.count(), gets.operations);
            let server_cpu = report.server_cpu.as_ref().unwrap();
            assert!(
                server_cpu.total_ns > 0 && server_cpu.process.contains("pid"),
                "{server_cpu:?}"
            );
            assert!(report.driver_cpu.total_ns > 0);
        }
    }
}

#[test]
fn what_the_driver_counts_is_what_the_server_counted() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let mut spec = spec(server.target.clone());
    spec.warm_up = WarmUp::None;
    workload(&mut spec).mix = "30:1:15".parse().unwrap();
    let report = run(&spec).unwrap();
    let stats = server.stats();
    let in_flight_at_the_end = u64::from(spec.connections);
    for (name, ours) in [
        ("get_hits", report.tally.hits),
        ("get_misses", report.tally.misses),
    ] {
        let theirs = stats[name];
        assert!(
            ours <= theirs && theirs <= ours + in_flight_at_the_end,
            "{name}: {ours}, {theirs}"
        );
    }
    let sets = report.tally.kind(RequestKind::Set).operations;
    assert!(sets <= stats["cmd_set"] && stats["cmd_set"] <= sets + in_flight_at_the_end);
    // Every miss is followed by a set, apart from those at the very end.
    assert!(report.tally.fills > 0 && report.tally.fills + in_flight_at_the_end >= report.tally.misses);
}

#[test]
fn a_small_cache_misses_and_etc_hits_more_than_uniform() {
    let Some(server) = Server::memcached(&["-m", "8"]) else {
        return;
    };
    let mut spec = spec(server.target.clone());
    (spec.pipeline, spec.flushes_first) = (32, true);
    set_keys(&mut spec, 100_000);
    let etc = run(&spec).unwrap().tally.hit_ratio().unwrap();
    workload(&mut spec).popularity = KeyPopularity::Uniform;
    let uniform = run(&spec).unwrap().tally.hit_ratio().unwrap();
    assert!(
        uniform > 0.05 && uniform < 0.95 && etc > uniform + 0.05,
        "{etc} {uniform}"
    );
}

#[test]
fn a_server_that_never_answers_again_is_counted_and_does_not_hang_the_driver() {
    let seen = AtomicU64::new(0);
    let stub = Stub::new(move |line| {
        let is_mute = seen.fetch_add(1, Ordering::Relaxed) >= 50;
        if is_mute { Some(Vec::new()) } else { misses(line) }
    });
    let mut spec = spec(stub.target());
    (spec.connections, spec.sets_on_miss, spec.warm_up) = (1, false, WarmUp::None);
    (spec.arrival, spec.duration) = ("constant:1000".parse().unwrap(), Duration::from_millis(200));
    let report = run(&spec).unwrap();
    assert_eq!(report.tally.operations(), 50);
    // One may be due at the very end of the time.
    let unfinished = report.tally.unfinished;
    assert!((150..=151).contains(&unfinished), "{unfinished}");
    assert_eq!(report.tally.latency().count(), 50 + unfinished);
    assert!(
        report
            .problems()
            .iter()
            .any(|problem| problem.contains("never answered"))
    );
}

#[test]
fn a_wrong_value_is_named_with_its_key() {
    let stub = Stub::new(|line| match line.strip_prefix("get ") {
        Some(key) => Some(format!("VALUE {key} 0 3\r\nabc\r\nEND\r\n").into_bytes()),
        None => misses(line),
    });
    let mut spec = spec(stub.target());
    workload(&mut spec).value_size = "fixed:3".parse().unwrap();
    let report = run(&spec).unwrap();
    assert!(report.tally.hits > 0 && report.tally.mismatches == report.tally.hits);
    let problems = report.problems();
    assert!(
        problems[0].contains("key oc-") && problems[0].contains("differs at byte"),
        "{problems:?}"
    );
    workload(&mut spec).value_size = "fixed:4".parse().unwrap();
    let problems = run(&spec).unwrap().problems();
    assert!(
        problems[0].contains("the value has 3 B instead of 4 B"),
        "{problems:?}"
    );
}

#[test]
fn keys_that_can_never_exist_are_an_error_shown() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let mut spec = spec(server.target.clone());
    (spec.warm_up, spec.sets_on_miss) = (WarmUp::None, false);
    workload(&mut spec).mix = "1:0".parse().unwrap();
    let problems = run(&spec).unwrap().problems();
    assert!(
        problems.iter().any(|problem| problem.contains("cannot exist")),
        "{problems:?}"
    );
    // Values that the server refuses are no silent misses either.
    spec.warm_up = WarmUp::Auto;
    set_keys(&mut spec, 10);
    workload(&mut spec).value_size = ValueSize::Fixed("2MiB".parse().unwrap());
    let problems = run(&spec).unwrap().problems();
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("can never hit") && problem.contains("too large")),
        "{problems:?}"
    );
}

#[test]
fn a_broken_connection_is_said_and_the_others_go_on() {
    let seen = AtomicU64::new(0);
    let stub =
        Stub::new(move |line| (seen.fetch_add(1, Ordering::Relaxed) != 2000).then(|| misses(line).unwrap()));
    let mut spec = spec(stub.target());
    (spec.warm_up, spec.duration) = (WarmUp::None, Duration::from_secs(2));
    let report = run(&spec).unwrap();
    assert_eq!(report.tally.broken_connections, 1);
    assert!(
        report
            .problems()
            .iter()
            .any(|problem| problem.contains("connections broke"))
    );
    let gone = Stub::new(|_| None);
    spec.target = gone.target();
    assert!(matches!(run(&spec), Err(CacheLoadError::Connection { .. })));
}

#[test]
fn bytes_that_are_no_reply_are_quoted() {
    let stub = Stub::new(|_| Some(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()));
    let mut spec = spec(stub.target());
    spec.warm_up = WarmUp::None;
    let error = run(&spec).unwrap_err().to_string();
    assert!(
        error.contains("answered a get with `HTTP/1.1 400 Bad Request`"),
        "{error}"
    );
}

#[test]
fn a_trace_that_never_hits_is_told_what_a_trace_can_do_about_it() {
    let stub = Stub::new(misses);
    let trace = Trace::read("a\nb\na\n".as_bytes()).unwrap();
    let spec = LoadSpec {
        source: RequestSource::Trace {
            trace: Arc::new(trace),
            keeps_times: false,
            is_whole: false,
        },
        sets_on_miss: false,
        connections: 1,
        ..spec(stub.target())
    };
    let problems = run(&spec).unwrap().problems();
    assert!(
        problems.iter().any(|problem| problem.contains("--set-on-miss")),
        "{problems:?}"
    );
    let of_no_trace = ["warm up", "the mix"];
    for problem in &problems {
        assert!(
            !of_no_trace.iter().any(|words| problem.contains(words)),
            "{problem}"
        );
    }
}

#[test]
fn impossible_specs_are_refused_with_what_is_accepted() {
    let target: Target = "memcached://127.0.0.1:1".parse().unwrap();
    for (change, field) in [
        ((|spec| spec.connections = 0) as fn(&mut LoadSpec), "connections"),
        (|spec| spec.pipeline = 100_000, "pipeline"),
        (|spec| spec.threads = 9, "threads"),
        (|spec| spec.duration = Duration::ZERO, "duration"),
        (|spec| spec.arrival = "constant:1T".parse().unwrap(), "arrival"),
    ] {
        let mut spec = spec(target.clone());
        change(&mut spec);
        let error = run(&spec).unwrap_err();
        assert!(
            matches!(&error, CacheLoadError::Spec { field: seen, .. } if *seen == field),
            "{error}"
        );
    }
}

#[test]
fn a_stop_flag_ends_the_load_at_once_and_progress_was_told() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let stop = AtomicBool::new(false);
    let mut spec = spec(server.target.clone());
    spec.duration = Duration::from_secs(600);
    let mut steps = Vec::new();
    let report = run_load(&spec, &Clock::new(), &stop, &mut |progress| {
        if let LoadProgress::Measuring { .. } = progress {
            stop.store(true, Ordering::Relaxed);
        }
        steps.push(progress);
    })
    .unwrap();
    assert!(report.is_interrupted && report.duration_ns < 600_000_000_000);
    assert!(matches!(steps[0], LoadProgress::Filling { done: 0, total: 1000 }));
    assert!(
        steps
            .iter()
            .any(|step| matches!(step, LoadProgress::Settling { .. }))
    );
}

#[test]
fn a_number_of_requests_is_measured_whatever_the_time() {
    let Some(server) = Server::memcached(&["-m", "8"]) else {
        return;
    };
    for (threads, arrival) in [(1, "closed"), (3, "closed"), (2, "constant:20k")] {
        let mut spec = spec(server.target.clone());
        workload(&mut spec).mix = "30:1:15".parse().unwrap();
        spec.requests = NonZeroU64::new(5000);
        (spec.threads, spec.connections, spec.flushes_first) = (threads, 4, true);
        (spec.arrival, spec.warm_up) = (arrival.parse().unwrap(), WarmUp::None);
        let report = run(&spec).unwrap();
        let tally = &report.tally;
        assert_eq!(
            tally.operations() - tally.fills,
            5000,
            "{threads} threads, {arrival}"
        );
        assert_eq!(
            tally.fills, tally.misses,
            "each miss is followed by a set, the last one too"
        );
        assert_eq!(tally.completed_in_time, tally.operations());
        assert_eq!(tally.hit_latency.count(), tally.hits);
        assert_eq!(tally.miss_latency.count(), tally.misses);
        assert!(report.answered_per_second() < report.throughput_per_second());
        let expected = tally.hits as f64 / 5000.0;
        assert_eq!(tally.hits_per_request(), Some(expected));
    }
}

#[test]
fn the_measured_time_holds_every_request_of_a_closed_loop_however_few_they_are() {
    for server in both() {
        for (requests, threads) in [(1, 1), (100, 1), (1000, 2)] {
            let mut spec = spec(server.target.clone());
            (spec.requests, spec.threads) = (NonZeroU64::new(requests), threads);
            let report = run(&spec).unwrap();
            assert_eq!(report.tally.completed_in_time, requests);
            let elapsed_s = report.duration_ns as f64 / 1e9;
            let by_rate_s = requests as f64 / report.throughput_per_second();
            assert!(
                (by_rate_s / elapsed_s - 1.0).abs() < 1e-9,
                "{by_rate_s} s, {elapsed_s} s"
            );
            let kinds = report.tally.kinds.iter().map(|kind| &kind.latency);
            let waits: Vec<_> = kinds.filter(|latency| latency.count() > 0).collect();
            let slowest_ns = waits.iter().filter_map(|latency| latency.max()).max().unwrap();
            assert!(
                report.duration_ns >= slowest_ns,
                "{requests} requests within {} ns, one of which took {slowest_ns} ns",
                report.duration_ns
            );
            // Each connection waits for one reply at a time: the waits of all fit into the time of all.
            let waited_ns: f64 = waits
                .iter()
                .filter_map(|latency| Some(latency.mean()? * latency.count() as f64))
                .sum();
            let all_ns = report.duration_ns as f64 * f64::from(spec.connections);
            assert!(
                waited_ns <= all_ns * 1.001,
                "{requests}: {waited_ns} ns of {all_ns} ns"
            );
            let cpus = report.driver_cpu.busiest_share;
            assert!(cpus <= 1.1, "one thread used {cpus} of a CPU");
        }
    }
}

#[test]
fn a_pool_of_values_is_shared_by_the_keys_and_verified() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let mut spec = spec(server.target.clone());
    (spec.value_count, spec.requests) = (NonZeroU64::new(3), NonZeroU64::new(2000));
    let report = run(&spec).unwrap();
    assert_eq!(
        (report.tally.mismatches, report.tally.hit_ratio()),
        (0, Some(1.0))
    );
    // Read with one value for each key, they are other values.
    (spec.value_count, spec.warm_up) = (None, WarmUp::None);
    let report = run(&spec).unwrap();
    assert!(report.tally.mismatches > 0 && report.tally.mismatches < report.tally.hits);
}

#[test]
fn the_lite_recipe_is_warmed_up_by_a_number_of_sets() {
    let Some(server) = Server::memcached(&["-m", "8"]) else {
        return;
    };
    let mut spec = spec(server.target.clone());
    *workload(&mut spec) = KeyedWorkload::of(Preset::EtcLite);
    (spec.warm_up, spec.sets_on_miss) = (WarmUp::Sets(500), false);
    let report = run(&spec).unwrap();
    assert_eq!(report.warm_up.sets, 500);
    assert!(report.tally.hits > 0 && report.tally.misses > 0);
}
