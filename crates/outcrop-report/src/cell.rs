//! One cell as answers, findings and figures see it: typed factors, and the median of every metric.
//!
//! It is the same for every layer, and for published figures, so that those go through the very same checks.

mod families;

pub use families::{best, families, largest_family, largest_family_that};

use std::cmp::Ordering;
use std::collections::BTreeMap;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Metric, Provenance, words_of};
use outcrop_measure::units::format_bytes;
use outcrop_results::{CellView, HistogramKind, Reference, ReferenceRow, Samples, TrialEntry, Uncertainty};
use outcrop_schema::remark::OF_EVERY_LAYER;
use outcrop_schema::{About, Column, Factor, FactorRef, LayerSchema, RemarkKind, Settings, Value};

use crate::number::Number;

/// One combination of factors on one subject.
///
/// It answers what its layer's schema has: asking for a factor, metric or remark that is not in it is a mistake of a layer's report, and stops
/// tests and debug builds.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    schema: &'static LayerSchema,
    subject: String,
    factors: Settings,
    numbers: BTreeMap<String, Number>,
    unavailable: BTreeMap<String, String>,
    view: Option<&'a CellView<'a>>,
    /// Factors in which cells of the run differ.
    varying: Vec<&'static str>,
    /// Whether cells of the run have several subjects.
    is_of_several: bool,
}

impl<'a> Cell<'a> {
    /// A cell of a run.
    pub fn measured(schema: &'static LayerSchema, view: &'a CellView<'a>) -> Self {
        let mut cell = Self {
            schema,
            subject: view.subject.to_owned(),
            factors: schema.read(view.factors),
            numbers: BTreeMap::new(),
            unavailable: BTreeMap::new(),
            view: Some(view),
            varying: Vec::new(),
            is_of_several: false,
        };
        for metric in view.metric_names() {
            let Some(samples) = view.metric(metric) else {
                continue;
            };
            match number_over(metric, &samples) {
                Some(number) => {
                    cell.numbers.insert(metric.to_owned(), number);
                }
                None => {
                    let reason = samples.unavailable;
                    let reason = reason.unwrap_or_else(|| "no trial gave a value".to_owned());
                    cell.unavailable.insert(metric.to_owned(), reason);
                }
            }
        }
        cell
    }

    /// The cells of a publication: its rows of one layer by subject and factors.
    pub fn published(schema: &'static LayerSchema, reference: &Reference) -> Vec<Cell<'static>> {
        let mut cells: BTreeMap<(&str, &BTreeMap<String, String>), Cell<'static>> = BTreeMap::new();
        for row in reference.rows.iter().filter(|row| row.layer == schema.name) {
            let cell = cells.entry((&row.subject, &row.factors)).or_insert_with(|| Cell {
                schema,
                subject: row.subject.clone(),
                factors: schema.read(&row.factors),
                numbers: BTreeMap::new(),
                unavailable: BTreeMap::new(),
                view: None,
                varying: Vec::new(),
                is_of_several: false,
            });
            cell.numbers.insert(row.metric.clone(), number_of(row));
        }
        cells.into_values().collect()
    }

    /// Has each of these cells know which factors they differ in.
    pub(crate) fn compare_factors(cells: &mut [Self]) {
        let Some(first) = cells.first() else {
            return;
        };
        // What a cell does not have, as a server without policies, tells it apart by its other factors.
        let differs = |factor: &&FactorRef| {
            let mut values = cells
                .iter()
                .filter_map(|cell| cell.factors.spelling(factor.about()));
            let one = values.next();
            values.any(|value| Some(value) != one)
        };
        let varying = first.schema.workload.iter().filter(differs);
        let varying: Vec<&'static str> = varying.map(|factor| factor.name).collect();
        let is_of_several = cells.iter().any(|cell| cell.subject != first.subject);
        cells.iter_mut().for_each(|cell| {
            cell.varying.clone_from(&varying);
            cell.is_of_several = is_of_several;
        });
    }

    /// Its subject, where cells of the run have several.
    pub(crate) fn subject_apart(&self) -> Option<&str> {
        self.is_of_several.then_some(self.subject.as_str())
    }

    /// Those of some factors in which cells of the run differ, as its words say them: `content zeros`.
    pub(crate) fn apart(&self, factors: &[FactorRef]) -> Vec<String> {
        let varying = factors
            .iter()
            .filter(|factor| self.varying.contains(&factor.name));
        let known = varying.filter(|factor| !self.spelling(factor).is_empty());
        known
            .map(|factor| format!("{} {}", factor.words(), self.spelling(factor)))
            .collect()
    }

    /// The cell as its layer labels cells, with the factors that labels leave out and in which cells of the run differ.
    pub(crate) fn full_label(&self) -> String {
        self.with_unlabelled(self.schema.label(&self.factors), self.schema.workload)
    }

    /// Some of its factors as labels say them, with those of them that labels leave out and in which cells of the run differ.
    pub(crate) fn label_apart(&self, factors: &[FactorRef]) -> String {
        self.with_unlabelled(self.label(factors), factors)
    }

    fn with_unlabelled(&self, label: String, factors: &[FactorRef]) -> String {
        let unlabelled = |factor: &&FactorRef| !factor.is_labelled();
        let left_out: Vec<FactorRef> = factors.iter().filter(unlabelled).copied().collect();
        let mut words = vec![label];
        words.extend(self.apart(&left_out));
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }

    /// A factor's value as words of the cell say it, each time it is unusual or others of the run are: `sync none`. None where there is nothing to say.
    pub(crate) fn told(&self, factor: FactorRef) -> Option<String> {
        let value = self.spelling(factor);
        let is_default = || {
            self.varying
                .contains(&factor.name)
                .then(|| format!("{} {value}", factor.words()))
        };
        // An older run or a read may not have the factor.
        let known = Some(value).filter(|value| !value.is_empty())?;
        factor
            .labelled(known)
            .or_else(is_default)
            .filter(|words| !words.is_empty())
    }

    /// The records behind it; `None` for a published cell.
    pub fn view(&self) -> Option<&'a CellView<'a>> {
        self.view
    }

    /// Its completed trials, by repetition; none for a published cell.
    pub fn trials(&self) -> &'a [&'a TrialEntry] {
        self.view.map_or(&[], |view| &view.completed)
    }

