//! The Parquet files: the journal comes back from them whole, and damage in them is an error.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use outcrop_results::parquet::{compact, read_histograms, read_records};
use outcrop_results::{Outcome, Record, ResultsError, RunView, TrialEntry, Value};
use proptest::prelude::*;

use crate::samples::{IOPS, LATENCY_P99, folder_in_memory, run_of, trial, two_intervals, usual};

fn sample_run(parent: &Path) -> RunView {
    let trials: Vec<TrialEntry> = (0..3)
        .map(|repetition| TrialEntry {
            histograms: two_intervals(1000 + u64::from(repetition), 50),
            ..trial(32, repetition, &usual(2e5 + f64::from(repetition), 3e5))
        })
        .collect();
    run_of(parent, "parquet", &trials)
}

#[test]
fn records_and_histograms_come_back_as_they_stand_in_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let run = sample_run(folder.path());
    compact(&run.dir).unwrap();
    let records = read_records(&run.dir.join("records.parquet")).unwrap();
    assert_eq!(records, run.records().collect::<Vec<_>>());
    assert_eq!(records.len(), 9);
    assert_eq!(records[2].value, None);
    assert_eq!(
        records[2].source.as_deref(),
        Some("no energy source in this virtual machine")
    );
    let histograms = read_histograms(&run.dir.join("histograms.parquet")).unwrap();
    let expected: Vec<_> = run
        .trials
        .iter()
        .flat_map(|trial| trial.histograms.clone())
        .collect();
    assert_eq!(
        histograms
            .iter()
            .map(|row| row.histogram.clone())
            .collect::<Vec<_>>(),
        expected
    );
    assert!(histograms.iter().all(|row| row.factors == run.trials[0].factors));
}

#[test]
fn trials_that_did_not_complete_are_in_the_journal_and_not_in_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let failed = Outcome::Failed {
        message: "EIO".to_owned(),
    };
    let trials = [
        TrialEntry {
            outcome: failed,
            histograms: two_intervals(5, 5),
            ..trial(1, 0, &usual(1.0, 1.0))
        },
        TrialEntry {
            outcome: Outcome::Interrupted,
            ..trial(1, 0, &usual(2.0, 2.0))
        },
        trial(1, 0, &usual(3.0, 3.0)),
    ];
    let run = run_of(folder.path(), "mixed", &trials);
    compact(&run.dir).unwrap();
    let records = read_records(&run.dir.join("records.parquet")).unwrap();
    assert_eq!(
        records
            .iter()
            .filter_map(|record| record.value)
            .collect::<Vec<_>>(),
        [3.0, 3.0]
    );
    assert!(
        read_histograms(&run.dir.join("histograms.parquet"))
            .unwrap()
            .is_empty()
    );
    assert_eq!(run.trials.len(), 3);
}

#[test]
fn a_run_larger_than_one_batch_is_written_in_pieces_and_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let measurements: Vec<Value> = (0..900)
        .map(|i| Value::measured(if i % 2 == 0 { IOPS } else { LATENCY_P99 }, f64::from(i)))
        .collect();
    let trials: Vec<_> = (0..40)
        .map(|repetition| trial(4, repetition, &measurements))
        .collect();
    let run = run_of(folder.path(), "large", &trials);
    compact(&run.dir).unwrap();
    let records = read_records(&run.dir.join("records.parquet")).unwrap();
    assert_eq!(records, run.records().collect::<Vec<_>>());
}

#[test]
fn compacting_again_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let run = sample_run(folder.path());
    let path = run.dir.join("records.parquet");
    compact(&run.dir).unwrap();
    let first = fs::read(&path).unwrap();
    compact(&run.dir).unwrap();
    assert_eq!(fs::read(&path).unwrap(), first);
}

#[test]
fn a_file_of_another_schema_is_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let run = sample_run(folder.path());
    compact(&run.dir).unwrap();
    let message = read_records(&run.dir.join("histograms.parquet"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("its schema is histograms/2, expected records/2"),
        "{message}"
    );
    let message = read_records(&run.dir.join("plan.toml")).unwrap_err().to_string();
    assert!(
        message.contains("plan.toml") && message.contains("outcrop results compact"),
        "{message}"
    );
}

