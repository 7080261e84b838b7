//! Reports become trials: factors from options and names, figures as fio has them, and nothing that it does not.

use std::collections::BTreeSet;
use std::fs;

use outcrop_fio::{ImportOptions, import};
use outcrop_measure::metric::Provenance;
use outcrop_results::{CellTable, Outcome};
use outcrop_schema::device::{FROM_SUBMISSION_END, PERCENTILES_FROM_SUBMISSION_END};

use crate::samples::{figure, imported, older, reason, run_of, value};

#[test]
fn a_hundred_results_of_the_older_layout_become_one_run_with_fios_own_figures() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    let mut expected = BTreeSet::new();
    for (step, size) in [4_u32, 16, 64, 128, 1024].into_iter().enumerate() {
        for depth in [1_u32, 4, 32, 256, 1024] {
            for reads in [100_u32, 70, 50, 0] {
                let iops = f64::from(200_000 / (1 + size) + depth * 10 + reads) + step as f64;
                let name = format!("outfile_blk{size}k_qlen{depth}_rw{reads}_{}.json", 100 - reads);
                fs::write(
                    results.join(&name),
                    older(iops, size.into(), f64::from(reads) / 100.0),
                )
                .unwrap();
                let size = if size == 1024 {
                    "1MiB".to_owned()
                } else {
                    format!("{size}KiB")
                };
                expected.insert((
                    size,
                    depth.to_string(),
                    format!("{reads}:{}", 100 - reads),
                    iops as u64,
                ));
            }
        }
    }
    let imported = imported(&[&results]);
    assert_eq!(imported.left_out, [""; 0]);
    let run = run_of(&imported, folder.path());
    assert_eq!((run.trials.len(), run.cells().len()), (100, 100));
    let seen: BTreeSet<_> = run
        .trials
        .iter()
        .map(|trial| {
            let factor = |name: &str| trial.factors[name].clone();
            let iops = figure(trial, "iops").round() as u64;
            (
                factor("io_block_size"),
                factor("queue_depth"),
                factor("read_write_mix"),
                iops,
            )
        })
        .collect();
    assert_eq!(seen, expected);
    assert_eq!(CellTable::of(&run).rows.len(), 100);
    for record in run.records().filter(|record| record.value.is_some()) {
        assert_eq!(record.provenance, Provenance::Imported, "{}", record.metric);
        let source = record.source.unwrap();
        assert!(
            source.starts_with("imported from fio-2.2.10, outfile_blk"),
            "{source}"
        );
    }
}

#[test]
fn a_link_to_a_result_stands_for_it_and_one_to_a_folder_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let [elsewhere, results] = ["elsewhere", "results"].map(|name| folder.path().join(name));
    for dir in [&elsewhere, &results] {
        fs::create_dir(dir).unwrap();
    }
    for (depth, dir) in [(1, &results), (4, &elsewhere)] {
        let name = format!("outfile_blk4k_qlen{depth}_rw100_0.json");
        fs::write(dir.join(name), older(1e4 * f64::from(depth), 4, 1.0)).unwrap();
    }
    let linked = "outfile_blk4k_qlen4_rw100_0.json";
    std::os::unix::fs::symlink(elsewhere.join(linked), results.join(linked)).unwrap();
    std::os::unix::fs::symlink(&results, results.join("again")).unwrap();
    std::os::unix::fs::symlink("nowhere", results.join("lost.json")).unwrap();
    let imported = imported(&[&results]);
    assert_eq!(run_of(&imported, folder.path()).trials.len(), 2);
    let [lost] = &imported.left_out[..] else {
        panic!("{:?}", imported.left_out)
    };
    assert!(lost.contains("lost.json: it cannot be read: "), "{lost}");
}

