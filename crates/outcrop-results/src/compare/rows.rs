//! Pairs the cells of two sides and judges every metric of a pair.

use std::collections::BTreeSet;

use outcrop_measure::Seed;
use outcrop_measure::interval::{Interval, bootstrap_ratio_of_medians};
use outcrop_measure::metric::{Better, Provenance, Scope};
use outcrop_schema::metrics::AS_PUBLISHED;

use super::cells::Cell;
use super::{ComparisonRow, Figure, NotComparable, Side, UnmatchedCell, Verdict, conditions};
use crate::view::Samples;

#[derive(Default)]
pub(super) struct Paired {
    pub(super) rows: Vec<ComparisonRow>,
    pub(super) unmatched: Vec<UnmatchedCell>,
}

/// Cells that meet make rows. Where several meet, those without an objection pair among themselves; only a
/// cell that has no such partner is held beside the others, to say why it cannot be compared.
pub(super) fn pair(baseline: &[Cell], candidate: &[Cell]) -> Paired {
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
    let (mut met_a, mut met_b) = (BTreeSet::new(), BTreeSet::new());
    for (i, j, reasons) in &meetings {
        let makes_rows = if reasons.is_empty() {
            are_partners(&(*i, *j))
        } else {
            !(settled_a.contains(i) || settled_b.contains(j))
        };
        if makes_rows {
            paired
                .rows
                .extend(rows_of(&baseline[*i], &candidate[*j], reasons));
            met_a.insert(*i);
            met_b.insert(*j);
        }
    }
    paired.leave_over(baseline, &met_a, Side::Baseline);
    paired.leave_over(candidate, &met_b, Side::Candidate);
    paired
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
                });
                continue;
            }
            let (a, b) = if side == Side::Baseline {
                (Some(cell), None)
            } else {
                (None, Some(cell))
            };
            for (metric, samples) in &cell.metrics {
                let mut row = empty_row(cell, a, b, metric);
                let place = if side == Side::Baseline {
                    &mut row.baseline
                } else {
                    &mut row.candidate
                };
                *place = figure(samples);
                row.verdict = Verdict::NotComparable(reasons.clone());
                self.rows.push(row);
            }
        }
    }
}

fn empty_row(cell: &Cell, a: Option<&Cell>, b: Option<&Cell>, metric: &str) -> ComparisonRow {
    ComparisonRow {
        layer: cell.layer.clone(),
        baseline_subject: a.map(|cell| cell.subject.clone()),
        candidate_subject: b.map(|cell| cell.subject.clone()),
        factors: cell.factors.clone(),
        metric: metric.to_owned(),
        baseline: None,
        candidate: None,
        ratio: None,
        interval: None,
        verdict: Verdict::Undecided,
    }
}

/// Two runs are compared on every metric of either; a reference names the metrics that are of interest.
fn rows_of(a: &Cell, b: &Cell, reasons: &[NotComparable]) -> Vec<ComparisonRow> {
    let names_of = |cell: &Cell, other: &Cell| {
        let is_of_interest = cell.is_reference || !other.is_reference;
        cell.metrics
            .keys()
            .filter(move |_| is_of_interest)
            .cloned()
            .collect::<Vec<_>>()
    };
    let names: BTreeSet<String> = names_of(a, b).into_iter().chain(names_of(b, a)).collect();
    names
        .iter()
        .map(|metric| row_of(a, b, metric, reasons.to_vec()))
        .collect()
}

