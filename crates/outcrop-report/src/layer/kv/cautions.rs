//! What limits the answer of this layer: overload, compaction, stalls, the log.

use outcrop_measure::metric::Unit;
use outcrop_measure::units::format_count;
use outcrop_schema::kv::{NOT_SETTLED, OFFERED, STALLED, STALLED_TIME, THROUGHPUT, UNFINISHED};

use super::cell::{is_closed_loop, largest, words};
use super::{servers, space};
use crate::answer::Caution;
use crate::cell::Cell;
use crate::number::counted;

/// Open loops that asked for more than the engine could do: said before all else, since their latencies are of no load that lasts.
fn overloaded(cells: &[Cell<'_>]) -> Option<Caution> {
    /// A last stall before the end, or the draw of a random schedule, does not count as overload.
    const BEHIND: f64 = 0.9;
    let open = cells.iter().filter(|cell| !is_closed_loop(cell));
    let total = open.clone().count();
    let behind = open.filter_map(|cell| {
        let (offered, completed) = (cell.value(&OFFERED)?, cell.value(&THROUGHPUT)?);
        let waiting = cell.value(&UNFINISHED)?;
        let is_behind = waiting > 0.0 && completed < BEHIND * offered;
        is_behind.then_some((offered, completed, waiting, cell))
    });
    let mut behind: Vec<_> = behind.collect();
    behind.sort_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)));
    let (offered, completed, waiting, worst) = behind.first()?;
    let what = format!(
        "{} offered, {} completed, {} operations never begun",
        Unit::PerSecond.format(*offered),
        Unit::PerSecond.format(*completed),
        format_count(*waiting)
    );
    let effect =
        "the latency has the queue in it, grows with the length of the trial and says nothing of the engine";
    Some(Caution::warning(match total {
        1 => format!("Overloaded: {what}; {effect}."),
        _ => format!(
            "{} of {total} open-loop cells are overloaded (worst: {what}, {}); there {effect}.",
            behind.len(),
            words(worst)
        ),
    }))
}

/// What limits the answer beside what limits that of every layer.
pub(super) fn own_cautions(cells: &[Cell<'_>]) -> Vec<Caution> {
    let unsettled = cells.iter().filter(|cell| cell.has(&NOT_SETTLED)).count();
    let stalled: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.has(&STALLED)).collect();
    let unsettled = (unsettled > 0).then(|| {
        Caution::warning(format!(
            "In {} compaction was still running when the run began; settling = \"compacted\" waits for it.",
            counted(unsettled, "cell")
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
    let overloaded = overloaded(cells);
    overloaded
        .into_iter()
        .chain(unsettled)
        .chain(stalled)
        .chain(log)
        .chain(servers::caution(cells))
        .chain(space::repetition(cells))
        .collect()
}
