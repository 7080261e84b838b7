//! What `outcrop column find` answers, and how soon.

use crate::column::{column, piped, refused};
use crate::harness::{Seen, command, outcrop, workplace};

#[test]
fn a_value_that_is_asked_for_twice_is_counted_and_listed_once() {
    let dir = workplace();
    let dir = dir.path();
    piped(dir, &["encode", "-", "-o", "t.ocol"], b"a\nb\na\nc\na\n");
    let find = |args: &[&str]| column(dir, &[&["find", "t.ocol"], args].concat());
    assert_eq!(find(&["--count", "a", "a"]), "3\n");
    assert_eq!(
        find(&["--count", "a", "b", "a"]),
        "         3  a\n         1  b\n"
    );
    assert_eq!(find(&["--values", "a", "a"]), "         3  a\n");
    assert_eq!(find(&["a", "a"]), "0\n2\n4\n");
}

#[test]
fn values_that_are_not_utf_8_are_found_as_arguments_in_hexadecimal_and_from_stdin() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = workplace();
    let dir = dir.path();
    piped(
        dir,
        &["encode", "-", "-o", "t.ocol"],
        b"\xff\x01\nloam\n\xff\n\xff\x01\n",
    );
    let raw = |flag: &[&str], value: &[u8]| {
        let mut command = command(dir, &[&["column", "find", "t.ocol"], flag].concat());
        let output = command.arg(std::ffi::OsStr::from_bytes(value)).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(raw(&[], b"\xff\x01"), "0\n3\n");
    assert_eq!(raw(&["--prefix"], b"\xff"), "0\n2\n3\n");
    assert_eq!(raw(&["--range"], b"\xff..\xff\x01"), "2\n");
    let find = |args: &[&str]| column(dir, &[&["find", "t.ocol"], args].concat());
    assert_eq!(find(&["--hex", "FF01"]), "0\n3\n");
    assert_eq!(find(&["--hex", "--prefix", "ff"]), "0\n2\n3\n");
    assert_eq!(find(&["--hex", "--range", "6c..ff"]), "1\n");
    assert!(refused(dir, &["find", "t.ocol", "--hex", "f"]).contains("two hexadecimal digits per byte"));
    let from_stdin = piped(dir, &["find", "t.ocol", "-"], b"loam\n\xff\x01\nloam\n");
    assert_eq!(from_stdin, b"loam  1 row: 1\n\xff\x01  2 rows: 0 3\n");
    let from_stdin = piped(dir, &["find", "t.ocol", "-"], b"loam\n");
    assert_eq!(from_stdin, b"loam  1 row: 1\n", "a list of one value is a list");
    // So many values that postings are built first.
    let many: Vec<u8> = (0..20)
        .flat_map(|number| format!("{number}\n").into_bytes())
        .collect();
    let counted = piped(dir, &["find", "t.ocol", "--count", "-", "loam"], &many);
    let counted = String::from_utf8(counted).unwrap();
    let counts: Vec<&str> = counted.lines().collect();
    assert_eq!(counts.len(), 21, "{counted}");
    assert_eq!((counts[7], counts[20]), ("         0  7", "         1  loam"));
}

