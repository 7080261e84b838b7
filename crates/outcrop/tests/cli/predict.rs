//! `outcrop predict`: files of people, every form of output, and a sentence for each kind of bad input.

use std::path::Path;

use serde_json::Value;

use crate::harness::{Seen, only_run, outcrop, workplace};
use crate::printed_commands::in_shell;

const STORE: &str = "\
[[application]]
name = \"store\"
clients = 40
throughput = \"200k\"
block_size = \"16KiB\"
decompressed_blocks = 0.5
compressed_blocks_background = 0.05
background_threads = 8

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
    // Hardware has the error that the model has on published hardware; codecs have none.
    let row = |name: &str| seen.stdout.lines().find(|line| line.contains(name)).unwrap();
    assert!(row("QAT 4XXX").contains("k/s ("), "{}", seen.stdout);
    assert!(row("Zstd (CPU)").contains("k/s, no interval"), "{}", seen.stdout);
    assert!(seen.stdout.contains("No interval for "), "{}", seen.stdout);
    assert!(
        seen.stdout.contains("store: ") && seen.stdout.contains(" gives the highest predicted throughput, "),
        "{}",
        seen.stdout
    );
    assert!(seen.stdout.contains("on published hardware: "), "{}", seen.stdout);
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
    // 40 ÷ (200 µs + half a block of 16 KiB, which lies on the line through 14 µs and 63 µs, and half a wake-up of 43 µs)
    let expected = 40.0 / (200e-6 + 0.5 * (23.8e-6 + 43e-6));
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

/// A store on its own and with two codecs, and those alone, one of them the library that the store is linked to: what `--run` needs.
const STORES: &str = "name = \"stores\"\nquestion = \"?\"\nlayer = \"kv\"\n[workload]\nengine = \"rocksdb\"\nworkload = \"ycsb-c\"\n\
    records = 3000\nblock_cache = \"64KiB\"\n[factors]\ncompression = [\"none\", \"lz4\", \"zstd:1\"]\n";
const CODECS: &str = "name = \"codecs\"\nquestion = \"?\"\nlayer = \"compression\"\n[subject]\ndata = \"generated\"\nsample_size = \"1MiB\"\n\
    [workload]\ncontent = \"compressible:2\"\n[factors]\ncodec = [\"lz4@system\", \"zstd:1\"]\ncompression_block_size = [\"4KiB\", \"16KiB\"]\n";

/// Measures both in a directory, and gives the run's path.
fn measured_run(directory: &Path) -> String {
    std::fs::write(directory.join("stores.toml"), STORES).unwrap();
    std::fs::write(directory.join("codecs.toml"), CODECS).unwrap();
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
        directory,
        &[&["run", "stores.toml", "codecs.toml"], &short[..]].concat(),
    );
    assert_eq!(measured.code, Some(0), "{measured:?}");
    only_run(directory).to_str().unwrap().to_owned()
}

