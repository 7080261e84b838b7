//! Comparing runs and references: ratios where they mean something, every reason where they do not.

use std::path::Path;

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_results::compare::Whose;
use outcrop_results::references::parse;
use outcrop_results::{
    Comparison, ComparisonRow, NotComparable, Outcome, Reference, RunView, Side, TrialEntry, Undecided,
    Value, Verdict, compare, references,
};
use outcrop_schema::device;
use serde_json::json;

use crate::samples::{ENERGY, IOPS, run_of, trial, usual};

pub(crate) fn repeated(count: u32, make: impl Fn(u32) -> TrialEntry) -> Vec<TrialEntry> {
    (0..count).map(make).collect()
}

pub(crate) fn run(parent: &Path, name: &str, depths: &[u32], iops: f64, p99_ns: f64) -> RunView {
    let trials: Vec<_> = depths
        .iter()
        .flat_map(|depth| {
            repeated(5, |repetition| {
                let wobble = 1.0 + 0.002 * f64::from(repetition);
                trial(*depth, repetition, &usual(iops * wobble, p99_ns * wobble))
            })
        })
        .collect();
    run_of(parent, name, &trials)
}

pub(crate) fn row<'a>(comparison: &'a Comparison, metric: &str) -> &'a ComparisonRow {
    comparison.rows.iter().find(|row| row.metric == metric).unwrap()
}

fn reasons(row: &ComparisonRow) -> Vec<String> {
    match &row.verdict {
        Verdict::NotComparable(reasons) => reasons.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

/// What changes in the candidate's trials, and the reasons that must come of it.
fn reasons_when(change: impl Fn(&mut TrialEntry)) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a", &[32], 1e5, 4e5);
    let mut trials = a.trials.clone();
    trials.iter_mut().for_each(change);
    let b = run_of(folder.path(), "b", &trials);
    reasons(row(&compare(&a, &b), "iops"))
}

fn reference(condition: &str, metric: &str, unit: &str, value: f64) -> Reference {
    let csv = format!(
        "subject,sku,access_pattern,read_write_mix,io_block_size_kib,queue_depth,span,state,metric,unit,value,source\n\
         Drive,1 TB,random,100:0,4,{condition},{metric},{unit},{value},me\n"
    );
    parse("drive", "a drive", &[], csv.as_bytes()).unwrap()
}

#[test]
fn a_run_against_itself_is_the_same_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a", &[1, 32], 1e5, 4e5);
    let comparison = compare(&a, &a);
    assert_eq!((comparison.rows.len(), comparison.unmatched.len()), (6, 0));
    for row in comparison.rows.iter().filter(|row| row.metric != ENERGY.name) {
        assert_eq!(
            (row.ratio, &row.verdict),
            (Some(1.0), &Verdict::Same),
            "{}",
            row.metric
        );
        assert!(row.interval.unwrap().contains(1.0));
    }
    assert!(comparison.environment_differences.is_empty() && !comparison.is_different_machine);
}

#[test]
fn more_iops_are_better_and_more_latency_is_worse() {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a", &[32], 1e5, 4e5);
    let b = run(folder.path(), "b", &[32], 1.2e5, 5e5);
    let forward = compare(&a, &b);
    assert_eq!(row(&forward, "iops").verdict, Verdict::Better);
    assert_eq!(row(&forward, "latency_p99").verdict, Verdict::Worse);
    assert!((row(&forward, "iops").ratio.unwrap() - 1.2).abs() < 1e-9);
    assert_eq!(row(&compare(&b, &a), "latency_p99").verdict, Verdict::Better);
    assert_eq!(
        forward,
        compare(&a, &b),
        "the same input gives the same intervals"
    );
}

#[test]
fn a_metric_without_a_good_direction_is_different_and_neither_better_nor_worse() {
    let folder = tempfile::tempdir().unwrap();
    let metric = device::DEVICE_BYTES_RATIO;
    let side = |name: &str, value: f64| {
        run_of(
            folder.path(),
            name,
            &repeated(5, |i| trial(1, i, &[Value::measured(metric, value)])),
        )
    };
    assert_eq!(
        compare(&side("a", 1.0), &side("b", 2.0)).rows[0].verdict,
        Verdict::Different
    );
}

