//! The tests that records of audits and capabilities name exist where they say.

use super::{Violation, rust_files};
use crate::workspace::SourceFile;

/// Records that name tests in backticks, as place, modules and test: `measure::ratio::equal_sides_do_not_differ`.
const RECORDS: [&str; 2] = ["benchmarks/record/audits.md", "benchmarks/record/capabilities.md"];

pub(super) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for record in files.iter().filter(|file| RECORDS.contains(&file.path.as_str())) {
        for (index, line) in record.text.lines().enumerate() {
            let quoted = line.split('`').skip(1).step_by(2);
            for name in quoted.filter(|quoted| is_test(quoted) && !is_there(quoted, files)) {
                let what = format!("there is no test `{name}`");
                let mend = "name a test that exists, as `place::modules::test`";
                violations.push(Violation::new(&record.path, index + 1, what, mend));
            }
        }
    }
    violations
}

/// Whether words in backticks name a test; two parts name a place and a file of tests.
fn is_test(quoted: &str) -> bool {
    let is_word = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    quoted.split("::").count() > 2 && quoted.split("::").all(is_word)
}

/// `cli` is the tests of the command line; any other place is a crate, without `outcrop-`. A module's tests may be in a file of their own.
fn is_there(name: &str, files: &[SourceFile]) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let [place, modules @ .., test] = parts.as_slice() else {
        return false;
    };
    let folders = match *place {
        "cli" => vec!["crates/outcrop/tests/cli/".to_owned()],
        place => vec![format!("crates/{place}/"), format!("crates/outcrop-{place}/")],
    };
    let (modules, function) = (format!("/{}", modules.join("/")), format!("fn {test}("));
    rust_files(files).any(|file| {
        let path = file.path.trim_end_matches(".rs");
        let path = path.strip_suffix("/tests").unwrap_or(path);
        folders.iter().any(|folder| path.starts_with(folder))
            && path.ends_with(&modules)
            && file.text.contains(&function)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn tests_of_crates_modules_and_the_command_line_are_found() {
        let record = "| x | `measure::ratio::one_is_one`, `cli::column::it_runs`; `report::chart::drawn`, `make test`, `report::chart` |\n";
        let files = [
            file("benchmarks/record/audits.md", record),
            file(
                "crates/outcrop-measure/tests/measure/ratio.rs",
                "fn one_is_one() {}",
            ),
            file("crates/outcrop/tests/cli/column.rs", "fn it_runs() {}"),
            file("crates/outcrop-report/src/chart/tests.rs", "fn drawn() {}"),
        ];
        assert_eq!(check(&files), []);
    }

    #[test]
    fn a_test_that_is_gone_or_stands_elsewhere_is_named_with_its_line() {
        let files = [
            file(
                "benchmarks/record/audits.md",
                "\n`measure::ratio::gone`\n`measure::rate::one_is_one`\n`kv::ratio::one_is_one`\n",
            ),
            file(
                "crates/outcrop-measure/tests/measure/ratio.rs",
                "fn one_is_one() {}",
            ),
        ];
        let found = check(&files);
        let lines: Vec<usize> = found.iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [2, 3, 4]);
        assert_eq!(found[0].what, "there is no test `measure::ratio::gone`");
    }
}
