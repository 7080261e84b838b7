//! The one true path: measure, resume, report, compare, export, on a real file.

use crate::harness::{command, names_in, only_run, outcrop, workplace};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

/// A small but complete measurement: two depths, two repetitions.
const SMALL: [&str; 11] = [
    "device",
    "--size",
    "8MiB",
    "--queue-depth",
    "1,8",
    "--repetitions",
    "2",
    "--warm-up",
    "20ms",
    "--duration",
    "60ms",
];

fn journal(run: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(run.join("trials.ndjson")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// (cell, repetition) of every completed trial, sorted.
fn completed(run: &Path) -> Vec<(String, u64)> {
    let mut keys: Vec<_> = journal(run)
        .iter()
        .filter(|trial| trial["outcome"] == "completed")
        .map(|trial| {
            (
                trial["cell"].as_str().unwrap().to_owned(),
                trial["repetition"].as_u64().unwrap(),
            )
        })
        .collect();
    keys.sort();
    keys
}

#[test]
fn a_measurement_leaves_a_whole_run_folder_and_no_scratch_file() {
    let dir = workplace();
    let seen = outcrop(dir.path(), &SMALL);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("report.html"), "{}", seen.stdout);
    assert_eq!(names_in(dir.path()), ["runs"], "the scratch file is gone");
    let run = only_run(dir.path());
    let names = names_in(&run);
    for expected in [
        "cells.csv",
        "cells.parquet",
        "environment.json",
        "figures",
        "histograms.parquet",
        "plan.toml",
        "records.parquet",
        "report.html",
        "trials.ndjson",
    ] {
        assert!(
            names.iter().any(|name| name == expected),
            "{expected} is missing among {names:?}"
        );
    }
    assert_eq!(completed(&run).len(), 4);
}

#[test]
fn the_stored_plan_repeats_the_run_cell_for_cell() {
    let dir = workplace();
    assert_eq!(outcrop(dir.path(), &SMALL).code, Some(0));
    let first = only_run(dir.path());
    let plan = first.join("plan.toml");
    let seen = outcrop(dir.path(), &["run", plan.to_str().unwrap(), "--out", "again"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let again = std::fs::read_dir(dir.path().join("again"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let order = |run: &Path| -> Vec<_> {
        journal(run)
            .iter()
            .map(|trial| (trial["cell"].clone(), trial["seed"].clone()))
            .collect()
    };
    assert_eq!(order(&first), order(&again), "same cells, same seeds, same order");
}

#[test]
fn records_come_out_as_csv_and_json_with_every_repetition() {
    let dir = workplace();
    assert_eq!(outcrop(dir.path(), &SMALL).code, Some(0));
    let run = only_run(dir.path());
    let csv = outcrop(
        dir.path(),
        &["results", "export", run.to_str().unwrap(), "--format", "csv"],
    )
    .stdout;
    let iops = csv.lines().filter(|line| line.contains(",iops,")).count();
    assert_eq!(iops, 4, "one row per trial");
    let json = outcrop(
        dir.path(),
        &["results", "export", run.to_str().unwrap(), "--format", "json"],
    )
    .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert!(rows.len() > 4);
    assert!(rows[0]["seed"].is_string(), "{}", rows[0]);
}

#[test]
fn a_reader_that_closes_the_pipe_of_an_export_is_no_failure() {
    let dir = workplace();
    assert_eq!(outcrop(dir.path(), &SMALL).code, Some(0));
    let run = only_run(dir.path());
    for format in ["csv", "json"] {
        let mut child = command(
            dir.path(),
            &["results", "export", run.to_str().unwrap(), "--format", format],
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{format}: {stderr}");
    }
}

#[test]
fn a_lost_parquet_file_is_written_again_from_the_journal() {
    let dir = workplace();
    assert_eq!(outcrop(dir.path(), &SMALL).code, Some(0));
    let run = only_run(dir.path());
    let before = std::fs::read(run.join("records.parquet")).unwrap();
    std::fs::remove_file(run.join("records.parquet")).unwrap();
    let seen = outcrop(dir.path(), &["results", "compact", run.to_str().unwrap()]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(std::fs::read(run.join("records.parquet")).unwrap(), before);
}

#[test]
fn a_run_compared_with_itself_meets_no_condition_and_with_a_reference_says_why_not() {
    let dir = workplace();
    let five = [&SMALL[..5], &["--repetitions", "5"], &SMALL[7..]].concat();
    assert_eq!(outcrop(dir.path(), &five).code, Some(0));
    let run = only_run(dir.path());
    let run = run.to_str().unwrap();
    let same = outcrop(
        dir.path(),
        &[
            "compare",
            run,
            run,
            "--fail-if",
            "p50 > +5%",
            "--fail-if",
            "iops < -5%",
        ],
    );
    assert_eq!(same.code, Some(2), "a run beside itself fails no gate: {same:?}");
    assert!(same.sentence().contains("are the same run"), "{same:?}");
    let reference = outcrop(dir.path(), &["compare", run, "toshiba-kxg60znv256g-fio"]);
    assert_eq!(reference.code, Some(2), "nothing was compared: {reference:?}");
    assert!(
        reference.stdout.contains("not comparable"),
        "{}",
        reference.stdout
    );
    let typo = outcrop(dir.path(), &["compare", run, run, "--fail-if", "p99 >> 5"]);
    assert_eq!(typo.code, Some(2), "{typo:?}");
}

#[test]
fn a_condition_that_is_met_ends_with_code_one() {
    let dir = workplace();
    for depth in ["1", "8"] {
        let args = [
            "device",
            "--engine",
            "noop",
            "--size",
            "8MiB",
            "--repetitions",
            "4",
            "--warm-up",
            "5ms",
            "--duration",
            "20ms",
            "--queue-depth",
            "4",
            "--io-block-size",
            if depth == "1" { "4k" } else { "8k" },
            "--out",
            depth,
        ];
        let seen = outcrop(dir.path(), &args);
        assert_eq!(seen.code, Some(0), "{seen:?}");
    }
    let run = |out: &str| {
        std::fs::read_dir(dir.path().join(out))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
    };
    let (a, b) = (run("1"), run("8"));
    // No cell of one is in the other: a condition over nothing must not pass silently.
    let seen = outcrop(
        dir.path(),
        &[
            "compare",
            a.to_str().unwrap(),
            b.to_str().unwrap(),
            "--fail-if",
            "p50 > +5%",
        ],
    );
    assert_ne!(
        seen.code,
        Some(0),
        "nothing was comparable, so the condition was not checked: {seen:?}"
    );
}

#[test]
fn ctrl_c_keeps_what_is_finished_and_resume_completes_it_exactly_once() {
    let dir = workplace();
    let mut child = nine_trials_one_finished(dir.path());
    signal(&child, "INT");
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(names_in(dir.path()), ["runs"], "the scratch file is gone");
    let run = only_run(dir.path());
    let before = completed(&run);
    assert!(before.len() < 9);
    let seen = outcrop(dir.path(), &["run", "--resume", run.to_str().unwrap()]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let after = completed(&run);
    assert_eq!(after.len(), 9);
    let mut unique = after.clone();
    unique.dedup();
    assert_eq!(unique, after, "no trial is repeated");
    assert!(before.iter().all(|key| after.contains(key)), "no trial is lost");
}

#[test]
fn kill_nine_loses_no_finished_trial() {
    let dir = workplace();
    let mut child = nine_trials_one_finished(dir.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        names_in(dir.path()),
        ["runs"],
        "no scratch file outlives the kill"
    );
    let run = only_run(dir.path());
    let before = completed(&run).len();
    let seen = outcrop(dir.path(), &["run", "--resume", run.to_str().unwrap()]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let after = completed(&run);
    assert!(before >= 1 && after.len() == 9, "{before} then {}", after.len());
}

/// A measurement of nine trials, running, of which at least one is finished.
fn nine_trials_one_finished(dir: &Path) -> std::process::Child {
    let args = "device --size 8MiB --queue-depth 1,2,4 --repetitions 3 --warm-up 10ms --duration 300ms";
    let args: Vec<&str> = args.split(' ').collect();
    let mut child = command(dir, &args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_first_trial(&mut child);
    child
}

/// Reads stderr until the run says that a trial was finished.
fn wait_for_first_trial(child: &mut std::process::Child) {
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let finished = |line: &str| line.contains("10 %") || line.contains("20 %");
    let mut lines = stderr.lines();
    assert!(
        lines.any(|line| finished(&line.unwrap())),
        "the run ended before a trial was finished"
    );
    // Keep draining, so that the child never meets a closed pipe.
    std::thread::spawn(move || lines.for_each(drop));
}

fn signal(child: &std::process::Child, name: &str) {
    let status = std::process::Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}
