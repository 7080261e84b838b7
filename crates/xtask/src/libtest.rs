//! Reads what `cargo test` prints: how many tests passed, failed and were ignored, and which.

/// Totals over all test binaries of one `cargo test`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) binaries: usize,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// `name: reason` of each test that did not run.
    pub(crate) ignored: Vec<String>,
    /// What tests said about the parts of them that this machine cannot run: lines that start with `skipped: `.
    pub(crate) skipped: Vec<String>,
}

impl TestCounts {
    /// Takes in one line of output.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(summary) = line.strip_prefix("test result: ") {
            self.binaries += 1;
            self.passed += count_before(summary, " passed");
            self.failed += count_before(summary, " failed");
        } else if let Some(rest) = line.strip_prefix("test ")
            && let Some((name, outcome)) = rest.rsplit_once(" ... ")
            && let Some(reason) = outcome.strip_prefix("ignored")
        {
            self.ignored
                .push(format!("{name}: {}", reason.trim_start_matches(", ")));
        } else if let Some(what) = line.trim_start().strip_prefix("skipped: ") {
            self.skipped.push(what.to_owned());
        }
    }
}

/// The number that stands right before `word`; 0 when there is none.
fn count_before(summary: &str, word: &str) -> usize {
    let before = summary.split_once(word).map_or("", |(before, _)| before);
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
    digits.parse().unwrap_or(0)
}

/// True for a line worth showing while tests run: which binary, what failed, how it ended.
pub(crate) fn is_headline(line: &str) -> bool {
    let line = line.trim_start();
    let starts = ["Running ", "Doc-tests ", "Compiling ", "error", "test result: "];
    starts.iter().any(|start| line.starts_with(start))
        || (line.starts_with("test ") && line.ends_with("FAILED"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
     Running unittests src/lib.rs (target/debug/deps/a-1)
running 4 tests
test units::parse ... ok
test ring::frozen ... ignored, needs a ring
test plain ... ignored
test broken ... FAILED
test result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s
skipped: freezing a filesystem: not root
test result: ok. 41 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn counts_add_up_over_binaries_and_ignored_tests_are_named() {
        let mut counts = TestCounts::default();
        OUTPUT.lines().for_each(|line| counts.read(line));
        let expected = TestCounts {
            binaries: 2,
            passed: 42,
            failed: 1,
            ignored: vec!["ring::frozen: needs a ring".into(), "plain: ".into()],
            skipped: vec!["freezing a filesystem: not root".into()],
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn only_headlines_are_shown_while_tests_run() {
        let shown: Vec<&str> = OUTPUT.lines().filter(|line| is_headline(line)).collect();
        assert_eq!(shown.len(), 4, "{shown:?}");
    }
}
