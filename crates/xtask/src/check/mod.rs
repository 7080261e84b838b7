//! `cargo xtask check`: every step that CI runs, in order, cheap ones first.
//!
//! A step that fails does not stop the later ones; the first failure is shown again at the end, where one
//! looks. A step that cannot run here is listed with the reason. Where `CI` is set, a step that could have
//! run had the machine been set up is a failure: nothing is skipped silently.

mod browser;
mod guide;
mod interop;
mod package;
mod steps;
mod summary;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::clock::{Elapsed, StopWatch};
use crate::command;
use crate::libtest::TestCounts;
use crate::workspace::Workspace;

/// How a step ended.
pub(crate) enum Outcome {
    Passed {
        /// What is worth saying about it, if anything.
        note: String,
    },
    Failed {
        /// The part of its output that tells what is wrong.
        excerpt: String,
    },
    Skipped {
        reason: String,
        /// `make test` would have made it possible; in CI that counts as a failure.
        avoidable: bool,
    },
}

/// A step that has run, or has not, with its outcome.
pub(crate) struct Finished {
    pub(crate) name: &'static str,
    pub(crate) elapsed: Elapsed,
    pub(crate) outcome: Outcome,
}

/// What the steps share.
pub(crate) struct Session<'a> {
    pub(crate) workspace: &'a Workspace,
    /// True when the `CI` variable is set to anything but `false` or nothing.
    pub(crate) in_ci: bool,
    pub(crate) tests: TestCounts,
}

impl Session<'_> {
    /// `cargo` in the checkout; in CI it may not change `Cargo.lock`.
    fn cargo(&self, args: &[&str]) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(&self.workspace.root).args(args);
        if self.in_ci && args[0] != "fmt" {
            cargo.arg("--locked");
        }
        // Set for this program by the cargo that started it. Build scripts that watch them, such as ring's, would run again.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                cargo.env_remove(name.as_ref());
            }
        }
        cargo
    }

    /// Where the whole output of the step `name` is kept.
    fn log(&self, name: &str) -> PathBuf {
        self.workspace.target.join("xtask").join(format!("{name}.log"))
    }

    /// Runs `command` as (part of) the step `name`, showing all it prints.
    fn stream(&self, name: &str, command: &mut Command) -> Result<Outcome> {
        let mut lines = Vec::new();
        let status = command::stream(command, &self.log(name), |line| {
            eprintln!("    {line}");
            lines.push(line.to_owned());
        })?;
        Ok(if status.success() {
            Outcome::Passed { note: String::new() }
        } else {
            Outcome::Failed {
                excerpt: summary::excerpt(&lines, &self.log(name)),
            }
        })
    }
}

/// Runs the steps named in `only`, or all of them; true when CI would be content.
///
/// # Errors
/// `only` names no step, or a step could not be started at all.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<bool> {
    let names: Vec<&str> = steps::ALL.iter().map(|step| step.name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no step `{unknown}`; the steps are {}", names.join(", "));
    }
    let in_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    let mut session = Session {
        workspace,
        in_ci,
        tests: TestCounts::default(),
    };
    let total = StopWatch::start();
    let mut finished = Vec::new();
    for (index, step) in steps::ALL.iter().enumerate() {
        eprintln!("[{}/{}] {}: {}", index + 1, names.len(), step.name, step.purpose);
        let watch = StopWatch::start();
        let wanted = only.is_empty() || only.iter().any(|name| name == step.name);
        let outcome = if wanted {
            (step.run)(&mut session)?
        } else {
            Outcome::Skipped {
                reason: "not among the steps asked for with --only".to_owned(),
                avoidable: false,
            }
        };
        let step = Finished {
            name: step.name,
            elapsed: watch.elapsed(),
            outcome,
        };
        eprintln!("    {}\n", summary::line(&step));
        finished.push(step);
    }
    Ok(summary::print(
        &finished,
        &session.tests,
        session.in_ci,
        total.elapsed(),
    ))
}
