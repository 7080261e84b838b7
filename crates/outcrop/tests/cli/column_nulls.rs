//! Nulls and empty values, which look the same in CSV.

use crate::harness::{outcrop, workplace};

#[test]
fn nulls_and_empty_fields_that_look_the_same_are_said() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.csv"), "id,rock\n1,slate\n2,\n3,\n").unwrap();
    let encode = |name: &str, more: &[&str]| {
        let args = [
            &["column", "encode", "in.csv", "--column", "rock", "-o", name],
            more,
        ]
        .concat();
        outcrop(dir, &args).stderr
    };
    let said = encode("empty.ocol", &[]);
    assert!(
        said.contains("rock: 2 empty fields are encoded as empty text; --null ''"),
        "{said}"
    );
    let appended = outcrop(
        dir,
        &["column", "append", "empty.ocol", "in.csv", "--column", "rock"],
    )
    .stderr;
    assert!(
        appended.contains("rock: 2 empty fields are encoded"),
        "{appended}"
    );
    let said = encode("null.ocol", &["--null", ""]);
    assert!(!said.contains("empty"), "{said}");
    let said = |args: &[&str]| outcrop(dir, &[&["column", "decode"], args].concat()).stderr;
    let note = "2 nulls are written as empty values";
    assert!(said(&["null.ocol", "--to", "csv"]).contains(note));
    assert!(said(&["null.ocol"]).contains(note));
    assert!(!said(&["null.ocol", "--to", "csv", "--null", "NA"]).contains("null"));
    // A negative number marks them, too.
    let as_number = ["null.ocol", "--null", "-999", "-o", "in.csv", "--force"];
    assert_eq!(said(&as_number), "");
    assert_eq!(
        std::fs::read_to_string(dir.join("in.csv")).unwrap(),
        "rock\nslate\n-999\n-999\n"
    );
    encode("number.ocol", &["--null", "-999"]);
    assert!(said(&["number.ocol", "--to", "csv"]).contains(note));
    assert!(!said(&["empty.ocol", "--to", "csv"]).contains("null"));
}

#[test]
fn an_append_without_the_text_that_meant_null_says_that_no_row_is_null() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.csv"), "id,rock\n1,slate\n2,NA\n").unwrap();
    let run = |command: &str| outcrop(dir, &command.split(' ').collect::<Vec<_>>()).stderr;
    run("column encode in.csv --column rock --null NA -o a.ocol");
    let said = run("column append a.ocol in.csv --column rock");
    assert!(
        said.contains("a.ocol already had 1 null, but no appended row is null"),
        "{said}"
    );
    let said = run("column append a.ocol in.csv --column rock --null NA");
    assert!(!said.contains("null"), "{said}");
}
