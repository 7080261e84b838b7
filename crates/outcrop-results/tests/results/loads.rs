//! Runs that were measured while the machine did other work: what it explains is not called better or worse, and fails no build.

use outcrop_measure::Seed;
use outcrop_results::{
    CompareOptions, ComparisonRow, FailIf, LoadMeasure, RunView, Side, TrialEntry, Undecided,
    Value as Measured, Verdict, compare, compare_with,
};
use outcrop_schema::device::{BANDWIDTH, FOREIGN_BYTES_RATIO};
use serde_json::{Value, json};

use crate::comparisons::{repeated, row};
use crate::judging::normal;
use crate::samples::{check_all, run_of, trial, usual};

/// Five trials of one cell, of which others used this share of the CPUs.
fn run(parent: &std::path::Path, name: &str, iops: f64, others: Option<f64>) -> RunView {
    let trials = repeated(5, |repetition| TrialEntry {
        others_cpu_share: others,
        ..trial(
            32,
            repetition,
            &usual(iops * (1.0 + 0.002 * f64::from(repetition)), 4e5),
        )
    });
    run_of(parent, name, &trials)
}

fn environment(pressure_percent: f64) -> Value {
    json!({"cpu": {"model": "A", "online_cpu_count": 2}, "load": {"cpu_pressure": {"some_10s_percent": pressure_percent}}})
}

#[test]
fn a_difference_that_the_load_explains_is_undecided_and_one_against_it_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, iops: f64, others: f64| run(folder.path(), name, iops, Some(others));
    let (quiet, busy) = (of("quiet", 2e5, 0.03), of("busy", 1e5, 0.85));
    for (baseline, candidate, busier) in [(&quiet, &busy, Side::Candidate), (&busy, &quiet, Side::Baseline)] {
        let comparison = compare(baseline, candidate);
        let iops = row(&comparison, "iops");
        assert_eq!(iops.verdict, Verdict::Undecided(Undecided::Load));
        assert!(iops.ratio.is_some() && iops.interval.is_some());
        let [load] = comparison.loads.as_slice() else {
            panic!("{:?}", comparison.loads)
        };
        assert_eq!((load.busier, load.measure), (busier, LoadMeasure::OthersCpuShare));
        assert_eq!(load.cells_count, 1);
    }
    // It is faster although the machine had more to do.
    let faster = compare(&of("slow", 1e5, 0.03), &of("fast", 2e5, 0.85));
    assert_eq!(row(&faster, "iops").verdict, Verdict::Better);
    assert_eq!(faster.loads.len(), 1);
    // The same small load on both sides explains nothing.
    let alike = compare(&of("a", 2e5, 0.05), &of("b", 1e5, 0.09));
    assert_eq!(
        (&row(&alike, "iops").verdict, alike.loads.len()),
        (&Verdict::Worse, 0)
    );
}

/// Two equal runs of a codec on two CPUs, beside others that used 35 % of them, differed by a factor of 1.9: the others were on its CPU. Shares that are
/// alike count by the larger, others by the smaller: what is worse on the busier side is undecided anyhow.
#[test]
fn beside_others_a_thread_may_have_had_half_of_its_cpu_or_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, iops: f64, others: f64| run(folder.path(), name, iops, Some(others));
    let cases = [
        (0.35, 0.38, 1.0),
        (0.10, 0.20, 2.0 / 3.0),
        (0.04, 0.12, 6.0 / 19.0),
        (0.08, 0.09, 0.05),
        (0.02, 0.70, 0.05),
        (0.15, 0.70, 3.0 / 7.0),
    ];
    for (number, (of_baseline, of_candidate, drift)) in cases.into_iter().enumerate() {
        let [base, other] = ["base", "other"].map(|side| format!("{side}-{number}"));
        let comparison = compare(&of(&base, 1e5, of_baseline), &of(&other, 1.9e5, of_candidate));
        let iops = row(&comparison, "iops");
        assert!((iops.drift - drift).abs() < 1e-9, "{number}: {}", iops.drift);
        assert_eq!(row(&comparison, "latency_p99").drift.is_infinite(), drift > 0.1);
        let hidden = Verdict::Undecided(Undecided::Drift);
        let verdict = [Verdict::Better, hidden][usize::from(drift > 0.9)].clone();
        assert_eq!(iops.verdict, verdict, "{number}");
    }
}

