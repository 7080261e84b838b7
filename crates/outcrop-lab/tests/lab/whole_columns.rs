//! Sizes of whole columns from plan to journal.

use std::collections::BTreeSet;
use std::path::Path;

use outcrop_lab::{DataForm, Effort, LabError, PlanOptions, PlanSet, PlanSource, profile_plans};
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

/// A plan whose own table has bars between its fields, with other data in place of that.
fn with_bars(data: &Path, form: DataForm) -> Result<PlanSet, LabError> {
    let text = "name = \"bars\"\nquestion = \"b?\"\nlayer = \"column\"\n[subject]\nkind = \"file\"\npath = \"own.txt\"\n\
                delimiter = \"|\"\nheader = \"no\"\n[workload]\noperation = \"encode\"\n";
    let source = PlanSource {
        name: "bars.toml".to_owned(),
        text: text.to_owned(),
    };
    let options = PlanOptions {
        data: Some(data.to_owned()),
        data_form: form,
        ..PlanOptions::default()
    };
    PlanSet::from_sources(&[source], &options)
}

#[test]
fn data_in_place_of_a_plans_table_are_read_as_the_plan_says_and_flags_come_first() {
    let here = directory();
    let other = here.path().join("other.txt");
    std::fs::write(&other, "slate|grey;1\nchalk|white;2\n".repeat(20)).unwrap();
    let columns = |set: &PlanSet| -> BTreeSet<String> {
        let cells = set.cells().iter();
        cells
            .map(|cell| cell.factors.get(&column::COLUMN).unwrap().clone())
            .collect()
    };
    let read = with_bars(&other, DataForm::default()).unwrap();
    assert_eq!(
        columns(&read),
        BTreeSet::from(["column 0", "column 1"].map(str::to_owned))
    );
    let notes = read.data_notes();
    assert!(notes.iter().all(|note| !note.contains("assumes")), "{notes:?}");
    let told = DataForm::default().with(&column::DELIMITER, ";", "--delimiter");
    let read = with_bars(&other, told).unwrap();
    assert_eq!(
        columns(&read),
        BTreeSet::from(["column 0".to_owned()]),
        "numbers are left out"
    );

    // What the plan says and the data refuse is refused where the plan says it.
    let parquet = here.path().join("other.parquet");
    std::fs::write(&parquet, "PAR1 and no more").unwrap();
    let refused = with_bars(&parquet, DataForm::default()).unwrap_err().to_string();
    assert!(
        refused.starts_with("bars.toml:7:") && refused.contains("this is a Parquet file"),
        "{refused}"
    );
}
