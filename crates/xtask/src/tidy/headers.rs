//! Every Rust file opens with a `//!` header that says what the file is for.

use super::config::Exception;
use super::{Violation, rust_files};
use crate::workspace::SourceFile;

const MEND: &str = "open the file with one `//!` sentence that says what it is for";

pub(super) fn check(files: &[SourceFile], exceptions: &[Exception]) -> Vec<Violation> {
    rust_files(files)
        .filter(|file| !exceptions.iter().any(|exception| exception.path == file.path))
        .filter_map(|file| {
            let first = file.text.lines().next().unwrap_or("");
            let sentence = first.strip_prefix("//!").map(str::trim);
            match sentence {
                None => Some(Violation::new(&file.path, 1, "no `//!` header", MEND)),
                Some(text) if !text.contains(' ') => Some(Violation::new(
                    &file.path,
                    1,
                    format!("the header `{text}` is no sentence"),
                    MEND,
                )),
                Some(_) => None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn a_file_without_a_sentence_on_top_is_named() {
        let files = [
            file("crates/a/src/lib.rs", "//! Reads the machine.\n"),
            file("crates/a/src/b.rs", "use std::fmt;\n"),
            file("crates/a/src/c.rs", "//! placeholder\n"),
            file("crates/a/src/d.rs", "// generated\n"),
            file("docs/e.md", "no Rust\n"),
        ];
        let excepted = Exception {
            path: "crates/a/src/d.rs".into(),
            reason: "generated".into(),
        };
        let found = check(&files, &[excepted]);
        let paths: Vec<&str> = found.iter().map(|violation| violation.path.as_str()).collect();
        assert_eq!(paths, ["crates/a/src/b.rs", "crates/a/src/c.rs"]);
    }
}
