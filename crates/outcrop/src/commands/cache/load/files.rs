//! `--out DIR`: a load's figures and its distributions as files.

use std::io::Write as _;
use std::path::Path;

use outcrop_cache_load::{LoadReport, LoadSpec};
use outcrop_column::storage::AtomicFile;

use super::{json, table};
use crate::exit::bad_input;
use crate::output::{Format, note};

/// Refuses a folder that has something in it, before anything is measured for it.
pub(super) fn check(folder: &Path) -> anyhow::Result<()> {
    let cannot = |error: std::io::Error| bad_input(anyhow::anyhow!("--out {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(cannot)?;
    if std::fs::read_dir(folder).map_err(cannot)?.next().is_some() {
        let text = format!(
            "--out {}: the folder is not empty; name a new one",
            folder.display()
        );
        return Err(bad_input(anyhow::anyhow!(text)));
    }
    Ok(())
}

/// The figures as JSON and as CSV, and the distribution of each kind of request.
pub(super) fn write(folder: &Path, spec: &LoadSpec, report: &LoadReport) -> anyhow::Result<()> {
    let summary = table::summary(spec, report, Format::Csv);
    for (name, text) in [
        ("load.json", json::document(&summary, spec, report)?),
        ("load.csv", summary.to_csv()?),
        ("latencies.csv", table::cdf(report).to_csv()?),
    ] {
        let file = AtomicFile::create_new(&folder.join(name))?;
        file.as_file().write_all(text.as_bytes())?;
        file.commit()?;
    }
    note(&format!(
        "load.json, load.csv and latencies.csv are in {}",
        folder.display()
    ));
    Ok(())
}
