//! The compression layer: which codec, at which block size, and where the time goes.
//!
//! Names of factors and metrics: docs/design/0004-compression.md.

mod answer;
mod cell;
mod figures;
mod findings;
mod matrix;
mod method;
mod references;
mod stages;
mod wishes;

use outcrop_results::{CellView, RunView};

use super::LayerReport;
use crate::answer::Answer;
use crate::finding::Finding;
use crate::section::{FigureSlot, Matrix, Method, Missing, ReferenceSection};
use cell::Cell;
use references::Published;

/// The name of the layer in records.
const LAYER: &str = "compression";

/// The cells of a compression run, ready to be asked.
struct CompressionReport<'a> {
    run: &'a RunView,
    /// Cells with at least one completed trial.
    cells: Vec<Cell<'a>>,
    /// Published figures that ship.
    published: Published,
}

/// Reads the compression cells of a run.
pub(super) fn read<'a>(run: &'a RunView, cells: &'a [CellView<'a>]) -> Box<dyn LayerReport + 'a> {
    let is_ours = |cell: &&CellView<'_>| cell.layer == LAYER && !cell.completed.is_empty();
    let mut cells: Vec<Cell<'a>> = cells.iter().filter(is_ours).filter_map(Cell::measured).collect();
    cells.sort_by_key(Cell::rank);
    Box::new(CompressionReport {
        run,
        cells,
        published: Published::shipped(),
    })
}

impl LayerReport for CompressionReport<'_> {
    fn answer(&self) -> Answer {
        answer::answer(self.run, &self.cells)
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(&self.cells, &self.published)
    }

    fn figures(&self) -> Vec<FigureSlot> {
        figures::all(&self.cells, &self.published)
    }

    fn matrices(&self) -> (Vec<Matrix>, Vec<Missing>) {
        matrix::all(&self.cells)
    }

    fn references(&self) -> Vec<ReferenceSection> {
        references::sections(&self.published, &self.cells)
    }

    fn methods(&self) -> Vec<Method> {
        method::methods()
    }
}
