//! What is said of whole columns: which form leads, what Parquet needs for its size, what a column file makes of numbers.

use outcrop_report::answer::{Claim, ReadingOutcome, Severity};
use outcrop_report::{Constraints, Report};
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
fn the_column_that_a_column_file_saves_most_for_leads_and_one_that_parquet_makes_as_small_may_be_either() {
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
        tie.text
            .contains("Parquet with zstd:3 would take 10.0 MB, the same size"),
        "{}",
        tie.text
    );
    let action = tie.action.unwrap();
    assert!(
        action.starts_with("Convert ts to Parquet with zstd or to .ocol, which take about the same: "),
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
    assert!(
        advice.text.contains(
            "order: 500 kB in Parquet with zstd:3 with delta encoding (3.80 MB with writers' defaults), 4.00 MB in this file"
        ),
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
            ReadingOutcome::Missing(absence) => panic!("{}", absence.reason),
        }
    };
    assert_eq!(
        beside("order"),
        "with delta encoding (3.80 MB with writers' defaults)"
    );
    assert_eq!(beside("comment"), "");
    assert!(
        beside("all 2 columns").starts_with("with other encodings for 1 of them; 25.8 MB"),
        "{}",
        beside("all 2 columns")
    );
}

#[test]
fn columns_below_the_limit_on_the_ratio_are_not_advised_and_limits_that_do_not_apply_are_named() {
    let limits = Constraints {
        min_ratio: Some(5.0),
        p99_ns: Some(1000.0),
        ..Constraints::default()
    };
    let run = of(&[COMMENT, COUNTRY]);
    let report = Report::under(&run, &[], &limits, None);
    let claims = &report.layers[0].answer.advice;
    assert_eq!(claims[0].topic, "Breaks the limits");
    assert_eq!(claims[0].action, None);
    assert!(
        claims[0].brief.starts_with(
            "comment as .ocol breaks the limit on the ratio (3.31 of at least 5.00); without limits, 21.2 MB as"
        ),
        "{}",
        claims[0].brief
    );
    let action = claims[1].action.clone().unwrap();
    assert!(action.starts_with("Store country as .ocol: "), "{action}");
    let screen = report.screen(80, false);
    let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flowing.contains("Warning: --p99 1") && flowing.contains("does not apply to any layer of this run"),
        "{screen}"
    );
    // Where stores are measured too, it applies to them.
    let mut all = run;
    all.trials.extend(crate::kv_fixture::codecs().trials);
    let report = Report::under(&all, &[], &limits, None);
    let said = |layer: &str| {
        let section = report.layers.iter().find(|section| section.layer == layer);
        let cautions = section.unwrap().answer.cautions.iter();
        let about_limits = cautions.filter(|caution| caution.text.contains(" not apply to "));
        about_limits.cloned().collect::<Vec<_>>()
    };
    let of_columns = said("column");
    assert!(
        of_columns.len() == 1
            && of_columns[0].severity == Severity::Note
            && of_columns[0].text.contains("does not apply to the layer column"),
        "{of_columns:?}"
    );
    assert!(said("kv").is_empty(), "{:?}", said("kv"));
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
