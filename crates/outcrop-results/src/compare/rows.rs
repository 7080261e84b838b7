//! Every metric of two cells that meet, with its ratio and what tests it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use outcrop_measure::interval::Interval;
use outcrop_measure::metric::{Provenance, Scope, Unit};
use outcrop_measure::ratio::{RatioTest, beside_a_constant, independent, of_intervals, paired};
use outcrop_schema::metrics::AS_PUBLISHED;

use super::cells::Cell;
use super::conditions;
use super::verdict::{LEAST_BESIDE_A_CONSTANT, LEAST_PAIRS, LEAST_REPETITIONS, Undecided, of_exact};
use super::{ComparisonRow, Figure, NotComparable, Side, Verdict};
use crate::view::{Samples, Uncertainty};

pub(super) fn empty(cell: &Cell, a: Option<&Cell>, b: Option<&Cell>, metric: &str) -> ComparisonRow {
    let schema = cell.schema;
    let is_published = [a, b].into_iter().flatten().any(|cell| cell.is_reference);
    let defined = schema.and_then(|schema| schema.metric(metric));
    ComparisonRow {
        layer: cell.layer.clone(),
        baseline_subject: a.map(|cell| cell.subject.clone()),
        candidate_subject: b.map(|cell| cell.subject.clone()),
        factors: cell.factors.clone(),
        metric: metric.to_owned(),
        better: defined.and_then(|metric| metric.better),
        is_headline: schema.is_some_and(|schema| schema.headline.iter().any(|known| known.name == metric)),
        // What a publication states, it states for itself.
        is_repeated: !is_published
            && schema.is_some_and(|schema| {
                // What one cell says twice may be all that the other one has of it: reads alone, next to the reads of a mix.
                let mut sides = [a, b].into_iter().flatten();
                sides.all(|side| {
                    (schema.repeats)(&side.factors, metric) || (schema.follows)(&side.factors, metric)
                })
            }),
        baseline: None,
        candidate: None,
        ratio: None,
        interval: None,
        p_value: None,
        drift: 0.0,
        busier: BTreeSet::new(),
        crowding: None,
        lower_by_definition: lower_by_definition(a, b, metric),
        imported: imported(a, b),
        is_of_sample: false,
        repetitions_needed: None,
        verdict: Verdict::Undecided(Undecided::NoRatio),
    }
}

/// The side that leaves the submission out of a latency which the other side has with it, or leaves it out in more of its trials. What a publication covers, nobody knows.
fn lower_by_definition(a: Option<&Cell>, b: Option<&Cell>, metric: &str) -> Option<Side> {
    let (a, b) = (a?, b?);
    if a.is_reference || b.is_reference {
        return None;
    }
    let begins_later = |cell: &Cell| cell.from_submission_end.get(metric).copied().unwrap_or(0.0);
    match begins_later(a).partial_cmp(&begins_later(b))? {
        Ordering::Greater => Some(Side::Baseline),
        Ordering::Less => Some(Side::Candidate),
        Ordering::Equal => None,
    }
}

fn imported(a: Option<&Cell>, b: Option<&Cell>) -> BTreeSet<Side> {
    let sides = [(a, Side::Baseline), (b, Side::Candidate)].into_iter();
    let imported = sides.filter(|(cell, _)| cell.is_some_and(|cell| cell.is_imported));
    imported.map(|(_, side)| side).collect()
}

/// Two runs are compared on every metric of either; a reference names the metrics that are of interest.
pub(super) fn of_cells(
    (a, b): (&Cell, &Cell),
    reasons: &[NotComparable],
    is_paired: bool,
) -> Vec<ComparisonRow> {
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
        .map(|metric| row_of((a, b), metric, reasons.to_vec(), is_paired))
        .collect()
}

