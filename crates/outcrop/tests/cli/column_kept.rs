//! What rewriting a column keeps, and what the figures of a column file count.

use crate::column::{column, words_of};
use crate::harness::{outcrop, workplace};
use outcrop_measure::units::format_data;
use serde_json::Value;

fn postings_of(dir: &std::path::Path, file: &str) -> bool {
    words_of(&column(dir, &["info", file])).contains("section postings")
}

#[test]
fn an_index_is_kept_by_append_and_compact_unless_it_is_declined() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.txt"), "chalk\nslate\nchalk\n").unwrap();
    column(dir, &["encode", "in.txt", "-o", "a.ocol", "--index", "postings"]);
    column(dir, &["append", "a.ocol", "in.txt"]);
    let info = words_of(&column(dir, &["info", "a.ocol"]));
    assert_eq!(info.matches("section postings").count(), 2, "{info}");
    column(dir, &["compact", "a.ocol", "-o", "b.ocol"]);
    assert!(postings_of(dir, "b.ocol"));
    assert_eq!(column(dir, &["find", "b.ocol", "chalk"]), "0\n2\n3\n5\n");
    column(dir, &["compact", "b.ocol", "-o", "c.ocol", "--index", "none"]);
    assert!(!postings_of(dir, "c.ocol"));
    column(dir, &["compact", "c.ocol", "-o", "d.ocol"]);
    assert!(!postings_of(dir, "d.ocol"));
}

#[test]
fn a_compact_that_makes_a_file_larger_names_the_profile_that_would_not() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.txt"), "limestone\nsandstone\nlimestone\n".repeat(20)).unwrap();
    column(
        dir,
        &["encode", "in.txt", "-o", "a.ocol", "--profile", "smallest"],
    );
    let said = |more: &[&str]| {
        let seen = outcrop(
            dir,
            &[&["column", "compact", "a.ocol", "-o", "b.ocol", "--force"], more].concat(),
        );
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen.stderr
    };
    assert!(said(&[]).contains("encoded with --profile smallest, which is then to be given here too"));
    assert_eq!(said(&["--profile", "smallest"]), "");
}

#[test]
fn rows_without_an_index_do_not_cost_the_others_theirs_and_are_named_with_what_gives_them_one() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.txt"), "chalk\nslate\nchalk\n").unwrap();
    for index in ["none", "postings", "only"] {
        column(
            dir,
            &[
                "encode",
                "in.txt",
                "-o",
                &format!("{index}.ocol"),
                "--index",
                index,
            ],
        );
    }
    let append = |file: &str, rows: &[&str]| {
        let seen = outcrop(dir, &[&["column", "append", file], rows].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen.stderr
    };
    let gives = ", and gives an index to the rows that have none";
    // Of either order, as a column file and as text for which an index is declined or asked for.
    for (first, rows) in [
        ("postings", &["none.ocol"][..]),
        ("none", &["postings.ocol"]),
        ("postings", &["in.txt", "--index", "none"]),
        ("none", &["in.txt", "--index", "postings"]),
    ] {
        std::fs::copy(dir.join(format!("{first}.ocol")), dir.join("a.ocol")).unwrap();
        let said = append("a.ocol", rows);
        assert!(
            said.contains("`outcrop column compact a.ocol --in-place`"),
            "{said}"
        );
        assert!(said.contains(gives), "{first}, {rows:?}: {said}");
        append("a.ocol", &["in.txt"]);
        let info = words_of(&column(dir, &["info", "a.ocol"]));
        assert_eq!(
            info.matches("section postings").count(),
            2,
            "{first}, {rows:?}: {info}"
        );
        column(dir, &["compact", "a.ocol", "--in-place"]);
        assert!(postings_of(dir, "a.ocol"), "{first}, {rows:?}");
        assert_eq!(column(dir, &["find", "a.ocol", "slate"]), "1\n4\n7\n");
    }
    assert!(!append("none.ocol", &["in.txt"]).contains(gives));
    assert!(!append("postings.ocol", &["in.txt"]).contains(gives));
    let said = append("only.ocol", &["none.ocol"]);
    assert!(said.contains("some rows of the file have no index"), "{said}");
}