#[test]
fn each_of_several_values_is_counted_in_the_order_asked_with_zeros_and_the_total_beside_it() {
    let dir = workplace();
    let dir = dir.path();
    piped(
        dir,
        &["encode", "-", "-o", "t.ocol"],
        b"loam\nsilt\nloam\ntotal\n",
    );
    // A further segment with values of the first.
    piped(dir, &["append", "t.ocol", "-"], b"silt\nclay, wet\n");
    let wanted = b"silt\nquartz\nloam\nclay, wet\nsilt\n";
    let counted = |flags: &[&str]| {
        let args = [&["column", "find", "t.ocol", "-", "--count"], flags].concat();
        std::fs::write(dir.join("wanted.txt"), wanted).unwrap();
        let mut command = command(dir, &args);
        let command = command.stdin(std::fs::File::open(dir.join("wanted.txt")).unwrap());
        Seen::from(command.output().unwrap())
    };
    for flags in [&[][..], &["--memory", "in-memory"]] {
        let seen = counted(flags);
        assert_eq!(
            seen.stdout, "         2  silt\n         0  quartz\n         2  loam\n         1  clay, wet\n",
            "{seen:?}"
        );
        assert!(
            seen.sentence().starts_with("5 rows of 4 values counted in "),
            "{seen:?}"
        );
    }
    let seen = counted(&["--format", "csv"]);
    assert_eq!(
        seen.stdout,
        "value,rows\nsilt,2\nquartz,0\nloam,2\n\"clay, wet\",1\n"
    );
    let seen = counted(&["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(json["details"]["found_rows_count"], 5);
    assert_eq!(
        json["rows"][1],
        serde_json::json!({ "value": "quartz", "rows": 0 })
    );
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(4));
    // A list of one value is a list; one value or another condition is one number.
    let one = piped(dir, &["find", "t.ocol", "-", "--count"], b"quartz\n");
    assert_eq!(one, b"         0  quartz\n");
    let none = piped(dir, &["find", "t.ocol", "-", "--count"], b"");
    assert_eq!(none, b"");
    let find = |args: &[&str]| column(dir, &[&["find", "t.ocol", "--count"], args].concat());
    assert_eq!(find(&["quartz"]), "0\n");
    assert_eq!(find(&["--prefix", "", "--format", "csv"]), "rows\n6\n");
    let arrow = refused(dir, &["find", "t.ocol", "--count", "loam", "--format", "arrow"]);
    assert!(
        arrow.contains("--count needs --format text, json or csv"),
        "{arrow}"
    );
}

#[test]
fn a_search_says_how_long_it_took_apart_from_its_answer() {
    let dir = workplace();
    let dir = dir.path();
    piped(dir, &["encode", "-", "-o", "t.ocol"], b"loam\nsilt\n");
    for args in [&["loam"][..], &["loam", "--count"], &["loam", "--values"]] {
        let seen = outcrop(dir, &[&["column", "find", "t.ocol"], args].concat());
        assert!(
            seen.sentence().contains("s, after opening the file in "),
            "{seen:?}"
        );
        assert!(!seen.stdout.contains("opening"), "{seen:?}");
    }
}

#[test]
fn a_prefix_a_range_and_an_expression_answer_value_by_value_where_that_is_asked_for() {
    let dir = workplace();
    let dir = dir.path();
    let rows = b"granite\nbasalt\ngravel\ngranite\nslate\n";
    piped(dir, &["encode", "-", "-o", "t.ocol"], rows);
    // A further segment with a value of the first.
    piped(dir, &["append", "t.ocol", "-"], b"gravel\n");
    let find = |args: &[&str]| column(dir, &[&["find", "t.ocol", "--by-value"], args].concat());
    let both = "granite  2 rows: 0 3\ngravel  2 rows: 2 5\n";
    assert_eq!(find(&["--prefix", "gra"]), both);
    assert_eq!(find(&["--regex", "^gr"]), both);
    assert_eq!(find(&["--range", "c..h", "--memory", "on-disk"]), both);
    assert_eq!(
        find(&["--prefix", "gra", "--format", "csv"]),
        "value,row\ngranite,0\ngranite,3\ngravel,2\ngravel,5\n"
    );
    assert_eq!(find(&["slate"]), "slate  1 row: 4\n");
    assert_eq!(find(&["--prefix", "quartz"]), "");
    assert_eq!(
        find(&["--prefix", "gra", "--limit", "3"]),
        "granite  2 rows: 0 3\ngravel  2 rows: 2 …\n"
    );
    let arrow = refused(
        dir,
        &[
            "find",
            "t.ocol",
            "--by-value",
            "--prefix",
            "g",
            "--format",
            "arrow",
        ],
    );
    assert!(arrow.contains("only row numbers"), "{arrow}");
}

#[test]
fn a_moment_that_is_asked_for_in_another_form_is_answered_with_a_hint() {
    let dir = workplace();
    let dir = dir.path();
    piped(
        dir,
        &["encode", "-", "-o", "t.ocol"],
        b"2008-01-01T00:02:04\n2008-01-01T00:02:05\n",
    );
    let find = |args: &[&str]| outcrop(dir, &[&["column", "find", "t.ocol"], args].concat());
    for args in [
        &["2008-01-01 00:02:04", "--count"][..],
        &["2008-01-01 00:02:04"],
        &["--prefix", "2008-01-01 00"],
        &["--range", "2008-01-01 00:02:04..2008-01-01 00:02:05"],
    ] {
        let seen = find(args);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let hint = "note: the values are stored as 2008-01-01T00:02:04, and ";
        assert!(seen.stderr.contains(hint), "{args:?}: {seen:?}");
    }
    assert!(
        find(&["2008-01-01 00:02:04"])
            .stderr
            .contains("; find `2008-01-01T00:02:04`")
    );
    for args in [&["2008-01-01T00:02:04"][..], &["--prefix", "2008-01-01"]] {
        let seen = find(args);
        assert!(!seen.stderr.contains("note:"), "{args:?}: {seen:?}");
    }
}

#[test]
fn a_range_of_utc_moments_is_the_same_with_bounds_of_fewer_digits_than_the_values() {
    let dir = workplace();
    let dir = dir.path();
    let moments = ["00.000000", "00.250000", "00.500000", "01.000000", "01.500000"];
    let lines: String = moments
        .iter()
        .map(|second| format!("2026-01-01T10:00:{second}Z\n"))
        .collect();
    piped(dir, &["encode", "-", "-o", "t.ocol"], lines.as_bytes());
    let find = |args: &[&str]| outcrop(dir, &[&["column", "find", "t.ocol"], args].concat());
    for (range, rows) in [
        ("2026-01-01T10:00:00Z..2026-01-01T10:00:01Z", "0\n1\n2\n"),
        ("2026-01-01T10:00:00Z..", "0\n1\n2\n3\n4\n"),
        ("2026-01-01T10:00:00.500Z..", "2\n3\n4\n"),
        ("..2026-01-01T10:00:00.500Z", "0\n1\n"),
        ("2026-01-01T10:00Z..2026-01-01T10:00:00.25Z", "0\n"),
        ("2026-01-01T10:00:00..2026-01-01T10:00:01", "0\n1\n2\n"),
    ] {
        let seen = find(&["--range", range]);
        assert_eq!(seen.stdout, rows, "{range}: {seen:?}");
        let is_completed = range.contains('Z');
        assert_eq!(seen.stderr.contains("note: read "), is_completed, "{seen:?}");
        assert!(!seen.stderr.contains("compared as text"), "{seen:?}");
    }
    let range = ["--range", "2026-01-01T10:00:00Z..2026-01-01T10:00:00.5Z"];
    for (how, answer) in [
        ("--values", " 1  2026-01-01T10:00:00.000000Z\n"),
        ("--by-value", "2026-01-01T10:00:00.000000Z  1 row: 0\n"),
        ("--count", "2\n"),
    ] {
        let seen = find(&[&range[..], &[how]].concat());
        assert!(seen.stdout.contains(answer), "{how}: {seen:?}");
        assert!(seen.stderr.contains("note: read "), "{how}: {seen:?}");
    }
    let seen = find(&["2026-01-01T10:00:01Z"]);
    let hint = "is compared as text; find `2026-01-01T10:00:01.000000Z`";
    assert!(seen.stderr.contains(hint), "{seen:?}");
}

#[test]
fn a_range_of_moments_that_have_several_forms_is_searched_as_it_is_asked_for() {
    let dir = workplace();
    let dir = dir.path();
    let lines =
        "2026-01-01T10:00:00Z\n2026-01-01T10:00:00.000Z\n2026-01-01T10:00:00.5Z\n2026-01-01T10:00:01Z\n";
    piped(dir, &["encode", "-", "-o", "t.ocol"], lines.as_bytes());
    piped(
        dir,
        &["encode", "-", "-o", "p.ocol", "--index", "only"],
        lines.as_bytes(),
    );
    piped(dir, &["encode", "-", "-o", "a.ocol"], &lines.as_bytes()[..21]);
    piped(dir, &["append", "a.ocol", "-"], &lines.as_bytes()[21..]);
    let unclear =
        "and the values of 2026-01-01T10:00:00, which have several forms, are then not in the order of time";
    for file in ["t.ocol", "p.ocol", "a.ocol"] {
        for (range, rows, is_unclear) in [
            (
                "2026-01-01T10:00:00.000Z..2026-01-01T10:00:01Z",
                "0\n1\n2\n",
                true,
            ),
            ("2026-01-01T10:00:00.5Z..2026-01-01T10:00:01Z", "0\n2\n", true),
            ("2026-01-01T10:00:00..2026-01-01T10:00:01", "0\n1\n2\n", false),
            ("2026-01-01T10:00:01Z..2026-01-01T10:00:02.25Z", "3\n", false),
        ] {
            let seen = outcrop(dir, &["column", "find", file, "--range", range]);
            assert_eq!(seen.stdout, rows, "{file} {range}: {seen:?}");
            assert_eq!(
                seen.stderr.contains(unclear),
                is_unclear,
                "{file} {range}: {seen:?}"
            );
            assert!(
                is_unclear || !seen.stderr.contains("note:"),
                "{file} {range}: {seen:?}"
            );
            assert!(!seen.stderr.contains("note: read "), "{file} {range}: {seen:?}");
        }
        // Elsewhere the moments of a second have one form.
        let range = "2026-01-01T10:00:01.000Z..2026-01-01T11Z";
        let seen = outcrop(
            dir,
            &["column", "find", file, "--range", range, "--format", "json"],
        );
        let json: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap();
        assert_eq!(json["rows"][0]["row"], 3, "{file}: {seen:?}");
        let searched = &json["details"]["searched_range"];
        assert_eq!(searched, "2026-01-01T10:00:01Z..2026-01-01T11Z");
        assert!(
            seen.stderr
                .contains("note: read 2026-01-01T10:00:01.000Z as 2026-01-01T10:00:01Z"),
            "{seen:?}"
        );
        // The values of the hour would sort below its name.
        let seen = outcrop(
            dir,
            &["column", "find", file, "--range", "2026-01-01T10Z..", "--count"],
        );
        assert!(
            seen.stderr.contains("note: 2026-01-01T10Z is compared as text"),
            "{seen:?}"
        );
        let seen = outcrop(
            dir,
            &["column", "find", file, "--range", "2026-01-01T09Z..", "--count"],
        );
        assert_eq!(seen.stdout, "4\n");
    }
}

#[test]
fn a_value_in_another_form_is_answered_with_a_hint_in_every_form_of_the_answer() {
    let dir = workplace();
    let dir = dir.path();
    piped(dir, &["encode", "-", "-o", "t.ocol"], b"2008-01-01T00:02:04\n7\n");
    let find = |args: &[&str]| outcrop(dir, &[&["column", "find", "t.ocol"], args].concat());
    let hint = "note: the values are stored as 2008-01-01T00:02:04, and ";
    for asked in [&["2008-01-01 00:02:04"][..], &["--prefix", "2008-01-01 00"]] {
        for how in [
            &["--values"][..],
            &["--values", "--format", "json"],
            &["--by-value"],
            &["--by-value", "--format", "csv"],
        ] {
            let seen = find(&[asked, how].concat());
            assert!(seen.stderr.contains(hint), "{asked:?} {how:?}: {seen:?}");
        }
    }
    for how in ["--values", "--by-value"] {
        let seen = find(&["2008-01-01T00:02:04", how]);
        assert!(!seen.stderr.contains("note:"), "{seen:?}");
    }
}

#[test]
fn lines_that_end_in_a_carriage_return_are_said_to() {
    let dir = workplace();
    let dir = dir.path();
    piped(dir, &["encode", "-", "-o", "t.ocol"], b"loam\nsilt\n");
    std::fs::write(dir.join("wanted.txt"), b"loam\r\n").unwrap();
    let mut command = command(dir, &["column", "find", "t.ocol", "-"]);
    let command = command.stdin(std::fs::File::open(dir.join("wanted.txt")).unwrap());
    let seen: Seen = command.output().unwrap().into();
    assert!(seen.stderr.contains("end in a carriage return"), "{seen:?}");
}

#[test]
fn a_value_of_a_text_file_of_windows_is_not_just_missing() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("words.txt"), b"\xef\xbb\xbfloam\r\nsilt\r\n").unwrap();
    let encoded = outcrop(dir, &["column", "encode", "words.txt", "-o", "w.ocol"]);
    assert!(
        encoded
            .stderr
            .contains("2 lines end in a carriage return, which is a part of their values")
            && encoded.stderr.contains("a UTF-8 byte order mark"),
        "{encoded:?}"
    );
    let find = |value: &str| outcrop(dir, &["column", "find", "w.ocol", value]);
    let missed = find("silt");
    assert!(
        missed.stderr.contains("has `silt` with a carriage return"),
        "{missed:?}"
    );
    for value in ["silt\r", "chalk"] {
        let seen = find(value);
        assert!(!seen.stderr.contains("carriage return"), "{seen:?}");
    }
}