fn row_of(
    (a, b): (&Cell, &Cell),
    metric: &str,
    mut reasons: Vec<NotComparable>,
    is_paired: bool,
) -> ComparisonRow {
    // The run's factors say more than the reference's.
    let mut row = empty(if a.is_reference { b } else { a }, Some(a), Some(b), metric);
    if a.pair.is_some() {
        // Variants differ in some factors: those that they share name the cell.
        row.factors
            .retain(|name, value| b.factors.get(name) == Some(value));
    }
    let samples = (a.metrics.get(metric), b.metrics.get(metric));
    row.baseline = samples.0.and_then(figure);
    row.candidate = samples.1.and_then(figure);
    reasons.extend(metric_reasons(metric, samples));
    reasons.extend(set_by_factors((a, b), metric));
    reasons.extend(set_by_length((a, b), metric));
    for (cell, side) in [(a, Side::Baseline), (b, Side::Candidate)] {
        reasons.extend(conditions::unstated_of_metric(cell, metric, side));
    }
    let (true, Some(a_samples), Some(b_samples)) = (reasons.is_empty(), samples.0, samples.1) else {
        row.verdict = Verdict::NotComparable(reasons);
        return row;
    };
    let (a_samples, b_samples) = (
        &in_each_trial(a, a_samples, b_samples.scope),
        &in_each_trial(b, b_samples, a_samples.scope),
    );
    let figures = row.baseline.as_ref().zip(row.candidate.as_ref());
    row.ratio = figures.map(|(a, b)| b.median / a.median);
    if is_exact((a, a_samples), (b, b_samples)) {
        row.verdict = row
            .ratio
            .map_or(row.verdict.clone(), |ratio| of_exact(&row, ratio));
        return row;
    }
    let test = if is_paired && a_samples.scope == Scope::Trial {
        paired(&ratios_of_pairs((a, a_samples), (b, b_samples)))
    } else {
        tested((a, a_samples), (b, b_samples))
    };
    row.is_of_sample = sampled(a_samples).is_some() && sampled(b_samples).is_some();
    row.interval = test.map(|test| test.interval);
    if is_paired {
        row.ratio = row.interval.map(|interval| interval.estimate).or(row.ratio);
    }
    match undecidable((a, a_samples), (b, b_samples), is_paired) {
        Some(why) => row.verdict = Verdict::Undecided(why),
        None => row.p_value = test.map(|test| test.p_value),
    }
    row
}

/// A figure of the data next to one that varies with the trials: all trials of its cell gave it.
fn in_each_trial<'s>(cell: &Cell, samples: &'s Samples, other: Scope) -> Cow<'s, Samples> {
    let is_single = samples.scope == Scope::DataSet && other == Scope::Trial && sampled(samples).is_none();
    match samples.values.first().filter(|_| is_single && !cell.is_reference) {
        Some(value) => Cow::Owned(Samples {
            scope: Scope::Trial,
            values: vec![*value; cell.repetitions.len()],
            ..samples.clone()
        }),
        None => Cow::Borrowed(samples),
    }
}

/// What belongs to the data has no other value for the same data: nothing is left to chance.
fn is_exact((a, a_samples): (&Cell, &Samples), (b, b_samples): (&Cell, &Samples)) -> bool {
    a_samples.scope == Scope::DataSet && b_samples.scope == Scope::DataSet && a.took_what(b)
}

/// The test of candidate ÷ baseline. A figure that was published once is a constant; a run's single
/// repetition is not, because we know that the next one would differ.
fn tested((a, a_samples): (&Cell, &Samples), (b, b_samples): (&Cell, &Samples)) -> Option<RatioTest> {
    if let (Some(baseline), Some(candidate)) = (sampled(a_samples), sampled(b_samples)) {
        return of_intervals(&candidate, &baseline);
    }
    let (of_a, of_b) = (&a_samples.values, &b_samples.values);
    match (a.is_reference, b.is_reference) {
        (true, false) if of_a.len() == 1 => {
            beside_a_constant(&of_b.iter().map(|value| value / of_a[0]).collect::<Vec<_>>())
        }
        (false, true) if of_b.len() == 1 => {
            beside_a_constant(&of_a.iter().map(|value| of_b[0] / value).collect::<Vec<_>>())
        }
        _ => independent(of_b, of_a),
    }
}

/// The interval that the draw of the data gives a figure.
fn sampled(samples: &Samples) -> Option<Interval> {
    match &samples.uncertainty {
        Uncertainty::Sampled(interval) => Some(*interval),
        Uncertainty::Repetitions | Uncertainty::Unsupported(_) | Uncertainty::Pooled(_) => None,
    }
}

