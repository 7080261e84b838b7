//! One row per cell: what a user of a one-off came for.

use crate::exit::bad_input;
use crate::output::{self, Cell, Format, Table};
use outcrop_measure::metric::Metric;
use outcrop_report::Report;
use outcrop_results::{CellView, RunView};
use outcrop_schema::FactorRef;
use outcrop_schema::compression::{
    self, CACHES, CODEC, COMPRESSION_BLOCK_SIZE, CONTENT, CONTEXT, MEASUREMENT, Measurement, THREADS,
};
use std::path::Path;

/// Factors, with their headings; the first three always have a column, the others when they vary.
static FACTORS: [(FactorRef, &str); 6] = [
    (&CODEC, "codec"),
    (&COMPRESSION_BLOCK_SIZE, "block"),
    (&THREADS, "threads"),
    (&CONTEXT, "context"),
    (&CACHES, "caches"),
    (&CONTENT, "content"),
];
const ALWAYS: usize = 3;

/// Metrics with their headings.
const SPEED: [(Metric, &str); 8] = [
    (compression::COMPRESSION_RATIO, "ratio"),
    (compression::SAVED_SHARE, "saved"),
    (compression::SPEED.compress, "compress"),
    (compression::SPEED.decompress, "decompress"),
    (compression::LATENCY.compress.p95, "p95"),
    (compression::LATENCY.decompress.p95, "p95 back"),
    (compression::CPU_PER_BYTE.compress, "CPU"),
    (compression::CONTEXT_BYTES, "memory"),
];
const STAGES: [(Metric, &str); 6] = [
    (compression::STAGE_WHOLE_TIME, "per block"),
    (compression::STAGE_MATCH_FINDING_SHARE, "matches"),
    (compression::STAGE_LITERALS_SHARE, "literals"),
    (compression::STAGE_SEQUENCES_SHARE, "sequences"),
    (compression::STAGE_SUM_RATIO, "parts ÷ whole"),
    (compression::BLOCK_ENTROPY, "entropy"),
];

/// Shares of a whole read better in per cent.
const SHARES: [Metric; 4] = [
    compression::SAVED_SHARE,
    compression::STAGE_MATCH_FINDING_SHARE,
    compression::STAGE_LITERALS_SHARE,
    compression::STAGE_SEQUENCES_SHARE,
];

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
    cell.layer == compression::SCHEMA.name
}

/// Speed's columns, those of stages, or, for a run of both, all of them.
fn metrics(cells: &[CellView<'_>]) -> Vec<(Metric, &'static str)> {
    let is_stages = |cell: &CellView<'_>| cell.factor(MEASUREMENT.name) == Some(Measurement::Stages.name());
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
        .filter(|(index, (factor, _))| *index < ALWAYS || varies(factor.name))
        .map(|(_, factor)| *factor)
        .collect();
    let columns = factors
        .iter()
        .map(|(factor, heading)| ((*heading).to_owned(), factor.name.to_owned()));
    let figures = metrics.iter().map(|(metric, heading)| {
        (
            (*heading).to_owned(),
            format!("{}_{}", metric.name, metric.unit.symbol()),
        )
    });
    let mut table = Table::new(columns.chain(figures).collect::<Vec<_>>());
    cells.sort_by_key(|cell| (cell.factor(CONTENT.name).map(str::to_owned), block_bytes(cell)));
    for cell in &cells {
        let mut row: Vec<Cell> = factors
            .iter()
            .map(|(factor, _)| Cell::text(cell.factor(factor.name).unwrap_or_default()))
            .collect();
        row.extend(metrics.iter().map(|(metric, _)| figure(cell, metric)));
        table.push(row);
    }
    table
}

fn block_bytes(cell: &CellView<'_>) -> u64 {
    let factors = compression::SCHEMA.read(cell.factors);
    factors.get(&COMPRESSION_BLOCK_SIZE).map_or(0, |size| size.0)
}

/// The median over the repetitions with the ends of its interval, where that is a per cent wide or more.
fn figure(cell: &CellView<'_>, metric: &Metric) -> Cell {
    let Some(summary) = cell.summary(metric.name) else {
        let reason = cell.metric(metric.name).and_then(|samples| samples.unavailable);
        return Cell::Absent(reason.unwrap_or_else(|| "no trial was completed".to_owned()));
    };
    let value = summary.median;
    let is_share = SHARES.contains(metric);
    let spell = |value: f64| match is_share {
        true => format!("{:.1} %", value * 100.0),
        false => metric.format(value),
    };
    let mut shown = spell(value);
    let interval = summary.interval;
    if let Some(interval) = interval.filter(|interval| interval.relative_width() >= 0.01) {
        shown.push_str(&format!(" ({} to {})", spell(interval.low), spell(interval.high)));
    }
    Cell::number(value, shown)
}