#[test]
fn lines_of_windows_are_said_wherever_they_are_and_values_beside_them_too() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("plain.txt"), b"Rom\n").unwrap();
    std::fs::write(dir.join("windows.txt"), b"Rom\nRom\r\nRom\r\nBern\r").unwrap();
    let said = "3 lines end in a carriage return";
    for args in [
        &["encode", "windows.txt", "-o", "b.ocol"][..],
        &["encode", "windows.txt", "-o", "p.ocol", "--index", "only"],
        &["encode", "plain.txt", "-o", "a.ocol"],
        &["append", "a.ocol", "windows.txt"],
    ] {
        let seen = outcrop(dir, &[&["column"], args].concat());
        assert_eq!(
            seen.stderr.contains(said),
            args[1] != "plain.txt",
            "{args:?}: {seen:?}"
        );
    }
    for file in ["a.ocol", "b.ocol", "p.ocol"] {
        for asked in [
            &["Rom"][..],
            &["Rom", "--count"],
            &["Turin", "Rom", "--values"],
            &["Bern"],
        ] {
            let seen = outcrop(dir, &[&["column", "find", file], asked].concat());
            let value = if asked[0] == "Bern" { "Bern" } else { "Rom" };
            let hint = format!(
                "note: the column has `{value}` with a carriage return at its end, which is another value"
            );
            assert!(seen.stderr.contains(&hint), "{file} {asked:?}: {seen:?}");
        }
        let seen = outcrop(dir, &["column", "find", file, "--prefix", "Rom"]);
        assert!(!seen.stderr.contains("carriage return"), "{seen:?}");
    }
}

#[test]
fn a_name_that_two_columns_have_means_neither_and_their_numbers_do() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("t.csv"), "a,a,b\n1,x,3\n4,y,6\n").unwrap();
    let encode = |column: &'static str| ["encode", "t.csv", "--header", "--column", column, "-o", "t.ocol"];
    assert!(refused(dir, &encode("a")).contains("such as 0 or 1 (from 0)"));
    column(dir, &encode("1"));
    assert_eq!(column(dir, &["find", "t.ocol", "y"]), "1\n");
}
