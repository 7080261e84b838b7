//! Runs that are compared although something is not alike: several subjects, trials of other lengths, another load, fewer repetitions.

use outcrop_measure::metric::Provenance;
use outcrop_results::{
    FailIf, NotComparable, Outcome, RunView, TrialEntry, Undecided, Value, Verdict, compare,
};
use outcrop_schema::{device, filesystem};

use crate::comparisons::{repeated, row, run};
use crate::conditions::check;
use crate::samples::{check_all, run_of, trial, usual};

/// Seven trials of each of these subjects, with these rates.
fn of_subjects(name: &str, subjects: &[(&str, f64)]) -> RunView {
    let folder = tempfile::tempdir().unwrap();
    let trials = subjects.iter().flat_map(|(subject, iops)| {
        repeated(7, |repetition| {
            let wobble = 1.0 + 0.001 * f64::from(repetition);
            TrialEntry {
                subject: (*subject).to_owned(),
                cell: format!("of-{subject}"),
                ..trial(32, repetition, &usual(iops * wobble, 4e5))
            }
        })
    });
    run_of(folder.path(), name, &trials.collect::<Vec<_>>())
}

#[test]
fn cells_of_several_subjects_meet_those_of_their_own_and_are_no_pair_where_there_are_none() {
    let two = of_subjects("two", &[("/mnt/a/f", 1e4), ("/mnt/b/f", 3e4)]);
    let again = of_subjects("again", &[("/mnt/a/f", 1e4), ("/mnt/b/f", 3e4)]);
    let moved = of_subjects("moved", &[("/srv/x/f", 1e4), ("/srv/y/f", 3e4)]);
    let one = of_subjects("one", &[("/mnt/a/f", 1e4)]);
    let counts = |a: &RunView, b: &RunView| {
        let comparison = compare(a, b);
        let of_iops = comparison.comparable().filter(|row| row.metric == "iops");
        of_iops.count()
    };
    assert_eq!(counts(&two, &again), 2);
    assert_eq!(counts(&one, &moved), 2, "each candidate has one baseline");
    assert_eq!(counts(&two, &moved), 0);
    assert_eq!(counts(&moved, &one), 0, "which of the two was the one?");
    let comparison = compare(&two, &moved);
    assert!(comparison.unmatched.is_empty());
    let Verdict::NotComparable(reasons) = &row(&comparison, "iops").verdict else {
        panic!("{comparison:?}")
    };
    assert!(
        matches!(reasons[..], [NotComparable::SeveralSubjects { .. }]),
        "{reasons:?}"
    );
    let refused = check("iops < -5%", &comparison).unwrap_err().to_string();
    assert!(refused.contains("compare runs of one subject each"), "{refused}");
}

#[test]
fn a_maximum_of_longer_trials_with_more_operations_has_no_ratio_to_one_of_shorter_trials() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, duration_s: f64, iops: f64| {
        let trials = repeated(5, |repetition| {
            let mut values = usual(iops, 4e5);
            values.push(Value::measured(device::LATENCY.both.max, 1e6 * duration_s));
            TrialEntry {
                duration_s,
                ..trial(32, repetition, &values)
            }
        });
        run_of(folder.path(), name, &trials)
    };
    let short = side("short", 0.03, 1e5);
    let verdict = |candidate: &RunView| row(&compare(&short, candidate), "latency_max").verdict.clone();
    let long = compare(&short, &side("long", 1.5, 1e5));
    let refused = check("latency_max > +10%", &long).unwrap_err().to_string();
    assert!(
        refused.contains("30.0 ms in the baseline, 1.50 s in the candidate"),
        "{refused}"
    );
    assert!(!matches!(
        row(&long, "latency_p99").verdict,
        Verdict::NotComparable(_)
    ));
    let is_apart = |verdict: Verdict| matches!(verdict, Verdict::NotComparable(_));
    assert!(!is_apart(verdict(&side("again", 0.031, 1e5))));
    assert!(
        !is_apart(verdict(&side("same-work", 0.06, 5e4))),
        "the same work in twice the time"
    );
    assert!(
        !is_apart(verdict(&side("slower", 0.03, 5e4))),
        "less work in the same time"
    );
}

