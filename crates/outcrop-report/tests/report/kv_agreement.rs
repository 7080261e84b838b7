//! What is said where an engine and the block device count different bytes: which one counts more decides it.

use outcrop_report::{Finding, Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::kv::{DURABILITY, IO, LOAD_WRITES_DEVICE};

use crate::kv_fixture::codecs;

/// A run whose engine wrote twice the bytes of the user's in the load, and the device that multiple of them.
fn with_device(multiple: f64) -> RunView {
    let mut run = codecs();
    for value in run.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        if value.metric == LOAD_WRITES_DEVICE.name {
            value.value = Some(multiple);
        }
    }
    run
}

fn of_load(report: &Report) -> &Finding {
    let mut findings = report.layers[0].findings.iter();
    findings
        .find(|finding| finding.id == "kv-load-writes-agree")
        .expect("it is a finding of the layer")
}

fn failed_checks(report: &Report) -> String {
    let placement = report.placement.as_ref().expect("the run has codecs");
    placement.failed_checks.join(" ")
}

#[test]
fn a_device_that_counts_more_was_used_by_others_and_is_a_failed_check_of_the_answer() {
    let report = Report::of(&with_device(4.0));
    let finding = of_load(&report);
    assert_eq!(finding.verdict, Verdict::DoesNotHold);
    assert!(
        finding.remedy.starts_with("Stop other programs"),
        "{}",
        finding.remedy
    );
    let failed = failed_checks(&report);
    assert!(failed.contains("count different bytes"), "{failed}");
}

#[test]
fn a_device_that_counts_less_had_a_page_cache_before_it_and_fails_no_check() {
    let report = Report::of(&with_device(1.0));
    let Verdict::NotTestable(why) = &of_load(&report).verdict else {
        panic!("{:?}", of_load(&report));
    };
    assert!(
        why.contains("a flush deletes the log") && why.contains("No other figure depends on it"),
        "{why}"
    );
    assert!(why.contains("--durability synced"), "{why}");
    let screen = report.screen(120, false);
    assert!(!screen.contains("quality check"), "{screen}");
    assert_eq!(failed_checks(&report), "");
}

#[test]
fn a_device_that_counts_less_than_what_was_synced_past_the_page_cache_fails_the_check() {
    let mut run = with_device(1.0);
    for trial in &mut run.trials {
        trial
            .factors
            .insert(DURABILITY.name.to_owned(), "synced".to_owned());
        trial.factors.insert(IO.name.to_owned(), "direct".to_owned());
    }
    let report = Report::of(&run);
    let finding = of_load(&report);
    assert_eq!(finding.verdict, Verdict::DoesNotHold);
    assert!(finding.failure.contains("fewer bytes"), "{}", finding.failure);
    assert!(!finding.remedy.contains("other programs"), "{}", finding.remedy);
}
