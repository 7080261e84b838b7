//! Which cells of two sides are compared with each other, and which are left over.

use std::collections::BTreeSet;

use outcrop_measure::metric::Scope;

use super::cells::Cell;
use super::verdict::LEAST_REPETITIONS;
use super::{
    ComparisonRow, LoadDifference, NotComparable, Side, UnmatchedCell, Verdict, conditions, load, rows,
};
use crate::view::Samples;

#[derive(Default)]
pub(super) struct Paired {
    pub(super) rows: Vec<ComparisonRow>,
    pub(super) unmatched: Vec<UnmatchedCell>,
    /// Of cells that are compared and were measured apart.
    pub(super) loads: Vec<LoadDifference>,
}

/// Cells that meet make rows. Where several meet, those without an objection pair among themselves; only a
/// cell that has no such partner is compared with the others, to say why it cannot be.
///
/// `is_paired`: repetitions of one number were measured together. `is_one_storage`: nothing says that the two were measured on different storage.
pub(super) fn pair(
    baseline: &[Cell],
    candidate: &[Cell],
    (is_paired, is_one_storage): (bool, bool),
) -> Paired {
    let mut paired = Paired::default();
    let meetings: Vec<(usize, usize, Vec<NotComparable>)> = baseline
        .iter()
        .enumerate()
        .filter(|(_, a)| conditions::unstated_workload(a, Side::Baseline).is_empty())
        .flat_map(|(i, a)| {
            let meets = candidate.iter().enumerate().filter(move |(_, b)| {
                conditions::unstated_workload(b, Side::Candidate).is_empty() && conditions::meet(a, b)
            });
            meets.map(move |(j, b)| (i, j, conditions::reasons(a, b)))
        })
        .collect();
    let without_objection = || {
        let free = meetings.iter().filter(|(.., reasons)| reasons.is_empty());
        free.map(|(i, j, _)| (*i, *j))
    };
    // Where a cell meets several, those of its own subject are its partners.
    let is_own = |(i, j): &(usize, usize)| baseline[*i].subject == candidate[*j].subject;
    let (own_a, own_b): (BTreeSet<usize>, BTreeSet<usize>) = without_objection().filter(is_own).unzip();
    let are_partners =
        |pair: &(usize, usize)| is_own(pair) || !(own_a.contains(&pair.0) || own_b.contains(&pair.1));
    let (settled_a, settled_b): (BTreeSet<usize>, BTreeSet<usize>) =
        without_objection().filter(are_partners).unzip();
    // Each figure of a publication says something of the cell beside it; which of several runs' files is the one before, nothing says.
    let is_ambiguous = |(i, j): (usize, usize)| {
        let of_candidate = without_objection().filter(|pair| pair.1 == j && are_partners(pair));
        !(is_own(&(i, j)) || baseline[i].is_reference || candidate[j].is_reference)
            && of_candidate.count() > 1
    };
    let (mut met_a, mut met_b) = (BTreeSet::new(), BTreeSet::new());
    for (i, j, reasons) in &meetings {
        let is_unclear = reasons.is_empty() && are_partners(&(*i, *j)) && is_ambiguous((*i, *j));
        let unclear = is_unclear.then(|| NotComparable::SeveralSubjects {
            baseline: baseline[*i].subject.clone(),
            candidate: candidate[*j].subject.clone(),
        });
        let reasons = &unclear.map_or_else(|| reasons.clone(), |unclear| vec![unclear]);
        let makes_rows = if is_unclear {
            true
        } else if reasons.is_empty() {
            are_partners(&(*i, *j))
        } else {
            !(settled_a.contains(i) || settled_b.contains(j))
        };
        if makes_rows {
            let (a, b) = (&baseline[*i], &candidate[*j]);
            // Pairs were measured one directly after the other.
            let loads = match !is_paired && reasons.is_empty() {
                true => load::between(a, b, is_one_storage),
                false => Vec::new(),
            };
            let busier: BTreeSet<_> = loads.iter().map(|load| (load.busier, load.measure)).collect();
            let crowding = load::crowding(a, b).filter(|_| !is_paired);
            let its = rows::of_cells((a, b), reasons, is_paired);
            paired.rows.extend(its.into_iter().map(|row| ComparisonRow {
                busier: busier.clone(),
                crowding,
                ..row
            }));
            paired.loads.extend(loads);
            met_a.insert(*i);
            met_b.insert(*j);
        }
    }
    paired.leave_over(baseline, &met_a, Side::Baseline);
    paired.leave_over(candidate, &met_b, Side::Candidate);
    paired
}

/// The metrics of which a cell has enough values: what belongs to the data needs no number of trials.
fn judgeable(cell: &Cell) -> BTreeSet<String> {
    let is_enough = |samples: &Samples| match samples.scope {
        Scope::Trial => samples.values.len() >= LEAST_REPETITIONS,
        Scope::Run | Scope::DataSet => !samples.values.is_empty(),
    };
    let judgeable = cell.metrics.iter().filter(|(_, samples)| is_enough(samples));
    judgeable.map(|(name, _)| name.clone()).collect()
}

impl Paired {
    fn leave_over(&mut self, cells: &[Cell], met: &BTreeSet<usize>, side: Side) {
        for (_, cell) in cells.iter().enumerate().filter(|(index, _)| !met.contains(index)) {
            let reasons = conditions::unstated_workload(cell, side);
            if reasons.is_empty() {
                self.unmatched.push(UnmatchedCell {
                    side,
                    layer: cell.layer.clone(),
                    subject: cell.subject.clone(),
                    factors: cell.factors.clone(),
                    judgeable: judgeable(cell),
                });
                continue;
            }
            let (a, b) = if side == Side::Baseline {
                (Some(cell), None)
            } else {
                (None, Some(cell))
            };
            for (metric, samples) in &cell.metrics {
                let mut row = rows::empty(cell, a, b, metric);
                let place = if side == Side::Baseline {
                    &mut row.baseline
                } else {
                    &mut row.candidate
                };
                *place = rows::figure(samples);
                row.verdict = Verdict::NotComparable(reasons.clone());
                self.rows.push(row);
            }
        }
    }
}
