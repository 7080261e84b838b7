//! Flags that would change nothing are refused, and those of a report do the same in every format.

use crate::harness::{Seen, names_in, only_run, outcrop, workplace};

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

fn with_option_of_fio(option: &str) -> Seen {
    outcrop(
        workplace().path(),
        &["device", option, "--size", "16MiB", "--dry-run"],
    )
}

#[test]
fn what_turns_an_option_of_fio_off_is_not_answered_with_how_to_turn_it_on() {
    for (option, says) in [
        ("--buffered=0", "--access decides, by default direct"),
        ("--zero_buffers=0", "--content decides, by default random"),
        (
            "--buffer_compress_percentage=0",
            "--content decides, by default random",
        ),
        ("--hipri=0", "--completions decides, by default interrupt"),
        ("--slat_percentiles=0", "--latency-parts decides"),
        ("--numa_mem_policy=local", "--numa-node decides"),
        ("--iodepth_batch=1", "--submission decides, by default refill"),
        (
            "--iodepth_batch_submit=1",
            "--submission decides, by default refill",
        ),
        (
            "--iodepth_batch_complete=1",
            "--submission decides, by default refill",
        ),
        (
            "--iodepth_batch_complete_min=0",
            "--submission decides, by default refill",
        ),
        (
            "--iodepth_batch_complete_min=1",
            "--submission decides, by default refill",
        ),
        ("--thinktime=0", "it is off"),
        ("--io_size=0", "it is off"),
        ("--rate=0", "it is off"),
        ("--offset=0", "it is off"),
        ("--latency_target=0", "it is off"),
        ("--trim_percentage=0", "it is off"),
        ("--do_verify=0", "it is off"),
        ("--verify_fatal=0", "it is off"),
        ("--flow=0", "it is off"),
    ] {
        let seen = with_option_of_fio(option);
        assert_eq!(seen.code, Some(0), "{option}: {seen:?}");
        let says = format!("fio's {option} has no effect: {says}");
        assert!(seen.stderr.contains(&says), "{says}: {seen:?}");
    }
    let seen = with_option_of_fio("--stonewall=0");
    let says = "fio's --stonewall has no effect: cells are measured one after the other";
    assert!(seen.stderr.contains(says), "{seen:?}");
}

#[test]
fn an_option_of_fio_that_is_on_is_answered_with_the_counterpart_of_its_value() {
    for (option, says) in [
        ("--buffered=1", "type --access buffered"),
        ("--iodepth_batch=16", "type --submission batch"),
        // In fio as many as the depth.
        ("--iodepth_batch=0", "type --submission batch"),
        ("--buffer_compress_percentage=75", "type --content compressible:4"),
        (
            "--buffer_compress_percentage=30",
            "type --content compressible:1.429",
        ),
        ("--buffer_compress_percentage=100", "type --content zeros"),
        (
            "--buffer_compress_percentage",
            "type --content compressible:2, which",
        ),
        ("--offset_increment=1g", "start at evenly spaced offsets"),
    ] {
        let seen = with_option_of_fio(option);
        assert_eq!(seen.code, Some(2), "{option}: {seen:?}");
        let says = format!("{option} is a fio option that Outcrop does not have: … {says}");
        let (refused, answer) = says.split_once(" … ").unwrap();
        let sentence = seen.sentence();
        assert!(
            sentence.contains(refused) && sentence.contains(answer),
            "{seen:?}"
        );
    }
    let args = ["--content", "zeros", "--rw", "randwrite", "--refill_buffers"];
    let seen = outcrop(
        workplace().path(),
        &[&["device", "--size", "16MiB", "--dry-run"], &args[..]].concat(),
    );
    assert!(
        seen.stderr.contains("its own content, unless it is zeros"),
        "{seen:?}"
    );
}
