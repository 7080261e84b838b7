//! Flags that would change nothing are refused, and those of a report do the same in every format.

use crate::harness::{names_in, only_run, outcrop, workplace};

const TINY: [&str; 11] = [
    "device",
    "--engine",
    "noop",
    "--size",
    "8MiB",
    "--repetitions",
    "2",
    "--warm-up",
    "1ms",
    "--duration",
    "10ms",
];

#[test]
fn a_flag_that_no_plan_has_a_use_for_is_refused() {
    let dir = workplace();
    let server = ["--server", "redis://127.0.0.1:1"];
    for (command, flag) in [
        (&["profile", "--layer", "compression"][..], server),
        (&["profile", "--layer", "column"], ["--size", "64MiB"]),
        (&["run", "cache-peers"], ["--size", "64MiB"]),
        (&["profile", "--layer", "device"], ["--sample-size", "16MiB"]),
    ] {
        let seen = outcrop(dir.path(), &[command, &flag, &["--dry-run"]].concat());
        assert_eq!(seen.code, Some(2), "{command:?}: {seen:?}");
        let sentence = seen.sentence();
        assert!(
            sentence.contains(flag[0]) && sentence.contains("none of these plans"),
            "{sentence}"
        );
    }
}

#[test]
fn what_fio_has_and_outcrop_has_not_is_refused_beside_a_job_file_and_a_verification_too() {
    let dir = workplace();
    std::fs::write(dir.path().join("j.fio"), "[a]\nrw=randread\nsize=8m\n").unwrap();
    for way in [&["--job", "j.fio"][..], &["--verify"]] {
        for option in ["--thinktime=5", "--bssplit=4k/50:8k/50", "--io_size=1m"] {
            let seen = outcrop(dir.path(), &[&["device"], way, &[option]].concat());
            assert_eq!(seen.code, Some(2), "{way:?} {option}: {seen:?}");
            let name = option.split('=').next().unwrap();
            assert!(seen.sentence().contains(name), "{way:?} {option}: {seen:?}");
        }
        let seen = outcrop(dir.path(), &[&["device"], way, &["--direct", "0"]].concat());
        assert_eq!(seen.code, Some(2), "{way:?}: {seen:?}");
        assert!(seen.sentence().contains("--direct 0 and --"), "{seen:?}");
    }
    for flag in [["--runtime", "3s"], ["--duration", "3s"], ["--repetitions", "5"]] {
        let seen = outcrop(dir.path(), &[&["device", "--verify"], &flag[..]].concat());
        assert_eq!(seen.code, Some(2), "{flag:?}: {seen:?}");
        assert!(seen.sentence().contains(flag[0]), "{seen:?}");
    }
    let seen = outcrop(dir.path(), &["device", "--job", "j.fio", "--thread", "--dry-run"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stderr.contains("fio's --thread has no effect"), "{seen:?}");
    assert_eq!(names_in(dir.path()), ["j.fio"]);
}

#[test]
fn a_report_is_written_whatever_format_is_printed() {
    let dir = workplace();
    assert_eq!(outcrop(dir.path(), &TINY).code, Some(0));
    let run = only_run(dir.path());
    let run = run.to_str().unwrap();
    for format in ["text", "json", "csv", "markdown"] {
        let folder = format!("as-{format}");
        let args = [
            "report",
            run,
            "--output",
            &folder,
            "--one-page",
            "--format",
            format,
        ];
        let seen = outcrop(dir.path(), &args);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let written = names_in(&dir.path().join(&folder));
        for file in ["cells.csv", "one-page.html", "report.html"] {
            assert!(written.iter().any(|name| name == file), "{format}: {written:?}");
        }
    }
    let report = std::path::Path::new(run).join("report.html");
    std::fs::remove_file(&report).unwrap();
    let seen = outcrop(dir.path(), &["report", run, "--format", "markdown"]);
    assert!(seen.stdout.contains("| "), "{seen:?}");
    assert!(report.exists(), "a report writes that of its run again");
}

#[test]
fn a_folder_of_runs_is_named_once_and_commands_about_one_are_what_a_shell_reads() {
    let dir = workplace();
    assert_eq!(outcrop(dir.path(), &TINY).code, Some(0));
    std::fs::create_dir(dir.path().join("other")).unwrap();
    let prune = ["runs", "other", "prune", "--keep", "1", "--in", "runs"];
    for args in [&["runs", "runs", "--in", "other"][..], &prune] {
        let seen = outcrop(dir.path(), args);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.sentence().contains("give one of them"), "{seen:?}");
    }
    let line = "device --rw randwrite --queue-depth 1 --size 4MiB --duration 400ms --warm-up 0s --repetitions 1 --max-written 6MiB --out";
    let args: Vec<&str> = line.split(' ').chain(["my runs"]).collect();
    let seen = outcrop(dir.path(), &args);
    assert!(seen.stderr.contains("--resume 'my runs/"), "{seen:?}");
}
