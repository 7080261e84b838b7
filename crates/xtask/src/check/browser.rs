//! The step `browser`: headless Chromium reads the report of a kept run, hovers, taps, toggles, downloads and prints; of six layers too, with
//! the first screen and the sheets.

use anyhow::Result;

use super::steps::{Driven, driven, fresh_folder};
use super::{Outcome, Session};

const NAME: &str = "browser";
/// The folder of the pages of six layers.
const PAGES: &str = "browser-pages";
/// The test that writes them.
const WRITES_PAGES: &str = "a_page_of_six_layers_is_well_formed_and_small";

pub(super) fn check(session: &mut Session) -> Result<Outcome> {
    let Driven {
        python,
        outcrop,
        folder,
    } = match driven(session, NAME)? {
        Ok(driven) => driven,
        Err(outcome) => return Ok(outcome),
    };
    let pages = fresh_folder(session, PAGES)?;
    // The test that builds a run of six layers writes its pages.
    let mut write = session.cargo(&["test", "--quiet", "--workspace", "--test", "report", WRITES_PAGES]);
    write.env("OUTCROP_WRITE_PAGES", &pages);
    match session.stream(NAME, &mut write)? {
        Outcome::Passed { .. } => {}
        failed => return Ok(failed),
    }
    let root = &session.workspace.root;
    let mut read = python.program("python");
    read.arg(root.join("tests/browser/read_report.py"))
        .arg(&outcrop)
        .arg(root.join("tests/fixtures/run-of-records-1"))
        .arg(&pages)
        .arg(&folder);
    session.stream(NAME, &mut read)
}
