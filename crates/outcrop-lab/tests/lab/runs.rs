//! Real runs on a small scratch file.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use outcrop_lab::{Event, LabError, PlanOptions, PlanSet, PlanSource, RunOutcome, execute, resume};
use outcrop_measure::units::ByteSize;
use outcrop_results::{NONE_COMPLETED, Outcome, TrialEntry};

use super::scene::{SMALL_PLAN, assert_complete, assert_empty, directory, plan_set, run_to_the_end, start};

fn value(entry: &TrialEntry, metric: &str) -> Option<f64> {
    let value = entry.values.iter().find(|value| value.metric == metric);
    value
        .unwrap_or_else(|| panic!("no {metric} in {:?}", entry.values))
        .value
}

fn reason(entry: &TrialEntry, metric: &str) -> String {
    let value = entry.values.iter().find(|value| value.metric == metric).unwrap();
    assert_eq!(value.value, None, "{metric}");
    value.source.clone().unwrap()
}

#[test]
fn a_run_yields_complete_trials_that_agree_with_themselves() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(SMALL_PLAN, data.path());
    let mut folder = start(&set, runs.path());
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    assert_eq!(
        (
            outcome.total,
            outcome.finished,
            outcome.failed,
            outcome.is_interrupted
        ),
        (8, 8, 0, false)
    );
    assert_empty(data.path());
    for entry in assert_complete(&set, &folder) {
        assert_eq!(
            (entry.layer.as_str(), entry.subject.as_str()),
            ("device", "scratch-file 4MiB")
        );
        assert_eq!(entry.plans, ["small"]);
        assert_eq!(entry.factors.len(), 17, "{:?}", entry.factors);
        check_figures(&entry);
    }
    assert!(folder.dir().join("records.parquet").is_file());
    assert!(folder.dir().join("histograms.parquet").is_file());
}

/// Bandwidth = IOPS × size; the directions add up; the histograms hold every operation.
fn check_figures(entry: &TrialEntry) {
    let [iops, bandwidth] = ["iops", "bandwidth"].map(|metric| value(entry, metric));
    let (Some(iops), Some(bandwidth)) = (iops, bandwidth) else {
        // A busy machine may stall a whole trial; then there are no figures, and no zeros in their place.
        for metric in ["iops", "bandwidth", "latency_mean"] {
            let reason = reason(entry, metric);
            assert!(
                reason.starts_with("too short: ") || reason == NONE_COMPLETED,
                "{entry:?}"
            );
        }
        return;
    };
    assert!((bandwidth / iops - 4096.0).abs() < 1e-6);
    let is_mixed = entry.factors["read_write_mix"] == "50:50";
    assert_eq!(
        entry.values.iter().any(|value| value.metric == "write_iops"),
        is_mixed
    );
    if is_mixed {
        let sum = value(entry, "read_iops").unwrap() + value(entry, "write_iops").unwrap();
        assert!((sum / iops - 1.0).abs() < 1e-9);
    }
    let recorded: u64 = entry.histograms.iter().map(|histogram| histogram.count).sum();
    assert!((recorded as f64 / entry.duration_s / iops - 1.0).abs() < 1e-9);
    assert!(value(entry, "latency_mean").unwrap() <= value(entry, "latency_max").unwrap());
    assert_eq!(value(entry, "errors"), Some(0.0));
    assert!(
        value(entry, "achieved_queue_depth").unwrap()
            <= entry.factors["queue_depth"].parse::<f64>().unwrap() + 1e-6
    );
    assert!(value(entry, "cpu_per_operation").unwrap() > 0.0);
}

#[test]
fn a_percentile_without_enough_samples_is_absent_with_the_number_of_samples() {
    let (runs, data) = (directory(), directory());
    let text = SMALL_PLAN
        .replace("[1, 4]", "[1]")
        .replace("\"4KiB\"", "\"4MiB\"");
    let set = plan_set(&text, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        let count: u64 = entry.histograms.iter().map(|histogram| histogram.count).sum();
        assert_eq!(
            reason(&entry, "latency_p99_99"),
            format!("too few operations ({count} of at least 100000) for a p99.99")
        );
    }
}

