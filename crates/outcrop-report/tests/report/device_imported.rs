//! Results of another program are not reported as if Outcrop had measured and checked them.

use outcrop_measure::metric::Provenance;
use outcrop_report::{Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::device::{DEVICE_BYTES_RATIO, LATENCY};

use crate::device_limits::{finding, run_of, set};
use crate::fixture::RunBuilder;

/// The same run as an import has it: figures of another program, without the device's counters and without intervals.
fn imported(mut run: RunView) -> RunView {
    for trial in &mut run.trials {
        trial
            .values
            .retain(|known| known.metric != DEVICE_BYTES_RATIO.name);
        for value in &mut trial.values {
            value.provenance = Provenance::Imported;
        }
        trial.histograms.clear();
    }
    run
}

fn why_not(run: &RunView, id: &str) -> String {
    match finding(&Report::of(run), id).verdict {
        Verdict::NotTestable(reason) => reason,
        verdict => panic!("{id}: {verdict:?}"),
    }
}

#[test]
fn reads_whose_bytes_no_counter_confirms_are_not_said_to_have_reached_storage() {
    const ID: &str = "latency-is-storage";
    let of_fio = why_not(&imported(run_of(100)), ID);
    assert!(
        of_fio.starts_with("The results of fio state neither the bytes")
            && of_fio.contains("memory may have answered"),
        "{of_fio}"
    );
    let mut blind = run_of(100);
    for trial in &mut blind.trials {
        trial
            .values
            .retain(|known| known.metric != DEVICE_BYTES_RATIO.name);
    }
    let ours = why_not(&blind, ID);
    assert!(ours.contains("the kernel's counters were not read"), "{ours}");
    // No storage is so fast, whatever else is known.
    let mut soon = run_of(100);
    for trial in &mut soon.trials {
        set(trial, LATENCY.both.p50, 4_900.0);
        set(trial, LATENCY.read.p50, 4_900.0);
    }
    let refuted = finding(&Report::of(&imported(soon)), ID);
    assert_eq!(refuted.verdict, Verdict::DoesNotHold);
    assert!(
        refuted.tested.contains("lowest median latency") && !refuted.tested.contains("/sys"),
        "{}",
        refuted.tested
    );
}

#[test]
fn the_course_of_imported_writes_is_unknown_and_not_called_a_burst() {
    let run = imported(run_of(0));
    for id in ["writes-are-steady", "one-level-per-trial"] {
        let reason = why_not(&run, id);
        assert!(
            reason.starts_with("The JSON of fio has no intervals") && !reason.contains("effort"),
            "{reason}"
        );
    }
}

#[test]
fn a_trial_of_another_program_that_is_too_short_for_a_cliff_is_not_told_our_flag() {
    let brief = |run: &RunView| {
        let advice = Report::of(run).layers[0].answer.advice.clone();
        let claim = advice.into_iter().find(|claim| claim.topic == "Write cliff");
        claim.expect("writes alone were measured").brief
    };
    let ours = RunBuilder::new(1).cells(&[4096], &[32], &[0]).build();
    assert!(brief(&ours).contains("(`--duration 5m`)"), "{}", brief(&ours));
    let theirs = brief(&imported(ours));
    assert!(
        theirs.ends_with("a trial of 10 s or more, better of minutes, can tell"),
        "{theirs}"
    );
}

#[test]
fn no_length_of_a_trial_is_asked_for_that_would_give_an_import_its_intervals() {
    const LONGER: &str = "measure longer trials";
    let mut short = run_of(0);
    short.trials.iter_mut().for_each(|trial| trial.histograms.clear());
    assert!(Report::of(&short).to_html().contains(LONGER));
    let page = Report::of(&imported(run_of(0))).to_html();
    assert!(
        page.contains("the JSON of fio has no intervals, however long a job runs.") && !page.contains(LONGER)
    );
}

#[test]
fn how_imported_figures_were_measured_is_not_told_as_outcrop_measures() {
    let methods = |run: &RunView| -> String {
        let report = Report::of(run);
        let methods = report.layers[0].methods.iter();
        methods
            .map(|method| format!("{}: {}\n", method.quantity, method.how))
            .collect()
    };
    let (ours, theirs) = (methods(&run_of(100)), methods(&imported(run_of(100))));
    for of_outcrop in [
        "seeded order",
        "log-linear histogram",
        "CPU time of the whole process",
        "integrated over time",
        "counters in /sys",
        "Overhead of measuring",
    ] {
        assert!(ours.contains(of_outcrop), "{of_outcrop}: {ours}");
        assert!(!theirs.contains(of_outcrop), "{of_outcrop}: {theirs}");
    }
    assert!(theirs.contains("without the kernel's workers"), "{theirs}");
    assert!(theirs.contains("Medians and intervals:"), "{theirs}");
}

#[test]
fn the_foot_of_an_imported_report_says_whose_the_numbers_are() {
    const MEASURED: &str = "Numbers are measured in this run unless";
    let ours = Report::of(&run_of(100)).to_html();
    assert!(ours.contains(MEASURED));
    let theirs = RunView {
        dir: "runs/20240301T101500Z-imported".into(),
        plan: "[imported]\nfrom = \"fio-3.33\"\nfiles = [\"qd8.json\"]\n".into(),
        ..imported(run_of(100))
    };
    let theirs = Report::of(&theirs).to_html();
    assert!(!theirs.contains(MEASURED));
    assert!(theirs.contains("Numbers are imported from the results of fio-3.33 unless they say published,"));
}
