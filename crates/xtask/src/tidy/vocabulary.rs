//! The vocabulary's names are spelled in the schema alone: no factor or metric is named by a literal in what reads records.
//!
//! The names are those of `docs/vocabulary.md`, which the schema writes and a test of its crate checks.

use std::collections::BTreeSet;

use super::Violation;
use super::code::string_literals;
use super::config::WordException;
use crate::workspace::SourceFile;

const VOCABULARY: &str = "docs/vocabulary.md";
/// What reads records, and must do so by the schema's constants.
const READERS: [&str; 3] = [
    "crates/outcrop-report/src/",
    "crates/outcrop-results/src/",
    "crates/outcrop/src/progress.rs",
];
/// A shorter part of a name says little.
const SHORTEST_PART: usize = 5;

pub(super) fn check(files: &[SourceFile], excepted: &[WordException]) -> Vec<Violation> {
    let Some(page) = files.iter().find(|file| file.path == VOCABULARY) else {
        let mend = "`OUTCROP_WRITE_TABLES=1 cargo test -p outcrop-schema` writes it";
        return vec![Violation::new(VOCABULARY, 0, "is not there", mend)];
    };
    let names = names(&page.text);
    let readers = files
        .iter()
        .filter(|file| READERS.iter().any(|reader| file.path.starts_with(reader)));
    let mut violations = Vec::new();
    let mut used = BTreeSet::new();
    for file in readers {
        for (line, literal) in string_literals(without_tests(&file.text)) {
            let Some(name) = named_by(literal, &names) else {
                continue;
            };
            let exception = excepted
                .iter()
                .position(|one| one.path == file.path && one.word == literal);
            if let Some(exception) = exception {
                used.insert(exception);
                continue;
            }
            let what = format!("the literal {literal:?} names `{name}`");
            let mend = "take the constant of outcrop-schema; if the word means something else here, add [[vocabulary_word]] to tidy.toml";
            violations.push(Violation::new(&file.path, line, what, mend));
        }
    }
    for (index, exception) in excepted.iter().enumerate() {
        if !used.contains(&index) {
            let what = format!(
                "excepts {:?} in {}, which has no such literal",
                exception.word, exception.path
            );
            violations.push(Violation::new("tidy.toml", 0, what, "remove the entry"));
        }
        if exception.reason.trim().is_empty() {
            let what = format!(
                "excepts {:?} in {} without a reason",
                exception.word, exception.path
            );
            violations.push(Violation::new(
                "tidy.toml",
                0,
                what,
                "say what the word means there",
            ));
        }
    }
    violations
}

/// The names in the first column of the tables of factors and metrics.
fn names(page: &str) -> BTreeSet<&str> {
    let mut is_wanted = false;
    let mut names = BTreeSet::new();
    for line in page.lines() {
        if line.starts_with("| factor |") || line.starts_with("| metric |") {
            is_wanted = true;
        } else if !line.starts_with('|') {
            is_wanted = false;
        } else if is_wanted && let Some(rest) = line.strip_prefix("| `") {
            names.extend(rest.split('`').next());
        }
    }
    names
}

/// Tests are at the end of a file and may spell what they check.
fn without_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text)
}

/// The name that a literal is, or that it may be a part of: one that is composed, or searched for by how it begins or ends.
fn named_by<'n>(literal: &str, names: &BTreeSet<&'n str>) -> Option<&'n str> {
    if let Some(name) = names.get(literal) {
        return Some(name);
    }
    if literal.contains(char::is_whitespace) {
        return None;
    }
    let outside = literal
        .split('{')
        .map(|part| part.rsplit('}').next().unwrap_or(part));
    let mut parts = outside.filter(|part| part.len() >= SHORTEST_PART && part.contains('_'));
    parts.find_map(|part| {
        let composes = |name: &&&str| name.starts_with(part) || name.ends_with(part);
        names.iter().find(composes).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    const PAGE: &str = "# V\n\n| factor | column |\n|---|---|\n| `queue_depth` | `queue_depth` |\n\n| metric | unit |\n|---|---|\n\
                        | `block_ratio_p10` | ratio |\n\n| remark | x |\n|---|---|\n| `contaminated` | y |\n";

    fn found(source: &str, excepted: &[WordException]) -> Vec<String> {
        let files = [
            file(VOCABULARY, PAGE),
            file("crates/outcrop-report/src/a.rs", source),
        ];
        check(&files, excepted)
            .into_iter()
            .map(|violation| violation.what)
            .collect()
    }

    #[test]
    fn a_name_is_found_whole_and_composed_and_prose_is_not() {
        assert_eq!(found("fn f() { g(\"queue_depth\") }", &[]).len(), 1);
        assert_eq!(found("fn f() { format!(\"block_ratio_p{p}\") }", &[]).len(), 1);
        assert_eq!(found("fn f() { n.starts_with(\"block_ratio\") }", &[]).len(), 1);
        assert_eq!(
            found(
                "// \"queue_depth\"\nfn f() { g(\"the queue_depth of {x}\", \"contaminated\") }",
                &[]
            ),
            [""; 0]
        );
        assert_eq!(
            found(
                "fn f() {}\n#[cfg(test)]\nmod t { fn f() { g(\"queue_depth\") } }",
                &[]
            ),
            [""; 0]
        );
    }

    #[test]
    fn an_exception_needs_a_use_and_a_reason() {
        let exception = |word: &str, reason: &str| WordException {
            path: "crates/outcrop-report/src/a.rs".to_owned(),
            word: word.to_owned(),
            reason: reason.to_owned(),
        };
        let source = "fn f() { g(\"queue_depth\") }";
        assert_eq!(
            found(source, &[exception("queue_depth", "a column's name")]),
            [""; 0]
        );
        assert_eq!(found(source, &[exception("queue_depth", " ")]).len(), 1);
        assert_eq!(
            found("fn f() {}", &[exception("queue_depth", "a column's name")]).len(),
            1
        );
    }
}
