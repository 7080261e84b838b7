//! What ran at the same time is one load, and what fio reports as one is not the cell of its last section.

use std::fs;
use std::path::{Path, PathBuf};

use outcrop_fio::{FioError, ImportOptions, Imported, export, export_jobs, import};

use crate::real_fio::workplace;
use crate::samples::{figure, imported, older, reason, run_of};
use crate::spans::fio_in;

/// What the real fio reports of a job file.
fn reported(folder: &Path, name: &str, sections: &str) -> PathBuf {
    let usual = "[global]\nioengine=psync\nbs=4k\nsize=1m\nruntime=200ms\ntime_based\nlat_percentiles=1\n";
    let job_file = folder.join(format!("{name}.fio"));
    fs::write(&job_file, format!("{usual}{sections}")).unwrap();
    let report = fio_in(folder, &["--output-format=json", job_file.to_str().unwrap()]);
    let path = folder.join(format!("{name}.json"));
    fs::write(&path, report).unwrap();
    path
}

/// Why nothing of these files is imported.
fn refusal(path: &Path) -> String {
    match import(&[path.to_owned()], &ImportOptions::default()) {
        Err(FioError::NothingToImport { left_out }) => left_out.join("\n"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sections_that_fio_reports_as_one_are_left_out_and_clones_are_not() {
    let folder = workplace();
    let grouped =
        |name: &str, sections: &str| reported(folder.path(), name, &format!("group_reporting\n{sections}"));
    let mixed = grouped(
        "mixed",
        "[reader]\nrw=randread\n[writer]\nrw=randwrite\nbs=16k\nrate_iops=500\n",
    );
    let why = refusal(&mixed);
    assert!(
        why.contains("its options ask for a mix of 0:100, and fio counted") && why.contains("reads"),
        "{why}"
    );
    let like = grouped("like", "rw=randread\n[a]\n[b]\n[c]\nnumjobs=2\n");
    let why = refusal(&like);
    assert!(
        why.contains("ran 4.0 times as long as the longest") || why.contains("ran 3."),
        "{why}"
    );
    assert!(why.contains("fio reports several jobs as one"), "{why}");
    let clones = grouped("clones", "rw=randread\nnumjobs=4\n[a]\n");
    let imported = imported(&[&clones]);
    assert_eq!(imported.left_out, [""; 0]);
    assert_eq!(imported.trials[0].factors["jobs"], "4");
    figure(&imported.trials[0], "latency_p50");
}

#[test]
fn jobs_with_the_same_options_that_ran_at_the_same_time_are_added_up_to_the_cell_of_clones() {
    let folder = workplace();
    let sections = reported(folder.path(), "sections", "rw=randread\n[a]\n[b]\n[c]\n[d]\n");
    let clones = reported(folder.path(), "clones", "rw=randread\n[a]\nnumjobs=4\n");
    let imported = imported(&[&sections, &clones]);
    let [of_sections, of_clones] = imported.trials.as_slice() else {
        panic!("{:?}", imported.trials)
    };
    let factors = ["jobs", "span"].map(|name| of_sections.factors[name].as_str());
    assert_eq!(factors, ["4", "4MiB"]);
    assert_eq!(
        of_sections.cell, of_clones.cell,
        "{:?} {:?}",
        of_sections.factors, of_clones.factors
    );
    let text = fs::read_to_string(&sections).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let jobs = report["jobs"].as_array().unwrap().iter();
    let figures: Vec<[f64; 2]> = jobs
        .map(|job| ["total_ios", "runtime"].map(|key| job["read"][key].as_f64().unwrap()))
        .collect();
    let longest_ms = figures.iter().map(|[_, ms]| *ms).fold(0.0, f64::max);
    let rate = figures.iter().map(|[reads, _]| reads).sum::<f64>() / (longest_ms / 1e3);
    let seen = figure(of_sections, "iops");
    assert!((seen / rate - 1.0).abs() < 1e-3, "{seen} is not {rate}");
    let why = reason(of_sections, "latency_p50");
    assert!(
        why.ends_with("one section with numjobs and group_reporting has those of all"),
        "{why}"
    );
    let said = &of_sections.notes[0].text;
    assert!(said.contains("4 jobs of fio with the same options"), "{said}");
}

#[test]
fn a_job_beside_others_is_no_cell_of_one_that_ran_alone_and_is_not_exported_as_one() {
    let folder = workplace();
    let both = "[reader]\nrw=randread\n[writer]\nrw=randwrite\n";
    let beside = reported(folder.path(), "beside", both);
    let alone = reported(
        folder.path(),
        "alone",
        "[reader]\nrw=randread\n[writer]\nstonewall\nrw=randwrite\n",
    );
    let imported = imported(&[&beside, &alone]);
    let seen: Vec<Option<&str>> = imported
        .trials
        .iter()
        .map(|trial| trial.factors.get("fio_shared_with").map(String::as_str))
        .collect();
    let shared = Some("another job");
    assert_eq!(seen, [shared, shared, None, None]);
    assert!(
        imported.trials[0]
            .notes
            .iter()
            .any(|note| note.text.contains("at the same time as another job"))
    );
    assert_eq!(
        imported.trials[0].subject,
        "files of fio, shared with another job"
    );
    let run = run_of(&imported, folder.path());
    assert_eq!(run.cells().len(), 4);
    let left_out = [
        export(&run).unwrap().left_out,
        export_jobs(&run).unwrap().left_out,
    ];
    for left_out in left_out {
        assert_eq!(left_out.len(), 2, "{left_out:?}");
        assert!(
            left_out[0].contains("fio ran it at the same time as another job"),
            "{left_out:?}"
        );
    }
}

/// A report of version 3 with jobs of one group: the name, the options and the time that it ran.
fn report_of(jobs: &[(&str, &str, u32)]) -> Imported {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let jobs: Vec<String> = jobs
        .iter()
        .map(|(name, options, runtime)| {
            let direction =
                format!(r#"{{"bw_bytes": 4096000, "iops": 1000, "runtime": {runtime}, "total_ios": 1000}}"#);
            format!(
                r#"{{"jobname": "{name}", "groupid": 0, "job_runtime": {runtime}, "job options": {{"rw": "read"{options}}}, "read": {direction}}}"#
            )
        })
        .collect();
    let text = format!(r#"{{"fio version": "fio-3.33", "jobs": [{}]}}"#, jobs.join(", "));
    fs::write(&path, text).unwrap();
    imported(&[&path])
}

#[test]
fn jobs_of_one_group_that_ran_one_after_the_other_are_repetitions() {
    let waits = [
        ("a", "", 1000),
        ("b", r#", "wait_for": "a""#, 1000),
        ("c", r#", "wait_for": "b""#, 1000),
    ];
    let delayed = [
        ("a", "", 1000),
        ("b", r#", "startdelay": "1""#, 1000),
        ("c", r#", "startdelay": "5s""#, 1000),
    ];
    for jobs in [waits, delayed] {
        let imported = report_of(&jobs);
        let repetitions: Vec<u32> = imported.trials.iter().map(|trial| trial.repetition).collect();
        assert_eq!(repetitions, [0, 1, 2], "{jobs:?}");
        assert!(
            imported.trials.iter().all(|trial| trial.notes.is_empty()),
            "{jobs:?}"
        );
    }
    let together = report_of(&[
        ("a", "", 1000),
        ("b", r#", "wait_for": "a""#, 1000),
        ("c", "", 1000),
    ]);
    let jobs: Vec<&str> = together
        .trials
        .iter()
        .map(|trial| trial.factors["jobs"].as_str())
        .collect();
    assert_eq!(jobs, ["2", "1"], "c may run when a has ended");
}

#[test]
fn jobs_that_overlap_in_part_are_no_load_and_no_repetitions() {
    let imported = report_of(&[
        ("a", "", 1000),
        ("b", r#", "startdelay": "500ms""#, 1000),
        ("c", r#", "bs": "8k""#, 1000),
    ]);
    let [only] = imported.trials.as_slice() else {
        panic!("{:?}", imported.trials)
    };
    assert_eq!(only.factors["fio_shared_with"], "2 other jobs");
    let [why] = imported.left_out.as_slice() else {
        panic!("{:?}", imported.left_out)
    };
    assert!(
        why.contains("at different times (startdelay) that overlap"),
        "{why}"
    );
}

#[test]
fn a_load_of_which_some_jobs_ended_early_says_so() {
    let clones = [1000, 300, 300, 300].map(|runtime| ("a", r#", "numjobs": "4""#, runtime));
    let imported = report_of(&clones);
    let notes: Vec<&str> = imported.trials[0]
        .notes
        .iter()
        .map(|note| note.text.as_str())
        .collect();
    assert!(
        matches!(notes.as_slice(), [note] if note.contains("its 4 jobs together ran 1.9 times as long as the longest")),
        "{notes:?}"
    );
    let even = [1000, 950, 990, 700].map(|runtime| ("a", r#", "numjobs": "4""#, runtime));
    assert!(report_of(&even).trials[0].notes.is_empty());
}

#[test]
fn entries_of_a_report_without_options_are_one_load_as_its_file_names_it() {
    let one: serde_json::Value = serde_json::from_str(&older(5_000.0, 4, 1.0)).unwrap();
    let mut report = one.clone();
    report["jobs"] = vec![one["jobs"][0].clone(); 3].into();
    let folder = tempfile::tempdir().unwrap();
    for (name, jobs) in [
        ("randread_bs4k_qd8", Some("3")),
        ("randread_bs4k_qd8_jobs3", Some("3")),
        ("randread_bs4k_qd8_jobs2", None),
    ] {
        let path = folder.path().join(format!("{name}.json"));
        fs::write(&path, report.to_string()).unwrap();
        let Some(jobs) = jobs else {
            let why = refusal(&path);
            assert!(why.contains("it has 2 jobs, and 3 of them are reported"), "{why}");
            continue;
        };
        let imported = imported(&[&path]);
        assert_eq!(imported.trials.len(), 1, "{name}");
        assert_eq!(imported.trials[0].factors["jobs"], jobs, "{name}");
        assert_eq!(figure(&imported.trials[0], "iops"), 15_000.0, "{name}");
    }
}

#[test]
fn a_clone_that_failed_makes_its_job_fail() {
    let folder = tempfile::tempdir().unwrap();
    let job = |error: i64| {
        format!(
            r#"{{"jobname": "a", "error": {error}, "job options": {{"rw": "read", "numjobs": "2"}}, "read": {{"bw_bytes": 4096000, "iops": 1000, "runtime": 1000, "total_ios": 1000}}}}"#
        )
    };
    let path = folder.path().join("clones.json");
    let text = format!(
        r#"{{"fio version": "fio-3.33", "jobs": [{}, {}]}}"#,
        job(0),
        job(5)
    );
    fs::write(&path, text).unwrap();
    let failed = imported(&[&path]).trials.remove(0).outcome;
    assert!(format!("{failed:?}").contains("ended with error 5"), "{failed:?}");
}
