//! `--out DIR`: a load's figures and its distributions as files.

use std::io::Write as _;
use std::path::Path;

use outcrop_cache_load::{LoadReport, LoadSpec};
use outcrop_column::storage::AtomicFile;
use outcrop_report::{FileFormat, Label};

use super::{distribution, json, table};
use crate::exit::bad_input;
use crate::output::{Format, note};
use crate::output_file::refuse_system_folder;

/// Refuses a folder that has something in it, before anything is measured for it.
pub(super) fn check(folder: &Path) -> anyhow::Result<()> {
    let cannot = |error: std::io::Error| bad_input(anyhow::anyhow!("--out {}: {error}", folder.display()));
    refuse_system_folder("--out", folder)?;
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

/// Width of the picture: that of a page's text.
const WIDTH_MM: f64 = 150.0;

/// The figures as JSON and as CSV, and the distribution of each kind of request as CSV and as a picture.
pub(super) fn write(folder: &Path, spec: &LoadSpec, report: &LoadReport) -> anyhow::Result<()> {
    let summary = table::summary(spec, report, Format::Json);
    let mut files = vec![
        ("load.json", json::document(&summary, spec, report)?.into_bytes()),
        (
            "load.csv",
            distribution::with_figures(spec, report).to_csv()?.into_bytes(),
        ),
        ("latencies.csv", distribution::cdf(report).to_csv()?.into_bytes()),
    ];
    files.extend(picture(spec, report)?.map(|drawn| ("latencies.svg", drawn)));
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    for (name, bytes) in &files {
        let file = AtomicFile::create_new(&folder.join(name))?;
        file.as_file().write_all(bytes)?;
        file.commit()?;
    }
    note(&format!("written to {}: {}", folder.display(), names.join(", ")));
    Ok(())
}

/// The distribution as it is drawn in a report; none where nothing was answered.
fn picture(spec: &LoadSpec, report: &LoadReport) -> anyhow::Result<Option<Vec<u8>>> {
    let caption = format!("{}, {} connections.", spec.target, spec.connections);
    let kinds = distribution::kinds(report);
    let lines: Vec<_> = kinds
        .iter()
        .map(|(name, latencies)| ((*name).to_owned(), latencies))
        .collect();
    let Some(figure) = outcrop_report::latency_figure(&caption, &lines) else {
        return Ok(None);
    };
    let label = Label {
        subject: caption,
        origin: concat!("measured by outcrop ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    Ok(Some(figure.to_file(FileFormat::Svg, WIDTH_MM, &label)?))
}
