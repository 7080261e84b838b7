//! The key-value layer: what engines give, and what compressing their blocks costs and saves.

mod answer;
mod block_size;
mod blocks;
mod cautions;
mod cell;
mod codec;
mod figures;
mod findings;
mod method;
mod naming;
mod open_loop;
mod servers;
mod space;
mod tree;

use outcrop_results::RunView;
use outcrop_schema::kv::{
    ARRIVAL, COMPRESSION, COMPRESSION_BLOCK_SIZE, ENGINE, PROCESSES, SCHEMA, THREADS, WORKLOAD,
};

use super::{LayerReport, ReportedLayer};
use crate::answer::Answer;
use crate::cell::Cell;
use crate::environment::{cpus, memory_bytes};
use crate::finding::Finding;
use crate::placement::{Bounds, Limit, has_candidates};
use crate::section::{FigureSlot, Method};

pub(crate) use cell::{codec, factors_but, has_speed_and_space, is_compressed, is_on_compression, is_plain};
pub(crate) use codec::measuring_plain;
pub(crate) use findings::{FailedCheck, FailedChecks, Machine, failed_checks};
pub(crate) use space::{log_share, matters, ratio_without_log, share, takes_of, without_log};

pub(crate) static LAYER: ReportedLayer = ReportedLayer {
    schema: &SCHEMA,
    order: &[
        &WORKLOAD,
        &ENGINE,
        &COMPRESSION,
        &COMPRESSION_BLOCK_SIZE,
        &THREADS,
        &PROCESSES,
        &ARRIVAL,
    ],
    read: |run, cells| Box::new(KvReport { run, cells }),
    shown: None,
};

/// The machine that a run was made on.
pub(crate) fn machine(run: &RunView) -> Machine {
    Machine {
        memory_bytes: memory_bytes(&run.environment),
        cpus: cpus(&run.environment),
    }
}

/// The cells of a run with key-value engines, ready to be asked.
struct KvReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
}

impl LayerReport for KvReport<'_> {
    fn answer(&self, bounds: &Bounds<'_>) -> Answer {
        answer::answer(self.run, &self.cells, bounds)
    }

    fn applied_limits(&self) -> &'static [Limit] {
        // Of stores without codecs, or of one with one codec alone, there is nothing that could meet a limit.
        match has_candidates(&self.cells) || answer::is_judged(&self.cells) {
            true => &[Limit::Ratio, Limit::P99, Limit::CpuShare],
            false => &[],
        }
    }

    fn findings(&self) -> Vec<Finding> {
        findings::all(&self.cells, machine(self.run))
    }

    fn figures(&self, _beside: &[String]) -> Vec<FigureSlot> {
        figures::all(self.run, &self.cells)
    }

    fn methods(&self) -> Vec<Method> {
        Method::all(method::METHODS)
    }
}
