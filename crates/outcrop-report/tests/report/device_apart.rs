//! Answers of runs whose cells differ in more than a reader expects: several subjects, open loops, depths without a single request.

use std::collections::BTreeSet;

use outcrop_report::answer::Claim;
use outcrop_report::{Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{ACCESS_PATTERN, ARRIVAL, JOBS, SPAN, SYNC};

use crate::fixture::RunBuilder;
use crate::other_values::{names_in, others_of, runs, with_other};

/// A run and the same under another subject, half as fast or not.
fn of_two_subjects() -> RunView {
    let mut run = RunBuilder::new(5).cells(&[4096], &[1, 8, 32], &[100]).build();
    let others: Vec<_> = run.trials.clone();
    run.trials.extend(others.into_iter().map(|mut trial| {
        trial.cell.push_str("-other");
        trial.subject = "/mnt/other".to_owned();
        trial
    }));
    run
}

#[test]
fn figures_and_advice_of_a_run_with_two_subjects_name_the_one_that_they_are_of() {
    let run = of_two_subjects();
    let subjects: Vec<&str> = vec![&run.trials[0].subject, "/mnt/other"];
    let report = Report::of(&run);
    let names_one = |text: &str| {
        subjects
            .iter()
            .any(|subject| text.contains(&format!("on {subject}")))
    };
    for claim in &report.layers[0].answer.advice {
        assert!(names_one(&claim.brief) && names_one(&claim.text), "{claim:?}");
    }
    let rows = serde_json::to_string(&report.layers[0].answer.capabilities).unwrap();
    assert!(names_one(&rows), "{rows}");
}

#[test]
fn no_finding_holds_a_device_to_the_rate_of_a_schedule() {
    let mut run = RunBuilder::new(5)
        .cells(&[4096, 65536], &[1, 8, 32], &[0, 70, 100])
        .build();
    for trial in &mut run.trials {
        trial
            .factors
            .insert(ARRIVAL.name.to_owned(), "constant:500".to_owned());
    }
    let report = Report::of(&run);
    let of_rates = [
        "knee-predicted-is-observed",
        "mix-is-weighted-mean",
        "bandwidth-grows-less-than-size",
        "latency-grows-with-size",
    ];
    for id in of_rates {
        let mut findings = report.layers[0].findings.iter();
        let finding = findings.find(|finding| finding.id == id).expect(id);
        assert!(matches!(finding.verdict, Verdict::NotTestable(_)), "{finding:?}");
    }
}

#[test]
fn a_knee_is_predicted_from_a_single_request_alone() {
    let knee = |depths: &[u32]| -> Option<Claim> {
        let report = Report::of(&RunBuilder::new(5).cells(&[4096], depths, &[100]).build());
        let advice = &report.layers[0].answer.advice;
        advice
            .iter()
            .find(|claim| claim.topic == "Knee of reads")
            .cloned()
    };
    let lone = knee(&[1, 4, 16, 64]).expect("it begins at one request");
    assert!(lone.text.contains("latency of a single request"), "{lone:?}");
    let deep = knee(&[8, 32, 64, 128]).expect("it is observed");
    assert!(!deep.text.contains("start to queue at about"), "{deep:?}");
    assert!(deep.text.contains("the least depth is QD 8"), "{deep:?}");
}

/// That each piece of advice on a run names the value of a factor that it is about.
fn names_it(run: &RunView, factor: FactorRef) {
    let names = names_in(run, factor);
    let report = Report::of(run);
    let advice = &report.layers[0].answer.advice;
    assert!(!advice.is_empty(), "{}", factor.name);
    for claim in advice {
        // A direction is in the topic; one job and one drive need no name, and nothing is read back unless it is said.
        let is_said = match factor.name {
            "read_write_mix" => claim.topic.contains("rite") || claim.topic == "Durability",
            "jobs" | "drives" | "replay" => true,
            "sync" => claim.topic == "Durability",
            _ => false,
        };
        for text in [&claim.brief, &claim.text] {
            let text = text.replace(' ', "");
            let is_random = factor.name == "access_pattern" && text.contains("random");
            let is_named = names.iter().any(|name| text.contains(name));
            assert!(
                is_named || is_random || is_said,
                "{}: {names:?} in {claim:?}",
                factor.name
            );
        }
    }
}

#[test]
fn advice_on_a_device_names_the_value_that_it_is_about_whichever_factor_cells_differ_in() {
    let [(schema, _), ..] = runs();
    let run = || RunBuilder::new(5).cells(&[4096], &[1, 4, 16], &[0]).build();
    for (factor, value) in others_of(schema) {
        names_it(&with_other(run(), factor, value), factor);
        if factor.name != SYNC.name {
            let synced = with_other(run(), &SYNC, "each");
            names_it(&with_other(synced, factor, value), factor);
        }
    }
}

#[test]
fn lines_by_depth_of_other_patterns_and_more_jobs_have_colours_that_no_other_line_has() {
    let run = RunBuilder::new(5).cells(&[4096], &[2, 16], &[0, 100]).build();
    let run = with_other(run, &JOBS, "2");
    let report = Report::of(&with_other(run, &ACCESS_PATTERN, "sequential"));
    let figures = report.figures();
    let figure = figures.iter().find(|figure| figure.id == "iops-by-depth");
    let drawn = serde_json::to_value(figure.expect("depths vary")).unwrap();
    let series = drawn["chart"]["series"].as_array().unwrap();
    let hues: BTreeSet<u64> = series.iter().filter_map(|line| line["hue"].as_u64()).collect();
    assert_eq!((series.len(), hues.len()), (6, 6), "{series:?}");
}

#[test]
fn a_span_is_named_though_the_size_of_the_subject_ends_in_its_spelling() {
    let run = RunBuilder::new(5).cells(&[4096], &[1, 8, 32], &[100]).build();
    for (subject, whole) in [
        ("read-only /data/2MiB.bin 512MiB", "512MiB"),
        ("scratch-file 12MiB, preconditioned 2×", "12MiB"),
    ] {
        let mut run = run.clone();
        for trial in &mut run.trials {
            subject.clone_into(&mut trial.subject);
            trial.factors.insert(SPAN.name.to_owned(), whole.to_owned());
        }
        let run = with_other(run, &SPAN, "2MiB");
        let report = Report::of(&run);
        let figures = report.figures();
        let by_depth = figures.iter().find(|figure| figure.id == "iops-by-depth");
        let csv = by_depth.expect("it is drawn").to_csv().unwrap();
        assert!(csv.contains("span 2MiB"), "{csv}");
        // The subject says the other one.
        assert!(!csv.contains(&format!("span {whole}")), "{csv}");
    }
}
