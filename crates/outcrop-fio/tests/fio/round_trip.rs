//! Ours → fio's form → ours gives the same figures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use outcrop_fio::job_file::{AtOnce, Target, read};
use outcrop_fio::{export, export_jobs};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Metric;
use outcrop_results::{HistogramEntry, HistogramKind, Outcome, RunFolder, RunView, TrialEntry, Value};
use outcrop_schema::device::{self, Direction};

use crate::real_fio::{fio, workplace};
use crate::samples::{figure, imported, reason, run_of};

/// A histogram of latencies that differ.
pub(crate) fn recorded(count: u64, base_ns: u64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    (0..count).for_each(|i| histogram.record(base_ns + i * i % 900_007));
    histogram
}

pub(crate) fn trial(number: u32, factors: &[(&str, &str)], directions: &[(Direction, u64)]) -> TrialEntry {
    let usual = [
        ("access_pattern", "random"),
        ("arrival", "closed"),
        ("content", "random"),
        ("engine", "io_uring"),
        ("io_block_size", "4KiB"),
        ("jobs", "1"),
        ("queue_depth", "8"),
        ("read_write_mix", "100:0"),
        ("span", "1GiB"),
        ("submission", "refill"),
    ];
    let factors: BTreeMap<String, String> = usual
        .iter()
        .chain(factors)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let is_open = factors["arrival"] != "closed";
    let kind = if is_open {
        HistogramKind::Service
    } else {
        HistogramKind::Latency
    };
    let (mut values, mut histograms) = (Vec::new(), Vec::new());
    for (direction, count) in directions {
        let histogram = recorded(*count, 50_000);
        let rate = *count as f64 / 2.0;
        let named = |metric: Metric, value: f64| Value::measured(metric, value);
        values.push(named(device::IOPS.of(Some(*direction)), rate));
        values.push(named(device::BANDWIDTH.of(Some(*direction)), rate * 4096.0));
        let family = if is_open {
            device::SERVICE_LATENCY
        } else {
            device::LATENCY
        };
        values.extend(Value::latencies(&family.of(Some(*direction)), &histogram, "none"));
        histograms.push(HistogramEntry::new(
            direction.name(),
            kind,
            0,
            0.0,
            2.0,
            &histogram,
        ));
    }
    values.push(Value::measured(
        device::IOPS.both,
        directions.iter().map(|(_, count)| *count as f64 / 2.0).sum(),
    ));
    values.push(Value::measured(device::CPU_PER_OPERATION, 2345.5));
    TrialEntry {
        trial: number,
        cell: format!("cell-{number}"),
        layer: "device".to_owned(),
        subject: "scratch-file 1GiB".to_owned(),
        plans: vec!["test".to_owned()],
        repetition: 0,
        seed: 1,
        factors,
        data: None,
        variant: None,
        started_at: "2026-11-21T02:00:07.500Z".to_owned(),
        duration_s: 2.0,
        took_s: None,
        others_cpu_share: None,
        outcome: Outcome::Completed,
        values,
        histograms,
        notes: Vec::new(),
    }
}

pub(crate) fn run(parent: &Path, trials: &[TrialEntry]) -> RunView {
    let environment = serde_json::json!({});
    let mut folder =
        RunFolder::create(parent, "ours", "20261121T020007Z", "# no plan\n", &environment).unwrap();
    folder.append_all(trials).unwrap();
    RunView::load(folder.dir()).unwrap()
}

/// Every figure of the second is in the first; bytes per second to one byte, as fio writes whole ones.
pub(crate) fn assert_same(ours: &TrialEntry, back: &TrialEntry) {
    let mut count = 0;
    for value in ours.values.iter().filter(|value| value.value.is_some()) {
        let known = ["iops", "bandwidth", "latency", "cpu_per_operation"]
            .iter()
            .any(|word| value.metric.contains(word));
        if !known {
            continue;
        }
        let (before, after) = (value.value.unwrap(), figure(back, &value.metric));
        let tolerance = match value.metric.as_str() {
            // fio counts bytes whole, and CPU time in shares of a run time in whole milliseconds.
            metric if metric.contains("bandwidth") => 1.0,
            "cpu_per_operation" => before * 0.02,
            _ => before * 1e-9,
        };
        assert!(
            (before - after).abs() <= tolerance,
            "{}: {before} became {after}",
            value.metric
        );
        count += 1;
    }
    assert!(count > 5, "{count} figures were compared");
}

