//! What `check` says at its end: a line per step, the first failure, what was skipped, the count of tests.

use std::path::Path;

use super::{Finished, Outcome};
use crate::clock::Elapsed;
use crate::libtest::TestCounts;

/// How many lines of a failing step are shown again at the end.
const EXCERPT_LINES: usize = 60;

/// One step in one line.
pub(super) fn line(step: &Finished) -> String {
    let (mark, detail) = match &step.outcome {
        Outcome::Passed { note } => ("ok", note.as_str()),
        Outcome::Failed { .. } => ("FAILED", ""),
        Outcome::Skipped { reason, .. } => ("skipped", reason.as_str()),
    };
    format!("{mark:<8}{:<11}{:>12}   {detail}", step.name, step.elapsed)
        .trim_end()
        .to_owned()
}

/// The lines that tell why a program failed, and where the rest is.
pub(super) fn excerpt(lines: &[String], log: &Path) -> String {
    // rustc and clippy say the first thing first; what follows is often its echo.
    let first = lines
        .iter()
        .position(|line| line.trim_start().starts_with("error"))
        .unwrap_or(0);
    let from = first.min(lines.len().saturating_sub(1));
    let shown = lines[from..]
        .iter()
        .take(EXCERPT_LINES)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    format!("{shown}\n(all of it: {})", log.display())
}

/// The failures of the first test binary that has some, as libtest prints them; else the compiler's error.
pub(super) fn test_excerpt(lines: &[String], log: &Path) -> String {
    let Some(from) = lines.iter().position(|line| line == "failures:") else {
        return excerpt(lines, log);
    };
    let block = lines[from..]
        .iter()
        .take_while(|line| !line.starts_with("test result: "));
    let shown: Vec<&str> = block.take(EXCERPT_LINES).map(String::as_str).collect();
    format!("{}\n(all of it: {})", shown.join("\n").trim_end(), log.display())
}

/// Prints the end of the run; true when CI would be content.
pub(super) fn print(finished: &[Finished], tests: &TestCounts, in_ci: bool, total: Elapsed) -> bool {
    let verdict = Verdict::of(finished, tests, in_ci);
    for step in finished {
        println!("{}", line(step));
    }
    println!("in {total}");
    if let Some((name, excerpt)) = &verdict.first_failure {
        println!("\nThe first failure, step {name}:\n\n{excerpt}\n");
    }
    for skip in &verdict.skipped {
        println!("skipped: {skip}");
    }
    if verdict.skipped.is_empty() {
        println!("skipped: nothing");
    }
    println!("{} passed, {} failed", verdict.passed, verdict.failed);
    verdict.failed == 0
}

/// The run as a whole.
#[derive(Debug)]
struct Verdict {
    first_failure: Option<(&'static str, String)>,
    skipped: Vec<String>,
    /// Tests, and every other step as one.
    passed: usize,
    failed: usize,
}

impl Verdict {
    fn of(finished: &[Finished], tests: &TestCounts, in_ci: bool) -> Self {
        let mut verdict = Self {
            first_failure: None,
            skipped: Vec::new(),
            passed: tests.passed,
            failed: tests.failed,
        };
        for step in finished {
            match &step.outcome {
                Outcome::Passed { .. } => verdict.passed += usize::from(step.name != "test"),
                Outcome::Failed { excerpt } => verdict.fail(step.name, excerpt.clone(), tests.failed),
                Outcome::Skipped { reason, avoidable } => {
                    verdict.skipped.push(format!("{}: {reason}", step.name));
                    if *avoidable && in_ci {
                        let excerpt = format!("CI can run this step, and it was skipped: {reason}");
                        verdict.fail(step.name, excerpt, tests.failed);
                    }
                }
            }
        }
        verdict
            .skipped
            .extend(tests.skipped.iter().map(|what| format!("test: {what}")));
        verdict
    }

    fn fail(&mut self, name: &'static str, excerpt: String, failed_tests: usize) {
        // A test step that failed by its tests has counted them already; one that did not compile has not.
        if name != "test" || failed_tests == 0 {
            self.failed += 1;
        }
        self.first_failure.get_or_insert((name, excerpt));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn finished(name: &'static str, outcome: Outcome) -> Finished {
        Finished {
            name,
            elapsed: Elapsed(Duration::ZERO),
            outcome,
        }
    }

    fn failed(excerpt: &str) -> Outcome {
        Outcome::Failed {
            excerpt: excerpt.to_owned(),
        }
    }

    fn skipped(avoidable: bool) -> Outcome {
        Outcome::Skipped {
            reason: "no python3".to_owned(),
            avoidable,
        }
    }

    #[test]
    fn the_excerpt_of_a_test_run_is_its_first_failure_and_not_what_other_tests_print() {
        let output = "successes:\nerror: said by a passing test\n\nfailures:\n\n---- a stdout ----\npanicked\n\n\
                      failures:\n    a\n\ntest result: FAILED. 1 passed; 1 failed\n\nerror: test failed\n";
        let lines: Vec<String> = output.lines().map(str::to_owned).collect();
        let excerpt = test_excerpt(&lines, Path::new("test.log"));
        assert_eq!(
            excerpt,
            "failures:\n\n---- a stdout ----\npanicked\n\nfailures:\n    a\n(all of it: test.log)"
        );
        let broken: Vec<String> = ["   Compiling a", "error[E0308]: mismatched types"]
            .map(str::to_owned)
            .into();
        assert_eq!(
            test_excerpt(&broken, Path::new("l")),
            "error[E0308]: mismatched types\n(all of it: l)"
        );
    }

    #[test]
    fn tests_and_other_steps_add_up() {
        let passed = || Outcome::Passed { note: String::new() };
        let tests = TestCounts {
            passed: 40,
            ..TestCounts::default()
        };
        let verdict = Verdict::of(
            &[finished("fmt", passed()), finished("test", passed())],
            &tests,
            true,
        );
        assert_eq!((verdict.passed, verdict.failed), (41, 0));
    }

    #[test]
    fn tests_that_do_not_compile_are_one_failure_and_failing_ones_are_counted() {
        let compile = Verdict::of(
            &[finished("test", failed("error[E0308]"))],
            &TestCounts::default(),
            false,
        );
        assert_eq!((compile.passed, compile.failed), (0, 1));
        let tests = TestCounts {
            passed: 3,
            failed: 2,
            ..TestCounts::default()
        };
        let counted = Verdict::of(
            &[
                finished("fmt", failed("diff")),
                finished("test", failed("panicked")),
            ],
            &tests,
            false,
        );
        assert_eq!((counted.passed, counted.failed), (3, 3));
        assert_eq!(counted.first_failure, Some(("fmt", "diff".to_owned())));
    }

    #[test]
    fn a_skip_that_ci_could_have_avoided_fails_there_and_is_said_elsewhere() {
        for (avoidable, in_ci, failures) in [(true, true, 1), (true, false, 0), (false, true, 0)] {
            let verdict = Verdict::of(
                &[finished("interop", skipped(avoidable))],
                &TestCounts::default(),
                in_ci,
            );
            assert_eq!(verdict.failed, failures, "avoidable {avoidable}, CI {in_ci}");
            assert_eq!(verdict.skipped, ["interop: no python3"]);
        }
    }
}
