//! Claims of a run with stores that was measured under two values of a factor: each names the value that it is about, whichever factor that is.

use std::collections::BTreeSet;

use outcrop_report::{Constraints, Placement, Report};
use outcrop_results::{RunView, Value};
use outcrop_schema::kv::{self, THROUGHPUT};
use outcrop_schema::{FactorRef, Settings};

use crate::kv_fixture;
use crate::other_values::{names_of, with_other};
use crate::placement::least_ratio;

/// Another value of each factor of stores.
const OTHERS: [(FactorRef, &str); 20] = [
    (&kv::LEVEL_CODECS, "none/lz4"),
    (&kv::DICTIONARY, "16KiB"),
    (&kv::BLOCK_CACHE, "1MiB"),
    (&kv::BLOOM_BITS, "0"),
    (&kv::WRITE_BUFFER, "1MiB"),
    (&kv::COMPACTION, "universal"),
    (&kv::IO, "direct"),
    (&kv::DURABILITY, "synced"),
    (&kv::FILESYSTEM, "ext4"),
    (&kv::WORKLOAD, "ycsb-c"),
    (&kv::REQUESTS, "uniform"),
    (&kv::RECORDS, "5000"),
    (&kv::VALUE_SIZE, "fixed:10B"),
    (&kv::CONTENT, "zeros"),
    (&kv::THREADS, "4"),
    (&kv::PROCESSES, "2"),
    (&kv::ARRIVAL, "constant:1000"),
    (&kv::MEMORY_LIMIT, "1GiB"),
    (&kv::SETTLING, "none"),
    (&kv::PAGE_CACHE, "kept"),
];

/// The run with each cell under another value too, with so many times the throughput.
fn with_other_at(factor: FactorRef, value: &str, times: f64) -> RunView {
    let mut run = with_other(kv_fixture::codecs(), factor, value);
    let others = run
        .trials
        .iter_mut()
        .filter(|trial| trial.cell.ends_with("-other"));
    for trial in others {
        let throughput = trial.number(&THROUGHPUT).expect("a trial has it") * times;
        trial.values.retain(|value| value.metric != THROUGHPUT.name);
        trial.values.push(Value::measured(THROUGHPUT, throughput));
    }
    run
}

/// The ways in which text without blanks may name a value.
fn names(factor: FactorRef, value: &str) -> BTreeSet<String> {
    let of_records: &[&str] = match value {
        "100000" => &["100krecords", "100,000generatedrecords"],
        "5000" => &["5krecords", "5000records", "5,000generatedrecords"],
        _ => &[],
    };
    let names = names_of(factor, value).into_iter();
    let names = names.chain(of_records.iter().map(|name| (*name).to_owned()));
    names.map(|name| name.to_lowercase()).collect()
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect::<String>().to_lowercase()
}

#[test]
fn every_claim_about_stores_names_the_value_that_it_is_about_whichever_factor_cells_differ_in() {
    for (factor, value) in OTHERS {
        for times in [0.5, 2.0] {
            let run = with_other_at(factor, value, times);
            let trials = run.trials.iter();
            let values: BTreeSet<&str> = trials.map(|trial| trial.factors[factor.name].as_str()).collect();
            let names: BTreeSet<String> = values
                .into_iter()
                .flat_map(|value| names(factor, value))
                .collect();
            let report = Report::of(&run);
            let answer = &report.layers[0].answer;
            let rows = answer.capabilities.iter().flat_map(|row| &row.readings);
            let rows = rows.map(|reading| serde_json::to_string(reading).unwrap());
            let rows = rows.filter(|row| row.contains("conditions"));
            let claims = answer
                .advice
                .iter()
                .map(|claim| serde_json::to_string(claim).unwrap());
            let said: Vec<String> = rows.chain(claims).collect();
            assert!(said.len() > 5, "{said:?}");
            let placement = report.placement.as_ref().expect("both were measured");
            let screen = report.screen(80, false);
            let screen = screen
                .split("\n\n")
                .find(|part| part.contains("Measured: "))
                .unwrap_or(&screen);
            let of_placement = [placement.answer.join(" "), screen.to_owned()];
            for text in said.iter().chain(&of_placement) {
                let text = without_blanks(text);
                let is_named = names.iter().any(|name| text.contains(name));
                assert!(is_named, "{} at {times}: {names:?} in {text}", factor.name);
            }
        }
    }
}

fn answer_of(run: &RunView) -> String {
    Placement::of(run, &Constraints::default(), None)
        .expect("both were measured")
        .answer
        .join(" ")
}

#[test]
fn cells_of_the_store_that_are_not_compared_are_counted_with_the_factors_in_which_they_differ() {
    let mut run = with_other_at(&kv::DICTIONARY, "16KiB", 2.0);
    // Of four cells with a dictionary, the two without compression are no candidates.
    run.trials.retain(|trial| {
        let is_other = trial.cell.ends_with("-other");
        !is_other || trial.factors[kv::COMPRESSION.name] != "none"
    });
    let text = answer_of(&run);
    assert!(
        text.contains("Not compared: 2 other cells of rocksdb (dictionary 16 KiB)."),
        "{text}"
    );
    assert!(
        text.contains("everything compared that saves space was slower"),
        "{text}"
    );
    assert!(!answer_of(&kv_fixture::codecs()).contains("Not compared"));
}

