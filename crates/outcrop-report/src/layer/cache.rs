//! The cache layer: what caches hit, how soon and at what cost they answer, and what to configure.

mod advice;
mod answer;
mod cautions;
mod cell;
mod figures;
mod findings;
mod method;
mod references;

use outcrop_results::{CellView, RunView};

use super::LayerReport;
use crate::answer::Answer;
use crate::finding::Finding;
use crate::section::{FigureSlot, Method, ReferenceSection};
use cell::Cell;

/// The cache cells of a run, ready to be asked.
struct CacheReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
}

/// Reads the cache cells of a run.
pub(super) fn read<'a>(run: &'a RunView, cells: &'a [CellView<'a>]) -> Box<dyn LayerReport + 'a> {
    let is_ours = |cell: &&CellView<'_>| cell.layer == "cache" && !cell.completed.is_empty();
    let mut cells: Vec<Cell<'a>> = cells.iter().filter(is_ours).map(Cell::of).collect();
    cells.sort_by(Cell::compare);
    Box::new(CacheReport { run, cells })
}

impl LayerReport for CacheReport<'_> {
    fn answer(&self) -> Answer {
        answer::answer(self.run, &self.cells)
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(&self.cells)
    }

    fn figures(&self) -> Vec<FigureSlot> {
        figures::all(&self.cells)
    }

    fn references(&self) -> Vec<ReferenceSection> {
        references::sections(&self.cells)
    }

    fn methods(&self) -> Vec<Method> {
        method::methods()
    }
}