#[test]
fn what_is_the_same_beside_more_load_on_one_side_is_undecided_and_decides_no_gate() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, others: f64| {
        let trials = repeated(7, |repetition| TrialEntry {
            others_cpu_share: Some(others),
            ..trial(32, repetition, &usual(1e5, 4e5))
        });
        run_of(folder.path(), name, &trials)
    };
    let (busy, idle) = (side("busy", 0.7), side("idle", 0.02));
    for (a, b) in [(&busy, &idle), (&idle, &busy)] {
        let verdict = row(&compare(a, b), "iops").verdict.clone();
        assert_eq!(verdict, Verdict::Undecided(Undecided::Load));
    }
    let under_load = |a: &RunView, b: &RunView| {
        let comparison = compare(a, b);
        ["p99 > +5%", "iops < -3%", "iops > +5%"].map(|gate| check(gate, &comparison).unwrap().under_load)
    };
    assert_eq!(
        under_load(&busy, &idle),
        [1, 1, 0],
        "the idle candidate may be slower"
    );
    assert_eq!(
        under_load(&idle, &busy),
        [0, 0, 1],
        "the busy candidate may be faster"
    );
    assert_eq!(under_load(&idle, &idle), [0, 0, 0]);
}

#[test]
fn a_baseline_of_more_repetitions_than_the_gates_candidate_needs_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, repetitions: u32, slower: f64| {
        let trials: Vec<_> = (1..=10)
            .flat_map(|depth| {
                repeated(repetitions, move |repetition| {
                    let wobble = 1.0 + 0.001 * f64::from((repetition + depth) % repetitions);
                    let change = if depth == 1 { slower } else { 1.0 };
                    trial(depth, repetition, &usual(1e5, 4e5 * wobble * change))
                })
            })
            .collect();
        run_of(folder.path(), name, &trials)
    };
    let gate = |baseline: u32, slower: f64| {
        let (a, b) = (side("a", baseline, 1.0), side("b", 5, slower));
        let comparison = compare(&a, &b);
        std::fs::remove_dir_all(&a.dir).unwrap();
        std::fs::remove_dir_all(&b.dir).unwrap();
        let report = check("p99 > +5%", &comparison).unwrap();
        (report.met(), report.needed)
    };
    assert_eq!(gate(20, 1.3), (1, None));
    assert_eq!(gate(20, 1.0), (0, None));
    assert_eq!(gate(5, 1.0), (0, Some(6)));
}

/// A plan that asks for five trials of each of this many cells.
fn asking(run: RunView, cells: usize) -> RunView {
    let plan = format!(
        "[run]\n[[plan]]\nname = \"ssd-queue-depth\"\nlayer = \"device\"\ncells = {cells}\n[plan.trial]\nrepetitions = 5\n"
    );
    RunView { plan, ..run }
}