#[test]
fn a_single_repetition_gives_a_ratio_and_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a", &[32], 1e5, 4e5);
    let b = run_of(folder.path(), "b", &[trial(32, 0, &usual(2e5, 4e5))]);
    let comparison = compare(&a, &b);
    let iops = row(&comparison, "iops");
    assert_eq!(
        (&iops.verdict, iops.interval),
        (&Verdict::Undecided(Undecided::FewRepetitions), None)
    );
    assert!(iops.ratio.unwrap() > 1.9);
}

#[test]
fn cells_that_failed_are_named_once_with_their_sides_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, broken: &[u32]| {
        let mut trials = run(folder.path(), &format!("{name}-whole"), &[1, 8, 32], 1e5, 4e5).trials;
        for trial in &mut trials {
            let depth = &trial.factors["queue_depth"];
            if broken.iter().any(|one| *depth == one.to_string()) {
                let message = "the device hangs".to_owned();
                trial.outcome = Outcome::Failed { message };
                trial.values.clear();
            }
        }
        run_of(folder.path(), name, &trials)
    };
    let comparison = compare(&side("a", &[8, 32]), &side("b", &[32]));
    let failed: Vec<_> = comparison
        .failed
        .iter()
        .map(|cell| {
            (
                cell.factors["queue_depth"].as_str(),
                cell.sides.iter().copied().collect::<Vec<_>>(),
            )
        })
        .collect();
    let (a, b) = (Side::Baseline, Side::Candidate);
    assert_eq!(failed, [("32", vec![a, b]), ("8", vec![a])]);
    assert_eq!(comparison.failed[0].message, "the device hangs");
}

#[test]
fn a_cell_of_one_side_only_is_listed_with_its_side() {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a", &[1, 32], 1e5, 4e5);
    let b = run(folder.path(), "b", &[32, 64], 1e5, 4e5);
    let comparison = compare(&a, &b);
    let seen: Vec<_> = comparison
        .unmatched
        .iter()
        .map(|c| (c.side, c.factors["queue_depth"].as_str()))
        .collect();
    assert_eq!(seen, [(Side::Baseline, "1"), (Side::Candidate, "64")]);
    assert!(
        comparison
            .rows
            .iter()
            .all(|row| row.factors["queue_depth"] == "32")
    );
}

#[test]
fn spellings_of_one_cell_meet() {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a", &[32], 1e5, 4e5);
    let mut trials = a.trials.clone();
    for trial in &mut trials {
        trial
            .factors
            .insert("io_block_size".to_owned(), "4096".to_owned());
    }
    assert_eq!(
        row(&compare(&a, &run_of(folder.path(), "b", &trials)), "iops").verdict,
        Verdict::Same
    );
}

#[test]
fn conditions_that_differ_between_runs_are_the_reason() {
    let set = |name: &'static str, value: &'static str| {
        move |trial: &mut TrialEntry| {
            trial.factors.insert(name.to_owned(), value.to_owned());
        }
    };
    assert_eq!(
        reasons_when(|trial| trial.subject = "scratch-file 16GiB".to_owned()),
        ["span differs: 2GiB in the baseline, 16GiB in the candidate"]
    );
    assert_eq!(
        reasons_when(|trial| trial.subject = "/dev/nvme1n1".to_owned()),
        ["the candidate does not state its span"]
    );
    assert_eq!(
        reasons_when(set("arrival", "poisson:1000")),
        ["arrival differs: closed in the baseline, poisson:1k/s in the candidate"]
    );
    assert_eq!(
        reasons_when(set("state", "preconditioned")),
        ["state differs: as found in the baseline, preconditioned in the candidate"]
    );
}

