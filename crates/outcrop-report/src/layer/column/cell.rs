//! One column cell with its factors parsed.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use outcrop_measure::units::format_count;
use outcrop_results::CellView;

use crate::number::Number;

/// One combination of factors on one column, with the median of every metric.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    view: &'a CellView<'a>,
    /// Every metric that has a value.
    numbers: BTreeMap<&'a str, Number>,
}

/// What tells columns apart: the factors that describe rows, not what is done with them.
const OF_THE_COLUMN: [&str; 5] = ["column", "rows", "distinct", "skew", "order"];

impl<'a> Cell<'a> {
    pub(super) fn of(view: &'a CellView<'a>) -> Self {
        let mut numbers = BTreeMap::new();
        for metric in view.metric_names() {
            let Some(samples) = view.metric(metric) else {
                continue;
            };
            if let Some(summary) = samples.summary(metric) {
                let number = Number {
                    name: metric.replace('_', " "),
                    value: summary.median,
                    unit: samples.unit,
                    interval: summary.interval,
                    n: summary.n,
                    provenance: samples.provenance,
                };
                numbers.insert(metric, number);
            }
        }
        Self { view, numbers }
    }

    /// Numeric factors in numeric order, then all as text.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let numeric = |cell: &Self| {
            ["rows", "distinct", "skew", "threads"].map(|name| cell.parsed::<f64>(name).unwrap_or(f64::MAX))
        };
        let (left, right) = (numeric(self), numeric(other));
        let by_number = left.partial_cmp(&right).unwrap_or(Ordering::Equal);
        by_number.then_with(|| self.view.factors.cmp(other.view.factors))
    }

    pub(super) fn view(&self) -> &'a CellView<'a> {
        self.view
    }

    pub(super) fn factor(&self, name: &str) -> &'a str {
        self.view.factor(name).unwrap_or_default()
    }

    /// A factor as a number.
    pub(super) fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.view.factor(name)?.parse().ok()
    }

    /// Whether each of these factors has this value.
    pub(super) fn is(&self, factors: &[(&str, &str)]) -> bool {
        factors.iter().all(|(name, value)| self.factor(name) == *value)
    }

    pub(super) fn number(&self, metric: &str) -> Option<&Number> {
        self.numbers.get(metric)
    }

    pub(super) fn value(&self, metric: &str) -> Option<f64> {
        self.numbers.get(metric).map(|number| number.value)
    }

    /// Whether the rows were made for the run.
    pub(super) fn is_generated(&self) -> bool {
        self.view.factor("distinct").is_some()
    }

    /// What tells its column from the others of the run.
    pub(super) fn column_key(&self) -> (&'a str, Vec<&'a str>) {
        let factors = OF_THE_COLUMN.map(|name| self.factor(name));
        (self.view.subject, factors.to_vec())
    }

    /// The column in words: its name, or `1 M rows, 10 k words, skew 1.2, sorted`.
    pub(super) fn column_words(&self) -> String {
        if !self.is_generated() {
            return self.factor("column").to_owned();
        }
        let count = |name: &str| self.parsed(name).map_or_else(|| "?".to_owned(), format_count);
        let order = match self.factor("order") {
            "random" => String::new(),
            order => format!(", {order}"),
        };
        format!(
            "{} rows, {} words, skew {}{order}",
            count("rows"),
            count("distinct"),
            self.factor("skew")
        )
    }
}
