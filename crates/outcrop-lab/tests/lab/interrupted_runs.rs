//! Runs that stop in the middle, kindly and unkindly, and are resumed.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_lab::{Event, LabError, execute, resume};
use outcrop_results::Outcome;

use super::scene::{SMALL_PLAN, assert_complete, assert_empty, directory, plan_set, run_to_the_end, start};

#[test]
fn a_stopped_run_resumes_with_every_trial_exactly_once() {
    for stop_after in [1, 3, 7] {
        let (runs, data) = (directory(), directory());
        let set = plan_set(SMALL_PLAN, data.path());
        let mut folder = start(&set, runs.path());
        let dir = folder.dir().to_owned();
        let stop = AtomicBool::new(false);
        // Raised when a trial starts: the engine meets it while it measures.
        let mut observer = |event: Event<'_>| {
            if let Event::TrialStarted { finished, .. } = event
                && finished == stop_after
            {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let outcome = execute(&set, &mut folder, &mut observer, &stop).unwrap();
        assert!(outcome.is_interrupted);
        assert_eq!((outcome.finished, outcome.total), (stop_after, 8));
        assert_empty(data.path());
        let entries = folder.trials().unwrap();
        assert_eq!(entries.len(), stop_after + 1);
        assert_eq!(entries[stop_after].outcome, Outcome::Interrupted);
        assert!(entries[stop_after].values.is_empty());
        drop(folder);

        let mut resumed = resume(&dir).unwrap();
        assert_eq!(resumed.set, set);
        let outcome = run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
        assert_eq!((outcome.finished, outcome.is_interrupted), (8, false));
        let entries = assert_complete(&set, &resumed.folder);
        let expected = set.trials()[stop_after];
        assert_eq!(
            (entries[stop_after + 1].trial, entries[stop_after + 1].seed),
            (expected.index, expected.seed.0)
        );
    }
}

#[test]
fn a_stop_during_preparation_measures_nothing_and_leaves_nothing() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(SMALL_PLAN, data.path());
    let mut folder = start(&set, runs.path());
    let outcome = execute(&set, &mut folder, &mut |_: Event<'_>| {}, &AtomicBool::new(true)).unwrap();
    assert!(outcome.is_interrupted);
    assert!(folder.trials().unwrap().is_empty());
    assert_empty(data.path());
}

#[test]
fn a_finished_run_resumes_to_nothing() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(SMALL_PLAN, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    let dir = folder.dir().to_owned();
    drop(folder);
    let mut resumed = resume(&dir).unwrap();
    let mut told = Vec::new();
    let mut observer = |event: Event<'_>| match event {
        Event::Note(note) => told.push(note.to_owned()),
        event => panic!("{event:?}"),
    };
    let outcome = execute(
        &resumed.set,
        &mut resumed.folder,
        &mut observer,
        &AtomicBool::new(false),
    )
    .unwrap();
    assert_eq!(
        (outcome.finished, outcome.total, outcome.is_interrupted),
        (8, 8, false)
    );
    assert_eq!(told, ["nothing is left to measure: all 8 trials are done"]);
}

#[test]
fn a_run_whose_plan_was_changed_is_not_resumed() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(SMALL_PLAN, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    let dir = folder.dir().to_owned();
    drop(folder);
    let plan = dir.join("plan.toml");
    let text = std::fs::read_to_string(&plan).unwrap();
    std::fs::write(
        &plan,
        text.replace("io_block_size = \"4KiB\"", "io_block_size = \"8KiB\""),
    )
    .unwrap();
    let error = resume(&dir).unwrap_err();
    assert!(matches!(error, LabError::CannotResume { .. }) && error.is_bad_input());
    assert!(
        error
            .to_string()
            .contains("does not contain 8 of its 8 finished trials"),
        "{error}"
    );
}