#[test]
fn beside_others_that_use_half_of_the_cpus_or_more_equal_runs_may_differ_by_what_these_leave() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, iops: f64| run(folder.path(), name, iops, Some(0.75));
    let (base, half, tenth) = (of("base", 2e5), of("half", 1e5), of("tenth", 2e4));
    let undecided = || Verdict::Undecided(Undecided::Drift);
    for (baseline, candidate, verdict) in [
        (&base, &half, undecided()),
        (&half, &base, undecided()),
        (&base, &tenth, Verdict::Worse),
        (&tenth, &base, Verdict::Better),
    ] {
        let comparison = compare(baseline, candidate);
        let iops = row(&comparison, "iops");
        assert_eq!((&iops.verdict, iops.drift), (&verdict, 3.0));
        assert!(comparison.loads.is_empty());
        // What does not drift is not widened by any load.
        let is_widened = |row: &ComparisonRow| row.drift > comparison.drift;
        let mut rows = comparison.rows.iter();
        assert!(rows.all(|row| row.crowding.is_some() == is_widened(row)));
    }
    let condition: FailIf = "iops < -3%".parse().unwrap();
    let found = |candidate: &RunView| {
        let comparison = compare(&base, candidate);
        let checked = check_all(std::slice::from_ref(&condition), &comparison).unwrap();
        (checked[0].met(), checked[0].within_drift.crowded)
    };
    assert_eq!(found(&half), (0, 1));
    assert_eq!(found(&tenth), (1, 0));
    // Whoever allows for no drift has none.
    let options = CompareOptions {
        drift: 0.0,
        ..CompareOptions::default()
    };
    let strict = compare_with(&base, &half, &options).unwrap();
    assert_eq!(row(&strict, "iops").verdict, Verdict::Worse);
}

#[test]
fn no_repetitions_are_said_to_decide_what_the_load_leaves_open_however_many_there_are() {
    let folder = tempfile::tempdir().unwrap();
    // The median is three in a hundred lower, and the trials vary by more.
    let of = |name: &str, iops: f64, others: f64| {
        let varied = repeated(5, |repetition| TrialEntry {
            others_cpu_share: Some(others),
            ..trial(
                32,
                repetition,
                &usual(iops * (1.0 + 0.04 * f64::from(repetition)), 4e5),
            )
        });
        run_of(folder.path(), name, &varied)
    };
    let condition: FailIf = "iops < -8%".parse().unwrap();
    let needed = |baseline: &RunView, candidate: &RunView| {
        let comparison = compare(baseline, candidate);
        let iops = row(&comparison, "iops");
        let verdict = iops.verdict.clone();
        let checked = check_all(std::slice::from_ref(&condition), &comparison)
            .expect("the runs have IOPS")
            .remove(0);
        (verdict, iops.repetitions_needed, checked.repetitions_needed)
    };
    let (verdict, row_needs, condition_needs) = needed(&of("quiet", 1e5, 0.03), &of("like-it", 0.97e5, 0.03));
    assert_eq!(verdict, Verdict::Undecided(Undecided::Wide));
    assert!(row_needs.is_some() && !condition_needs.is_empty());
    // Beside the same load on both sides, what lies around 1 is found to be the same by more of them, too.
    let (verdict, row_needs, _) = needed(&of("crowded", 1e5, 0.75), &of("as-crowded", 0.97e5, 0.75));
    assert_eq!(verdict, Verdict::Undecided(Undecided::Wide));
    assert!(row_needs.is_some());
    // The candidate's, which are lower, had more to do beside them; and the other way round for a condition on what is higher.
    let (verdict, row_needs, _) = needed(&of("idle", 1e5, 0.03), &of("busy", 0.97e5, 0.85));
    assert_eq!(
        (verdict, row_needs),
        (Verdict::Undecided(Undecided::Load), None),
        "drift is not the reason"
    );
    let (_, _, condition_needs) = needed(&of("loaded", 1e5, 0.85), &of("free", 0.97e5, 0.03));
    assert!(condition_needs.is_empty(), "{condition_needs:?}");
}

#[test]
fn a_limit_allows_for_no_load_and_a_cell_beyond_it_carries_what_others_used() {
    let folder = tempfile::tempdir().unwrap();
    let busy = run(folder.path(), "busy", 1e5, Some(0.85));
    let limit: [FailIf; 1] = ["iops < 150000".parse().unwrap()];
    let report = FailIf::check_run_each(&limit, &busy).remove(0).unwrap();
    let [cell] = report.beyond.as_slice() else {
        panic!("{:?}", report.beyond)
    };
    assert_eq!(cell.others_cpu_share, Some(0.85));
}