#[test]
fn a_started_at_that_is_no_time_is_an_error_that_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let entry = TrialEntry {
        started_at: "yesterday".to_owned(),
        ..trial(1, 0, &usual(1.0, 1.0))
    };
    let run = run_of(folder.path(), "when", &[entry]);
    let message = compact(&run.dir).unwrap_err().to_string();
    assert!(
        message.contains("\"yesterday\" is not an RFC 3339 time"),
        "{message}"
    );
    assert!(!run.dir.join("records.parquet").exists());
}

/// Reads damaged bytes: anything but a panic will do, and an error must be one of the two kinds.
fn read_damaged(path: &Path, bytes: &[u8]) -> bool {
    fs::write(path, bytes).unwrap();
    match read_records(path) {
        Ok(_) => false,
        Err(ResultsError::Parquet { .. } | ResultsError::Io { .. }) => true,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_truncated_file_is_an_error_at_every_length() {
    let folder = folder_in_memory();
    let run = sample_run(folder.path());
    compact(&run.dir).unwrap();
    let path = run.dir.join("records.parquet");
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() {
        assert!(
            read_damaged(&path, &bytes[..length]),
            "{length} of {} bytes",
            bytes.len()
        );
    }
}

#[test]
fn a_flipped_bit_anywhere_is_no_panic() {
    let folder = folder_in_memory();
    let run = sample_run(folder.path());
    compact(&run.dir).unwrap();
    let path = run.dir.join("records.parquet");
    let bytes = fs::read(&path).unwrap();
    let mut errors = 0;
    for position in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[position] ^= 1 << (position % 8);
        errors += usize::from(read_damaged(&path, &damaged));
    }
    assert!(
        errors > bytes.len() / 4,
        "{errors} of {} flips were noticed",
        bytes.len()
    );
}

fn any_value() -> impl Strategy<Value = f64> {
    crate::samples::any_figure()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_record_survives_parquet(
        values in prop::collection::vec(any_value(), 1..5),
        factors in prop::collection::btree_map(any::<String>(), any::<String>(), 0..4),
        subject in any::<String>(),
        seed in any::<u64>(),
        duration_s in 0.0..3e8_f64,
        micros in 0_i64..4_000_000_000_000_000,
    ) {
        let measurements: Vec<_> = values.iter().map(|value| Value::measured(IOPS, *value)).collect();
        let started_at = chrono::DateTime::from_timestamp_micros(micros)
            .unwrap()
            .to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
        let factors: BTreeMap<String, String> = factors;
        let entry = TrialEntry { factors, subject, seed, duration_s, started_at, ..trial(8, 1, &measurements) };
        let folder = tempfile::tempdir().unwrap();
        let run = run_of(folder.path(), "any", &[entry]);
        compact(&run.dir).unwrap();
        let records = read_records(&run.dir.join("records.parquet")).unwrap();
        prop_assert_eq!(records, run.records().collect::<Vec<Record>>());
    }
}

#[test]
fn factors_have_typed_columns_beside_the_map_of_their_spellings() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    let folder = tempfile::tempdir().unwrap();
    let unreadable = TrialEntry {
        factors: BTreeMap::from([("queue_depth".to_owned(), "bottomless".to_owned())]),
        ..trial(1, 3, &usual(1.0, 1.0))
    };
    let run = run_of(
        folder.path(),
        "typed",
        &[trial(32, 0, &usual(1.0, 1.0)), unreadable],
    );
    compact(&run.dir).unwrap();

    let file = fs::File::open(run.dir.join("records.parquet")).unwrap();
    let mut batches = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let batch = batches.next().unwrap().unwrap();
    let integers = |name: &str| -> Vec<Option<i64>> {
        let column = batch.column_by_name(name).unwrap();
        column.as_primitive::<Int64Type>().iter().collect()
    };
    let words = |name: &str| -> Vec<Option<String>> {
        let column = batch.column_by_name(name).unwrap().as_string::<i32>();
        column.iter().map(|word| word.map(str::to_owned)).collect()
    };
    // Three metrics a trial; what the factor cannot read is null here, and a word in the map.
    let (read, unread) = (vec![Some(32); 3], vec![None; 3]);
    assert_eq!(integers("queue_depth"), [read, unread].concat());
    assert_eq!(integers("io_block_size_bytes")[..3], [Some(4096); 3]);
    assert_eq!(words("engine")[0].as_deref(), Some("io_uring"));
    assert_eq!(words("cell")[5].as_deref(), Some("depth-1"));
    let records = read_records(&run.dir.join("records.parquet")).unwrap();
    assert_eq!(records[5].factors["queue_depth"], "bottomless");
}
