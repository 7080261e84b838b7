//! The metrics of one cell, as numbers ready to be shown, or the reason why there is none.

use std::collections::BTreeMap;

use outcrop_results::CellView;

use crate::number::Number;

/// What a cell yielded.
#[derive(Clone, Debug, Default)]
pub(super) struct Readings {
    /// Every metric that has a value.
    pub(super) numbers: BTreeMap<String, Number>,
    /// Every metric that has none, with the reason.
    pub(super) unavailable: BTreeMap<String, String>,
}

impl Readings {
    /// The medians of a cell of this run.
    pub(super) fn of(view: &CellView<'_>) -> Self {
        let mut readings = Self::default();
        for metric in view.metric_names() {
            let Some(samples) = view.metric(metric) else {
                continue;
            };
            match samples.summary(metric) {
                Some(summary) => {
                    let number = Number {
                        name: words_for(metric),
                        value: summary.median,
                        unit: samples.unit,
                        interval: summary.interval,
                        n: summary.n,
                        provenance: samples.provenance,
                    };
                    readings.numbers.insert(metric.to_owned(), number);
                }
                None => {
                    let reason = samples
                        .unavailable
                        .unwrap_or_else(|| "no trial gave a value".to_owned());
                    readings.unavailable.insert(metric.to_owned(), reason);
                }
            }
        }
        readings
    }
}

/// A metric's name in words: `read_latency_p99_9` is `read latency p99.9`.
pub(super) fn words_for(metric: &str) -> String {
    let words = metric
        .replace("p99_99", "p99.99")
        .replace("p99_9", "p99.9")
        .replace('_', " ");
    words.replace("iops", "IOPS").replace("cpu", "CPU")
}
