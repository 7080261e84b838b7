//! Where the knee of a device is predicted and observed, and what lies beyond the depths measured.

use outcrop_report::{Report, Verdict};
use outcrop_results::TrialEntry;
use outcrop_schema::device::{IOPS, QUEUE_DEPTH};

use crate::device_doubt::{claim, scatter};
use crate::device_limits::{finding, set, value};
use crate::fixture::RunBuilder;

/// The audit's words: `predicted 7.7, beyond the depths measured`, of depths 1 and 32.
#[test]
fn a_knee_between_the_depths_measured_is_not_said_to_lie_beyond_them() {
    let run = RunBuilder::new(5).cells(&[4096], &[1, 32], &[100]).build();
    let report = Report::of(&run);
    let mut advice = report.layers[0].answer.advice.iter();
    let knee = advice.find(|claim| claim.topic == "Knee of reads").unwrap();
    assert_eq!(
        knee.brief,
        "at least 16.0 in flight predicted; not observed: a knee needs three depths"
    );
}

/// Depths that were not tried may give more, where the deepest that was tried gives the most.
#[test]
fn the_advice_says_that_deeper_queues_were_not_measured_where_the_deepest_gives_the_most() {
    const DEEPER: &str = "deeper queues may give more";
    let advice = |depths: &[u32], topic: &str| {
        let run = RunBuilder::new(5).cells(&[4096], depths, &[100]).build();
        let report = Report::of(&run);
        let mut advice = report.layers[0].answer.advice.iter();
        let claim = advice.find(|claim| claim.topic == topic).expect("a claim");
        (claim.brief.clone(), claim.text.clone())
    };
    // The builder's device gives its most at 16 in flight: depths up to 8 only see it rise.
    let (brief, text) = advice(&[1, 2, 4, 8], "Read throughput");
    assert!(brief.contains(DEEPER) && text.contains(DEEPER), "{brief}\n{text}");
    let (brief, text) = advice(&[1, 8, 32, 64, 128], "Read throughput");
    assert!(
        !brief.contains(DEEPER) && !text.contains(DEEPER),
        "{brief}\n{text}"
    );
    let (brief, text) = advice(&[1, 2, 4, 8], "Knee of reads");
    assert!(brief.starts_with("at least "), "{brief}");
    assert!(text.contains("no less than about"), "{text}");
    let (brief, _) = advice(&[1, 8, 32, 64, 128], "Knee of reads");
    assert!(!brief.contains("at least"), "{brief}");
}

/// The device gives its most at 16 in flight. Throughput per latency at 8 and 32 is half of that, or more where a trial of them was lucky.
#[test]
fn depths_whose_intervals_overlap_are_all_the_knee_that_was_observed() {
    let run = |scattered: &[&str]| {
        let mut run = RunBuilder::new(5)
            .cells(&[4096], &[1, 4, 8, 16, 32, 64], &[100])
            .build();
        let is_scattered = |trial: &TrialEntry| scattered.contains(&&*trial.factors[QUEUE_DEPTH.name]);
        scatter(&mut run, &IOPS.both, is_scattered, 0.13);
        run
    };
    let brief = |scattered: &[&str]| claim(&Report::of(&run(scattered)), "Knee of reads").brief.clone();
    assert!(brief(&[]).contains("observed at 16 ("), "{}", brief(&[]));
    let tied = brief(&["8", "32"]);
    assert!(tied.contains("observed somewhere from 8 to 32 (a tie)"), "{tied}");
    // Where the deepest gives the most for sure, requests may queue later than predicted, whatever is observed.
    assert!(!tied.contains("at least"), "{tied}");
    let mut rising = run(&[]);
    for trial in &mut rising.trials {
        if trial.factors[QUEUE_DEPTH.name] == "64" {
            let more = 1.3 * value(trial, &IOPS.both);
            set(trial, IOPS.both, more);
        }
    }
    let rising = claim(&Report::of(&rising), "Knee of reads").brief.clone();
    assert!(
        rising.starts_with("at least ") && rising.contains("observed at 16 ("),
        "{rising}"
    );
    // A prediction that is close to one of them and not to another is neither right nor wrong.
    let report = Report::of(&run(&["8", "16", "32", "64"]));
    let knee = finding(&report, "knee-predicted-is-observed");
    assert!(
        matches!(knee.verdict, Verdict::NotTestable(_)),
        "{:?}",
        knee.verdict
    );
}
