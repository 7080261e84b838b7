//! Writes that syncs follow: here their latency contains the sync, and in fio's form it does not.

use std::fs;

use outcrop_fio::export;
use outcrop_results::{HistogramEntry, HistogramKind, TrialEntry, Value};
use outcrop_schema::device::{self, Direction};
use outcrop_schema::metrics::Metric;

use crate::round_trip::{assert_same, recorded, run, trial};
use crate::samples::imported;

/// Writes that end with an fsync: 50 µs and more, of which the write is 20 µs and more.
fn synced(has_parts: bool) -> TrialEntry {
    let factors = [("read_write_mix", "0:100"), ("sync", "each:fsync")];
    let mut synced = trial(0, &factors, &[(Direction::Write, 8_000)]);
    let syncs = recorded(8_000, 30_000);
    synced
        .values
        .extend(Value::latencies(&device::SYNC_LATENCY, &syncs, "none"));
    let parts = [
        (HistogramKind::Transfer, recorded(8_000, 20_000)),
        (HistogramKind::Sync, syncs),
    ];
    let entries = parts
        .iter()
        .map(|(kind, part)| HistogramEntry::new(Direction::Write.name(), *kind, 0, 0.0, 2.0, part));
    synced.histograms.extend(entries.filter(|_| has_parts));
    synced
}

#[test]
fn syncs_are_exported_apart_from_the_writes_that_they_follow_and_come_back_as_the_same_figures() {
    let folder = tempfile::tempdir().unwrap();
    let ours = synced(true);
    let exported = export(&run(folder.path(), std::slice::from_ref(&ours))).unwrap();
    let document = exported.document();
    let job = &document["jobs"][0];
    for (latency, base_ns) in [
        (&job["write"]["clat_ns"], 20_000),
        (&job["write"]["lat_ns"], 20_000),
        (&job["sync"]["lat_ns"], 30_000),
        (&job["write"]["lat_with_sync_ns"], 50_000),
    ] {
        let expected = recorded(8_000, base_ns);
        let mean = expected.mean().unwrap();
        assert!(
            (latency["mean"].as_f64().unwrap() - mean).abs() < 1.0,
            "{latency}"
        );
        assert_eq!(latency["N"], 8_000, "{latency}");
        let median = latency["percentile"]["50.000000"].as_u64();
        assert_eq!(median, expected.percentile(0.5), "{latency}");
    }
    assert_eq!(job["sync"]["total_ios"], 8_000);
    let bins = job["write"]["clat_ns"]["bins"].as_object().unwrap();
    let least = bins.keys().map(|ns| ns.parse::<u64>().unwrap()).min().unwrap();
    assert!((19_500..21_000).contains(&least), "{least}");
    let about = job["desc"].as_str().unwrap();
    assert!(
        about.contains("lat_with_sync_ns of writes is Outcrop's own latency") && about.contains("as in fio"),
        "{about}"
    );
    let path = folder.path().join("synced.json");
    fs::write(&path, document.to_string()).unwrap();
    let back = imported(&[&path]);
    assert_eq!(back.trials[0].factors["sync"], "each:fsync");
    assert_same(&ours, &back.trials[0]);
}

#[test]
fn a_mix_in_which_fio_also_synced_between_reads_is_no_cell_of_ours() {
    let result = |rw: &str, reads: u64, syncs: u64| {
        format!(
            r#"{{"fio version": "fio-3.33", "timestamp": 1763700000, "jobs": [{{"jobname": "j", "job options": {{"rw": "{rw}", "bs": "4k", "fsync": "8",
            "filename": "a", "size": "1m", "ioengine": "psync"}},
            "read": {{"total_ios": {reads}, "iops": {reads}.0, "runtime": 1000, "io_bytes": {}, "lat_ns": {{"mean": 7.0, "max": 9, "N": {reads}}}}},
            "write": {{"total_ios": 800, "iops": 800.0, "runtime": 1000, "io_bytes": 3276800, "lat_ns": {{"mean": 7.0, "max": 9, "N": 800}}}},
            "sync": {{"total_ios": {syncs}, "lat_ns": {{"mean": 7.0, "max": 9, "N": {syncs}}}}}}}]}}"#,
            reads * 4096
        )
    };
    let trial = |text: String| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.json");
        fs::write(&path, text).unwrap();
        imported(&[&path]).trials.remove(0)
    };
    let often = trial(result("randrw", 1_000, 320));
    assert_eq!(often.factors["sync"], "every:8:fsync");
    assert_eq!(often.factors["fio_syncs"], "also between reads");
    // Exported again, it is the job of fio that it was.
    let folder = tempfile::tempdir().unwrap();
    let again = export(&run(folder.path(), std::slice::from_ref(&often))).unwrap();
    let options = &again.document()["jobs"][0]["job options"];
    assert_eq!(options["fsync"], "8", "{options}");
    assert!(options.get("syncs").is_none(), "{options}");
    let said: Vec<&str> = often.notes.iter().map(|note| note.text.as_str()).collect();
    assert!(
        said.iter()
            .any(|note| note.contains("fio synced once for 2.5 writes")),
        "{said:?}"
    );
    for as_asked in [result("randrw", 1_000, 100), result("randwrite", 0, 100)] {
        assert!(!trial(as_asked).factors.contains_key("fio_syncs"));
    }
}

