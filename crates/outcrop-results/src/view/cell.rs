//! One cell of a run over its repetitions: values, summaries, merged histograms, series over time.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::interval::{Summary, median, summarise};
use outcrop_measure::metric::{Better, Metric, Provenance, Scope, Unit};
use outcrop_schema::{LayerSchema, Pooled, RemarkKind, Vocabulary};

use super::reasons::{self, longer_by, of_trials, only_some, too_few_together};
use super::sampling::Uncertainty;
use super::stall;
use crate::error::ResultsError;
use crate::trial::{HistogramEntry, HistogramKind, Outcome, TrialEntry, Value, Variant};

/// One cell of a run: one combination of factors of one subject, over its repetitions.
#[derive(Clone, Debug)]
pub struct CellView<'a> {
    /// Its identifier.
    pub id: &'a str,
    /// Layer measured.
    pub layer: &'a str,
    /// That layer's vocabulary; none for a layer that this version does not know.
    pub schema: Option<&'static LayerSchema>,
    /// What was measured.
    pub subject: &'a str,
    /// The cell: factor name to value.
    pub factors: &'a BTreeMap<String, String>,
    /// Names of the plans that asked for it.
    pub plans: BTreeSet<&'a str>,
    /// Completed trials, by repetition.
    pub completed: Vec<&'a TrialEntry>,
    /// Trials that were interrupted or failed; they count nowhere.
    pub excluded: Vec<&'a TrialEntry>,
}

/// The values of one metric over the repetitions of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Unit of the values.
    pub unit: Unit,
    /// Where they came from.
    pub provenance: Provenance,
    /// How many of them there are: what is one per run or per data set is not repeated by repetitions.
    pub scope: Scope,
    /// The values that say something new, in the order of the repetitions: one per trial, per session, or per data set.
    pub values: Vec<f64>,
    /// Why repetitions gave none: the first reason, if any did; of operations that are too few, with the range over all that lack it.
    pub unavailable: Option<String>,
    /// Where the interval of the median comes from.
    pub uncertainty: Uncertainty,
}

/// Why a figure of all trials together has no interval.
pub(super) const POOLED: &str =
    "single trials have too few operations, so it is computed from all trials together";

/// A value with the trial that it is of.
type Given<'a> = (&'a TrialEntry, &'a Value);

/// One interval of one trial.
#[derive(Clone, Debug)]
pub struct SeriesPoint {
    /// Repetition, from 0.
    pub repetition: u32,
    /// Start of the interval, in seconds from the end of the warm-up.
    pub start_s: f64,
    /// Length of the interval in seconds.
    pub duration_s: f64,
    /// What was recorded in it.
    pub histogram: LatencyHistogram,
}

impl SeriesPoint {
    /// Operations per second in this interval; none for an interval without length.
    pub fn operations_per_second(&self) -> Option<f64> {
        (self.duration_s > 0.0).then(|| self.histogram.count() as f64 / self.duration_s)
    }
}

impl<'a> CellView<'a> {
    pub(super) fn new(entry: &'a TrialEntry, vocabulary: Vocabulary) -> Self {
        Self {
            id: &entry.cell,
            layer: &entry.layer,
            schema: vocabulary.layer(&entry.layer),
            subject: &entry.subject,
            factors: &entry.factors,
            plans: BTreeSet::new(),
            completed: Vec::new(),
            excluded: Vec::new(),
        }
    }

