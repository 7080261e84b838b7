//! Sizes of whole columns from plan to journal.

use std::path::Path;

use outcrop_lab::{Effort, PlanOptions, PlanSet, profile_plans};
use outcrop_results::TrialEntry;
use outcrop_schema::column;

use super::columns::{message_of, value};
use super::scene::{assert_complete, directory, run_to_the_end, start};

#[test]
fn the_size_of_a_whole_column_is_one_value_with_its_size_in_the_file_and_in_parquet() {
    let (here, runs) = (directory(), directory());
    let path = here.path().join("rocks.csv");
    let rows: String = (0..100_000)
        .map(|row| format!("{row},rock {}\n", row % 700))
        .collect();
    std::fs::write(&path, format!("id,rock\n{rows}")).unwrap();
    let sources = profile_plans(&["column"], Some(&path), Path::new("."))
        .unwrap()
        .plans;
    let options = PlanOptions {
        effort: Some(Effort::Quick),
        data: Some(path),
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&sources, &options).unwrap();
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    let entries = assert_complete(&set, &folder);
    let sizes: Vec<&TrialEntry> = entries
        .iter()
        .filter(|entry| entry.factors["operation"] == "size")
        .collect();
    let [size] = sizes[..] else {
        panic!("{} trials of the size", sizes.len());
    };
    assert_eq!(
        (value(size, "rows"), value(size, "table_rows")),
        (100_000.0, 100_000.0)
    );
    assert_eq!(value(size, "stored_bytes"), value(size, "text_bytes"));
    assert!(value(size, "parquet_zstd_bytes") < value(size, "stored_bytes"));
    assert!(value(size, "parquet_default_bytes") >= value(size, "parquet_zstd_bytes"));
    let ratio = value(size, "size_over_stored") * value(size, "stored_bytes");
    assert!((ratio - value(size, "file_bytes")).abs() < 1.0);
    assert!(
        size.notes
            .iter()
            .any(|note| column::STORED_FORM.is_kind_of(note) && note.text.contains("(text)"))
    );
    let encoded = entries
        .iter()
        .find(|entry| entry.factors["operation"] == "encode")
        .unwrap();
    assert_eq!(value(encoded, "rows"), 65_536.0, "rows for speed");
    let unknown = encoded
        .values
        .iter()
        .find(|value| value.metric == "table_rows")
        .unwrap();
    assert_eq!(
        unknown.value, None,
        "a text file does not say how many rows it has"
    );
}

#[test]
fn a_whole_column_refuses_a_number_of_rows() {
    let here = directory();
    let path = here.path().join("rocks.csv");
    std::fs::write(&path, "rock\nslate\nchalk\n").unwrap();
    let plan = format!(
        "name = \"a\"\nquestion = \"b?\"\nlayer = \"column\"\n[subject]\nkind = \"file\"\npath = {path:?}\n[workload]\noperation = \"size\"\n\
         column = \"rock\"\nrows = 1\n"
    );
    let message = message_of(&plan, here.path());
    assert!(
        message.contains("takes the whole column, but `rows` is 1"),
        "{message}"
    );
}
