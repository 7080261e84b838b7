//! What a comparison says of values that are no repetitions, of metrics by their direction, and of several subjects.

use std::collections::BTreeMap;
use std::path::Path;

use outcrop_results::{FailIf, RunView, TrialEntry, Undecided, Value, Verdict, compare};
use outcrop_schema::{cache, compression, device};

use crate::comparisons::{repeated, row};
use crate::samples::{IOPS, check_all, run_of, trial, usual};

/// Five trials that record one metric of another layer each.
fn recorded(parent: &Path, name: &str, seed: u64, layer: &str, values: &[Value]) -> RunView {
    let trials = repeated(5, |repetition| TrialEntry {
        layer: layer.to_owned(),
        factors: BTreeMap::new(),
        seed: seed + u64::from(repetition),
        ..trial(1, repetition, values)
    });
    run_of(parent, name, &trials)
}

#[test]
fn a_hit_ratio_is_better_when_it_is_higher() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, share: f64| {
        let trials = repeated(5, |repetition| TrialEntry {
            layer: "cache".to_owned(),
            factors: BTreeMap::new(),
            ..trial(
                1,
                repetition,
                &[Value::measured(
                    cache::HIT_RATIO,
                    share + 1e-4 * f64::from(repetition),
                )],
            )
        });
        run_of(folder.path(), name, &trials)
    };
    let (a, b) = (of("a", 0.80), of("b", 0.85));
    assert_eq!(compare(&a, &b).rows[0].verdict, Verdict::Better);
    assert_eq!(compare(&b, &a).rows[0].verdict, Verdict::Worse);
}

#[test]
fn a_property_of_the_run_is_one_value_and_decides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, cost: f64| {
        let value = Value::measured(device::OVERHEAD_PER_OPERATION, cost);
        recorded(folder.path(), name, 7, "device", &[value])
    };
    let comparison = compare(&of("a", 20.0), &of("b", 40.0));
    let row = &comparison.rows[0];
    assert_eq!(
        (row.ratio, row.interval, &row.verdict),
        (Some(2.0), None, &Verdict::Undecided(Undecided::OncePerRun))
    );
    assert_eq!(
        (
            row.baseline.as_ref().unwrap().n,
            row.candidate.as_ref().unwrap().n
        ),
        (1, 1)
    );
}

#[test]
fn a_property_of_the_data_is_one_value_and_decides_where_the_data_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, seed: u64, ratio: f64| {
        let value = Value::measured(compression::COMPRESSION_RATIO, ratio);
        recorded(folder.path(), name, seed, "compression", &[value])
    };
    let a = of("a", 7, 2.0);
    let verdict_on = |candidate: &RunView| {
        let comparison = compare(&a, candidate);
        let row = &comparison.rows[0];
        assert_eq!((row.candidate.as_ref().unwrap().n, row.interval), (1, None));
        row.verdict.clone()
    };
    assert_eq!(verdict_on(&of("same", 7, 2.0)), Verdict::Same);
    assert_eq!(verdict_on(&of("smaller", 7, 2.1)), Verdict::Better);
    assert_eq!(
        verdict_on(&of("other", 8, 2.1)),
        Verdict::Undecided(Undecided::OtherSample)
    );

    let condition: FailIf = "compression_ratio < -5%".parse().unwrap();
    let larger = compare(&a, &of("larger", 7, 1.8));
    assert_eq!(
        check_all(std::slice::from_ref(&condition), &larger).unwrap()[0]
            .offending
            .len(),
        1
    );
    // Another seed, and the same data by their fingerprint.
    let of_data = |name: &str, seed: u64, ratio: f64| {
        let [size, count, entropy] = compression::SCHEMA.data_identity else {
            panic!("the fingerprint of data has other metrics");
        };
        let values = [
            (*size, 4096.0),
            (*count, 4.0),
            (*entropy, 5.5),
            (compression::COMPRESSION_RATIO, ratio),
        ];
        recorded(
            folder.path(),
            name,
            seed,
            "compression",
            &values.map(|(metric, value)| Value::measured(metric, value)),
        )
    };
    let comparison = compare(&of_data("data-a", 7, 2.0), &of_data("data-b", 8, 1.9));
    assert_eq!(row(&comparison, "compression_ratio").verdict, Verdict::Worse);

    let other = compare(&a, &of("other-larger", 8, 1.8));
    let refused = check_all(&[condition], &other).unwrap_err().to_string();
    assert!(refused.contains("the same --seed"), "{refused}");
}

#[test]
fn a_run_of_two_subjects_against_itself_is_the_same_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let of = |subject: &'static str, iops: f64| {
        repeated(5, move |repetition| TrialEntry {
            subject: subject.to_owned(),
            cell: subject.to_owned(),
            ..trial(
                32,
                repetition,
                &[Value::measured(IOPS, iops + f64::from(repetition))],
            )
        })
    };
    let both = run_of(folder.path(), "both", &[of("a/x", 1e5), of("b/x", 2e5)].concat());
    let comparison = compare(&both, &both);
    let pairs: Vec<_> = comparison
        .rows
        .iter()
        .map(|row| (row.ratio, &row.verdict))
        .collect();
    assert_eq!(pairs, [(Some(1.0), &Verdict::Same); 2]);
    // A subject that moved still meets the only one that there is.
    let moved = run_of(folder.path(), "moved", &of("c/x", 1e5));
    let alone = run_of(folder.path(), "alone", &of("a/x", 1e5));
    assert_eq!(compare(&alone, &moved).rows.len(), 1);
}

#[test]
fn a_trial_that_stalled_leaves_its_row_undecided_and_fails_no_condition() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, stalled: Option<u32>| {
        let trials = repeated(6, |repetition| {
            let iops = if Some(repetition) == stalled { 0.0 } else { 1e5 };
            trial(1, repetition, &usual(iops, 4e5))
        });
        run_of(folder.path(), name, &trials)
    };
    let comparison = compare(&side("a", None), &side("b", Some(2)));
    let iops = row(&comparison, "iops");
    assert_eq!(iops.verdict, Verdict::Undecided(Undecided::NoRatio));
    assert!(
        iops.why()[0].contains("where the trial stalled"),
        "{:?}",
        iops.why()
    );
    let condition = "iops < -20%".parse().unwrap();
    let report = check_all(&[condition], &comparison)
        .expect("it is judged")
        .remove(0);
    assert_eq!((report.checked, report.met(), report.without_ratio), (1, 0, 1));
}
