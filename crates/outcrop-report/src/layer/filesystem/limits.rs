//! How configurations of filesystems stand to the limits of where to compress.

use outcrop_schema::filesystem::{LATENCY, SPACE_RATIO};

use super::cell::configuration;
use crate::answer::Caution;
use crate::cell::Cell;
use crate::placement::{Bound, Bounded, Bounds, Kept, Verdict};

/// How a configuration stands to the limits: data ÷ space is its ratio, and what its cold reads take is the latency of a read.
pub(super) fn judge(cell: &Cell<'_>, bounds: &Bounds<'_>) -> Verdict {
    bounds.judge(Bounded {
        ratio: Bound::of(cell.number(&SPACE_RATIO)),
        p99: Bound::of(cell.number(&LATENCY.p99)),
        ..Bounded::default()
    })
}

/// Configurations that may keep the limits, where others are advised that do: they are left out for what is not known of them.
pub(super) fn left_open(candidates: &[&Cell<'_>], bounds: &Bounds<'_>) -> Option<Caution> {
    let verdicts = candidates.iter().map(|cell| (*cell, judge(cell, bounds)));
    let (kept, others): (Vec<_>, Vec<_>) = verdicts.partition(|(_, verdict)| verdict.is_kept());
    let open = others.iter().filter(|(_, verdict)| verdict.kept == Kept::Open);
    let clauses: Vec<String> = open
        .map(|(cell, verdict)| format!("{} {}", configuration(cell), verdict.why))
        .collect();
    (!kept.is_empty() && !clauses.is_empty()).then(|| {
        Caution::warning(format!(
            "Not advised, because it is not known whether the limits are met: {}.",
            clauses.join("; ")
        ))
    })
}
