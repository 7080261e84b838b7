//! Words that users should not have to read: the glossary lists them, with what to write instead.
//!
//! It reads the pages for users, the help of the command line, and the string literals that contain a space: messages.

use super::code::string_literals;
use super::{Violation, has_extension, rust_files};
use crate::workspace::SourceFile;

const GLOSSARY: &str = "docs/glossary.md";
const HEADING: &str = "| not | but |";
/// Pages for users. Design notes and records of benchmarks are for those who work here.
const PAGES: [&str; 3] = ["README.md", "docs/", "plans/"];
const NOT_PAGES: [&str; 1] = ["docs/design/"];

/// A phrase in lower case, and what to write instead.
type Refused = (String, String);

pub(super) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let refused = files
        .iter()
        .find(|file| file.path == GLOSSARY)
        .map(|page| refused(&page.text))
        .unwrap_or_default();
    if refused.is_empty() {
        let what = format!("has no table headed `{HEADING}`");
        return vec![Violation::new(
            GLOSSARY,
            0,
            what,
            "list the words that we do not use",
        )];
    }
    let mut violations = Vec::new();
    for file in rust_files(files).filter(|file| is_of_a_program(&file.path)) {
        let source = file.text.split("\n#[cfg(test)]\nmod ").next().unwrap_or("");
        for (line, literal) in string_literals(source) {
            if literal.contains(' ') {
                find(&file.path, line, literal, &refused, &mut violations);
            }
        }
        // The help is written as documentation comments.
        if file.path.starts_with("crates/outcrop/src/") {
            for (line, text) in paragraphs(source, |line| line.trim_start().strip_prefix("///")) {
                find(&file.path, line, &text, &refused, &mut violations);
            }
        }
    }
    for file in files.iter().filter(|file| is_page(file)) {
        // The table itself has the words.
        let prose = match file.path.as_str() {
            GLOSSARY => file.text.split(HEADING).next().unwrap_or(""),
            _ => &file.text,
        };
        for (line, text) in paragraphs(prose, Some) {
            find(&file.path, line, &text, &refused, &mut violations);
        }
    }
    violations
}

fn is_of_a_program(path: &str) -> bool {
    path.contains("/src/") && !path.contains("/tests/") && !path.starts_with("crates/xtask/")
}

fn is_page(file: &SourceFile) -> bool {
    let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| file.path.starts_with(prefix));
    (has_extension(file, "md") || has_extension(file, "toml")) && is(&PAGES) && !is(&NOT_PAGES)
}

/// The rows of the glossary's table of refused words.
fn refused(page: &str) -> Vec<Refused> {
    let rows = page.lines().skip_while(|line| *line != HEADING).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let mut columns = row.trim_matches('|').split('|').map(str::trim);
        Some((columns.next()?.to_lowercase(), columns.next()?.to_owned()))
    })
    .collect()
}

/// Runs of lines that `text_of` takes, joined by spaces, each with the 1-based line of its start.
fn paragraphs<'t>(text: &'t str, text_of: impl Fn(&'t str) -> Option<&'t str>) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let words = text_of(line).map(str::trim).filter(|words| !words.is_empty());
        match (words, paragraphs.last_mut()) {
            (Some(words), Some((_, paragraph))) if is_open => {
                paragraph.push(' ');
                paragraph.push_str(words);
            }
            (Some(words), _) => paragraphs.push((index + 1, words.to_owned())),
            (None, _) => {}
        }
        is_open = words.is_some();
    }
    paragraphs
}

fn find(path: &str, line: usize, text: &str, refused: &[Refused], violations: &mut Vec<Violation>) {
    // A literal that goes on in the next line of the source has a backslash there.
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "\\").collect();
    let text = words.join(" ").to_lowercase();
    for (phrase, instead) in refused.iter().filter(|(phrase, _)| has_words(&text, phrase)) {
        let what = format!("`{phrase}` is not what a native speaker would write");
        violations.push(Violation::new(path, line, what, format!("write: {instead}")));
    }
}

/// True when `text` has `phrase` between the ends of words.
fn has_words(text: &str, phrase: &str) -> bool {
    let is_part_of_a_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(is_part_of_a_word) && !after.is_some_and(is_part_of_a_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    fn found(path: &str, text: &str) -> usize {
        let table = format!("# G\n\n{HEADING}\n|---|---|\n| of its own | its own |\n| mend | fix |\n");
        check(&[file(GLOSSARY, &table), file(path, text)]).len()
    }

    #[test]
    fn refused_words_are_found_in_messages_help_and_pages_across_lines() {
        let library = "crates/outcrop-lab/src/a.rs";
        assert_eq!(found(library, "fn f() { g(\"Mend this, then that\") }"), 1);
        assert_eq!(found(library, "fn f() { g(\"a file of \\\n    its own\") }"), 1);
        assert_eq!(
            found(
                "crates/outcrop/src/a.rs",
                "/// A file of\n/// its own.\nstruct A;"
            ),
            1
        );
        assert_eq!(found("docs/guide.md", "Each has a ring of\nits own.\n"), 1);
    }

    #[test]
    fn the_glossary_may_have_refused_words_in_its_table_alone() {
        let page = |prose: &str| format!("# G\n\n{prose}\n\n{HEADING}\n|---|---|\n| mend | fix |\n");
        assert_eq!(check(&[file(GLOSSARY, &page("How to fix it."))]).len(), 0);
        assert_eq!(check(&[file(GLOSSARY, &page("How to mend it."))]).len(), 1);
    }

    #[test]
    fn code_comments_tests_names_and_parts_of_words_are_left_alone() {
        let library = "crates/outcrop-lab/src/a.rs";
        assert_eq!(
            found(
                library,
                "/// Mend it.\nfn mend() { g(\"mend\", \"an amendment, mend-ed\") }"
            ),
            0
        );
        assert_eq!(
            found(
                library,
                "fn f() {}\n#[cfg(test)]\nmod t { fn f() { g(\"to mend it\") } }"
            ),
            0
        );
        assert_eq!(found("docs/design/0001.md", "mend\n"), 0);
    }

    #[test]
    fn a_glossary_without_the_table_is_itself_wrong() {
        assert_eq!(check(&[file(GLOSSARY, "# G\n")]).len(), 1);
    }
}
