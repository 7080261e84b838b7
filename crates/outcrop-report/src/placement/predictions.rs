//! Whether stores do under each codec what their uncompressed run and the codec's figures say.
//!
//! A report works out the predictions of a run once: this finding and the modelled hardware rest on the same ones.

use outcrop_measure::metric::Unit;
use outcrop_predict::{Coverage, Study, Unmatched};

use super::system::MeasuredSystem;
use crate::finding::Finding;
use crate::number::Number;

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
        Ok(Self {
            stores,
            libraries: &system.libraries,
            all,
        })
    }

    /// Whether the predictions of stores hold; none where none was measured.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let error = &self.stores.error;
        let (mean, worst) = (error.mean()?, error.worst()?);
        let n = error.checked().len();
        let farthest = error
            .checked()
            .iter()
            .max_by(|one, other| one.error().abs().total_cmp(&other.error().abs()))?;
        let tested = format!(
            "the throughput of {n} compressed cells, predicted from the uncompressed cell, the blocks of an operation and the codec's time of a \
             block; farthest off is {} with {}, {:+.0} %.",
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
                "share of measured values within the 90 % intervals, codec by codec left out",
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
                .otherwise("Predictions of hardware on this machine (outcrop predict) are no better than this.")
                .numbers(numbers),
        )
    }
}
