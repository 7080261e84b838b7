//! Which figures of a layer rest on a sample of the data, and which metrics bound them.

use outcrop_measure::metric::Metric;

use crate::FactorRef;

/// What a layer says about the sample that its figures rest on.
///
/// Where a part of the data was taken, repeating a trial on that part says nothing about the rest: the uncertainty of
/// these figures is that of the draw. Readers of a run show the bounds as the figure's interval, and say why there is
/// none where a draw does not support one.
#[derive(Debug)]
pub struct Sampling {
    /// The subject's factor that sets how much of the data is taken at most.
    pub size: FactorRef,
    /// How much was taken.
    pub bytes: Metric,
    /// Share of the data that was taken; from 1 on, figures are those of all the data.
    pub share: Metric,
    /// Draws that a figure rests on: the n of its interval.
    pub draws: Metric,
    /// Probability that the bounds hold the figure of all the data.
    pub confidence: f64,
    /// Figures that have bounds.
    pub bounded: &'static [Bounded],
    /// Figures of the sample for which nothing computes bounds.
    pub unbounded: &'static [&'static [Metric]],
    /// Parts of the sample, by which two cells of a run are compared: no figures that anybody reads one by one.
    pub parts: &'static [Metric],
}

/// A figure and the metrics that bound it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounded {
    /// The figure.
    pub metric: Metric,
    /// Lower end of its interval.
    pub low: Metric,
    /// Upper end.
    pub high: Metric,
}

impl Sampling {
    /// The bounds of a figure by its name.
    pub fn bounds(&self, metric: &str) -> Option<&Bounded> {
        self.bounded.iter().find(|bounded| bounded.metric.name == metric)
    }

    /// Whether this is a part of the sample and no figure.
    pub fn is_part(&self, metric: &str) -> bool {
        self.parts.iter().any(|part| part.name == metric)
    }

    /// Whether a figure describes the sample and has no bounds.
    pub fn is_unbounded(&self, metric: &str) -> bool {
        let mut metrics = self.unbounded.iter().copied().flatten();
        metrics.any(|unbounded| unbounded.name == metric)
    }
}