fn row_of(a: &Cell, b: &Cell, metric: &str, mut reasons: Vec<NotComparable>) -> ComparisonRow {
    // The run's factors say more than the reference's.
    let mut row = empty_row(if a.is_reference { b } else { a }, Some(a), Some(b), metric);
    let samples = (a.metrics.get(metric), b.metrics.get(metric));
    row.baseline = samples.0.and_then(figure);
    row.candidate = samples.1.and_then(figure);
    reasons.extend(metric_reasons(metric, samples));
    let (true, Some(a_samples), Some(b_samples)) = (reasons.is_empty(), samples.0, samples.1) else {
        row.verdict = Verdict::NotComparable(reasons);
        return row;
    };
    row.ratio = row
        .baseline
        .as_ref()
        .zip(row.candidate.as_ref())
        .map(|(a, b)| b.median / a.median);
    let label = format!("{} {:?} {metric}", a.layer, a.factors);
    let is_published = (a.is_reference, b.is_reference);
    row.interval = ratio_interval(a_samples, b_samples, is_published, Seed(0).derive(&label));
    let bounds = row.interval.map(|interval| (interval.low, interval.high));
    // What belongs to the data has no other value for the same data: it is compared as it stands.
    let is_exact = a_samples.scope == Scope::DataSet && b_samples.scope == Scope::DataSet && a.has_data_of(b);
    let exact = row.ratio.filter(|_| is_exact).map(|ratio| (ratio, ratio));
    row.verdict = bounds
        .or(exact)
        .map_or(Verdict::Undecided, |bounds| judge(bounds, better(a, metric)));
    row
}

/// The interval of candidate ÷ baseline. A figure that was published once is a constant; a run's single
/// repetition is not, because we know that the next one would differ.
fn ratio_interval(
    baseline: &Samples,
    candidate: &Samples,
    is_published: (bool, bool),
    seed: Seed,
) -> Option<Interval> {
    let constant = |samples: &Samples, n: usize| vec![samples.values[0]; n];
    let (a, b) = (&baseline.values, &candidate.values);
    match is_published {
        (true, false) if a.len() == 1 => bootstrap_ratio_of_medians(b, &constant(baseline, b.len()), seed),
        (false, true) if b.len() == 1 => bootstrap_ratio_of_medians(&constant(candidate, a.len()), a, seed),
        _ => bootstrap_ratio_of_medians(b, a, seed),
    }
}

fn metric_reasons(metric: &str, samples: (Option<&Samples>, Option<&Samples>)) -> Vec<NotComparable> {
    let (Some(a), Some(b)) = samples else {
        if metric.ends_with(AS_PUBLISHED) {
            return vec![NotComparable::UndefinedMetric {
                metric: metric.to_owned(),
            }];
        }
        let side = if samples.0.is_none() {
            Side::Baseline
        } else {
            Side::Candidate
        };
        return vec![NotComparable::MetricMissing {
            side,
            metric: metric.to_owned(),
        }];
    };
    let mut reasons = Vec::new();
    if a.unit != b.unit {
        reasons.push(NotComparable::UnitDiffers {
            baseline: a.unit,
            candidate: b.unit,
        });
    }
    let is_modelled = |samples: &Samples| samples.provenance == Provenance::Modelled;
    for (own, other, side) in [(a, b, Side::Baseline), (b, a, Side::Candidate)] {
        if is_modelled(own) && !is_modelled(other) {
            reasons.push(NotComparable::Modelled { side });
        }
        match figure(own) {
            None => {
                let reason = own
                    .unavailable
                    .clone()
                    .unwrap_or_else(|| "no reason given".to_owned());
                reasons.push(NotComparable::Unavailable { side, reason });
            }
            Some(figure) if figure.median == 0.0 => reasons.push(NotComparable::Zero { side }),
            Some(_) => {}
        }
    }
    reasons
}

fn figure(samples: &Samples) -> Option<Figure> {
    let median = samples.median()?;
    Some(Figure {
        median,
        unit: samples.unit,
        n: samples.values.len(),
        provenance: samples.provenance,
    })
}

/// Which way is better, where the cell's layer has such a metric and a way.
fn better(cell: &Cell, metric: &str) -> Option<Better> {
    cell.schema?.metric(metric)?.better
}

fn judge((low, high): (f64, f64), better: Option<Better>) -> Verdict {
    if low <= 1.0 && high >= 1.0 {
        return Verdict::Same;
    }
    match better {
        None => Verdict::Different,
        Some(better) if (better == Better::Higher) == (low > 1.0) => Verdict::Better,
        Some(_) => Verdict::Worse,
    }
}
