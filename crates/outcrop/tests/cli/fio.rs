//! fio's files at the command line: results in and out, and job files.

use std::fs;
use std::path::Path;
use std::process::Command;

use outcrop_results::RunView;

use crate::harness::{Seen, names_in, only_run, outcrop, workplace};
use crate::json_shape::checked;

/// Runs the real fio in `dir`; its report is `results/NAME`.
fn fio(dir: &Path, name: &str, options: &[&str]) {
    fs::create_dir_all(dir.join("results")).unwrap();
    let output = Command::new("fio")
        .current_dir(dir)
        .args([
            "--name=job",
            "--filename=data",
            "--size=2M",
            "--direct=1",
            "--output-format=json",
        ])
        .args(options)
        .output()
        .expect("CI's set-up installs fio");
    assert!(output.status.success(), "{output:?}");
    fs::write(dir.join("results").join(name), output.stdout).unwrap();
}

fn seen(dir: &Path, line: &str) -> Seen {
    let words: Vec<&str> = line.split(' ').collect();
    outcrop(dir, &words)
}

#[test]
fn a_folder_of_results_becomes_a_run_with_a_report_and_names_what_is_left_out() {
    let dir = workplace();
    for depth in ["1", "4", "16"] {
        let iodepth = format!("--iodepth={depth}");
        let options = ["--rw=randread", "--bs=4k", "--ioengine=libaio", &iodepth];
        fio(dir.path(), &format!("depth{depth}.json"), &options);
    }
    fs::write(dir.path().join("results/other.json"), "{}").unwrap();
    let dry = seen(dir.path(), "import fio results --dry-run");
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(!dir.path().join("runs").exists());
    let imported = seen(dir.path(), "import fio results");
    assert_eq!(imported.code, Some(0), "{imported:?}");
    assert!(
        imported
            .stderr
            .contains("left out: results/other.json: it is not a result of fio"),
        "{}",
        imported.stderr
    );
    assert!(
        imported.stderr.contains("3 jobs from 3 files of fio-3."),
        "{}",
        imported.stderr
    );
    let quiet = seen(dir.path(), "import fio results -q --out quiet");
    assert_eq!(quiet.code, Some(0), "{quiet:?}");
    assert!(
        quiet.stderr.contains("left out: results/other.json") && !quiet.stderr.contains("3 jobs"),
        "{quiet:?}"
    );
    let run = only_run(dir.path());
    assert!(run.to_string_lossy().ends_with("Z-fio"), "{}", run.display());
    assert!(imported.stdout.contains("p99"), "{}", imported.stdout);
    let names = names_in(&run);
    for file in ["report.html", "cells.csv", "records.parquet"] {
        assert!(names.iter().any(|name| name == file), "{names:?}");
    }
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("which do not describe the machine"));
    let json = checked(&seen(dir.path(), &format!("report {} --format json", run.display())).stdout);
    assert_eq!(json["cells"].as_array().unwrap().len(), 3);
    let listed = seen(dir.path(), "runs");
    assert!(listed.stdout.contains("imported"), "{listed:?}");
    let resumed = seen(dir.path(), &format!("run --resume {}", run.display()));
    assert_eq!(resumed.code, Some(2), "{resumed:?}");
    assert!(
        resumed.sentence().contains("were imported from another program"),
        "{resumed:?}"
    );
    let compared = seen(dir.path(), &format!("compare {0} {0}", run.display()));
    assert_eq!(compared.code, Some(2), "{compared:?}");
    assert!(compared.sentence().contains("are the same run"), "{compared:?}");
}

