//! Bad input gets one clear sentence with what to do, exit code 2, and leaves nothing behind.

use crate::harness::{names_in, outcrop, workplace};

/// Runs a command that must be refused and returns its sentence.
fn refused(args: &[&str]) -> String {
    let dir = workplace();
    let seen = outcrop(dir.path(), args);
    assert_eq!(seen.code, Some(2), "{args:?} → {seen:?}");
    assert_eq!(seen.stdout, "", "data goes to stdout, errors do not");
    assert!(
        names_in(dir.path()).is_empty(),
        "nothing is left behind by {args:?}"
    );
    seen.stderr
}

#[test]
fn an_unknown_option_is_named_with_the_nearest_one() {
    let text = refused(&["profile", "--quikc"]);
    assert!(text.contains("--quikc") && text.contains("--quick"), "{text}");
}

#[test]
fn an_impossible_block_size_names_the_flag_and_what_is_accepted() {
    for size in ["0", "3000", "100", "-4k", "4XB", "", "999999999999GiB"] {
        let text = refused(&["device", "--size", "16MiB", &format!("--io-block-size={size}")]);
        assert!(text.contains("--io-block-size"), "{size}: {text}");
        assert_eq!(text.trim().lines().count(), 1, "{size}: one sentence, not {text}");
    }
}

#[test]
fn words_of_fio_that_mean_something_else_here_are_answered_with_ours() {
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["--access-pattern", "randread"],
            &["--access-pattern random", "--read-write-mix 100:0"],
        ),
        (&["--rw", "trim"], &["--rw=trim", "--read-write-mix"]),
        (&["--ioengine", "posixaio"], &["--engine io_uring"]),
        (&["--direct", "2"], &["--direct 2", "--access direct"]),
        (&["--sync", "1"], &["--sync 1", "--sync dsync"]),
        (&["--fsync", "often"], &["--fsync often", "--fsync 1"]),
        (
            &["--fsync", "4", "--fdatasync", "8"],
            &["--fsync 4 and --fdatasync 8 contradict"],
        ),
        (
            &["--fsync", "4", "--sync", "none"],
            &["--fsync 4 and --sync none contradict"],
        ),
        (&["--filename", "/dev/sda"], &["--read-only /dev/sda"]),
        (&["--filename", "a b c"], &["--read-only 'a b c'"]),
        (&["--iodepth", "64..1"], &["--iodepth", "1..64"]),
        (&["--runtime", "30"], &["--runtime 30:", "--runtime 30s"]),
        (&["--ramp_time", "5"], &["--ramp_time 5s"]),
        (
            &["--rw", "randread", "--rwmixread", "70"],
            &["--rwmixread 70", "--rw randrw --rwmixread 70"],
        ),
        (&["--rwmixread", "70"], &["--rw randrw --rwmixread 70"]),
        (
            &["--rw", "randrw", "--rwmixread", "100,x"],
            &["--rwmixread x", "--rwmixread 70"],
        ),
        (
            &["--rate_iops", "5k", "--rate_process", "bursty"],
            &["linear or poisson", "--arrival"],
        ),
        (&["--loops", "5"], &["--loops", "--repetitions 5"]),
        (
            &["--verify", "crc32c"],
            &["--verify crc32c is fio's", "type --verify alone"],
        ),
        (&["--output-format=json"], &["--format json"]),
        (&["--bssplit", "4k/50:8k/50"], &["--bssplit", "--bs 4k,64k"]),
    ];
    for (args, parts) in cases {
        let text = refused(&[&["device", "--size", "16MiB"], *args].concat());
        assert!(parts.iter().all(|part| text.contains(part)), "{args:?}: {text}");
    }
}

