//! What is said of whole columns: which form leads, what Parquet needs for its size, what a column file makes of numbers.

use outcrop_report::answer::{Claim, ReadingOutcome, Severity};
use outcrop_report::{Constraints, Report, Verdict};
use outcrop_results::{CellTable, RunView, Value, cells};
use outcrop_schema::column::{LEFT_OUT, PARQUET_DEFAULT_BYTES, ROWS, Rows, STORED_FORM, TABLE_ROWS, TEXT_OF};

use crate::column_fixture::{Builder, FileColumn, WholeColumn};

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
        action.starts_with("Convert ts to .ocol or to Parquet with zstd, which take about the same: "),
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
            "order: 500 kB in Parquet with zstd:3 with delta encoding (3.80 MB as Arrow writes by default), 4.00 MB in this file"
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
        "with delta encoding (3.80 MB as Arrow writes by default)"
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

#[test]
fn a_part_of_a_column_is_never_shown_or_exported_as_all_rows() {
    let part = WholeColumn {
        rows: 2_396_746.0,
        table_rows: 2_600_000.0,
        ..COMMENT
    };
    let known = of(&[part]);
    let mut unknown = of(&[part]);
    for trial in &mut unknown.trials {
        let why = "the file has more rows than were read";
        trial.values.retain(|value| value.metric != TABLE_ROWS.name);
        trial.values.push(Value::unavailable(TABLE_ROWS, why));
    }
    for (run, words) in [
        (&known, "rows first 2,396,746 of 2,600,000,"),
        (&unknown, "rows first 2,396,746,"),
    ] {
        let table = CellTable::of(run);
        let text = outcrop_report::cell_table::text(&table, None);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words) && !text.contains("rows all"), "{text}");
        let page = Report::of(run).to_html();
        assert!(page.contains(words.trim_end_matches(',')), "{words}");
        let mut csv = Vec::new();
        cells::write_csv(&table, &mut csv).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
        let place = names.iter().position(|name| *name == "measured_rows").unwrap();
        // A comma within quotes stands before it.
        let from_the_end = names.len() - place;
        assert_eq!(values[values.len() - from_the_end], "2396746", "{csv}");
    }
    let whole = outcrop_report::cell_table::text(&CellTable::of(&of(&[COMMENT])), None);
    assert!(whole.contains("rows all"), "{whole}");
}

#[test]
fn columns_that_no_verdict_is_about_have_a_line_of_advice_with_what_answers_it() {
    let mut run = of(&[COMMENT, ORDER]);
    let clause = "left out, as they cannot be compared as text: lon (Float64), which take 980 kB (`a command` says more)";
    for trial in &mut run.trials {
        trial.notes.push(LEFT_OUT.remark(clause));
    }
    let others = claim(&run, "Other columns");
    assert_eq!(others.brief, clause);
    assert!(others.action.is_none());
    assert!(
        claims(&of(&[COMMENT, ORDER]))
            .iter()
            .all(|claim| claim.topic != "Other columns")
    );
    let screen = Report::of(&run).screen(100, false);
    assert!(screen.contains("`a command`"), "{screen}");
}

/// Another codec or level than zstd:3 makes the user's own column smaller.
#[test]
fn where_the_users_own_chunks_are_smallest_all_that_says_zstd_3_shows_what_zstd_3_reaches() {
    let own = WholeColumn {
        name: "own",
        ocol: 9_900_000.0,
        stored: 9_000_000.0,
        ..MOMENTS
    };
    let mut run = of(&[own, COMMENT]);
    for trial in &mut run.trials {
        trial.notes.clear();
        let form = "in this file (dictionary, Brotli)";
        trial.notes.push(STORED_FORM.remark(form));
    }
    let leave = claim(&run, "Leave as they are");
    assert_eq!(
        leave.text,
        "own: 9.00 MB in this file (dictionary, Brotli): .ocol would take 9.90 MB, perhaps less with column encode --profile smallest (10 % larger), Parquet with zstd:3 as Outcrop \
         writes it 10.0 MB (11 % larger)."
    );
    let with_zstd = leave
        .numbers
        .iter()
        .find(|number| number.name == "own, in Parquet with zstd:3");
    assert!(with_zstd.is_some_and(|number| (number.value - 1e7).abs() < 1.0));
    let total = claim(&run, "All columns").text;
    assert!(
        total.contains(" 43.6 MB in this file, 32.0 MB in Parquet with zstd:3 (")
            && total.ends_with("each column in the smallest of these, 30.2 MB."),
        "{total}"
    );
    let report = Report::of(&run);
    let screen = report.screen(200, false);
    let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains(" own 9.00 MB 9.90 MB 10.0 MB "), "{screen}");
    let action = claim(&run, "Smaller as .ocol").action.unwrap();
    assert!(action.contains("Parquet zstd:3 32.0 MB"), "{action}");
    let table = outcrop_report::cell_table::text(&CellTable::of(&run), None);
    assert!(
        table.contains("Parquet zstd:3") && table.contains("10.0 MB"),
        "{table}"
    );
    let mut findings = report.layers[0].findings.iter();
    let beside = findings
        .find(|finding| finding.id == "smaller-than-parquet-zstd")
        .unwrap();
    assert_eq!(beside.verdict, Verdict::Holds);
}

#[test]
fn what_an_index_costs_in_size_is_said_with_the_rows_that_the_size_is_for() {
    let mut run = Builder::new()
        .of_file(FileColumn {
            name: "country",
            rows: 65_536.0,
            distinct: 240.0,
            text: 520_000.0,
            balanced: 80_000.0,
            smallest: 79_000.0,
            zstd: 90_000.0,
            lookups: (50_000.0, 1_000.0),
        })
        .build();
    let index = claim(&run, "Index").text;
    assert!(index.contains("(120 kB instead of 80.0 kB); "), "{index}");
    for trial in &mut run.trials {
        trial
            .factors
            .insert(ROWS.name.to_owned(), Rows::Count(65_536).to_string());
        trial.values.push(Value::measured(TABLE_ROWS, 2_000_000.0));
    }
    let index = claim(&run, "Index").text;
    assert!(
        index.contains("(120 kB instead of 80.0 kB for the first 65,536 of 2,000,000 rows); "),
        "{index}"
    );
}
