//! `outcrop predict`: files of people, every form of output, and a sentence for each kind of bad input.

use std::path::Path;

use serde_json::Value;

use crate::harness::{Seen, only_run, outcrop, workplace};

const STORE: &str = "\
[[application]]
name = \"store\"
clients = 40
throughput = \"200k\"
block_size = \"16KiB\"
decompressed_blocks = 0.5
compressed_blocks_background = 0.05

[[application]]
name = \"slow to open\"
clients = 8
throughput = \"100k\"
includes_opening = true
block_size = \"16KiB\"
decompressed_blocks = 1
";

const RESULTS: &str =
    "application,component,throughput\nstore,DPZip,200k\nstore,QAT 8970,180k\nstore,Zstd (CPU),190k\n";

fn predict(args: &[&str]) -> Seen {
    let dir = workplace();
    std::fs::write(dir.path().join("store.toml"), STORE).unwrap();
    std::fs::write(dir.path().join("results.csv"), RESULTS).unwrap();
    let all = [&["predict"], args].concat();
    outcrop(dir.path(), &all)
}

#[test]
fn published_components_are_predicted_and_called_modelled() {
    let seen = predict(&["--application", "store.toml"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let rows = |name: &str| seen.stdout.lines().filter(|line| line.contains(name)).count();
    assert!(rows("modelled, unvalidated") >= 6, "{}", seen.stdout);
    assert!(
        seen.stdout.contains("Unvalidated: the model's error"),
        "{}",
        seen.stdout
    );
    assert!(
        seen.stdout.contains("missing: the time of opening"),
        "{}",
        seen.stdout
    );
    assert!(seen.stdout.contains("Little's law"), "{}", seen.stdout);
}

#[test]
fn measurements_give_the_error_and_intervals_that_hold_it() {
    let args = ["--application", "store.toml", "--measured", "results.csv"];
    let text = predict(&args);
    assert!(text.stdout.contains("3 measured pairs"), "{text:?}");
    let seen = predict(&[&args[..], &["--format", "json"]].concat());
    let answer: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(answer["details"]["model_error"]["pairs"], 3);
    let rows = answer["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["component"] == "QAT 8970").unwrap();
    // 40 ÷ (200 µs + half a block of 16 KiB, which lies on the line through 14 µs and 63 µs)
    let expected = 40.0 / (200e-6 + 0.5 * 23.8e-6);
    assert!(
        (row["predicted_throughput_1/s"].as_f64().unwrap() - expected).abs() < 1.0,
        "{row}"
    );
    let low = row["predicted_low_1/s"].as_f64().unwrap();
    assert!(low < expected && row["provenance"] == "modelled", "{row}");
    assert!(
        row["source"].as_str().unwrap().contains("arXiv 2509.23693"),
        "{row}"
    );
    let csv = predict(&[&args[..], &["--format", "csv"]].concat());
    assert_eq!(csv.stdout.lines().count(), rows.len() + 1, "{}", csv.stdout);
}

#[test]
fn the_published_components_print_as_a_file_that_reads_back() {
    let dir = workplace();
    std::fs::write(dir.path().join("store.toml"), STORE).unwrap();
    let printed = outcrop(dir.path(), &["predict", "--print-components"]);
    std::fs::write(dir.path().join("mine.csv"), &printed.stdout).unwrap();
    let own = outcrop(
        dir.path(),
        &[
            "predict",
            "--application",
            "store.toml",
            "--components",
            "mine.csv",
        ],
    );
    let shipped = outcrop(dir.path(), &["predict", "--application", "store.toml"]);
    assert_eq!(own.stdout, shipped.stdout);
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let cases: [(&[&str], &str); 5] = [
        (&["--application", "missing.toml"], "cannot read missing.toml"),
        (&["--application", "results.csv"], "expected"),
        (
            &["--application", "store.toml", "--components", "store.toml"],
            "[[component]]",
        ),
        (
            &["--application", "store.toml", "--measured", "store.toml"],
            "[[measured]]",
        ),
        (
            &[
                "--application",
                "store.toml",
                "--components",
                "asic-components,asic-components",
            ],
            "give each its own name",
        ),
    ];
    for (args, words) in cases {
        let seen = predict(args);
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        assert!(seen.sentence().contains(words), "{args:?}: {}", seen.stderr);
    }
}

/// A store on its own and with a codec, and that codec alone: what `--run` needs.
const STORES: &str = "name = \"stores\"\nquestion = \"?\"\nlayer = \"kv\"\n[workload]\nengine = \"rocksdb\"\nworkload = \"ycsb-c\"\n\
    records = 3000\nblock_cache = \"64KiB\"\n[factors]\ncompression = [\"none\", \"lz4\"]\n";
const CODECS: &str = "name = \"codecs\"\nquestion = \"?\"\nlayer = \"compression\"\n[subject]\ndata = \"generated\"\nsample_size = \"1MiB\"\n\
    [workload]\ncontent = \"compressible:2\"\ncodec = \"lz4\"\n[factors]\ncompression_block_size = [\"4KiB\", \"16KiB\"]\n";

#[test]
fn a_runs_stores_are_predicted_from_its_codecs_with_the_error() {
    let dir = workplace();
    std::fs::write(dir.path().join("stores.toml"), STORES).unwrap();
    std::fs::write(dir.path().join("codecs.toml"), CODECS).unwrap();
    let short = [
        "--repetitions",
        "1",
        "--warm-up",
        "10ms",
        "--duration",
        "100ms",
        "--quiet",
    ];
    let measured = outcrop(
        dir.path(),
        &[&["run", "stores.toml", "codecs.toml"], &short[..]].concat(),
    );
    assert_eq!(measured.code, Some(0), "{measured:?}");
    let run = only_run(dir.path());
    let seen = outcrop(
        dir.path(),
        &["predict", "--run", run.to_str().unwrap(), "--format", "json"],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let envelope: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(envelope["details"]["model_error"]["pairs"], 1, "{}", seen.stdout);
    let empty = outcrop(dir.path(), &["predict", "--run", "."]);
    assert_eq!(empty.code, Some(2), "{empty:?}");
    error_of_a_run_for_figures_of_a_file(dir.path(), run.to_str().unwrap());
}

/// The error that the model had in a run stands with predictions of anybody's figures.
fn error_of_a_run_for_figures_of_a_file(directory: &Path, run: &str) {
    std::fs::write(directory.join("store.toml"), STORE).unwrap();
    std::fs::write(directory.join("results.csv"), RESULTS).unwrap();
    let file = ["predict", "--application", "store.toml", "--format", "json"];
    let rows_of = |more: &[&str]| {
        let seen = outcrop(directory, &[&file[..], more].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let answer: Value = serde_json::from_str(&seen.stdout).unwrap();
        let rows = answer["rows"].as_array().unwrap().clone();
        let own: Vec<Value> = rows
            .into_iter()
            .filter(|row| row["application"] == "store" && row["component"] == "DPZip")
            .collect();
        (answer["details"]["model_error"]["pairs"].clone(), own)
    };
    let (_, alone) = rows_of(&[]);
    assert_eq!(alone[0]["provenance"], "modelled, unvalidated");
    let (pairs, with_run) = rows_of(&["--run", run]);
    assert_eq!(pairs, 1);
    assert_eq!(with_run[0]["provenance"], "modelled", "{}", with_run[0]);
    let figure = |row: &Value, name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    let predicted = "predicted_throughput_1/s";
    assert_eq!(figure(&with_run[0], predicted), figure(&alone[0], predicted));
    assert!(figure(&with_run[0], "predicted_low_1/s") < figure(&with_run[0], predicted));
    let (pairs, clients) = rows_of(&["--run", run, "--measured", "results.csv", "--clients", "40"]);
    assert_eq!((pairs, clients.len()), (Value::from(4), 1));
    for flag in [["--clients", "4"], ["--measured", "results.csv"]] {
        let seen = outcrop(directory, &[&["predict", "--run", run], &flag[..]].concat());
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(
            seen.sentence()
                .contains(&format!("{} needs --application", flag[0])),
            "{}",
            seen.stderr
        );
    }
}
