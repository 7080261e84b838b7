//! The tail of cold small reads, of which a trial alone may have too few.

use outcrop_measure::metric::Metric;
use outcrop_schema::filesystem::LATENCY;

use super::cell::configuration;
use crate::answer::{CONFIGURATION_COLUMN, Capability, Reading};
use crate::cell::{Cell, best};
use crate::number::Number;

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
            (
                LABEL.to_owned(),
                found.map(|(cell, number)| (number.clone(), configuration(cell))),
            )
        }
    };
    let missing = || {
        let reason = cells.iter().find_map(|cell| cell.unavailable(&P99));
        reason.map_or_else(|| "see the plan fs-choice".to_owned(), str::to_owned)
    };
    Capability {
        label,
        readings: vec![Reading::of(CONFIGURATION_COLUMN, found, missing)],
    }
}

fn best_pooled(candidates: &[&Cell<'_>]) -> Option<(Number, String)> {
    let pooled = candidates
        .iter()
        .filter_map(|cell| Some((cell.pooled(&P99)?, configuration(cell))));
    pooled.min_by(|one, other| one.0.value.total_cmp(&other.0.value))
}
