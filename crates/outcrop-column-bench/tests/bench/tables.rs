//! Files of the user's: delimiters, names, kinds of columns, and what is no table.

use std::path::PathBuf;

use outcrop_column_bench::tabular::{Table, TableFormat, is_table};

fn file(name: &str, content: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("the temporary folder can be written");
    let path = directory.path().join(name);
    std::fs::write(&path, content).expect("the file can be written");
    (directory, path)
}

#[test]
fn delimiter_and_names_are_found_in_the_file() {
    let cases = [
        ("a.csv", "id,rock\n1,slate\n2,\"chalk, soft\"\n", b',', true),
        ("b.csv", "1|data\n4|c#\n4|linq\n", b'|', false),
        ("c.csv", "rock;grain\nslate;fine\nchalk;fine\n", b';', true),
        ("d.tsv", "x\ty\nx\tz\n", b'\t', false),
        ("e.csv", "one\ntwo\nthree\n", b',', true),
    ];
    for (name, content, delimiter, has_header) in cases {
        let (_kept, path) = file(name, content);
        let table = Table::describe(&path).unwrap();
        assert_eq!(
            table.format,
            TableFormat::Delimited {
                delimiter,
                has_header
            },
            "{name}"
        );
    }
}

#[test]
fn columns_of_numbers_are_told_from_columns_of_strings() {
    let (_kept, path) = file("a.csv", "id,rock,mass,none\n1,slate,2.5,\n2,7,-1e3,\n");
    let table = Table::describe(&path).unwrap();
    let strings: Vec<&str> = table
        .string_columns()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(strings, ["rock"]);
    assert_eq!(table.column("mass").unwrap().number, 2);
    assert_eq!(table.column("1").unwrap().name, "rock");
    assert_eq!(table.column("lava"), None);
    let input = table
        .load(&path, table.column("rock").unwrap(), u64::MAX)
        .unwrap();
    assert_eq!(input.text(), b"slate\n7\n");
    let first = table.load(&path, table.column("rock").unwrap(), 1).unwrap();
    assert_eq!(first.row_count(), 1);
}

#[test]
fn newlines_within_quotes_stay_within_their_row() {
    let (_kept, path) = file("a.csv", "rock,note\nslate,\"two\nlines\"\nchalk,one\n");
    let table = Table::describe(&path).unwrap();
    let input = table
        .load(&path, table.column("note").unwrap(), u64::MAX)
        .unwrap();
    let rows: Vec<_> = input.rows().map(|row| row.unwrap().to_vec()).collect();
    assert_eq!(rows, [b"two\nlines".to_vec(), b"one".to_vec()]);
}

#[test]
fn lines_are_one_column_whether_or_not_the_last_one_ends() {
    let (_kept, path) = file("a.txt", "x\n\ny");
    let table = Table::describe(&path).unwrap();
    let input = table.load(&path, &table.columns[0], u64::MAX).unwrap();
    assert_eq!(input.text(), b"x\n\ny\n");
}

#[test]
fn what_is_no_table_is_refused_with_what_was_seen() {
    assert!(is_table(std::path::Path::new("a.CSV")) && !is_table(std::path::Path::new("a.jpg")));
    let (_kept, path) = file("a.jpg", "x");
    assert!(
        Table::describe(&path)
            .unwrap_err()
            .to_string()
            .contains("ends in .csv")
    );
    let (_kept, path) = file("a.csv", "");
    assert!(Table::describe(&path).unwrap_err().to_string().contains("empty"));
    let (_kept, path) = file("ragged.csv", "a,b\n1,2\n3\n");
    let table = Table::describe(&path).unwrap();
    let message = table
        .load(&path, &table.columns[1], u64::MAX)
        .unwrap_err()
        .to_string();
    assert!(message.contains("line 3 has 1 fields"), "{message}");
}
