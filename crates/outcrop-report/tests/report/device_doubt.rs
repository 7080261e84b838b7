//! Figures of a device that are not known well: what rests on them says so, or is withheld.

use outcrop_measure::Interval;
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unit;
use outcrop_report::answer::Claim;
use outcrop_report::{Number, Report, Verdict};
use outcrop_results::{HistogramEntry, NONE_COMPLETED, RunView, TrialEntry, Value};
use outcrop_schema::device::{
    BANDWIDTH, Direction, IO_BLOCK_SIZE, IOPS, JOBS, LATENCY, NOTHING_COMPLETED, QUEUE_DEPTH, READ_WRITE_MIX,
};
use outcrop_schema::metrics::Metric;

use crate::device_limits::{finding, missing, row, run_of, set, value};
use crate::fixture::{RunBuilder, complete};

/// Multiplies a metric of the trials of some cells, further for each repetition: a wide interval.
pub(crate) fn scatter(run: &mut RunView, metric: &Metric, cells: impl Fn(&TrialEntry) -> bool, by: f64) {
    for trial in run.trials.iter_mut().filter(|trial| cells(trial)) {
        let step = f64::from(trial.repetition) - 1.0;
        let scattered = value(trial, metric) * (1.0 + by * step);
        set(trial, *metric, scattered);
    }
}

pub(crate) fn claim<'r>(report: &'r Report, topic: &str) -> &'r Claim {
    let advice = &report.layers[0].answer.advice;
    let found = advice.iter().find(|claim| claim.topic == topic);
    found.unwrap_or_else(|| panic!("no {topic} in {advice:?}"))
}

#[test]
fn an_uncertain_claim_names_the_number_that_is_uncertain() {
    let mut run = run_of(100);
    let is_deep = |trial: &TrialEntry| trial.factors[QUEUE_DEPTH.name] == "32";
    for metric in [LATENCY.both.p99, LATENCY.read.p99] {
        scatter(&mut run, &metric, is_deep, 0.18);
    }
    let report = Report::of(&run);
    let brief = &claim(&report, "Read throughput").brief;
    assert!(brief.contains("; uncertain: p99 at QD 32 ± 1"), "{brief}");
}

#[test]
fn what_a_cell_with_all_its_trials_leaves_open_is_repeated_and_not_resumed() {
    let is_deep = |trial: &TrialEntry| trial.factors[QUEUE_DEPTH.name] == "32";
    let run_without = |depth: &str| {
        let mut run = RunBuilder::new(3).cells(&[4096], &[1, 8, 32], &[100]).build();
        scatter(&mut run, &IOPS.both, is_deep, 0.9);
        run.plan.push_str("\n[plan.trial]\nrepetitions = 4\n");
        // Those of this depth lack trials, all others have what the plan asks for.
        let mut fourth: Vec<TrialEntry> = run.trials.clone();
        fourth.retain(|trial| trial.repetition == 2 && trial.factors[QUEUE_DEPTH.name] != depth);
        for trial in &mut fourth {
            trial.repetition = 3;
        }
        run.trials.extend(fourth);
        assert!(run.is_unfinished());
        run
    };
    let elsewhere = Report::of(&run_without("8"));
    let brief = &claim(&elsewhere, "Read throughput").brief;
    assert!(
        brief.contains("not decided") && brief.contains("; run `outcrop run ") && !brief.contains("resume"),
        "{brief}"
    );
    let screen = elsewhere.screen(200, false);
    assert!(
        screen.contains("More measurements may decide the rest: run `outcrop run "),
        "{screen}"
    );
    let here = Report::of(&run_without("32"));
    let brief = &claim(&here, "Read throughput").brief;
    assert!(brief.contains("resume the run"), "{brief}");
}

#[test]
fn what_is_computed_from_uncertain_numbers_is_as_uncertain_in_findings_and_in_advice() {
    let mut run = RunBuilder::new(3)
        .cells(&[4096], &[1, 8, 32], &[100, 70, 0])
        .build();
    // The pure writes alone are uncertain: neither the mix nor the reads.
    scatter(
        &mut run,
        &IOPS.both,
        |trial| trial.factors[READ_WRITE_MIX.name] == "0:100",
        0.9,
    );
    let report = Report::of(&run);
    let mix = finding(&report, "mix-is-weighted-mean");
    assert!(
        matches!(&mix.verdict, Verdict::NotTestable(reason) if reason.contains("These trials cannot tell")),
        "{:?}",
        mix.verdict
    );
    assert!(
        claim(&report, "Mix").brief.starts_with("not decided"),
        "{:?}",
        claim(&report, "Mix")
    );
    let knee = finding(&report, "knee-predicted-is-observed");
    assert!(
        matches!(knee.verdict, Verdict::NotTestable(_)),
        "{:?}",
        knee.verdict
    );
    assert!(
        claim(&report, "Knee of writes").brief.starts_with("not decided"),
        "{:?}",
        claim(&report, "Knee of writes")
    );
    let certain = RunBuilder::new(3)
        .cells(&[4096], &[1, 8, 32], &[100, 70, 0])
        .build();
    let mix = finding(&Report::of(&certain), "mix-is-weighted-mean");
    assert_eq!(mix.verdict, Verdict::DoesNotHold);
    let ratio = mix.numbers[0]
        .interval
        .expect("an interval from those of its inputs");
    assert!(ratio.low < mix.numbers[0].value && mix.numbers[0].value < ratio.high);
}