#[test]
fn open_loop_trials_tell_service_from_response_times() {
    let (runs, data) = (directory(), directory());
    let text = SMALL_PLAN
        .replace("[workload]", "[workload]\narrival = \"poisson:2000\"")
        .replace("[1, 4]", "[8]");
    let set = plan_set(&text, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        let [response, service] =
            ["latency_mean", "service_latency_mean"].map(|metric| value(&entry, metric));
        assert!(response >= service, "{response:?} {service:?}");
        assert_eq!(value(&entry, "arrival_requested"), Some(2000.0));
        assert!(value(&entry, "generator_lateness_max") >= value(&entry, "generator_lateness_p50"));
        assert!(value(&entry, "overhead_per_operation") > Some(0.0));
    }
}

#[test]
fn energy_is_a_figure_or_a_reason_and_never_zero() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(SMALL_PLAN, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    let entry = &folder.trials().unwrap()[0];
    match value(entry, "energy_per_operation") {
        Some(joules) => assert!(joules > 0.0),
        None => assert!(!reason(entry, "energy_per_operation").is_empty()),
    }
}

#[test]
fn what_is_read_only_keeps_its_bytes() {
    let (runs, data) = (directory(), directory());
    let file = data.path().join("precious");
    let bytes: Vec<u8> = (0..1_u32 << 20).map(|index| (index * 31 % 251) as u8).collect();
    std::fs::write(&file, &bytes).unwrap();
    let text = SMALL_PLAN
        .replace(
            "size = \"4MiB\"",
            &format!("kind = \"read-only\"\npath = {file:?}"),
        )
        .replace(", \"50:50\"", "");
    let set = plan_set(&text, data.path());
    assert_eq!(set.estimate().bytes_written(), 0);
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    assert_complete(&set, &folder);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[test]
fn two_plans_on_one_subject_measure_their_shared_cells_once() {
    let (runs, data) = (directory(), directory());
    let other = SMALL_PLAN
        .replace("\"small\"", "\"other\"")
        .replace("[1, 4]", "[4, 8]")
        .replace("repetitions = 2", "repetitions = 3");
    let sources = [SMALL_PLAN.to_owned(), other].map(|text| PlanSource {
        name: "p".to_owned(),
        text,
    });
    let options = PlanOptions {
        directory: Some(data.path().to_owned()),
        ..Default::default()
    };
    let set = PlanSet::from_sources(&sources, &options).unwrap();
    assert_eq!((set.cells().len(), set.trials().len()), (6, 2 * 2 + 4 * 3));
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        assert_eq!(
            entry.plans.len(),
            if entry.factors["queue_depth"] == "4" { 2 } else { 1 }
        );
    }
}

#[test]
fn events_come_in_order_and_count_up() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(SMALL_PLAN, data.path());
    let mut folder = start(&set, runs.path());
    let mut seen = Vec::new();
    let mut observer = |event: Event<'_>| match event {
        Event::Preparing {
            bytes_done,
            bytes_total,
            ..
        } => {
            assert!(seen.is_empty() && bytes_done <= bytes_total && bytes_total == 4 << 20);
        }
        Event::TrialStarted {
            finished,
            total,
            repetition,
            ..
        } => {
            assert_eq!(
                (finished, total, repetition as usize),
                (seen.len() / 2, 8, seen.len() / 8)
            );
            seen.push(finished);
        }
        Event::TrialFinished { finished, .. } => seen.push(finished),
        other => panic!("{other:?}"),
    };
    execute(&set, &mut folder, &mut observer, &AtomicBool::new(false)).unwrap();
    assert_eq!(seen, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8]);
}

#[test]
fn a_directory_that_is_missing_fails_before_anything_is_measured() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(SMALL_PLAN, &data.path().join("missing"));
    let mut folder = start(&set, runs.path());
    let error = run_to_the_end(&set, &mut folder).unwrap_err();
    assert!(matches!(error, LabError::Preparation { .. }), "{error:?}");
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(folder.trials().unwrap().is_empty());
}