#[test]
fn ours_in_fios_form_and_back_has_the_same_cells_and_figures() {
    let folder = tempfile::tempdir().unwrap();
    let both = [(Direction::Read, 70_000), (Direction::Write, 30_000)];
    let trials = [
        trial(0, &[], &[(Direction::Read, 50_000)]),
        trial(1, &[("read_write_mix", "70:30"), ("queue_depth", "32")], &both),
        trial(
            2,
            &[
                ("read_write_mix", "0:100"),
                ("access_pattern", "sequential"),
                ("io_block_size", "128KiB"),
            ],
            &[(Direction::Write, 9000)],
        ),
        trial(
            3,
            &[("arrival", "poisson:4k/s"), ("jobs", "4")],
            &[(Direction::Read, 8_000)],
        ),
        trial(
            4,
            &[("access_pattern", "zipfian:1.2"), ("submission", "batch")],
            &[(Direction::Read, 8_000)],
        ),
        trial(
            5,
            &[("content", "zeros"), ("read_write_mix", "0:100")],
            &[(Direction::Write, 200)],
        ),
    ];
    let exported = export(&run(folder.path(), &trials)).unwrap();
    assert_eq!(exported.left_out, [""; 0]);
    let path = folder.path().join("all.json");
    fs::write(&path, exported.document().to_string()).unwrap();
    let back = imported(&[&path]);
    assert_eq!(back.left_out, [""; 0]);
    assert_eq!(back.trials.len(), trials.len());
    for (ours, back) in trials.iter().zip(&back.trials) {
        for (name, value) in &ours.factors {
            assert_eq!(&back.factors[name], value, "{name} of trial {}", ours.trial);
        }
        assert_eq!(ours.subject, back.subject);
        assert_eq!(ours.started_at, back.started_at);
        assert_eq!(ours.duration_s, back.duration_s);
        assert!(back.notes.is_empty(), "{:?}", back.notes);
        assert_same(ours, back);
    }
    let plots = folder.path().join("plots");
    assert_eq!(exported.write_folder(&plots).unwrap().len(), trials.len());
    assert_eq!(imported(&[&plots]).trials.len(), trials.len());
    assert!(
        plots.join("4k/randrw-70-32-1.json").is_file(),
        "a folder for each of several access sizes"
    );
}

#[test]
fn a_percentile_that_our_own_export_lacks_is_not_said_to_be_missing_from_a_list_of_fio() {
    let folder = tempfile::tempdir().unwrap();
    let trials = [trial(0, &[], &[(Direction::Read, 5000)])];
    let mut document = export(&run(folder.path(), &trials)).unwrap().document();
    let latency = document.pointer_mut("/jobs/0/read/lat_ns/percentile").unwrap();
    // As where a trial has none, for whatever reason.
    assert!(latency.as_object_mut().unwrap().remove("90.000000").is_some());
    let path = folder.path().join("ours.json");
    fs::write(&path, document.to_string()).unwrap();
    let back = imported(&[&path]);
    for (metric, expected) in [
        (
            "latency_p99_9",
            "too few operations (5000 of at least 10000) for a p99.9",
        ),
        ("latency_p90", "the trial of Outcrop that was exported has no p90"),
    ] {
        assert_eq!(reason(&back.trials[0], metric), expected);
    }
}