/// Candidate ÷ baseline of every repetition that both have.
fn ratios_of_pairs((a, a_samples): (&Cell, &Samples), (b, b_samples): (&Cell, &Samples)) -> Vec<f64> {
    let of_baseline = |repetition: &u32| {
        let place = a.repetitions.iter().position(|other| other == repetition)?;
        a_samples.values.get(place)
    };
    let candidate = b.repetitions.iter().zip(&b_samples.values);
    candidate
        .filter_map(|(repetition, value)| Some(value / of_baseline(repetition)?))
        .collect()
}

/// Why the values decide nothing, whatever they are.
fn undecidable(
    (a, a_samples): (&Cell, &Samples),
    (b, b_samples): (&Cell, &Samples),
    is_paired: bool,
) -> Option<Undecided> {
    let is_constant = |cell: &Cell, samples: &Samples| cell.is_reference && samples.values.len() == 1;
    let constants = [is_constant(a, a_samples), is_constant(b, b_samples)];
    if constants == [true, true] {
        return Some(Undecided::BothPublished);
    }
    let is_beside_a_constant = constants.contains(&true);
    for (cell, samples) in [(a, a_samples), (b, b_samples)] {
        if sampled(samples).is_some() || is_constant(cell, samples) {
            continue;
        }
        match samples.scope {
            Scope::Run => return Some(Undecided::OncePerRun),
            Scope::DataSet => return Some(Undecided::OtherSample),
            Scope::Trial if is_paired && samples.values.len() < LEAST_PAIRS => {
                return Some(Undecided::FewPairs);
            }
            Scope::Trial if is_beside_a_constant && samples.values.len() < LEAST_BESIDE_A_CONSTANT => {
                return Some(Undecided::FewBesidePublished);
            }
            Scope::Trial if samples.values.len() < LEAST_REPETITIONS => {
                return Some(Undecided::FewRepetitions);
            }
            Scope::Trial => {}
        }
    }
    None
}

/// The factors that differ and set the metric by what they ask for.
fn set_by_factors((a, b): (&Cell, &Cell), metric: &str) -> Vec<NotComparable> {
    let factors = a.schema.map_or(&[][..], |schema| (schema.set_by)(metric));
    let differing = factors.iter().filter_map(|factor| {
        let (baseline, candidate) = (a.factors.get(factor.name)?, b.factors.get(factor.name)?);
        (baseline != candidate).then(|| NotComparable::SetByFactor {
            factor: factor.words(),
            baseline: baseline.clone(),
            candidate: candidate.clone(),
        })
    });
    differing.collect()
}

/// What ends the name of a time of which the largest in a trial counts: a longer trial with more operations has a larger one.
const MAXIMUM: &str = "_max";
/// Whether trials of two lengths, in time or in operations, are not as long as each other: they differ by more than a tenth.
pub fn are_unlike_lengths(one: f64, other: f64) -> bool {
    const SAME_LENGTH: f64 = 1.1;
    one.max(other) > one.min(other) * SAME_LENGTH
}

/// The lengths of the trials, where the figure is a maximum and they differ, in time and in operations. Where only the time differs, one side
/// was slower with the same work; where only the operations do, in the same time.
fn set_by_length((a, b): (&Cell, &Cell), metric: &str) -> Option<NotComparable> {
    let are_apart = |(a, b): (f64, f64)| are_unlike_lengths(a, b);
    let (baseline, candidate) = a.trial_s.zip(b.trial_s)?;
    let unit = a.metrics.get(metric).map(|samples| samples.unit);
    let is_apart = metric.ends_with(MAXIMUM)
        && unit == Some(Unit::Nanoseconds)
        && are_apart((baseline, candidate))
        && a.operations.zip(b.operations).is_none_or(are_apart);
    let nanoseconds = |seconds: f64| (1e9 * seconds).round() as u64;
    is_apart.then(|| NotComparable::TrialLengthDiffers {
        baseline_ns: nanoseconds(baseline),
        candidate_ns: nanoseconds(candidate),
    })
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
            Some(figure) if figure.median == 0.0 => reasons.push(NotComparable::Zero {
                side,
                is_always: own.values.iter().all(|value| *value == 0.0),
            }),
            Some(_) => {}
        }
    }
    reasons
}

pub(super) fn figure(samples: &Samples) -> Option<Figure> {
    let median = samples.median()?;
    Some(Figure {
        median,
        unit: samples.unit,
        n: samples.values.len(),
        provenance: samples.provenance,
    })
}
