//! The steps of `cargo xtask check`, one function each.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::{Outcome, Session, browser, guide, interop, package, summary};
use crate::python::{NoEnvironment, PythonEnvironment};
use crate::{command, libtest, tidy};

/// One step.
pub(super) struct Step {
    pub(super) name: &'static str,
    /// What it makes sure of.
    pub(super) purpose: &'static str,
    pub(super) run: fn(&mut Session) -> Result<Outcome>,
}

/// Every step, in the order in which they run: an early failure costs seconds, not minutes.
pub(super) const ALL: [Step; 12] = [
    Step {
        name: "fmt",
        purpose: "the sources are formatted",
        run: fmt,
    },
    Step {
        name: "tidy",
        purpose: "ranks, headers, sizes, unsafe list, licences, links",
        run: tidy,
    },
    Step {
        name: "advisories",
        purpose: "no dependency has a known vulnerability (cargo-deny)",
        run: advisories,
    },
    Step {
        name: "scripts",
        purpose: "shell and Python scripts pass shellcheck and ruff",
        run: scripts,
    },
    Step {
        name: "clippy",
        purpose: "no warning in any target",
        run: clippy,
    },
    Step {
        name: "test",
        purpose: "every test of the workspace",
        run: test,
    },
    Step {
        name: "plans",
        purpose: "every plan expands (outcrop run --dry-run)",
        run: plans,
    },
    Step {
        name: "interop",
        purpose: "DuckDB, pandas and Polars open records.parquet, pymemcache and redis-py drive the cache",
        run: interop::check,
    },
    Step {
        name: "python",
        purpose: "the Python package installs in an empty environment; its tests, stubs, snippets and notebooks",
        run: package::check,
    },
    Step {
        name: "browser",
        purpose: "a report reads well in Chromium: wide, narrow, dark, printed, with and without scripts",
        run: browser::check,
    },
    Step {
        name: "guide",
        purpose: "every block of commands in the guide, and every `sh` block of the README, runs as printed",
        run: guide::check,
    },
    Step {
        name: "doc",
        purpose: "the documentation builds and no link in it is broken",
        run: doc,
    },
];

fn fmt(session: &mut Session) -> Result<Outcome> {
    let mut cargo = session.cargo(&["fmt", "--all", "--", "--check", "--files-with-diff"]);
    Ok(match session.stream("fmt", &mut cargo)? {
        Outcome::Failed { excerpt } => Outcome::Failed {
            excerpt: format!("{excerpt}\nfix: cargo fmt --all"),
        },
        outcome => outcome,
    })
}

fn tidy(session: &mut Session) -> Result<Outcome> {
    let report = tidy::inspect(session.workspace)?;
    if report.violations.is_empty() {
        return Ok(Outcome::Passed {
            note: report.notes.join("; "),
        });
    }
    let lines: Vec<String> = report.violations.iter().map(ToString::to_string).collect();
    Ok(Outcome::Failed {
        excerpt: lines.join("\n"),
    })
}

fn advisories(session: &mut Session) -> Result<Outcome> {
    if !command::is_installed("cargo", &["deny", "--version"]) {
        let reason = "cargo-deny is not installed (`cargo install --locked cargo-deny` takes minutes to build); \
                      tidy has checked licences, bans and sources";
        return Ok(Outcome::Skipped {
            reason: reason.to_owned(),
            avoidable: false,
        });
    }
    session.stream(
        "advisories",
        Command::new("cargo")
            .current_dir(&session.workspace.root)
            .args(["deny", "check"]),
    )
}

