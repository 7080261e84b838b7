//! The interval of a figure that rests on a sample of the data.

use outcrop_measure::interval::Interval;
use outcrop_schema::{Bounded, Sampling};

use super::cell::CellView;

/// Where the uncertainty of a figure comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Uncertainty {
    /// From repetitions, as far as there are any.
    Repetitions,
    /// From the draw of the sample: the interval of the figure of all the data.
    Sampled(Interval),
    /// From the draw, which does not support an interval; why not.
    Unsupported(String),
    /// From nothing that could be told: the figure is that of the operations of so many trials together.
    Pooled(usize),
}

impl Uncertainty {
    /// That of a metric of a cell whose value is `estimate`.
    pub(super) fn of(cell: &CellView<'_>, metric: &str, estimate: f64) -> Self {
        let Some(sampling) = cell.schema.and_then(|schema| schema.sampling) else {
            return Self::Repetitions;
        };
        let bounded = sampling.bounds(metric);
        if bounded.is_none() && !sampling.is_unbounded(metric) {
            return Self::Repetitions;
        }
        let is_part = cell
            .metric(sampling.share.name)
            .and_then(|samples| samples.median());
        if is_part.is_none_or(|share| share >= 1.0) {
            return Self::Repetitions;
        }
        match bounded {
            Some(bounded) => of_draw(cell, sampling, bounded, estimate),
            None => Self::Unsupported(
                "this figure describes the sample; no interval is computed for it".to_owned(),
            ),
        }
    }
}

fn of_draw(cell: &CellView<'_>, sampling: &Sampling, bounded: &Bounded, estimate: f64) -> Uncertainty {
    let value = |name: &str| match cell.metric(name) {
        Some(samples) => samples.median().ok_or(samples.unavailable),
        None => Err(None),
    };
    let (low, high) = match (value(bounded.low.name), value(bounded.high.name)) {
        (Ok(low), Ok(high)) => (low, high),
        (Err(reason), _) | (_, Err(reason)) => {
            let reason = reason.unwrap_or_else(|| "none was recorded".to_owned());
            return Uncertainty::Unsupported(reason);
        }
    };
    // Runs that did not record their draws drew at least one.
    let draws = value(sampling.draws.name).map_or(1, |draws| draws as usize);
    Uncertainty::Sampled(Interval {
        estimate,
        low,
        high,
        confidence: sampling.confidence,
        n: draws,
    })
}
