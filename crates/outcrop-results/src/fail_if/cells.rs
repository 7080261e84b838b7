//! Limits on the figures themselves, `p99 > 1ms`: judged in each cell of one side, by its interval.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::{Scope, Unit};
use outcrop_measure::ratio::samples_to_exclude;
use serde::Serialize;

use super::lacking::more_operations;
use super::{Direction, FailIf, FailIfReport};
use crate::compare::verdict::LEAST_REPETITIONS;
use crate::compare::{SideCell, Undecided, enough, repeat};
use crate::error::ResultsError;
use crate::factors::varying;
use crate::view::{NONE_COMPLETED, Samples, Uncertainty, is_of_some_trials, lacks_operations, longer_by};

/// A cell whose figure is beyond a limit, with all of its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellBeyond {
    /// Layer measured.
    pub layer: String,
    /// What was measured.
    pub subject: String,
    /// The cell, in one spelling.
    pub factors: BTreeMap<String, String>,
    /// Names of those of which cells of its layer have several values.
    #[serde(skip)]
    pub varying: BTreeSet<String>,
    /// Full name of the metric.
    pub metric: String,
    /// Its median, in the unit.
    pub value: f64,
    /// Lower end of its interval; the value itself where it is exact.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Unit of the three.
    pub unit: Unit,
    /// Share of the CPUs that others used while it was measured, where that is known: no limit allows for it.
    pub others_cpu_share: Option<f64>,
}

impl FailIf {
    /// Checks a limit on every cell that has the metric; `report` has what the condition says nothing of.
    pub(super) fn check_cells<'a>(
        &self,
        (limit, unit): (f64, Unit),
        cells: &[SideCell],
        mut report: FailIfReport<'a>,
    ) -> Result<FailIfReport<'a>, ResultsError> {
        let mut first_reason = None;
        let varying = varying(cells.iter().map(|cell| (cell.layer.as_str(), &cell.factors)));
        for cell in cells {
            let Some(samples) = cell.metrics.get(&self.metric) else {
                continue;
            };
            let found = match bounds(cell, samples, unit) {
                Ok((value, low, high)) => CellBeyond {
                    layer: cell.layer.clone(),
                    subject: cell.subject.clone(),
                    factors: cell.factors.clone(),
                    varying: varying.get(cell.layer.as_str()).cloned().unwrap_or_default(),
                    metric: self.metric.clone(),
                    value,
                    low,
                    high,
                    unit,
                    others_cpu_share: cell.others_cpu_share,
                },
                Err(Unjudged { reason, is_of_few }) => {
                    let is_short = lacks_operations(&reason);
                    if is_short && !cell.is_imported {
                        report.lacking_operations += 1;
                        report.longer_by.insert(longer_by(&cell.layer, &cell.factors));
                    }
                    // What a cell of ours lacks otherwise has no meaning there: writes of a read-only image, a server that is not installed.
                    let is_stalled = is_of_some_trials(&reason) || reason.contains(NONE_COMPLETED);
                    if is_short || is_stalled || (cell.is_imported && samples.values.is_empty()) {
                        report.without_figure.push(reason.clone());
                    } else if samples.unit == unit && samples.no_interval().is_some() {
                        report.without_interval.push(reason.clone());
                    }
                    first_reason.get_or_insert((reason, is_of_few));
                    report.unchecked += 1;
                    continue;
                }
            };
            report.checked += 1;
            let (is_met, is_possible) = match self.direction {
                Direction::Above => (found.low > limit, found.high > limit),
                Direction::Below => (found.high < limit, found.low < limit),
            };
            let begins_later = cell.from_submission_end.contains(self.metric.as_str());
            report.from_submission_end +=
                usize::from(begins_later && !is_met && self.direction == Direction::Above);
            if is_met {
                report.beyond.push(found);
            } else if is_possible {
                report.undecided += 1;
                report.undecided_by_sample += usize::from(is_of_sample(samples));
                report
                    .repetitions_needed
                    .extend(repetitions_needed(samples, limit));
            }
        }
        match (report.checked, first_reason) {
            (0, Some((reason, is_of_few))) => Err(ResultsError::NothingToCheck {
                metric: self.metric.clone(),
                reason: report.why_none(reason, is_of_few),
            }),
            (0, None) => Err(self.unknown(cells.iter().flat_map(|cell| cell.metrics.keys()))),
            _ => Ok(report),
        }
    }

    /// The error that no figure is the condition's, with those that there are.
    pub(super) fn unknown<'m>(&self, available: impl Iterator<Item = &'m String>) -> ResultsError {
        let available: BTreeSet<&String> = available.collect();
        ResultsError::UnknownMetric {
            metric: self.metric.clone(),
            available: available.into_iter().cloned().collect(),
        }
    }
}

/// Why a cell cannot be judged.
struct Unjudged {
    reason: String,
    /// Whether that is for want of repetitions.
    is_of_few: bool,
}

impl From<String> for Unjudged {
    fn from(reason: String) -> Self {
        Self {
            reason,
            is_of_few: false,
        }
    }
}

/// A figure and what it lies between; or why that is not known.
fn bounds(cell: &SideCell, samples: &Samples, unit: Unit) -> Result<(f64, f64, f64), Unjudged> {
    if cell.is_published {
        let reason = "published figures have no repetitions to judge; give a run as the candidate";
        return Err(reason.to_owned().into());
    }
    if samples.unit != unit {
        let (own, limit) = (samples.unit.symbol(), unit.symbol());
        return Err(format!("its unit is {own}, and that of the limit is {limit}").into());
    }
    let Some(summary) = samples.summary() else {
        let reason = samples.unavailable.clone();
        let reason = reason.unwrap_or_else(|| "no trial gave a value".to_owned());
        let help = if cell.is_imported {
            String::new()
        } else {
            more_operations(&reason, longer_by(&cell.layer, &cell.factors))
        };
        return Err(format!("{reason}{help}").into());
    };
    if let Some(reason) = samples.no_interval() {
        return Err(reason.to_owned().into());
    }
    let is_sampled = is_of_sample(samples);
    match samples.scope {
        // What belongs to all of the data is exact.
        Scope::DataSet if !is_sampled => Ok((summary.median, summary.median, summary.median)),
        Scope::Run => Err(Undecided::OncePerRun.to_string().into()),
        Scope::Trial if !is_sampled && samples.values.len() < LEAST_REPETITIONS => Err(Unjudged {
            reason: format!(
                "fewer than {LEAST_REPETITIONS} repetitions; {}",
                repeat(LEAST_REPETITIONS, &[cell.is_imported].into())
            ),
            is_of_few: true,
        }),
        Scope::Trial | Scope::DataSet => {
            let interval = summary.interval.ok_or_else(|| "it has no interval".to_owned())?;
            Ok((summary.median, interval.low, interval.high))
        }
    }
}

/// Whether its interval is that of a sample of the data, which repetitions do not narrow.
const fn is_of_sample(samples: &Samples) -> bool {
    matches!(samples.uncertainty, Uncertainty::Sampled(_))
}

/// About how many repetitions bring all of a figure's interval to one side of a limit.
fn repetitions_needed(samples: &Samples, limit: f64) -> Option<usize> {
    let interval = samples.summary()?.interval.filter(|_| !is_of_sample(samples))?;
    let estimate = samples_to_exclude(&interval, limit, 1)?;
    Some(enough(estimate, interval.n, None))
}
