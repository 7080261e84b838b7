//! The filesystem layer: which filesystem, compression and extent size suit these data and this access.

mod ageing;
mod answer;
mod cell;
mod figures;
mod findings;
mod limits;
mod method;
mod naming;
mod price;
mod published;
mod references;
mod rivals;
mod small;
mod smallest;
mod tail;
mod writes;

use outcrop_results::RunView;
use outcrop_schema::filesystem::{
    CLUSTER_SIZE, COMPRESSION, COMPRESSION_BLOCK_SIZE, FILESYSTEM, JOBS, OPERATION, SCHEMA,
};

use self::published::Published;
use super::{LayerReport, ReportedLayer};
use crate::answer::Answer;
use crate::cell::Cell;
use crate::finding::Finding;
use crate::placement::{Bounds, Limit};
use crate::section::{FigureSlot, Method, ReferenceSection};

/// The layer.
pub(crate) static LAYER: ReportedLayer = ReportedLayer {
    schema: &SCHEMA,
    order: &[
        &OPERATION,
        &FILESYSTEM,
        &COMPRESSION,
        &COMPRESSION_BLOCK_SIZE,
        &CLUSTER_SIZE,
        &JOBS,
    ],
    read: |run, cells| Box::new(FilesystemReport { run, cells }),
    shown: None,
};

/// The cells of filesystems of a run, ready to be asked.
struct FilesystemReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
}

impl LayerReport for FilesystemReport<'_> {
    fn answer(&self, bounds: &Bounds<'_>) -> Answer {
        answer::answer(self.run, &self.cells, bounds)
    }

    fn applied_limits(&self) -> &'static [Limit] {
        &[Limit::Ratio, Limit::P99]
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(&self.cells)
    }

    fn figures(&self, beside: &[String]) -> Vec<FigureSlot> {
        figures::all(&self.cells, &Published::beside(beside))
    }

    fn references(&self) -> Vec<ReferenceSection> {
        references::sections()
    }

    fn methods(&self) -> Vec<Method> {
        let is_made = |cell: &Cell<'_>| cell::kind(cell).is_some();
        let made = self.cells.iter().any(is_made).then_some(method::MADE);
        let found = (!self.cells.iter().all(is_made)).then_some(method::FOUND);
        let methods = made
            .into_iter()
            .chain(found)
            .chain(method::METHODS.iter().copied());
        Method::all(&methods.collect::<Vec<_>>())
    }
}
