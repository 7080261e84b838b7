//! Runs of another program beside ours: what they define differently, and what helps where they do not suffice.

use outcrop_measure::metric::Provenance;
use outcrop_results::{FailIf, LoadMeasure, RunView, Side, Undecided, Value, Verdict, compare};
use outcrop_schema::device::{self, BANDWIDTH, FOREIGN_BYTES_RATIO};

use crate::comparisons::{row, run};
use crate::samples::{check_all, run_of};

#[test]
fn latencies_that_only_one_side_counts_from_the_end_of_the_submission_are_named_with_the_lower_side() {
    let folder = tempfile::tempdir().unwrap();
    let ours = run(folder.path(), "ours", &[1, 32], 1e5, 4e5);
    let mut trials = ours.trials.clone();
    for trial in &mut trials {
        let remark = device::PERCENTILES_FROM_SUBMISSION_END.remark("percentiles are of clat");
        trial.notes.push(remark);
    }
    let theirs = run_of(folder.path(), "theirs", &trials);
    for (baseline, candidate, lower) in [
        (&ours, &theirs, Side::Candidate),
        (&theirs, &ours, Side::Baseline),
    ] {
        let found = compare(baseline, candidate).latency_differences;
        let [difference] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(difference.lower, lower);
        assert_eq!(
            difference.metrics.iter().collect::<Vec<_>>(),
            ["latency_p99"],
            "nothing else of these runs is one"
        );
        let said = format!("of the {} are lower by definition", lower.name());
        assert!(difference.note.contains(&said), "{}", difference.note);
    }
    for alike in [&ours, &theirs] {
        assert_eq!(compare(alike, alike).latency_differences, []);
    }
}

#[test]
fn a_side_that_leaves_the_submission_out_is_not_called_better_for_that_and_worse_where_it_is_worse_in_spite_of_it()
 {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, p99_ns: f64, is_lower: bool| {
        let mut trials = run(folder.path(), name, &[32], 1e5, p99_ns).trials;
        let remark = || device::PERCENTILES_FROM_SUBMISSION_END.remark("percentiles are of clat");
        for trial in trials.iter_mut().filter(|_| is_lower) {
            trial.notes.push(remark());
        }
        run_of(folder.path(), &format!("{name}-entered"), &trials)
    };
    let (ours, low, high) = (
        of("ours", 4e5, false),
        of("low", 2e5, true),
        of("high", 8e5, true),
    );
    let gates: [FailIf; 2] = ["p99 > +5%", "p99 < -5%"].map(|gate| gate.parse().unwrap());
    let found = |baseline: &RunView, candidate: &RunView| {
        let comparison = compare(baseline, candidate);
        let reports = check_all(&gates, &comparison).unwrap();
        let met: usize = reports.iter().map(|report| report.offending.len()).sum();
        let by_definition: usize = reports.iter().map(|report| report.by_definition).sum();
        (
            row(&comparison, "latency_p99").verdict.clone(),
            met,
            by_definition,
        )
    };
    // A limit that it keeps may be exceeded all the same.
    for (limit, side, kept) in [
        ("p99 > 1ms", &low, 1),
        ("p99 > 1ms", &ours, 0),
        ("p99 > 1us", &low, 0),
    ] {
        let limit: [FailIf; 1] = [limit.parse().unwrap()];
        let comparison = compare(&ours, side);
        let reports = check_all(&limit, &comparison).unwrap();
        assert_eq!(reports[0].from_submission_end, kept, "{limit:?}");
    }
    // Neither a rise nor a fall is known.
    let explained = (Verdict::Undecided(Undecided::Definition), 0, 2);
    assert_eq!(found(&ours, &low), explained);
    assert_eq!(found(&low, &ours), explained);
    let alike = of("alike", 4e5, true);
    assert_eq!(
        found(&ours, &alike).0,
        explained.0,
        "what is lower by definition and as high is not the same"
    );
    assert_eq!(found(&ours, &high), (Verdict::Worse, 1, 0));
    // Where only some trials of a side leave it out, it is between the two.
    let mut some = run(folder.path(), "some", &[32], 1e5, 4e5).trials;
    for trial in &mut some[..2] {
        let remark = device::PERCENTILES_FROM_SUBMISSION_END.remark("percentiles are of clat");
        trial.notes.push(remark);
    }
    let some = run_of(folder.path(), "some-entered", &some);
    assert_eq!(found(&low, &some), explained);
    assert_eq!(found(&some, &low), explained);
    assert_eq!(found(&some, &high), (Verdict::Worse, 1, 0));
    assert_eq!(found(&high, &ours), (Verdict::Better, 1, 0));
}

