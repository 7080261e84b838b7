//! The cache layer: what caches hit, how soon and at what cost they answer, and what to configure.

mod answer;
mod cell;
mod curve;
mod figures;
mod findings;
mod memory;
mod method;
mod offered;
mod policy;
mod references;
mod settled;

use outcrop_results::{CellRow, RunView};
use outcrop_schema::FactorRef;
use outcrop_schema::cache::{ARRIVAL, CONNECTIONS, KEYS, MEMORY, PIPELINE, SCHEMA, SERVER, SERVER_THREADS};

pub use curve::{PolicyCurve, latency_figure, miss_ratio_figure};

use super::{LayerReport, ReportedLayer};
use crate::answer::Answer;
use crate::cell::Cell;
use crate::finding::Finding;
use crate::placement::Bounds;
use crate::section::{FigureSlot, Method, ReferenceSection};

pub(crate) static LAYER: ReportedLayer = ReportedLayer {
    schema: &SCHEMA,
    order: &[
        &SERVER,
        &MEMORY,
        &PIPELINE,
        &CONNECTIONS,
        &KEYS,
        &SERVER_THREADS,
        &ARRIVAL,
    ],
    read: |run, cells| Box::new(CacheReport { run, cells }),
    shown: Some(marked),
};

/// What the value of a factor says of the figures beside it.
fn marked(factor: FactorRef, row: &CellRow) -> Option<String> {
    overloaded(factor, row).or_else(|| settled::marked(factor, row))
}

/// The arrivals of an open loop that asked for more than was answered say so.
fn overloaded(factor: FactorRef, row: &CellRow) -> Option<String> {
    let is_marked = factor.name == ARRIVAL.name && cell::is_overloaded(row);
    let arrival = row.setting(factor).filter(|_| is_marked)?;
    Some(format!("{} (overloaded)", factor.shown(arrival.spelling())))
}

/// The cache cells of a run, ready to be asked.
struct CacheReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
}

impl LayerReport for CacheReport<'_> {
    fn answer(&self, _: &Bounds<'_>) -> Answer {
        answer::answer(self.run, &self.cells)
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(self.run, &self.cells)
    }

    fn figures(&self, _beside: &[String]) -> Vec<FigureSlot> {
        figures::all(self.run, &self.cells)
    }

    fn references(&self) -> Vec<ReferenceSection> {
        references::sections(self.run, &self.cells)
    }

    fn methods(&self) -> Vec<Method> {
        Method::all(method::METHODS)
    }
}