#[test]
fn nothing_to_import_is_an_error_with_the_reason() {
    let dir = workplace();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::write(dir.path().join("cut.json"), "{\"jobs\": [").unwrap();
    for (line, says) in [
        ("import fio empty", "there is no .json file in it"),
        ("import fio cut.json", "cut.json: it ends in line 1"),
        ("import fio missing", "cannot read missing"),
        ("import fio cut.json --assume depth=4", "has no factor \"depth\""),
        ("import fio", "required arguments were not provided"),
        ("import", "import <COMMAND>"),
    ] {
        let refused = seen(dir.path(), line);
        assert_eq!(refused.code, Some(2), "{line}: {refused:?}");
        assert!(refused.stderr.contains(says), "{line}: {}", refused.stderr);
    }
    assert!(!dir.path().join("runs").exists());
}

#[test]
fn a_run_of_ours_goes_out_as_fios_json_and_comes_back_with_the_same_figures() {
    let dir = workplace();
    let measured = seen(
        dir.path(),
        "device --size 8MiB --queue-depth 1,8 --read-write-mix 100:0,50:50 --duration 250ms --warm-up 5ms --repetitions 1 --out ours",
    );
    assert_eq!(measured.code, Some(0), "{measured:?}");
    let ours = dir
        .path()
        .join("ours")
        .join(&names_in(&dir.path().join("ours"))[0]);
    let exported = seen(
        dir.path(),
        &format!("results export {} --format fio-json -o plots/", ours.display()),
    );
    assert_eq!(exported.code, Some(0), "{exported:?}");
    assert_eq!(
        names_in(&dir.path().join("plots")),
        [
            "randread-1-1.json",
            "randread-8-1.json",
            "randrw-50-1-1.json",
            "randrw-50-8-1.json"
        ]
    );
    // What lies there, results of fio among it, is replaced by --force alone: all of it or nothing.
    fs::write(dir.path().join("plots/randrw-50-1-1.json"), "mine").unwrap();
    fs::remove_file(dir.path().join("plots/randread-1-1.json")).unwrap();
    let again = format!("results export {} --format fio-json -o plots", ours.display());
    let refused = seen(dir.path(), &again);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused
            .sentence()
            .ends_with("exists already; --force replaces it"),
        "{refused:?}"
    );
    assert_eq!(names_in(&dir.path().join("plots")).len(), 3);
    let kept = fs::read(dir.path().join("plots/randrw-50-1-1.json")).unwrap();
    assert_eq!(kept, b"mine");
    assert_eq!(seen(dir.path(), &format!("{again} --force")).code, Some(0));
    let printed = seen(
        dir.path(),
        &format!("results export {} --format fio-json", ours.display()),
    );
    let document: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(document["jobs"].as_array().unwrap().len(), 4);
    let imported = seen(dir.path(), "import fio plots");
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let figures = |run: &Path| {
        let view = RunView::load(run).unwrap();
        let mut figures: Vec<(String, String, Option<u64>)> = view
            .records()
            .filter(|record| {
                ["read_iops", "read_latency_p50", "read_latency_mean"].contains(&record.metric.as_str())
            })
            .map(|record| {
                let cell = ["queue_depth", "read_write_mix"].map(|name| record.factors[name].clone());
                (cell.join(" "), record.metric, record.value.map(f64::to_bits))
            })
            .collect();
        figures.sort();
        figures
    };
    let before = figures(&ours);
    assert_eq!(before.len(), 12);
    assert_eq!(before, figures(&only_run(dir.path())));
}