/// Sides that lack repetitions, imported or not: what helps a run of ours does not help an import.
#[test]
fn imported_results_that_are_too_few_ask_for_more_results_and_name_no_option_that_import_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let ours = run(folder.path(), "ours", &[32], 1e5, 4e5);
    let few = |name: &str, provenance: Provenance| {
        let mut trials = ours.trials[..2].to_vec();
        let values = trials.iter_mut().flat_map(|trial| &mut trial.values);
        values.for_each(|value| value.provenance = provenance);
        run_of(folder.path(), name, &trials)
    };
    let imported = few("imported", Provenance::Imported);
    let measured = few("measured", Provenance::Measured);
    let why = |a: &RunView, b: &RunView| row(&compare(a, b), "iops").why().join("; ");
    let jobs = "run each job 5 times or more and import all of its result files together";
    assert_eq!(
        why(&ours, &imported),
        format!("fewer than 5 repetitions on a side; {jobs}")
    );
    assert_eq!(
        why(&ours, &measured),
        "fewer than 5 repetitions on a side; measure with --repetitions 5 or more"
    );
    let both = why(&measured, &imported);
    assert!(both.contains("--repetitions 5") && both.contains(jobs), "{both}");
}

/// The same as the results of another program, which have no record of what else the machine did.
fn as_imported(run: &RunView) -> RunView {
    let mut trials = run.trials.clone();
    for trial in &mut trials {
        trial.others_cpu_share = None;
        trial
            .values
            .retain(|value| value.metric != FOREIGN_BYTES_RATIO.name);
        for value in &mut trial.values {
            value.provenance = Provenance::Imported;
        }
    }
    RunView {
        trials,
        environment: serde_json::Value::Null,
        ..run.clone()
    }
}

#[test]
fn a_side_without_a_record_of_its_load_counts_as_idle_beside_one_that_was_busy() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, iops: f64, others: f64, of_others: f64| {
        let mut trials = run(folder.path(), name, &[32], iops, 4e5).trials;
        for trial in &mut trials {
            trial.others_cpu_share = Some(others);
            let speed = iops * 4096.0;
            trial.values.push(Value::measured(BANDWIDTH.both, speed));
            trial.values.push(Value::measured(FOREIGN_BYTES_RATIO, of_others));
        }
        run_of(folder.path(), &format!("{name}-entered"), &trials)
    };
    let theirs = as_imported(&of("theirs", 2e5, 0.0, 0.0));
    let gate: [FailIf; 1] = ["iops < -10%".parse().unwrap()];
    let verdict = |baseline: &RunView, candidate: &RunView| {
        let comparison = compare(baseline, candidate);
        let met = check_all(&gate, &comparison).unwrap()[0].met();
        let load = comparison.loads.first();
        let figures = load.map(|load| (load.busier, load.measure, load.baseline, load.candidate));
        (row(&comparison, "iops").verdict.clone(), met, figures)
    };
    let undecided = || Verdict::Undecided(Undecided::Load);
    for (name, others, of_others, measure, figure) in [
        ("cpus", 0.6, 0.0, LoadMeasure::OthersCpuShare, 0.6),
        ("storage", 0.02, 114.0, LoadMeasure::DeviceBytesOfOthers, 114.0),
    ] {
        let busy = of(name, 1e4, others, of_others);
        let as_candidate = (
            undecided(),
            0,
            Some((Side::Candidate, measure, None, Some(figure))),
        );
        assert_eq!(verdict(&theirs, &busy), as_candidate, "{name}");
        let as_baseline = (
            undecided(),
            0,
            Some((Side::Baseline, measure, Some(figure), None)),
        );
        assert_eq!(verdict(&busy, &theirs), as_baseline, "{name}");
    }
    let calm = of("calm", 1e4, 0.02, 0.03);
    assert_eq!(verdict(&theirs, &calm), (Verdict::Worse, 1, None));
    // Of two sides without a record, nothing is known.
    let slower = as_imported(&calm);
    assert_eq!(verdict(&theirs, &slower), (Verdict::Worse, 1, None));
}