#[test]
fn the_access_size_that_is_advised_ties_with_the_best_by_its_interval() {
    let sizes = |spread| {
        let run = RunBuilder {
            spread,
            ..RunBuilder::new(3)
        };
        let mut run = run.cells(&[4096, 16384, 131_072], &[32], &[100]).build();
        // 95 % of the highest bandwidth: near it, and yet another figure where the trials are close together.
        let middle = run.trials.iter_mut();
        for trial in middle.filter(|trial| trial.factors[IO_BLOCK_SIZE.name] == "16KiB") {
            let less = value(trial, &BANDWIDTH.both) * 0.95;
            set(trial, BANDWIDTH.both, less);
        }
        claim(&Report::of(&run), "Access size").brief.clone()
    };
    assert!(sizes(0.002).starts_with("128 KiB reads"), "{}", sizes(0.002));
    let tie = sizes(0.04);
    assert!(
        tie.starts_with("16 KiB reads") && tie.contains("a tie with 128 KiB"),
        "{tie}"
    );
}

#[test]
fn reads_of_one_mix_and_writes_of_another_are_not_in_one_row() {
    let run = RunBuilder::new(3).cells(&[4096], &[32], &[100, 70]).build();
    let report = Report::of(&run);
    let row = row(&report, "Latency at highest IOPS, p50");
    assert_eq!(missing(row, Direction::Read), None);
    assert!(missing(row, Direction::Write).is_some(), "{row:?}");
}

#[test]
fn a_wide_cell_of_a_matrix_shows_the_ends_of_its_interval_and_the_page_states_the_threshold() {
    let mut run = RunBuilder::new(3).cells(&[4096, 16384], &[1, 8], &[100]).build();
    for metric in [LATENCY.both.p99, LATENCY.read.p99] {
        let first = run.trials.iter_mut().find(|trial| trial.repetition == 2).unwrap();
        let far = value(first, &metric) * 100.0;
        set(first, metric, far);
    }
    let page = Report::of(&run).to_html();
    assert!(
        !page.contains("±9") && !page.contains("±4"),
        "no half width of thousands of per cent"
    );
    let mark = page.split_once("<small>(").expect("a wide cell").1;
    let ends = mark.split_once(')').unwrap().0;
    assert!(ends.contains('–'), "{ends}");
    assert!(page.contains("more than ± 5 %"), "the threshold");
}

#[test]
fn a_sheet_for_print_has_the_warnings() {
    let mut run = run_of(100);
    for trial in &mut run.trials {
        set(trial, outcrop_schema::device::DEVICE_BYTES_RATIO, 2.65);
        set(trial, outcrop_schema::device::FOREIGN_BYTES_RATIO, 1.65);
        set(trial, outcrop_schema::device::MISSING_BYTES_RATIO, 0.0);
    }
    let page = Report::of(&run).to_one_page_html();
    assert!(page.contains("Warning: ") && page.contains("In 9 of 9 trials the device moved"));
}

#[test]
fn what_is_missing_is_measured_by_a_plan_that_is_named_and_not_by_a_path() {
    let run = run_of(100);
    let report = Report::of(&run);
    let page = report.to_html();
    assert!(page.contains("outcrop run ssd-matrix"));
    let texts = report.layers[0]
        .findings
        .iter()
        .map(|finding| format!("{finding:?}"));
    assert!(!page.contains("plans/ssd-") && texts.into_iter().all(|text| !text.contains("plans/")));
}

#[test]
fn the_checks_of_a_publication_are_folded_away() {
    let page = Report::of(&complete()).to_html();
    assert!(page.contains("<summary>Checks of the publication. Holds: "));
}

#[test]
fn a_phone_is_told_that_the_table_of_cells_scrolls() {
    assert!(
        Report::of(&complete())
            .to_html()
            .contains("class=\"soft scroll-cue\"")
    );
}

