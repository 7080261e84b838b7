//! The device layer: what a storage device's cells say.

mod advice;
mod answer;
mod cell;
mod cliff;
mod curve;
mod durability;
mod figures;
mod findings;
mod knee;
mod limits;
mod matrix;
mod method;
mod references;

use outcrop_results::RunView;
use outcrop_schema::device::{IO_BLOCK_SIZE, JOBS, QUEUE_DEPTH, READ_WRITE_MIX, SCHEMA};

use super::{LayerReport, ReportedLayer};
use crate::answer::Answer;
use crate::cell::Cell;
use crate::environment::{cpu_quota, cpus};
use crate::finding::Finding;
use crate::placement::Bounds;
use crate::section::{FigureSlot, Matrix, Method, Missing, ReferenceSection};
use references::Published;

/// Rounds that the gaps of a trial are filled up to, when so many of its rounds have a record. Gaps are told from a start and a
/// length alone; a trial that names a start far away would take the memory and time of all that might lie before it.
fn most_rounds(recorded: usize) -> usize {
    const AN_HOUR_OF_SECONDS: usize = 3600;
    AN_HOUR_OF_SECONDS.max(4 * recorded)
}

/// The device layer, ready to be reported.
pub(crate) static LAYER: ReportedLayer = ReportedLayer {
    schema: &SCHEMA,
    // In numeric order, so that of equal cells the one with the least depth is the first.
    order: &[&READ_WRITE_MIX, &IO_BLOCK_SIZE, &QUEUE_DEPTH, &JOBS],
    read: |run, cells| {
        Box::new(DeviceReport {
            run,
            cells,
            published: references::shipped(),
        })
    },
    shown: None,
};

/// The cells of a device run, ready to be asked.
struct DeviceReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
    published: Vec<Published>,
}

impl LayerReport for DeviceReport<'_> {
    fn answer(&self, _: &Bounds<'_>) -> Answer {
        answer::answer(self.run, &self.cells)
    }

    fn findings(&self) -> Vec<Finding> {
        let machine = findings::Machine {
            drive: findings::Drive::of(&self.run.environment),
            cpus: cpus(&self.run.environment).map(|count| count as f64),
            cpu_quota: cpu_quota(&self.run.environment),
        };
        findings::all(&self.cells, machine)
    }

    fn figures(&self, beside: &[String]) -> Vec<FigureSlot> {
        let mut published = references::shipped();
        published.retain(|(reference, _)| beside.contains(&reference.name));
        figures::all(&self.cells, &published)
    }

    fn matrices(&self) -> (Vec<Matrix>, Vec<Missing>) {
        matrix::all(&self.cells)
    }

    fn references(&self) -> Vec<ReferenceSection> {
        references::sections(&self.published, &self.cells)
    }

    fn methods(&self) -> Vec<Method> {
        method::methods(&self.cells)
    }
}
