//! The step `interop`: DuckDB, pandas and Polars open the records of a small real run; pymemcache drives the cache; pyarrow and
//! DuckDB exchange string columns with us.

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

    let scripts = session.workspace.root.join("tests/interop");
    let mut open = python.program("python");
    open.arg(scripts.join("open_records.py"))
        .arg(run.join("records.parquet"))
        .arg(csv);
    let opened = session.stream(NAME, &mut open)?;
    if !matches!(opened, Outcome::Passed { .. }) {
        return Ok(opened);
    }
    let mut drive = python.program("python");
    drive.arg(scripts.join("drive_cache.py")).arg(&outcrop);
    let driven = session.stream(NAME, &mut drive)?;
    if !matches!(driven, Outcome::Passed { .. }) {
        return Ok(driven);
    }
    let mut exchange = python.program("python");
    exchange
        .arg(scripts.join("open_columns.py"))
        .arg(&outcrop)
        .arg(runs.join("columns"));
    session.stream(NAME, &mut exchange)
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
