//! Conditions on figures that cells lack.

use outcrop_measure::metric::Provenance;
use outcrop_results::{Value, compare};

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
fn a_cell_that_lost_its_percentile_by_becoming_slower_is_counted_apart_from_one_that_never_had_it() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, has_p99: [bool; 3]| {
        let depths = [1, 8, 32].into_iter().zip(has_p99);
        let of_depth = |(depth, has_p99): (u32, bool)| {
            (0..5).map(move |repetition| {
                let p99 = match has_p99 {
                    true => Value::measured(LATENCY_P99, 1e6),
                    false => {
                        Value::unavailable(LATENCY_P99, "too few operations (47 of at least 1000) for a p99")
                    }
                };
                trial(depth, repetition, &[Value::measured(IOPS, 1e5), p99])
            })
        };
        let trials: Vec<_> = depths.flat_map(of_depth).collect();
        run_of(folder.path(), name, &trials)
    };
    let before = side("before", [true, true, false]);
    let after = side("after", [false, true, false]);
    let comparison = compare(&before, &after);
    let report = check("p99 > +5%", &comparison).unwrap();
    assert_eq!(
        (report.checked, report.unchecked, report.lost),
        (1, 2, 1),
        "{report:?}"
    );
    let back = compare(&after, &before);
    assert_eq!(
        check("p99 > +5%", &back).unwrap().lost,
        0,
        "a figure that only the candidate has is not lost"
    );
}
