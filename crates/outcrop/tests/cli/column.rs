//! `outcrop column` from text to file and back.

use crate::harness::{outcrop, workplace};

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
            ],
        );
        assert_eq!(seen.code, Some(0), "{seen:?}");
        assert!(seen.stdout.contains("rows,4"), "{seen:?}");
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
        assert!(
            outcrop(dir.path(), &["column", "get", file, "1"])
                .stdout
                .contains("basalt")
        );
        assert_eq!(outcrop(dir.path(), &["column", "verify", file]).code, Some(0));
        assert!(
            outcrop(dir.path(), &["column", "info", file])
                .stdout
                .contains("dictionary")
        );
    }
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
        run(&["compact", "a.ocol", "-o", "b.ocol"]);
        assert_eq!(
            run(&["find", file, "--is-null", "--format", "csv"]),
            "row\n1\n3\n"
        );
        assert_eq!(run(&["find", file, "chalk", "--format", "csv"]), "row\n0\n2\n");
    }
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
