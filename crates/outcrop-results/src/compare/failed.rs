//! Cells that failed: no trial of them completed, or so few that nothing decides; and those that a run ended before it had enough trials of them.

use std::collections::{BTreeMap, BTreeSet};

use super::cells::one_spelling;
use super::verdict::LEAST_REPETITIONS;
use super::{Comparand, FailedCell, Side};
use crate::trial::Outcome;
use crate::view::{CellView, RunView};

/// The failed cells of both sides, each once; the cells in which failures left the candidate some trials, but too few to decide anything; and those
/// of the candidate that were cut short. Of the last two, those of which the baseline has too few as well carry both sides.
pub(super) fn of(baseline: Comparand<'_>, candidate: Comparand<'_>) -> [Vec<FailedCell>; 3] {
    let mut failed: BTreeMap<Key, FailedCell> = BTreeMap::new();
    for (comparand, side) in [(baseline, Side::Baseline), (candidate, Side::Candidate)] {
        for (key, cell) in cells_in(comparand, |view| has_failed(view).then(|| failure(view))?) {
            failed.entry(key).or_insert(cell).sides.insert(side);
        }
    }
    let with_sides = |cells: Vec<(Key, FailedCell)>, few_in_baseline: &BTreeSet<Key>| {
        let both = cells.into_iter().map(|(key, mut cell)| {
            cell.sides.insert(Side::Candidate);
            cell.sides
                .extend(few_in_baseline.contains(&key).then_some(Side::Baseline));
            cell
        });
        both.collect()
    };
    let keys = |cells: Vec<(Key, FailedCell)>| cells.into_iter().map(|(key, _)| key).collect();
    let few_by_failure = keys(cells_in(baseline, |view| has_few(view).then(|| failure(view))?));
    let few = keys(cells_in(baseline, |view| has_few(view).then(String::new)));
    [
        failed.into_values().collect(),
        with_sides(cells_in(candidate, depletion), &few_by_failure),
        with_sides(cut_short(candidate), &few),
    ]
}

/// The failed cells of one run, those that failures left too few trials, and those that were cut short.
pub(crate) fn of_run(run: &RunView) -> [Vec<FailedCell>; 3] {
    let side = Comparand::Run(run);
    let failed = cells_in(side, |view| has_failed(view).then(|| failure(view))?);
    let all = [failed, cells_in(side, depletion), cut_short(side)];
    all.map(|cells| cells.into_iter().map(|(_, cell)| cell).collect())
}

/// Cells with too few trials although their plan asks for more and none failed: the run ended, or its time was over, before.
fn cut_short(side: Comparand<'_>) -> Vec<(Key, FailedCell)> {
    let (Comparand::Run(run) | Comparand::Variant(run, _)) = side else {
        return Vec::new();
    };
    let asked = run.trials_asked();
    cells_in(side, |view| {
        let of_plans = view.plans.iter().filter_map(|plan| asked.get(*plan));
        let (asked, completed) = (*of_plans.max()?, view.completed.len());
        let is_enough_asked = asked >= LEAST_REPETITIONS;
        let is_short = has_few(view) && is_enough_asked && completed < asked && failure(view).is_none();
        is_short.then(|| format!("{completed} of {asked} trials were measured"))
    })
}

/// The first message of a trial that failed.
fn failure(view: &CellView<'_>) -> Option<String> {
    view.excluded.iter().find_map(|trial| match &trial.outcome {
        Outcome::Failed { message } => Some(message.clone()),
        _ => None,
    })
}

fn has_failed(view: &CellView<'_>) -> bool {
    view.completed.is_empty()
}

fn has_few(view: &CellView<'_>) -> bool {
    view.completed.len() < LEAST_REPETITIONS
}

fn depletion(view: &CellView<'_>) -> Option<String> {
    (has_few(view) && !has_failed(view)).then(|| failure(view))?
}

/// What makes two failures one: the layer, and the pair of variants or else the factors.
type Key = (String, Option<String>, BTreeMap<String, String>);

/// The cells of a side of which something is to be said, with that.
fn cells_in(
    comparand: Comparand<'_>,
    said_of: impl Fn(&CellView<'_>) -> Option<String>,
) -> Vec<(Key, FailedCell)> {
    let (run, variant) = match comparand {
        Comparand::Run(run) => (run, None),
        Comparand::Variant(run, variant) => (run, Some(variant)),
        Comparand::Reference(_) => return Vec::new(),
    };
    let is_of_side =
        |view: &&CellView<'_>| variant.is_none_or(|name| view.variant().is_some_and(|own| own.name == name));
    let cells = run.cells();
    cells
        .iter()
        .filter(is_of_side)
        .filter_map(|view| {
            let message = said_of(view)?;
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
