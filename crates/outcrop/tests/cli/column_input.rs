//! What `outcrop column encode` reads, and what it says about it.

use std::io::Write as _;
use std::process::Command;

use crate::column::{column, piped, refused, words_of};
use crate::harness::{outcrop, workplace};

#[test]
fn delimiter_and_header_are_found_and_what_was_assumed_is_said() {
    let dir = workplace();
    let dir = dir.path();
    let rows: String = (0..40)
        .map(|row| format!("{row}|rock {}|{}\n", row % 3, row % 2))
        .collect();
    std::fs::write(dir.join("plays.csv"), &rows).unwrap();
    let encode = |args: &[&str]| {
        let all = [
            &[
                "column",
                "encode",
                "plays.csv",
                "--force",
                "-o",
                "p.ocol",
                "--column",
                "1",
            ],
            args,
        ]
        .concat();
        let seen = outcrop(dir, &all);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen
    };
    let seen = encode(&[]);
    assert!(
        seen.stderr
            .contains("plays.csv: delimiter '|', no header, 3 columns (--delimiter, --header"),
        "{seen:?}"
    );
    assert!(
        words_of(&seen.stdout).contains("rows 40 distinct values 3"),
        "{seen:?}"
    );
    let table = words_of(&seen.stdout);
    assert!(
        table.contains(" input ") && table.contains(" values ÷ file ") && table.contains(" time "),
        "{seen:?}"
    );
    assert!(words_of(&encode(&["--header"]).stdout).contains("rows 39"));
    let said = encode(&["--delimiter", "|", "--no-header"]).stderr;
    assert!(!said.contains("delimiter"), "nothing was assumed: {said}");
    let appended = outcrop(dir, &["column", "append", "p.ocol", "plays.csv", "--column", "1"]);
    assert!(
        appended.stderr.contains("delimiter '|', no header"),
        "{appended:?}"
    );
    assert_eq!(column(dir, &["find", "p.ocol", "rock 0", "--count"]), "28\n");
}

#[test]
fn flags_of_csv_are_refused_where_an_input_has_no_fields_of_text() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("words"), "slate\nNA\nshale\n").unwrap();
    column(dir, &["encode", "words", "-o", "w.ocol"]);
    column(dir, &["decode", "w.ocol", "-o", "w.parquet"]);
    column(dir, &["decode", "w.ocol", "-o", "w.arrow"]);
    for flag in [
        &["--null", "NA"][..],
        &["--delimiter", ";"],
        &["--no-header"],
        &["--header"],
        &["--no-quotes"],
    ] {
        for (file, kind) in [("w.parquet", "a Parquet file"), ("w.arrow", "an Arrow file")] {
            let sentence = refused(dir, &[&["encode", file, "-o", "n.ocol"], flag].concat());
            let expected = format!("{} applies to CSV only, and this is {kind}", flag[0]);
            assert!(sentence.contains(&expected), "{sentence}");
        }
        let lines = ["append", "w.ocol", "words", "--input-format", "text"];
        let sentence = refused(dir, &[&lines, flag].concat());
        assert!(sentence.contains("read as lines of text"), "{sentence}");
        let sentence = refused(dir, &[&["append", "w.ocol", "w.ocol"], flag].concat());
        assert!(sentence.contains("does not apply to a column file"), "{sentence}");
    }
    let sentence = refused(dir, &["encode", "words", "--null", "NA", "-o", "n.ocol"]);
    assert!(sentence.contains("--input-format csv reads fields"), "{sentence}");
    let csv = [
        "encode",
        "words",
        "--null",
        "NA",
        "--input-format",
        "csv",
        "-o",
        "n.ocol",
    ];
    column(dir, &csv);
    assert_eq!(column(dir, &["find", "n.ocol", "--is-null", "--count"]), "1\n");
}

