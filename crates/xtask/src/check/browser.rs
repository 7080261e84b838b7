//! The step `browser`: headless Chromium reads the report of a kept run, hovers, toggles, downloads and prints.

use anyhow::Result;

use super::steps::{Driven, driven};
use super::{Outcome, Session};

const NAME: &str = "browser";

pub(super) fn check(session: &mut Session) -> Result<Outcome> {
    let Driven {
        python,
        outcrop,
        folder,
    } = match driven(session, NAME)? {
        Ok(driven) => driven,
        Err(outcome) => return Ok(outcome),
    };
    let root = &session.workspace.root;
    let mut read = python.program("python");
    read.arg(root.join("tests/browser/read_report.py"))
        .arg(&outcrop)
        .arg(root.join("tests/fixtures/run-of-records-1"))
        .arg(&folder);
    session.stream(NAME, &mut read)
}
