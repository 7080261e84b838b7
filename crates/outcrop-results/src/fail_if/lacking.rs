//! Rows that lack a figure: on which side, and whether longer trials would have it.

use crate::compare::{ComparisonRow, NotComparable, Side, Verdict};
use crate::view::lacks_operations;

/// Why the sides of a row cannot be compared; empty where they can.
fn reasons_of(row: &ComparisonRow) -> &[NotComparable] {
    match &row.verdict {
        Verdict::NotComparable(reasons) => reasons,
        _ => &[],
    }
}

/// Whether a run of ours lacks the figure because its trials have too few operations for it.
pub(super) fn are_too_few(row: &ComparisonRow) -> bool {
    reasons_of(row).iter().any(|reason| match reason {
        NotComparable::Unavailable { side, reason } => {
            !row.imported.contains(side) && lacks_operations(reason)
        }
        _ => false,
    })
}

/// Whether the candidate alone does not have the figure, whatever the reason.
pub(super) fn is_lost(row: &ComparisonRow) -> bool {
    let lacks = |wanted: Side| {
        let is_it = |reason: &NotComparable| match reason {
            NotComparable::Unavailable { side, .. } | NotComparable::MetricMissing { side, .. } => {
                *side == wanted
            }
            _ => false,
        };
        reasons_of(row).iter().any(is_it)
    };
    lacks(Side::Candidate) && !lacks(Side::Baseline)
}

pub(super) fn with_more_operations(row: &ComparisonRow, reason: &NotComparable) -> String {
    match reason {
        NotComparable::Unavailable { side, reason: why } if !row.imported.contains(side) => {
            format!("{reason}{}", more_operations(why))
        }
        _ => reason.to_string(),
    }
}

/// What gives a figure that trials of ours have too few operations for, as a clause; empty where that is not why it lacks, or is said.
pub(super) fn more_operations(why: &str) -> &'static str {
    match lacks_operations(why) && !why.contains("--duration") {
        true => "; longer trials have more (--duration)",
        false => "",
    }
}