#[test]
fn a_cell_whose_only_trial_was_interrupted_is_one_that_the_run_did_not_come_to() {
    let folder = tempfile::tempdir().unwrap();
    let whole = asking(run(folder.path(), "whole", &[1, 8, 32], 1e5, 4e5), 3);
    let ended = |name: &str, outcome: Outcome| {
        let mut ended = whole.clone();
        ended.name = name.to_owned();
        ended.trials.retain(|trial| trial.cell != "depth-32");
        ended.trials.push(TrialEntry {
            outcome,
            ..trial(32, 0, &[])
        });
        ended
    };
    let interrupted = ended("interrupted", Outcome::Interrupted);
    let without = "the run ended before it came to 1 cell; resuming it, or more time where it had a budget, measures them";
    let limit: FailIf = "iops < 1".parse().unwrap();
    let of_run = FailIf::check_run_each(&[limit], &interrupted).remove(0).unwrap();
    assert_eq!(of_run.passed_over().as_deref(), Some(without));
    let said = |gate: &str, a: &RunView, b: &RunView| {
        let comparison = compare(a, b);
        let report = check(gate, &comparison).unwrap();
        (report.passed_over(), report.missing)
    };
    assert_eq!(
        said("iops < -50%", &whole, &interrupted),
        (Some(without.to_owned()), 0),
        "each cell is named once"
    );
    assert_eq!(said("iops < 1", &whole, &interrupted).0.as_deref(), Some(without));
    // What the baseline lacks too, or has as few trials of, decides nothing either way.
    assert_eq!(said("iops < -50%", &interrupted, &interrupted), (None, 0));
    let mut few = whole.clone();
    few.trials
        .retain(|trial| trial.cell != "depth-32" || trial.repetition < 3);
    assert_eq!(said("iops < -50%", &few, &interrupted), (None, 1));
    // A plan that asks for two cells left the third out on purpose.
    let two = asking(
        RunView {
            trials: interrupted.trials[..10].to_vec(),
            ..interrupted.clone()
        },
        2,
    );
    assert_eq!(said("iops < -50%", &whole, &two), (None, 1));
}

#[test]
fn cells_of_a_layer_that_all_failed_pass_no_gate_on_a_figure_that_their_layer_has() {
    let folder = tempfile::tempdir().unwrap();
    let with = |name: &str, outcome: Outcome| {
        let of_files = repeated(5, |repetition| TrialEntry {
            layer: filesystem::SCHEMA.name.to_owned(),
            cell: "files".to_owned(),
            outcome: outcome.clone(),
            values: match outcome {
                Outcome::Completed => usual(1e5, 4e5),
                _ => Vec::new(),
            },
            ..trial(1, repetition, &[])
        });
        let of_device = repeated(5, |repetition| trial(8, repetition, &usual(1e5, 4e5)));
        run_of(folder.path(), name, &[of_device, of_files].concat())
    };
    let failed = with(
        "failed",
        Outcome::Failed {
            message: "EIO".to_owned(),
        },
    );
    let comparison = compare(&with("whole", Outcome::Completed), &failed);
    for gate in ["p99 > +5%", "p99 > 1s"] {
        let condition: [FailIf; 1] = [gate.parse().unwrap()];
        let reports = check_all(&condition, &comparison).unwrap();
        assert_eq!(reports[0].failed.len(), 1, "{gate}");
    }
}

#[test]
fn what_an_imported_side_does_not_state_is_supplied_where_it_is_imported() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, option: Option<(&str, &str)>| {
        let trials = repeated(5, |repetition| {
            let mut values = usual(1e5, 4e5);
            values[0].provenance = Provenance::Imported;
            let mut entry = trial(32, repetition, &values);
            entry
                .factors
                .extend(option.map(|(name, value)| (name.to_owned(), value.to_owned())));
            entry
        });
        run_of(folder.path(), name, &trials)
    };
    let unstated = ("queue_depth", "not stated");
    let comparison = compare(&side("a", Some(unstated)), &side("b", Some(unstated)));
    let why = row(&comparison, "iops").why().join("; ");
    assert_eq!(
        why,
        "the baseline does not state its queue depth; if you know it, import the results again with `outcrop import fio FILE --assume queue_depth=VALUE`"
    );
    // An option of fio that no factor says cannot be assumed.
    let steady = side("c", Some(("fio_steadystate", "iops:10%")));
    let comparison = compare(&side("d", None), &steady);
    assert_eq!(comparison.unlike[0].factor, "fio_steadystate");
    assert!(!comparison.unlike[0].is_unstated_by_import);
    // What ran beside no other job left nothing unstated.
    let beside = side("e", Some(("fio_shared_with", "another job on another drive")));
    let shared = &compare(&side("f", None), &beside).unlike[0];
    assert_eq!(
        [&shared.baseline, &shared.candidate].map(|values| values.iter().cloned().collect::<String>()),
        ["alone", "another job on another drive"]
    );
}
