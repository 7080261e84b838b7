//! The miss-ratio curve as a picture.

use std::path::Path;

use anyhow::Context as _;
use outcrop_cache_bench::{CurvePoint, CurveSpec};
use outcrop_measure::units::format_bytes;
use outcrop_report::number::counted;
use outcrop_report::{FileFormat, Label, PolicyCurve, miss_ratio_figure};

use super::Args;
use crate::output::note;

/// Width of the picture: that of a page's text.
const WIDTH_MM: f64 = 150.0;

impl Args {
    /// The files that the curve is drawn to.
    pub(super) fn pictures(&self) -> impl Iterator<Item = (&Path, FileFormat)> {
        let all = [
            (&self.svg, FileFormat::Svg),
            (&self.png, FileFormat::Png),
            (&self.pdf, FileFormat::Pdf),
        ];
        all.into_iter()
            .filter_map(|(path, format)| Some((path.as_deref()?, format)))
    }
}

/// Draws the curve to every file that was named; the picture states the number of requests.
pub(super) fn draw(
    points: &[CurvePoint],
    spec: &CurveSpec,
    args: &Args,
    requests: usize,
) -> anyhow::Result<()> {
    if args.pictures().next().is_none() {
        return Ok(());
    }
    let lines: Vec<PolicyCurve> = points
        .chunks(spec.memory_bytes.len())
        .map(|line| {
            let ratios = line
                .iter()
                .filter_map(|point| Some((point.memory_bytes, point.miss_ratio()?)));
            (line[0].policy.to_string(), ratios.collect())
        })
        .collect();
    let subject = format!("{}, {}", args.trace.display(), counted(requests, "request"));
    let caption = format!(
        "Simulated from an empty cache. An object takes its key, its value and {} of overhead.",
        format_bytes(args.overhead.0)
    );
    let figure = miss_ratio_figure(&caption, &lines).context("there is nothing to draw")?;
    let label = Label {
        subject,
        origin: concat!("simulated by outcrop ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    for (path, format) in args.pictures() {
        let drawn = figure.to_file(format, WIDTH_MM, &label)?;
        args.force.write(path, |out| Ok(out.write_all(&drawn)?))?;
        note(&format!("drawn: {}", path.display()));
    }
    Ok(())
}
