//! How the report words what key-value engines gave.

use outcrop_report::Report;
use outcrop_report::answer::ReadingOutcome;
use outcrop_results::Value;
use outcrop_schema::kv::{
    BLOCK_CACHE, ENGINE, LOG_BYTES, NOT_SETTLED, PROCESSES, REQUESTS, SETTLING, WORKLOAD,
};

use crate::kv_fixture::{Unusual, codecs, of_settings};

#[test]
fn where_no_value_differed_the_page_says_zero_and_not_minus_zero() {
    let page = Report::of(&codecs()).to_html();
    assert!(page.contains("values that differed") && !page.contains(">-0<"));
}

#[test]
fn requests_that_have_the_name_of_their_workload_are_named_once() {
    let mut run = codecs();
    for trial in &mut run.trials {
        for factor in [WORKLOAD.name, REQUESTS.name] {
            trial.factors.insert(factor.to_owned(), "mixgraph".to_owned());
        }
    }
    let page = Report::of(&run).to_html();
    assert!(page.contains("mixgraph") && !page.contains("mixgraph mixgraph"));
}

#[test]
fn the_share_of_a_block_cache_that_holds_all_the_data_is_no_advice() {
    // Databases of 100 MB together.
    let said = |cache: &str, processes: &str| {
        let mut run = codecs();
        for trial in &mut run.trials {
            for (factor, text) in [(BLOCK_CACHE.name, cache), (PROCESSES.name, processes)] {
                trial.factors.insert(factor.to_owned(), text.to_owned());
            }
        }
        let report = Report::of(&run);
        let mut claims = report.layers[0].answer.advice.iter();
        let claim = claims.find(|claim| claim.topic == "Block cache").cloned();
        claim.expect("there is a block cache")
    };
    for (cache, processes, data) in [("128MiB", "1", "100 MB"), ("64MiB", "2", "50.0 MB")] {
        let claim = said(cache, processes);
        assert_eq!(
            claim.brief,
            format!("{cache} holds all the data ({data}): misses are first reads; lengthen --warm-up")
        );
        assert!(
            claim.text.contains("a longer --warm-up raises it") && !claim.text.contains("pay for the codec"),
            "{}",
            claim.text
        );
    }
    assert_eq!(
        said("64MiB", "1").brief,
        "64MiB answers 75 % of block reads before the codec"
    );
}

#[test]
fn the_lowest_space_amplification_of_an_engine_says_what_it_is_without_a_log_that_matters() {
    let cell = |engine| -> (Unusual, f64) { (vec![(&ENGINE, engine)], 1e5) };
    let mut run = of_settings(&[cell("fjall"), cell("rocksdb")]);
    // Of 55 MB, for 100 MB of keys and values.
    for trial in &mut run.trials {
        let log = match trial.factors[ENGINE.name].as_str() {
            "fjall" => 33e6,
            _ => 1e6,
        };
        trial.values.push(Value::measured(LOG_BYTES, log));
    }
    let report = Report::of(&run);
    let mut rows = report.layers[0].answer.capabilities.iter();
    let row = rows.find(|row| row.label == "Lowest space amplification");
    let conditions = row.expect("it is known").readings.iter().map(|reading| {
        let ReadingOutcome::Measured { conditions, .. } = &reading.outcome else {
            panic!("{reading:?}");
        };
        conditions.clone()
    });
    let conditions: Vec<String> = conditions.collect();
    assert_eq!(
        conditions,
        [
            "fjall lz4 4KiB (0.220 without the store's log), ycsb-a zipfian",
            "rocksdb lz4 4KiB, ycsb-a zipfian"
        ]
    );
    let screen = report.screen(100, false);
    assert!(screen.contains("(0.220 without the store's log)"), "{screen}");
}

#[test]
fn compaction_that_was_waited_for_in_vain_is_not_advised_to_be_waited_for() {
    let caution = |settling: &str| {
        let mut run = codecs();
        for trial in &mut run.trials {
            trial.notes.push(NOT_SETTLED.remark("2 compactions pending"));
            trial
                .factors
                .insert(SETTLING.name.to_owned(), settling.to_owned());
        }
        serde_json::to_string(&Report::of(&run).layers[0].answer.cautions).unwrap()
    };
    let waited = caution("compacted");
    assert!(
        waited.contains("it did not end in the time") && !waited.contains("waits for it"),
        "{waited}"
    );
    assert!(caution("none").contains("waits for it"));
}

#[test]
fn each_part_of_the_cpu_time_in_a_figure_has_its_interval_and_its_trials() {
    let run = codecs();
    let report = Report::of(&run);
    let mut figures = report.figures().into_iter();
    let figure = figures.find(|figure| figure.id == "kv-cpu").unwrap();
    let csv = figure.to_csv().unwrap();
    let rows = csv
        .lines()
        .skip(1)
        .filter(|row| row.contains("callers") || row.contains("own threads"));
    let rows: Vec<&str> = rows.collect();
    assert!(!rows.is_empty(), "{csv}");
    for row in rows {
        assert!(row.ends_with(",0.75,3"), "{row}");
    }
}