#[test]
fn values_that_cannot_be_divided_are_the_reason() {
    let provenance = |trial: &mut TrialEntry| trial.values[0].provenance = Provenance::Modelled;
    assert_eq!(
        reasons_when(provenance),
        ["the candidate is modelled and the other side is not"]
    );
    let unit = |trial: &mut TrialEntry| trial.values[0].unit = Unit::Count;
    assert_eq!(
        reasons_when(unit),
        ["the baseline is in 1/s, the candidate in count"]
    );
    let zero = |trial: &mut TrialEntry| trial.values[0].value = Some(0.0);
    assert_eq!(
        reasons_when(zero),
        ["the median of the candidate is 0, so there is no ratio"]
    );
    let absent = |trial: &mut TrialEntry| {
        trial.values[0] = Value::unavailable(IOPS, "counters are gone");
    };
    assert_eq!(
        reasons_when(absent),
        ["unavailable in the candidate: counters are gone"]
    );
    let missing = |trial: &mut TrialEntry| drop(trial.values.remove(0));
    assert_eq!(reasons_when(missing), ["the candidate does not have iops"]);
}

#[test]
fn open_loop_cells_pair_among_themselves_and_are_not_held_beside_closed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut trials = repeated(5, |i| trial(32, i, &usual(1e5, 4e5)));
    let open = trials.clone().into_iter().map(|mut trial| {
        trial.cell = "open".to_owned();
        trial
            .factors
            .insert("arrival".to_owned(), "constant:1000".to_owned());
        trial
    });
    trials.extend(open.collect::<Vec<_>>());
    let run = run_of(folder.path(), "both", &trials);
    let closed_only = run_of(folder.path(), "closed", &trials[..5]);
    let left = compare(&run, &closed_only).unmatched;
    assert_eq!(
        (left.len(), left[0].factors["arrival"].as_str()),
        (1, "constant:1k/s"),
        "it does not vanish"
    );
    let comparison = compare(&run, &run);
    assert_eq!((comparison.rows.len(), comparison.unmatched.len()), (6, 0));
    assert!(
        comparison
            .rows
            .iter()
            .filter(|row| row.metric == "iops")
            .all(|row| row.verdict == Verdict::Same)
    );
}

#[test]
fn a_reference_that_states_every_condition_is_compared_as_a_constant() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path(), "a", &[1, 32], 1e5, 4e5);
    let comparison = compare(&reference("32,2 GiB,as found", "iops", "IOPS", 5e4), &run);
    let iops = row(&comparison, "iops");
    assert_eq!(comparison.rows.len(), 1, "the reference names the metrics");
    // Five signs on one side: chance makes them in one of sixteen cases, however few rows there are.
    assert_eq!(iops.verdict, Verdict::Undecided(Undecided::FewBesidePublished));
    assert_eq!(iops.interval.unwrap().confidence, 0.9375);
    assert!(iops.interval.unwrap().low > 1.99);
    assert_eq!(comparison.unmatched.len(), 1, "the run's other depth");
}

#[test]
fn a_value_that_a_publication_repeats_is_one_value_and_several_for_one_cell_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path(), "a", &[32], 1e5, 4e5);
    let stating = |values: &[f64]| {
        let one = |value: &f64| reference("32,2 GiB,as found", "iops", "IOPS", *value);
        let mut all: Vec<Reference> = values.iter().map(one).collect();
        let rows = all
            .iter_mut()
            .flat_map(|reference| std::mem::take(&mut reference.rows))
            .collect();
        let mut stated = all.remove(0);
        stated.rows = rows;
        row(&compare(&stated, &run), "iops").clone()
    };
    assert_eq!(stating(&[5e4; 3]).verdict, stating(&[5e4]).verdict);
    let several = stating(&[5e4, 7e4, 5e4]).why().join("; ");
    assert!(
        several.contains("the publication gives several values for it (50000, 70000)"),
        "{several}"
    );
}

