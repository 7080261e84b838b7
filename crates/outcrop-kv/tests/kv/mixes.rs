//! What a run counts agrees with the definition of its workload, within sampling error.

use outcrop_kv::KvSpec;
use outcrop_workload::keyed::{OperationKind, StoreWorkload};
use outcrop_workload::store::StoreEngine;

use super::stage::{spec, trial};

#[test]
fn the_counts_of_a_run_are_those_of_its_mix() {
    for workload in [
        "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f", "mixgraph",
    ] {
        let workload: StoreWorkload = workload.parse().unwrap();
        let spec = KvSpec {
            workload,
            requests: workload.requests(),
            value_size: workload.value_size(),
            ..spec(StoreEngine::Fjall)
        };
        // A disk that others use may stand still for a whole trial.
        let mut reports = (0..5).map(|_| trial(&spec));
        let report = reports.find(|report| report.run.operations() > 50);
        let report = report.unwrap_or_else(|| panic!("{workload}: no trial had 50 operations"));
        let total = report.run.operations() as f64;
        for kind in OperationKind::ALL {
            let (share, seen) = (
                workload.mix().share(kind),
                report.run.latency(kind).count() as f64,
            );
            // Five standard deviations of a binomial count.
            let allowed = 5.0 * (total * share * (1.0 - share)).sqrt();
            assert!(
                (seen - total * share).abs() <= allowed + 1.0,
                "{workload} {kind}: {seen} of {total}, {share}"
            );
        }
        assert_eq!(
            (report.run.tally.missing, report.run.tally.mismatches),
            (0, 0),
            "{workload}"
        );
    }
}

#[test]
fn scans_come_by_as_many_records_as_they_ask_for() {
    let workload: StoreWorkload = "ycsb-e".parse().unwrap();
    let spec = KvSpec {
        workload,
        ..spec(StoreEngine::Fjall)
    };
    let report = trial(&spec);
    let scans = report.run.tally.operations as f64 * 0.95;
    let mean = report.run.tally.scanned_records as f64 / scans;
    // Uniform from 1 to 100; those near the last key are cut off.
    let error = 5.0 * 29.0 / scans.sqrt() + 2.0;
    assert!((mean - 50.5).abs() < error, "{mean} ± {error}");
}
