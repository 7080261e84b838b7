//! The table of cells on a terminal and as Markdown.

use outcrop_report::Report;
use outcrop_report::answer::Caution;
use outcrop_report::cell_table::{excerpt, markdown, text};
use outcrop_results::{CellTable, Value};
use outcrop_schema::column::{COLUMN, ROWS, TABLE_ROWS};
use outcrop_schema::device::LATENCY;
use outcrop_schema::kv;

use crate::column::table as columns;
use crate::fixture::RunBuilder;

fn table() -> CellTable {
    CellTable::of(
        &RunBuilder::new(3)
            .cells(&[4096, 16384], &[1, 8, 32], &[100, 70])
            .build(),
    )
}

#[test]
fn the_table_of_a_sweep() {
    insta::assert_snapshot!("cells_80", text(&table(), Some(80)));
    insta::assert_snapshot!("cells_160", text(&table(), Some(160)));
    insta::assert_snapshot!("cells_markdown", markdown(&table()));
}

#[test]
fn a_table_never_leaves_its_terminal_and_says_which_columns_it_left_out() {
    for width in [60, 80, 100, 140, 200] {
        let text = text(&table(), Some(width));
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        let has_all = text.contains("p99.9");
        let names_left_out = text.contains("Left out, because the terminal has");
        assert!(has_all || names_left_out, "{text}");
    }
    assert!(!text(&table(), Some(200)).contains("Left out"));
}

#[test]
fn a_table_without_room_for_all_rows_has_as_many_of_each_engine_and_counts_the_others() {
    let mut run = crate::kv_fixture::codecs();
    let second: Vec<_> = run.trials.clone();
    run.trials.extend(second.into_iter().map(|mut trial| {
        trial
            .factors
            .insert(kv::ENGINE.name.to_owned(), "fjall".to_owned());
        trial.cell += " fjall";
        trial
    }));
    let table = CellTable::of(&run);
    assert_eq!(table.rows.len(), 8);
    let few = excerpt(&table, None, 4);
    let rows_of = |engine: &str| few.lines().filter(|line| line.starts_with(engine)).count();
    assert_eq!((rows_of("rocksdb"), rows_of("fjall")), (2, 2), "{few}");
    let words: Vec<&str> = few.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("… 4 more cells (not shown: 2 of 4 with engine fjall, 2 of 4 with engine rocksdb):"),
        "{few}"
    );
}

#[test]
fn a_file_gets_every_column_however_wide() {
    assert!(!text(&table(), None).contains("Left out"));
}

#[test]
fn every_cell_of_every_layer_has_a_row() {
    let mut run = crate::fixture::complete();
    for other in [
        crate::compression_fixture::complete(),
        crate::column::table(),
        crate::cache_fixture::peers().run,
        crate::filesystem::example(),
        crate::kv_fixture::codecs(),
    ] {
        run.trials.extend(other.trials);
    }
    let table = CellTable::of(&run);
    let shown: usize = table.groups().iter().map(|group| group.rows.len()).sum();
    assert_eq!(shown, run.cells().len());
    let text = text(&table, Some(100));
    for layer in run.vocabulary.layers() {
        assert!(
            text.contains(&format!("{} · ", layer.name)),
            "{}: {text}",
            layer.name
        );
    }
}

#[test]
fn every_reason_that_a_figure_is_missing_stands_with_its_number_of_cells() {
    let p99_9 = LATENCY.both.p99_9;
    let mut run = RunBuilder::new(3).cells(&[4096], &[1, 8, 32], &[100]).build();
    let cells: Vec<String> = run.cells().iter().map(|cell| cell.id.to_owned()).collect();
    for trial in &mut run.trials {
        let reason = match cells.iter().position(|cell| *cell == trial.cell) {
            Some(0) => "too few operations (900) for a p99.9",
            Some(1) => "too few operations (950) for a p99.9",
            _ => "fio reports the percentiles of each job separately",
        };
        trial.values.retain(|value| value.metric != p99_9.name);
        trial.values.push(Value::unavailable(p99_9, reason));
    }
    let text = text(&CellTable::of(&run), None);
    for note in [
        "p99.9 is unavailable in 2 cells: too few operations (900 to 950) for a p99.9.",
        "p99.9 is unavailable in 1 cell (queue depth 8): fio reports the percentiles of each job separately",
    ] {
        assert!(text.contains(note), "{text}");
    }
}