#[test]
fn a_condition_that_the_load_may_have_met_is_counted_and_not_met() {
    let folder = tempfile::tempdir().unwrap();
    let condition: FailIf = "iops < -5%".parse().unwrap();
    let conditions = [condition];
    let checked = |others: f64| {
        let name = format!("with-{others}");
        let candidate = run(folder.path(), &name, 1e5, Some(others));
        let baseline = run(folder.path(), &format!("before-{others}"), 2e5, Some(0.0));
        let comparison = compare(&baseline, &candidate);
        let reports = check_all(&conditions, &comparison).unwrap();
        let report = &reports[0];
        (report.offending.len(), report.under_load, report.undecided)
    };
    assert_eq!(checked(0.0), (1, 0, 0));
    assert_eq!(checked(0.9), (0, 1, 0));
}

#[test]
fn what_may_meet_a_condition_under_more_load_is_not_said_to_take_more_repetitions() {
    let folder = tempfile::tempdir().unwrap();
    let conditions: [FailIf; 2] = ["iops < -5%", "iops > +5%"].map(|condition| condition.parse().unwrap());
    let baseline = run(folder.path(), "baseline", 2e5, Some(0.0));
    // The median is the same: of a side that had more to do, that may hide a gain.
    for (others, counts) in [(0.0, [(0, 1), (0, 1)]), (0.9, [(1, 0), (1, 0)])] {
        let varied = repeated(5, |repetition| TrialEntry {
            others_cpu_share: Some(others),
            ..trial(
                32,
                repetition,
                &usual(2e5 * (0.8 + 0.1 * f64::from(repetition)), 4e5),
            )
        });
        let candidate = run_of(folder.path(), &format!("varied-{others}"), &varied);
        let comparison = compare(&baseline, &candidate);
        let reports = check_all(&conditions, &comparison).unwrap();
        let found = reports.iter().map(|report| (report.under_load, report.undecided));
        assert_eq!(found.collect::<Vec<_>>(), counts, "{others}");
    }
}

#[test]
fn runs_that_did_not_record_it_are_judged_by_the_machine_before_them() {
    let folder = tempfile::tempdir().unwrap();
    let (mut before, mut after) = (
        run(folder.path(), "a", 1e5, None),
        run(folder.path(), "b", 2e5, None),
    );
    assert_eq!(row(&compare(&before, &after), "iops").verdict, Verdict::Better);
    before.environment = environment(90.0);
    after.environment = environment(4.0);
    let comparison = compare(&before, &after);
    assert_eq!(
        row(&comparison, "iops").verdict,
        Verdict::Undecided(Undecided::Load)
    );
    let load = comparison.loads[0];
    assert_eq!(
        (load.busier, load.measure),
        (Side::Baseline, LoadMeasure::CpuPressureBefore)
    );
    // What the trials themselves recorded says more than the seconds before them.
    for (view, share) in [(&mut before, 0.02), (&mut after, 0.03)] {
        for trial in &mut view.trials {
            trial.others_cpu_share = Some(share);
        }
    }
    let comparison = compare(&before, &after);
    assert_eq!(
        (&row(&comparison, "iops").verdict, comparison.loads.len()),
        (&Verdict::Better, 0)
    );
    // Without a word on pressure, by the tasks that ran or waited for each CPU.
    let tasks =
        |average: f64| json!({"cpu": {"online_cpu_count": 2}, "load": {"average": [average, 1.0, 1.0]}});
    let (mut before, mut after) = (
        run(folder.path(), "c", 1e5, None),
        run(folder.path(), "d", 2e5, None),
    );
    (before.environment, after.environment) = (tasks(8.0), tasks(0.5));
    assert_eq!(
        compare(&before, &after).loads[0].measure,
        LoadMeasure::TasksPerCpuBefore
    );
}

/// The usual metrics of a trial in blocks of 4 KiB, of which the device moved so many bytes for others for each of ours.
fn values_beside(iops: f64, of_others: f64) -> Vec<Measured> {
    let mut values = usual(iops, 4e5);
    values.push(Measured::measured(BANDWIDTH.both, 4096.0 * iops));
    values.push(Measured::measured(FOREIGN_BYTES_RATIO, of_others));
    values
}

/// Five trials of one cell, of which the device moved so many bytes for others for each of ours.
fn beside_others(parent: &std::path::Path, name: &str, iops: f64, of_others: f64) -> RunView {
    let trials = repeated(5, |repetition| {
        let values = values_beside(iops * (1.0 + 0.002 * f64::from(repetition)), of_others);
        TrialEntry {
            others_cpu_share: Some(0.05),
            ..trial(32, repetition, &values)
        }
    });
    run_of(parent, name, &trials)
}