#[test]
fn a_resume_on_another_kernel_or_with_longer_trials_says_so_in_the_first_trial() {
    let elsewhere = resumed_after(|dir| {
        let environment = dir.join("environment.json");
        let mut json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&environment).unwrap()).unwrap();
        json["kernel"]["release"] = "1.0-elsewhere".into();
        std::fs::write(&environment, json.to_string()).unwrap();
    });
    assert!(
        elsewhere.contains("the kernel changed from 1.0-elsewhere to "),
        "{elsewhere}"
    );
    // No cell holds a duration, so the journal cannot tell.
    let edited = resumed_after(|dir| {
        let plan = dir.join("plan.toml");
        let text = std::fs::read_to_string(&plan).unwrap();
        let longer = text.replace("duration = \"250ms\"", "duration = \"260ms\"");
        assert_ne!(text, longer, "the plan has no such duration");
        std::fs::write(&plan, longer).unwrap();
    });
    assert!(
        edited.contains("the length of trials changed from 250ms after")
            && edited.contains(" to 260ms after"),
        "{edited}"
    );
}

/// The one warning of a run that was interrupted after its first trial, changed and resumed; that trial has it as a note.
fn resumed_after(change: impl FnOnce(&Path)) -> String {
    let (runs, data) = (directory(), directory());
    let set = plan_set(SMALL_PLAN, data.path());
    let mut folder = start(&set, runs.path());
    let stop = AtomicBool::new(false);
    let mut observer =
        |event: Event<'_>| stop.store(matches!(event, Event::TrialFinished { .. }), Ordering::Relaxed);
    execute(&set, &mut folder, &mut observer, &stop).unwrap();
    let dir = folder.dir().to_owned();
    drop(folder);
    change(&dir);

    let mut resumed = resume(&dir).unwrap();
    let mut warnings = Vec::new();
    let mut observer = |event: Event<'_>| {
        if let Event::Warning(warning) = event {
            warnings.push(warning.to_owned());
        }
    };
    let stop = AtomicBool::new(false);
    execute(&resumed.set, &mut resumed.folder, &mut observer, &stop).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let entries = assert_complete(&resumed.set, &resumed.folder);
    let notes = &entries[1].notes;
    assert!(notes.iter().any(|note| note.text == warnings[0]), "{notes:?}");
    warnings.remove(0)
}

/// The folder that the child process of the next test runs in.
const CHILD_RUN: &str = "OUTCROP_LAB_TEST_CHILD_RUN";

/// What the parent counts on the child's output.
const FINISHED: &str = "finished a trial";

/// Not a test of its own: the process that the next test kills.
#[test]
fn child_process_of_the_kill_test() {
    let Some(dir) = std::env::var_os(CHILD_RUN).map(PathBuf::from) else {
        return;
    };
    let mut resumed = resume(&dir).unwrap();
    let mut observer = |event: Event<'_>| {
        if matches!(event, Event::TrialFinished { .. }) {
            println!("{FINISHED}");
        }
    };
    execute(
        &resumed.set,
        &mut resumed.folder,
        &mut observer,
        &AtomicBool::new(false),
    )
    .unwrap();
}

/// Lets a child process run `dir` until it has finished `count` more trials, then kills it with SIGKILL.
fn kill_after(dir: &Path, count: usize) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "interrupted_runs::child_process_of_the_kill_test",
            "--nocapture",
        ])
        .env(CHILD_RUN, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let finished = lines
        .map_while(Result::ok)
        .filter(|line| line.contains(FINISHED))
        .take(count)
        .count();
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(finished, count);
    assert!(!status.success(), "the child ended by itself: {status}");
}

#[test]
fn a_killed_run_resumes_without_losing_or_repeating_a_finished_trial() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(
        &SMALL_PLAN.replace("repetitions = 2", "repetitions = 5"),
        data.path(),
    );
    let dir = start(&set, runs.path()).dir().to_owned();
    for (kills, count) in [(1, 2), (2, 1), (3, 4)] {
        kill_after(&dir, count);
        let left = std::fs::read_dir(data.path()).unwrap().count();
        assert_eq!(left, 0, "kill {kills} leaves no scratch file");
    }
    let mut resumed = resume(&dir).unwrap();
    let before = resumed.folder.trials().unwrap();
    assert!(before.len() >= 7, "{}", before.len());
    run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
    let entries = assert_complete(&set, &resumed.folder);
    assert_eq!(entries[..before.len()], before);
    assert_empty(data.path());
}