#[test]
fn a_store_of_which_a_level_is_compressed_counts_as_compressed_and_is_named_with_its_codec() {
    let plain = |settings: &[(FactorRef, &str)]| {
        let mut factors = Settings::defaults(kv::SCHEMA.workload);
        for (factor, text) in [(&kv::COMPRESSION as FactorRef, "none")].iter().chain(settings) {
            factors.insert(factor.name, factor.read(text).unwrap());
        }
        kv::is_plain(&factors)
    };
    assert!(plain(&[]) && plain(&[(&kv::BOTTOMMOST, "none")]));
    assert!(!plain(&[(&kv::BOTTOMMOST, "zstd:9")]) && !plain(&[(&kv::LEVEL_CODECS, "none/lz4")]));
    // What is compared with no compression does not compress its last level instead.
    let mut run = kv_fixture::codecs();
    assert!(Placement::of(&run, &Constraints::default(), None).is_some());
    for trial in &mut run.trials {
        let bottommost = trial.factors.entry(kv::BOTTOMMOST.name.to_owned());
        bottommost.or_insert_with(|| "zstd:9".to_owned());
    }
    assert!(Placement::of(&run, &Constraints::default(), None).is_none());
    let advice = serde_json::to_string(&Report::of(&run).layers[0].answer.advice).unwrap();
    assert!(
        advice.contains("Nothing was measured without compression")
            && advice.contains("lz4 bottommost zstd:9 4KiB"),
        "{advice}"
    );
    // Nor does asking for no compression alone give the ratio that a limit is on.
    let limited = Report::under(&run, &[], &least_ratio(1.5), None);
    let advice = serde_json::to_string(&limited.layers[0].answer.advice).unwrap();
    assert!(
        advice.contains(
            "which is measured with `--compression none,…` and without `--bottommost` and `--level-codecs`"
        ),
        "{advice}"
    );
}

/// RocksDB and redb under one load, each with what a write has reached when it is acknowledged, and a throughput.
fn trees(stores: &[(&'static str, &'static str, f64)]) -> Option<(String, Option<String>)> {
    trees_beside(stores, 0.0)
}

/// The same while other programs used a share of the CPUs.
fn trees_beside(
    stores: &[(&'static str, &'static str, f64)],
    others: f64,
) -> Option<(String, Option<String>)> {
    let cells = stores.iter().map(|(engine, durability, throughput)| {
        let compression = if *engine == "redb" { "none" } else { "lz4" };
        let settings: kv_fixture::Unusual = vec![
            (&kv::ENGINE, *engine),
            (&kv::DURABILITY, *durability),
            (&kv::COMPRESSION, compression),
        ];
        (settings, *throughput)
    });
    let mut run = kv_fixture::of_settings(&cells.collect::<Vec<_>>());
    for trial in &mut run.trials {
        trial.others_cpu_share = Some(others);
    }
    let report = Report::of(&run);
    let mut advice = report.layers[0].answer.advice.iter();
    let claim = advice.find(|claim| claim.topic == "LSM tree or B-tree")?;
    Some((claim.text.clone(), claim.action.clone()))
}

#[test]
fn trees_are_compared_by_writes_that_reach_the_same_or_are_named_with_what_they_reach() {
    // A sync costs more than any tree gains.
    assert_eq!(
        trees(&[("rocksdb", "logged", 1e5), ("redb", "synced", 1e3)]),
        None
    );
    // Of two that may be compared, it is the one that does the same for a write, also where another one is faster.
    let all = [
        ("rocksdb", "logged", 2e5),
        ("rocksdb", "unlogged", 1e5),
        ("redb", "unlogged", 15e4),
    ];
    let (text, action) = trees(&all).unwrap();
    assert!(
        text.contains("the B-tree is faster under ycsb-a zipfian (rocksdb lz4 4KiB unlogged and redb none 4KiB unlogged)"),
        "{text}"
    );
    assert!(action.is_some_and(|action| action.starts_with("Use the B-tree")));
    // A B-tree without a log may be faster by what the log costs; it is slower all the same.
    let (text, action) = trees(&[("rocksdb", "logged", 1e5), ("redb", "unlogged", 15e4)]).unwrap();
    assert!(text.contains("4KiB logged and redb none 4KiB unlogged"), "{text}");
    assert_eq!(action, None);
    let (_, action) = trees(&[("rocksdb", "logged", 1e5), ("redb", "unlogged", 5e4)]).unwrap();
    assert!(action.is_some_and(|action| action.starts_with("Use an LSM tree")));
}

#[test]
fn no_tree_is_advised_by_few_trials_that_other_programs_disturbed() {
    let stores = [("rocksdb", "logged", 1e5), ("redb", "unlogged", 5e4)];
    let (text, action) = trees_beside(&stores, 0.75).unwrap();
    assert!(
        text.starts_with("Not decided: other programs used 75 % of the CPUs"),
        "{text}"
    );
    assert_eq!(action, None);
}
