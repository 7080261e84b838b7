//! `outcrop figure` and `--beside`, on the kept run.

use std::path::{Path, PathBuf};

use crate::harness::{names_in, outcrop, workplace};

/// A copy of the kept run: a report is written into the folder that it is about.
fn kept_run(dir: &Path) -> PathBuf {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1");
    let copy = dir.join("kept");
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(kept).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn a_figure_is_written_in_each_form_under_its_name() {
    let dir = workplace();
    kept_run(dir.path());
    let listed = outcrop(dir.path(), &["figure", "kept"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.stdout.contains("iops-by-depth"), "{}", listed.stdout);
    for (form, opening) in [
        ("png", &b"\x89PNG"[..]),
        ("pdf", b"%PDF"),
        ("svg", b"<svg"),
        ("csv", b"series,"),
    ] {
        let flag = format!("--{form}");
        // Only a drawing has a width.
        let width: &[&str] = if form == "csv" { &[] } else { &["--width", "84mm"] };
        let seen = outcrop(
            dir.path(),
            &[&["figure", "kept", "iops-by-depth", &flag], width].concat(),
        );
        assert_eq!(seen.stdout, format!("iops-by-depth.{form}\n"), "{seen:?}");
        let bytes = std::fs::read(dir.path().join(format!("iops-by-depth.{form}"))).unwrap();
        assert!(bytes.starts_with(opening), "{form}");
    }
    let piped = outcrop(
        dir.path(),
        &["figure", "kept", "iops-by-depth", "--csv", "-o", "-"],
    );
    let written = std::fs::read_to_string(dir.path().join("iops-by-depth.csv")).unwrap();
    assert_eq!(piped.stdout, written);
    assert_eq!(
        names_in(&dir.path().join("kept")).len(),
        5,
        "the run folder is only read"
    );
}

#[test]
fn without_a_form_the_ending_of_the_file_decides() {
    let dir = workplace();
    kept_run(dir.path());
    for (name, opening) in [("a.PDF", &b"%PDF"[..]), ("b.svg", b"<svg"), ("c.csv", b"series,")] {
        let seen = outcrop(dir.path(), &["figure", "kept", "iops-by-depth", "-o", name]);
        assert_eq!(seen.stdout, format!("{name}\n"), "{seen:?}");
        let bytes = std::fs::read(dir.path().join(name)).unwrap();
        assert!(bytes.starts_with(opening), "{name}");
    }
}

#[test]
fn a_figure_that_stands_alone_says_under_which_conditions_it_was_measured() {
    let dir = workplace();
    kept_run(dir.path());
    let seen = outcrop(dir.path(), &["figure", "kept", "iops-by-mix", "--svg", "-o", "-"]);
    for part in ["on vda", "4 KiB random, QD 32", "n = 3", "2026-11-22"] {
        assert!(seen.stdout.contains(part), "{part}: {seen:?}");
    }
}

#[test]
fn what_a_figure_cannot_be_is_said_with_what_it_can_be() {
    let dir = workplace();
    kept_run(dir.path());
    let says = |args: &[&str], words: &str| {
        let seen = outcrop(dir.path(), &[&["figure", "kept"], args].concat());
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.stderr.contains(words), "{}", seen.stderr);
    };
    says(&["iops-by-depth"], "--png");
    says(&["iops-by-depth", "-o", "depth.jpg"], "ends with one of them");
    says(
        &["iops-by-depth", "--csv", "-o", "depth.png"],
        "ends with .png, but --csv",
    );
    says(&["-o", "depth.png"], "name the figure to write");
    says(&["--pdf"], "name the figure to write");
    says(&["iops", "--png"], "iops-by-depth");
    says(&["iops-by-depth", "--png", "--width", "84"], "84mm");
    says(&["iops-by-depth", "--png", "--width", "9mm"], "60 mm to 420 mm");
    says(&["iops-by-depth", "--png", "--beside", "nobody"], "toshiba");
}

#[test]
fn published_figures_are_in_a_chart_on_request_alone() {
    let dir = workplace();
    kept_run(dir.path());
    let rows = |beside: &[&str]| {
        let args = [&["figure", "kept", "iops-by-depth", "--csv", "-o", "-"], beside].concat();
        outcrop(dir.path(), &args).stdout.matches(",published,").count()
    };
    assert_eq!(rows(&[]), 0);
    assert!(rows(&["--beside", "toshiba-kxg60znv256g-fio"]) > 3);
}

#[test]
fn a_figure_that_has_nothing_of_a_reference_says_so_and_where_it_is() {
    let dir = workplace();
    kept_run(dir.path());
    let figure = |name: &str| {
        let beside = ["--beside", "toshiba-kxg60znv256g-fio"];
        let args = [&["figure", "kept", name, "--csv", "-o", "-"], &beside[..]].concat();
        outcrop(dir.path(), &args)
    };
    let without = figure("latency-by-depth");
    assert_eq!(without.code, Some(0), "{without:?}");
    assert!(
        without
            .stderr
            .contains("note: toshiba-kxg60znv256g-fio has nothing that latency-by-depth shows; it is in ")
            && without.stderr.contains("iops-by-depth"),
        "{without:?}"
    );
    // The reference has mixes of 4 KiB at the depth of this run.
    for name in ["iops-by-depth", "iops-by-mix"] {
        let with = figure(name);
        assert!(
            with.stdout.contains(",published,") && with.stderr.is_empty(),
            "{with:?}"
        );
    }
}

#[test]
fn a_published_curve_names_its_source() {
    let dir = workplace();
    kept_run(dir.path());
    let svg = |more: &[&str]| {
        let args = [&["figure", "kept", "iops-by-depth", "--svg", "-o", "-"], more].concat();
        outcrop(dir.path(), &args).stdout
    };
    assert!(!svg(&[]).contains("result_stats.csv"));
    assert!(svg(&["--beside", "toshiba-kxg60znv256g-fio"]).contains("result_stats.csv"));
}

#[test]
fn a_run_takes_published_figures_of_its_layers_and_refuses_other_names_before_it_measures() {
    let dir = workplace();
    let quick = [
        "run",
        "ssd-queue-depth",
        "--effort",
        "quick",
        "--repetitions",
        "1",
        "--quiet",
    ];
    let short = ["--size", "1MiB", "--duration", "250ms", "--warm-up", "0ms"];
    let start = |name: &str| outcrop(dir.path(), &[&quick[..], &short, &["--beside", name]].concat());
    let refused = start("nobody");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("toshiba-kxg60znv256g-fio"),
        "{}",
        refused.stderr
    );
    let stores = ["kv", "--beside", "toshiba-kxg60znv256g-fio"];
    let refused = outcrop(dir.path(), &stores);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let words = "its figures are of the layer device, and this run measures kv";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    assert!(!dir.path().join("runs").exists(), "nothing was measured");

    let seen = start("toshiba-kxg60znv256g-fio");
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let runs = names_in(&dir.path().join("runs"));
    let page = dir.path().join("runs").join(&runs[0]).join("report.html");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("\"kind\":\"published\""), "no published series");
}

