//! Conditions on figures that cells lack.

use outcrop_measure::metric::Unavailable;
use outcrop_results::{FailIf, Outcome, RunView, TrialEntry, Value, compare};
use outcrop_schema::{compression, filesystem};

use crate::conditions::check;
use crate::samples::{IOPS, LATENCY_P99, run_of, trial, two_intervals, usual};

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
        (report.checked, report.unchecked, report.lost.len()),
        (1, 2, 1),
        "{report:?}"
    );
    let said = report.passed_over().unwrap();
    assert!(
        said.starts_with(
            "in 1 cell the candidate lacks this figure, which the baseline has; the first reason: "
        ) && said.contains("too few operations (47 of at least 1000)")
            && said.ends_with("longer trials have more (--duration)"),
        "{said}"
    );
    let limit = "p99 > 1s".parse().unwrap();
    let of_run = FailIf::check_run_each(&[limit], &before).remove(0).unwrap();
    assert_eq!((of_run.checked, of_run.unchecked), (2, 1));
    let without = "1 cell lacks this figure, and cannot be checked; the first reason: too few operations";
    assert!(of_run.passed_over().unwrap().starts_with(without), "{of_run:?}");
    let named = check("p99 > 1s", &comparison).unwrap().passed_over().unwrap();
    let lost = "in 1 cell the candidate lacks this figure, which the baseline has; ";
    assert!(
        named.starts_with(lost) && named.contains(without),
        "each is named once: {named}"
    );
    let back = compare(&after, &before);
    assert_eq!(
        check("p99 > +5%", &back).unwrap().passed_over(),
        None,
        "a figure that only the candidate has is not lost"
    );
}

#[test]
fn a_rate_that_fell_to_0_is_said_to_be_unchecked_and_one_that_rose_from_0_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, stalled: f64| {
        let of_depth = |depth: u32| {
            (0..5).map(move |repetition| {
                let rate = if depth == 1 { stalled } else { 1e5 };
                trial(depth, repetition, &[Value::measured(IOPS, rate)])
            })
        };
        let trials: Vec<_> = [1, 8].into_iter().flat_map(of_depth).collect();
        run_of(folder.path(), name, &trials)
    };
    let (running, stalled) = (side("running", 1e5), side("stalled", 0.0));
    let fallen = compare(&running, &stalled);
    let said = check("iops < -5%", &fallen).unwrap().passed_over().unwrap();
    let report = check("iops < -5%", &fallen).unwrap();
    assert_eq!(
        (report.checked, report.without_ratio.len()),
        (1, 0),
        "it is named once"
    );
    assert!(
        said.starts_with("in 1 cell it cannot be checked: the median of the candidate is 0")
            && said.contains("a limit on the figure itself"),
        "{said}"
    );
    assert_eq!(check("iops > +5%", &fallen).unwrap().passed_over(), None);
    let risen = compare(&stalled, &running);
    assert_eq!(check("iops < -5%", &risen).unwrap().passed_over(), None);
}

/// Five trials at depth 1 with a p99 and at depth 8, of which another run changes the second.
fn beside(name: &str, change: impl Fn(&mut TrialEntry)) -> RunView {
    let folder = tempfile::tempdir().unwrap();
    let of_depth = |depth: u32| (0..5).map(move |repetition| trial(depth, repetition, &usual(1e5, 1e6)));
    let mut trials: Vec<_> = [1, 8].into_iter().flat_map(of_depth).collect();
    trials
        .iter_mut()
        .filter(|trial| trial.cell == "depth-8")
        .for_each(change);
    run_of(folder.path(), name, &trials)
}

