//! What a comparison says of values that are no repetitions, of metrics by their direction, and of several subjects.

use std::collections::BTreeMap;
use std::path::Path;

use outcrop_results::references::parse;
use outcrop_results::{
    CompareOptions, Comparison, FailIf, FailIfReport, ResultsError, RunView, Side, TrialEntry, Undecided,
    Value, Verdict, compare, compare_with,
};
use outcrop_schema::{cache, compression, device, filesystem};

use crate::comparisons::{repeated, row};
use crate::samples::{IOPS, check_all, factors, run_of, trial, usual};

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
fn a_published_hit_ratio_is_compared_only_where_its_memory_and_its_keys_are_known_and_what_it_divides_by() {
    let folder = tempfile::tempdir().unwrap();
    let trials = repeated(8, |repetition| TrialEntry {
        layer: "cache".to_owned(),
        factors: factors(&[("memory", "64MiB"), ("keys", "1000"), ("workload", "etc")]),
        ..trial(
            1,
            repetition,
            &[Value::measured(
                cache::HIT_RATIO,
                0.8 + 1e-4 * f64::from(repetition),
            )],
        )
    });
    let run = run_of(folder.path(), "run", &trials);
    let said = |columns: &str, stated: &str, metric: &str, assumed: &[(&str, &str)]| {
        let text = format!(
            "layer,subject,workload,{columns},metric,unit,value,source\ncache,a,etc,{stated},{metric},ratio,0.6,b\n"
        );
        let assumed = assumed
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let options = CompareOptions {
            assumed: assumed.collect(),
            ..CompareOptions::default()
        };
        let published = parse("paper", "a paper", &[], text.as_bytes()).unwrap();
        let comparison = compare_with(&published, &run, &options).unwrap();
        match &comparison
            .rows
            .iter()
            .find(|row| row.metric == metric)
            .unwrap()
            .verdict
        {
            Verdict::NotComparable(reasons) => reasons
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; "),
            verdict => format!("{verdict:?}"),
        }
    };
    let lacks = |what: &str| {
        format!("the baseline does not state its {what}; if you know it, give --assume {what}=VALUE")
    };
    assert_eq!(
        said("memory,keys", ",", "hit_ratio", &[]),
        format!("{}; {}", lacks("memory"), lacks("keys"))
    );
    assert_eq!(said("memory,keys", ",1000", "hit_ratio", &[]), lacks("memory"));
    assert_eq!(said("memory,keys", "64MiB,1000", "hit_ratio", &[]), "Better");
    assert_eq!(
        said(
            "memory,keys",
            ",",
            "hit_ratio",
            &[("memory", "64MiB"), ("keys", "1000")]
        ),
        "Better"
    );
    assert_eq!(
        said("memory,keys", "64MiB,1000", "hit_ratio_as_published", &[]),
        "the publication does not say what hit_ratio_as_published covers"
    );
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

/// Two runs of six trials at each depth, with these values by side, depth and repetition.
fn two_runs(depths: &[u32], values: impl Fn(Side, u32, u32) -> Vec<Value>) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, side: Side| {
        let trials = depths.iter().flat_map(|depth| {
            repeated(6, |repetition| {
                trial(*depth, repetition, &values(side, *depth, repetition))
            })
        });
        run_of(folder.path(), name, &trials.collect::<Vec<_>>())
    };
    compare(&of("a", Side::Baseline), &of("b", Side::Candidate))
}

fn checked<'a>(condition: &str, comparison: &'a Comparison) -> Result<FailIfReport<'a>, ResultsError> {
    check_all(&[condition.parse().unwrap()], comparison).map(|mut reports| reports.remove(0))
}

#[test]
fn a_trial_that_stalled_leaves_its_row_undecided_and_a_gate_with_no_other_row_cannot_be_checked() {
    let of = |depths: &[u32]| {
        two_runs(depths, |side, depth, repetition| {
            let is_stalled = side == Side::Candidate && depth == 1 && repetition == 2;
            usual(if is_stalled { 0.0 } else { 1e5 }, 4e5)
        })
    };
    let alone = of(&[1]);
    let iops = row(&alone, "iops");
    assert_eq!(iops.verdict, Verdict::Undecided(Undecided::NoRatio));
    assert!(iops.why()[0].contains("if the trial stalled"), "{:?}", iops.why());
    let error = checked("iops < -20%", &alone).unwrap_err();
    assert!(
        matches!(error, ResultsError::NothingToCheck { .. }) && error.to_string().contains("stalled"),
        "{error}"
    );
    let beside_another = of(&[1, 8]);
    let report = checked("iops < -20%", &beside_another).unwrap();
    assert_eq!((report.checked, report.met()), (2, 0));
    assert_eq!(report.without_ratio.values().sum::<usize>(), 1);
}

