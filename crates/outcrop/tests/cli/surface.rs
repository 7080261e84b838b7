//! Help, lists and the formats: what a user reads before measuring anything.

use crate::harness::{names_in, outcrop, workplace};

const SUBCOMMANDS: [&str; 18] = [
    "profile",
    "run",
    "report",
    "figure",
    "ab",
    "compare",
    "device",
    "cache",
    "codec",
    "column",
    "workload",
    "results",
    "runs",
    "plans",
    "references",
    "env",
    "completions",
    "man",
];

#[test]
fn every_subcommand_has_help_with_an_example() {
    let dir = workplace();
    for name in SUBCOMMANDS {
        let seen = outcrop(dir.path(), &[name, "--help"]);
        assert_eq!(seen.code, Some(0), "{name}: {seen:?}");
        assert!(
            seen.stdout.contains("Example"),
            "{name} has no example:\n{}",
            seen.stdout
        );
        assert!(
            seen.stdout.contains(&format!("outcrop {name}")),
            "{name}:\n{}",
            seen.stdout
        );
    }
}

#[test]
fn the_first_help_screen_is_stable() {
    let dir = workplace();
    insta::assert_snapshot!(outcrop(dir.path(), &["--help"]).stdout);
}

#[test]
fn completions_and_manual_are_made_from_the_same_grammar() {
    let dir = workplace();
    for shell in ["bash", "zsh", "fish"] {
        let seen = outcrop(dir.path(), &["completions", shell]);
        assert!(seen.stdout.contains("resume"), "{shell}");
    }
    assert!(outcrop(dir.path(), &["man"]).stdout.contains(".TH outcrop"));
    assert!(outcrop(dir.path(), &["man", "run"]).stdout.contains("resume"));
}

#[test]
fn lists_come_as_text_json_and_csv() {
    let dir = workplace();
    for args in [
        ["plans"].as_slice(),
        &["references"],
        &["references", "datasheets"],
        &["env"],
    ] {
        for format in ["text", "json", "csv"] {
            let mut all = args.to_vec();
            all.extend(["--format", format]);
            let seen = outcrop(dir.path(), &all);
            assert_eq!(seen.code, Some(0), "{all:?}: {seen:?}");
            assert!(!seen.stdout.is_empty());
            if format == "json" {
                serde_json::from_str::<serde_json::Value>(&seen.stdout).expect("it is JSON");
            }
        }
    }
}

#[test]
fn a_shipped_plan_printed_is_a_plan_that_runs() {
    let dir = workplace();
    let plan = outcrop(dir.path(), &["plans", "ssd-queue-depth"]).stdout;
    std::fs::write(dir.path().join("mine.toml"), plan).unwrap();
    let seen = outcrop(dir.path(), &["run", "mine.toml", "--dry-run"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
}

#[test]
fn a_dry_run_shows_cells_time_and_bytes_and_writes_nothing() {
    let dir = workplace();
    let seen = outcrop(dir.path(), &["profile", "--quick", "--dry-run"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stdout.contains("queue depth") && seen.stdout.contains("will be written"),
        "{}",
        seen.stdout
    );
    let json = outcrop(
        dir.path(),
        &["profile", "--quick", "--dry-run", "--format", "json"],
    )
    .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["details"]["bytes_written_at_most"].as_u64().unwrap() > 0);
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn a_command_line_of_fio_is_the_same_run_as_its_translation() {
    let dir = workplace();
    let cells = |line: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        let seen = outcrop(
            dir.path(),
            &[&args[..], &["--seed", "7", "--dry-run", "--format", "json"]].concat(),
        );
        assert_eq!(seen.code, Some(0), "{line}: {seen:?}");
        let json: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
        json["rows"].clone()
    };
    let theirs = "device --size 1GiB --rw randrw --rwmixread 70 --bs 4k --iodepth 1..8 --numjobs 2 --ioengine io_uring --runtime 2s --direct=1 --time_based";
    let ours = "device --size 1GiB --access-pattern random --read-write-mix 70:30 --io-block-size 4KiB --queue-depth 1,2,4,8 --jobs 2 --duration 2s";
    assert_eq!(cells(theirs), cells(ours));
    assert_eq!(cells(theirs).as_array().unwrap().len(), 4);
}

#[test]
fn a_dry_run_says_what_is_likely_to_be_written_and_at_most() {
    let dir = workplace();
    let line = [
        "device",
        "--size",
        "16MiB",
        "--read-write-mix",
        "0:100",
        "--dry-run",
    ];
    let seen = outcrop(dir.path(), &line);
    assert!(
        seen.stdout.contains("About ") && seen.stdout.contains(", and at most "),
        "{seen:?}"
    );
    let limited = outcrop(dir.path(), &[&line[..], &["--max-written", "17MiB"]].concat());
    assert_eq!(limited.code, Some(2), "{limited:?}");
    assert!(
        limited.stderr.contains("--max-written: 17MiB may be written"),
        "{limited:?}"
    );
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_failure() {
    let dir = workplace();
    let mut child = crate::harness::command(dir.path(), &["references", "toshiba-kxg60znv256g-fio"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
