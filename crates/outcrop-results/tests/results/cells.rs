//! The table of cells: what is in it, and that its files and its JSON say the same.

use std::collections::BTreeMap;

use outcrop_measure::metric::Provenance;
use outcrop_results::{CellTable, Outcome, TrialEntry, Value, cells};
use outcrop_schema::filesystem;

use crate::samples::{IOPS, run_of, trial, two_intervals, usual};

/// Three repetitions at each of these depths; throughput and latency follow from depth and repetition.
fn sweep(depths: &[u32]) -> Vec<TrialEntry> {
    let of = |depth: u32, repetition: u32| {
        let iops = f64::from(depth * 1000 + repetition * 10);
        trial(depth, repetition, &usual(iops, 5e4 + f64::from(repetition)))
    };
    let depths = depths.iter();
    depths
        .flat_map(|depth| (0..3).map(move |repetition| of(*depth, repetition)))
        .collect()
}

fn rows_of_csv(bytes: &[u8]) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(bytes);
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn every_depth_has_a_row_in_the_order_of_numbers_and_constants_stand_apart() {
    let folder = tempfile::tempdir().unwrap();
    let table = CellTable::of(&run_of(folder.path(), "cells", &sweep(&[32, 1, 4])));
    let groups = table.groups();
    assert_eq!(groups.len(), 1);
    let names: Vec<&str> = groups[0].factors.iter().map(|factor| factor.name).collect();
    assert_eq!(names, ["queue_depth"]);
    let depth = groups[0].factors[0];
    let depths = groups[0]
        .rows
        .iter()
        .map(|row| row.setting(depth).unwrap().spelling());
    assert_eq!(depths.collect::<Vec<_>>(), ["1", "4", "32"]);
    assert_eq!(groups[0].subject, Some("scratch-file 2GiB"));
    let mut constants = groups[0].constants.iter();
    assert!(constants.any(|(factor, value)| factor.name == "io_block_size" && value.spelling() == "4KiB"));
}

#[test]
fn an_interval_of_three_trials_is_their_range_at_75_per_cent() {
    let folder = tempfile::tempdir().unwrap();
    let table = CellTable::of(&run_of(folder.path(), "cells", &sweep(&[4])));
    let iops = table.rows[0].figures[IOPS.name].estimate().unwrap().clone();
    let interval = iops.interval.unwrap();
    assert_eq!((iops.value, iops.n), (4010.0, 3));
    assert_eq!(
        (interval.low, interval.high, interval.confidence),
        (4000.0, 4020.0, 0.75)
    );
}

#[test]
fn a_cell_whose_trials_all_failed_says_why_in_csv_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let mut trials = sweep(&[1, 4]);
    for dead in trials.iter_mut().filter(|trial| trial.cell == "depth-4") {
        dead.values.clear();
        dead.outcome = Outcome::Failed {
            message: "no space left".to_owned(),
        };
    }
    let run = run_of(folder.path(), "failed", &trials);
    let table = CellTable::of(&run);
    let mut csv = Vec::new();
    cells::write_csv(&table, &mut csv).unwrap();
    let rows = rows_of_csv(&csv);
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row["trials"].as_str(), row["failure"].as_str()))
        .collect();
    assert_eq!(seen, [("3", ""), ("0", "no space left")]);
    let json = serde_json::to_value(table.to_json()).unwrap();
    assert_eq!(
        (json[0].get("failure"), &json[1]["failure"]),
        (None, &"no space left".into())
    );
}

#[test]
fn csv_and_parquet_have_sizes_in_bytes_numbers_as_numbers_and_the_reason_of_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut trials = sweep(&[1, 4]);
    for late in trials.iter_mut().filter(|trial| trial.cell == "depth-4") {
        late.values[1] = Value::unavailable(crate::samples::LATENCY_P99, "n = 12 supports no p99");
    }
    let run = run_of(folder.path(), "cells", &trials);
    cells::write_files(&run, &run.dir).unwrap();
    let csv = std::fs::read(run.dir.join("cells.csv")).unwrap();
    let rows = rows_of_csv(&csv);
    assert_eq!(rows.len(), 2);
    let first = |name: &str| rows[0][name].as_str();
    assert_eq!(
        (first("queue_depth"), first("io_block_size_bytes")),
        ("1", "4096")
    );
    assert_eq!(
        (first("iops"), first("iops_low"), first("iops_high")),
        ("1010", "1000", "1020")
    );
    assert_eq!((first("iops_confidence"), first("iops_n")), ("0.75", "3"));
    assert_eq!(
        (first("latency_p99_ns"), first("latency_p99_unavailable")),
        ("50001", "")
    );
    assert_eq!(
        (
            rows[1]["latency_p99_ns"].as_str(),
            rows[1]["latency_p99_unavailable"].as_str()
        ),
        ("", "n = 12 supports no p99")
    );
    let mut again = Vec::new();
    cells::write_csv(&CellTable::of(&run), &mut again).unwrap();
    assert_eq!(csv, again, "the file is what --format csv prints");

    let file = std::fs::File::open(run.dir.join("cells.parquet")).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let types: BTreeMap<String, String> = reader
        .schema()
        .fields()
        .iter()
        .map(|field| (field.name().clone(), field.data_type().to_string()))
        .collect();
    for (name, kind) in [
        ("queue_depth", "Int64"),
        ("io_block_size_bytes", "Int64"),
        ("iops", "Float64"),
        ("iops_n", "Int64"),
        ("latency_p99_unavailable", "Utf8"),
    ] {
        assert_eq!(
            types.get(name).map(String::as_str),
            Some(kind),
            "{name}: {types:?}"
        );
    }
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    assert_eq!(
        batches
            .iter()
            .map(arrow_array::RecordBatch::num_rows)
            .sum::<usize>(),
        2
    );
}

