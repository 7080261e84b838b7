//! What the device's report must not claim: others' traffic, memory, a schedule or the loop itself as the device's.

use outcrop_report::answer::{Capability, ReadingOutcome, Severity};
use outcrop_report::section::FigureSlot;
use outcrop_report::{Finding, Report, Verdict};
use outcrop_results::{RunView, TrialEntry, Value};
use outcrop_schema::device::{
    ARRIVAL, ARRIVAL_REQUESTED, DEVICE_BYTES_RATIO, Direction, ENGINE, FOREIGN_BYTES_RATIO,
    IO_WORKER_CPU_SHARE, IOPS, LATENCY, MISSING_BYTES_RATIO, PAGE_CACHE, QUEUE_DEPTH,
};
use outcrop_schema::metrics::Metric;

use crate::fixture::RunBuilder;

/// A run of three trials per cell: 4 KiB at depths 1, 8 and 32.
pub(crate) fn run_of(read_percent: u8) -> RunView {
    RunBuilder::new(3)
        .cells(&[4096], &[1, 8, 32], &[read_percent])
        .build()
}

pub(crate) fn set(trial: &mut TrialEntry, metric: Metric, value: f64) {
    trial.values.retain(|known| known.metric != metric.name);
    trial.values.push(Value::measured(metric, value));
}

pub(crate) fn value(trial: &TrialEntry, metric: &Metric) -> f64 {
    let found = trial.values.iter().find(|value| value.metric == metric.name);
    found.and_then(|value| value.value).expect("the fixture has it")
}

pub(crate) fn finding(report: &Report, id: &str) -> Finding {
    let mut findings = report.layers[0].findings.iter();
    findings
        .find(|finding| finding.id == id)
        .expect("a finding of the device")
        .clone()
}

pub(crate) fn warnings(report: &Report) -> Vec<&str> {
    let cautions = report.layers[0].answer.cautions.iter();
    let warnings = cautions.filter(|caution| caution.severity == Severity::Warning);
    warnings.map(|caution| caution.text.as_str()).collect()
}

pub(crate) fn row<'r>(report: &'r Report, label: &str) -> &'r Capability {
    let rows = &report.layers[0].answer.capabilities;
    let found = rows.iter().find(|row| row.label == label);
    found.unwrap_or_else(|| panic!("no {label} in {rows:?}"))
}

/// Why the reading of a direction is missing; `None` where it is there.
pub(crate) fn missing(row: &Capability, direction: Direction) -> Option<&str> {
    let column = usize::from(direction == Direction::Write);
    match &row.readings[column].outcome {
        ReadingOutcome::Missing(absence) => Some(&absence.reason),
        ReadingOutcome::Measured { .. } => None,
    }
}

#[test]
fn cells_in_which_the_kernel_handed_operations_to_its_workers_are_named() {
    let cautions = |deep: f64| {
        let mut run = run_of(0);
        for trial in &mut run.trials {
            let is_deep = trial.factors[QUEUE_DEPTH.name] == "32";
            set(trial, IO_WORKER_CPU_SHARE, if is_deep { deep } else { 0.0 });
        }
        let report = Report::of(&run);
        let cautions = report.layers[0].answer.cautions.iter();
        let texts: Vec<String> = cautions.map(|caution| caution.text.clone()).collect();
        texts.into_iter().find(|text| text.contains("worker threads"))
    };
    assert_eq!(cautions(0.01), None);
    let text = cautions(0.46).expect("a caution");
    assert!(
        text.starts_with("In 1 cell the kernel") && text.contains("46 %") && text.contains("QD 32"),
        "{text}"
    );
}

#[test]
fn bandwidth_against_latency_is_drawn_for_reads_and_for_writes() {
    for (read_percent, name) in [(100, "read"), (0, "write")] {
        let report = Report::of(&run_of(read_percent));
        let mut figures = report.layers[0].figures.iter().filter_map(|slot| match slot {
            FigureSlot::Drawn(figure) => Some(figure),
            FigureSlot::Missing(_) => None,
        });
        let figure = figures
            .find(|figure| figure.id == "bandwidth-vs-latency")
            .expect("it is drawn");
        assert!(figure.to_page_svg().contains(&format!("4 KiB random {name}")));
    }
}