#[test]
fn writes_with_fsync_go_out_as_fio_has_them_and_come_back_with_the_latency_that_includes_it() {
    let dir = workplace();
    let measured = seen(
        dir.path(),
        "device --size 8MiB --rw randwrite --fsync 1 --queue-depth 1 --duration 250ms --warm-up 5ms --repetitions 1 --out ours",
    );
    assert_eq!(measured.code, Some(0), "{measured:?}");
    let ours = dir
        .path()
        .join("ours")
        .join(&names_in(&dir.path().join("ours"))[0]);
    let export = format!("results export {} --format fio-json -o synced/", ours.display());
    let exported = seen(dir.path(), &export);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    let file = dir.path().join("synced/randwrite-1-1.json");
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let job = &document["jobs"][0];
    let mean = |latency: &serde_json::Value| latency["mean"].as_f64().unwrap();
    let (write, sync) = (mean(&job["write"]["clat_ns"]), mean(&job["sync"]["lat_ns"]));
    let both = mean(&job["write"]["lat_with_sync_ns"]);
    assert!(write < both && sync < both, "{write} and {sync} of {both}");
    assert!((write + sync - both).abs() <= 2.0, "{write} and {sync} of {both}");
    assert_eq!(job["sync"]["total_ios"], job["write"]["total_ios"]);
    let imported = seen(dir.path(), "import fio synced");
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let figures = |run: &Path| {
        let view = RunView::load(run).unwrap();
        let wanted = ["latency_mean", "write_latency_p50", "sync_latency_mean"];
        let mut figures: Vec<(String, Option<u64>)> = view
            .records()
            .filter(|record| wanted.contains(&record.metric.as_str()))
            .map(|record| (record.metric, record.value.map(f64::to_bits)))
            .collect();
        figures.sort();
        figures
    };
    let before = figures(&ours);
    assert_eq!(before.len(), 3);
    assert!(before.iter().all(|(_, value)| value.is_some()), "{before:?}");
    assert_eq!(before, figures(&only_run(dir.path())));
}

#[test]
fn a_directory_that_is_typed_has_precedence_over_that_of_a_job_file_also_the_current_one() {
    let dir = workplace();
    let stated = dir.path().join("stated");
    fs::create_dir(&stated).unwrap();
    let job = format!("[j]\nrw=randread\nsize=4m\ndirectory={}\n", stated.display());
    fs::write(dir.path().join("dir.fio"), job).unwrap();
    for (path, is_stated) in [("", true), (" .", false), (" ./", false)] {
        let line =
            format!("device --job dir.fio --duration 50ms --warm-up 1ms --repetitions 1 --out runs{path}");
        let run = seen(dir.path(), &line);
        assert_eq!(run.code, Some(0), "{line}: {run:?}");
        let run = only_run(dir.path());
        let view = RunView::load(&run).unwrap();
        let storage = view.environment["storage"].to_string();
        assert_eq!(storage.contains("/stated\""), is_stated, "{line}: {storage}");
        fs::remove_dir_all(run).unwrap();
    }
}