#[test]
fn several_columns_of_a_table_are_encoded_into_a_file_each() {
    let dir = workplace();
    let dir = dir.path();
    let csv = "id,rock,day\n1,slate,2026-11-22\n2,chalk,2026-11-22\n";
    std::fs::write(dir.join("t.csv"), csv).unwrap();
    let seen = column(
        dir,
        &[
            "encode", "t.csv", "--column", "rock,2", "-o", "of/", "--format", "csv",
        ],
    );
    assert!(
        seen.starts_with("column,rows_count,distinct_values_count,"),
        "{seen}"
    );
    assert!(
        seen.contains("\nrock,2,2,0,") && seen.contains("\nday,2,1,0,"),
        "{seen}"
    );
    assert_eq!(column(dir, &["decode", "of/rock.ocol"]), "slate\nchalk\n");
    assert_eq!(
        column(dir, &["find", "of/day.ocol", "2026-11-22", "--count"]),
        "2\n"
    );
    let from_stdin = ["encode", "-", "--all-columns", "-o", "s-{}.ocol"];
    piped(dir, &from_stdin, csv.as_bytes());
    assert_eq!(column(dir, &["decode", "s-id.ocol"]), "1\n2\n");
    assert_eq!(column(dir, &["decode", "s-rock.ocol"]), "slate\nchalk\n");
}

#[test]
fn compressed_input_is_read_as_what_is_inside_and_never_as_text() {
    let dir = workplace();
    let dir = dir.path();
    let rows: String = (0..500).map(|row| format!("{row}|rock {}\n", row % 3)).collect();
    std::fs::write(dir.join("plays.csv"), &rows).unwrap();
    let packed = Command::new("gzip")
        .current_dir(dir)
        .args(["-c", "plays.csv"])
        .output();
    let packed = packed.expect("gzip is on every system").stdout;
    std::fs::write(dir.join("plays.csv.gz"), &packed).unwrap();
    let args = [
        "column",
        "encode",
        "plays.csv.gz",
        "--column",
        "1",
        "-o",
        "a.ocol",
    ];
    let seen = outcrop(dir, &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stderr
            .contains("plays.csv.gz: gzip, decompressed on reading"),
        "{seen:?}"
    );
    assert!(
        seen.stderr.contains("delimiter '|', no header, 2 columns"),
        "{seen:?}"
    );
    assert!(
        words_of(&seen.stdout).contains("rows 500 distinct values 3"),
        "{seen:?}"
    );
    piped(dir, &["encode", "-", "--all-columns", "-o", "s-{}.ocol"], &packed);
    assert_eq!(
        column(dir, &["find", "s-column 1.ocol", "rock 2", "--count"]),
        "166\n"
    );
    std::fs::write(dir.join("cut.csv.gz"), &packed[..packed.len() / 2]).unwrap();
    let sentence = refused(dir, &["encode", "cut.csv.gz", "--column", "1", "-o", "cut.ocol"]);
    assert!(sentence.contains("cut.csv.gz is truncated"), "{sentence}");
    assert!(!dir.join("cut.ocol").exists());
}