#[test]
fn one_trial_that_shared_its_device_is_named_though_the_other_trials_of_its_cell_were_alone() {
    let mut run = run_of(100);
    for trial in &mut run.trials {
        let is_shared = trial.trial == 4;
        set(trial, DEVICE_BYTES_RATIO, if is_shared { 2.65 } else { 1.0 });
        set(trial, FOREIGN_BYTES_RATIO, if is_shared { 1.65 } else { 0.0 });
        set(trial, MISSING_BYTES_RATIO, 0.0);
    }
    let report = Report::of(&run);
    let bytes = finding(&report, "bytes-are-the-kernels");
    assert_eq!(bytes.verdict, Verdict::DoesNotHold);
    assert!(
        bytes.tested.contains("9 trials") && bytes.tested.contains("; 1 outside."),
        "{}",
        bytes.tested
    );
    assert!(
        bytes.numbers[1].name.contains("QD 8, trial 2"),
        "{:?}",
        bytes.numbers
    );
    assert!(
        warnings(&report)
            .iter()
            .any(|text| text.starts_with("In 1 of 9 trials"))
    );
    assert!(report.screen(80, false).contains("In 1 of 9 trials"));
}

#[test]
fn a_run_of_before_this_was_recorded_is_judged_by_trials_too() {
    let mut run = run_of(100);
    set(&mut run.trials[0], DEVICE_BYTES_RATIO, 2.65);
    let bytes = finding(&Report::of(&run), "bytes-are-the-kernels");
    assert_eq!(bytes.verdict, Verdict::DoesNotHold);
}

#[test]
fn reads_that_never_reached_the_device_and_writes_of_others_do_not_cancel() {
    let mut run = run_of(100);
    for trial in &mut run.trials {
        set(trial, DEVICE_BYTES_RATIO, 1.0);
        set(trial, FOREIGN_BYTES_RATIO, 0.5);
        set(trial, MISSING_BYTES_RATIO, 0.5);
    }
    let bytes = finding(&Report::of(&run), "bytes-are-the-kernels");
    assert_eq!(bytes.verdict, Verdict::DoesNotHold);
}

#[test]
fn a_page_cache_that_answers_is_on_the_screen_and_the_device_is_not_called_the_limit() {
    let mut run = run_of(100);
    for trial in &mut run.trials {
        trial
            .notes
            .push(PAGE_CACHE.remark("loop0 was attached without direct I/O"));
    }
    let report = Report::of(&run);
    assert!(
        report
            .screen(80, false)
            .contains("Warning: loop0 was attached without direct I/O")
    );
    let limit = finding(&report, "device-is-the-limit");
    assert!(matches!(limit.verdict, Verdict::NotTestable(_)), "{limit:?}");
}

#[test]
fn bytes_that_did_not_reach_the_disk_below_a_loop_device_are_not_said_to_be_the_loop_devices() {
    let screen = |is_of_loop: bool| {
        let mut run = run_of(100);
        for trial in &mut run.trials {
            set(trial, DEVICE_BYTES_RATIO, 0.0);
            set(trial, FOREIGN_BYTES_RATIO, 0.0);
            set(trial, MISSING_BYTES_RATIO, 1.0);
            if is_of_loop {
                trial
                    .notes
                    .push(PAGE_CACHE.remark("loop0 was attached without direct I/O"));
            }
        }
        let screen = Report::of(&run).screen(80, false);
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let moved = |what: &str| format!("In 9 of 9 trials {what} moved over");
    let below = moved("the disk below the loop device");
    assert!(screen(true).contains(&below), "{}", screen(true));
    let itself = moved("the device");
    assert!(screen(false).contains(&itself), "{}", screen(false));
}

#[test]
fn the_finding_about_the_cpu_says_that_it_tests_nothing_else() {
    let limit = finding(&Report::of(&run_of(100)), "device-is-the-limit");
    assert_eq!(limit.verdict, Verdict::Holds);
    assert!(!limit.sentence.contains("The device") && limit.tested.contains("Only the CPU is tested"));
}

#[test]
fn writes_that_change_their_level_are_not_steady_and_the_screen_gives_both_levels() {
    let cliff = RunBuilder {
        intervals: (12, 0.3),
        ..RunBuilder::new(3)
    };
    let report = Report::of(&cliff.cells(&[4096], &[1, 8], &[0]).build());
    assert_eq!(
        finding(&report, "writes-are-steady").verdict,
        Verdict::DoesNotHold
    );
    let screen = report
        .screen(80, false)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        screen.contains("6 write trials of 6 were not steady, so their IOPS")
            && screen.contains("in its last five intervals"),
        "{screen}"
    );
}