#[test]
fn submission_and_completion_are_exported_apart_where_they_were_timed_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut apart = trial(0, &[("latency_parts", "apart")], &[(Direction::Read, 8_000)]);
    let parts = [
        (HistogramKind::Submission, device::SUBMISSION_LATENCY, 2_000),
        (HistogramKind::Completion, device::COMPLETION_LATENCY, 48_000),
    ];
    for (kind, family, base_ns) in parts {
        let histogram = recorded(8_000, base_ns);
        apart
            .values
            .extend(Value::latencies(&family.read, &histogram, "none"));
        let entry = HistogramEntry::new(Direction::Read.name(), kind, 0, 0.0, 2.0, &histogram);
        apart.histograms.push(entry);
    }
    let exported = export(&run(folder.path(), &[apart])).unwrap();
    assert!(exported.left_out.is_empty(), "{:?}", exported.left_out);
    let document = exported.document();
    assert_eq!(document["jobs"][0]["job options"]["slat_percentiles"], "1");
    let reads = &document["jobs"][0]["read"];
    for (key, base_ns) in [("slat_ns", 2_000), ("clat_ns", 48_000), ("lat_ns", 50_000)] {
        let mean = recorded(8_000, base_ns).mean().unwrap();
        assert!((reads[key]["mean"].as_f64().unwrap() - mean).abs() < 1.0, "{key}");
        assert_eq!(reads[key]["N"], 8_000, "{key}");
    }
    let bins = reads["clat_ns"]["bins"].as_object().unwrap();
    let least = bins.keys().map(|ns| ns.parse::<u64>().unwrap()).min().unwrap();
    assert!((47_500..50_000).contains(&least), "{least}");
}

