//! Every test of the workspace, in two lanes: programs that mostly wait for disks and mounts run beside those that mostly compute.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result};

use super::{Outcome, Session, summary};
use crate::command;
use crate::libtest::{self, TestCounts};

/// Test programs that use less than half of a CPU. They run one test at a time, so that those beside them keep theirs.
const WAITING: [&str; 2] = ["device", "filesystem"];

/// What a lane printed and how it ended.
struct Ended {
    log: PathBuf,
    status: ExitStatus,
    lines: Vec<String>,
    counts: TestCounts,
}

pub(super) fn check(session: &mut Session) -> Result<Outcome> {
    let built = session.stream(
        "test-build",
        &mut session.cargo(&["test", "--workspace", "--no-run"]),
    )?;
    if !matches!(built, Outcome::Passed { .. }) {
        return Ok(built);
    }
    let (waiting, others): (BTreeSet<&str>, BTreeSet<&str>) = integration_tests(session)
        .into_iter()
        .partition(|name| WAITING.contains(name));
    let named = |names: BTreeSet<&str>| -> Vec<String> {
        names
            .into_iter()
            .flat_map(|name| ["--test".to_owned(), name.to_owned()])
            .collect()
    };
    let lane = |log: &str, targets: &[String], options: &[&str]| {
        let mut cargo = session.cargo(&["test", "--workspace", "--no-fail-fast"]);
        // --show-output: a passing test that could not do all of its work says so on its own output.
        cargo.args(targets).args(["--", "--show-output"]).args(options);
        (session.log(log), cargo)
    };
    let units = ["--lib".to_owned(), "--bins".to_owned()];
    let busy = lane("test", &[&units[..], &named(others)].concat(), &[]);
    let waiting = lane("test-waiting", &named(waiting), &["--test-threads=1"]);
    let of_docs = lane("test-doc", &["--doc".to_owned()], &[]);
    let (busy, waiting) = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| run(waiting));
        let busy = run(busy);
        (busy, waiting.join())
    });
    let waiting = waiting.ok().context("the lane of waiting tests panicked")?;
    let lanes = [busy?, waiting?, run(of_docs)?];
    let mut excerpts = Vec::new();
    for ended in lanes {
        session.tests += ended.counts;
        if !ended.status.success() {
            excerpts.push(summary::test_excerpt(&ended.lines, &ended.log));
        }
    }
    Ok(verdict(session, &excerpts))
}

fn verdict(session: &Session, excerpts: &[String]) -> Outcome {
    let counts = &session.tests;
    let excerpt = if !excerpts.is_empty() {
        excerpts.join("\n\n")
    } else if !counts.ignored.is_empty() {
        format!(
            "ignored tests, which there may not be:\n  {}",
            counts.ignored.join("\n  ")
        )
    } else if session.in_ci && !counts.skipped.is_empty() {
        format!(
            "tests skipped what CI can run:\n  {}",
            counts.skipped.join("\n  ")
        )
    } else {
        return Outcome::Passed {
            note: format!("{} tests in {} binaries", counts.passed, counts.binaries),
        };
    };
    Outcome::Failed { excerpt }
}

/// Names of the test programs of all crates; several crates may have one of a name.
fn integration_tests<'s>(session: &Session<'s>) -> BTreeSet<&'s str> {
    let packages = session.workspace.metadata.workspace_packages();
    let targets = packages.into_iter().flat_map(|package| &package.targets);
    targets
        .filter(|target| target.is_test())
        .map(|target| target.name.as_str())
        .collect()
}

fn run((log, mut cargo): (PathBuf, Command)) -> Result<Ended> {
    let (mut lines, mut counts) = (Vec::new(), TestCounts::default());
    let status = command::stream(&mut cargo, &log, |line| {
        counts.read(line);
        if libtest::is_headline(line) {
            eprintln!("    {line}");
        }
        lines.push(line.to_owned());
    })?;
    Ok(Ended {
        log,
        status,
        lines,
        counts,
    })
}