#[test]
fn flags_of_fio_and_of_ours_that_contradict_each_other_are_refused_with_both_names() {
    let cases: &[&str] = &[
        "--rw randread --read-write-mix 0:100",
        "--rw read --access-pattern random",
        "--bs 4k --io-block-size 16k",
        "--iodepth 4 --queue-depth 8",
        "--runtime 2s --duration 3s",
        "--ramp_time 2s --warm-up 3s",
        "--rate_iops 5k --arrival poisson:5k",
        "--rw read --random_distribution zipf:1.2",
        "--buffered=0 --access direct,buffered",
        "--hipri=0 --completions polled",
        "--zero_buffers=0 --content zeros",
        "--buffer_compress_percentage=0 --content compressible:2",
        "--iodepth_batch=1 --submission batch",
        "--iodepth_batch=1 --peak",
        "--slat_percentiles=0 --latency-parts apart",
        "--do_verify=0 --verify",
    ];
    for line in cases {
        let flags: Vec<&str> = line.split(' ').collect();
        let text = refused(&[&["device", "--size", "16MiB"], &flags[..]].concat());
        let named = flags.iter().filter(|word| word.starts_with("--"));
        for flag in named {
            assert!(text.contains(flag), "{line}: {text}");
        }
        assert!(text.contains("contradict each other"), "{line}: {text}");
        assert_eq!(text.trim().lines().count(), 1, "{line}: one sentence, not {text}");
    }
}

#[test]
fn a_rate_of_each_job_is_refused_where_there_are_several_numbers_of_jobs() {
    let mixed = ["device", "--size", "16MiB", "--rw", "randrw", "--rate_iops", "5k"];
    assert!(refused(&mixed).contains("limits reads and writes separately in fio"));
    let line = [
        "device",
        "--size",
        "16MiB",
        "--rate_iops",
        "5k",
        "--numjobs",
        "1,4",
    ];
    let text = refused(&line);
    assert!(text.contains("--rate_iops 5k is a rate per job"), "{text}");
    assert!(text.contains("--arrival constant:RATE"), "{text}");
}

#[test]
fn impossible_factors_are_refused_before_anything_is_written() {
    let cases: &[(&[&str], &str)] = &[
        (&["--queue-depth", "0"], "queue-depth"),
        (&["--queue-depth", "1000000"], "queue-depth"),
        (&["--jobs", "0"], "jobs"),
        (&["--read-write-mix", "70:40"], "110"),
        (&["--access-pattern", "zipfian"], "zipfian:THETA"),
        (&["--arrival", "constant:0"], "constant"),
        (&["--content", "entropy:9"], "0 to 8"),
        (&["--engine", "posixaio"], "io_uring"),
        (&["--sync", "each"], "no writes"),
        (&["--sync", "every:0"], "every:0"),
        (&["--access", "cached"], "buffered"),
        (&["--engine", "psync", "--queue-depth", "32"], "jobs"),
        (&["--size", "1k"], "size"),
        (&["--repetitions", "0"], "repetitions"),
        (&["--io-block-size", "32MiB", "--size", "16MiB"], "32MiB"),
        (
            &["--read-only", "/etc/hostname", "--read-write-mix", "0:100"],
            "read",
        ),
        (&["--read-only", "/no/such/file"], "/no/such/file"),
    ];
    for (flags, expected) in cases {
        let mut args = vec!["device"];
        args.extend_from_slice(flags);
        let text = refused(&args);
        assert!(
            text.contains(expected),
            "{flags:?} should mention {expected:?}: {text}"
        );
    }
}

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let text = refused(&["profile", "/no/such/place", "--quick"]);
    assert!(text.contains("/no/such/place"), "{text}");
}

#[test]
fn a_plan_with_a_typo_names_line_and_the_likely_word() {
    let dir = workplace();
    let plan = "name = \"mine\"\nquestion = \"?\"\nlayer = \"device\"\n\n[workload]\nqueue_dpeth = 4\n";
    std::fs::write(dir.path().join("mine.toml"), plan).unwrap();
    let seen = outcrop(dir.path(), &["run", "mine.toml"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.stderr.contains("mine.toml:6"), "{seen:?}");
    assert!(seen.stderr.contains("did you mean `queue_depth`"), "{seen:?}");
    assert_eq!(names_in(dir.path()), ["mine.toml"]);
}

#[test]
fn a_plan_that_does_not_exist_lists_those_that_ship() {
    let text = refused(&["run", "ssd-matricks"]);
    assert!(text.contains("ssd-matrix"), "{text}");
}

#[test]
fn a_folder_that_is_no_run_is_said_to_be_none() {
    for args in [
        ["run", "--resume", "/etc"].as_slice(),
        &["report", "/etc"],
        &["results", "export", "/etc"],
    ] {
        let text = refused(args);
        assert!(text.contains("/etc is not a run folder"), "{text}");
    }
}

#[test]
fn a_budget_that_cannot_be_met_says_what_would_do() {
    let text = refused(&["profile", "--quick", "--budget", "1ms"]);
    assert!(text.contains("budget"), "{text}");
}

/// A copy of the run that is kept.
fn kept(dir: &std::path::Path) -> std::path::PathBuf {
    let kept = dir.join("kept");
    std::fs::create_dir(&kept).unwrap();
    let fixture =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1");
    for entry in std::fs::read_dir(fixture).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), kept.join(entry.file_name())).unwrap();
    }
    kept
}

