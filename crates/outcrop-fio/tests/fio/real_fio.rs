//! What the real fio measured on a small file is what the records hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use outcrop_results::TrialEntry;
use serde_json::Value;

use crate::samples::{figure, imported, reason};

/// A directory on a real disk, for direct I/O.
pub(crate) fn workplace() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Runs fio in a folder; its report, with the warnings that stand before it, is the file `name`.
pub(crate) fn fio(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let mut command = Command::new("fio");
    command
        .current_dir(folder)
        .args([
            "--name=job",
            "--filename=data",
            "--size=4M",
            "--bs=4k",
            "--output-format=json",
        ])
        .args(options);
    let output = command.output().expect("CI's set-up installs fio");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let path = folder.join(name);
    let text = [b"fio: this is a warning\n".as_slice(), &output.stdout].concat();
    fs::write(&path, text).unwrap();
    path
}

/// The jobs of a report, as a reader that knows nothing of ours sees them.
fn jobs(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let report: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    report["jobs"].as_array().unwrap().clone()
}

fn assert_same(trial: &TrialEntry, metric: &str, expected: &Value) {
    let (seen, expected) = (figure(trial, metric), expected.as_f64().unwrap());
    assert!(
        (seen - expected).abs() <= expected * 1e-12,
        "{metric}: {seen}, fio has {expected}"
    );
}

#[test]
fn figures_of_the_real_fio_are_imported_as_they_are() {
    let folder = workplace();
    let path = fio(
        folder.path(),
        "mix.json",
        &[
            "--rw=randrw",
            "--rwmixread=70",
            "--iodepth=8",
            "--ioengine=libaio",
            "--direct=1",
        ],
    );
    let imported = imported(&[&path]);
    let trial = &imported.trials[0];
    for (factor, value) in [
        ("access_pattern", "random"),
        ("read_write_mix", "70:30"),
        ("io_block_size", "4KiB"),
        ("queue_depth", "8"),
        ("jobs", "1"),
        ("engine", "libaio"),
        ("arrival", "closed"),
        ("span", "4MiB"),
    ] {
        assert_eq!(trial.factors[factor], value, "{factor}");
    }
    assert!(
        imported
            .versions
            .iter()
            .all(|version| version.starts_with("fio-3."))
    );
    let job = &jobs(&path)[0];
    for direction in ["read", "write"] {
        let theirs = &job[direction];
        for (metric, expected) in [
            ("iops", &theirs["iops"]),
            ("bandwidth", &theirs["bw_bytes"]),
            ("latency_mean", &theirs["lat_ns"]["mean"]),
            ("latency_max", &theirs["lat_ns"]["max"]),
            ("latency_p50", &theirs["clat_ns"]["percentile"]["50.000000"]),
            ("latency_p95", &theirs["clat_ns"]["percentile"]["95.000000"]),
        ] {
            assert_same(trial, &format!("{direction}_{metric}"), expected);
        }
    }
    let both = job["read"]["iops"].as_f64().unwrap() + job["write"]["iops"].as_f64().unwrap();
    assert!((figure(trial, "iops") - both).abs() < 1e-6);
    assert!(reason(trial, "latency_p50").contains("reads and writes separately"));
}

#[test]
fn clones_of_a_job_are_one_cell_whether_or_not_fio_reports_them_as_one() {
    let folder = workplace();
    let clones = [
        "--rw=randread",
        "--numjobs=2",
        "--ioengine=psync",
        "--direct=1",
        "--iodepth=32",
    ];
    let apart = fio(folder.path(), "apart.json", &clones);
    let grouped = fio(
        folder.path(),
        "grouped.json",
        &[&clones[..], &["--group_reporting", "--lat_percentiles=1"]].concat(),
    );
    let imported = imported(&[&apart, &grouped]);
    let [of_apart, of_grouped] = imported.trials.as_slice() else {
        panic!("{:?}", imported.left_out)
    };
    assert_eq!(of_apart.cell, of_grouped.cell);
    assert_eq!((of_apart.repetition, of_grouped.repetition), (0, 1));
    assert_eq!(
        of_apart.factors["queue_depth"], "1",
        "psync waits for each request"
    );
    let theirs = jobs(&apart);
    assert_eq!(theirs.len(), 2);
    let all = |key: &'static str| {
        let values = theirs.iter();
        values.map(move |job| job["read"][key].as_f64().unwrap())
    };
    let rate = all("total_ios").sum::<f64>() / (all("runtime").fold(0.0, f64::max) / 1e3);
    assert!((figure(of_apart, "iops") / rate - 1.0).abs() < 1e-3);
    assert!(reason(of_apart, "latency_p50").contains("group_reporting"));
    assert_same(
        of_grouped,
        "latency_p50",
        &jobs(&grouped)[0]["read"]["lat_ns"]["percentile"]["50.000000"],
    );
}

#[test]
fn reads_and_writes_that_fio_reports_as_one_have_percentiles_together() {
    let folder = workplace();
    let path = fio(
        folder.path(),
        "mixed.json",
        &[
            "--rw=randrw",
            "--unified_rw_reporting=1",
            "--ioengine=psync",
            "--direct=1",
        ],
    );
    let imported = imported(&[&path]);
    let trial = &imported.trials[0];
    assert_eq!(trial.factors["read_write_mix"], "50:50");
    assert_same(
        trial,
        "latency_p50",
        &jobs(&path)[0]["mixed"]["clat_ns"]["percentile"]["50.000000"],
    );
    assert!(trial.values.iter().all(|value| value.metric != "read_iops"));
}
