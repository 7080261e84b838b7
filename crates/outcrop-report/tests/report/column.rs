//! Answer, findings and figures of the column layer on runs whose truth is known.

use outcrop_report::answer::ReadingOutcome;
use outcrop_report::section::FigureSlot;
use outcrop_report::{Finding, Report, Verdict};
use outcrop_results::{CellTable, RunView, Value};
use outcrop_schema::column::{
    COLD_READS_MAX, FILE_BYTES, FLOOR_BYTES, Index, LATENCY, LEFT_OUT, SIZE_OVER_FLOOR, SKEW, STORED_BYTES,
    TABLE_COLUMNS, TEXT_BYTES, THREADS,
};
use outcrop_workload::column::SearchMode;

use crate::column_fixture::{Builder, FileColumn, WholeColumn, encoded, looked_up};

const COUNTRY: FileColumn = FileColumn {
    name: "country",
    rows: 100_000.0,
    distinct: 200.0,
    text: 1_000_000.0,
    balanced: 80_000.0,
    smallest: 79_000.0,
    zstd: 90_000.0,
    lookups: (50_000.0, 1_000.0),
};
/// Half of zstd's text is out of a dictionary's reach, and `smallest` helps.
const COMMENT: FileColumn = FileColumn {
    name: "comment",
    distinct: 40_000.0,
    balanced: 480_000.0,
    smallest: 300_000.0,
    zstd: 200_000.0,
    lookups: (50_000.0, 30_000.0),
    ..COUNTRY
};
/// Hardly a value comes twice.
const KEY: FileColumn = FileColumn {
    name: "key",
    distinct: 99_000.0,
    balanced: 450_000.0,
    smallest: 440_000.0,
    zstd: 500_000.0,
    ..COUNTRY
};

pub(crate) fn table() -> RunView {
    [COUNTRY, COMMENT, KEY]
        .into_iter()
        .fold(Builder::new(), Builder::of_file)
        .build()
}

fn advice(run: &RunView, topic: &str) -> String {
    let report = Report::of(run);
    let claims = &report.layers[0].answer.advice;
    let claim = claims.iter().find(|claim| claim.topic == topic);
    claim
        .unwrap_or_else(|| panic!("no advice on {topic}"))
        .text
        .clone()
}

fn finding(run: &RunView, id: &str) -> Finding {
    let report = Report::of(run);
    let found = report.layers[0].findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no finding {id}")).clone()
}

/// The figures of a public benchmark's table of orders.
const O_COMMENT: WholeColumn = WholeColumn {
    name: "o_comment",
    rows: 1_500_000.0,
    table_rows: 1_500_000.0,
    text: 74_000_000.0,
    ocol: 21_160_000.0,
    stored: 34_620_000.0,
    parquet: 22_000_000.0,
};
const O_CLERK: WholeColumn = WholeColumn {
    name: "o_clerk",
    ocol: 1_877_000.0,
    stored: 1_949_000.0,
    parquet: 1_700_000.0,
    ..O_COMMENT
};
const O_KEY: WholeColumn = WholeColumn {
    name: "o_orderkey",
    ocol: 4_000_000.0,
    stored: 2_000_000.0,
    parquet: 1_990_000.0,
    ..O_COMMENT
};

fn orders() -> RunView {
    [O_CLERK, O_COMMENT, O_KEY]
        .into_iter()
        .fold(Builder::new(), Builder::of_whole)
        .build()
}

#[test]
fn each_column_of_a_file_is_judged_against_that_file_and_against_parquet_with_zstd() {
    let run = orders();
    let ocol = advice(&run, "Smaller as .ocol");
    assert_eq!(
        ocol,
        "o_comment: 21.2 MB as .ocol, 34.6 MB in this file (dictionary→plain, Snappy): 39 % smaller; Parquet with zstd:3 \
         would take 22.0 MB."
    );
    let parquet = advice(&run, "Smaller in Parquet zstd");
    assert!(
        parquet.contains("o_clerk: 1.70 MB in Parquet with zstd:3, 1.95 MB in this file")
            && parquet.contains(", perhaps less with column encode --profile smallest (Parquet is 9 %"),
        "{parquet}"
    );
    let leave = advice(&run, "Leave as they are");
    assert!(leave.contains("2.0 times as large"), "{leave}");
    let report = Report::of(&run);
    let actions = report.layers[0]
        .answer
        .advice
        .iter()
        .filter_map(|claim| claim.action.as_deref());
    let first = actions.collect::<Vec<_>>()[0];
    assert!(
        first.starts_with("Store o_comment as .ocol: 21.2 MB as .ocol, 34.6 MB in this file"),
        "{first}"
    );
    let larger = finding(&run, "smaller-than-parquet-zstd");
    let of_size = "that takes 64 KiB or more in either of them";
    assert!(larger.sentence.contains(of_size), "{larger:?}");
    assert_eq!(larger.verdict, Verdict::DoesNotHold);
    assert!(
        larger.meaning.contains("o_clerk (1.10 times)") && larger.meaning.contains("o_orderkey (2.01 times)"),
        "{}",
        larger.meaning
    );
}

