//! kill -9 of a real process that appends in a loop: what it reported as finished is there, nothing twice.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use outcrop_results::{HistogramEntry, HistogramKind, RunFolder, RunView, TrialEntry};

use crate::samples::{create, trial, usual};

const CHILD_DIR: &str = "OUTCROP_TEST_APPEND_TO";

/// A line of megabytes, so that a kill often lands in the middle of its write.
fn large_trial(repetition: u32) -> TrialEntry {
    let histogram = HistogramEntry {
        operation: "read".to_owned(),
        kind: HistogramKind::Latency,
        interval_index: 0,
        start_s: 0.0,
        duration_s: 1.0,
        count: 0,
        min_ns: 0,
        max_ns: 0,
        sum_ns: 0,
        hdr: "A".repeat(3 << 20),
    };
    TrialEntry {
        histograms: vec![histogram],
        ..trial(1, repetition, &usual(1000.0, 5.0))
    }
}

/// Runs in the child only: resumes the run of the environment variable and appends until it is killed.
#[test]
fn child_that_appends_until_it_is_killed() {
    let Some(dir) = std::env::var_os(CHILD_DIR).map(PathBuf::from) else {
        return;
    };
    let mut run = RunFolder::open(&dir).unwrap();
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "\ntorn {}", run.torn_bytes()).unwrap();
    for repetition in run.finished().len() as u32.. {
        run.append(&large_trial(repetition)).unwrap();
        writeln!(stdout, "\nfinished {repetition}").unwrap();
        stdout.flush().unwrap();
    }
}

/// Starts the child, kills it after it has reported `reports` trials; gives the last it reported and
/// the torn bytes that it found.
fn kill_after(dir: &Path, reports: usize) -> (u32, u64) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "kill::child_that_appends_until_it_is_killed",
            "--nocapture",
        ])
        .env(CHILD_DIR, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let torn = lines
        .find_map(|line| line.strip_prefix("torn ").map(str::to_owned))
        .unwrap();
    let mut finished =
        lines.filter_map(|line| line.strip_prefix("finished ").map(|n| n.parse::<u32>().unwrap()));
    let last_before_kill = finished.nth(reports - 1).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // What it reported between our reading and its death counts as reported.
    (finished.last().unwrap_or(last_before_kill), torn.parse().unwrap())
}

#[test]
fn a_killed_run_keeps_every_finished_trial_and_repeats_none() {
    let folder = tempfile::tempdir().unwrap();
    let dir = create(folder.path(), "killed").dir().to_owned();
    for round in 0..6 {
        let (last_reported, _) = kill_after(&dir, 1 + round % 3);
        let view = RunView::load(&dir).unwrap();
        let repetitions: Vec<u32> = view.trials.iter().map(|entry| entry.repetition).collect();
        assert_eq!(
            repetitions,
            (0..repetitions.len() as u32).collect::<Vec<_>>(),
            "each once, none missing"
        );
        assert!(
            repetitions.len() as u32 > last_reported,
            "trial {last_reported} was reported as finished"
        );
        for entry in &view.trials {
            assert_eq!(*entry, large_trial(entry.repetition));
        }
    }
    let run = RunFolder::open(&dir).unwrap();
    assert_eq!(run.finished().len(), run.trials().unwrap().len());
}
