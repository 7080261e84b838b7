//! The tables of `plans/README.md` and `docs/vocabulary.md` are the schema's: written by it, and checked here.
//!
//! `OUTCROP_WRITE_TABLES=1 cargo test -p outcrop-schema` writes them.

use std::fs;
use std::path::{Path, PathBuf};

use outcrop_schema::{LayerSchema, Vocabulary, tables};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Text with what is between the markers of a table replaced.
fn with_table(text: &str, marker: &str, table: &str) -> String {
    let begin = format!("<!-- {marker}: written by the schema -->\n");
    let end = format!("<!-- end of {marker} -->\n");
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("no {begin:?}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end:?}"));
    format!("{before}{begin}{table}{end}{after}")
}

fn check(path: &Path, expected: &str) {
    if std::env::var_os("OUTCROP_WRITE_TABLES").is_some() {
        fs::write(path, expected).unwrap();
    }
    let seen = fs::read_to_string(path).unwrap_or_default();
    assert!(
        seen == expected,
        "{} is not what the schema says; `OUTCROP_WRITE_TABLES=1 cargo test -p outcrop-schema` writes it",
        path.display()
    );
}

#[test]
fn what_plans_may_say_is_in_their_readme() {
    let path = file("plans/README.md");
    let mut text = fs::read_to_string(&path).unwrap();
    for layer in Vocabulary::default().layers() {
        text = with_table(
            &text,
            &format!("keys of {}", layer.name),
            &tables::plan_keys(layer),
        );
    }
    check(&path, &text);
}

#[test]
fn the_vocabulary_is_in_the_documentation() {
    let intro = "# Vocabulary\n\n\
        Every factor, metric and remark of every layer, as `outcrop-schema` defines them. The schema writes this page; a test holds \
        it to that. What the words mean: [glossary](glossary.md). How each figure is obtained: [methodology](methodology.md). What plans \
        accept: [plans](../plans/README.md).\n\n\
        *Column* is the factor's own column in `records.parquet`, in addition to the map `factors` of all spellings: whole numbers and sizes in \
        bytes are integers there. *Role* says what a factor is to a comparison: *workload* and *data* name a cell; an *implementation* \
        names a cell among runs and is a condition when compared with a publication; under another *condition* figures are not comparable. \
        *In tables* is the heading of its column in tables of cells, on the terminal and in reports. *One per* \
        says what a metric has one value of: only values of one *trial* are counted as repetitions.\n";
    let layer = |layer: &&LayerSchema| {
        format!(
            "\n## {}\n\n{}\n{}\n{}",
            layer.name,
            tables::factors(layer),
            tables::metrics(layer),
            tables::remarks(layer)
        )
    };
    let layers: String = Vocabulary::default().layers().iter().map(layer).collect();
    check(&file("docs/vocabulary.md"), &format!("{intro}{layers}"));
}
