//! Help, lists and the formats: what a user reads before measuring anything.

use crate::harness::{names_in, outcrop, workplace};

const SUBCOMMANDS: [&str; 20] = [
    "profile",
    "run",
    "report",
    "figure",
    "ab",
    "compare",
    "device",
    "kv",
    "cache",
    "codec",
    "column",
    "workload",
    "import",
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
    assert!(json["details"]["bytes_written_fast_device"].as_u64().unwrap() > 0);
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
    let theirs = "device --name=q --group_reporting --size 1GiB --rw randread --bs 4k --io-block-size 4KiB --random_distribution zipf:1.2 --rate_iops 5k,10k --rate_process poisson --ramp_time 1s --runtime 2s";
    let ours = "device --size 1GiB --access-pattern zipfian:1.2 --io-block-size 4KiB --arrival poisson:5k,poisson:10k --warm-up 1s --duration 2s";
    assert_eq!(cells(theirs), cells(ours));
    // fio's rate is one of each job, ours is one of all of them.
    let theirs = "device --size 1GiB --rw randread --numjobs 4 --rate_iops 5k,7.5k";
    let ours = "device --size 1GiB --jobs 4 --arrival constant:20k,constant:30k";
    assert_eq!(cells(theirs), cells(ours));
    let theirs = "device --size 1GiB --rw randrw --rwmixread 100,70";
    let ours = "device --size 1GiB --read-write-mix 100:0,70:30";
    assert_eq!(cells(theirs), cells(ours));
}

#[test]
fn the_help_of_device_says_that_words_of_fio_are_understood() {
    let dir = workplace();
    let help = outcrop(dir.path(), &["device", "--help"]).stdout;
    assert!(help.contains("fio's option names work too"), "{help}");
}

#[test]
fn an_option_of_fio_that_changes_nothing_is_said_to() {
    let dir = workplace();
    let line = ["device", "--group_reporting", ".", "--size", "16MiB", "--dry-run"];
    let seen = outcrop(dir.path(), &line);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stderr.contains("fio's --group_reporting has no effect"),
        "{seen:?}"
    );
}

#[test]
fn a_block_device_in_the_place_of_a_directory_is_answered_with_how_a_plan_measures_the_device_itself() {
    let dir = workplace();
    // A node is enough: nothing is opened.
    let made = std::process::Command::new("mknod")
        .current_dir(dir.path())
        .args(["node", "b", "7", "1000"])
        .status();
    assert!(made.is_ok_and(|status| status.success()), "needs root");
    let seen = outcrop(dir.path(), &["run", "ssd-snia-wsat", "--path", "node"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    for says in [
        "is a block device; expected a directory",
        "outcrop plans ssd-snia-wsat > mine.toml",
        "kind = \"destroyed-device\"",
        "of a loop device: the path of its file",
        "outcrop device --read-only",
    ] {
        assert!(seen.sentence().contains(says), "{says}: {seen:?}");
    }
    let plans = outcrop(dir.path(), &["plans"]).stdout;
    let wsat = plans
        .lines()
        .find(|line| line.trim_start().starts_with("ssd-snia-wsat"));
    assert!(wsat.is_some_and(|line| line.contains("write cliff")), "{plans}");
}

#[test]
fn an_option_of_fio_has_the_same_answer_on_the_command_line_as_in_a_job_file() {
    let dir = workplace();
    let device = |option: &str| outcrop(dir.path(), &["device", option, "--size", "16MiB", "--dry-run"]);
    for (option, says) in [
        (
            "--percentile_list=50:99",
            "fio's --percentile_list has no effect: p50 to p99.99 are reported",
        ),
        (
            "--end_fsync=1",
            "fio's --end_fsync has no effect: files are synced after each trial",
        ),
        ("--nrfiles=0", "fio's --nrfiles=0 has no effect"),
    ] {
        let seen = device(option);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        assert!(seen.stderr.contains(says), "{seen:?}");
    }
    for (option, says) in [
        (
            "--nrfiles=8",
            "--nrfiles=8 is a fio option that Outcrop does not have: a device is measured through one file",
        ),
        (
            "--buffer_pattern=0",
            "--buffer_pattern=0 is a fio option that Outcrop does not have: content is random",
        ),
        ("--startdelay=5", "jobs run one after the other"),
        ("--verify_pattern=0", "type --verify"),
        ("--hipri", "type --completions polled"),
    ] {
        let seen = device(option);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.sentence().contains(says), "{seen:?}");
        assert!(!seen.stderr.contains("similar"), "{seen:?}");
    }
}

#[test]
fn a_dry_run_says_what_a_usual_and_a_fast_device_would_take_and_calls_neither_a_bound() {
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
        seen.stdout.contains("About ")
            && seen.stdout.contains(" to a fast device, assuming ")
            && seen
                .stdout
                .contains("These are estimates; --max-written sets a bound."),
        "{seen:?}"
    );
    let bounded = outcrop(dir.path(), &[&line[..], &["--max-written", "100GB"]].concat());
    let bound = "the run ends before it has written more than 100GB (--max-written).";
    assert!(bounded.stdout.contains(bound), "{bounded:?}");
    let limited = outcrop(dir.path(), &[&line[..], &["--max-written", "17MiB"]].concat());
    assert_eq!(limited.code, Some(2), "{limited:?}");
    assert!(
        limited
            .stderr
            .contains("--max-written: only 17MiB may be written"),
        "{limited:?}"
    );
}

