//! What differs between two runs apart from their figures: readings of the environment, and factors that keep all cells apart.

use outcrop_measure::metric::Metric;
use outcrop_results::{
    Comparand, CompareOptions, RunView, Undecided, Value, Variant, Verdict, compare, compare_with,
};
use outcrop_schema::device;
use serde_json::json;

use crate::comparisons::{repeated, row, run};
use crate::samples::{run_of, trial};

#[test]
fn a_reading_that_one_of_two_native_runs_has_is_shown_once_and_tells_no_machines_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut a = run(folder.path(), "a", &[1], 1e5, 4e5);
    let mut b = a.clone();
    a.environment = json!({
        "cpu": {"model": {"unavailable": "no /proc/cpuinfo"}}, "memory": {"total_bytes": {"unavailable": "one"}},
        "storage": {"device": {"name": "sda", "model": "disk"}},
    });
    b.environment = json!({
        "cpu": {"model": "A"}, "memory": {"total_bytes": {"unavailable": "two"}},
        "storage": {"device": {"unavailable": "no block device"}}, "load": {"average": [1, 2, 3]},
    });
    for (a, b) in [(&a, &b), (&b, &a)] {
        let comparison = compare(a, b);
        let paths: Vec<&str> = comparison
            .environment_differences
            .iter()
            .map(|difference| difference.path.as_str())
            .collect();
        assert_eq!(paths, ["cpu.model", "storage.device"], "{comparison:?}");
        assert!(!comparison.is_different_machine && !comparison.is_different_storage);
    }
    let comparison = compare(&a, &b);
    let [model, device] = comparison.environment_differences.as_slice() else {
        panic!("{comparison:?}")
    };
    assert_eq!(
        (model.baseline.as_str(), model.candidate.as_str()),
        ("unavailable (no /proc/cpuinfo)", "A")
    );
    assert_eq!(
        (device.baseline.as_str(), device.candidate.as_str()),
        ("recorded", "unavailable (no block device)")
    );
}

#[test]
fn where_no_cell_matches_the_factors_without_a_common_value_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a", &[1, 32], 1e5, 4e5);
    let with = |name: &str, changed: &[(&str, &str)]| {
        let mut trials = a.trials.clone();
        for trial in &mut trials {
            for (factor, value) in changed {
                trial.factors.insert((*factor).to_owned(), (*value).to_owned());
            }
        }
        run_of(folder.path(), name, &trials)
    };
    let named = |candidate: &RunView| -> Vec<(String, Vec<String>, Vec<String>)> {
        let unlike = compare(&a, candidate).unlike;
        let values = |values: &std::collections::BTreeSet<String>| values.iter().cloned().collect();
        unlike
            .iter()
            .map(|factor| {
                (
                    factor.factor.clone(),
                    values(&factor.baseline),
                    values(&factor.candidate),
                )
            })
            .collect()
    };
    let one = |factor: &str, baseline: &str, candidate: &str| {
        (
            factor.to_owned(),
            vec![baseline.to_owned()],
            vec![candidate.to_owned()],
        )
    };
    let libaio = with("b", &[("engine", "libaio"), ("content", "zeros")]);
    let expected = [
        one("content", "not stated", "zeros"),
        one("engine", "io_uring", "libaio"),
    ];
    assert_eq!(named(&libaio), expected);
    // What a run does not state was as it always was: one drive.
    let one_drive = compare(&a, &with("c", &[("drives", "1")]));
    assert!(
        one_drive.unlike.is_empty() && one_drive.unmatched.is_empty(),
        "{one_drive:?}"
    );
    assert_eq!(named(&with("e", &[("drives", "2")])), [one("drives", "1", "2")]);
    // Each factor has a value in common, and no cell matches: the nearest two differ in the depth.
    let mut trials = libaio.trials.clone();
    for trial in &mut trials {
        trial.factors = a.trials[0].factors.clone();
        trial.factors.insert("engine".to_owned(), "libaio".to_owned());
    }
    let mut others = run(folder.path(), "f", &[8], 1e5, 4e5).trials;
    trials.truncate(5);
    others.extend(trials);
    let unlike = named(&run_of(folder.path(), "g", &others));
    assert_eq!(unlike, [one("queue_depth", "1", "8")]);
}