/// Runs a command and gives its output; a machine that cannot is no reason to pass.
fn system(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Undoes a mount or a loop device however the test ends.
struct Undo(&'static str, Vec<String>);

impl Drop for Undo {
    fn drop(&mut self) {
        let undone = Command::new(self.0).args(&self.1).output();
        assert!(
            undone.is_ok_and(|output| output.status.success()) || std::thread::panicking(),
            "{} {:?}",
            self.0,
            self.1
        );
    }
}

/// Runs a plan on a file of 8 MiB that loses its second half when the first trial starts, as a disk that dies.
fn run_on_dying_file(plan: &str, folder_of: &Path) -> (Result<RunOutcome, LabError>, Vec<TrialEntry>) {
    let data = directory();
    let file = data.path().join("dying");
    std::fs::write(&file, vec![1; 8 << 20]).unwrap();
    let text = plan.replace(
        "size = \"4MiB\"",
        &format!("kind = \"read-only\"\npath = {file:?}"),
    );
    let set = plan_set(&text, data.path());
    let mut folder = start(&set, folder_of);
    let mut observer = |event: Event<'_>| {
        if matches!(event, Event::TrialStarted { .. }) {
            std::fs::File::options()
                .write(true)
                .open(&file)
                .unwrap()
                .set_len(4 << 20)
                .unwrap();
        }
    };
    let result = execute(&set, &mut folder, &mut observer, &AtomicBool::new(false));
    (result, folder.trials().unwrap())
}

#[test]
fn a_cell_that_fails_is_journalled_with_its_sentence_and_the_others_go_on() {
    let plan = SMALL_PLAN.replace(
        "read_write_mix = [\"100:0\", \"50:50\"]",
        "span = [\"4MiB\", \"8MiB\"]",
    );
    let (result, entries) = run_on_dying_file(&plan, directory().path());
    let outcome = result.unwrap();
    assert_eq!(
        (outcome.finished, outcome.failed, outcome.is_interrupted),
        (4, 4, false)
    );
    for entry in entries {
        match (entry.factors["span"].as_str(), &entry.outcome) {
            ("4MiB", outcome) => assert_eq!(*outcome, Outcome::Completed),
            (_, Outcome::Failed { message }) => assert!(message.contains("failed"), "{message}"),
            (span, outcome) => panic!("{span}: {outcome:?}"),
        }
    }
}

#[test]
fn a_layer_of_which_every_trial_fails_is_an_error() {
    let plan = SMALL_PLAN
        .replace(
            "read_write_mix = [\"100:0\", \"50:50\"]",
            "io_block_size = [\"8MiB\"]",
        )
        .replace("io_block_size = \"4KiB\"\n", "");
    let (result, entries) = run_on_dying_file(&plan, directory().path());
    let error = result.unwrap_err();
    assert!(matches!(error, LabError::LayerFailed { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .starts_with("no trial of the device layer could be measured; the first failed with: ")
    );
    assert_eq!(
        entries.len(),
        2,
        "given up after as many failures as there are cells"
    );
}

#[test]
fn nobody_can_take_the_subject_away_while_it_is_measured() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(&SMALL_PLAN.replace("\"100:0\", ", ""), data.path());
    let mut folder = start(&set, runs.path());
    let mut observer = |event: Event<'_>| {
        if let Event::TrialStarted { .. } = event {
            assert_empty(data.path());
        }
    };
    execute(&set, &mut folder, &mut observer, &AtomicBool::new(false)).unwrap();
    assert_complete(&set, &folder);
}

/// The small plan with writes alone.
pub(crate) fn writing_plan() -> String {
    SMALL_PLAN.replace("\"100:0\", \"50:50\"", "\"0:100\"")
}

#[test]
fn a_run_stops_before_it_writes_more_than_it_may_and_a_resume_goes_on() {
    const LIMIT: ByteSize = ByteSize((4 << 20) + 9 * 4096);
    let (runs, data) = (directory(), directory());
    let set = plan_set(&writing_plan(), data.path()).with_max_written(Some(LIMIT));
    let mut folder = start(&set, runs.path());
    let mut told = Vec::new();
    let mut observer = |event: Event<'_>| {
        if let Event::Warning(text) = event {
            told.push(text.to_owned());
        }
    };
    let outcome = execute(&set, &mut folder, &mut observer, &AtomicBool::new(false)).unwrap();
    assert!(outcome.is_interrupted);
    assert_eq!(
        outcome.bytes_written, LIMIT.0,
        "as much as it may, and not a block more"
    );
    assert!(told.iter().any(|text| text.contains("--max-written")), "{told:?}");
    let before = folder.trials().unwrap().len();
    let dir = folder.dir().to_owned();
    drop(folder);
    let resumed = resume(&dir).unwrap();
    assert_eq!(resumed.set.max_written(), Some(LIMIT), "a resume keeps the limit");
    let mut folder = resumed.folder;
    let set = resumed.set.with_max_written(None);
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    let entries = assert_complete(&set, &folder);
    let in_trials: f64 = entries[before..]
        .iter()
        .filter_map(|entry| value(entry, "bytes_written"))
        .sum();
    assert_eq!(outcome.bytes_written, (4 << 20) + in_trials as u64);
}

