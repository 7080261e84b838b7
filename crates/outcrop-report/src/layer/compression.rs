//! The compression layer: which codec, at which block size, and where the time goes.

mod answer;
mod apart;
mod by_size;
mod cell;
mod figures;
mod findings;
mod front;
mod incompressible;
mod matrix;
mod method;
mod pairs;
mod references;
mod stages;
mod wishes;

use outcrop_results::RunView;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, SCHEMA, THREADS};

use super::{LayerReport, ReportedLayer};
use crate::answer::Answer;
use crate::cell::Cell;
use crate::finding::Finding;
use crate::placement::{Bounds, Limit};
use crate::section::{FigureSlot, Matrix, Method, Missing, ReferenceSection};
use references::Published;

/// How compression is reported.
pub(crate) static LAYER: ReportedLayer = ReportedLayer {
    schema: &SCHEMA,
    order: &[&CODEC, &COMPRESSION_BLOCK_SIZE, &THREADS],
    read,
    shown: None,
};

/// The cells of a compression run, ready to be asked.
struct CompressionReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
    published: Published,
}

fn read<'a>(run: &'a RunView, mut cells: Vec<Cell<'a>>) -> Box<dyn LayerReport + 'a> {
    cells.retain(|cell| cell.get(&CODEC).is_some() && cell.get(&COMPRESSION_BLOCK_SIZE).is_some());
    Box::new(CompressionReport {
        run,
        cells,
        published: Published::shipped(),
    })
}

impl LayerReport for CompressionReport<'_> {
    fn answer(&self, bounds: &Bounds<'_>) -> Answer {
        answer::answer(self.run, &self.cells, bounds)
    }

    fn applied_limits(&self) -> &'static [Limit] {
        &[Limit::Ratio]
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(&self.cells, &self.published)
    }

    fn figures(&self, beside: &[String]) -> Vec<FigureSlot> {
        figures::all(&self.cells, &Published::beside(beside))
    }

    fn matrices(&self) -> (Vec<Matrix>, Vec<Missing>) {
        matrix::all(&self.cells)
    }

    fn references(&self) -> Vec<ReferenceSection> {
        references::sections(&self.published, &self.cells)
    }

    fn methods(&self) -> Vec<Method> {
        Method::all(method::METHODS)
    }
}