    /// The message of the last failed trial, if no trial completed. The last, because an earlier cause may have been fixed.
    pub fn failure(&self) -> Option<&'a str> {
        let mut failures = self.excluded.iter().filter_map(|trial| match &trial.outcome {
            Outcome::Failed { message } => Some(message.as_str()),
            _ => None,
        });
        failures.next_back().filter(|_| self.completed.is_empty())
    }

    pub(super) fn push(&mut self, entry: &'a TrialEntry) {
        self.plans.extend(entry.plans.iter().map(String::as_str));
        if entry.is_completed() {
            let place = self
                .completed
                .partition_point(|other| other.repetition <= entry.repetition);
            self.completed.insert(place, entry);
        } else {
            self.excluded.push(entry);
        }
    }

    /// The value of a factor.
    pub fn factor(&self, name: &str) -> Option<&'a str> {
        self.factors.get(name).map(String::as_str)
    }

    /// The variant that it is of, in a run of two.
    pub fn variant(&self) -> Option<&'a Variant> {
        self.completed.first().or(self.excluded.first())?.variant.as_ref()
    }

    /// The metric of a name, as the cell's layer defines it.
    pub fn defined(&self, name: &str) -> Option<Metric> {
        self.schema?.metric(name)
    }

    /// Whether a completed trial made a remark of this kind.
    pub fn has_remark(&self, kind: &RemarkKind) -> bool {
        let mut remarks = self.completed.iter().flat_map(|trial| &trial.notes);
        remarks.any(|remark| kind.is_kind_of(remark))
    }

    /// Names of the metrics that completed trials gave or should have given, in alphabetical order; without the parts of a sample,
    /// which are no figures ([`outcrop_schema::Sampling::parts`]) and asked for by name.
    pub fn metric_names(&self) -> BTreeSet<&'a str> {
        let sampling = self.schema.and_then(|schema| schema.sampling);
        self.completed
            .iter()
            .flat_map(|entry| &entry.values)
            .map(|value| value.metric.as_str())
            .filter(|name| !sampling.is_some_and(|sampling| sampling.is_part(name)))
            .collect()
    }

    /// The values of a metric over the repetitions; none when no completed trial knows the metric.
    ///
    /// `values` is empty, with the reason in `unavailable`, when a trial could not give the metric, even if others
    /// could: whether a trial has enough operations for a p99 depends on its speed, and a median over those that
    /// have would leave out the slow ones. Trials that stalled are known to be the slow ones: where most trials gave a latency, that of
    /// a stalled one counts as the longest that it saw, and a rate as 0. Of layers that pool their latencies ([`outcrop_schema::Pooled`]) such a figure is
    /// that of all trials together, if they have enough operations.
    pub fn metric(&self, name: &str) -> Option<Samples> {
        let of_trial = |trial: &'a TrialEntry| trial.values.iter().map(move |value| (trial, value));
        let all = self.completed.iter().copied().flat_map(of_trial);
        let found: Vec<Given<'a>> = all.filter(|(_, value)| value.metric == name).collect();
        let (_, first) = found.first()?;
        let scope = self.defined(name).map_or(Scope::Trial, |metric| metric.scope);
        let given: Vec<f64> = found.iter().filter_map(|(_, value)| value.value).collect();
        let scope = match scope {
            Scope::DataSet if self.varies(name, &given) => Scope::Trial,
            scope => scope,
        };
        let absent = found.iter().find(|(_, value)| value.value.is_none());
        let stalled = absent.and_then(|_| self.with_stalled(name, &found));
        // A trial that is too short, or in which nothing completed, is no part of a figure of all of them.
        let lacking = found.iter().filter(|(_, value)| value.value.is_none());
        let mut reasons = lacking.filter_map(|(_, value)| value.source.as_deref());
        let is_long_enough = !reasons.any(reasons::is_of_whole_trial);
        let pooled = absent
            .filter(|_| stalled.is_none() && is_long_enough)
            .and_then(|_| self.of_all_trials(name));
        let (values, unavailable) = match (absent, stalled.or(pooled.map(|value| vec![value]))) {
            (None, _) => (distinct(given, scope), None),
            (Some(_), Some(values)) => (values, None),
            (Some(_), None) => {
                let without = found.iter().filter(|(_, value)| value.value.is_none());
                let reason = of_trials(without.map(|(_, value)| value.source.as_deref()));
                let reason = match given.len() {
                    0 => reason,
                    some => only_some(some, found.len(), &reason),
                };
                let reason = match self.pooling(name) {
                    Some(_) if is_long_enough => {
                        too_few_together(&reason, found.len(), longer_by(self.layer, self.factors))
                    }
                    _ => reason,
                };
                (Vec::new(), Some(reason))
            }
        };
        Some(Samples {
            unit: first.unit,
            provenance: first.provenance,
            scope,
            uncertainty: match (pooled, values.first()) {
                (Some(_), _) => Uncertainty::Pooled(found.len()),
                (None, Some(value)) => Uncertainty::of(self, name, *value),
                (None, None) => Uncertainty::Repetitions,
            },
            values,
            unavailable,
        })
    }

    /// Whether repetitions give other values for the same data: something besides them has a part in it, as whoever else writes to the filesystem.
    fn varies(&self, name: &str, given: &[f64]) -> bool {
        let differ = |first: &f64| given.iter().any(|value| value != first);
        given.first().is_some_and(|first| {
            differ(first) && Uncertainty::of(self, name, *first) == Uncertainty::Repetitions
        })
    }

    /// Completed trials that stalled: with less than a tenth of the operations of the cell's median trial.
    pub fn stalled(&self) -> Vec<&'a TrialEntry> {
        stall::stalled(&self.completed)
    }

    /// The values of a latency or a rate, where those that lack it stalled and are the fewer: their median has its place among the others.
    fn with_stalled(&self, name: &str, found: &[Given<'a>]) -> Option<Vec<f64>> {
        let metric = self.defined(name)?;
        let is_rate = match (metric.unit, metric.better, metric.scope) {
            (Unit::Nanoseconds, Some(Better::Lower), Scope::Trial) => false,
            (Unit::PerSecond | Unit::BytesPerSecond, Some(Better::Higher), Scope::Trial) => true,
            _ => return None,
        };
        let given = || found.iter().filter_map(|(_, value)| value.value);
        if given().count() * 2 <= found.len() {
            return None;
        }
        let stalled = self.stalled();
        let longest = given().fold(0.0, f64::max);
        let of_trial = |(trial, value): &Given<'a>| {
            let has_stalled = stalled.iter().any(|other| std::ptr::eq(*other, *trial));
            let worst = || {
                if is_rate {
                    0.0
                } else {
                    longest.max(stall::longest_ns(trial))
                }
            };
            let of_stall = || has_stalled.then(worst);
            value.value.or_else(of_stall)
        };
        found.iter().map(of_trial).collect()
    }

    /// The figure of all trials together that the layer has in place of one of single trials.
    fn pooling(&self, name: &str) -> Option<&'static Pooled> {
        let mut pooled = self.schema?.pooled.iter();
        pooled.find(|figure| figure.metric.name == name)
    }

    /// A figure of the latencies of all trials together, where the layer has such and they are enough for it: what
    /// [`metric`](Self::metric) is where single trials have too few operations, and else what such a figure of another cell compares with.
    pub fn pooled(&self, name: &str) -> Option<Samples> {
        let metric = self.pooling(name)?.metric;
        Some(Samples {
            unit: metric.unit,
            provenance: Provenance::Measured,
            scope: metric.scope,
            values: vec![self.of_all_trials(name)?],
            unavailable: None,
            uncertainty: Uncertainty::Pooled(self.completed.len()),
        })
    }

    fn of_all_trials(&self, name: &str) -> Option<f64> {
        let figure = self.pooling(name)?;
        let mut all = LatencyHistogram::new();
        for (operation, kind) in self.histogram_keys() {
            if kind == HistogramKind::Latency {
                // Without one of them it would be the figure of other operations.
                all.merge(&self.histogram(operation, kind).ok()?);
            }
        }
        let upper_ns = all.percentile(figure.quantile)?;
        let less_ns = match figure.less {
            Some(quantile) => all.percentile(quantile)?,
            None => 0,
        };
        Some(upper_ns.saturating_sub(less_ns) as f64)
    }

    /// Median, its interval and range of a metric over the repetitions; none without a value.
    ///
    /// Deterministic: see [`Samples::summary`].
    pub fn summary(&self, name: &str) -> Option<Summary> {
        self.metric(name)?.summary()
    }

    /// Operations and kinds of which there are histograms.
    pub fn histogram_keys(&self) -> BTreeSet<(&'a str, HistogramKind)> {
        let entries = self.completed.iter().flat_map(|entry| &entry.histograms);
        entries
            .map(|entry| (entry.operation.as_str(), entry.kind))
            .collect()
    }

    /// All intervals of all repetitions merged; empty when there is no such histogram.
    ///
    /// # Errors
    /// [`ResultsError::DamagedHistogram`].
    pub fn histogram(&self, operation: &str, kind: HistogramKind) -> Result<LatencyHistogram, ResultsError> {
        let mut merged = LatencyHistogram::new();
        for (trial, entry) in self.entries(operation, kind) {
            merged.merge(&decode(trial, entry)?);
        }
        Ok(merged)
    }

    /// The intervals one by one, by repetition and time.
    ///
    /// # Errors
    /// [`ResultsError::DamagedHistogram`].
    pub fn series(&self, operation: &str, kind: HistogramKind) -> Result<Vec<SeriesPoint>, ResultsError> {
        let point = |(trial, entry): (&TrialEntry, &HistogramEntry)| {
            Ok(SeriesPoint {
                repetition: trial.repetition,
                start_s: entry.start_s,
                duration_s: entry.duration_s,
                histogram: decode(trial, entry)?,
            })
        };
        let mut entries: Vec<_> = self.entries(operation, kind).collect();
        entries.sort_by_key(|(trial, entry)| (trial.repetition, entry.interval_index));
        entries.into_iter().map(point).collect()
    }

    fn entries(
        &self,
        operation: &str,
        kind: HistogramKind,
    ) -> impl Iterator<Item = (&'a TrialEntry, &'a HistogramEntry)> {
        self.completed.iter().flat_map(move |trial| {
            let wanted = move |entry: &&HistogramEntry| entry.operation == operation && entry.kind == kind;
            trial
                .histograms
                .iter()
                .filter(wanted)
                .map(|entry| (*trial, entry))
        })
    }
}

