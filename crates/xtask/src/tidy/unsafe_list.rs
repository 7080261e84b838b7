//! The unsafe list: a module that lifts the ban on `unsafe` stands in `tidy.toml` with its reason.

use super::code::code_only;
use super::config::Exception;
use super::{Violation, rust_files};
use crate::workspace::SourceFile;

/// The lint's name; the list is about every place that mentions it in code.
const LINT: &str = "unsafe_code";

pub(super) fn check(files: &[SourceFile], listed: &[Exception]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut lifting = Vec::new();
    for file in rust_files(files) {
        let code = code_only(&file.text);
        let Some(line) = code.lines().position(|line| line.contains(LINT)) else {
            continue;
        };
        lifting.push(file.path.as_str());
        if !listed.iter().any(|exception| exception.path == file.path) {
            let mend = format!(
                "do it in safe Rust or in a module that is listed; else add [[unsafe_module]] path = \"{}\" with a reason to tidy.toml",
                file.path
            );
            violations.push(Violation::new(
                &file.path,
                line + 1,
                "lifts `unsafe_code` and is not listed",
                mend,
            ));
        }
    }
    for exception in listed {
        if !lifting.contains(&exception.path.as_str()) {
            let what = format!("lists {}, which lifts `unsafe_code` nowhere", exception.path);
            violations.push(Violation::new("tidy.toml", 0, what, "remove the entry"));
        }
        if exception.reason.trim().is_empty() {
            let what = format!("lists {} without a reason", exception.path);
            violations.push(Violation::new(
                "tidy.toml",
                0,
                what,
                "say why safe Rust does not do",
            ));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    fn listed(path: &str, reason: &str) -> Exception {
        Exception {
            path: path.into(),
            reason: reason.into(),
        }
    }

    #[test]
    fn a_new_unsafe_module_fails_until_it_is_listed() {
        let lifts = "//! Ring.\n#![expect(\n    unsafe_code,\n    reason = \"buffers\"\n)]\n";
        let files = [
            file("a.rs", lifts),
            file("b.rs", "//! Prose about unsafe_code only.\n"),
        ];
        let found = check(&files, &[]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("a.rs", 3));
        assert!(check(&files, &[listed("a.rs", "io_uring owns the buffers")]).is_empty());
    }

    #[test]
    fn a_stale_entry_and_an_empty_reason_fail() {
        let files = [file("a.rs", "#![allow(unsafe_code)]\n")];
        assert_eq!(check(&files, &[listed("a.rs", " ")]).len(), 1);
        assert_eq!(
            check(&files, &[listed("a.rs", "why"), listed("gone.rs", "why")]).len(),
            1
        );
    }
}