#[test]
fn reads_of_two_mixes_are_compared_in_their_latency_and_not_in_their_number_which_the_mix_sets() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &'static str, mix: &'static str, iops: f64, share: f64| {
        (0..8_u32).map(move |repetition| {
            let wobble = 1.0 + 0.001 * f64::from(repetition);
            let values = [
                Value::measured(device::IOPS.both, iops * wobble),
                Value::measured(device::IOPS.read, iops * share * wobble),
                Value::measured(device::LATENCY.read.p99, 2e5 / iops * 1e5 * wobble),
            ];
            let mut trial = trial(32, repetition, &values);
            trial.trial += u32::from(name == "b");
            trial.cell = format!("depth-32-{name}");
            trial.factors.insert("read_write_mix".to_owned(), mix.to_owned());
            trial.variant = Some(Variant {
                name: name.to_owned(),
                pair: "mix-0".to_owned(),
            });
            trial
        })
    };
    let trials: Vec<_> = side("a", "100:0", 1e5, 1.0)
        .chain(side("b", "70:30", 8e4, 0.7))
        .collect();
    let run = run_of(folder.path(), "ab", &trials);
    let comparison = compare(Comparand::Variant(&run, "a"), Comparand::Variant(&run, "b"));
    let row = |metric: &str| {
        let mut rows = comparison.rows.iter();
        rows.find(|row| row.metric == metric)
            .unwrap_or_else(|| panic!("{comparison:?}"))
    };
    let Verdict::NotComparable(reasons) = &row(device::IOPS.read.name).verdict else {
        panic!("{comparison:?}")
    };
    assert!(
        reasons[0]
            .to_string()
            .starts_with("the read write mix sets this figure, and differs: 100:0"),
        "{reasons:?}"
    );
    assert_eq!(row(device::IOPS.both.name).verdict, Verdict::Worse);
    let latency = row(device::LATENCY.read.p99.name);
    assert_eq!(latency.verdict, Verdict::Worse);
    assert!(!latency.is_repeated, "the other side has writes too");
}

#[test]
fn a_row_that_repeats_another_changes_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let alike = [100.0, 101.0, 102.0, 103.0, 104.0];
    let five = |name: &str, p50: [f64; 5], repeats: &[Metric]| {
        let trials = repeated(5, |repetition| {
            let at = repetition as usize;
            let repeated = repeats
                .iter()
                .map(|metric| match metric.name == device::LATENCY.read.p50.name {
                    true => Value::measured(*metric, p50[at]),
                    false => Value::measured(*metric, alike[at]),
                });
            let own = [
                Value::measured(device::LATENCY.both.p50, p50[at]),
                Value::measured(device::CPU_PER_OPERATION, alike[at]),
            ];
            let values: Vec<Value> = own.into_iter().chain(repeated).collect();
            trial(32, repetition, &values)
        });
        run_of(folder.path(), name, &trials)
    };
    let verdict = |lowest: f64, repeats: &[Metric]| {
        let base = five(&format!("a{lowest}{}", repeats.len()), alike, repeats);
        let slower = [lowest, 110.0, 111.0, 112.0, 113.0];
        let candidate = five(&format!("b{lowest}{}", repeats.len()), slower, repeats);
        let options = CompareOptions {
            drift: 0.0,
            ..CompareOptions::default()
        };
        let comparison = compare_with(&base, &candidate, &options).unwrap();
        let counted = comparison.rows.iter().filter(|row| row.is_repeated);
        assert_eq!(counted.count(), repeats.len());
        row(&comparison, device::LATENCY.both.p50.name).verdict.clone()
    };
    // A p-value of 0.016 is a discovery among two rows. Counted among five, of which the others are alike, it would be none.
    let of_equals = [
        device::IOPS.read,
        device::LATENCY.read.p99,
        device::LATENCY.read.p99_9,
    ];
    assert_eq!(verdict(103.5, &[]), Verdict::Worse);
    assert_eq!(verdict(103.5, &of_equals), Verdict::Worse);
    // One of 0.032 is none among two. Counted twice, it would be one among three.
    let chance = Verdict::Undecided(Undecided::Chance);
    assert_eq!(verdict(102.5, &[]), chance);
    assert_eq!(verdict(102.5, &[device::LATENCY.read.p50]), chance);
}
