//! What is counted as wrong, and what is counted in the measured time.

use std::time::Duration;

use outcrop_cache_load::WarmUp;

use crate::driver::{both, run, set_keys, spec, workload};
use crate::servers::Server;

#[test]
fn values_of_an_earlier_load_with_other_sizes_are_told_from_wrong_ones() {
    for server in both() {
        let mut spec = spec(server.target.clone());
        workload(&mut spec).value_size = "fixed:3".parse().unwrap();
        assert_eq!(run(&spec).unwrap().problems(), Vec::<String>::new());
        workload(&mut spec).value_size = "fixed:700".parse().unwrap();
        (spec.warm_up, spec.sets_on_miss) = (WarmUp::None, false);
        let report = run(&spec).unwrap();
        let tally = &report.tally;
        assert!(tally.other_lengths > 0 && tally.other_lengths == tally.mismatches);
        let problems = report.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("an earlier load") && problems[0].contains("3 B instead of 700 B"));
    }
}

/// Values larger than a server takes: what an earlier load stored stays where it is.
#[test]
fn values_that_a_server_refuses_are_refusals() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let mut spec = spec(server.target.clone());
    set_keys(&mut spec, 10);
    workload(&mut spec).value_size = "fixed:2MiB".parse().unwrap();
    let report = run(&spec).unwrap();
    assert_eq!((report.tally.mismatches, report.warm_up.refused), (0, 10));
}

#[test]
fn bytes_that_come_after_the_measured_time_are_in_no_rate() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let mut spec = spec(server.target.clone());
    workload(&mut spec).value_size = "fixed:500".parse().unwrap();
    workload(&mut spec).mix = "1:0".parse().unwrap();
    (spec.arrival, spec.duration) = ("constant:3M".parse().unwrap(), Duration::from_millis(20));
    let report = run(&spec).unwrap();
    let tally = &report.tally;
    assert!(
        tally.completed_in_time < tally.operations(),
        "the server was overloaded"
    );
    assert_eq!(tally.hit_bytes, 500 * tally.hits);
    assert_eq!(tally.hit_bytes_in_time, 500 * tally.completed_in_time);
    let expected = 500.0 * report.throughput_per_second();
    assert!((report.read_bytes_per_second() / expected - 1.0).abs() < 1e-9);
}