#[test]
fn the_older_layout_counts_in_microseconds_and_kib() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("randread_bs4k_qd8.json");
    fs::write(&path, older(10_000.0, 4, 1.0)).unwrap();
    let imported = imported(&[&path]);
    let trial = &imported.trials[0];
    assert_eq!(trial.factors["access_pattern"], "random");
    assert_eq!(trial.factors["engine"], "not stated");
    for (metric, expected) in [
        ("iops", 10_000.0),
        ("read_iops", 10_000.0),
        ("bandwidth", 40_000.0 * 1024.0),
        ("latency_mean", 102_000.0),
        ("latency_p50", 140_000.0),
        ("latency_p99", 189_000.0),
        ("read_latency_p99_9", 189_000.0),
        ("latency_max", 918_000.0),
    ] {
        let seen = figure(trial, metric);
        assert!(
            (seen - expected).abs() < 1.0,
            "{metric}: {seen}, expected {expected}"
        );
    }
    assert_eq!(
        value(trial, "latency_mean").source.as_deref(),
        Some("imported from fio-2.2.10, randread_bs4k_qd8.json: lat.mean")
    );
    assert!(reason(trial, "cpu_per_operation").contains("how long its threads ran"));
    assert_eq!(trial.duration_s, 10.0);
}

#[test]
fn what_fio_did_not_report_is_unavailable_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let report = |options: &str, latency: &str, iops: u32| {
        let direction = format!(
            r#"{{"bw_bytes": {}, "bw": 1, "iops": {iops}, "runtime": 1000, "total_ios": {iops}, {latency}}}"#,
            iops * 4096
        );
        let nothing = r#"{"bw_bytes": 0, "total_ios": 0}"#;
        format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "job options": {{{options}}}, "read": {direction}, "write": {nothing}}}]}}"#
        )
    };
    let with_list = r#""lat_ns": {"N": 500, "mean": 10.0, "max": 20}, "clat_ns": {"N": 500, "mean": 9.0, "max": 19, "percentile": {"50.000000": 9, "99.900000": 18}}"#;
    let untimed = r#""lat_ns": {"N": 0, "mean": 0.0, "max": 0}, "clat_ns": {"N": 0, "mean": 0.0, "max": 0}"#;
    for (name, text) in [
        (
            "list.json",
            report(r#""rw": "randread", "direct": "1""#, with_list, 500),
        ),
        (
            "untimed.json",
            report(r#""rw": "randread", "gtod_reduce": "1""#, untimed, 500),
        ),
        ("stalled.json", report(r#""rw": "randread""#, untimed, 0)),
        (
            "open.json",
            report(
                r#""rw": "randread", "rate_iops": "500", "numjobs": 1"#,
                with_list,
                500,
            ),
        ),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let imported = imported(&[folder.path()]);
    let [list, open, stalled, untimed] = imported.trials.as_slice() else {
        panic!("{:?}", imported.left_out)
    };
    assert_eq!(figure(list, "latency_p50"), 9.0);
    assert_eq!(figure(list, "latency_mean"), 10.0);
    assert_eq!(
        reason(list, "latency_p90"),
        "fio reports no p90 here; percentile_list asks for it"
    );
    assert_eq!(
        reason(list, "latency_p99_9"),
        "too few operations (500 of at least 10000) for a p99.9"
    );
    assert!(reason(untimed, "latency_mean").contains("did not time requests"));
    assert_eq!(reason(stalled, "latency_mean"), "no operation completed");
    // Beside trials that completed some it is one that has too few.
    assert_eq!(
        reason(stalled, "latency_p99_9"),
        "too few operations (0 of at least 10000) for a p99.9"
    );
    assert_eq!(open.factors["arrival"], "constant:500/s");
    assert!(reason(open, "latency_mean").contains("not from when it was due"));
    assert_eq!(figure(open, "service_latency_mean"), 10.0);
}

#[test]
fn latencies_that_begin_where_the_submission_ends_are_remarked_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let report = |latency: &str| {
        format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "job options": {{"rw": "randread"}}, "read": {{"bw_bytes": 4096, "bw": 4, "iops": 1, "runtime": 1000, "total_ios": 500, {latency}}}, "write": {{"bw_bytes": 0, "total_ios": 0}}}}]}}"#
        )
    };
    let whole = r#""lat_ns": {"N": 500, "mean": 10.0, "max": 20, "percentile": {"50.000000": 10}}"#;
    let mean = r#""lat_ns": {"N": 500, "mean": 10.0, "max": 20}"#;
    let completion = r#""clat_ns": {"N": 500, "mean": 9.0, "max": 19, "percentile": {"50.000000": 9}}"#;
    let files = [
        (
            "a.json",
            format!("{mean}, {completion}"),
            vec![&PERCENTILES_FROM_SUBMISSION_END],
        ),
        ("b.json", completion.to_owned(), vec![&FROM_SUBMISSION_END]),
        ("c.json", format!("{whole}, {completion}"), vec![]),
    ];
    for (name, latency, _) in &files {
        fs::write(folder.path().join(name), report(latency)).unwrap();
    }
    let imported = imported(&[folder.path()]);
    assert_eq!(imported.trials.len(), files.len(), "{:?}", imported.left_out);
    for (trial, (name, _, expected)) in imported.trials.iter().zip(&files) {
        let kinds = [&FROM_SUBMISSION_END, &PERCENTILES_FROM_SUBMISSION_END];
        let made = kinds
            .into_iter()
            .filter(|kind| trial.notes.iter().any(|note| kind.is_kind_of(note)));
        assert_eq!(made.collect::<Vec<_>>(), *expected, "{name}: {:?}", trial.notes);
    }
}