fn scripts(session: &mut Session) -> Result<Outcome> {
    let python = match PythonEnvironment::ready(session.workspace)? {
        Ok(python) => python,
        Err(lack) => return Ok(skipped_for(lack)),
    };
    let files = session.workspace.files()?;
    let is_shell = |text: &str| text.starts_with("#!/usr/bin/env bash") || text.starts_with("#!/bin/sh");
    let shell = files
        .iter()
        .filter(|file| is_shell(&file.text))
        .map(|file| file.path.as_str());
    let is_python = |text: &str| text.starts_with("#!/usr/bin/env python3");
    let snakes = files
        .iter()
        .filter(|file| file.path.ends_with(".py") || is_python(&file.text));
    let snakes = snakes.map(|file| file.path.as_str());
    let linters: [(Command, Vec<&str>); 2] = [
        (python.program("shellcheck"), shell.collect()),
        (
            python.program("ruff"),
            ["check", "--no-cache", "--force-exclude"]
                .into_iter()
                .chain(snakes)
                .collect(),
        ),
    ];
    for (mut linter, args) in linters {
        linter.current_dir(&session.workspace.root).args(args);
        let outcome = session.stream("scripts", &mut linter)?;
        if !matches!(outcome, Outcome::Passed { .. }) {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Passed { note: String::new() })
}

fn clippy(session: &mut Session) -> Result<Outcome> {
    let mut clippy = session.cargo(&["clippy", "--workspace", "--all-targets"]);
    // On this command line only: `-D warnings` in RUSTFLAGS would rebuild every dependency.
    session.stream("clippy", clippy.args(["--", "-D", "warnings"]))
}

fn test(session: &mut Session) -> Result<Outcome> {
    let log = session.log("test");
    let mut cargo = session.cargo(&["test", "--workspace", "--no-fail-fast"]);
    let mut lines = Vec::new();
    let mut counts = libtest::TestCounts::default();
    // --show-output: a passing test that could not do all of its work says so on its own output.
    let status = command::stream(cargo.args(["--", "--show-output"]), &log, |line| {
        counts.read(line);
        if libtest::is_headline(line) {
            eprintln!("    {line}");
        }
        lines.push(line.to_owned());
    })?;
    session.tests = counts;
    let counts = &session.tests;
    if !status.success() {
        return Ok(Outcome::Failed {
            excerpt: summary::test_excerpt(&lines, &log),
        });
    }
    if !counts.ignored.is_empty() {
        let excerpt = format!(
            "ignored tests, which there may not be:\n  {}",
            counts.ignored.join("\n  ")
        );
        return Ok(Outcome::Failed { excerpt });
    }
    if session.in_ci && !counts.skipped.is_empty() {
        let excerpt = format!(
            "tests skipped what CI can run:\n  {}",
            counts.skipped.join("\n  ")
        );
        return Ok(Outcome::Failed { excerpt });
    }
    Ok(Outcome::Passed {
        note: format!("{} tests in {} binaries", counts.passed, counts.binaries),
    })
}

fn plans(session: &mut Session) -> Result<Outcome> {
    let files = session.workspace.files()?;
    let plans: Vec<&str> = files
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| tidy::plan_name(path).is_some())
        .collect();
    let outcrop = match built_outcrop(session, "plans")? {
        Ok(outcrop) => outcrop,
        Err(failed) => return Ok(failed),
    };
    for plan in &plans {
        let mut one = Command::new(&outcrop);
        one.current_dir(&session.workspace.root)
            .args(["run", "--dry-run", plan]);
        let outcome = session.stream("plans", &mut one)?;
        if !matches!(outcome, Outcome::Passed { .. }) {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Passed {
        note: format!("{} plans", plans.len()),
    })
}

fn doc(session: &mut Session) -> Result<Outcome> {
    let mut cargo = session.cargo(&["doc", "--workspace", "--no-deps"]);
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    session.stream("doc", &mut cargo)
}

/// The program that the tests ran, built if it is not there: built with them, because a build of its own would choose
/// other features of the dependencies and compile all of them again.
pub(super) fn built_outcrop(session: &Session, name: &str) -> Result<Result<PathBuf, Outcome>> {
    let mut build = session.cargo(&["test", "--quiet", "--workspace", "--no-run"]);
    Ok(match session.stream(name, &mut build)? {
        Outcome::Passed { .. } => Ok(session.workspace.target.join("debug/outcrop")),
        failed => Err(failed),
    })
}

/// What a step needs that drives the program by a Python script of ours.
pub(super) struct Driven {
    pub(super) python: PythonEnvironment,
    pub(super) outcrop: PathBuf,
    /// An empty folder of the step.
    pub(super) folder: PathBuf,
}

/// The Python environment, the program and an empty folder; or why the step cannot run.
pub(super) fn driven(session: &Session, name: &str) -> Result<Result<Driven, Outcome>> {
    let python = match PythonEnvironment::ready(session.workspace)? {
        Ok(python) => python,
        Err(lack) => return Ok(Err(skipped_for(lack))),
    };
    let outcrop = match built_outcrop(session, name)? {
        Ok(outcrop) => outcrop,
        Err(failed) => return Ok(Err(failed)),
    };
    let folder = fresh_folder(session, name)?;
    Ok(Ok(Driven {
        python,
        outcrop,
        folder,
    }))
}

/// An empty folder under `target/xtask`: what an earlier check left in it is removed.
pub(super) fn fresh_folder(session: &Session, name: &str) -> Result<PathBuf> {
    let folder = session.workspace.target.join("xtask").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

pub(super) fn skipped_for(lack: NoEnvironment) -> Outcome {
    match lack {
        NoEnvironment::NotInstalled(reason) => Outcome::Skipped {
            reason,
            avoidable: true,
        },
        NoEnvironment::NoPackages(reason) => Outcome::Skipped {
            reason,
            avoidable: false,
        },
    }
}