#[test]
fn a_cell_that_the_candidate_failed_or_recorded_no_figure_of_passes_no_gate_and_the_reason_is_its_own() {
    let whole = beside("whole", |_| ());
    let failed = beside("failed", |trial| {
        trial.outcome = Outcome::Failed {
            message: "too many clients".to_owned(),
        };
        trial.values.clear();
    });
    let unrecorded = beside("unrecorded", |trial| {
        trial.values.retain(|value| value.metric != LATENCY_P99.name);
    });
    let gates = ["latency_p99 > +5%", "latency_p99 < -5%", "latency_p99 > 1s"];
    for gate in gates {
        let of_failed = compare(&whole, &failed);
        let report = check(gate, &of_failed).unwrap();
        assert_eq!(
            (report.met(), report.checked, report.missing),
            (0, 1, 0),
            "{gate}"
        );
        assert_eq!(
            report.passed_over().unwrap(),
            "1 cell failed in the candidate, and cannot be checked; the first reason: too many clients"
        );
        let of_unrecorded = compare(&whole, &unrecorded);
        assert_eq!(
            check(gate, &of_unrecorded).unwrap().passed_over().unwrap(),
            "in 1 cell the candidate lacks this figure, which the baseline has; the first reason: the candidate does not have latency_p99"
        );
        for baseline in [&failed, &unrecorded] {
            let back = compare(baseline, &whole);
            assert_eq!(
                check(gate, &back).unwrap().passed_over(),
                None,
                "{gate}: nothing is lost"
            );
        }
        let passed_over_beside_itself = |side: &RunView| {
            let equal = compare(side, side);
            check(gate, &equal).unwrap().passed_over().is_some()
        };
        assert!(!passed_over_beside_itself(&unrecorded), "{gate}: nothing changed");
        assert_eq!(
            passed_over_beside_itself(&failed),
            gate.ends_with('s'),
            "{gate}: a limit needs no baseline"
        );
    }
}

#[test]
fn a_cell_of_which_failures_leave_too_few_trials_passes_no_limit_and_no_ratio_unless_the_baseline_has_as_few()
{
    let whole = beside("whole", |_| ());
    let crashing = beside("crashing", |trial| {
        if trial.repetition > 0 {
            trial.outcome = Outcome::Failed {
                message: "out of memory".to_owned(),
            };
            trial.values.clear();
        }
    });
    let failed = beside("failed", |trial| {
        trial.outcome = Outcome::Failed {
            message: "out of memory".to_owned(),
        };
        trial.values.clear();
    });
    let rest = "fewer than 5 completed, which decide nothing; the first reason: out of memory";
    for gate in ["iops < -50%", "iops < 1"] {
        let comparison = compare(&whole, &crashing);
        let report = check(gate, &comparison).unwrap();
        assert_eq!((report.met(), report.checked), (0, 1), "{gate}");
        assert_eq!(
            report.passed_over().unwrap(),
            format!("trials of 1 cell failed in the candidate, and {rest}")
        );
        let is_relative = gate.ends_with('%');
        for baseline in [&crashing, &failed] {
            let comparison = compare(baseline, &crashing);
            let passed_over = check(gate, &comparison).unwrap().passed_over();
            assert_eq!(
                passed_over.is_none(),
                is_relative,
                "{gate}: a limit needs no baseline"
            );
        }
        for baseline in [&crashing, &whole] {
            let comparison = compare(baseline, &whole);
            assert_eq!(check(gate, &comparison).unwrap().passed_over(), None, "{gate}");
        }
    }
    let limit = ["iops < 1".parse().unwrap()];
    let of_run = |run: &RunView| {
        FailIf::check_run_each(&limit, run)
            .remove(0)
            .unwrap()
            .passed_over()
    };
    assert_eq!(
        of_run(&crashing).unwrap(),
        format!("trials of 1 cell failed, and {rest}")
    );
    assert_eq!(of_run(&whole), None);
}

#[test]
fn a_run_with_a_failed_cell_passes_no_limit() {
    let failed = beside("failed", |trial| {
        trial.outcome = Outcome::Failed {
            message: "EIO".to_owned(),
        };
        trial.values.clear();
    });
    let limit = ["iops < 1".parse().unwrap()];
    let report = FailIf::check_run_each(&limit, &failed).remove(0).unwrap();
    assert_eq!(
        report.passed_over().unwrap(),
        "1 cell failed, and cannot be checked; the first reason: EIO"
    );
}

