//! The step `interop`: DuckDB, pandas and Polars open the records of a small real run, the queries of `docs/records.md` among
//! theirs; pymemcache and redis-py drive the cache; pyarrow and DuckDB exchange string columns with us; fio-plot draws a run in fio's form.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::steps::{Driven, driven};
use super::{Outcome, Session};
use crate::command;

const NAME: &str = "interop";

pub(super) fn check(session: &mut Session) -> Result<Outcome> {
    let Driven {
        python,
        outcrop,
        folder: runs,
    } = match driven(session, NAME)? {
        Ok(driven) => driven,
        Err(outcome) => return Ok(outcome),
    };
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
    let mut query = python.program("python");
    query
        .arg(scripts.join("query_records.py"))
        .arg(session.workspace.root.join("docs/records.md"))
        .arg(&run);
    let queried = session.stream(NAME, &mut query)?;
    if !matches!(queried, Outcome::Passed { .. }) {
        return Ok(queried);
    }
    for script in ["drive_cache.py", "drive_redis.py"] {
        let mut drive = python.program("python");
        drive.arg(scripts.join(script)).arg(&outcrop);
        let driven = session.stream(NAME, &mut drive)?;
        if !matches!(driven, Outcome::Passed { .. }) {
            return Ok(driven);
        }
    }
    let mut exchange = python.program("python");
    exchange
        .arg(scripts.join("open_columns.py"))
        .arg(&outcrop)
        .arg(runs.join("columns"));
    let exchanged = session.stream(NAME, &mut exchange)?;
    if !matches!(exchanged, Outcome::Passed { .. }) {
        return Ok(exchanged);
    }
    let mut draw = python.program("python");
    draw.arg(scripts.join("draw_fio.py"))
        .arg(&outcrop)
        .arg(runs.join("fio"));
    session.stream(NAME, &mut draw)
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
