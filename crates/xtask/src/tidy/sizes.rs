//! The file-size ratchet: no huge file, few long ones, and their number only falls.

use super::config::SizeLimits;
use super::{Violation, rust_files};
use crate::workspace::SourceFile;

const SPLIT: &str = "split the file where its subject changes";

/// Violations, and a line that says where the sizes stand.
pub(super) fn check(files: &[SourceFile], limits: &SizeLimits) -> (Vec<Violation>, String) {
    let mut sizes: Vec<(usize, &str)> = rust_files(files)
        .map(|file| (file.text.lines().count(), file.path.as_str()))
        .collect();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).map_or(0, |(lines, _)| *lines);
    let long: Vec<(usize, &str)> = sizes
        .iter()
        .copied()
        .filter(|(lines, _)| *lines > limits.long_lines)
        .collect();

    let mut violations: Vec<Violation> = (long.iter())
        .filter(|(lines, _)| *lines > limits.hard_max_lines)
        .map(|(lines, path)| {
            Violation::new(
                path,
                *lines,
                format!("{lines} lines, at most {} are allowed", limits.hard_max_lines),
                SPLIT,
            )
        })
        .collect();
    if long.len() > limits.long_files {
        let names: Vec<String> = long
            .iter()
            .map(|(lines, path)| format!("{path} ({lines})"))
            .collect();
        let what = format!(
            "{} files have more than {} lines, {} are allowed: {}",
            long.len(),
            limits.long_lines,
            limits.long_files,
            names.join(", ")
        );
        violations.push(Violation::new("tidy.toml", 0, what, SPLIT));
    }
    if long.len() < limits.long_files {
        let what = format!(
            "long_files = {}, but only {} files are long",
            limits.long_files,
            long.len()
        );
        violations.push(Violation::new(
            "tidy.toml",
            0,
            what,
            format!("set long_files = {}", long.len()),
        ));
    }
    if median > limits.median_max_lines {
        let what = format!(
            "the median file has {median} lines, at most {} are allowed",
            limits.median_max_lines
        );
        violations.push(Violation::new("tidy.toml", 0, what, SPLIT));
    }
    let longest = sizes.last().map_or(String::new(), |(lines, path)| {
        format!(", the longest {lines} ({path})")
    });
    let note = format!("{} Rust files, median {median} lines{longest}", sizes.len());
    (violations, note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    const LIMITS: SizeLimits = SizeLimits {
        hard_max_lines: 30,
        long_lines: 20,
        long_files: 1,
        median_max_lines: 10,
    };

    fn files_of(sizes: &[usize]) -> Vec<SourceFile> {
        sizes
            .iter()
            .enumerate()
            .map(|(i, lines)| file(&format!("{i}.rs"), &"x\n".repeat(*lines)))
            .collect()
    }

    fn complaints(sizes: &[usize]) -> Vec<String> {
        check(&files_of(sizes), &LIMITS)
            .0
            .into_iter()
            .map(|violation| violation.what)
            .collect()
    }

    #[test]
    fn sizes_within_the_limits_pass() {
        assert!(complaints(&[5, 5, 25]).is_empty());
    }

    #[test]
    fn a_huge_file_one_long_file_more_and_a_high_median_each_fail() {
        assert!(complaints(&[5, 5, 31])[0].starts_with("31 lines"));
        assert!(complaints(&[5, 5, 5, 21, 22])[0].starts_with("2 files have more than 20 lines"));
        assert!(complaints(&[11, 12, 21])[0].starts_with("the median file has 12 lines"));
    }

    #[test]
    fn the_ratchet_must_be_tightened_when_a_long_file_is_gone() {
        assert_eq!(
            complaints(&[5, 5, 5]),
            ["long_files = 1, but only 0 files are long"]
        );
    }
}