#[test]
fn a_report_of_one_page_has_each_layer_and_is_written_beside_the_other() {
    let dir = workplace();
    let run = kept_run(dir.path());
    let seen = outcrop(dir.path(), &["report", "kept", "--one-page"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let brief = std::fs::read_to_string(run.join("one-page.html")).unwrap();
    let whole = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(brief.len() < whole.len() / 2 && whole.len() < 400_000);
    for layer in ["Device", "Compression", "Column", "Cache"] {
        assert!(brief.contains(&format!("<h2>{layer}</h2>")), "{layer}");
        assert!(whole.contains(&format!("{layer}: the answer</h2>")), "{layer}");
    }
}

#[test]
fn records_are_exported_to_a_file_of_each_form() {
    let dir = workplace();
    kept_run(dir.path());
    let export = |name: &str, more: &[&str]| {
        outcrop(
            dir.path(),
            &[&["results", "export", "kept", "-o", name], more].concat(),
        )
    };
    for (name, opening) in [
        ("r.csv", &b"run,trial,"[..]),
        ("r.json", b"{"),
        ("r.parquet", b"PAR1"),
        ("r.txt", b" trial"),
    ] {
        let seen = export(name, &[]);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let bytes = std::fs::read(dir.path().join(name)).unwrap();
        assert!(bytes.starts_with(opening), "{name}: {:?}", &bytes[..20]);
    }
    let refused = export("r.csv", &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.sentence().contains("--force replaces it"), "{refused:?}");
    let refused = export("r.xlsx", &[]);
    assert!(
        refused
            .sentence()
            .contains("expected .csv, .json, .parquet or .txt"),
        "{refused:?}"
    );
    let piped = outcrop(dir.path(), &["results", "export", "kept"]);
    assert_eq!(
        piped.stdout,
        std::fs::read_to_string(dir.path().join("r.csv")).unwrap()
    );
    let seen = outcrop(dir.path(), &["figure", "kept", "iops-by-depth", "--csv"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let again = outcrop(dir.path(), &["figure", "kept", "iops-by-depth", "--csv"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(
        again.sentence().contains("iops-by-depth.csv exists already"),
        "{again:?}"
    );
}