#[test]
fn a_total_counts_the_columns_of_the_table_and_those_that_are_left_out_are_named_once() {
    let mut run = orders();
    for trial in &mut run.trials {
        trial.values.push(Value::measured(TABLE_COLUMNS, 5.0));
        let text = "left out, as they cannot be compared as text: tags (List)";
        trial.notes.push(LEFT_OUT.remark(text));
    }
    let total = advice(&run, "All columns");
    assert!(
        total.starts_with("3 of 5 columns (o_comment, o_orderkey, o_clerk): "),
        "{total}"
    );
    // A claim of their own names those that are left out, once.
    assert!(!total.contains("tags (List)"), "{total}");
    let others = advice(&run, "Other columns");
    assert!(others.ends_with("compared as text: tags (List)."), "{others}");
    let label = |run: &RunView| Report::of(run).layers[0].answer.capabilities[0].label.clone();
    assert_eq!(label(&run), "3 of 5 columns");
    // A file that is compressed as a whole does not say what a column takes in it.
    for trial in &mut run.trials {
        trial.values.retain(|value| value.metric != STORED_BYTES.name);
    }
    let total = advice(&run, "All columns");
    assert!(total.contains(": 222 MB as text, "), "{total}");
    assert_eq!(label(&run), "3 of 5 columns");
}

#[test]
fn whole_columns_say_how_many_rows_they_are_for_and_have_no_interval() {
    let report = Report::of(&orders());
    let answer = &report.layers[0].answer;
    assert!(
        answer.subject.ends_with("sizes: whole column, 1,500,000 rows"),
        "{}",
        answer.subject
    );
    let labels: Vec<&str> = answer.capabilities.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(
        labels,
        ["all 3 columns", "o_comment", "o_orderkey", "o_clerk"],
        "all of them, then the largest in the file first"
    );
    let numbers = answer.advice.iter().flat_map(|claim| &claim.numbers);
    assert!(
        numbers.clone().count() == 9
            && numbers
                .clone()
                .all(|number| number.interval.is_none() && number.n == 1)
    );
    assert!(report.to_html().contains("Size of each column by form"));
    let says_repeat = |text: &str| text.contains("single trial") || text.contains("--repetitions");
    assert!(
        !answer.cautions.iter().any(|caution| says_repeat(&caution.text)),
        "{:?}",
        answer.cautions
    );
    let table = outcrop_report::cell_table::text(&CellTable::of(&orders()), Some(120));
    assert!(
        table.contains("so they have no interval") && !says_repeat(&table),
        "{table}"
    );

    let part = WholeColumn {
        table_rows: 6_000_000.0,
        ..O_COMMENT
    };
    let run = Builder::new().of_whole(part).build();
    let answer = &Report::of(&run).layers[0].answer;
    assert!(
        answer.subject.contains("first 1,500,000 of 6,000,000 rows"),
        "{}",
        answer.subject
    );
    assert!(advice(&run, "Smaller as .ocol").contains("(first 1,500,000 of 6,000,000 rows)"));
    assert!(
        answer
            .cautions
            .iter()
            .any(|caution| caution.text.contains("o_comment (first 1,500,000 of")),
        "{:?}",
        answer.cautions
    );
}

#[test]
fn rows_that_were_taken_for_speed_are_no_verdict_on_the_column() {
    let run = table();
    let report = Report::of(&run);
    let topics: Vec<&str> = report.layers[0]
        .answer
        .advice
        .iter()
        .map(|claim| claim.topic.as_str())
        .collect();
    assert_eq!(topics, ["Index", "Profile"]);
    let profile = advice(&run, "Profile");
    assert!(
        profile.contains("`--profile smallest` for 1 of 3, where it saves more than 5 %: comment"),
        "{profile}"
    );
}