#[test]
fn a_trial_that_stalled_is_warned_of_and_leaves_the_median_of_its_cell() {
    let mut run = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    let stalled = run.trials.iter_mut().find(|trial| trial.repetition == 2).unwrap();
    for entry in &mut stalled.histograms {
        let mut histogram = LatencyHistogram::new();
        histogram.record(3_000_000_000);
        let (index, start_s, duration_s) = (entry.interval_index, entry.start_s, entry.duration_s);
        *entry = HistogramEntry::new(
            &entry.operation,
            entry.kind,
            index,
            start_s,
            duration_s,
            &histogram,
        );
    }
    let p50 = LATENCY.read.p50;
    for value in &mut stalled.values {
        if value.metric == p50.name {
            *value = Value::unavailable(p50, "too few operations (8) for a p50");
        }
    }
    let report = Report::of(&run);
    let answer = &report.layers[0].answer;
    let cautions: Vec<&str> = answer
        .cautions
        .iter()
        .map(|caution| caution.text.as_str())
        .collect();
    assert!(
        cautions
            .iter()
            .any(|text| text.starts_with("1 trial stalled") && text.contains("trial 3 of ")),
        "{cautions:?}"
    );
    let cell = &run.cells()[0];
    let samples = cell.metric(p50.name).unwrap();
    assert!(samples.median().unwrap() < 1e6, "{samples:?}");
    assert!(report.screen(120, false).contains("1 trial stalled"));
    let counts = "Where only stalled trials lack a figure, a latency counts as the longest in the trial, and a rate as 0.";
    assert!(cautions.iter().any(|text| text.ends_with(counts)), "{cautions:?}");
}

/// Nothing completed in the trials of these repetitions.
fn without_operations(run: &mut RunView, repetitions: &[u32]) {
    let lost = |trial: &&mut TrialEntry| repetitions.contains(&trial.repetition);
    for trial in run.trials.iter_mut().filter(lost) {
        trial.histograms.clear();
        trial
            .notes
            .push(NOTHING_COMPLETED.remark("no operation completed"));
        for metric in [IOPS.both, IOPS.read, BANDWIDTH.both, BANDWIDTH.read] {
            trial.values.retain(|value| value.metric != metric.name);
            trial.values.push(Value::unavailable(metric, NONE_COMPLETED));
        }
    }
}

#[test]
fn of_two_trials_one_that_stalled_leaves_its_cell_without_figures_and_none_is_called_too_short() {
    let mut run = RunBuilder::new(2).cells(&[4096], &[8], &[100]).build();
    without_operations(&mut run, &[1]);
    assert_eq!(run.cells()[0].metric(IOPS.both.name).unwrap().median(), None);
    let report = Report::of(&run);
    let cautions = &report.layers[0].answer.cautions;
    let mut texts = cautions.iter().map(|caution| &caution.text);
    let stalled = texts.find(|text| text.starts_with("1 trial stalled")).unwrap();
    let of_half = "Where half of a cell's trials stalled, the cell lacks each figure that those trials lack.";
    assert!(stalled.ends_with(of_half), "{stalled}");
    assert!(!stalled.contains("counts as"), "{stalled}");
    assert!(
        cautions
            .iter()
            .all(|caution| !caution.text.contains("--duration")),
        "{cautions:?}"
    );
}

#[test]
fn a_cell_in_which_nothing_completed_at_all_says_so_and_what_to_set() {
    let mut run = RunBuilder::new(2).cells(&[4096], &[8], &[100]).build();
    without_operations(&mut run, &[0, 1]);
    let report = Report::of(&run);
    let cautions = &report.layers[0].answer.cautions;
    let start =
        "1 cell has no IOPS, bandwidth or latency, since no operation completed in a trial (4 KiB random";
    assert!(
        cautions.iter().any(|caution| caution.text.starts_with(start)),
        "{cautions:?}"
    );
    let iops = missing(row(&report, "Highest IOPS"), Direction::Read);
    assert!(iops.unwrap().ends_with(NONE_COMPLETED), "{iops:?}");
    assert!(report.screen(120, false).contains(NONE_COMPLETED));
}

#[test]
fn the_plus_minus_of_a_lopsided_interval_covers_its_longer_side() {
    let number = |low: f64, high: f64| {
        let interval = Interval {
            estimate: 19.7,
            low,
            high,
            confidence: 0.75,
            n: 3,
        };
        Number {
            interval: Some(interval),
            ..Number::derived("p99", 19.7, Unit::Ratio, 3)
        }
    };
    let reach = |low, high| number(low, high).plus_minus_percent().unwrap();
    assert!((reach(19.7, 31.2) - 58.4).abs() < 0.1);
    assert!((reach(8.2, 19.7) - 58.4).abs() < 0.1);
    assert_eq!(reach(19.7, 19.7), 0.0);
    let doubt = number(19.7, 31.2).doubt().unwrap();
    assert_eq!(doubt, "p99 is known only to ± 58 %");
    // Both are as wide; only one of them reaches further than the threshold.
    assert!(number(19.7, 21.2).is_wide() && !number(19.0, 20.5).is_wide());
}

