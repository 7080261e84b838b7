//! CSV and JSON: other tools must find the same figures.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use outcrop_results::parquet::write_records;
use outcrop_results::{Record, export};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

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

/// The columns of the records as `docs/records.md` lists them.
fn documented() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/records.md");
    let text = std::fs::read_to_string(path).unwrap();
    let section = text.split("## Columns of the records").nth(1).unwrap();
    let lines = section.lines().skip_while(|line| !line.starts_with("| `"));
    let rows = lines.take_while(|line| line.starts_with("| `"));
    rows.map(|row| row.split('`').nth(1).unwrap().to_owned())
        .collect()
}

#[test]
fn csv_parquet_and_records_have_the_documented_columns_in_their_order() {
    let documented = documented();
    assert!(documented.len() > 10, "{documented:?}");
    let folder = tempfile::tempdir().unwrap();
    let run = run_of(folder.path(), "columns", &[trial(1, 0, &usual(4.0, 5.0))]);
    let records: Vec<Record> = run.records().collect();
    let mut bytes = Vec::new();
    export::write_csv(&records, &mut bytes).unwrap();
    let header = csv::Reader::from_reader(bytes.as_slice())
        .headers()
        .unwrap()
        .clone();
    // In the place of `factors` CSV has each of them.
    let mut expected: Vec<String> = Vec::new();
    for name in &documented {
        match name.as_str() {
            "factors" => expected.extend(records[0].factors.keys().cloned()),
            _ => expected.push(name.clone()),
        }
    }
    assert_eq!(header.iter().collect::<Vec<_>>(), expected);
    let path = folder.path().join("export.parquet");
    write_records(&run.dir, File::create(&path).unwrap()).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let fields = reader.schema().fields().iter();
    let names: Vec<String> = fields.map(|field| field.name().clone()).collect();
    assert_eq!(names[..documented.len()], documented);
    let serde_json::Value::Object(json) = serde_json::to_value(&records[0]).unwrap() else {
        panic!("a record is an object");
    };
    let keys: BTreeSet<&String> = json.keys().collect();
    assert_eq!(keys, documented.iter().collect());
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
