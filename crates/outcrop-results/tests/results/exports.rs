//! CSV and JSON: other tools must find the same figures.

use outcrop_results::{Record, export};

use crate::samples::{run_of, trial, usual};

#[test]
fn csv_has_one_column_per_factor_and_the_exact_values() {
    let folder = tempfile::tempdir().unwrap();
    let mut odd = trial(1, 0, &usual(1.0 / 3.0, 2.0));
    odd.subject = "file \"a, b\"\nsecond line".to_owned();
    odd.factors.insert("source".to_owned(), "tape".to_owned());
    let run = run_of(folder.path(), "csv", &[odd, trial(2, 0, &usual(4.0, 5.0))]);
    let records: Vec<Record> = run.records().collect();
    let mut bytes = Vec::new();
    export::write_csv(&records, &mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        rows[row]
            .get(header.iter().position(|h| h == name).unwrap())
            .unwrap()
    };
    assert_eq!(rows.len(), 6);
    assert_eq!(cell(0, "subject"), "file \"a, b\"\nsecond line");
    assert_eq!(cell(0, "value").parse::<f64>().unwrap(), 1.0 / 3.0);
    assert_eq!((cell(0, "factor_source"), cell(3, "factor_source")), ("tape", ""));
    assert_eq!(
        (cell(2, "value"), cell(2, "provenance"), cell(2, "source")),
        ("", "unavailable", "no energy source in this virtual machine")
    );
    assert_eq!((cell(3, "queue_depth"), cell(3, "unit")), ("2", "1/s"));
}

#[test]
fn json_reads_back_as_the_same_records() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_of(folder.path(), "json", &[trial(1, 0, &usual(1.0 / 3.0, 2.0))]);
    let records: Vec<Record> = run.records().collect();
    let mut bytes = Vec::new();
    export::write_json(&records, &mut bytes).unwrap();
    assert_eq!(serde_json::from_slice::<Vec<Record>>(&bytes).unwrap(), records);
    assert!(bytes.ends_with(b"]\n"));
}
