//! What limits the answer of this layer: overload, a late generator, compaction, stalls, the log.

use outcrop_schema::kv::{CODEC_UNUSED, NOT_SETTLED, SETTLING, STALLED, STALLED_TIME};
use outcrop_workload::store::Settling;

use super::cell::{generators, is_closed_loop, largest, words};
use super::{servers, space};
use crate::answer::Caution;
use crate::cell::Cell;
use crate::layer::overload;
use crate::number::counted;

/// What limits the answer beside what limits that of every layer.
pub(super) fn own_cautions(cells: &[Cell<'_>]) -> Vec<Caution> {
    let unsettled = unsettled(cells);
    let stalled: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.has(&STALLED)).collect();
    let mut unused = cells.iter().filter(|cell| cell.has(&CODEC_UNUSED)).peekable();
    let unused = unused.peek().copied().map(|first| {
        Caution::warning(format!(
            "In {} a codec for lower levels was never used, because no data had been compacted into those levels ({}), so the figures do not show it; \
             use more --records or a smaller --write-buffer.",
            counted(unused.count(), "cell"),
            words(first)
        ))
    });
    let stalled = stalled.first().map(|first| {
        // Runs of earlier versions do not say how long.
        let times = stalled
            .iter()
            .filter_map(|cell| Some((largest(cell, &STALLED_TIME)?, cell)));
        let longest = times.max_by(|one, other| one.0.total_cmp(&other.0)).map_or_else(
            || format!("for a while ({})", words(first)),
            |(time, cell)| {
                format!(
                    "for up to {} of a trial ({})",
                    STALLED_TIME.format(time),
                    words(cell)
                )
            },
        );
        let cells = counted(stalled.len(), "cell");
        Caution::warning(format!(
            "In {cells}, throughput fell below a tenth of the median {longest}."
        ))
    });
    let log = space::caution(cells);
    let open = cells.iter().filter(|cell| !is_closed_loop(cell));
    let overloaded = overload::caution("engine", open, super::cell::overload, words);
    // A figure that is of another codec than its cell is named after comes first.
    unused
        .into_iter()
        .chain(overloaded)
        .chain(generators(cells).caution())
        .chain(unsettled)
        .chain(stalled)
        .chain(space::compressed_below(cells))
        .chain(log)
        .chain(servers::caution(cells))
        .chain(space::repetition(cells))
        .collect()
}

/// Of cells in which compaction had not ended, how many, and what helps.
fn unsettled(cells: &[Cell<'_>]) -> Option<Caution> {
    let unsettled: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.has(&NOT_SETTLED)).collect();
    let first = unsettled.first()?;
    let waited = unsettled
        .iter()
        .filter(|cell| cell.is(&SETTLING, &Settling::Compacted));
    let remedy = match waited.count() {
        0 => "settling = \"compacted\" waits for it",
        count if count == unsettled.len() => {
            "it did not end in the time that settling = \"compacted\" waits; fewer --records have less of it"
        }
        _ => "settling = \"compacted\" waits for it, though not for as long as some of these cells took",
    };
    Some(Caution::warning(format!(
        "In {} compaction was still running when the run began ({}); {remedy}.",
        counted(unsettled.len(), "cell"),
        words(first)
    )))
}
