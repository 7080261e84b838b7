//! Groups of jobs that ran at the same time (`new_group`) are no repetitions, and fio does not report what began a group.

use std::fs;

use outcrop_fio::{FioError, ImportOptions, Imported, import};

use crate::samples::figure;

/// A job of a report: the name, the group, further options, seconds that it ran, and further keys.
type Reported<'r> = (&'r str, i64, &'r str, f64, &'r str);

fn import_of(version: &str, elapsed_s: u32, jobs: &[Reported<'_>]) -> Result<Imported, FioError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let jobs: Vec<String> = jobs
        .iter()
        .map(|(name, group, options, seconds, keys)| {
            let ms = seconds * 1e3;
            format!(
                r#"{{"jobname": "{name}", "groupid": {group}, "elapsed": {elapsed_s}, "job_runtime": {ms}{keys}, "job options": {{"rw": "randread"{options}}},
                "read": {{"bw_bytes": 4096000, "iops": 1000, "runtime": {ms}, "total_ios": 1000}}}}"#
            )
        })
        .collect();
    let text = format!(r#"{{"fio version": "{version}", "jobs": [{}]}}"#, jobs.join(", "));
    fs::write(&path, text).unwrap();
    import(&[path], &ImportOptions::default())
}

fn imported(elapsed_s: u32, jobs: &[Reported<'_>]) -> Imported {
    import_of("fio-3.33", elapsed_s, jobs).unwrap()
}

/// The rates of the cells, and how many of them are repetitions.
fn rates(imported: &Imported) -> Vec<(f64, u32)> {
    let trials = imported.trials.iter();
    trials
        .map(|trial| (figure(trial, "iops"), trial.repetition))
        .collect()
}

#[test]
fn groups_that_ran_for_longer_than_fio_did_are_one_load() {
    for (elapsed_s, seconds) in [(2, 1.0), (61, 60.0)] {
        let at_once = [
            ("a", 0, "", seconds, ""),
            ("b", 1, "", seconds, ""),
            ("c", 2, "", seconds, ""),
        ];
        let imported = imported(elapsed_s, &at_once);
        assert_eq!(rates(&imported), [(3000.0, 0)], "{elapsed_s}");
        assert_eq!(imported.trials[0].factors["jobs"], "3");
    }
    let unlike = imported(2, &[("a", 0, "", 1.0, ""), ("b", 1, r#", "bs": "8k""#, 1.0, "")]);
    let shared = unlike
        .trials
        .iter()
        .map(|trial| trial.factors["fio_shared_with"].as_str());
    assert_eq!(shared.collect::<Vec<_>>(), ["another job"; 2]);
}

#[test]
fn groups_whose_times_fit_into_that_of_fio_are_repetitions() {
    let in_turn = [
        ("a", 0, "", 1.0, ""),
        ("b", 1, "", 1.0, ""),
        ("c", 2, "", 1.0, ""),
    ];
    let repetitions = [(1000.0, 0), (1000.0, 1), (1000.0, 2)];
    assert_eq!(rates(&imported(4, &in_turn)), repetitions);
    let walled =
        in_turn.map(|(name, group, _, seconds, keys)| (name, group, r#", "stonewall": "1""#, seconds, keys));
    assert_eq!(
        rates(&imported(2, &walled)),
        repetitions,
        "a wall that is reported decides"
    );
    let ours = import_of("outcrop-1.0", 1, &in_turn).unwrap();
    assert_eq!(rates(&ours), repetitions, "Outcrop has one load at a time");
}

#[test]
fn the_starts_of_jobs_decide_where_fio_reports_them() {
    let begins = |b: &'static str| [("a", 0, "", 1.0, r#", "job_start": 5000"#), ("b", 1, "", 1.0, b)];
    let at_once = imported(9, &begins(r#", "job_start": 5010"#));
    assert_eq!(rates(&at_once), [(2000.0, 0)]);
    let in_turn = imported(1, &begins(r#", "job_start": 6010"#));
    assert_eq!(rates(&in_turn), [(1000.0, 0), (1000.0, 1)]);
}

#[test]
fn groups_of_which_some_overlapped_are_left_out_where_it_is_not_known_which() {
    let jobs = [
        ("a", 0, "", 10.0, ""),
        ("b", 1, "", 10.0, ""),
        ("c", 2, "", 10.0, ""),
    ];
    let Err(FioError::NothingToImport { left_out }) = import_of("fio-3.33", 21, &jobs) else {
        panic!("imported")
    };
    let said = left_out.join("\n");
    assert_eq!(
        said.matches("does not say whether this one did; with stonewall")
            .count(),
        3,
        "{said}"
    );
}

#[test]
fn a_job_that_verifies_what_it_wrote_is_left_out_with_the_option_that_leaves_its_reads_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("verify.json");
    let direction = r#"{"bw_bytes": 4096000, "iops": 1000, "runtime": 1000, "total_ios": 1000}"#;
    for (options, names_it) in [(r#", "verify": "md5""#, true), ("", false)] {
        let text = format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "job options": {{"rw": "write"{options}}}, "read": {direction}, "write": {direction}}}]}}"#
        );
        fs::write(&path, text).unwrap();
        let Err(FioError::NothingToImport { left_out }) =
            import(std::slice::from_ref(&path), &ImportOptions::default())
        else {
            panic!("imported")
        };
        let said = left_out.join("\n");
        assert!(said.contains("fio counted 1000 reads"), "{said}");
        assert_eq!(said.contains("do_verify=0"), names_it, "{said}");
    }
}

#[test]
fn a_mix_that_verifies_what_it_wrote_is_left_out_as_its_reads_are_not_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mix.json");
    let direction = r#"{"bw_bytes": 4096000, "iops": 1000, "runtime": 1000, "total_ios": 1000}"#;
    let both = format!(r#""read": {direction}, "write": {direction}"#);
    let unified = format!(r#""mixed": {direction}"#);
    for (options, figures, is_left_out) in [
        (r#""rw": "randrw", "verify": "crc32c""#, &both, true),
        (r#""rw": "write", "verify": "md5""#, &unified, true),
        (
            r#""rw": "randrw", "verify": "crc32c", "do_verify": "0""#,
            &both,
            false,
        ),
        (r#""rw": "randrw", "verify": "0""#, &both, false),
    ] {
        let text = format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "job options": {{{options}}}, {figures}}}]}}"#
        );
        fs::write(&path, text).unwrap();
        match import(std::slice::from_ref(&path), &ImportOptions::default()) {
            Err(FioError::NothingToImport { left_out }) => {
                let said = left_out.join("\n");
                assert!(
                    is_left_out && said.contains("do_verify=0 leaves them out"),
                    "{options}: {said}"
                );
            }
            Ok(_) => assert!(!is_left_out, "{options}"),
            other => panic!("{other:?}"),
        }
    }
}