#[test]
fn a_figure_that_no_machine_has_is_an_error_with_its_line_whatever_reads_the_run() {
    let dir = workplace();
    let kept = kept(dir.path());
    let journal = std::fs::read_to_string(kept.join("trials.ndjson")).unwrap();
    let mut lines: Vec<String> = journal.lines().map(str::to_owned).collect();
    let value = "\"value\":";
    let at = lines[1].find(value).unwrap() + value.len();
    let end = at + lines[1][at..].find(',').unwrap();
    lines[1].replace_range(at..end, "1e308");
    std::fs::write(kept.join("trials.ndjson"), lines.join("\n") + "\n").unwrap();
    for args in [
        &["report", "kept"][..],
        &["results", "compact", "kept"],
        &["results", "export", "kept"],
        &["compare", "kept", "kept"],
    ] {
        let seen = outcrop(dir.path(), args);
        assert!(matches!(seen.code, Some(2 | 3)), "{args:?}: {seen:?}");
        let sentence = seen.sentence();
        assert!(
            sentence.contains("impossible") && sentence.contains("trials.ndjson:2:"),
            "{args:?}: {sentence}"
        );
    }
}

#[test]
fn a_time_or_count_that_no_trial_has_takes_no_memory_and_no_time_of_a_report() {
    let dir = workplace();
    let kept = kept(dir.path());
    let journal = std::fs::read_to_string(kept.join("trials.ndjson")).unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    let is_device =
        |line: &&str| line.contains(r#""layer":"device""#) && line.matches("start_s").count() >= 3;
    let at = lines.iter().position(is_device).unwrap();
    // The last of those that a trial has several of.
    for (field, number) in [
        ("start_s", "50"),
        ("start_s", "1e3"),
        ("start_s", "1e6"),
        ("start_s", "1e9"),
        ("start_s", "1e15"),
        ("start_s", "-1"),
        ("duration_s", "1e-300"),
        ("duration_s", "1e15"),
        ("interval_index", "4294967295"),
        ("count", "18446744073709551615"),
        ("max_ns", "18446744073709551615"),
        ("repetition", "4294967295"),
        ("trial", "4294967295"),
        ("seed", "18446744073709551615"),
    ] {
        let name = format!("\"{field}\":");
        let mut line = lines[at].to_owned();
        let (place, _) = line.match_indices(&name).last().unwrap();
        let start = place + name.len();
        let end = start + line[start..].find([',', '}']).unwrap();
        line.replace_range(start..end, number);
        let mut changed = lines.clone();
        changed[at] = &line;
        std::fs::write(kept.join("trials.ndjson"), changed.join("\n") + "\n").unwrap();
        let limited = "ulimit -v 4194304 && exec \"$0\" report kept";
        let output = std::process::Command::new("sh")
            .current_dir(dir.path())
            .args(["-c", limited, env!("CARGO_BIN_EXE_outcrop")])
            .output();
        let seen = crate::harness::Seen::from(output.unwrap());
        let is_damage = seen.sentence().contains(&format!("trials.ndjson:{}:", at + 1));
        match seen.code {
            Some(0) => {}
            Some(2) => assert!(is_damage, "{field} {number}: {seen:?}"),
            _ => panic!("{field} {number}: {seen:?}"),
        }
        let is_far = field == "start_s" && number != "50";
        assert!(!is_far || seen.code == Some(2), "{field} {number}: {seen:?}");
    }
}
