//! Words that must not stand in a committed file: unfinished code, ignored tests, one machine's paths.

use super::code::code_only;
use super::{Violation, has_extension, rust_files};
use crate::workspace::SourceFile;

/// In code: `(word, why and what instead)`.
const IN_CODE: [(&str, &str); 4] = [
    ("todo!", "finish it, or leave it out"),
    (
        "unimplemented!",
        "return an error that says what is not supported",
    ),
    (
        "#[ignore",
        "make the test quick and reliable, or let it say at run time what this machine lacks",
    ),
    (
        "#![cfg_attr(test, allow",
        "mend the test instead of lifting the lint for all of them",
    ),
];

/// Home and work folders of one machine, in any text, and how many names must follow (`/home/a` alone is nobody's
/// folder but a common example of a path). Spelled in two parts so that this file passes.
const MACHINE_PATHS: [(&str, usize); 4] = [
    (concat!("/ho", "me/"), 2),
    (concat!("/Us", "ers/"), 2),
    (concat!("/ro", "ot/"), 1),
    (concat!("/wo", "rk/"), 1),
];

pub(super) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in rust_files(files) {
        for (index, line) in code_only(&file.text).lines().enumerate() {
            for (word, mend) in IN_CODE.iter().filter(|(word, _)| line.contains(word)) {
                violations.push(Violation::new(&file.path, index + 1, format!("`{word}`"), *mend));
            }
        }
    }
    let texts = files
        .iter()
        .filter(|file| !has_extension(file, "csv") && !has_extension(file, "lock"));
    for file in texts {
        for (index, line) in file.text.lines().enumerate() {
            for (path, _) in MACHINE_PATHS
                .iter()
                .filter(|(path, names)| has_path(line, path, *names))
            {
                let what = format!("`{path}` is a path of one machine");
                let mend = "use a relative path, an argument or a temporary folder";
                violations.push(Violation::new(&file.path, index + 1, what, mend));
            }
        }
    }
    violations
}

/// True when `line` has `path` at the start of an absolute path (not inside `a/root/b`), and at least `names` names after it.
fn has_path(line: &str, path: &str, names: usize) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let rest = &line[at + path.len()..];
        let end = rest
            .find(|c: char| c.is_whitespace() || "\"'`)>],;".contains(c))
            .unwrap_or(rest.len());
        let found = rest[..end].split('/').filter(|name| !name.is_empty()).count();
        found >= names && before.is_none_or(|c| c.is_whitespace() || "\"'`(=:<[,".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn unfinished_code_and_ignored_tests_are_found_but_prose_is_not() {
        let source = "//! Says todo! in prose.\nfn f() { todo!() }\n#[ignore]\nfn g() { \"todo!\"; }\n";
        let lines: Vec<usize> = check(&[file("a.rs", source)])
            .iter()
            .map(|violation| violation.line)
            .collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn a_path_of_one_machine_is_found_in_any_text() {
        let (path, _) = MACHINE_PATHS[0];
        let files = [
            file("docs/a.md", &format!("run `{path}me/x`\n")),
            file("b.sh", &format!("cd src{path}x/y\n, {path}a\n")),
        ];
        let found = check(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "docs/a.md");
    }
}