#[test]
fn what_fio_has_no_form_for_is_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let reads = [(Direction::Read, 8_000)];
    let trials = [
        trial(0, &[], &reads),
        trial(1, &[("arrival", "poisson:80%")], &reads),
        trial(2, &[("arrival", "etc:1000")], &reads),
        trial(
            3,
            &[("content", "entropy:4"), ("read_write_mix", "0:100")],
            &[(Direction::Write, 8_000)],
        ),
        trial(4, &[("arrival", "constant:1000"), ("jobs", "3")], &reads),
        trial(5, &[("weather", "fine")], &reads),
    ];
    let exported = export(&run(folder.path(), &trials)).unwrap();
    assert_eq!(exported.document()["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(exported.left_out.len(), 5, "{:#?}", exported.left_out);
    let none = export(&run(folder.path(), &[])).unwrap_err().to_string();
    assert!(none.contains("no completed trial of the device layer"), "{none}");
}

#[test]
fn keys_and_units_are_those_of_the_real_fio() {
    let folder = workplace();
    let theirs = fio(folder.path(), "theirs.json", &["--rw=randread", "--direct=1"]);
    let text = fs::read_to_string(&theirs).unwrap();
    let theirs_json: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let ours = export(&run(
        folder.path(),
        &[trial(0, &[], &[(Direction::Read, 200_000)])],
    ))
    .unwrap();
    let ours = ours.document();
    for pointer in [
        "/jobs/0/read",
        "/jobs/0/read/lat_ns",
        "/jobs/0/write",
        "/jobs/0/sync",
        "/jobs/0/sync/lat_ns",
        "/jobs/0/latency_us",
        "/jobs/0/latency_ms",
        "/jobs/0/latency_ns",
        "/jobs/0/read/clat_ns/percentile",
    ] {
        let keys = |json: &serde_json::Value| -> Vec<String> {
            let mut keys: Vec<String> = json
                .pointer(pointer)
                .unwrap()
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect();
            keys.sort();
            keys.retain(|key| key != "percentile");
            keys
        };
        assert_eq!(keys(&ours), keys(&theirs_json), "{pointer}");
    }
    let shares: f64 = ["latency_ns", "latency_us", "latency_ms"]
        .iter()
        .flat_map(|key| ours["jobs"][0][key].as_object().unwrap().values())
        .filter_map(serde_json::Value::as_f64)
        .sum();
    assert!(
        (shares - 100.0).abs() < 1e-6,
        "{shares} % of the latencies are in a range"
    );
}

#[test]
fn an_imported_result_exported_and_imported_again_is_the_same() {
    let folder = workplace();
    let path = fio(
        folder.path(),
        "first.json",
        &[
            "--rw=randrw",
            "--iodepth=4",
            "--ioengine=libaio",
            "--direct=1",
            "--nice=2",
        ],
    );
    let first = imported(&[&path]);
    let exported = export(&run_of(&first, folder.path())).unwrap();
    let again = folder.path().join("again.json");
    fs::write(&again, exported.document().to_string()).unwrap();
    let second = imported(&[&again]);
    assert_eq!(first.trials[0].factors, second.trials[0].factors);
    assert_eq!(first.trials[0].subject, second.trials[0].subject);
    assert_same(&first.trials[0], &second.trials[0]);
}

#[test]
fn every_latency_is_in_a_bin_as_in_json_plus_and_none_is_beyond_the_last_of_fio() {
    let folder = tempfile::tempdir().unwrap();
    let mut slow = trial(
        0,
        &[("read_write_mix", "70:30")],
        &[(Direction::Read, 5000), (Direction::Write, 900)],
    );
    let mut stalled = LatencyHistogram::new();
    stalled.record(40_000_000_000);
    stalled.record(1_000);
    slow.histograms.push(HistogramEntry::new(
        Direction::Read.name(),
        HistogramKind::Latency,
        1,
        2.0,
        1.0,
        &stalled,
    ));
    let exported = export(&run(folder.path(), &[slow])).unwrap().document();
    for (direction, count) in [("read", 5002), ("write", 900)] {
        let latency = &exported["jobs"][0][direction]["clat_ns"];
        let bins = latency["bins"].as_object().unwrap();
        let counts: u64 = bins.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(counts, count, "{direction}");
        let most = bins.keys().map(|ns| ns.parse::<u64>().unwrap()).max().unwrap();
        assert!(most <= 17_112_760_320, "{most}");
        let half = latency["percentile"]["50.000000"].as_f64().unwrap();
        let mut ordered: Vec<(u64, u64)> = bins
            .iter()
            .map(|(ns, count)| (ns.parse().unwrap(), count.as_u64().unwrap()))
            .collect();
        ordered.sort_unstable();
        let mut below = 0;
        let median = ordered.iter().find(|(_, count)| {
            below += count;
            2 * below >= counts
        });
        let median = median.unwrap().0 as f64;
        assert!(
            (median / half - 1.0).abs() < 0.05,
            "{direction}: {median} and {half}"
        );
    }
}

#[test]
fn the_cells_of_a_run_are_a_job_file_that_asks_for_the_same_cells_and_that_fio_runs() {
    let folder = workplace();
    let cells: [&[(&str, &str)]; 5] = [
        &[("span", "1MiB")],
        &[("span", "1MiB"), ("read_write_mix", "70:30"), ("jobs", "2")],
        &[
            ("span", "1MiB"),
            ("engine", "libaio"),
            ("access_pattern", "sequential"),
        ],
        &[
            ("span", "1MiB"),
            ("read_write_mix", "0:100"),
            ("sync", "each"),
            ("content", "zeros"),
        ],
        &[("span", "1MiB"), ("access_pattern", "strided:64KiB")],
    ];
    let mut trials: Vec<TrialEntry> = (0..)
        .zip(cells)
        .map(|(number, factors)| trial(number, factors, &[(Direction::Read, 100)]))
        .collect();
    trials.push(trial(9, &[("content", "entropy:4")], &[(Direction::Read, 100)]));
    for trial in &mut trials {
        trial.duration_s = 0.1;
    }
    let exported = export_jobs(&run(folder.path(), &trials)).unwrap();
    assert_eq!(exported.left_out.len(), 1, "{:?}", exported.left_out);
    let path = folder.path().join("run.fio");
    fs::write(&path, &exported.text).unwrap();
    let file = read(&path, AtOnce::Refused, &|_| None).unwrap();
    assert_eq!(file.jobs.len(), cells.len());
    let compared = [
        "access_pattern",
        "read_write_mix",
        "io_block_size",
        "queue_depth",
        "jobs",
        "engine",
        "content",
    ];
    let mut found = Vec::new();
    for job in &file.jobs {
        let asks_for = |trial: &&TrialEntry| {
            let mut said = job.workload.iter();
            said.all(|(factor, value, _)| {
                !compared.contains(&factor.name) || *value == trial.factors[factor.name]
            })
        };
        let trial = trials.iter().find(asks_for);
        found.push(trial.expect(&exported.text).trial);
        assert!(matches!(job.target, Target::Scratch { directory: None, .. }));
    }
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 3, 4]);
    let ran = std::process::Command::new("fio")
        .current_dir(folder.path())
        .args(["--output-format=json", "run.fio"])
        .output()
        .expect("CI's set-up installs fio");
    assert!(ran.status.success(), "{ran:?}");
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(report["jobs"].as_array().unwrap().len(), cells.len());
}
