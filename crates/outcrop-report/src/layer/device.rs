//! The device layer: what a storage device's cells say.

mod advice;
mod answer;
mod cautions;
mod cell;
mod curve;
mod figures;
mod findings;
mod matrix;
mod method;
mod references;

use outcrop_results::{CellView, RunView};

use super::LayerReport;
use crate::answer::Answer;
use crate::finding::Finding;
use crate::section::{FigureSlot, Matrix, Method, Missing, ReferenceSection};
use cell::Cell;

/// The cells of a device run, ready to be asked.
struct DeviceReport<'a> {
    run: &'a RunView,
    /// Cells with at least one completed trial.
    cells: Vec<Cell<'a>>,
    /// Published figures that ship, as cells of their own.
    published: Vec<references::Published>,
}

/// Reads the device cells of a run.
pub(super) fn read<'a>(run: &'a RunView, cells: &'a [CellView<'a>]) -> Box<dyn LayerReport + 'a> {
    let is_ours = |cell: &&CellView<'_>| cell.layer == "device" && !cell.completed.is_empty();
    let mut cells: Vec<Cell<'a>> = cells.iter().filter(is_ours).map(Cell::measured).collect();
    // In numeric order, so that of equal cells the one with the least depth is the first.
    cells.sort_by_key(Cell::rank);
    Box::new(DeviceReport {
        run,
        cells,
        published: references::shipped(),
    })
}

impl LayerReport for DeviceReport<'_> {
    fn answer(&self) -> Answer {
        answer::answer(self.run, &self.cells)
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(&self.cells)
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
        method::methods(self.run)
    }
}