#[test]
fn postings_are_advised_where_they_are_ten_times_as_fast_and_stay_below_half_the_text() {
    let index = advice(&table(), "Index");
    assert!(
        index.starts_with(
            "Encode 1 of 3 columns with `--index postings` at 1.5 times the size (120 kB instead of 80.0 kB): country; \
             lookup in the cached file 1.00 µs instead of 50.0 µs"
        ),
        "{index}"
    );
    // The size of a row and the time next to it are those of one file, without an index.
    let report = Report::of(&table());
    let rows = &report.layers[0].answer.capabilities;
    let country = rows.iter().find(|row| row.label == "country").unwrap();
    let of = |reading: usize| match &country.readings[reading].outcome {
        ReadingOutcome::Measured { number, conditions } => (number.value, conditions.clone()),
        ReadingOutcome::Missing(absence) => panic!("{}", absence.reason),
    };
    assert_eq!(of(0).0, COUNTRY.balanced);
    let (time, beside) = of(1);
    assert!((time / COUNTRY.lookups.0 - 1.0).abs() < 0.01, "{time}");
    assert!(
        beside.contains("no index; with postings 1.00 µs and 120 kB instead of 80.0 kB"),
        "{beside}"
    );
    // Cut to two lines, the cost is still there.
    let screen = report.screen(80, false);
    assert!(screen.contains("at 1.5 times"), "{screen}");
}

#[test]
fn an_index_is_judged_by_files_that_are_opened_in_the_same_way() {
    let lookups = |cells: &[(Index, SearchMode, f64)]| {
        let sizes = [(TEXT_BYTES, 8e6), (FILE_BYTES, 1e6)];
        let mut builder = Builder::new().generated(encoded(), &sizes);
        for (index, mode, latency) in cells {
            let values = [(LATENCY.p50, *latency), (FILE_BYTES, 1.5e6)];
            builder = builder.generated(looked_up(*index, *mode), &values);
        }
        builder.build()
    };
    let (none, postings) = (Index::None, Index::Postings);
    let (memory, scan, disk) = (SearchMode::InMemory, SearchMode::Scan, SearchMode::OnDisk);
    // A scan is another way to search than a file that is loaded with its postings.
    let unlike = lookups(&[(none, scan, 5e5), (postings, memory, 5e3)]);
    let report = Report::of(&unlike);
    let advice_of_unlike = &report.layers[0].answer.advice;
    assert!(
        advice_of_unlike.iter().all(|claim| claim.topic != "Index"),
        "{advice_of_unlike:?}"
    );
    let loaded = lookups(&[(none, scan, 5e5), (none, memory, 5e3), (postings, memory, 5e3)]);
    let index = advice(&loaded, "Index");
    assert!(index.starts_with("Encode without an index"), "{index}");
    assert!(index.contains("builds them"), "{index}");
    let on_disk = lookups(&[
        (none, memory, 5e3),
        (postings, memory, 5e3),
        (none, disk, 5e5),
        (postings, disk, 2e4),
    ]);
    let index = advice(&on_disk, "Index");
    assert!(index.starts_with("Encode with `--index postings`"), "{index}");
}

#[test]
fn a_column_larger_than_its_compressed_text_is_said_by_name() {
    let larger = finding(&table(), "smaller-than-text-under-a-codec");
    assert_eq!(larger.verdict, Verdict::DoesNotHold);
    assert!(
        larger.meaning.contains("comment (1.50 times zstd:19)"),
        "{}",
        larger.meaning
    );
    let holds = finding(
        &Builder::new().of_file(COUNTRY).build(),
        "smaller-than-text-under-a-codec",
    );
    assert_eq!(holds.verdict, Verdict::Holds);
}

#[test]
fn generated_columns_are_held_against_their_floor_by_skew() {
    let with_skew = |skew, ratio| {
        let mut factors = encoded();
        factors.set(&SKEW, skew);
        let values = [
            (FLOOR_BYTES, 1e6),
            (SIZE_OVER_FLOOR, ratio),
            (FILE_BYTES, 1e6 * ratio),
        ];
        finding(
            &Builder::new().generated(factors, &values).build(),
            "size-near-floor",
        )
        .verdict
    };
    assert_eq!(with_skew(0.0, 1.01), Verdict::Holds);
    assert_eq!(with_skew(0.0, 1.03), Verdict::DoesNotHold);
    assert_eq!(with_skew(1.2, 1.03), Verdict::Holds);
    assert_eq!(with_skew(1.2, 1.06), Verdict::DoesNotHold);
}