#[test]
fn a_mix_whose_writes_have_no_p99_9_does_not_count_as_supported() {
    let mut run = run_of(90);
    for trial in &mut run.trials {
        trial
            .values
            .retain(|known| known.metric != LATENCY.both.p99_9.name);
        set(trial, LATENCY.both.p99_9, 1e6);
        set(trial, LATENCY.read.p99_9, 1e6);
        trial.values.push(Value::unavailable(
            LATENCY.write.p99_9,
            "too few operations (900) for a p99.9",
        ));
    }
    let report = Report::of(&run);
    let percentiles = finding(&report, "percentiles-are-supported");
    assert_eq!(percentiles.verdict, Verdict::DoesNotHold);
    assert_eq!(percentiles.numbers[1].value, 3.0, "cells without");

    // What an import does not state is no lack of samples, and each cell has its own reason.
    let first = run.trials[0].cell.clone();
    for trial in run.trials.iter_mut().filter(|trial| trial.cell == first) {
        trial
            .values
            .retain(|known| known.metric != LATENCY.write.p99_9.name);
        let reason = "fio reports the percentiles of reads and writes separately";
        trial.values.push(Value::unavailable(LATENCY.write.p99_9, reason));
    }
    let report = Report::of(&run);
    let percentiles = finding(&report, "percentiles-are-supported");
    assert_eq!(percentiles.numbers[1].value, 2.0, "cells without");
}

/// The same trials under a schedule that asks for `share` of what they reached.
fn under_a_schedule(mut run: RunView, share: f64) -> RunView {
    for trial in &mut run.trials {
        trial.factors.insert(ARRIVAL.name.into(), "poisson:4000".into());
        let asked = value(trial, &IOPS.both) / share;
        set(trial, ARRIVAL_REQUESTED, asked);
    }
    run
}

#[test]
fn an_offered_rate_is_not_shown_as_what_the_device_can_do() {
    let report = Report::of(&under_a_schedule(run_of(100), 1.0));
    let rows = &report.layers[0].answer.capabilities;
    let labels: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "Answered IOPS",
            "Answered bandwidth",
            "Latency at the answered rate, p50",
            "Latency at the answered rate, p99"
        ]
    );
    assert!(report.screen(80, false).contains("poisson:4k"));
    assert_eq!(report.layers[0].answer.advice, []);
    let limit = finding(&report, "device-is-the-limit");
    assert!(matches!(limit.verdict, Verdict::NotTestable(_)), "{limit:?}");
}

#[test]
fn an_open_loop_of_reads_alone_says_that_no_writes_were_measured_and_not_that_they_were_too_few() {
    let report = Report::of(&under_a_schedule(run_of(100), 1.0));
    for row in &report.layers[0].answer.capabilities {
        let why = missing(row, Direction::Write).unwrap();
        assert!(
            why.starts_with("this run has no cell with only writes; `outcrop device")
                && why.contains("--read-write-mix 0:100")
                && why.contains("--arrival poisson:4k"),
            "{}: {why}",
            row.label
        );
    }
    let screen = report.screen(80, false);
    assert!(
        screen.contains("not measured") && !screen.contains("too few operations"),
        "{screen}"
    );
}

#[test]
fn an_overloaded_open_loop_is_warned_of_first_and_is_not_called_the_highest_of_a_closed_loop() {
    let report = Report::of(&under_a_schedule(run_of(100), 0.5));
    let row = row(&report, "Overloaded, answered IOPS");
    assert_eq!(missing(row, Direction::Read), None);
    let rows = &report.layers[0].answer.capabilities;
    assert!(
        rows.iter()
            .all(|row| !row.label.to_lowercase().contains("highest")),
        "{rows:?}"
    );
    let first = warnings(&report)[0];
    assert!(
        first.contains("overloaded") && first.contains("offered") && first.contains("answered"),
        "{first}"
    );
    assert!(first.contains("grows with trial length"), "{first}");
    let screen = report.screen(80, false);
    assert!(screen.contains("Warning: 3 of 3 open-loop cells"), "{screen}");
    assert!(
        report.to_html().contains(">offered IOPS<"),
        "the cells have a column"
    );
}