    /// Whether another program measured it: then nothing is known of how, but what its results state.
    pub(crate) fn is_imported(&self) -> bool {
        let mut numbers = self.numbers.values();
        numbers.any(|number| number.provenance == Provenance::Imported)
    }

    /// The schema of its layer.
    pub(crate) fn schema(&self) -> &'static LayerSchema {
        self.schema
    }

    /// What was measured, as records name it.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Its factors.
    pub fn factors(&self) -> &Settings {
        &self.factors
    }

    /// The value of a factor; `None` where the cell does not have it.
    pub fn get<T: Value>(&self, factor: &Factor<T>) -> Option<&T> {
        self.has_factor(factor);
        self.factors.get(factor)
    }

    /// Whether a factor has this value.
    pub fn is<T: Value>(&self, factor: &Factor<T>, value: &T) -> bool {
        self.get(factor) == Some(value)
    }

    /// Whether a factor has its default; one that the cell does not have is as good as that.
    pub fn is_default(&self, factor: &About) -> bool {
        self.has_factor(factor);
        let value = self.factors.spelling(factor);
        value.is_none() || value == factor.default
    }

    /// A factor's value as it is spelled in plans; empty where the cell does not have it.
    pub fn spelling(&self, factor: &About) -> &str {
        self.has_factor(factor);
        self.factors.spelling(factor).unwrap_or_default()
    }

    /// A factor's value as people read it, a size with its unit apart: `8 MiB`. Empty where the cell does not have it.
    pub fn shown(&self, factor: FactorRef) -> String {
        match (factor.column(), self.place(factor.about())) {
            (Column::Bytes, Some(bytes)) => format_bytes(bytes as u64),
            _ => self.spelling(factor.about()).to_owned(),
        }
    }

    /// Some of its factors as labels say them: `50 connections × 8`.
    pub fn label(&self, factors: &[FactorRef]) -> String {
        let word = |factor: &FactorRef| factor.labelled(self.factors.spelling(factor.about())?);
        let words: Vec<String> = factors.iter().filter_map(word).collect();
        words.join(" ")
    }

    /// Where a factor's value lies on an axis.
    pub fn place(&self, factor: &About) -> Option<f64> {
        self.has_factor(factor);
        self.factors.setting(factor.name)?.place()
    }

    /// The number of a metric.
    pub fn number(&self, metric: &Metric) -> Option<&Number> {
        self.has_metric(metric);
        self.numbers.get(metric.name)
    }

    /// Whether the number of a metric is that of all trials together: single trials have too few operations.
    pub fn is_pooled(&self, metric: &Metric) -> bool {
        let samples = self.view.and_then(|view| view.metric(metric.name));
        samples.is_some_and(|samples| matches!(samples.uncertainty, Uncertainty::Pooled(_)))
    }

    /// The number of a percentile over all trials together, whether single trials have one or not; none where the layer has no such
    /// figure, or they are too few for it all the same.
    pub fn pooled(&self, metric: &Metric) -> Option<Number> {
        self.has_metric(metric);
        number_over(metric.name, &self.view?.pooled(metric.name)?)
    }

    /// The value of a metric.
    pub fn value(&self, metric: &Metric) -> Option<f64> {
        self.number(metric).map(|number| number.value)
    }

    /// The number of a metric as tables and sentences have it, or a dash.
    pub fn number_or_dash(&self, metric: &Metric) -> String {
        self.number(metric)
            .map_or_else(|| "–".to_owned(), Number::to_string)
    }

    /// Why a metric has no value.
    pub fn unavailable(&self, metric: &Metric) -> Option<&str> {
        self.has_metric(metric);
        self.unavailable.get(metric.name).map(String::as_str)
    }

    /// The number of the first of these metrics that it has.
    pub fn first_number(&self, metrics: &[Metric]) -> Option<&Number> {
        metrics.iter().find_map(|metric| self.number(metric))
    }

    /// Whether a trial of it made a remark of this kind.
    pub fn has(&self, kind: &RemarkKind) -> bool {
        debug_assert!(
            self.schema.remarks.contains(kind) || OF_EVERY_LAYER.contains(kind),
            "{} has no remark {}",
            self.schema.name,
            kind.code
        );
        self.view.is_some_and(|view| view.has_remark(kind))
    }

    /// What the first of its trials that made a remark of this kind remarked.
    pub fn remark(&self, kind: &RemarkKind) -> Option<&'a str> {
        let notes = self.trials().iter().flat_map(|trial| &trial.notes);
        let mut of_kind = notes.filter(|note| kind.is_kind_of(note));
        of_kind.next().map(|note| note.text.as_str())
    }

    fn has_factor(&self, factor: &About) {
        let (schema, name) = (self.schema, factor.name);
        debug_assert!(
            schema.factor(name).is_some_and(|known| known.about() == factor),
            "{} has no factor {name}",
            schema.name
        );
    }

    fn has_metric(&self, metric: &Metric) {
        let (schema, name) = (self.schema, metric.name);
        debug_assert!(
            schema.metric(name).as_ref() == Some(metric),
            "{} has no metric {name}",
            schema.name
        );
    }

    /// Latencies of all operations of all its trials, from the intended start.
    pub fn latencies(&self) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        let Some(view) = self.view else {
            return all;
        };
        for (operation, kind) in view.histogram_keys() {
            // A damaged histogram leaves a gap that its count shows.
            if kind == HistogramKind::Latency
                && let Ok(histogram) = view.histogram(operation, kind)
            {
                all.merge(&histogram);
            }
        }
        all
    }

    /// Names of the factors in which two cells differ.
    pub fn differences<'s>(&'s self, other: &'s Self) -> Vec<&'s str> {
        self.factors.differences(&other.factors)
    }

    /// Whether two cells are of one subject and differ in nothing but these factors.
    pub fn is_like(&self, other: &Self, but_for: &[FactorRef]) -> bool {
        let differences = self.differences(other);
        self.subject == other.subject
            && differences
                .iter()
                .all(|name| but_for.iter().any(|factor| factor.name == *name))
    }

    /// What it has in common with cells that differ from it in these factors only.
    pub(crate) fn but_for(&self, factors: &[FactorRef]) -> (&str, Settings) {
        let mut common = self.factors.clone();
        factors.iter().for_each(|factor| common.remove(factor.about()));
        (&self.subject, common)
    }

    /// Its order: by these factors first, then by all of them, then by subject.
    pub(crate) fn compare(&self, other: &Self, order: &[FactorRef]) -> Ordering {
        let by_order = order.iter().map(|factor| {
            // A cell without the factor comes last.
            match (
                self.factors.setting(factor.name),
                other.factors.setting(factor.name),
            ) {
                (Some(one), Some(two)) => one.cmp(two),
                (one, two) => two.is_some().cmp(&one.is_some()),
            }
        });
        by_order
            .fold(Ordering::Equal, Ordering::then)
            .then_with(|| self.factors.cmp(&other.factors))
            .then_with(|| self.subject.cmp(&other.subject))
    }
}

/// The number of what trials gave; none where they gave no value.
fn number_over(metric: &str, samples: &Samples) -> Option<Number> {
    let summary = samples.summary()?;
    Some(Number {
        name: words_of(metric),
        value: summary.median,
        unit: samples.unit,
        interval: summary.interval,
        no_interval: samples.no_interval().map(str::to_owned),
        n: summary.n,
        provenance: samples.provenance,
        is_of_one_trial: false,
        is_of_sample: matches!(samples.uncertainty, Uncertainty::Sampled(_)),
    })
}

fn number_of(row: &ReferenceRow) -> Number {
    Number {
        name: words_of(&row.metric),
        value: row.value,
        unit: row.unit,
        interval: None,
        no_interval: None,
        n: 1,
        provenance: row.provenance,
        is_of_one_trial: false,
        is_of_sample: false,
    }
}