#[test]
fn an_interval_that_reaches_far_to_one_side_alone_decides_nothing() {
    let mut run = run_of(100);
    // Two trials alike, and one of which the p99 is 40 % longer: half the width is 20 %.
    let deep = run.trials.iter_mut();
    for trial in deep.filter(|trial| trial.factors[QUEUE_DEPTH.name] == "32" && trial.repetition == 2) {
        for metric in [LATENCY.both.p99, LATENCY.read.p99] {
            let longer = value(trial, &metric) * 1.4;
            set(trial, metric, longer);
        }
    }
    let report = Report::of(&run);
    let brief = &claim(&report, "Read throughput").brief;
    assert!(brief.starts_with("not decided (p99 at QD 32"), "{brief}");
}

#[test]
fn what_one_trial_says_is_not_decided_and_says_why() {
    let report = Report::of(&RunBuilder::new(1).cells(&[4096], &[1, 8, 32], &[100]).build());
    for topic in ["Read throughput", "Read latency", "Knee of reads"] {
        let claim = claim(&report, topic);
        assert!(claim.brief.starts_with("not decided ("), "{claim:?}");
        assert!(
            claim.brief.contains("one trial: its repeatability is unknown"),
            "{claim:?}"
        );
        assert_eq!(claim.action, None, "{claim:?}");
    }
}

#[test]
fn what_was_measured_often_is_not_advised_over_what_was_measured_once() {
    let with_once = |factor: &'static str, once: &'static str| {
        let mut run = RunBuilder::new(3)
            .cells(&[4096, 16_384], &[1, 8, 32], &[0])
            .build();
        run.trials
            .retain(|trial| trial.repetition == 0 || trial.factors[factor] != once);
        Report::of(&run)
    };
    let sizes = with_once(IO_BLOCK_SIZE.name, "4KiB");
    let size = claim(&sizes, "Access size");
    assert!(
        size.brief
            .starts_with("not decided (write bandwidth of 4 KiB random: ")
            && size.brief.contains("one trial: its repeatability is unknown"),
        "{size:?}"
    );
    let depths = with_once(QUEUE_DEPTH.name, "1");
    for topic in ["Write throughput", "Write latency", "Knee of writes"] {
        let claim = claim(&depths, topic);
        assert!(
            claim.brief.starts_with("not decided (") && claim.brief.contains("one trial"),
            "{claim:?}"
        );
        assert_eq!(claim.action, None, "{claim:?}");
    }
}

#[test]
fn advice_on_depth_says_that_it_is_of_one_job_and_what_several_give() {
    let mut run = run_of(100);
    let deepest = run.trials.clone().into_iter();
    for mut trial in deepest.filter(|trial| trial.factors[QUEUE_DEPTH.name] == "32") {
        trial.cell.push_str(" of four");
        trial.factors.insert(JOBS.name.into(), "4".into());
        let more = value(&trial, &IOPS.both) * 1.5;
        set(&mut trial, IOPS.both, more);
        run.trials.push(trial);
    }
    let report = Report::of(&run);
    let throughput = claim(&report, "Read throughput");
    let action = throughput.action.as_ref().expect("it is decided");
    for text in [&throughput.text, action] {
        assert!(text.contains("4 KiB random reads and one job"), "{text}");
        assert!(text.contains("; 4 jobs × QD 32 gives "), "{text}");
    }
    let alone = Report::of(&run_of(100));
    assert!(!claim(&alone, "Read throughput").text.contains("jobs ×"));
}

#[test]
fn no_access_size_is_called_better_than_one_whose_interval_overlaps() {
    let mut run = RunBuilder {
        spread: 0.04,
        ..RunBuilder::new(3)
    }
    .cells(&[4096, 131_072, 1 << 20], &[32], &[100])
    .build();
    let of_128: Vec<f64> = run
        .trials
        .iter()
        .filter(|trial| trial.factors[IO_BLOCK_SIZE.name] == "128KiB")
        .map(|trial| value(trial, &BANDWIDTH.both))
        .collect();
    let largest = run.trials.iter_mut();
    let largest = largest.filter(|trial| trial.factors[IO_BLOCK_SIZE.name] == "1MiB");
    for (trial, bandwidth) in largest.zip(of_128) {
        set(trial, BANDWIDTH.both, bandwidth * 0.99);
    }
    let report = Report::of(&run);
    let size = claim(&report, "Access size");
    assert!(
        size.text.contains("128 KiB random reads reach")
            && size.text.contains("whose interval overlaps that of 1 MiB"),
        "{size:?}"
    );
}
