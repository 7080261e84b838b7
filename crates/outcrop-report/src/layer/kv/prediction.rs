//! Whether stores do under each codec what their uncompressed run and the codec's figures say, and no more than a full station allows.

use outcrop_measure::metric::Unit;
use outcrop_predict::{Case, Study};
use outcrop_results::RunView;

use crate::finding::Finding;
use crate::number::{Number, counted};
use crate::placement::MeasuredSystem;

/// A model with a larger mean error is of little help in choosing.
const MEAN_ERROR: f64 = 0.15;
/// And none of its predictions may be further off.
const WORST_ERROR: f64 = 0.35;

/// Demands and throughput are measured apart from each other, and each with its own noise.
const ABOVE_BOUND: f64 = 0.10;

/// The findings; none where the run has not both stores and codecs on the same data.
pub(super) fn findings(run: &RunView) -> Vec<Finding> {
    // Files of filesystems are predicted by another formula, and have their own finding.
    let system = MeasuredSystem::of(run).ok();
    let system = system.map(|system| MeasuredSystem {
        files: None,
        ..system
    });
    let study = system.as_ref().and_then(|system| system.study().ok());
    study.map_or_else(Vec::new, |study| {
        [holds(&study), bound_holds(&study)]
            .into_iter()
            .flatten()
            .collect()
    })
}

fn holds(study: &Study<'_>) -> Option<Finding> {
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
            study.coverage(),
        ),
    ];
    let numbers = numbers
        .into_iter()
        .filter_map(|(name, value)| Some(Number::derived(name, value?, Unit::Ratio, n)));
    let holds = mean <= MEAN_ERROR && worst <= WORST_ERROR;
    Some(
        Finding::tested("kv-prediction-holds", sentence, holds, tested)
            .of_run("Predictions of stores under codecs are off by more than 15 % on average, or by more than 35 % at worst")
            .otherwise("Predictions of hardware on this machine (outcrop predict) are no better than this.")
            .numbers(numbers),
    )
}

/// No store does more than the fullest of its stations allows, where its demands are known.
fn bound_holds(study: &Study<'_>) -> Option<Finding> {
    let pairs: Vec<(&Case<'_>, f64)> = study
        .cases
        .iter()
        .filter_map(|case| Some((case, of_bound(case)?)))
        .collect();
    let (highest, share) = pairs.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let with = highest.component.map_or_else(
        || "without compression".to_owned(),
        |component| format!("with {}", component.name),
    );
    let tested = format!(
        "the throughput of {} against 1 ÷ the largest demand of an operation at a station, within 10 %; the highest is {} {with}, {:.0} % of it.",
        counted(pairs.len(), "cell"),
        highest.application.name,
        share * 100.0
    );
    let sentence =
        "No store does more operations than the predicted CPU time of an operation and the cores allow.";
    let number = Number::derived(
        "highest throughput ÷ what a full station allows",
        *share,
        Unit::Ratio,
        pairs.len(),
    );
    Some(
        Finding::tested("kv-bound-holds", sentence, *share <= 1.0 + ABOVE_BOUND, tested)
            .of_run("Some stores did more operations than the CPU time that is predicted for them allows")
            .otherwise(
                "The CPU times or the counts of blocks are wrong, and so is what is predicted from them.",
            )
            .numbers([number]),
    )
}

/// Measured throughput ÷ what the fullest station allows.
fn of_bound(case: &Case<'_>) -> Option<f64> {
    let measured = match case.component {
        Some(_) => case.measured,
        None => case.application.throughput,
    };
    let stations = case.outcome.as_ref().ok()?.stations.iter();
    let largest_ns = stations.map(|load| load.demand_ns).reduce(f64::max)?;
    Some(measured? * largest_ns / 1e9)
}
