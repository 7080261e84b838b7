//! Conditions on figures for which trials have too few operations, and what makes trials longer.

use outcrop_measure::metric::Provenance;
use outcrop_results::{FailIf, TrialEntry, Value, compare};
use outcrop_schema::{cache, filesystem};

use crate::conditions::check;
use crate::samples::{IOPS, LATENCY_P99, run_of, trial};

#[test]
fn a_gate_on_a_percentile_of_too_few_operations_names_the_duration_but_not_of_imported_results() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, provenance: Provenance| {
        let trials: Vec<_> = (0..5)
            .map(|repetition| {
                let p99 =
                    Value::unavailable(LATENCY_P99, "too few operations (47 of at least 1000) for a p99");
                let mut iops = Value::measured(IOPS, 1e5);
                iops.provenance = provenance;
                trial(32, repetition, &[iops, p99])
            })
            .collect();
        run_of(folder.path(), name, &trials)
    };
    let (ours, imported) = (
        side("ours", Provenance::Measured),
        side("imported", Provenance::Imported),
    );
    for condition in ["p99 > +5%", "p99 > 1ms"] {
        let said = check(condition, &compare(&ours, &ours)).unwrap_err().to_string();
        assert!(said.contains("longer trials have more (--duration)"), "{said}");
        let said = check(condition, &compare(&imported, &imported))
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("too few operations") && !said.contains("--duration"),
            "{said}"
        );
    }
}

#[test]
fn what_makes_a_trial_longer_that_ends_with_its_requests_or_data_is_no_duration() {
    let folder = tempfile::tempdir().unwrap();
    for (layer, p99, name, value, by) in [
        (
            &cache::SCHEMA,
            cache::LATENCY.p99,
            "requests",
            "400",
            "`requests`",
        ),
        (
            &cache::SCHEMA,
            cache::LATENCY.p99,
            "requests",
            "unlimited",
            "--duration",
        ),
        (
            &filesystem::SCHEMA,
            filesystem::LATENCY.p99,
            "operation",
            "write",
            "`sample_size`",
        ),
        (
            &filesystem::SCHEMA,
            filesystem::LATENCY.p99,
            "operation",
            "random-read",
            "--duration",
        ),
    ] {
        let trials: Vec<_> = (0..5)
            .map(|repetition| TrialEntry {
                layer: layer.name.to_owned(),
                factors: [(name.to_owned(), value.to_owned())].into(),
                ..trial(
                    1,
                    repetition,
                    &[Value::unavailable(
                        p99,
                        "too few operations (400 of at least 1000) for a p99",
                    )],
                )
            })
            .collect();
        let run = run_of(folder.path(), &format!("{}-{value}", layer.name), &trials);
        let limit = format!("{} > 1s", p99.name).parse().unwrap();
        let said = FailIf::check_run_each(&[limit], &run)
            .remove(0)
            .unwrap_err()
            .to_string();
        assert!(
            said.ends_with(&format!("longer trials have more ({by})")),
            "{said}"
        );
    }
}