#[test]
fn a_runs_stores_are_predicted_from_its_codecs_with_the_error() {
    let dir = workplace();
    let run = measured_run(dir.path());
    let seen = outcrop(dir.path(), &["predict", "--run", &run, "--format", "json"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let envelope: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(envelope["details"]["model_error"]["pairs"], 2, "{}", seen.stdout);
    the_libraries_of_both_sides_are_named(dir.path(), &run, &envelope);
    let empty = outcrop(dir.path(), &["predict", "--run", "."]);
    assert_eq!(empty.code, Some(2), "{empty:?}");
    error_of_a_run_for_figures_of_a_file(dir.path(), &run);
}

/// lz4 is one library on both sides, which the store's process had mapped; zstd is two.
fn the_libraries_of_both_sides_are_named(directory: &Path, run: &str, envelope: &Value) {
    let libraries = envelope["details"]["libraries"].as_array().unwrap();
    let sentences: Vec<&str> = libraries.iter().filter_map(Value::as_str).collect();
    assert_eq!(sentences.len(), 2, "{sentences:?}");
    assert!(
        sentences[0].starts_with("Store and codec used the same library file: lz4 (liblz4 1."),
        "{sentences:?}"
    );
    let of_zstd = sentences[1];
    assert!(
        of_zstd.starts_with("zstd:1 was measured with libzstd 1.")
            && of_zstd.contains(" of this program, but rocksdb "),
        "{of_zstd}"
    );
    assert!(of_zstd.contains("/libzstd.so.1."), "{of_zstd}");
    let text = outcrop(directory, &["predict", "--run", run]).stdout;
    assert!(sentences.iter().all(|sentence| text.contains(sentence)), "{text}");
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
    assert_eq!(pairs, 2);
    assert_eq!(with_run[0]["provenance"], "modelled", "{}", with_run[0]);
    let figure = |row: &Value, name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    let predicted = "predicted_throughput_1/s";
    assert_eq!(figure(&with_run[0], predicted), figure(&alone[0], predicted));
    assert!(figure(&with_run[0], "predicted_low_1/s") < figure(&with_run[0], predicted));
    let (pairs, clients) = rows_of(&["--run", run, "--measured", "results.csv", "--clients", "40"]);
    assert_eq!((pairs, clients.len()), (Value::from(5), 1));
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

/// What stands in the help under the name of a file.
fn file_of_the_help(help: &str, name: &str) -> String {
    let heading = format!("\n{name}:\n");
    let (_, rest) = help
        .split_once(&heading)
        .unwrap_or_else(|| panic!("{name}: {help}"));
    let lines = rest.lines().take_while(|line| !line.is_empty());
    lines.map(|line| line.trim_start().to_owned() + "\n").collect()
}

#[test]
fn the_examples_of_the_help_run_as_they_are_printed() {
    let dir = workplace();
    let dir = dir.path();
    let help = outcrop(dir, &["predict", "--help"]).stdout;
    for name in ["store.toml", "mine.toml", "results.csv"] {
        std::fs::write(dir.join(name), file_of_the_help(&help, name)).unwrap();
    }
    // The same figures under the same names as columns, as the help says.
    let store = "name,clients,throughput,block_size,decompressed_blocks,compressed_blocks_background,unloaded_latency_us,cpu_us,cores\n\
                 \"store, read-mostly\",40,212k,16KiB,0.62,0.05,180,60,16\n";
    std::fs::write(dir.join("store.csv"), store).unwrap();
    let printed = outcrop(dir, &["predict", "--print-components"]);
    std::fs::write(dir.join("more.csv"), printed.stdout).unwrap();
    let run = measured_run(dir);
    let examples = help.split("Examples:").nth(1).expect("the help has examples");
    let examples = examples.lines().map(str::trim);
    let examples = examples.filter(|line| line.starts_with("outcrop predict"));
    let mut count = 0;
    for line in examples {
        // What it does stands behind it.
        let command = line.split("   ").next().unwrap().replace("runs/…", &run);
        let seen = in_shell(dir, &command);
        assert_eq!(seen.code, Some(0), "{command}: {seen:?}");
        let is_predicted = seen.stdout.contains("modelled") || std::fs::exists(dir.join("mine.csv")).unwrap();
        assert!(
            is_predicted && !seen.stdout.contains("not predictable"),
            "{command}: {seen:?}"
        );
        count += 1;
    }
    assert_eq!(count, 7, "{help}");
}

/// What is said of an application whose figures are these.
fn said_of(figures: &str) -> String {
    let dir = workplace();
    let common = "[[application]]\nname = \"published\"\nblock_size = \"16KiB\"\ndecompressed_blocks = 1\n";
    std::fs::write(dir.path().join("published.toml"), common.to_owned() + figures).unwrap();
    let seen = outcrop(dir.path(), &["predict", "--application", "published.toml"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    seen.stdout
}

#[test]
fn a_throughput_that_includes_opening_is_not_predictable_without_its_time_and_the_operations() {
    let published = "clients = 8\nthroughput = \"100k\"\nincludes_opening = true\n";
    let said = said_of(published);
    assert!(
        said.contains("published: not predictable; missing: the time of opening and the operations of the run (opening_time, operations)"),
        "{said}"
    );
    let said = said_of(&format!(
        "{published}opening_time = \"5s\"\noperations = 1000000\n"
    ));
    assert!(!said.contains("not predictable"), "{said}");
    // A million operations took 10 s with opening, and 5 s without.
    assert!(said.contains("200 k/s"), "{said}");
}

#[test]
fn power_in_coarse_steps_gives_no_energy_and_says_how_much_power_would() {
    let published = "clients = 8\nthroughput = \"100k\"\npower_idle = \"755W\"\npower_step = \"12W\"\n";
    let said = said_of(&format!("{published}power_loaded = \"790W\"\n"));
    assert!(
        said.contains(
            "energy is not predictable; missing: power 60 W above idle or more, which is five steps of the meter (12 W); it was 35 W"
        ),
        "{said}"
    );
    // The throughput is.
    assert!(
        said.contains("modelled") && !said.contains("published with none: not predictable"),
        "{said}"
    );
    let said = said_of(&format!("{published}power_loaded = \"855W\"\n"));
    assert!(!said.contains("five steps"), "{said}");
}

#[test]
fn a_latency_without_the_number_of_clients_is_not_predictable() {
    let said = said_of("latency = \"60us\"\n");
    assert!(
        said.contains("published: not predictable; missing: the number of clients (clients)"),
        "{said}"
    );
    // Once, and without advice on what is not missing.
    assert_eq!(said.matches("not predictable; missing").count(), 1, "{said}");
    assert!(!said.contains("--measured"), "{said}");
    let said = said_of("latency = \"60us\"\nclients = 1\n");
    assert!(!said.contains("not predictable"), "{said}");
}

/// The fenced blocks of a section of the page, in their order.
fn blocks_of_page(section: &str) -> Vec<String> {
    let page = include_str!("../../../../docs/predict.md");
    let (_, rest) = page
        .split_once(&format!("\n## {section}\n"))
        .expect("the section");
    let own = rest.split("\n## ").next().unwrap();
    let fenced = own.split("```").skip(1).step_by(2);
    let text = fenced.filter_map(|block| Some(block.split_once('\n')?.1.to_owned()));
    text.collect()
}

#[test]
fn figures_of_a_paper_are_predicted_as_the_page_shows() {
    let blocks = blocks_of_page("From a paper");
    let [application, components, shown] = &blocks[..] else {
        panic!("{blocks:?}");
    };
    let dir = workplace();
    std::fs::write(dir.path().join("paper.toml"), application).unwrap();
    std::fs::write(dir.path().join("mine.toml"), components).unwrap();
    let args = [
        "predict",
        "--application",
        "paper.toml",
        "--components",
        "mine.toml",
    ];
    let seen = outcrop(dir.path(), &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    for line in shown.lines() {
        assert!(seen.stdout.contains(line.trim()), "{line}\n{}", seen.stdout);
    }
}

#[test]
fn a_measurement_that_may_be_of_several_loads_is_refused_with_what_it_lacks() {
    let args = [
        "--application",
        "store.toml",
        "--measured",
        "results.csv",
        "--clients",
        "20,40",
    ];
    let seen = predict(&args);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(
        seen.sentence().contains("add its number of clients"),
        "{}",
        seen.stderr
    );
}
