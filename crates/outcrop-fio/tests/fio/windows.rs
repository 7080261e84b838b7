//! Jobs of one load that did not all run from its beginning to its end, and jobs that ran at the same time on drives of their own.

use std::fs;

use outcrop_fio::{ImportOptions, Imported, import};

use crate::samples::figure;

/// A job of a report: the name, further options, milliseconds that it ran, and further keys. Each reads 1000 times a second.
type Reported<'r> = (&'r str, &'r str, u32, &'r str);

fn report_of(jobs: &[Reported<'_>]) -> Imported {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let jobs: Vec<String> = jobs
        .iter()
        .map(|(name, options, ms, keys)| {
            let bytes = u64::from(*ms) * 4096;
            format!(
                r#"{{"jobname": "{name}", "groupid": 0, "job_runtime": {ms}{keys}, "job options": {{"rw": "read", "bs": "4k"{options}}},
                "read": {{"bw_bytes": 4096000, "io_bytes": {bytes}, "iops": 1000, "runtime": {ms}, "total_ios": {ms}}}}}"#
            )
        })
        .collect();
    let text = format!(r#"{{"fio version": "fio-3.36", "jobs": [{}]}}"#, jobs.join(", "));
    fs::write(&path, text).unwrap();
    import(&[path], &ImportOptions::default()).unwrap()
}

#[test]
fn jobs_that_ended_earlier_than_others_add_their_operations_and_not_their_rates() {
    let sections = [
        ("a", r#", "runtime": "3""#, 3000, ""),
        ("b", r#", "runtime": "500ms""#, 500, ""),
    ];
    let clones = [3000, 500].map(|ms| ("a", r#", "numjobs": "2", "number_ios": "3000""#, ms, ""));
    for jobs in [sections, clones] {
        let imported = report_of(&jobs);
        let [trial] = imported.trials.as_slice() else {
            panic!("{:?} {:?}", imported.trials, imported.left_out)
        };
        assert_eq!(trial.factors["jobs"], "2");
        // 3500 reads in three seconds.
        let (iops, bandwidth) = (figure(trial, "iops"), figure(trial, "bandwidth"));
        assert!((iops - 3500.0 / 3.0).abs() < 1e-6, "{iops}");
        assert!((bandwidth - iops * 4096.0).abs() < 1e-3, "{bandwidth}");
        let mut notes = trial.notes.iter();
        assert!(
            notes.any(|note| note.text.contains("some ended early")),
            "{:?}",
            trial.notes
        );
    }
}

#[test]
fn jobs_that_fio_says_began_at_different_times_are_no_load_and_no_repetitions() {
    let begin = |later: &'static str| {
        report_of(&[
            ("a", "", 1000, r#", "job_start": 5000"#),
            ("b", "", 1000, later),
            ("c", r#", "direct": "1""#, 1000, r#", "job_start": 5000"#),
        ])
    };
    let apart = begin(r#", "job_start": 5500"#);
    assert_eq!(apart.trials.len(), 1);
    assert!(
        apart.left_out[0].contains("at different times (job_start) that overlap"),
        "{:?}",
        apart.left_out
    );
    let at_once = begin(r#", "job_start": 5003"#);
    assert_eq!(at_once.trials[0].factors["jobs"], "2");
}

/// What is said of a job on one place beside a job on another.
fn beside(one: &str, other: &str) -> (String, String) {
    let [one, other] = [one, other].map(|place| format!(r#", "filename": "{place}""#));
    let mut trial = report_of(&[("a", &one, 1000, ""), ("b", &other, 1000, "")])
        .trials
        .remove(0);
    (trial.notes.remove(0).text, trial.subject)
}

#[test]
fn jobs_on_drives_of_their_own_shared_the_machine_and_not_the_device() {
    for (one, other) in [
        ("/dev/nvme0n1", "/dev/nvme1n1"),
        ("/dev/sda1", "/dev/sdb1"),
        ("/dev/sda:/dev/sdb", "/dev/sdc"),
    ] {
        let (note, subject) = beside(one, other);
        assert!(
            note.ends_with("another job on another drive, so its figures are those of a shared machine"),
            "{note}"
        );
        assert_eq!(
            subject,
            format!("{one}, at the same time as another job on another drive")
        );
    }
    for (one, other) in [
        ("/dev/nvme0n1p1", "/dev/nvme0n1p2"),
        ("/dev/sda:/dev/sdb", "/dev/sdb1"),
        ("/dev/sda", "/dev/mapper/data"),
        ("/mnt/one", "/mnt/two"),
    ] {
        let (note, subject) = beside(one, other);
        assert!(
            note.ends_with("another job, so its figures are those of a shared device"),
            "{note}"
        );
        assert_eq!(subject, format!("{one}, shared with another job"));
    }
}