#[test]
fn a_percentile_of_all_trials_together_has_no_interval_and_passes_no_limit() {
    let folder = tempfile::tempdir().unwrap();
    let of_depth = |depth: u32, count: u64| {
        (0..5).map(move |repetition| {
            let p99 = match count < 1000 {
                true => Value::unavailable(
                    filesystem::LATENCY.p99,
                    "too few operations (600 of at least 1000) for a p99",
                ),
                false => Value::measured(filesystem::LATENCY.p99, 1e5),
            };
            TrialEntry {
                layer: filesystem::SCHEMA.name.to_owned(),
                histograms: two_intervals(100_000, count / 2),
                ..trial(depth, repetition, &[p99])
            }
        })
    };
    let trials: Vec<_> = of_depth(1, 600).chain(of_depth(8, 2000)).collect();
    let run = run_of(folder.path(), "pooled", &trials);
    let limit = format!("{} > 1s", filesystem::LATENCY.p99.name).parse().unwrap();
    let report = FailIf::check_run_each(&[limit], &run).remove(0).unwrap();
    assert_eq!(
        (report.checked, report.unchecked, report.without_figure.len()),
        (1, 1, 1)
    );
    assert!(report.passed_over().is_some());
}

#[test]
fn a_ratio_whose_sample_is_too_small_for_an_interval_passes_no_limit_however_far_it_is() {
    use compression::{COMPRESSION_RATIO, COMPRESSION_RATIO_HIGH, COMPRESSION_RATIO_LOW, SAMPLED_SHARE};
    let folder = tempfile::tempdir().unwrap();
    let of_cell = |depth: u32, has_interval: bool| {
        let end = |metric, value| {
            let why = Err(Unavailable::because("only 12 clusters"));
            Value::known(metric, if has_interval { Ok(value) } else { why })
        };
        let values = [
            Value::measured(COMPRESSION_RATIO, 4.0),
            Value::measured(SAMPLED_SHARE, 0.2),
            end(COMPRESSION_RATIO_LOW, 3.9),
            end(COMPRESSION_RATIO_HIGH, 4.1),
        ];
        (0..5).map(move |repetition| TrialEntry {
            layer: compression::SCHEMA.name.to_owned(),
            ..trial(depth, repetition, &values)
        })
    };
    let found = |few: u32| {
        let trials: Vec<_> = (1..4).flat_map(|depth| of_cell(depth, depth > few)).collect();
        let run = run_of(folder.path(), &format!("sampled-{few}"), &trials);
        let limit = "compression_ratio < 2.4".parse().unwrap();
        let report = FailIf::check_run_each(&[limit], &run).remove(0).unwrap();
        (report.checked, report.met(), report.passed_over())
    };
    assert_eq!(found(0), (3, 0, None));
    let why = "no interval of this figure, and cannot be checked; the first reason: only 12 clusters";
    assert_eq!(found(1), (2, 0, Some(format!("1 cell has {why}"))));
    assert_eq!(found(2), (1, 0, Some(format!("2 cells have {why}"))));
}

#[test]
fn a_cell_that_stalled_in_some_trials_or_all_passes_no_limit() {
    let folder = tempfile::tempdir().unwrap();
    for stalled in [1, 5] {
        let of_depth = |depth: u32| {
            (0..5).map(move |repetition| {
                let p99 = match depth == 8 && repetition < stalled {
                    true => Value::unavailable(LATENCY_P99, "no operation completed"),
                    false => Value::measured(LATENCY_P99, 1e6),
                };
                trial(depth, repetition, &[Value::measured(IOPS, 1e5), p99])
            })
        };
        let trials: Vec<_> = [1, 8].into_iter().flat_map(of_depth).collect();
        let run = run_of(folder.path(), &format!("stalled-{stalled}"), &trials);
        let limit = "latency_p99 > 1s".parse().unwrap();
        let report = FailIf::check_run_each(&[limit], &run).remove(0).unwrap();
        assert_eq!((report.checked, report.without_figure.len()), (1, 1), "{stalled}");
        assert!(report.passed_over().is_some());
    }
}

