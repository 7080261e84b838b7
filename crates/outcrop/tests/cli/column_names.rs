//! What a column is called: kept through files of every format, shown, and never trusted.

use crate::column::{column, words_of};
use crate::harness::{outcrop, workplace};

#[test]
fn a_column_keeps_its_name_through_files_of_every_format() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.csv"), "id,rock type\n1,chalk\n2,slate\n3,chalk\n").unwrap();
    for profile in ["balanced", "smallest"] {
        let mut from = "in.csv".to_owned();
        for name in ["a.parquet", "b.arrow", "c.csv"] {
            let file = format!("{name}.ocol");
            let encode = [
                "encode",
                &from,
                "--column",
                "rock type",
                "-o",
                &file,
                "--profile",
                profile,
            ];
            column(dir, &[&encode[..], &["--force"]].concat());
            let info = words_of(&column(dir, &["info", &file]));
            assert!(info.contains("file column name rock type"), "{info}");
            // The file's own name says something else.
            assert_eq!(
                column(dir, &["decode", &file, "--to", "csv"]),
                "rock type\nchalk\nslate\nchalk\n"
            );
            column(dir, &["decode", &file, "-o", name, "--force"]);
            from = name.to_owned();
        }
        let named = ["decode", "c.csv.ocol", "--to", "csv", "--name", "rock"];
        assert!(column(dir, &named).starts_with("rock\n"));
    }
    // Lines have no name: the file's own is taken, as for files of earlier versions.
    std::fs::write(dir.join("lines.txt"), "chalk\nslate\n").unwrap();
    column(dir, &["encode", "lines.txt", "-o", "lines.ocol"]);
    assert!(!column(dir, &["info", "lines.ocol"]).contains("column"));
    assert_eq!(
        column(dir, &["decode", "lines.ocol", "--to", "csv"]),
        "lines\nchalk\nslate\n"
    );
    let other = outcrop(
        dir,
        &["column", "append", "c.csv.ocol", "in.csv", "--column", "id"],
    );
    assert_eq!(other.code, Some(0), "{other:?}");
    assert!(
        other
            .stderr
            .contains("rows of column \"id\" are appended to column \"rock type\""),
        "{other:?}"
    );
}

#[test]
fn a_name_cannot_steer_the_terminal_that_shows_it() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.csv"), "id,\x1b[31mred\n1,chalk\n2,slate\n").unwrap();
    let args = ["encode", "in.csv", "--header", "--column", "1", "-o", "a.ocol"];
    column(dir, &args);
    let info = column(dir, &["info", "a.ocol"]);
    assert!(!info.contains('\x1b') && info.contains("[31mred"), "{info:?}");
    assert!(column(dir, &["decode", "a.ocol", "--to", "csv"]).starts_with("\x1b[31mred\n"));
}

#[test]
fn a_name_that_is_too_long_is_left_out_and_said() {
    let dir = workplace();
    let dir = dir.path();
    let long = "n".repeat(5000);
    std::fs::write(dir.join("in.csv"), format!("{long},b\nchalk,1\n")).unwrap();
    let args = [
        "column", "encode", "in.csv", "--header", "--column", "0", "-o", "a.ocol",
    ];
    let seen = outcrop(dir, &args);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.stderr
            .contains("5000 exceeds the limit of 4096; the file keeps no name"),
        "{seen:?}"
    );
    assert!(column(dir, &["decode", "a.ocol", "--to", "csv"]).starts_with("a\n"));
}
