//! How a table of the user's is read, said to the commands that run plans as it is to `outcrop column encode`.

use std::path::Path;

use crate::harness::{Seen, only_run, outcrop, workplace};

/// Text that would be taken for lines, each one value.
fn write_rows(dir: &Path) {
    let rows: String = (0..30_000)
        .map(|row| match row % 3 {
            0 => format!("NA|rock {}|{row}\n", row % 7),
            _ => format!("\"slate {}|rock {}|{row}\n", row % 5, row % 7),
        })
        .collect();
    std::fs::write(dir.join("rows.txt"), rows).unwrap();
}

const FORM: [&str; 6] = ["--delimiter", "|", "--no-header", "--no-quotes", "--null", "NA"];

fn profile(dir: &Path, args: &[&str]) -> Seen {
    let times = [
        "--repetitions",
        "1",
        "--duration",
        "10ms",
        "--warm-up",
        "0s",
        "--quick",
    ];
    outcrop(
        dir,
        &[&["profile", "--layer", "column"], &times[..], args].concat(),
    )
}

#[test]
fn a_profile_reads_a_table_as_it_is_told_and_keeps_that_in_its_plan() {
    let dir = workplace();
    let dir = dir.path();
    write_rows(dir);
    let seen = profile(dir, &[&["--data", "rows.txt"], &FORM[..]].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let encode = "`outcrop column encode FILE --delimiter '|' --no-header --no-quotes --null NA --all-columns -o DIRECTORY/`";
    assert!(seen.stderr.contains(encode), "{seen:?}");
    assert!(!seen.stderr.contains("assumes"), "{seen:?}");
    let run = only_run(dir);
    let plan = std::fs::read_to_string(run.join("plan.toml")).unwrap();
    for line in [
        "delimiter = \"|\"",
        "header = \"no\"",
        "quotes = \"no\"",
        "null_text = \"NA\"",
    ] {
        assert!(plan.contains(line), "{line}: {plan}");
    }
    let trials = std::fs::read_to_string(run.join("trials.ndjson")).unwrap();
    let is_whole =
        |trial: &&str| trial.contains("\"column\":\"column 0\"") && trial.contains("\"null_rows\"");
    let whole: Vec<&str> = trials.lines().filter(is_whole).collect();
    assert!(!whole.is_empty(), "{trials}");
    for trial in whole {
        let nulls = trial.split("\"null_rows\"").nth(1).unwrap();
        let nulls = nulls.split('}').next().unwrap();
        assert!(nulls.contains("\"value\":10000.0"), "{nulls}");
    }
    // What repeats the run reads the same columns.
    let again = outcrop(
        dir,
        &["run", &run.join("plan.toml").to_string_lossy(), "--dry-run"],
    );
    assert!(again.stdout.contains("column 1"), "{again:?}");
}

#[test]
fn how_a_table_is_read_is_refused_where_nothing_is_read_so() {
    let dir = workplace();
    let dir = dir.path();
    write_rows(dir);
    std::fs::write(dir.join("words"), "slate\nshale\n").unwrap();
    for step in [
        &["column", "encode", "words", "-o", "w.ocol"][..],
        &["column", "decode", "w.ocol", "-o", "w.parquet"],
    ] {
        assert_eq!(outcrop(dir, step).code, Some(0), "{step:?}");
    }
    let sentence = |args: &[&str]| {
        let seen = profile(dir, args);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        seen.sentence().to_owned()
    };
    let parquet = sentence(&["--data", "w.parquet", "--delimiter", "|"]);
    assert!(
        parquet.contains(
            "this is a Parquet file; delimiter, header, quotes and null text can be given for delimited text"
        ),
        "{parquet}"
    );
    let lines = sentence(&["--data", "rows.txt", "--null", "NA"]);
    assert!(
        lines.contains("this is read as lines of text, unless a delimiter or a header is given"),
        "{lines}"
    );
    let no_data = sentence(&["--no-header"]);
    assert!(
        no_data.starts_with("error: --no-header: this says how your own data are read"),
        "{no_data}"
    );
    let byte = sentence(&["--data", "rows.txt", "--delimiter", "||"]);
    assert!(byte.contains("expected one byte"), "{byte}");
    let codec = outcrop(
        dir,
        &[
            "run",
            "codec-choice",
            "--data",
            "rows.txt",
            "--delimiter",
            "|",
            "--dry-run",
        ],
    );
    assert!(
        codec
            .sentence()
            .contains("no plan of this run reads your data as tables"),
        "{codec:?}"
    );
}
