//! A read must return the newest version that was acknowledged before it began: a store that does not is found out.

use std::time::Duration;

use outcrop_kv::{Database, KvSpec, Tally, Timing};
use outcrop_workload::store::StoreEngine;

use super::shelf::{Lie, Shelf};
use super::stage::spec;

/// What the driver counts of a store with few records, which all threads write.
fn tally_of(lie: Lie, threads: u32) -> Tally {
    tally_under(
        lie,
        KvSpec {
            workload: "read:40,update:40,scan:10,read-modify-write:10".parse().unwrap(),
            requests: "zipf:0.99".parse().unwrap(),
            threads,
            ..spec(StoreEngine::Fjall)
        },
    )
}

/// The same under a load of the caller's.
fn tally_under(lie: Lie, load: KvSpec) -> Tally {
    let spec = KvSpec {
        records: 50,
        warm_up: Duration::ZERO,
        duration: Duration::from_millis(150),
        ..load
    };
    let database = Database::over(&spec, Box::new(Shelf::new(lie)), 0).unwrap();
    database.load(Timing::after(Duration::ZERO), None).unwrap();
    let run = database.run(Timing::after(Duration::ZERO), None).unwrap();
    run.phase.tally
}

/// Gets, puts and scans of keys whose bytes say their number, of values that are too short to say whose they are.
fn short_values_in_order() -> KvSpec {
    KvSpec {
        workload: "mixgraph".parse().unwrap(),
        requests: "mixgraph".parse().unwrap(),
        value_size: "fixed:20B".parse().unwrap(),
        ..spec(StoreEngine::Fjall)
    }
}

/// Scans of keys whose bytes are hashes.
fn scans_of_hashes(value_size: &str) -> KvSpec {
    KvSpec {
        workload: "scan:100".parse().unwrap(),
        requests: "uniform".parse().unwrap(),
        value_size: value_size.parse().unwrap(),
        ..spec(StoreEngine::Fjall)
    }
}

#[test]
fn a_store_that_tells_the_truth_is_believed_whoever_writes_at_the_same_time() {
    for threads in [1, 4] {
        let tally = tally_of(Lie::Never, threads);
        assert!(tally.verified > 1000, "{tally:?}");
        assert_eq!((tally.missing, tally.mismatches), (0, 0), "{tally:?}");
    }
}

#[test]
fn a_store_that_returns_the_previous_version_is_found_out_in_reads_and_in_scans() {
    for lie in [Lie::GetsAreStale, Lie::ScansAreStale] {
        for threads in [1, 4] {
            let tally = tally_of(lie, threads);
            assert!(tally.mismatches > 0, "{lie:?}, {threads} threads: {tally:?}");
            let problem = tally.first_problem.unwrap();
            let words = "was acknowledged before the read began";
            assert!(problem.contains(words), "{lie:?}: {problem}");
        }
    }
}

#[test]
fn a_scan_that_has_a_value_under_another_key_is_found_out() {
    let tally = tally_of(Lie::ScansMoveValues, 1);
    assert!(tally.mismatches > 0, "{tally:?}");
    let problem = tally.first_problem.unwrap();
    assert!(problem.contains("under key"), "{problem}");
}

#[test]
fn a_scan_that_has_a_short_value_under_another_key_is_found_out_by_keys_that_are_numbers() {
    let tally = tally_under(Lie::ScansMoveValues, short_values_in_order());
    assert!(tally.mismatches > 0, "{tally:?}");
    let problem = tally.first_problem.unwrap();
    assert!(problem.contains("a scan from key"), "{problem}");
    let tally = tally_under(Lie::Never, short_values_in_order());
    assert!(tally.scanned_records > 0, "{tally:?}");
    assert_eq!((tally.missing, tally.mismatches), (0, 0), "{tally:?}");
}

#[test]
fn a_scan_counts_the_values_that_it_could_compare_and_no_other() {
    let tally = tally_under(Lie::Never, scans_of_hashes("fixed:24B"));
    assert!(tally.scanned_records > 0, "{tally:?}");
    assert_eq!(tally.verified, tally.scanned_records, "{tally:?}");
    // A byte less does not name its key, and the key is a hash.
    let tally = tally_under(Lie::ScansMoveValues, scans_of_hashes("fixed:23B"));
    assert!(tally.scanned_records > 0, "{tally:?}");
    assert_eq!((tally.verified, tally.mismatches), (0, 0), "{tally:?}");
}
