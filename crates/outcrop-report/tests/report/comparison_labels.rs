//! What rows of a comparison call their cells: by what tells them apart, and no more.

use outcrop_report::Report;
use outcrop_report::comparison::{Detail, comparison_markdown, comparison_text};
use outcrop_results::{RunView, compare};
use outcrop_schema::device::{CONTENT, SYNC};
use outcrop_schema::kv;

use crate::fixture::RunBuilder;
use crate::kv_fixture::{self, Stored};
use crate::other_values::{others_of, runs, with_other};

fn text_of(run: &RunView) -> String {
    comparison_text(&compare(run, run), &Detail::default())
}

#[test]
fn cells_that_differ_in_a_factor_that_labels_leave_out_are_told_apart_by_it() {
    let run = RunBuilder::new(5).cells(&[4096], &[2, 16], &[0]).build();
    let run = with_other(run, &CONTENT, "zeros");
    let text = text_of(&run);
    for label in ["QD 2 content=random", "QD 2 content=zeros", "QD 16 content=zeros"] {
        assert!(text.contains(label), "{label}: {text}");
    }
    let report = Report::of(&run);
    let figures = report.figures();
    let by_depth = figures.iter().find(|figure| figure.id == "iops-by-depth");
    let csv = by_depth.expect("it is drawn").to_csv().unwrap();
    let drawn = ["content random", "content zeros"].map(|content| csv.contains(content));
    assert_eq!(drawn, [true, true], "{csv}");
}

#[test]
fn one_cell_and_cells_of_two_layers_are_named_without_what_all_of_their_layer_have() {
    let one = RunBuilder::new(5).cells(&[4096], &[8], &[100]).build();
    let labels = |text: &str| -> Vec<String> {
        let rows = text
            .lines()
            .filter(|line| line.starts_with("  ") && line.ends_with(" same"));
        rows.map(str::to_owned).collect()
    };
    let text = text_of(&one);
    assert!(!labels(&text).is_empty(), "{text}");
    assert!(labels(&text).iter().all(|row| !row.contains('=')), "{text}");
    let stores = kv_fixture::of(&["lz4", "none"].map(|codec| Stored {
        codec,
        block_size: "4KiB",
        filesystem: "ext4",
        throughput: 1e5,
        stored: 5e7,
    }));
    let mut both = RunBuilder::new(5).cells(&[4096], &[2, 16], &[100]).build();
    both.trials.extend(stores.trials);
    let text = text_of(&both);
    assert!(text.contains("lz4 4KiB") && text.contains("QD 16"), "{text}");
    assert!(labels(&text).iter().all(|row| !row.contains('=')), "{text}");
}

#[test]
fn an_option_of_another_program_that_only_some_cells_have_tells_them_apart() {
    let run = RunBuilder::new(5).cells(&[4096], &[2, 16], &[0]).build();
    let others: Vec<_> = run.trials.clone();
    let mut run = run;
    run.trials.extend(others.into_iter().map(|mut trial| {
        trial.cell.push_str("-other");
        trial.factors.insert("fio_thinktime".to_owned(), "10".to_owned());
        trial
    }));
    let text = text_of(&run);
    for label in ["  QD 2 fio_thinktime=10", "  QD 16 fio_thinktime=10", "  QD 2  "] {
        assert!(text.contains(label), "{label}: {text}");
    }
}

#[test]
fn a_default_that_alone_tells_a_row_apart_is_spelled() {
    let run = RunBuilder::new(5).cells(&[4096], &[8], &[0]).build();
    let text = text_of(&with_other(run, &SYNC, "each"));
    assert!(text.contains("sync=none"), "{text}");
}

#[test]
fn what_only_one_engine_has_is_not_said_of_its_cells() {
    let run = kv_fixture::of(&["lz4", "none"].map(|codec| Stored {
        codec,
        block_size: "4KiB",
        filesystem: "ext4",
        throughput: 1e5,
        stored: 5e7,
    }));
    let mut run = with_other(run, &kv::ENGINE, "redb");
    for trial in run
        .trials
        .iter_mut()
        .filter(|trial| trial.factors["engine"] == "redb")
    {
        for name in ["bloom_bits", "write_buffer", "compaction", "block_cache", "io"] {
            trial.factors.remove(name);
        }
    }
    let json = Report::of(&run).to_json().unwrap().to_string();
    for said in ["bloom bits ", "write buffer ", "compaction leveled"] {
        assert!(!json.contains(said), "{said}: {json}");
    }
}

/// The names of the cells of each metric in Markdown, in the order of the rows.
fn names(run: &RunView) -> Vec<(String, String)> {
    let text = comparison_markdown(&compare(run, run), &Detail::default());
    let row = |line: &str| {
        let mut cells = line.split(" | ");
        let metric = cells.next()?.strip_prefix("| ")?.to_owned();
        Some((metric, cells.next()?.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn no_two_rows_of_a_metric_have_one_name_whichever_factor_their_cells_differ_in() {
    for (schema, run) in runs() {
        for (factor, value) in others_of(schema) {
            let names = names(&with_other(run.clone(), factor, value));
            let distinct: std::collections::BTreeSet<_> = names.iter().collect();
            assert!(!names.is_empty(), "{} {}", schema.name, factor.name);
            assert_eq!(
                distinct.len(),
                names.len(),
                "{} {}: {names:?}",
                schema.name,
                factor.name
            );
        }
    }
}