/// fio reserves the space of a file that it only writes, and Outcrop writes it in full first.
#[test]
fn synced_writes_to_a_file_that_fio_did_not_write_first_are_no_cell_of_ours() {
    let trial = |options: &str| {
        let text = format!(
            r#"{{"fio version": "fio-3.33", "timestamp": 1763700000, "jobs": [{{"jobname": "j", "job options": {{"bs": "4k", "size": "1m",
            "ioengine": "psync", {options}}},
            "read": {{"total_ios": 0, "iops": 0.0, "runtime": 0}},
            "write": {{"total_ios": 800, "iops": 800.0, "bw_bytes": 3276800, "runtime": 1000, "io_bytes": 3276800,
            "lat_ns": {{"mean": 7.0, "max": 9, "N": 800}}}},
            "sync": {{"total_ios": 800, "lat_ns": {{"mean": 7.0, "max": 9, "N": 800}}}}}}]}}"#
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.json");
        fs::write(&path, text).unwrap();
        imported(&[&path]).trials.remove(0)
    };
    const SYNCED: &str = r#""rw": "randwrite", "fsync": "1""#;
    for (options, is_apart) in [
        (format!(r#"{SYNCED}, "filename": "a""#), true),
        (SYNCED.to_owned(), true),
        (format!(r#"{SYNCED}, "filename": "a", "overwrite": "1""#), false),
        (format!(r#"{SYNCED}, "filename": "/dev/sdz""#), false),
        (r#""rw": "randwrite", "filename": "a""#.to_owned(), false),
    ] {
        let seen = trial(&options);
        assert_eq!(seen.factors.contains_key("fio_layout"), is_apart, "{options}");
        let is_told = seen
            .notes
            .iter()
            .any(|note| note.text.contains("add overwrite=1 to the job"));
        assert_eq!(is_told, is_apart, "{options}: {:?}", seen.notes);
        // Exported again, it is the job that it was.
        let folder = tempfile::tempdir().unwrap();
        let again = export(&run(folder.path(), std::slice::from_ref(&seen))).unwrap();
        let path = folder.path().join("again.json");
        fs::write(&path, again.document().to_string()).unwrap();
        fs::write(&path, again.document().to_string()).unwrap();
        assert_eq!(imported(&[&path]).trials[0].factors, seen.factors, "{options}");
    }
}

#[test]
fn a_run_that_did_not_record_writes_without_their_syncs_leaves_that_latency_out_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let ours = synced(false);
    let exported = export(&run(folder.path(), std::slice::from_ref(&ours))).unwrap();
    let document = exported.document();
    let job = &document["jobs"][0];
    for key in ["clat_ns", "lat_ns", "slat_ns"] {
        assert_eq!(job["write"][key]["N"], 0, "{key}");
    }
    assert!(job["sync"]["total_ios"].is_null(), "{}", job["sync"]);
    let about = job["desc"].as_str().unwrap();
    assert!(about.contains("are left out"), "{about}");
    let path = folder.path().join("older.json");
    fs::write(&path, document.to_string()).unwrap();
    assert_same(&ours, &imported(&[&path]).trials[0]);
}

/// What fio 3.33 reports now and then with several requests in flight.
#[test]
fn syncs_that_outlast_their_job_by_far_are_unavailable_and_the_writes_stay() {
    let folder = tempfile::tempdir().unwrap();
    let exported = export(&run(folder.path(), &[synced(true)])).unwrap();
    let mut document = exported.document();
    let path = folder.path().join("synced.json");
    for (max_ns, is_possible) in [(30e9, true), (20_409e9, false)] {
        document["jobs"][0]["sync"]["lat_ns"]["max"] = max_ns.into();
        fs::write(&path, document.to_string()).unwrap();
        let back = &imported(&[&path]).trials[0];
        let of = |metric: Metric| {
            back.values
                .iter()
                .find(|value| value.metric == metric.name)
                .unwrap()
        };
        assert!(of(device::IOPS.write).value.is_some());
        let latency = device::SYNC_LATENCY;
        for metric in [latency.mean, latency.p50, latency.max] {
            let seen = of(metric);
            let why = seen.source.as_deref().unwrap_or_default();
            assert_eq!(
                seen.value.is_some(),
                is_possible,
                "{} {max_ns}: {why}",
                metric.name
            );
            assert_eq!(
                why.contains("which cannot be: its latencies of syncs are wrong"),
                !is_possible,
                "{why}"
            );
        }
    }
}