/// Errors of the candidate alone, in one cell, beside one that has as many on both sides.
#[test]
fn a_count_that_rises_from_0_passes_no_gate_silently_and_no_stall_is_said_to_be_why() {
    let of = |depths: &[u32], rare: f64| {
        two_runs(depths, |side, depth, repetition| {
            let count = match (depth, side) {
                (1, Side::Candidate) => 1000.0,
                (1, Side::Baseline) if repetition < 4 => rare,
                (1, Side::Baseline) => 0.0,
                _ => 50.0 + f64::from(repetition),
            };
            vec![Value::measured(device::ERRORS, count)]
        })
    };
    for (rare, why) in [
        (0.0, "the median of the baseline is 0"),
        (1.0, "a trial has the value 0"),
    ] {
        let alone = of(&[1], rare);
        let error = checked("errors > +5%", &alone).unwrap_err();
        assert!(matches!(error, ResultsError::NothingToCheck { .. }), "{error}");
        let told = error.to_string();
        assert!(told.contains(why) && !told.contains("stall"), "{told}");
        assert_eq!(
            checked("errors > 0", &alone).unwrap().met(),
            1,
            "a limit needs no ratio"
        );

        let beside_another = of(&[1, 8], rare);
        let report = checked("errors > +5%", &beside_another).unwrap();
        assert_eq!((report.checked, report.met(), report.unchecked), (2, 0, 0));
        let told: Vec<_> = report.without_ratio.iter().collect();
        let [(told, 1)] = told[..] else {
            panic!("{told:?}");
        };
        assert!(
            told.contains(why) && told.contains("a limit on the figure itself") && !told.contains("stall"),
            "{told}"
        );
    }
}

#[test]
fn a_space_in_which_others_have_a_part_is_one_of_the_trials_and_not_exact() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, ratios: [f64; 5]| {
        let trials = repeated(5, |repetition| TrialEntry {
            layer: filesystem::SCHEMA.name.to_owned(),
            factors: BTreeMap::new(),
            ..trial(
                1,
                repetition,
                &[Value::measured(
                    filesystem::SPACE_RATIO,
                    ratios[repetition as usize],
                )],
            )
        });
        run_of(folder.path(), name, &trials)
    };
    let alone = of("alone", [1.0; 5]);
    let shared = of("shared", [0.98985, 0.99009, 0.99057, 0.99081, 1.0]);
    let half = of("half", [0.5; 5]);
    for (a, b) in [(&alone, &shared), (&shared, &alone)] {
        let comparison = compare(a, b);
        let row = row(&comparison, filesystem::SPACE_RATIO.name);
        assert_eq!(row.verdict, Verdict::Same);
        assert!(row.interval.is_some_and(|interval| interval.n == 5));
    }
    let condition: FailIf = "space_ratio < -0.1%".parse().unwrap();
    let met = |candidate: &RunView| {
        let comparison = compare(&alone, candidate);
        check_all(std::slice::from_ref(&condition), &comparison).unwrap()[0].met()
    };
    assert_eq!((met(&shared), met(&half)), (0, 1));
    // What is the same in every trial is exact.
    let comparison = compare(&alone, &half);
    let row = row(&comparison, filesystem::SPACE_RATIO.name);
    assert_eq!((&row.verdict, row.interval), (&Verdict::Worse, None));
}

/// Reads write nothing on either side, and no measurement can make that a rise.
#[test]
fn what_is_0_on_both_sides_is_checked_and_meets_nothing_and_neither_can_0_fall() {
    let of = |depths: &[u32]| {
        two_runs(depths, |side, depth, repetition| {
            let count = match (depth, side) {
                // Rare, so that the median is 0.
                (64, Side::Candidate) if repetition > 3 => 900.0,
                (1 | 64, _) | (8, Side::Baseline) | (16, Side::Candidate) => 0.0,
                _ => 50.0 + f64::from(repetition),
            };
            vec![Value::measured(device::ERRORS, count)]
        })
    };
    let counts = |comparison: &Comparison, condition: &str| {
        let report = checked(condition, comparison).unwrap();
        let open = report.without_ratio.values().sum::<usize>();
        (report.checked, report.met(), open, report.unchecked)
    };
    let comparison = of(&[1, 8, 16, 32]);
    assert_eq!(counts(&comparison, "errors > +100%"), (4, 0, 1, 0));
    let falls = of(&[1, 8, 32]);
    assert_eq!(counts(&falls, "errors < -50%"), (3, 0, 0, 0));
    // Nothing but these is nothing that was not checked.
    assert_eq!(counts(&of(&[1]), "errors > +100%"), (1, 0, 0, 0));
    // Some of the trials had errors: a rise is not excluded.
    assert_eq!(counts(&of(&[32, 64]), "errors > +100%"), (1, 0, 0, 1));
}
