//! The column layer: what string columns take, how fast they are searched, and which are worth a dictionary.

mod advice;
mod answer;
mod cautions;
mod cell;
mod figures;
mod findings;
mod judgement;
mod method;

use outcrop_results::{CellView, RunView};

use super::LayerReport;
use crate::answer::Answer;
use crate::finding::Finding;
use crate::section::{FigureSlot, Method};
use cell::Cell;

/// The column cells of a run, ready to be asked.
struct ColumnReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
}

/// Reads the column cells of a run.
pub(super) fn read<'a>(run: &'a RunView, cells: &'a [CellView<'a>]) -> Box<dyn LayerReport + 'a> {
    let is_ours = |cell: &&CellView<'_>| cell.layer == "column" && !cell.completed.is_empty();
    let mut cells: Vec<Cell<'a>> = cells.iter().filter(is_ours).map(Cell::of).collect();
    cells.sort_by(Cell::compare);
    Box::new(ColumnReport { run, cells })
}

impl LayerReport for ColumnReport<'_> {
    fn answer(&self) -> Answer {
        answer::answer(self.run, &self.cells)
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(&self.cells)
    }

    fn figures(&self) -> Vec<FigureSlot> {
        figures::all(&self.cells)
    }

    fn methods(&self) -> Vec<Method> {
        method::methods()
    }
}
