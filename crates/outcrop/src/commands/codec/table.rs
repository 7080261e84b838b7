//! One row per cell: what a user of a one-off came for.

use crate::exit::bad_input;
use crate::output::{self, Cell, Format, Table};
use outcrop_measure::metric::Unit;
use outcrop_report::Report;
use outcrop_results::{CellView, RunView};
use std::path::Path;

/// Factors, with their headings; the first three always stand there, the others when they vary.
const FACTORS: [(&str, &str); 6] = [
    ("codec", "codec"),
    ("compression_block_size", "block"),
    ("threads", "threads"),
    ("context", "context"),
    ("caches", "caches"),
    ("content", "content"),
];
const ALWAYS: usize = 3;

/// Metrics with their headings.
const SPEED: [(&str, &str); 8] = [
    ("compression_ratio", "ratio"),
    ("saved_share", "saved"),
    ("compress_speed", "compress"),
    ("decompress_speed", "decompress"),
    ("compress_latency_p95", "p95"),
    ("decompress_latency_p95", "p95 back"),
    ("compress_cpu_per_byte", "CPU"),
    ("context_bytes", "memory"),
];
const STAGES: [(&str, &str); 6] = [
    ("stage_whole_time", "per block"),
    ("stage_match_finding_share", "matches"),
    ("stage_literals_share", "literals"),
    ("stage_sequences_share", "sequences"),
    ("stage_sum_ratio", "parts ÷ whole"),
    ("block_entropy", "entropy"),
];

/// Shares of a whole read better in per cent.
const SHARES: &str = "_share";

/// Writes the report of a run folder and prints its cells.
pub(super) fn conclude(dir: &Path, format: Format) -> anyhow::Result<()> {
    let view = RunView::load(dir).map_err(bad_input)?;
    let paths = outcrop_report::write(&Report::of(&view), dir)?;
    table(&view).print(format)?;
    if format == Format::Text {
        output::print(&format!("\nReport: {}\n", paths.html.display()))?;
    }
    Ok(())
}

/// Prints the codec cells of a run folder, whichever command made it.
pub(super) fn print(dir: &Path, format: Format) -> anyhow::Result<()> {
    let view = RunView::load(dir).map_err(bad_input)?;
    if !view.cells().iter().any(is_ours) {
        return Err(bad_input(anyhow::anyhow!(
            "{} measured no codec; `outcrop results export` prints what it has",
            dir.display()
        )));
    }
    table(&view).print(format)
}

fn is_ours(cell: &CellView<'_>) -> bool {
    cell.layer == "compression"
}

/// Speed's columns, those of stages, or, for a run of both, all of them.
fn metrics(cells: &[CellView<'_>]) -> Vec<(&'static str, &'static str)> {
    let is_stages = |cell: &CellView<'_>| cell.factor("measurement") == Some("stages");
    let mut metrics = Vec::new();
    if !cells.iter().all(is_stages) {
        metrics.extend(SPEED);
    }
    if cells.iter().any(is_stages) {
        metrics.extend(STAGES);
    }
    metrics
}

fn table(view: &RunView) -> Table {
    let mut cells = view.cells();
    cells.retain(is_ours);
    let metrics = metrics(&cells);
    let varies = |name: &str| {
        let mut values = cells.iter().map(|cell| cell.factor(name));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let factors: Vec<_> = FACTORS
        .iter()
        .enumerate()
        .filter(|(index, (name, _))| *index < ALWAYS || varies(name))
        .map(|(_, factor)| *factor)
        .collect();
    let units = |name: &str| {
        let unit = cells.iter().find_map(|cell| Some(cell.metric(name)?.unit));
        unit.map_or(String::new(), |unit: Unit| format!("_{}", unit.symbol()))
    };
    let columns = factors
        .iter()
        .map(|(name, heading)| ((*heading).to_owned(), (*name).to_owned()));
    let figures = metrics
        .iter()
        .map(|(name, heading)| ((*heading).to_owned(), format!("{name}{}", units(name))));
    let mut table = Table::new(columns.chain(figures).collect::<Vec<_>>());
    cells.sort_by_key(|cell| (cell.factor("content").map(str::to_owned), block_bytes(cell)));
    for cell in &cells {
        let mut row: Vec<Cell> = factors
            .iter()
            .map(|(name, _)| Cell::text(cell.factor(name).unwrap_or_default()))
            .collect();
        row.extend(metrics.iter().map(|(name, _)| figure(cell, name)));
        table.push(row);
    }
    table
}

fn block_bytes(cell: &CellView<'_>) -> u64 {
    let size = cell
        .factor("compression_block_size")
        .and_then(|size| size.parse().ok());
    size.map_or(0, |size: outcrop_measure::units::ByteSize| size.0)
}

/// The median over the repetitions, and how far they reach to either side where that is a per cent or more.
fn figure(cell: &CellView<'_>, name: &str) -> Cell {
    let (Some(samples), Some(summary)) = (cell.metric(name), cell.summary(name)) else {
        let reason = cell.metric(name).and_then(|samples| samples.unavailable);
        return Cell::Absent(reason.unwrap_or_else(|| "no trial was completed".to_owned()));
    };
    let value = summary.median;
    let mut shown = if name.ends_with(SHARES) {
        format!("{:.1} %", value * 100.0)
    } else {
        samples.unit.format(value)
    };
    let half = summary
        .interval
        .map_or(0.0, |interval| interval.relative_width() / 2.0 * 100.0);
    if half >= 0.5 && !name.ends_with(SHARES) {
        shown.push_str(&format!(" ±{half:.0} %"));
    }
    Cell::number(value, shown)
}