#[test]
fn csv_says_where_a_figure_comes_from_that_was_not_measured_and_has_no_column_for_it_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, trials: &[TrialEntry]| {
        let mut csv = Vec::new();
        let table = CellTable::of(&run_of(folder.path(), name, trials));
        cells::write_csv(&table, &mut csv).unwrap();
        rows_of_csv(&csv)
    };
    let mut trials = sweep(&[1, 4]);
    let plain = &of("measured", &trials)[0];
    assert!(
        plain
            .keys()
            .all(|name| !name.ends_with("_provenance") && !name.ends_with("_no_interval")),
        "{plain:?}"
    );
    for trial in trials.iter_mut().filter(|trial| trial.cell == "depth-4") {
        for value in &mut trial.values {
            value.provenance = Provenance::Imported;
        }
    }
    let rows = of("imported", &trials);
    let said = rows.iter().map(|row| row["iops_provenance"].as_str());
    assert_eq!(said.collect::<Vec<_>>(), ["", "imported"]);
}

#[test]
fn csv_says_why_a_figure_of_all_trials_together_has_no_interval() {
    let folder = tempfile::tempdir().unwrap();
    let p99 = || Value::unavailable(filesystem::LATENCY.p99, "n = 600 supports no p99");
    let few = |repetition: u32| TrialEntry {
        layer: filesystem::SCHEMA.name.to_owned(),
        histograms: two_intervals(50_000, 300),
        ..trial(1, repetition, &[p99()])
    };
    let trials: Vec<TrialEntry> = (0..3).map(few).collect();
    let mut csv = Vec::new();
    let table = CellTable::of(&run_of(folder.path(), "pooled", &trials));
    cells::write_csv(&table, &mut csv).unwrap();
    let row = &rows_of_csv(&csv)[0];
    assert_ne!(row["latency_p99_ns"], "");
    assert_eq!(
        (row["latency_p99_ns_low"].as_str(), row["latency_p99_n"].as_str()),
        ("", "3")
    );
    let why = &row["latency_p99_no_interval"];
    assert!(why.contains("all trials together"), "{why}");
}

#[test]
fn a_cell_without_a_completed_trial_is_listed_without_figures() {
    let folder = tempfile::tempdir().unwrap();
    let mut trials = sweep(&[1, 4]);
    for lost in trials.iter_mut().filter(|trial| trial.cell == "depth-4") {
        lost.outcome = Outcome::Interrupted;
    }
    let table = CellTable::of(&run_of(folder.path(), "cells", &trials));
    assert_eq!(table.rows.len(), 2);
    assert_eq!((table.rows[1].trials, table.rows[1].figures.len()), (0, 0));
    let json = serde_json::to_value(table.to_json()).unwrap();
    assert_eq!(json[1]["trials"], 0);
}

/// Its trials completed, with nothing but the reason.
#[test]
fn a_cell_that_could_not_be_measured_has_no_trials_and_stays_in_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut trials = sweep(&[1, 4]);
    for absent in trials.iter_mut().filter(|trial| trial.cell == "depth-4") {
        absent.values = vec![Value::unavailable(IOPS, "no such engine here")];
    }
    let run = run_of(folder.path(), "cells", &trials);
    let table = CellTable::of(&run);
    let counts: Vec<usize> = table.rows.iter().map(|row| row.trials).collect();
    assert_eq!(counts, [3, 0]);
    assert_eq!(
        table.groups()[0].rows.len(),
        2,
        "its reason is told with the others"
    );
    let json = serde_json::to_value(table.to_json()).unwrap();
    assert_eq!(json[1]["trials"], 0);
    cells::write_files(&run, &run.dir).unwrap();
    let rows = rows_of_csv(&std::fs::read(run.dir.join("cells.csv")).unwrap());
    assert_eq!(
        (rows[0]["trials"].as_str(), rows[1]["trials"].as_str()),
        ("3", "0")
    );
}

#[test]
fn json_has_typed_factors_and_a_reason_for_each_figure_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let table = CellTable::of(&run_of(folder.path(), "cells", &sweep(&[4])));
    let json = serde_json::to_value(table.to_json()).unwrap();
    let factors = &json[0]["factors"];
    assert_eq!(
        (
            &factors["queue_depth"],
            &factors["io_block_size_bytes"],
            &factors["access_pattern"]
        ),
        (&4.into(), &4096.into(), &"random".into())
    );
    let energy = &json[0]["metrics"]["energy_per_operation"];
    assert_eq!(energy["unavailable"], "no energy source in this virtual machine");
    assert_eq!(energy.get("value"), None);
}