#[test]
fn more_than_four_reads_for_a_cold_lookup_or_a_size_that_depends_on_threads_fails() {
    let lookup = |reads| {
        let factors = looked_up(Index::Postings, SearchMode::OnDisk);
        let run = Builder::new().generated(factors, &[(COLD_READS_MAX, reads)]);
        finding(&run.build(), "cold-lookup-reads").verdict
    };
    // The fourth is that of a long list: of a value that is in many rows.
    assert_eq!((lookup(4.0), lookup(5.0)), (Verdict::Holds, Verdict::DoesNotHold));
    let threads = |sizes: [f64; 2]| {
        let with_threads = |builder: Builder, (threads, bytes)| {
            let mut factors = encoded();
            factors.set(&THREADS, threads);
            builder.generated(factors, &[(FILE_BYTES, bytes)])
        };
        let built = [1, 2].into_iter().zip(sizes).fold(Builder::new(), with_threads);
        finding(&built.build(), "threads-change-no-byte").verdict
    };
    assert_eq!(
        (threads([5e5, 5e5]), threads([5e5, 5.1e5])),
        (Verdict::Holds, Verdict::DoesNotHold)
    );
}

#[test]
fn a_size_is_one_value_of_the_data_and_a_time_one_of_each_trial() {
    let report = Report::of(&table());
    let numbers_of = |topic: &str| {
        let claims = &report.layers[0].answer.advice;
        let claim = claims.iter().find(|claim| claim.topic == topic);
        claim.map(|claim| claim.numbers.clone()).unwrap_or_default()
    };
    let capabilities = &report.layers[0].answer.capabilities;
    let ReadingOutcome::Measured { number, .. } = &capabilities[0].readings[0].outcome else {
        panic!("{capabilities:?}");
    };
    assert_eq!((number.n, number.interval.is_some()), (1, false));
    let lookups = numbers_of("Index");
    assert_eq!((lookups[0].n, lookups[0].interval.is_some()), (3, true));
}

#[test]
fn columns_of_one_name_in_two_tables_are_two_columns() {
    let other = FileColumn {
        text: 2_000_000.0,
        balanced: 500_000.0,
        smallest: 490_000.0,
        ..COUNTRY
    };
    let run = Builder::new().of_file(COUNTRY).of_table("file other.csv", other);
    let report = Report::of(&run.build());
    let labels: Vec<&str> = report.layers[0]
        .answer
        .capabilities
        .iter()
        .map(|row| row.label.as_str())
        .collect();
    let (one, two) = (
        "country (file other.csv, rows: all)",
        "country (file rocks.csv, rows: all)",
    );
    assert_eq!(labels, [one, two], "the larger one first");
    let FigureSlot::Drawn(figure) = &report.layers[0].figures[0] else {
        panic!("sizes are drawn");
    };
    // Per cent of its own text.
    assert!(
        figure
            .alt_text
            .contains(&format!("{one}: ocol smallest 24.5 %; ocol balanced 25 %"))
            && figure
                .alt_text
                .contains(&format!("{two}: ocol smallest 7.9 %; ocol balanced 8 %")),
        "{}",
        figure.alt_text
    );
}

#[test]
fn a_table_has_its_figures_and_what_was_not_measured_names_the_plan() {
    let report = Report::of(&table());
    let drawn: Vec<&str> = report.layers[0]
        .figures
        .iter()
        .filter_map(|slot| match slot {
            FigureSlot::Drawn(figure) => Some(figure.id.as_str()),
            FigureSlot::Missing(_) => None,
        })
        .collect();
    assert!(drawn.contains(&"column-search") && drawn.len() == 2, "{drawn:?}");
    let html = report.to_html();
    assert!(
        html.contains("text, zstd:19") && !html.contains("text, zstd:3"),
        "only what was measured is named"
    );
    assert!(
        !html.contains("column-matrix"),
        "no heading without anything under it"
    );
    let sizes_alone = Builder::new().generated(encoded(), &[(FILE_BYTES, 1e6)]);
    let report = Report::of(&sizes_alone.build());
    let names_plan =
        |slot: &FigureSlot| matches!(slot, FigureSlot::Missing(missing) if missing.plan == "column-search");
    assert!(report.layers[0].figures.iter().any(names_plan));
}