#[test]
fn a_dry_run_of_reads_says_once_what_will_be_written() {
    let dir = workplace();
    let seen = outcrop(dir.path(), &["device", "--size", "64MiB", "--dry-run"]);
    let said = "About 67.1 MB will be written, all of it to prepare.\n";
    assert!(seen.stdout.contains(said), "{seen:?}");
}

#[test]
fn the_bytes_that_a_quick_profile_writes_are_those_that_readme_and_help_say() {
    let dir = workplace();
    let line = ["profile", "--quick", "--dry-run", "--format", "json"];
    let json: serde_json::Value = serde_json::from_str(&outcrop(dir.path(), &line).stdout).unwrap();
    let gigabytes = |name: &str| {
        json["details"][name]
            .as_u64()
            .unwrap()
            .saturating_add(500_000_000)
            / 1_000_000_000
    };
    let range = format!(
        "writes {} to {} GB",
        gigabytes("bytes_written_likely"),
        gigabytes("bytes_written_fast_device")
    );
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    assert!(
        std::fs::read_to_string(readme).unwrap().contains(&range),
        "{range}"
    );
    let help = outcrop(dir.path(), &["profile", "--help"]).stdout;
    assert!(help.contains(&range), "{range}: {help}");
}

#[test]
fn what_a_run_writes_is_announced_as_a_range_and_counted_afterwards() {
    let dir = workplace();
    let line = "device --size 16MiB --read-write-mix 0:100 --queue-depth 1 --duration 250ms --warm-up 0s --repetitions 1 --no-save";
    let seen = outcrop(dir.path(), &line.split(' ').collect::<Vec<_>>());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let announced = seen.stderr.lines().next().unwrap();
    let (_, writes) = announced.split_once("writes ").unwrap();
    assert!(
        writes.split(" · ").next().unwrap().contains(" to "),
        "{announced}"
    );
    assert!(
        seen.stderr.contains(" written, including the preparation"),
        "{seen:?}"
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

#[test]
fn a_dry_run_is_refused_where_the_run_would_be() {
    let dir = workplace();
    let dry = |size: &str| outcrop(dir.path(), &["device", "--size", size, "--dry-run"]);
    let large = dry("900TiB");
    assert!(
        large
            .stderr
            .starts_with("error: a scratch file of 900 TiB does not fit"),
        "{large:?}"
    );
    assert_eq!(large.stdout, "", "no estimate of what cannot be");
    for (place, why) in [("/proc", "proc"), ("/dev/shm", "/dev")] {
        let seen = outcrop(dir.path(), &["device", place, "--dry-run"]);
        assert_eq!(seen.code, Some(2), "a wrong argument: {seen:?}");
        assert!(seen.stderr.contains(why), "{seen:?}");
        let run = outcrop(dir.path(), &["device", place]);
        assert_eq!(
            (run.code, &run.stderr),
            (seen.code, &seen.stderr),
            "the same refusal"
        );
    }
    assert!(
        !large.stderr.contains("KiB;") && !large.stderr.contains("KiB,"),
        "a round size: {large:?}"
    );
    assert_eq!(dry("1MiB").stderr, "");
    // The run itself is refused before it announces anything or makes a folder.
    let refused = outcrop(dir.path(), &["device", "--size", "900TiB"]);
    assert_eq!((refused.code, &refused.stderr), (large.code, &large.stderr));
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(!dir.path().join("runs").exists(), "no run folder");
}

#[test]
fn the_plans_of_compression_that_refuse_data_of_your_own_are_those_that_the_index_names() {
    let dir = workplace();
    std::fs::write(dir.path().join("mine.txt"), "of my own\n".repeat(20_000)).unwrap();
    let plans = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans");
    let mut refused = Vec::new();
    for entry in std::fs::read_dir(plans).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if path.extension().is_none_or(|ext| ext != "toml") || !text.contains("layer = \"compression\"") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let seen = outcrop(dir.path(), &["run", &name, "--data", "mine.txt", "--dry-run"]);
        if seen.code != Some(0) {
            assert!(seen.sentence().contains("generated"), "{name}: {seen:?}");
            refused.push(name);
        }
    }
    refused.sort();
    assert_eq!(refused, ["predict-codecs", "robustness"]);
    let index = std::fs::read_to_string(format!("{plans}/README.md")).unwrap();
    assert!(index.contains("not `robustness` and `predict-codecs`"));
}