#[test]
fn a_job_file_runs_and_its_jobs_keep_their_names() {
    let dir = workplace();
    fs::write(
        dir.path().join("two.fio"),
        "[global]\ndirect=1\nioengine=io_uring\nsize=4m\nbs=4k\nthread\n[reads]\nrw=randread\niodepth=4\n[writes]\nstonewall\nrw=write\niodepth=2\n",
    )
    .unwrap();
    let run = seen(
        dir.path(),
        "device --job two.fio --duration 250ms --warm-up 5ms --repetitions 1",
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stderr
            .contains("two.fio:6: thread has no effect: jobs are threads"),
        "{}",
        run.stderr
    );
    let view = RunView::load(&only_run(dir.path())).unwrap();
    let plans: Vec<&str> = view
        .trials
        .iter()
        .flat_map(|trial| &trial.plans)
        .map(String::as_str)
        .collect();
    assert!(plans.contains(&"reads") && plans.contains(&"writes"), "{plans:?}");
    for name in ["reads", "writes"] {
        let is_row_of_job = |line: &str| line.split_whitespace().next() == Some(name);
        assert!(run.stdout.lines().any(is_row_of_job), "{}", run.stdout);
    }
    let cells = fs::read_to_string(view.dir.join("cells.csv")).unwrap();
    let mut cells = csv::Reader::from_reader(cells.as_bytes());
    let plan = cells.headers().unwrap().iter().position(|name| name == "plan");
    let plan = plan.expect("a column of the jobs' names");
    let mut named: Vec<String> = cells.records().map(|row| row.unwrap()[plan].to_owned()).collect();
    named.sort_unstable();
    assert_eq!(named, ["reads", "writes"]);
    let page = fs::read_to_string(view.dir.join("report.html")).unwrap();
    assert!(
        page.contains(">plan<") && page.contains(">writes<"),
        "the job has a name in the table of the report"
    );
    let exported = seen(
        dir.path(),
        &format!("results export {} --format fio-json", view.dir.display()),
    );
    let exported: serde_json::Value = serde_json::from_str(&exported.stdout).unwrap();
    let mut names: Vec<&str> = exported["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["jobname"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["reads", "writes"], "the names that the job file gives");
}

#[test]
fn jobs_that_reach_no_device_need_no_room_on_the_disk() {
    let dir = workplace();
    // As in examples/null.fio, which comes with fio, and larger than a disk.
    let text =
        "[global]\nbs=4k\nioengine=null\niodepth=1\nsize=100t\nrw=randread\nnorandommap\n[job1]\n[job2]\n";
    fs::write(dir.path().join("null.fio"), text).unwrap();
    let run = seen(
        dir.path(),
        "device --job null.fio --in-turn --duration 250ms --warm-up 5ms --repetitions 1",
    );
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn a_job_file_that_cannot_run_is_refused_with_the_line_of_each_option() {
    let dir = workplace();
    fs::write(
        dir.path().join("two.fio"),
        "[reads]\nrw=randread\nsize=4m\n[writes]\nrw=write\nsize=4m\n",
    )
    .unwrap();
    fs::write(
        dir.path().join("bad.fio"),
        "[job]\ndirect=1\nrw=randread\nverify=crc32c\nbssplit=4k/50:8k/50\nwarp=9\nsize=1m\n",
    )
    .unwrap();
    let refused = seen(dir.path(), "device --job bad.fio --dry-run");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for says in [
        "bad.fio:4: verify=crc32c:",
        "bad.fio:5: bssplit=4k/50:8k/50:",
        "bad.fio:6: warp=9: Outcrop does not know this option",
    ] {
        assert!(refused.stderr.contains(says), "{}", refused.stderr);
    }
    for (line, says) in [
        ("device --job two.fio --queue-depth 4", "contradict each other"),
        ("device --job two.fio --rw randread", "contradict each other"),
        ("device --job two.fio --read-only bad.fio", "cannot be used with"),
        ("device --job none.fio", "cannot read none.fio"),
    ] {
        let refused = seen(dir.path(), line);
        assert_eq!(refused.code, Some(2), "{line}: {refused:?}");
        assert!(refused.stderr.contains(says), "{line}: {}", refused.stderr);
    }
}

#[test]
fn several_kinds_of_io_at_once_are_refused_with_the_flags_that_take_lists() {
    let dir = workplace();
    let refused = seen(dir.path(), "device . --rw randread,randwrite --dry-run");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let instead = "--access-pattern random --read-write-mix 100:0,0:100";
    assert!(refused.sentence().contains(instead), "{refused:?}");
    let line = format!("device . {instead} --dry-run");
    assert_eq!(seen(dir.path(), &line).code, Some(0), "{line}");
}

#[test]
fn the_scratch_file_of_a_job_without_a_directory_is_made_where_the_command_was_typed() {
    let dir = workplace();
    fs::create_dir(dir.path().join("jobs")).unwrap();
    let job = "[a]\nrw=randread\nsize=1m\nruntime=10ms\n";
    fs::write(dir.path().join("jobs/a.fio"), job).unwrap();
    let args = ["device", "--job", "jobs/a.fio", "--repetitions", "1"];
    let seen = outcrop(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let plan = fs::read_to_string(only_run(dir.path()).join("plan.toml")).unwrap();
    let here = dir.path().canonicalize().unwrap();
    assert!(
        plan.contains(&format!("directory = \"{}\"", here.display())),
        "{plan}"
    );
    let help = outcrop(dir.path(), &["device", "--help"]).stdout;
    let help: Vec<&str> = help.split_whitespace().collect();
    assert!(help.join(" ").contains("the `directory` that the job names"));
}
