//! The step `browser`: headless Chromium reads the report of a kept run, hovers, toggles, downloads and prints.

use anyhow::{Context, Result};

use super::steps::{built_outcrop, skipped_for};
use super::{Outcome, Session};
use crate::python::PythonEnvironment;

const NAME: &str = "browser";

pub(super) fn check(session: &mut Session) -> Result<Outcome> {
    let python = match PythonEnvironment::ready(session.workspace)? {
        Ok(python) => python,
        Err(lack) => return Ok(skipped_for(lack)),
    };
    let outcrop = match built_outcrop(session, NAME)? {
        Ok(outcrop) => outcrop,
        Err(failed) => return Ok(failed),
    };
    let work = session.workspace.target.join("xtask/browser");
    if work.exists() {
        std::fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
    }
    std::fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
    let root = &session.workspace.root;
    let mut read = python.program("python");
    read.arg(root.join("tests/browser/read_report.py"))
        .arg(&outcrop)
        .arg(root.join("tests/fixtures/run-of-records-1"))
        .arg(&work);
    session.stream(NAME, &mut read)
}
