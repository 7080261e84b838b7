//! `outcrop column` from text to file and back.

use std::io::Write as _;
use std::process::Stdio;

use crate::harness::{command, outcrop, workplace};

#[test]
fn a_column_goes_from_text_to_file_and_answers() {
    let dir = workplace();
    std::fs::write(dir.path().join("rocks.txt"), "granite\nbasalt\ngranite\ngabbro\n").unwrap();
    let file = "rocks.ocol";
    for index in ["none", "postings"] {
        let seen = outcrop(
            dir.path(),
            &[
                "column",
                "encode",
                "rocks.txt",
                "-o",
                file,
                "--index",
                index,
                "--format",
                "csv",
                "--force",
            ],
        );
        assert_eq!(seen.code, Some(0), "{seen:?}");
        assert!(seen.stdout.contains("rows,4"), "{seen:?}");
        let seen = outcrop(
            dir.path(),
            &[
                "column",
                "encode",
                "rocks.txt",
                "-o",
                file,
                "--index",
                index,
                "--force",
            ],
        );
        assert!(words_of(&seen.stdout).contains("distinct values 3"), "{seen:?}");
        let found = |args: &[&str]| {
            outcrop(
                dir.path(),
                &[&["column", "find", file, "--format", "csv"], args].concat(),
            )
            .stdout
        };
        assert_eq!(found(&["granite"]), "row\n0\n2\n");
        assert_eq!(
            found(&["--prefix", "g", "--values"]),
            "value,rows\ngabbro,1\ngranite,2\n"
        );
        assert_eq!(found(&["--range", "b..gb", "--memory", "on-disk"]), "row\n1\n3\n");
        assert_eq!(
            outcrop(dir.path(), &["column", "decode", file]).stdout,
            "granite\nbasalt\ngranite\ngabbro\n"
        );
        assert_eq!(
            outcrop(dir.path(), &["column", "get", file, "1"]).stdout,
            "         1  basalt\n"
        );
        assert_eq!(outcrop(dir.path(), &["column", "verify", file]).code, Some(0));
        let seen = outcrop(dir.path(), &["column", "info", file]);
        assert!(words_of(&seen.stdout).contains("0 count rows 4"), "{seen:?}");
    }
}