#[test]
fn the_latency_of_writes_with_syncs_is_withheld_as_fio_leaves_the_sync_out() {
    let folder = tempfile::tempdir().unwrap();
    let report = |sync: &str| {
        let times = r#""lat_ns": {"N": 9000, "mean": 10.0, "max": 20}, "clat_ns": {"N": 9000, "mean": 9.0, "max": 19, "percentile": {"50.000000": 9}}"#;
        let direction = r#""bw_bytes": 36864000, "iops": 9000, "runtime": 1000, "total_ios": 9000"#;
        let syncs = r#"{"total_ios": 9000, "lat_ns": {"N": 9000, "mean": 30.0, "max": 40, "percentile": {"50.000000": 29}}}"#;
        format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "job options": {{"rw": "write", {sync} "ioengine": "psync"}},
            "read": {{"bw_bytes": 0, "total_ios": 0}}, "write": {{{direction}, {times}}}, "sync": {syncs}}}]}}"#
        )
    };
    for (name, sync) in [
        ("a.json", r#""fsync": "8","#),
        ("b.json", r#""fdatasync": "1","#),
        ("c.json", ""),
    ] {
        fs::write(folder.path().join(name), report(sync)).unwrap();
    }
    let imported = imported(&[folder.path()]);
    let [fsync, fdatasync, none] = imported.trials.as_slice() else {
        panic!("{:?}", imported.left_out)
    };
    for trial in [fsync, fdatasync] {
        assert_eq!(figure(trial, "iops"), 9000.0);
        for metric in ["latency_mean", "latency_p50", "write_latency_p50"] {
            assert!(reason(trial, metric).contains("fsync and fdatasync separately"));
        }
        // Where fio reports the syncs, they have the figures of ours.
        assert_eq!(figure(trial, "sync_latency_mean"), 30.0);
        assert_eq!(figure(trial, "sync_latency_p50"), 29.0);
    }
    assert_eq!(figure(none, "write_latency_p50"), 9.0);
    let mut metrics = none.values.iter().map(|value| value.metric.as_str());
    assert!(metrics.all(|metric| !metric.starts_with("sync_")));
}

#[test]
fn conditions_that_no_factor_has_keep_cells_apart_and_stand_in_the_subject() {
    let folder = tempfile::tempdir().unwrap();
    let report = |options: &str, error: i64| {
        let direction =
            r#"{"bw_bytes": 4096000, "iops": 1000, "runtime": 1000, "total_ios": 1000, "io_bytes": 4096000}"#;
        let nothing = r#"{"bw_bytes": 0, "total_ios": 0}"#;
        format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "error": {error}, "job options": {{"rw": "randwrite", "filename": "/dev/x", "direct": "1"{options}}}, "read": {nothing}, "write": {direction}}}]}}"#
        )
    };
    for (name, options, error) in [
        ("1.json", "", 0),
        ("2.json", r#", "description": "again""#, 0),
        ("3.json", r#", "sqthread_poll": "1""#, 0),
        ("4.json", r#", "bssplit": "4k/50:8k/50""#, 0),
        ("5.json", "", 5),
    ] {
        fs::write(folder.path().join(name), report(options, error)).unwrap();
    }
    let imported = imported(&[folder.path()]);
    let subjects: Vec<&str> = imported
        .trials
        .iter()
        .map(|trial| trial.subject.as_str())
        .collect();
    assert_eq!(
        subjects,
        [
            "/dev/x",
            "/dev/x",
            "/dev/x, sqthread_poll=1",
            "/dev/x, bssplit=4k/50:8k/50",
            "/dev/x"
        ]
    );
    let repetitions: Vec<u32> = imported.trials.iter().map(|trial| trial.repetition).collect();
    assert_eq!(repetitions, [0, 1, 0, 0, 2]);
    assert_eq!(imported.trials[2].factors["fio_sqthread_poll"], "1");
    assert!(
        matches!(&imported.trials[4].outcome, Outcome::Failed { message } if message.contains("5.json ended with error 5"))
    );
    let run = run_of(&imported, folder.path());
    assert_eq!(run.cells().len(), 3);
}

#[test]
fn a_copy_of_a_result_counts_once_and_is_named_and_one_that_differs_in_a_figure_is_a_repetition() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (older(10_000.0, 4, 1.0), older(10_001.0, 4, 1.0));
    for (name, text) in [
        ("a_bs4k_qd8.json", &first),
        ("b_bs4k_qd8.json", &first),
        ("c_bs4k_qd8.json", &second),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let named = folder.path().join("c_bs4k_qd8.json");
    let imported = imported(&[folder.path(), &named]);
    let repetitions: Vec<u32> = imported.trials.iter().map(|trial| trial.repetition).collect();
    assert_eq!(repetitions, [0, 1]);
    let [copy, twice] = imported.left_out.as_slice() else {
        panic!("{:?}", imported.left_out)
    };
    for (why, file, before) in [(copy, "b_bs4k", "a_bs4k"), (twice, "c_bs4k", "c_bs4k")] {
        let (named, reason) = why.split_once(": it is a copy of ").unwrap();
        assert!(named.contains(file) && reason.contains(before), "{why}");
    }
}

#[test]
fn states_that_fio_has_no_option_for_are_those_of_a_run_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let factors = |options: &str| {
        let direction = r#"{"bw_bytes": 4096000, "iops": 1000, "runtime": 1000, "total_ios": 1000}"#;
        let text = format!(
            r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "job options": {{"rw": "read"{options}}}, "read": {direction}}}]}}"#
        );
        fs::write(&path, text).unwrap();
        let trial = imported(&[&path]).trials.remove(0);
        ["drives", "replay", "numa_node", "io_block_size"]
            .map(|name| trial.factors.get(name).cloned().unwrap_or_default())
    };
    assert_eq!(factors(""), ["1", "none", "any", "4KiB"]);
    // Of several sizes none is the size.
    assert_eq!(
        factors(r#", "bssplit": "4k/50:8k/50""#),
        ["1", "none", "any", "not stated"]
    );
    assert_eq!(
        factors(r#", "filename": "/dev/nvme0n1:/dev/nvme1n1""#),
        ["", "none", "any", "4KiB"]
    );
    assert_eq!(factors(r#", "read_iolog": "log""#), ["1", "", "any", "4KiB"]);
    assert_eq!(factors(r#", "cpus_allowed": "0-3""#), ["1", "none", "", "4KiB"]);
}

#[test]
fn what_is_assumed_fills_what_nobody_states_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bs4k_qd8.json");
    fs::write(&path, older(10_000.0, 4, 1.0)).unwrap();
    let assuming = |assume: &[&str]| {
        let assume = assume.iter().map(ToString::to_string).collect();
        import(std::slice::from_ref(&path), &ImportOptions { assume })
    };
    let imported = assuming(&["access_pattern=random", "engine=libaio", "queue_depth=99"]).unwrap();
    let trial = &imported.trials[0];
    assert_eq!(trial.factors["access_pattern"], "random");
    assert_eq!(trial.factors["engine"], "libaio");
    assert_eq!(trial.factors["queue_depth"], "8");
    let assumed = trial
        .notes
        .iter()
        .filter(|note| note.text.contains("was assumed"));
    assert_eq!(assumed.count(), 2, "{:?}", trial.notes);
    assert_eq!(imported.unused_assumptions, ["queue_depth=99"]);
    let run = run_of(&imported, folder.path());
    assert!(
        run.plan.contains("engine=libaio") && !run.plan.contains("queue_depth=99"),
        "{}",
        run.plan
    );
    for (assumption, says) in [
        ("random", "expected FACTOR=VALUE"),
        ("colour=blue", "has no factor \"colour\""),
        ("queue_depth=many", "many"),
        ("jobs=2", "jobs=1 is assumed already"),
    ] {
        let refused = assuming(&["jobs=1", assumption]).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
}