#[test]
fn one_trial_is_to_be_repeated_unless_it_is_long_by_design_or_others_are_to_come() {
    let note = |builder: RunBuilder, asked: u32| {
        let mut run = builder.cells(&[4096], &[32], &[0]).build();
        run.plan
            .push_str(&format!("\n[plan.trial]\nrepetitions = {asked}\n"));
        text(&CellTable::of(&run), Some(160))
    };
    let long = || RunBuilder {
        intervals: (60, 1.0),
        ..RunBuilder::new(1)
    };
    let short = note(RunBuilder::new(1), 1);
    assert!(
        short.contains("One trial has no interval; five repetitions give one."),
        "{short}"
    );
    let by_design = note(long(), 1);
    assert!(
        by_design.contains("One trial has no interval.") && !by_design.contains("repetitions"),
        "{by_design}"
    );
    let unfinished = note(long(), 5);
    assert!(
        unfinished.contains("the run is not finished, and lacks the other trials"),
        "{unfinished}"
    );
}

#[test]
fn a_table_without_intervals_does_not_explain_parentheses() {
    let text = text(&table(), Some(60));
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("intervals. A wider terminal"), "{text}");
    assert!(!text.contains("In parentheses"), "{text}");
}

#[test]
fn a_table_on_paper_is_neither_cut_nor_without_headings() {
    let page = Report::of(&crate::fixture::complete()).to_html();
    let rules: String = page.split("@media print{").skip(1).collect();
    for rule in [
        // What scrolls on a screen would be cut.
        ".scroll{overflow:visible",
        ".sortable td,.matrix th[scope=row],.placement td:not(:last-child){white-space:normal}",
        // Of buttons a repeated heading shows nothing.
        "button.sort{display:contents}",
    ] {
        assert!(rules.contains(rule), "{rule}");
    }
}

#[test]
fn on_a_narrow_terminal_an_open_loop_still_has_what_was_offered_beside_what_was_answered() {
    let mut caches = crate::cache_fixture::peers().run;
    caches.trials.retain(|trial| {
        trial
            .factors
            .get("server")
            .is_some_and(|server| server == "outcrop")
            && trial.factors["pipeline"] == "1"
    });
    let mut stores = crate::kv_fixture::codecs();
    for trial in &mut stores.trials {
        trial
            .factors
            .insert("arrival".to_owned(), "poisson:20k/s".to_owned());
        trial.values.push(Value::measured(kv::OFFERED, 20e3));
    }
    for run in [caches, stores] {
        let text = text(&CellTable::of(&run), Some(80));
        let head = text.lines().find(|line| line.contains("throughput")).unwrap();
        assert!(head.contains("offered"), "{text}");
    }
}

#[test]
fn a_table_with_fewer_rows_than_were_asked_for_is_shown_with_those_that_it_has() {
    let of_tables = |rows_of: &dyn Fn(&str) -> f64| {
        let mut run = columns();
        for trial in &mut run.trials {
            let rows = rows_of(&trial.factors[COLUMN.name]);
            trial.factors.insert(ROWS.name.to_owned(), "65536".to_owned());
            trial.values.push(Value::measured(TABLE_ROWS, rows));
        }
        let cells = text(&CellTable::of(&run), None);
        let report = Report::of(&run);
        let is_cut = |caution: &Caution| caution.text.contains("at most the first 65,536 rows");
        (cells, report.layers[0].answer.cautions.iter().any(is_cut))
    };
    let heads = |cells: &str| cells.split_whitespace().collect::<Vec<_>>().join(" ");
    let (cells, is_cut) = of_tables(&|_| 50_000.0);
    assert!(heads(&cells).contains("rows 50000"), "{cells}");
    assert!(!cells.contains("65536") && !is_cut, "{cells}");
    let (cells, is_cut) = of_tables(&|_| 100_000.0);
    assert!(heads(&cells).contains("rows 65536") && is_cut, "{cells}");
    // Where they differ, each cell says its own.
    let (cells, is_cut) = of_tables(&|column| {
        if column == "country" { 50_000.0 } else { 100_000.0 }
    });
    assert!(is_cut);
    for (column, rows) in [("country", "50000"), ("comment", "65536")] {
        let mut lines = cells.lines().filter(|line| line.contains(column));
        assert!(
            lines.clone().count() > 1 && lines.all(|line| line.contains(rows)),
            "{cells}"
        );
    }
}