#[test]
fn a_difference_that_the_traffic_of_others_on_the_device_explains_is_undecided_and_meets_no_condition() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, iops: f64, of_others: f64| beside_others(folder.path(), name, iops, of_others);
    let (disturbed, calm) = (of("disturbed", 1.26e4, 9.4), of("calm", 3e4, 0.058));
    let comparison = compare(&disturbed, &calm);
    assert_eq!(
        row(&comparison, "iops").verdict,
        Verdict::Undecided(Undecided::Load)
    );
    let [load] = comparison.loads.as_slice() else {
        panic!("{:?}", comparison.loads)
    };
    assert_eq!(
        (load.busier, load.measure, load.baseline),
        (Side::Baseline, LoadMeasure::DeviceBytesOfOthers, Some(9.4))
    );
    let conditions: [FailIf; 1] = ["iops > +5%".parse().unwrap()];
    let reports = check_all(&conditions, &comparison).unwrap();
    assert_eq!((reports[0].offending.len(), reports[0].under_load), (0, 1));
    // Against the traffic, or with the same on both sides, the difference stands.
    let slower = compare(&disturbed, &of("slower", 6e3, 0.058));
    assert_eq!(row(&slower, "iops").verdict, Verdict::Worse);
    let alike = compare(&disturbed, &of("alike", 3e4, 9.9));
    assert_eq!(row(&alike, "iops").verdict, Verdict::Better);
    // Another filesystem may move more for each byte by itself.
    let on = |view: &RunView, kind: &str| RunView {
        environment: json!({"storage": {"filesystem": {"type": kind}}}),
        ..view.clone()
    };
    let comparison = compare(&on(&disturbed, "btrfs"), &on(&calm, "ext4"));
    assert_eq!(row(&comparison, "iops").verdict, Verdict::Better);
}

/// Trials of one cell with these rates, of which the device moved so many bytes for others for each of ours.
fn trial_by_trial(base: &RunView, of_trials: &[(f64, f64)]) -> RunView {
    let trials = (0..)
        .zip(of_trials)
        .map(|(repetition, (iops, of_others))| trial(32, repetition, &values_beside(*iops, *of_others)));
    RunView {
        trials: trials.collect(),
        ..base.clone()
    }
}

