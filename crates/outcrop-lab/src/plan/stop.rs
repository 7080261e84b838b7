//! `stop` under `[trial]`: whether rounds go on when what they track is steady.

use outcrop_measure::steady_state::WINDOW_ROUNDS;
use outcrop_schema::Settings;

use super::check::bad;
use super::draft::{Draft, Located};
use crate::error::LabError;
use crate::layer::LayerRef;

/// The only word there is; without the key every repetition is measured.
pub(super) const WHEN_STEADY: &str = "when-steady";

/// Rounds that it takes to be steady.
const FEWEST: u32 = WINDOW_ROUNDS as u32;

/// Reads the value of the key.
pub(super) fn is_when_steady(given: Option<&Located<String>>) -> Result<bool, LabError> {
    match given {
        None => Ok(false),
        Some(given) if given.value == WHEN_STEADY => Ok(true),
        Some(given) => Err(bad(
            &given.at,
            format!(
                "stop is {:?}; expected \"{WHEN_STEADY}\", or leave it out to measure every repetition",
                given.value
            ),
        )),
    }
}

/// Refuses a plan none of whose cells can become steady in the layer's sense: it would never stop.
pub(super) fn check(draft: &Draft, layer: LayerRef, combinations: &[Settings]) -> Result<(), LabError> {
    let Some(given) = &draft.trial.stop else {
        return Ok(());
    };
    if let Some(few) = draft.trial.repetitions.as_ref().filter(|few| few.value < FEWEST) {
        let message = format!(
            "rounds are steady after {FEWEST} in a row at the earliest, so that stop = \"{WHEN_STEADY}\" needs at least as many repetitions, and {} are asked for",
            few.value
        );
        return Err(bad(&few.at, message));
    }
    if combinations
        .iter()
        .any(|factors| layer.tracked(factors).is_some())
    {
        return Ok(());
    }
    let message = match layer.tracks() {
        Some(what) => format!(
            "nothing in this plan shows when it is steady; {what} would: add them, or leave `stop` out"
        ),
        None => format!(
            "the {} layer has no rule for steady state; leave `stop` out",
            layer.name()
        ),
    };
    Err(bad(&given.at, message))
}