#[test]
fn a_run_that_would_write_more_than_it_may_is_refused_with_what_to_change() {
    let data = directory();
    let options = |max_written| PlanOptions {
        directory: Some(data.path().to_owned()),
        max_written: Some(max_written),
        ..PlanOptions::default()
    };
    let source = PlanSource {
        name: "plan.toml".to_owned(),
        text: writing_plan(),
    };
    let plan = |max_written| PlanSet::from_sources(std::slice::from_ref(&source), &options(max_written));
    let error = plan(ByteSize(4 << 20)).unwrap_err();
    assert!(error.is_bad_input(), "{error:?}");
    let text = error.to_string();
    for part in [
        "--max-written: only 4MiB",
        "4 MiB to create its files",
        "even at 125 MB/s and 1 ms latency (a slow drive); nothing is measured before a run, so this rate is assumed",
        "--size",
        "--duration",
        "allow more (--max-written)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let text = plan(ByteSize(1 << 20)).unwrap_err().to_string();
    assert!(
        text.contains("creating the run's files alone writes 4 MiB"),
        "{text}"
    );
    let estimate = plan(ByteSize(1 << 40)).unwrap().estimate();
    assert!((4 << 20..estimate.bytes_written()).contains(&estimate.likely_bytes_written()));
}

#[test]
fn a_disk_that_fills_up_in_the_middle_loses_nothing_and_a_resume_finishes() {
    let (mount, data) = (directory(), directory());
    let runs = mount.path().to_str().unwrap();
    system("mount", &["-t", "tmpfs", "-o", "size=64k", "tmpfs", runs]);
    let _undo = Undo("umount", vec!["--lazy".to_owned(), runs.to_owned()]);
    let set = plan_set(
        &SMALL_PLAN.replace("repetitions = 2", "repetitions = 9"),
        data.path(),
    );
    let mut folder = start(&set, mount.path());
    let dir = folder.dir().to_owned();
    let error = run_to_the_end(&set, &mut folder).unwrap_err().to_string();
    assert!(
        error.contains("no space left") && error.contains("outcrop run --resume"),
        "{error}"
    );
    let kept = folder.trials().unwrap();
    assert!(!kept.is_empty() && kept.len() < 36, "{}", kept.len());
    assert_empty(data.path());
    drop(folder);

    system("mount", &["-o", "remount,size=64m", runs]);
    let mut resumed = resume(&dir).unwrap();
    run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
    let entries = assert_complete(&set, &resumed.folder);
    assert_eq!(entries[..kept.len()], kept);
}