#[test]
fn traffic_beside_a_quarter_of_the_trials_of_one_side_explains_a_difference_though_its_median_does_not_show_it()
 {
    let folder = tempfile::tempdir().unwrap();
    let base = run_of(folder.path(), "base", &[]);
    let of = |iops: f64, of_others: &[f64]| {
        let trials: Vec<(f64, f64)> = (0..)
            .zip(of_others)
            .map(|(place, of_others)| (iops * (1.0 + 0.002 * f64::from(place)), *of_others))
            .collect();
        trial_by_trial(&base, &trials)
    };
    let seen = [0.02, 0.02, 0.48, 0.48, 0.07, 0.03, 0.47];
    let (calm, disturbed) = (of(16e3, &[0.0; 7]), of(6.88e3, &seen));
    let comparison = compare(&calm, &disturbed);
    assert_eq!(
        row(&comparison, "iops").verdict,
        Verdict::Undecided(Undecided::Load)
    );
    let load = comparison.loads[0];
    assert_eq!(
        (load.busier, load.measure, load.baseline, load.candidate),
        (
            Side::Candidate,
            LoadMeasure::TrialsBesideOthers,
            Some(0.0),
            Some(3.0 / 7.0)
        )
    );
    let conditions: [FailIf; 1] = ["iops < -5%".parse().unwrap()];
    let reports = check_all(&conditions, &comparison).unwrap();
    assert_eq!((reports[0].offending.len(), reports[0].under_load), (0, 1));
    // As the baseline, it explains what looks better, and not what looks worse.
    let verdict = |a: &RunView, b: &RunView| row(&compare(a, b), "iops").verdict.clone();
    assert_eq!(verdict(&disturbed, &calm), Verdict::Undecided(Undecided::Load));
    assert_eq!(verdict(&disturbed, &of(3e3, &[0.0; 7])), Verdict::Worse);
    // The same on both sides, one trial of seven or of five, and bytes within the drift explain nothing.
    assert_eq!(verdict(&of(16e3, &seen), &disturbed), Verdict::Worse);
    let one_of_seven = [0.0, 0.0, 0.48, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(verdict(&calm, &of(6.88e3, &one_of_seven)), Verdict::Worse);
    let (calm, one_of_five) = (of(16e3, &[0.0; 5]), of(6.88e3, &[0.0, 0.48, 0.0, 0.0, 0.0]));
    assert_eq!(verdict(&calm, &one_of_five), Verdict::Worse);
    assert_eq!(verdict(&calm, &of(6.88e3, &[0.09; 5])), Verdict::Worse);
}

/// A run of 16,000 IOPS and one of half as many, each with the bytes that the device moved for others in the time in which the faster one moved one.
fn fast_and_half_as_fast(base: &RunView, beside_fast: &[f64], beside_slow: &[f64]) -> [RunView; 2] {
    let of = |iops: f64, in_time: &[f64]| {
        let trials = (0..).zip(in_time).map(|(place, in_time)| {
            let drift = 1.0 + 0.002 * f64::from(place);
            (iops * drift, in_time * 16e3 / (iops * drift))
        });
        trial_by_trial(base, &trials.collect::<Vec<_>>())
    };
    [of(16e3, beside_fast), of(8e3, beside_slow)]
}

#[test]
fn the_same_traffic_of_others_explains_nothing_though_it_is_more_for_each_byte_of_a_slower_run() {
    let folder = tempfile::tempdir().unwrap();
    let base = run_of(folder.path(), "base", &[]);
    // Trials of which this many ran beside traffic.
    let beside = |count: usize, trials: usize, in_time: f64| -> Vec<f64> {
        let of_trial = |place| if place < count { in_time } else { 0.01 };
        (0..trials).map(of_trial).collect()
    };
    for (beside_fast, beside_slow) in [
        (beside(2, 7, 0.08), beside(2, 7, 0.08)),
        (beside(7, 7, 0.15), beside(7, 7, 0.15)),
        // Shares of the trials that hardly differ.
        (beside(1, 5, 0.48), beside(2, 7, 0.48)),
        (beside(3, 7, 0.48), beside(4, 7, 0.48)),
    ] {
        let [fast, slow] = fast_and_half_as_fast(&base, &beside_fast, &beside_slow);
        let comparison = compare(&fast, &slow);
        assert_eq!(comparison.loads, [], "{beside_fast:?} {beside_slow:?}");
        assert_eq!(row(&comparison, "iops").verdict, Verdict::Worse);
        let conditions: [FailIf; 1] = ["iops < -5%".parse().unwrap()];
        let reports = check_all(&conditions, &comparison).unwrap();
        assert_eq!((reports[0].offending.len(), reports[0].under_load), (1, 0));
    }
    // Nor do bytes that come with those of the trials: the faster run has more of them in the same time.
    let [fast, slow] = fast_and_half_as_fast(&base, &[0.5; 7], &[0.25; 7]);
    for (a, b) in [(&fast, &slow), (&slow, &fast)] {
        assert_eq!(compare(a, b).loads, []);
    }
}

/// Why a quarter: of equal runs, one disturbed trial of five makes fewer than half as many more look worse; two of five make more.
#[test]
fn one_disturbed_trial_of_five_raises_false_alarms_by_less_than_half_and_more_of_them_explain_the_difference()
{
    const PAIRS: u32 = 2000;
    let folder = tempfile::tempdir().unwrap();
    let base = run_of(folder.path(), "base", &[]);
    let worse = |disturbed_count: usize, is_recorded: bool| {
        let is_worse = |pair: &u32| {
            let mut rng = Seed(31).derive_index((*pair).into()).rng();
            let mut of = |disturbed_count: usize| {
                let speed = 1e5 * (0.025 * normal(&mut rng)).exp();
                let mut trials: Vec<(f64, f64)> = Vec::new();
                for place in 0..5 {
                    let iops = speed * (0.02 * normal(&mut rng)).exp();
                    trials.push(match place < disturbed_count {
                        true => (0.5 * iops, if is_recorded { 0.48 } else { 0.0 }),
                        false => (iops, 0.0),
                    });
                }
                trial_by_trial(&base, &trials)
            };
            let (a, b) = (of(0), of(disturbed_count));
            row(&compare(&a, &b), "iops").verdict == Verdict::Worse
        };
        (0..PAIRS).filter(is_worse).count()
    };
    let counts = [0, 1, 2, 3].map(|disturbed_count| worse(disturbed_count, false));
    assert!(2 * counts[1] < 3 * counts[0], "{counts:?}");
    assert!(2 * counts[2] > 3 * counts[0], "{counts:?}");
    assert_eq!([2, 3].map(|disturbed_count| worse(disturbed_count, true)), [0, 0]);
    assert_eq!(worse(1, true), counts[1]);
}
