//! Whether stores do under each codec what their uncompressed run and the codec's figures say.
//!
//! A report works out the predictions of a run once: this finding and the modelled hardware rest on the same ones.

use outcrop_measure::metric::Unit;
use outcrop_predict::{Case, Coverage, Study, Unmatched};

use super::system::MeasuredSystem;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// A model with a larger mean error is of little help in choosing.
const MEAN_ERROR: f64 = 0.15;
/// And none of its predictions may be further off.
const WORST_ERROR: f64 = 0.35;

/// What was predicted of a run, and checked by it.
pub(crate) struct Predictions<'s> {
    /// Of stores alone: files of filesystems are predicted by another formula, and have their own finding.
    stores: Study<'s>,
    /// Whether stores and codecs were the same libraries.
    libraries: &'s [String],
    /// The same with all that is in favour of the bounds within the intervals of the trials.
    bounds: Study<'s>,
    /// Of both.
    pub(super) all: Study<'s>,
}

impl<'s> Predictions<'s> {
    /// Every prediction of a system, and its error where it was measured.
    pub(super) fn of(system: &'s MeasuredSystem) -> Result<Self, Unmatched> {
        let stores = Study::of(&system.applications, &system.components, &system.measured)?;
        let all = match &system.files {
            Some(files) => stores.clone().joined(Self::of(files)?.all),
            None => stores.clone(),
        };
        let bounds = Study::of(&system.at_most, &system.components, &system.at_least)?;
        Ok(Self {
            stores,
            libraries: &system.libraries,
            bounds,
            all,
        })
    }

    /// What is tested of stores; nothing where none was measured.
    pub(crate) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.error_finding().into_iter().chain(self.bounds_finding())
    }

    /// Whether no store under a codec does more than its predicted times allow; none where none was measured with an interval.
    fn bounds_finding(&self) -> Option<Finding> {
        let known = self.bounds.cases.iter().filter_map(|case| {
            let allowed = case.outcome.as_ref().ok()?.at_most;
            Some((case.measured? / allowed, case))
        });
        let known: Vec<(f64, &Case<'_>)> = known.collect();
        let (highest, case) = *known.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        let above = known.iter().filter(|(share, _)| *share > 1.0).count();
        let most = case.component.map_or_else(String::new, |codec| {
            format!("{} with {}", case.application.name, codec.name)
        });
        let tested = format!(
            "measured throughput of {} ÷ the least of clients ÷ time of an operation and CPUs ÷ CPU time, as predicted from the uncompressed \
             cell and the codec's times: the low end of the former's interval, and the ends of the uncompressed cell's intervals that allow the \
             most; the codec's times count as measured. {above} \
             above 1; the highest: {most}.",
            counted(known.len(), "compressed cell")
        );
        let number = Number::derived("measured ÷ possible, highest", highest, Unit::Ratio, known.len());
        let sentence = "No store under a codec does more operations than the predicted times and the cores allow, the intervals of its trials included.";
        Some(
            Finding::tested("kv-predicted-bound-holds", sentence, above == 0, tested)
                .of_run("Some stores under a codec did more operations than their predicted times allow")
                .extent(format!("{above} of {}, most: {most}", counted(known.len(), "cell")))
                .remedy(
                    "Measure stores and codecs again on the same data while nothing else runs (outcrop run predict-software predict-codecs).",
                )
                .otherwise(
                    "Either the times behind the prediction are wrong (of an operation without compression, its blocks, or the codec's time per block), or compression saves work that the prediction does not count: a smaller block is less to copy and to checksum.",
                )
                .numbers([number]),
        )
    }

    /// Whether the predictions of stores hold; none where none was measured.
    fn error_finding(&self) -> Option<Finding> {
        let error = &self.stores.error;
        let (mean, worst) = (error.mean()?, error.worst()?);
        let n = error.checked().len();
        let farthest = error
            .checked()
            .iter()
            .max_by(|one, other| one.error().abs().total_cmp(&other.error().abs()))?;
        let tested = format!(
            "the throughput of {n} compressed cells, predicted from the uncompressed cell, the blocks of an operation and the codec's time of a \
             block; the largest error is {} with {}, {:+.0} %.",
            farthest.application,
            farthest.component,
            farthest.error() * 100.0
        );
        let tested = [&[tested], self.libraries].concat().join(" ");
        let sentence = "Stores do under each codec what their uncompressed run and the codec's figures predict: 15 % off on average, 35 % at most.";
        let coverage = self.stores.coverage();
        let numbers = [
            ("mean error of a prediction", Some(mean)),
            ("worst error of a prediction", Some(worst)),
            (
                "share of measured values within their intervals, leaving out one codec at a time",
                coverage.map(Coverage::share),
            ),
        ];
        let numbers = numbers
            .into_iter()
            .filter_map(|(name, value)| Some(Number::derived(name, value?, Unit::Ratio, n)));
        let holds = mean <= MEAN_ERROR && worst <= WORST_ERROR;
        Some(
            Finding::tested("kv-prediction-holds", sentence, holds, tested)
                .of_run(
                    "Predictions of stores under codecs are off by more than 15 % on average, or by more than 35 % at worst",
                )
                .extent(format!("{n} predictions, most: {} with {}", farthest.application, farthest.component))
                .remedy("Measure stores and codecs again on the same data while nothing else runs (outcrop run predict-software predict-codecs).")
                .otherwise("Predictions of hardware on this machine (outcrop predict) are no better than this.")
                .numbers(numbers),
        )
    }
}
