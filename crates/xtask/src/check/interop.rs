//! The step `interop`: a small real run, and DuckDB, pandas and Polars open its records.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::steps::{built_outcrop, skipped_for};
use super::{Outcome, Session};
use crate::command;
use crate::python::PythonEnvironment;

const NAME: &str = "interop";

pub(super) fn check(session: &mut Session) -> Result<Outcome> {
    let python = match PythonEnvironment::ready(session.workspace)? {
        Ok(python) => python,
        Err(lack) => return Ok(skipped_for(lack)),
    };
    let outcrop = match built_outcrop(session, NAME)? {
        Ok(outcrop) => outcrop,
        Err(failed) => return Ok(failed),
    };
    let runs = session.workspace.target.join("xtask/interop");
    if runs.exists() {
        std::fs::remove_dir_all(&runs).with_context(|| format!("cannot remove {}", runs.display()))?;
    }
    let measured = session.stream(NAME, &mut small_run(&outcrop, &session.workspace.target, &runs))?;
    if !matches!(measured, Outcome::Passed { .. }) {
        return Ok(measured);
    }
    let mut folders = std::fs::read_dir(&runs).with_context(|| format!("cannot read {}", runs.display()))?;
    let run = folders.next().context("the run left no folder")??.path();
    let csv = run.join("records.csv");
    let exported = command::output(
        Command::new(&outcrop)
            .args(["results", "export", "--format", "csv"])
            .arg(&run),
    )?;
    std::fs::write(&csv, exported).with_context(|| format!("cannot write {}", csv.display()))?;

    let script = session.workspace.root.join("tests/interop/open_records.py");
    session.stream(
        NAME,
        python
            .program("python")
            .arg(script)
            .arg(run.join("records.parquet"))
            .arg(csv),
    )
}

/// Seconds of measuring with a file of our own under `target`: the figures mean nothing, the records are real.
fn small_run(outcrop: &Path, target: &Path, runs: &Path) -> Command {
    let mut run = Command::new(outcrop);
    run.args([
        "run",
        "ssd-read-write-mix",
        "--effort",
        "quick",
        "--size",
        "16MiB",
    ]);
    run.args(["--warm-up", "10ms", "--duration", "50ms"]);
    run.arg("--path").arg(target).arg("--out").arg(runs);
    run
}