#[test]
fn an_append_counts_its_own_rows_and_the_file_before_and_after() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.txt"), "chalk\nslate\nchalk\n").unwrap();
    column(dir, &["encode", "in.txt", "-o", "a.ocol"]);
    let before = dir.join("a.ocol").metadata().unwrap().len();
    let said = column(dir, &["append", "a.ocol", "in.txt", "--format", "csv"]);
    let after = dir.join("a.ocol").metadata().unwrap().len();
    for line in [
        "rows appended,3,".to_owned(),
        format!("file before,{before},B"),
        format!("file,{after},B"),
    ] {
        assert!(said.contains(&line), "{line}: {said}");
    }
    assert!(!said.contains('÷'), "{said}");
    let seen = outcrop(dir, &["column", "append", "a.ocol", "in.txt"]);
    assert!(
        seen.stderr
            .contains("`outcrop column compact a.ocol --in-place` merges it"),
        "{seen:?}"
    );
    // What cannot be compacted, or has nothing new, gets no such advice.
    column(dir, &["encode", "in.txt", "-o", "only.ocol", "--index", "only"]);
    std::fs::write(dir.join("empty.txt"), "").unwrap();
    for (file, rows) in [("only.ocol", "in.txt"), ("a.ocol", "empty.txt")] {
        let seen = outcrop(dir, &["column", "append", file, rows]);
        assert!(!seen.stderr.contains("compact"), "{seen:?}");
    }
}

#[test]
fn a_file_with_an_index_is_compared_with_forms_without_one_at_its_size_without_it() {
    let dir = workplace();
    let dir = dir.path();
    // A dictionary that zstd shrinks, where no index needs it in small blocks.
    let rows: String = (0..30_000_u64)
        .map(|row| format!("{},customer number {}\n", row % 7, row * row % 9973))
        .collect();
    std::fs::write(dir.join("in.csv"), format!("key,name\n{rows}")).unwrap();
    let encode = |index: &str, more: &[&str]| {
        let args = ["encode", "in.csv", "--force", "--index", index];
        column(dir, &[&args[..], more].concat())
    };
    let one = ["--column", "name", "-o", "a.ocol"];
    let size = || dir.join("a.ocol").metadata().unwrap().len() as f64;
    assert!(!encode("none", &one).contains("index"));
    let without = size();
    let said = encode("postings", &one);
    let (with, shown) = (format_data(size()), format_data(without));
    for words in [
        format!(
            ".ocol would take {shown} without an index, perhaps less with column encode --profile smallest ("
        ),
        format!(". With its index, the file takes {with}: the postings take "),
        ", and the dictionary ".to_owned(),
        " more, because lookups need smaller blocks\n".to_owned(),
    ] {
        assert!(said.contains(&words), "{words:?}: {said}");
    }
    let said = encode("postings", &[&one[..], &["--format", "csv"]].concat());
    assert!(
        said.contains(&format!("file without its index,{without},B\n")),
        "{said}"
    );
    let said = encode("only", &one);
    assert!(said.contains("its rows cannot be read back"), "{said}");
    let all = ["--all-columns", "-o", "of/", "--format", "json"];
    let with: Value = serde_json::from_str(&encode("postings", &all)).unwrap();
    let none: Value = serde_json::from_str(&encode("none", &all)).unwrap();
    let total = |document: &Value, key: &str| document["details"]["total"][key].clone();
    assert_eq!(
        total(&with, "file_without_index_bytes"),
        total(&none, "file_bytes"),
        "{with}"
    );
    assert_eq!(total(&none, "file_without_index_bytes"), Value::Null, "{none}");
    let sum = |key: &str| {
        with["rows"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|row| row[key].as_f64())
            .sum::<f64>()
    };
    for key in ["file_bytes", "file_without_index_bytes"] {
        assert_eq!(total(&with, key).as_f64(), Some(sum(key)), "{key}: {with}");
    }
    let said = encode("postings", &["--all-columns", "-o", "of/"]);
    assert!(
        said.contains(" as .ocol without indexes (")
            && said.contains("; with their indexes, the .ocol files take "),
        "{said}"
    );
}

#[test]
fn bytes_that_equal_blocks_share_count_once() {
    let dir = workplace();
    let dir = dir.path();
    // Three blocks of the same 65,536 rows.
    let block: String = (0..65_536_u64)
        .map(|row| format!("rock {}\n", row * row % 97))
        .collect();
    std::fs::write(dir.join("in.txt"), block.repeat(3)).unwrap();
    column(dir, &["encode", "in.txt", "-o", "a.ocol", "--no-compare"]);
    let info: Value = serde_json::from_str(&column(dir, &["info", "a.ocol", "--format", "json"])).unwrap();
    let rows = info["rows"].as_array().unwrap();
    let sum = |what: &str, name: Option<&str>| -> f64 {
        let those = rows
            .iter()
            .filter(|row| row["what"] == what && name.is_none_or(|name| row["name"] == name));
        those.map(|row| row["value"].as_f64().unwrap()).sum()
    };
    let (blocks, section) = (sum("block bytes", None), sum("section", Some("codes")));
    assert_eq!(sum("blocks", None), 3.0);
    assert!(
        blocks > 0.0 && blocks <= section,
        "{blocks} B of blocks in {section} B: {info}"
    );
    let seen = outcrop(dir, &["column", "verify", "a.ocol"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
}