impl Samples {
    /// Median, its interval and range; none without a value.
    pub fn summary(&self) -> Option<Summary> {
        if self.values.is_empty() {
            return None;
        }
        let repeated = summarise(&self.values)?;
        Some(match &self.uncertainty {
            Uncertainty::Repetitions => repeated,
            Uncertainty::Sampled(interval) => Summary {
                n: interval.n,
                interval: Some(*interval),
                ..repeated
            },
            Uncertainty::Unsupported(_) => Summary {
                interval: None,
                ..repeated
            },
            Uncertainty::Pooled(trials) => Summary {
                n: *trials,
                interval: None,
                ..repeated
            },
        })
    }

    /// Why there is a value without an interval, where the reason is not that there are too few repetitions.
    pub fn no_interval(&self) -> Option<&str> {
        match &self.uncertainty {
            Uncertainty::Unsupported(reason) => Some(reason),
            Uncertainty::Pooled(_) => Some(POOLED),
            Uncertainty::Repetitions | Uncertainty::Sampled(_) => None,
        }
    }

    /// The median; none without a value.
    pub fn median(&self) -> Option<f64> {
        median(&self.values)
    }
}

/// The values that say something new: all of them, that of each session, or the one of the data.
fn distinct(mut values: Vec<f64>, scope: Scope) -> Vec<f64> {
    match scope {
        Scope::Trial => {}
        Scope::Run => {
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
        }
        Scope::DataSet => values.truncate(1),
    }
    values
}

/// The histogram of an entry, with its exact minimum, maximum and sum.
fn decode(trial: &TrialEntry, entry: &HistogramEntry) -> Result<LatencyHistogram, ResultsError> {
    entry.histogram().map_err(|error| ResultsError::DamagedHistogram {
        context: format!("cell {}, repetition {}", trial.cell, trial.repetition),
        operation: entry.operation.clone(),
        interval_index: entry.interval_index,
        reason: error.to_string(),
    })
}
