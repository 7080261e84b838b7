//! The tail of cold small reads, of which a trial alone may have too few.

use outcrop_measure::metric::Metric;
use outcrop_schema::filesystem::LATENCY;

use super::cell::{configuration, of_those};
use super::rivals::may_be_better;
use crate::answer::{Absence, CONFIGURATION_COLUMN, Capability, Reading};
use crate::cell::{Cell, best};
use crate::number::Number;
use crate::ties;

/// What is ranked.
const P99: Metric = LATENCY.p99;

/// The configuration with the shortest p99 of a cold small read.
///
/// A percentile of all trials together and the median of the trials' percentiles are two figures: where some cells have only the first,
/// the first is compared of all.
pub(super) fn row(cells: &[Cell<'_>], candidates: &[&Cell<'_>]) -> Capability {
    const LABEL: &str = "Fastest cold small read, p99";
    let is_pooled = candidates.iter().any(|cell| cell.is_pooled(&P99));
    let (label, found) = match is_pooled {
        true => (format!("{LABEL} of all trials together"), best_pooled(candidates)),
        false => {
            let found = best(candidates.iter().copied(), &P99);
            let found = found.map(|(cell, number)| {
                let beside = ties::beside(candidates, cell, &P99) + &may_be_better(candidates, number, &P99);
                (
                    number.clone(),
                    configuration(cell) + &of_those(cell, &[]) + &beside,
                )
            });
            (LABEL.to_owned(), found)
        }
    };
    let missing = || {
        let reason = cells.iter().find_map(|cell| cell.unavailable(&P99));
        Absence::recorded_or(reason, || "see the plan fs-choice".to_owned())
    };
    Capability {
        label,
        readings: vec![Reading::of(CONFIGURATION_COLUMN, found, missing)],
    }
}

fn best_pooled(candidates: &[&Cell<'_>]) -> Option<(Number, String)> {
    let pooled: Vec<Option<Number>> = candidates.iter().map(|cell| cell.pooled(&P99)).collect();
    let known = pooled.iter().enumerate();
    let known = known.filter_map(|(place, number)| Some((place, number.as_ref()?)));
    let (place, best) = known.min_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    let others = pooled.iter().enumerate().filter(|(other, _)| *other != place);
    let beside = ties::among(best, others.map(|(_, number)| number.as_ref()));
    let cell = candidates[place];
    // A percentile of all trials together has no interval that could tie.
    let chance = match pooled.iter().flatten().count() {
        1 => "",
        _ => "; without intervals, another may be as fast",
    };
    let words = configuration(cell) + &of_those(cell, &[]) + &beside + chance;
    Some((best.clone(), words))
}