#[test]
fn zstd_xz_bzip2_and_lz4_of_a_table_give_the_column_that_the_table_gives() {
    let dir = workplace();
    let dir = dir.path();
    let rows: String = (0..500).map(|row| format!("{row}|rock {}\n", row % 3)).collect();
    let rows = rows.as_bytes();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(rows).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    bzip2.write_all(rows).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(rows).unwrap();
    let packed = [
        ("zstd", zstd::encode_all(rows, 3).unwrap()),
        ("xz", xz.finish().unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
        ("LZ4", lz4.finish().unwrap()),
    ];
    for (format, bytes) in packed {
        // The name says nothing: the first bytes do.
        std::fs::write(dir.join("plays.csv"), &bytes).unwrap();
        let file = format!("{format}.ocol");
        let seen = outcrop(
            dir,
            &["column", "encode", "plays.csv", "--column", "1", "-o", &file],
        );
        assert_eq!(seen.code, Some(0), "{format}: {seen:?}");
        assert!(
            seen.stderr
                .contains(&format!("plays.csv: {format}, decompressed")),
            "{seen:?}"
        );
        assert_eq!(
            column(dir, &["find", &file, "rock 2", "--count"]),
            "166\n",
            "{format}"
        );
    }
}

/// What its user has of a compressed file is the file: text that is four times as large makes everything look small.
#[test]
fn all_columns_of_a_compressed_file_are_compared_with_that_file() {
    let dir = workplace();
    let dir = dir.path();
    let row = |row: usize| {
        format!(
            "{},{}\n",
            row * 7919 % 10_007,
            ["tuff", "marl", "gneiss"][row % 3]
        )
    };
    let rows: String = (0..20_000).map(row).collect();
    let packed = zstd::encode_all(format!("id,rock\n{rows}").as_bytes(), 3).unwrap();
    std::fs::write(dir.join("rocks.csv.zst"), &packed).unwrap();
    let encode = |more: &[&str]| {
        let args = ["column", "encode", "rocks.csv.zst", "-o", "out/", "--force"];
        outcrop(dir, &[&args, more].concat())
    };
    let seen = encode(&["--all-columns"]);
    let total = seen.stdout.lines().last().unwrap();
    assert!(
        total.starts_with("all 2 columns (id, rock): ")
            && total.contains(" in this file, compressed as a whole (")
            && total.contains(" as text), "),
        "{seen:?}"
    );
    assert!(
        seen.stdout.contains("id: ") && seen.stdout.contains(" (the compressed file takes "),
        "{seen:?}"
    );
    let document = encode(&["--all-columns", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document.stdout).unwrap();
    assert_eq!(
        document["details"]["total"]["compressed_file_bytes"].as_f64(),
        Some(packed.len() as f64),
        "{document}"
    );
    let args = [
        "run",
        "column-choice",
        "--data",
        "rocks.csv.zst",
        "--effort",
        "quick",
        "--quiet",
    ];
    let profile = outcrop(dir, &args);
    let flowing = profile.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("compressed as a whole"), "{}", profile.stdout);
}

#[test]
fn each_of_several_columns_says_to_programs_what_one_alone_says_and_its_size_by_default() {
    let dir = workplace();
    let dir = dir.path();
    // Sorted names are small in an encoding that no writer uses unasked.
    let rows: String = (1..=50_000)
        .map(|row| format!("customer {row},{}\n", row % 7))
        .collect();
    std::fs::write(dir.join("names.csv"), format!("name,visits\n{rows}")).unwrap();
    let encode = |more: &[&str]| column(dir, &[&["encode", "names.csv", "--force"], more].concat());
    let json = |more: &[&str]| {
        let document = encode(&[more, &["--format", "json"]].concat());
        serde_json::from_str::<serde_json::Value>(&document).unwrap()
    };
    let all = json(&["--all-columns", "-o", "of/"]);
    let rows = all["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{all}");
    for (row, name) in rows.iter().zip(["name", "visits"]) {
        let alone = json(&["--column", name, "-o", "one.ocol"]);
        let of_one = alone["rows"].as_array().unwrap();
        let verdict = of_one.iter().find(|row| row["what"] == "verdict").unwrap();
        assert_eq!(row["verdict"], verdict["value"], "{name}: {all}");
        assert!(
            row["parquet_default_bytes"].as_f64() >= row["parquet_zstd_bytes"].as_f64(),
            "{name}: {all}"
        );
    }
    let verdict = rows[0]["verdict"].as_str().unwrap();
    assert!(verdict.contains(" with DELTA_BYTE_ARRAY encoding "), "{verdict}");
    let by_default = rows[0]["parquet_default_bytes"].to_string();
    let csv = encode(&["--all-columns", "-o", "of/", "--format", "csv"]);
    let (head, lines) = csv.split_once('\n').unwrap();
    assert!(head.ends_with(",parquet_default_bytes,verdict"), "{csv}");
    let shown = by_default.trim_end_matches(".0");
    assert!(lines.contains(&format!(",{shown},\"{verdict}\"\n")), "{csv}");
}
