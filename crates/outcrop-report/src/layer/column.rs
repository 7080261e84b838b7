//! The column layer: what columns take compared with the file that they are in, and how fast they are searched.

mod ablation_figure;
mod advice;
mod answer;
mod baselines;
mod cell;
mod conditions;
mod figures;
mod findings;
mod judgement;
mod kernel_figure;
mod method;
mod size_figure;
mod total;
mod verdict;
mod whole;

use outcrop_results::{CellRow, RunView};
use outcrop_schema::FactorRef;
use outcrop_schema::column::{DISTINCT, ROW_COUNT, ROWS, SCHEMA, SKEW, TABLE_ROWS, THREADS};

use super::{LayerReport, ReportedLayer};
use crate::answer::Answer;
use crate::cell::Cell;
use crate::finding::Finding;
use crate::placement::{Bounds, Limit};
use crate::section::{FigureSlot, Method};

pub use total::TotalSizes;
use verdict::rows_in_words;
pub use verdict::{ColumnSizes, OcolIndex, SmallestForm};

/// The layer.
pub(crate) static LAYER: ReportedLayer = ReportedLayer {
    schema: &SCHEMA,
    order: &[&ROWS, &DISTINCT, &SKEW, &THREADS],
    read: |run, cells| Box::new(ColumnReport { run, cells }),
    shown: Some(rows_taken),
};

/// Of a table that has fewer rows than were asked for, all are taken; of one with more than could be read, the first ones.
fn rows_taken(factor: FactorRef, row: &CellRow) -> Option<String> {
    if factor.name != ROWS.name {
        return None;
    }
    let table = row.figures.get(TABLE_ROWS.name)?.estimate();
    let all = table.map(|rows| rows.value);
    match row.setting(factor)?.place() {
        Some(asked) => all.filter(|all| *all < asked).map(|all| format!("{all:.0}")),
        None => {
            let taken = row.figures.get(ROW_COUNT.name)?.estimate()?.value;
            let is_part = all.is_none_or(|all| taken < all);
            is_part.then(|| rows_in_words(taken, all).trim_end_matches(" rows").to_owned())
        }
    }
}

/// The column cells of a run, ready to be asked.
struct ColumnReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
}

impl LayerReport for ColumnReport<'_> {
    fn answer(&self, bounds: &Bounds<'_>) -> Answer {
        answer::answer(self.run, &self.cells, bounds)
    }

    fn applied_limits(&self) -> &'static [Limit] {
        match self.cells.iter().any(whole::is_of_file) {
            true => &[Limit::Ratio],
            false => &[],
        }
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(&self.cells)
    }

    fn figures(&self, _beside: &[String]) -> Vec<FigureSlot> {
        figures::all(&self.cells)
    }

    fn methods(&self) -> Vec<Method> {
        Method::all(method::METHODS)
    }
}
