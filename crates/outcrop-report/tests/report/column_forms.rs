//! What is said of whole columns: which form leads, what Parquet needs for its size, what a column file makes of numbers.

use outcrop_report::Report;
use outcrop_report::answer::{Claim, ReadingOutcome};
use outcrop_results::{RunView, Value};
use outcrop_schema::column::{PARQUET_DEFAULT_BYTES, TEXT_OF};

use crate::column_fixture::{Builder, WholeColumn};

/// As small in Parquet as in a column file, and the largest gain over the user's file.
const MOMENTS: WholeColumn = WholeColumn {
    name: "ts",
    rows: 1_000_000.0,
    table_rows: 1_000_000.0,
    text: 70_000_000.0,
    ocol: 10_050_000.0,
    stored: 60_000_000.0,
    parquet: 10_000_000.0,
};
const COMMENT: WholeColumn = WholeColumn {
    name: "comment",
    ocol: 21_160_000.0,
    stored: 34_620_000.0,
    parquet: 22_000_000.0,
    ..MOMENTS
};
/// Saves less over the user's file than the comment does, and most over Parquet.
const COUNTRY: WholeColumn = WholeColumn {
    name: "country",
    ocol: 8_000_000.0,
    stored: 20_000_000.0,
    parquet: 12_000_000.0,
    ..MOMENTS
};
/// Small in Parquet with delta encoding only.
const ORDER: WholeColumn = WholeColumn {
    name: "order",
    ocol: 1_900_000.0,
    stored: 4_000_000.0,
    parquet: 500_000.0,
    ..MOMENTS
};

fn of(columns: &[WholeColumn]) -> RunView {
    let builder = Builder::new();
    columns
        .iter()
        .fold(builder, |builder, column| builder.of_whole(*column))
        .build()
}

fn claims(run: &RunView) -> Vec<Claim> {
    Report::of(run).layers[0].answer.advice.clone()
}

fn claim(run: &RunView, topic: &str) -> Claim {
    let found = claims(run).into_iter().find(|claim| claim.topic == topic);
    found.unwrap_or_else(|| panic!("no advice on {topic}"))
}

#[test]
fn the_column_that_a_column_file_saves_most_for_leads_and_one_that_parquet_makes_as_small_is_a_tie() {
    let run = of(&[MOMENTS, COMMENT, COUNTRY]);
    let claims = claims(&run);
    assert_eq!(claims[0].topic, "Smaller as .ocol");
    let action = claims[0].action.clone().unwrap();
    assert!(
        action.starts_with("Store country and 1 more as .ocol: 8.00 MB as .ocol, 20.0 MB in this file"),
        "{action}"
    );
    assert!(
        action.ends_with("; all 3 columns: 115 MB now, Parquet zstd:3 44.0 MB, .ocol 39.2 MB"),
        "{action}"
    );
    assert!(
        claims[0]
            .brief
            .contains(". Others as .ocol: comment (39 % smaller)"),
        "{}",
        claims[0].brief
    );
    let tie = claim(&run, "Parquet zstd or .ocol");
    assert!(
        tie.text.contains("Parquet with zstd:3 would take 10.0 MB, a tie"),
        "{}",
        tie.text
    );
    let action = tie.action.unwrap();
    assert!(
        action.starts_with("Convert ts to Parquet with zstd or to .ocol (a tie): "),
        "{action}"
    );
    // The first screen says what all columns take, however little room it has.
    let mut all = run;
    all.trials.extend(crate::kv_fixture::codecs().trials);
    let screen = Report::of(&all).screen(80, false);
    let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("Store country and 1 more as .ocol"), "{screen}");
}

#[test]
fn advice_table_and_total_name_the_encoding_that_a_size_in_parquet_needs() {
    let mut run = of(&[ORDER, COMMENT]);
    for trial in &mut run.trials {
        let usual = match trial.factors["column"].as_str() {
            "order" => 3_800_000.0,
            _ => 22_000_000.0,
        };
        trial.values.push(Value::measured(PARQUET_DEFAULT_BYTES, usual));
    }
    let advice = claim(&run, "Smaller in Parquet zstd");
    let words = "500 kB with delta encoding (3.80 MB with the default of writers)";
    assert!(
        advice
            .text
            .contains(&format!("Parquet with zstd:3 would take {words}")),
        "{}",
        advice.text
    );
    let action = advice.action.unwrap();
    assert!(
        action.starts_with("Write order in Parquet with zstd and delta encoding: "),
        "{action}"
    );
    let report = Report::of(&run);
    let rows = &report.layers[0].answer.capabilities;
    let beside = |label: &str| {
        let row = rows.iter().find(|row| row.label == label).unwrap();
        match &row.readings[2].outcome {
            ReadingOutcome::Measured { conditions, .. } => conditions.clone(),
            ReadingOutcome::Missing { reason } => panic!("{reason}"),
        }
    };
    assert_eq!(
        beside("order"),
        "with delta encoding (3.80 MB with the default of writers)"
    );
    assert_eq!(beside("comment"), "");
    assert!(
        beside("all 2 columns").starts_with("with delta encoding for 1 of them; 25.8 MB"),
        "{}",
        beside("all 2 columns")
    );
}

#[test]
fn numbers_that_a_column_file_has_as_text_are_said_to_become_text() {
    let mut run = of(&[COUNTRY]);
    for trial in &mut run.trials {
        trial.notes.push(TEXT_OF.remark("Int64"));
    }
    let advice = claim(&run, "Smaller as .ocol");
    assert!(
        advice
            .text
            .contains("; .ocol has the values of type Int64 as text"),
        "{}",
        advice.text
    );
}

#[test]
fn columns_of_a_folder_are_in_these_files() {
    let mut run = of(&[COMMENT, COUNTRY]);
    for trial in &mut run.trials {
        trial.subject = "folder orders".to_owned();
    }
    let total = claim(&run, "All columns");
    assert!(total.text.contains(" 54.6 MB in these files, "), "{}", total.text);
}
