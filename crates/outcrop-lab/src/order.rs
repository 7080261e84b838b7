//! The order of trials: repetition by repetition, each a fresh seeded shuffle of the cells.
//!
//! Interleaving is what makes drift of a shared machine (heat, neighbours, write-back of the run before) hit every
//! cell alike; running all repetitions of a cell in a row would charge the drift to single cells.

use outcrop_measure::seed::Seed;
use rand::seq::SliceRandom as _;

use crate::cell::Cell;

/// One repetition of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Number in the order of the run, from 0.
    pub index: u32,
    /// Index of its cell.
    pub cell: usize,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Seed of every random choice of the trial.
    pub seed: Seed,
}

/// The trials of a run, in order: a pure function of cells and seed, so that a resume computes the same list.
pub fn order(cells: &[Cell], seed: Seed) -> Vec<Trial> {
    let repetitions = cells.iter().map(|cell| cell.trial.repetitions).max().unwrap_or(0);
    let mut trials = Vec::new();
    for repetition in 0..repetitions {
        let mut block: Vec<usize> = (0..cells.len())
            .filter(|index| cells[*index].trial.repetitions > repetition)
            .collect();
        block.shuffle(&mut seed.derive("order").derive_index(repetition.into()).rng());
        for cell in block {
            let index = u32::try_from(trials.len()).expect("a run is limited to far fewer trials than 2^32");
            trials.push(Trial {
                index,
                cell,
                repetition,
                seed: trial_seed(seed, &cells[cell].id, repetition),
            });
        }
    }
    trials
}

/// The same cell and repetition get the same seed in every run of the same seed, whatever else the run measures.
fn trial_seed(seed: Seed, cell_id: &str, repetition: u32) -> Seed {
    seed.derive(&format!("cell {cell_id} repetition {repetition}"))
}