/// The words of a table, whatever its columns' widths are.
pub(crate) fn words_of(table: &str) -> String {
    table.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn csv_columns_are_appended_and_segments_compacted() {
    let dir = workplace();
    std::fs::write(dir.path().join("a.csv"), "id|rock\n1|chalk\n2|\n").unwrap();
    let csv = ["--column", "rock", "--delimiter", "|", "--null", ""];
    let run = |args: &[&str]| {
        let seen = outcrop(dir.path(), &[&["column"], args].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen.stdout
    };
    run(&[&["encode", "a.csv", "-o", "a.ocol"][..], &csv].concat());
    run(&[&["append", "a.ocol", "a.csv"][..], &csv].concat());
    for file in ["a.ocol", "b.ocol"] {
        run(&["compact", "a.ocol", "-o", "b.ocol", "--force"]);
        assert_eq!(
            run(&["find", file, "--is-null", "--format", "csv"]),
            "row\n1\n3\n"
        );
        assert_eq!(run(&["find", file, "chalk", "--format", "csv"]), "row\n0\n2\n");
    }
}

#[test]
fn a_small_column_is_packed_asked_grown_and_packed_again() {
    let dir = workplace();
    let dir = dir.path();
    let rows: String = (0..3000)
        .map(|row| format!("rock {}\n", row * row % 97))
        .collect();
    std::fs::write(dir.join("in.txt"), &rows).unwrap();
    let smallest = ["--profile", "smallest"];
    let said = column(
        dir,
        &[&["encode", "in.txt", "-o", "a.ocol"], &smallest[..]].concat(),
    );
    assert!(said.contains("packed form"), "{said}");
    let of_info = |name| column(dir, &["info", name, "--format", "csv"]);
    let info = of_info("a.ocol");
    assert!(
        info.contains("file,form,packed,") && info.contains("unpacked, in memory"),
        "{info}"
    );
    for memory in ["in-memory", "on-disk"] {
        let found = column(dir, &["find", "a.ocol", "rock 4", "--memory", memory, "--count"]);
        assert_eq!(found, "61\n");
    }
    assert_eq!(column(dir, &["decode", "a.ocol"]), rows);
    column(dir, &["verify", "a.ocol"]);
    // For programs, that there is no damage is an answer too.
    let sound = column(dir, &["verify", "a.ocol", "--format", "json"]);
    let sound: serde_json::Value = serde_json::from_str(&sound).unwrap();
    assert_eq!(sound["rows"], serde_json::json!([]));
    assert_eq!(column(dir, &["verify", "a.ocol", "--format", "csv"]), "damage\n");
    // As an input it is the column that it is, not text.
    column(dir, &["append", "a.ocol", "a.ocol"]);
    assert!(!of_info("a.ocol").contains("packed"));
    assert_eq!(column(dir, &["find", "a.ocol", "rock 4", "--count"]), "122\n");
    column(
        dir,
        &[&["compact", "a.ocol", "--in-place"], &smallest[..]].concat(),
    );
    assert!(of_info("a.ocol").contains("file,form,packed,"));
    assert_eq!(column(dir, &["decode", "a.ocol"]), rows.repeat(2));
}

#[test]
fn what_is_wrong_with_a_column_file_is_said() {
    let dir = workplace();
    std::fs::write(dir.path().join("not.ocol"), "just some text, no column").unwrap();
    let seen = outcrop(dir.path(), &["column", "get", "not.ocol", "0"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.stderr.contains("not an .ocol file"), "{seen:?}");
    let seen = outcrop(dir.path(), &["column", "find", "missing.ocol", "x"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.stderr.contains("missing.ocol"), "{seen:?}");
}

/// Runs `outcrop column ARGS` to success; gives stdout.
pub(crate) fn column(dir: &std::path::Path, args: &[&str]) -> String {
    let seen = outcrop(dir, &[&["column"], args].concat());
    assert_eq!(seen.code, Some(0), "{args:?}: {seen:?}");
    seen.stdout
}

/// The sentence of `outcrop column ARGS`, which is bad input.
pub(crate) fn refused(dir: &std::path::Path, args: &[&str]) -> String {
    let seen = outcrop(dir, &[&["column"], args].concat());
    assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
    seen.sentence().to_owned()
}

/// What `outcrop column ARGS` gives for `input` on stdin, as bytes.
pub(crate) fn piped(dir: &std::path::Path, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = command(dir, &[&["column"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output.stdout
}

#[test]
fn a_column_goes_through_every_format_and_back() {
    let dir = workplace();
    let dir = dir.path();
    let csv = "rock\n\"slate, grey\"\n\"\"\n\"\"\nchalk\n\"slate, grey\"\n";
    std::fs::write(dir.join("in.csv"), csv).unwrap();
    column(dir, &["encode", "in.csv", "-o", "first.ocol", "--null", ""]);
    // In CSV an empty value and a null are one: both are null here.
    assert_eq!(
        column(dir, &["find", "first.ocol", "--is-null", "--count"]),
        "2\n"
    );
    let first = column(dir, &["decode", "first.ocol", "--to", "csv", "--name", "rock"]);
    assert_eq!(
        first,
        "rock\n\"slate, grey\"\n\"\"\n\"\"\nchalk\n\"slate, grey\"\n"
    );
    let mut from = "first.ocol".to_owned();
    for name in ["a.parquet", "b.arrow", "c.feather"] {
        let back = format!("{name}.ocol");
        column(dir, &["decode", &from, "-o", name, "--name", "rock"]);
        column(dir, &["encode", name, "--column", "rock", "-o", &back]);
        assert_eq!(
            column(dir, &["decode", &back, "--to", "csv", "--name", "rock"]),
            first
        );
        from = back;
    }
    for (format, name) in [("arrow", "stream"), ("parquet", "pipe")] {
        let bytes = piped(dir, &["decode", &from, "--to", format], b"");
        let args = ["encode", "-", "--input-format", format, "-o", name];
        piped(dir, &args, &bytes);
        assert_eq!(
            column(dir, &["decode", name, "--to", "csv", "--name", "rock"]),
            first
        );
    }
    piped(dir, &["encode", "-", "-o", "text.ocol"], b"loam\nsilt");
    assert_eq!(column(dir, &["decode", "text.ocol"]), "loam\nsilt\n");
}

#[test]
fn answers_have_four_forms_and_searches_six() {
    let dir = workplace();
    let dir = dir.path();
    piped(
        dir,
        &["encode", "-", "-o", "r.ocol", "--index", "postings"],
        b"slate\nshale\n\xff\nslate\n",
    );
    for memory in ["in-memory", "on-disk"] {
        let find = |args: &[&str]| column(dir, &[&["find", "r.ocol", "--memory", memory], args].concat());
        assert_eq!(find(&["--regex", "^s.*a.e$"]), "0\n1\n3\n");
        assert_eq!(
            find(&["--regex", "^s", "--values", "--format", "csv"]),
            "value,rows\nshale,1\nslate,2\n"
        );
        assert_eq!(
            find(&["slate", "shale", "loam", "--limit", "2"]),
            "slate  2 rows: 0 3\nshale  1 row …\nloam  0 rows\n"
        );
        assert_eq!(
            find(&["shale", "slate", "--format", "csv"]),
            "value,row\nshale,1\nslate,0\nslate,3\n"
        );
        assert_eq!(find(&["--range", "..sl", "--count"]), "1\n");
        assert_eq!(find(&["--prefix", "sl", "--values"]), "         2  slate\n");
        assert_eq!(find(&["granite"]), "");
    }
    let json = column(
        dir,
        &["find", "r.ocol", "--range", "..", "--values", "--format", "json"],
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "outcrop/1");
    assert!(json["details"]["search_ns"].is_u64() && json["details"]["open_ns"].is_u64());
    assert_eq!(json["details"]["found_values_count"], 3);
    for (asked, name, found) in [
        (&["--prefix", "s"][..], "found_rows_count", 3),
        (&["slate", "shale"], "found_rows_count", 3),
        (&["--range", "..", "--values"], "found_values_count", 3),
    ] {
        let cut = [&["find", "r.ocol", "--format", "json", "--limit", "1"], asked].concat();
        let cut: serde_json::Value = serde_json::from_str(&column(dir, &cut)).unwrap();
        assert_eq!(cut["rows"].as_array().map(Vec::len), Some(1), "{asked:?}");
        assert_eq!(cut["details"][name], found, "{asked:?}");
    }
    let json = &json["rows"];
    assert_eq!(json[1], serde_json::json!({ "value": "slate", "rows": 2 }));
    assert_eq!(json[2]["value"], serde_json::json!({ "hex": "ff" }));
    let arrow = piped(dir, &["find", "r.ocol", "slate", "--format", "arrow"], b"");
    assert_eq!(arrow[..4], [0xff; 4]);
    assert_eq!(
        column(dir, &["get", "r.ocol", "3", "1", "--format", "csv"]),
        "row,value\n3,slate\n1,shale\n"
    );
}

#[test]
fn what_is_wrong_with_an_input_is_said_with_what_to_do() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("t.csv"), "id|rock\n1|chalk\n").unwrap();
    let encode = |args: &[&str]| refused(dir, &[&["encode", "t.csv", "-o", "t.ocol"], args].concat());
    let sentence = encode(&["--column", "rok", "--delimiter", "|"]);
    assert!(sentence.contains("\"rok\"; it has id, rock"), "{sentence}");
    let sentence = encode(&["--column", "rock", "--delimiter", ","]);
    assert!(sentence.contains("is ',' the right delimiter?"), "{sentence}");
    let sentence = encode(&["--column", "id,rock"]);
    assert!(sentence.contains("2 columns need one file each"), "{sentence}");
    let sentence = encode(&[]);
    assert!(sentence.contains("name one of id, rock"), "{sentence}");
    let sentence = encode(&["--delimiter", "ab"]);
    assert!(sentence.contains("expected one byte"), "{sentence}");
    let sentence = encode(&["--input-format", "parquet"]);
    assert!(sentence.contains("Parquet"), "{sentence}");
    let sentence = encode(&["--input-format", "arrow"]);
    assert!(sentence.contains("Arrow"), "{sentence}");
    assert!(!dir.join("t.ocol").exists());
    piped(dir, &["encode", "-", "-o", "t.ocol"], b"chalk\n");
    let find = |args: &[&str]| refused(dir, &[&["find", "t.ocol"], args].concat());
    assert!(find(&[]).contains("nothing to find"), "{}", find(&[]));
    assert!(find(&["--range", "a-b"]).contains("expected A..B"));
    assert!(
        find(&["--regex", "(("]).contains("unclosed group"),
        "{}",
        find(&["--regex", "(("])
    );
    let huge = find(&["--regex", "(\\pL{1000}){1000}"]);
    assert!(huge.contains("size limit"), "{huge}");
    let sentence = refused(dir, &["get", "t.ocol", "1"]);
    assert!(
        sentence.contains("row 1 does not exist: the column has 1 row, numbered from 0"),
        "{sentence}"
    );
}

#[test]
fn column_files_are_appended_as_they_are_by_many_at_once() {
    let dir = workplace();
    let dir = dir.path();
    piped(dir, &["encode", "-", "-o", "all.ocol"], b"tuff\n");
    piped(dir, &["encode", "-", "-o", "part.ocol"], b"tuff\nmarl\n");
    let children: Vec<_> = (0..4)
        .map(|_| {
            command(dir, &["column", "append", "all.ocol", "part.ocol"])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let values = ["find", "all.ocol", "--range", "..", "--values", "--format", "csv"];
    assert_eq!(column(dir, &values), "value,rows\nmarl,4\ntuff,5\n");
    column(dir, &["compact", "all.ocol", "--in-place"]);
    assert_eq!(column(dir, &values), "value,rows\nmarl,4\ntuff,5\n");
}

#[test]
fn a_generated_column_is_the_same_for_the_same_seed_and_encodes() {
    let dir = workplace();
    let dir = dir.path();
    let generate = |seed: &str, more: &[&str]| {
        let args = [
            "workload",
            "column",
            "--rows",
            "3000",
            "--distinct",
            "50",
            "--seed",
            seed,
        ];
        let seen = outcrop(dir, &[&args, more].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        assert!(seen.stderr.contains("seed 0x"), "{}", seen.stderr);
        seen.stdout
    };
    let text = generate("7", &["--skew", "1.0"]);
    assert_eq!(text.lines().count(), 3000);
    assert_eq!(text, generate("7", &["--skew", "1.0"]));
    assert_ne!(text, generate("8", &["--skew", "1.0"]));
    generate("7", &["--order", "clustered", "-o", "c.txt"]);
    column(dir, &["encode", "c.txt", "-o", "c.ocol"]);
    assert_eq!(
        column(dir, &["decode", "c.ocol"]),
        std::fs::read_to_string(dir.join("c.txt")).unwrap()
    );
    let seen = outcrop(
        dir,
        &[
            "workload",
            "column",
            "--rows",
            "3",
            "--distinct",
            "5",
            "--skew",
            "-1",
        ],
    );
    assert_eq!(seen.code, Some(2), "{seen:?}");
}
