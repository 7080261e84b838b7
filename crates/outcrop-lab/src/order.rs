//! The order of trials: repetition by repetition, each a fresh seeded shuffle of the cells.
//!
//! Interleaving is what makes drift of a shared machine (heat, neighbours, write-back of the run before) hit every
//! cell alike; running all repetitions of a cell in a row would charge the drift to single cells. The two cells of a pair
//! of variants stay together, in random order: what drifts over a whole repetition hardly touches their ratio. Cells that are measured once
//! (sizes, which no drift changes) come first: where the time of a run ends early, others have a repetition already.

use std::collections::BTreeMap;

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
        let mut block = units(cells, repetition);
        block.shuffle(&mut seed.derive("order").derive_index(repetition.into()).rng());
        let mut turns = seed.derive("turns").derive_index(repetition.into()).rng();
        for unit in &mut block {
            if unit.len() > 1 {
                unit.shuffle(&mut turns);
            }
        }
        let is_repeated = |cell: &usize| cells[*cell].trial.repetitions > 1;
        block.sort_by_key(|unit| unit.iter().any(is_repeated));
        for cell in block.into_iter().flatten() {
            let index = u32::try_from(trials.len()).expect("a run is limited to far fewer trials than 2^32");
            trials.push(Trial {
                index,
                cell,
                repetition,
                seed: trial_seed(seed, &cells[cell], repetition),
            });
        }
    }
    trials
}

/// The cells that a repetition measures; those of a pair are one unit.
fn units(cells: &[Cell], repetition: u32) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut unit_of = BTreeMap::new();
    for (index, cell) in cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.trial.repetitions > repetition)
    {
        let place = match &cell.variant {
            Some(variant) => *unit_of.entry(&variant.pair).or_insert(units.len()),
            None => units.len(),
        };
        match units.get_mut(place) {
            Some(unit) => unit.push(index),
            None => units.push(vec![index]),
        }
    }
    units
}

/// The same cell and repetition get the same seed in every run of the same seed, whatever else the run measures; both cells of a pair get
/// the same.
fn trial_seed(seed: Seed, cell: &Cell, repetition: u32) -> Seed {
    match &cell.variant {
        Some(variant) => seed.derive(&format!("pair {} repetition {repetition}", variant.pair)),
        None => seed.derive(&format!("cell {} repetition {repetition}", cell.id)),
    }
}
