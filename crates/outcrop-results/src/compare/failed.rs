//! Cells that failed: no trial of them completed, or so few that nothing decides.

use std::collections::{BTreeMap, BTreeSet};

use super::cells::one_spelling;
use super::verdict::LEAST_REPETITIONS;
use super::{Comparand, FailedCell, Side};
use crate::trial::Outcome;
use crate::view::{CellView, RunView};

/// The failed cells of both sides, each once; and the cells in which failures left the candidate some trials, but too few to decide anything:
/// those of which the baseline has too few for the same reason carry both sides.
pub(super) fn of(baseline: Comparand<'_>, candidate: Comparand<'_>) -> [Vec<FailedCell>; 2] {
    let mut failed: BTreeMap<Key, FailedCell> = BTreeMap::new();
    for (comparand, side) in [(baseline, Side::Baseline), (candidate, Side::Candidate)] {
        for (key, cell) in failed_in(comparand, has_failed) {
            failed.entry(key).or_insert(cell).sides.insert(side);
        }
    }
    let few_in_baseline: BTreeSet<Key> = failed_in(baseline, has_few)
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    let depleted = failed_in(candidate, is_depleted)
        .into_iter()
        .map(|(key, mut cell)| {
            cell.sides.insert(Side::Candidate);
            cell.sides
                .extend(few_in_baseline.contains(&key).then_some(Side::Baseline));
            cell
        });
    let depleted = depleted.collect();
    [failed.into_values().collect(), depleted]
}

/// The failed cells of one run, and those with too few trials that completed.
pub(crate) fn of_run(run: &RunView) -> [Vec<FailedCell>; 2] {
    let failed = failed_in(Comparand::Run(run), has_failed);
    let depleted = failed_in(Comparand::Run(run), is_depleted);
    [failed, depleted].map(|cells| cells.into_iter().map(|(_, cell)| cell).collect())
}

fn has_failed(view: &CellView<'_>) -> bool {
    view.completed.is_empty()
}

fn has_few(view: &CellView<'_>) -> bool {
    view.completed.len() < LEAST_REPETITIONS
}

fn is_depleted(view: &CellView<'_>) -> bool {
    has_few(view) && !has_failed(view)
}

/// What makes two failures one: the layer, and the pair of variants or else the factors.
type Key = (String, Option<String>, BTreeMap<String, String>);

fn failed_in(comparand: Comparand<'_>, is_meant: impl Fn(&CellView<'_>) -> bool) -> Vec<(Key, FailedCell)> {
    let (run, variant) = match comparand {
        Comparand::Run(run) => (run, None),
        Comparand::Variant(run, variant) => (run, Some(variant)),
        Comparand::Reference(_) => return Vec::new(),
    };
    let is_of_side =
        |view: &&CellView<'_>| variant.is_none_or(|name| view.variant().is_some_and(|own| own.name == name));
    let cells = run.cells();
    let cells = cells.iter().filter(|view| is_meant(view));
    cells
        .filter(is_of_side)
        .filter_map(|view| {
            let message = view.excluded.iter().find_map(|trial| match &trial.outcome {
                Outcome::Failed { message } => Some(message.clone()),
                _ => None,
            })?;
            let spelled = |(name, value): (&String, &String)| one_spelling(view.schema, name, value);
            let factors: BTreeMap<String, String> = view.factors.iter().map(spelled).collect();
            let pair = variant.and_then(|_| Some(view.variant()?.pair.clone()));
            let of_variants = pair.is_some();
            let key = (
                view.layer.to_owned(),
                pair,
                if of_variants {
                    BTreeMap::new()
                } else {
                    factors.clone()
                },
            );
            let cell = FailedCell {
                sides: BTreeSet::new(),
                layer: view.layer.to_owned(),
                subject: view.subject.to_owned(),
                factors,
                message,
            };
            Some((key, cell))
        })
        .collect()
}
