//! Where the knee of a device is predicted and observed, and what lies beyond the depths measured.

use outcrop_report::{Report, Verdict};
use outcrop_results::{RunView, TrialEntry};
use outcrop_schema::device::{IOPS, LATENCY, QUEUE_DEPTH};

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

/// Three trials at each depth, with these IOPS and the latencies that follow from them, which differ by this share.
fn of_iops(points: &[(u32, f64)], spread: f64) -> RunView {
    let depths: Vec<u32> = points.iter().map(|(depth, _)| *depth).collect();
    let mut run = RunBuilder::new(3).cells(&[4096], &depths, &[100]).build();
    for trial in &mut run.trials {
        let is_here = |(depth, _): &&(u32, f64)| depth.to_string() == trial.factors[QUEUE_DEPTH.name];
        let (depth, iops) = points.iter().find(is_here).expect("a point of each depth");
        let iops = iops * (1.0 + spread * (f64::from(trial.repetition) - 1.0));
        set(trial, IOPS.both, iops);
        set(trial, LATENCY.both.mean, f64::from(*depth) * 1e9 / iops);
    }
    run
}

/// What is said of the knee in brief, and of the finding that it is where it is predicted: `None` where that is not testable.
fn knee_of(points: &[(u32, f64)], spread: f64) -> (String, Option<bool>) {
    let report = Report::of(&of_iops(points, spread));
    let brief = claim(&report, "Knee of reads").brief.clone();
    let holds = match finding(&report, "knee-predicted-is-observed").verdict {
        Verdict::Holds => Some(true),
        Verdict::DoesNotHold => Some(false),
        Verdict::NotTestable(_) => None,
    };
    (brief, holds)
}

#[test]
fn a_prediction_amid_the_depths_that_tie_is_neither_right_nor_wrong() {
    let (brief, holds) = knee_of(&[(1, 10e3), (4, 20e3), (16, 40e3), (64, 80e3)], 0.10);
    let both = "at least 8.0 in flight predicted; observed at 1 or deeper (a tie)";
    assert!(brief.starts_with(both), "{brief}");
    assert_eq!(holds, None);
}

/// More may be predicted once deeper queues are measured.
#[test]
fn a_lower_bound_of_the_knee_is_contradicted_only_by_an_observed_one_below_it() {
    let (brief, holds) = knee_of(&[(1, 10e3), (4, 20e3), (16, 43e3), (64, 60e3)], 0.01);
    assert_eq!(
        brief,
        "at least 6.0 in flight predicted; observed at 16 (72 % of the peak)"
    );
    assert_eq!(holds, None);
    let (brief, holds) = knee_of(&[(1, 10e3), (4, 39e3), (64, 40e3), (256, 100e3)], 0.01);
    assert!(
        brief.starts_with("at least 10.0 ") && brief.contains("observed at 4 "),
        "{brief}"
    );
    assert_eq!(holds, Some(false));
}

#[test]
fn the_best_depth_by_the_medians_alone_is_no_reason_to_leave_out_those_that_tie_with_it() {
    for deepest in [101e3, 99e3] {
        let (brief, holds) = knee_of(&[(1, 10e3), (16, 40e3), (32, 71e3), (64, deepest)], 0.05);
        assert!(brief.contains("observed at 32 or deeper (a tie)"), "{brief}");
        assert_eq!(holds, None);
    }
    // Close to both, and either may be deeper still.
    let (_, holds) = knee_of(&[(1, 3e3), (16, 40e3), (32, 71e3), (64, 101e3)], 0.01);
    assert_eq!(holds, None);
    let (brief, holds) = knee_of(&[(1, 10e3), (16, 40e3), (32, 71e3), (64, 200e3)], 0.05);
    assert!(
        brief.contains("not observed among the depths measured"),
        "{brief}"
    );
    assert_eq!(holds, None);
}

#[test]
fn what_lies_below_the_depths_that_tie_and_between_them_is_said() {
    let (brief, _) = knee_of(&[(4, 40e3), (8, 58e3), (16, 64e3), (32, 66e3)], 0.12);
    assert!(brief.contains("observed at 8 or lower (a tie)"), "{brief}");
    let (brief, _) = knee_of(
        &[(1, 10e3), (8, 80e3), (16, 81e3), (32, 160e3), (64, 161e3)],
        0.05,
    );
    assert!(brief.contains("observed at 8 or 32 (a tie)"), "{brief}");
}
