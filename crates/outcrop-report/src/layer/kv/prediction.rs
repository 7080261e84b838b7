//! Whether stores do under each codec what their uncompressed run and the codec's figures say.

use outcrop_measure::metric::Unit;
use outcrop_results::RunView;

use crate::finding::{About, Finding};
use crate::number::Number;
use crate::placement::MeasuredSystem;

/// A model with a larger mean error is of little help in choosing.
const MEAN_ERROR: f64 = 0.15;
/// And none of its predictions may be further off.
const WORST_ERROR: f64 = 0.35;

/// The finding; none where the run has not both stores and codecs on the same data.
pub(super) fn finding(run: &RunView) -> Option<Finding> {
    // Files of filesystems are predicted by another formula, and have their own finding.
    let stores = MeasuredSystem {
        files: None,
        ..MeasuredSystem::of(run).ok()?
    };
    let study = stores.study().ok()?;
    let error = &study.error;
    let (mean, worst) = (error.mean()?, error.worst()?);
    let n = error.checked().len();
    let farthest = error
        .checked()
        .iter()
        .max_by(|one, other| one.error().abs().total_cmp(&other.error().abs()))?;
    let tested = format!(
        "the throughput of {n} compressed cells, predicted from the uncompressed cell, the blocks of an operation and the codec's time of a block; \
         farthest off is {} with {}, {:+.0} %.",
        farthest.application,
        farthest.component,
        farthest.error() * 100.0
    );
    let sentence = "Stores do under each codec what their uncompressed run and the codec's figures predict: 15 % off on average, 35 % at most.";
    let numbers = [
        ("mean error of a prediction", Some(mean)),
        ("worst error of a prediction", Some(worst)),
        (
            "share of 90 % intervals that held, codec by codec left out",
            error.coverage(),
        ),
    ];
    let numbers = numbers
        .into_iter()
        .filter_map(|(name, value)| Some(Number::derived(name, value?, Unit::Ratio, n)));
    let holds = mean <= MEAN_ERROR && worst <= WORST_ERROR;
    Some(
        Finding::tested("kv-prediction-holds", sentence, holds, tested)
            .about(About::Run)
            .otherwise("Predictions of hardware on this machine (outcrop predict) are no better than this.")
            .numbers(numbers),
    )
}