#[test]
fn a_reference_is_not_comparable_for_every_condition_that_differs_or_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path(), "a", &[32], 1e5, 4e5);
    let against = |condition: &str, metric: &str, unit: &str| {
        let comparison = compare(&run, &reference(condition, metric, unit, 5e4));
        reasons(row(&comparison, metric))
    };
    assert_eq!(
        against("32,full,steady (datasheet)", "iops", "1/s"),
        [
            "span differs: 2GiB in the baseline, full in the candidate",
            "state differs: as found in the baseline, steady (datasheet) in the candidate"
        ]
    );
    assert_eq!(
        against("32,,", "iops", "1/s"),
        [
            "the candidate does not state its span; if you know it, give --assume span=VALUE",
            "the candidate does not state its state; if you know it, give --assume state=VALUE"
        ]
    );
    assert_eq!(
        against(",full,burst", "iops", "1/s"),
        ["the candidate does not state its queue depth; if you know it, give --assume queue_depth=VALUE"]
    );
    assert_eq!(
        against("32,2GiB,as found", "latency_mean_as_published", "us"),
        ["the publication does not say what latency_mean_as_published covers"]
    );
    assert_eq!(
        against("32,2GiB,as found", "endurance", "count"),
        ["the baseline does not have endurance"]
    );
}

#[test]
fn the_boast_of_the_shipped_references_is_not_comparable() {
    // A 512 MB cached burst at a known depth, against a full-span steady state at an unknown one.
    let matrix = references::load("toshiba-kxg60znv256g-fio").unwrap();
    let claims = references::load("datasheets").unwrap();
    let comparison = compare(&claims, &matrix);
    assert!(!comparison.rows.is_empty());
    for row in &comparison.rows {
        assert!(
            matches!(&row.verdict, Verdict::NotComparable(reasons) if !reasons.is_empty()),
            "{row:?}"
        );
    }
    let intel = comparison
        .rows
        .iter()
        .find(|row| row.baseline_subject.as_deref() == Some("Intel D7-P5500"))
        .unwrap();
    assert_eq!(
        intel.baseline.as_ref().unwrap().median,
        130_000.0,
        "the figure is shown all the same"
    );
    let expected = NotComparable::ConditionNotStated {
        condition: "queue_depth".to_owned(),
        side: Side::Baseline,
        whose: Whose::Publication,
    };
    assert_eq!(intel.verdict, Verdict::NotComparable(vec![expected]));
}

#[test]
fn environment_differences_leave_out_what_always_changes_and_flag_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut a = run(folder.path(), "a", &[1], 1e5, 4e5);
    let mut b = a.clone();
    a.environment = json!({
        "read_at": "1", "load": {"average": [1, 2, 3]}, "memory": {"available_bytes": 5, "total_bytes": 9},
        "cpu": {"model": "A", "caches": [{"level": 1}]}, "kernel": {"release": "6.1"},
    });
    b.environment = json!({
        "read_at": "2", "load": {"average": [4, 5, 6]}, "memory": {"available_bytes": 6, "total_bytes": 9},
        "cpu": {"model": "A", "caches": [{"level": 1}]}, "kernel": {"release": "6.2"}, "storage": {"path": "/x"},
    });
    let comparison = compare(&a, &b);
    let seen: Vec<_> = comparison
        .environment_differences
        .iter()
        .map(|d| (d.path.as_str(), d.baseline.as_str(), d.candidate.as_str()))
        .collect();
    let one_sided = ("storage.path", "not recorded", "/x");
    assert_eq!(seen, [("kernel.release", "6.1", "6.2"), one_sided]);
    assert!(!comparison.is_different_machine);
    b.environment["cpu"]["model"] = json!("B");
    assert!(compare(&a, &b).is_different_machine);
    // An imported run states nothing of its machine, which makes it no other one.
    for nothing in [json!({}), json!({"imported": {"from": "fio-3.33", "files": 1}})] {
        b.environment = nothing;
        let comparison = compare(&a, &b);
        assert!(comparison.environment_differences.is_empty() && !comparison.is_different_machine);
    }
}