#[test]
fn the_noop_engine_never_appears_under_the_name_of_a_device() {
    let mut run = run_of(100);
    for trial in &mut run.trials {
        trial.factors.insert(ENGINE.name.into(), "noop".into());
        trial
            .values
            .retain(|known| known.metric != DEVICE_BYTES_RATIO.name);
        let reason = "the noop engine does not access a device";
        trial.values.push(Value::unavailable(DEVICE_BYTES_RATIO, reason));
    }
    let report = Report::of(&run);
    let answer = &report.layers[0].answer;
    assert!(
        answer.subject.contains("no device was accessed"),
        "{}",
        answer.subject
    );
    assert!(
        answer
            .capabilities
            .iter()
            .all(|row| row.label.starts_with("Loop alone"))
    );
    assert_eq!(answer.advice, []);
    assert!(
        answer
            .cautions
            .iter()
            .all(|caution| !caution.text.contains("could not be checked"))
    );
    let limit = finding(&report, "device-is-the-limit");
    assert!(matches!(limit.verdict, Verdict::NotTestable(_)), "{limit:?}");
}

#[test]
fn half_of_a_mix_is_never_the_highest_of_its_direction() {
    let report = Report::of(&run_of(70));
    for direction in Direction::ALL {
        let reason = missing(row(&report, "Highest IOPS"), direction);
        assert!(
            reason.is_some_and(
                |reason| reason.contains("`outcrop device /mnt/data --size 1GiB --read-write-mix")
            ),
            "{reason:?}"
        );
        assert_eq!(
            missing(row(&report, "IOPS in a 70:30 mix (30 % writes)"), direction),
            None
        );
    }
}

#[test]
fn what_a_run_of_reads_lacks_names_the_mix_that_measures_it() {
    let report = Report::of(&run_of(100));
    let reason = missing(row(&report, "QD 1 latency, p50"), Direction::Write).unwrap();
    assert!(reason.contains("--read-write-mix 0:100"), "{reason}");
    assert!(!reason.contains("ssd-queue-depth"), "{reason}");
}

#[test]
fn the_smallest_depth_that_ties_with_the_best_is_advised() {
    let mut run = RunBuilder::new(5).cells(&[4096], &[1, 32, 256], &[100]).build();
    let deepest = run
        .trials
        .iter_mut()
        .filter(|trial| trial.factors[QUEUE_DEPTH.name] == "256");
    for trial in deepest {
        let faster = value(trial, &IOPS.both) * 1.01;
        set(trial, IOPS.both, faster);
    }
    let report = Report::of(&run);
    let advice = &report.layers[0].answer.advice;
    let throughput = advice
        .iter()
        .find(|claim| claim.topic == "Read throughput")
        .unwrap();
    assert!(
        throughput.brief.starts_with("QD 32:") && throughput.brief.contains("a tie with QD 256"),
        "{}",
        throughput.brief
    );
    assert!(
        advice
            .iter()
            .all(|claim| !claim.text.contains("% of the highest,"))
    );
}

#[test]
fn a_device_that_moved_nothing_was_not_used_by_another_process() {
    let warned = |foreign: f64, missing: f64| {
        let mut run = run_of(100);
        for trial in &mut run.trials {
            set(trial, DEVICE_BYTES_RATIO, 1.0 + foreign - missing);
            set(trial, FOREIGN_BYTES_RATIO, foreign);
            set(trial, MISSING_BYTES_RATIO, missing);
        }
        warnings(&Report::of(&run)).join(" ")
    };
    // Reads of a file that is all holes.
    let holes = warned(0.0, 1.0);
    assert!(
        holes.contains("these figures are not those of the device") && !holes.contains("another process"),
        "{holes}"
    );
    let cached = warned(0.0, 0.1);
    assert!(
        cached.contains("such as a cache") && !cached.contains("not those of the device"),
        "{cached}"
    );
    let shared = warned(0.5, 0.0);
    assert!(shared.contains("another process used it"), "{shared}");
}