#[test]
fn a_cell_that_the_end_of_a_run_left_too_few_trials_passes_no_limit_and_no_ratio_unless_the_baseline_has_as_few()
 {
    let asking = |run: RunView, repetitions: u32, cells: u32| {
        let name = run.trials[0].plans[0].clone();
        let plan = format!(
            "[run]\nbudget = \"15s\"\n[[plan]]\nname = \"{name}\"\nlayer = \"device\"\ncells = {cells}\n[plan.trial]\nrepetitions = {repetitions}\n"
        );
        RunView { plan, ..run }
    };
    let whole = asking(beside("whole", |_| ()), 5, 2);
    let short = || {
        let mut run = beside("short", |_| ());
        run.trials
            .retain(|trial| trial.cell != "depth-8" || trial.repetition < 2);
        run
    };
    let cut = asking(short(), 5, 2);
    let said = |gate: &str, baseline: &RunView, candidate: &RunView| {
        let comparison = compare(baseline, candidate);
        let report = check(gate, &comparison).unwrap();
        assert_eq!((report.met(), report.checked > 0), (0, true), "{gate}");
        report.passed_over()
    };
    let rest = "had 5 trials, and fewer decide nothing; of the first, 2 of 5 trials were measured; resuming the run, or more time where it had a budget, measures the rest";
    for gate in ["iops < -50%", "iops < 1"] {
        let of_candidate = format!("the run ended before 1 cell in the candidate {rest}");
        assert_eq!(said(gate, &whole, &cut), Some(of_candidate), "{gate}");
        assert_eq!(said(gate, &cut, &cut).is_none(), gate.ends_with('%'), "{gate}");
        assert_eq!(said(gate, &cut, &whole), None, "{gate}");
        // A plan that asks for no more was measured as a whole.
        assert_eq!(said(gate, &whole, &asking(short(), 2, 2)), None, "{gate}");
    }
    let limit = ["iops < 1".parse().unwrap()];
    let of_run = |run: &RunView| {
        FailIf::check_run_each(&limit, run)
            .remove(0)
            .unwrap()
            .passed_over()
    };
    assert_eq!(of_run(&cut), Some(format!("the run ended before 1 cell {rest}")));
    assert_eq!(of_run(&whole), None);
    // Where that is all, it is why nothing was checked: more repetitions than the plan has are no remedy.
    let mut only = cut.clone();
    only.trials.retain(|trial| trial.cell == "depth-8");
    let of_sides = compare(&whole, &only);
    let nothing = [
        check("iops < -50%", &of_sides).unwrap_err(),
        check("iops < 1", &of_sides).unwrap_err(),
        FailIf::check_run_each(&limit, &only).remove(0).unwrap_err(),
    ];
    for said in nothing.map(|error| error.to_string()) {
        assert!(
            said.contains("resuming the run") && !said.contains("--repetitions"),
            "{said}"
        );
    }
    // What a plan leaves out on purpose, since nothing of it is in doubt, is not cut short; a cell that the run did not come to is still missed.
    let mut by_doubt = asking(short(), 5, 2);
    by_doubt.plan = by_doubt
        .plan
        .replace("layer = \"device\"", "layer = \"device\"\nbudget = \"doubt\"");
    assert_eq!(of_run(&by_doubt), None);
    let without = "the run ended before it came to 2 cells; resuming it, or more time where it had a budget, measures them";
    assert_eq!(of_run(&asking(whole.clone(), 5, 4)).as_deref(), Some(without));
    assert_eq!(said("iops < -50%", &whole, &asking(whole.clone(), 5, 4)), None);
}
