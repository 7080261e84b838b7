//! What limits how far the figures of a device can be relied on.

use outcrop_measure::units::{format_bytes, format_iops, format_nanoseconds};
use outcrop_results::{CellView, TrialEntry, lacks_operations};
use outcrop_schema::device::{
    BYTES_WRITTEN, CONTAMINATION, Direction, ERRORS, IO_WORKER_CPU_SHARE, IOPS, NOTHING_COMPLETED, PAGE_CACHE,
};

use super::cell::{DeviceCell, value_of};
use super::findings::{
    Checked, NOT_OF_DEVICE, checked, generators, sooner_than_storage, unchecked, unsteady,
};
use crate::answer::{Caution, Gravity};
use crate::cell::Cell;
use crate::disturbed::busy_cpus;
use crate::layer::overload;
use crate::number::counted;

/// Every caution, warnings first.
pub(super) fn all(cells: &[Cell<'_>]) -> impl Iterator<Item = Caution> {
    let cautions = [
        failed_requests(cells),
        page_cache(cells).or_else(|| memory(cells)),
        too_short(cells),
        nothing_completed(cells),
        contamination(cells),
        busy_cpus(cells, |cell| cell.words()).map(Caution::warning),
        steadiness(cells),
        generators(cells).caution(),
        handed_over(cells),
        duration(cells),
        written(cells),
    ];
    cautions.into_iter().flatten()
}

/// Open loops that asked for more than the device could answer.
pub(super) fn overload(cells: &[Cell<'_>]) -> Option<Caution> {
    let open = cells
        .iter()
        .filter(|cell| !cell.is_closed_loop() && cell.reaches_device());
    overload::caution("device", open, |cell| cell.overload(), |cell| cell.words())
}

/// Requests that failed, each of which a drive should answer; a trial of which too many fail has failed itself.
fn failed_requests(cells: &[Cell<'_>]) -> Option<Caution> {
    let of_trial = |trial: &&TrialEntry| value_of(trial, &ERRORS).filter(|count| *count > 0.0);
    let of_cell = |cell: &Cell<'_>| cell.trials().iter().filter_map(of_trial).sum::<f64>();
    let all: f64 = cells.iter().map(of_cell).sum();
    let trials = cells.iter().flat_map(Cell::trials).filter_map(of_trial).count();
    let worst = cells
        .iter()
        .max_by(|one, other| of_cell(one).total_cmp(&of_cell(other)))?;
    let is_one = cells.iter().filter(|cell| of_cell(cell) > 0.0).count() == 1;
    (trials > 0).then(|| {
        Caution::warning(format!(
            "{} failed in {}, {} {}: no rate or latency counts them. Check the device and the kernel's log (`dmesg`) of its machine before you rely on \
             these figures.",
            counted(all as usize, "request"),
            counted(trials, "trial"),
            if is_one { "at" } else { "most at" },
            worst.words()
        ))
        .graded(Gravity::Contaminated)
    })
}

/// In the words of a row.
pub(super) const MEMORY_ANSWERED: &str = "memory answered, not the device";

/// Memory answered, not the device.
fn page_cache(cells: &[Cell<'_>]) -> Option<Caution> {
    let mut trials = cells.iter().flat_map(Cell::trials);
    let note = trials.find_map(|trial| trial.notes.iter().find(|note| PAGE_CACHE.is_kind_of(note)))?;
    Some(Caution::void(MEMORY_ANSWERED, &note.text))
}

/// Reads that complete sooner than any storage device answers, through whatever cache.
fn memory(cells: &[Cell<'_>]) -> Option<Caution> {
    let (cell, latency) = sooner_than_storage(cells)?;
    let text = format!(
        "Reads complete in a median of {} ({}): faster than any storage device answers. Memory answered, such as the filesystem's \
         own cache or that of a layer below, and these figures describe it.",
        format_nanoseconds(latency.value),
        cell.words()
    );
    Some(Caution::void(MEMORY_ANSWERED, text))
}

/// Trials that ended before the requests that were in flight had completed once: their cells have no figures.
fn too_short<'c>(cells: &'c [Cell<'_>]) -> Option<Caution> {
    let why_not = |cell: &'c Cell<'_>| {
        let reason = cell.unavailable(&IOPS.both);
        reason.filter(|reason| lacks_operations(reason))
    };
    let mut short = cells.iter().filter_map(|cell| Some((cell, why_not(cell)?)));
    let (worst, reason) = short.next()?;
    let count = 1 + short.count();
    let (have, their) = if count == 1 {
        ("has", "its")
    } else {
        ("have", "their")
    };
    Some(Caution::warning(format!(
        "{} {have} no IOPS, bandwidth or latency, since a trial was shorter than {their} requests take ({}: {reason}); set a longer \
         `--duration`, and a `--warm-up` as long as these requests take.",
        counted(count, "cell"),
        worst.words()
    )))
}

/// Cells without figures because nothing completed in a trial, which is no less than in the others: of a stall, more is said elsewhere.
fn nothing_completed(cells: &[Cell<'_>]) -> Option<Caution> {
    let is_empty = |cell: &&Cell<'_>| {
        let stalled = cell.view().map(CellView::stalled).unwrap_or_default();
        let reason = cell.unavailable(&IOPS.both);
        cell.has(&NOTHING_COMPLETED)
            && stalled.is_empty()
            && reason.is_some_and(|reason| !lacks_operations(reason))
    };
    let mut empty = cells.iter().filter(is_empty);
    let first = empty.next()?;
    let count = 1 + empty.count();
    let have = if count == 1 { "has" } else { "have" };
    Some(Caution::warning(format!(
        "{} {have} no IOPS, bandwidth or latency, since no operation completed in a trial ({}): the device stalled, or the trial was shorter \
         than a request takes; set a longer `--duration`, and a `--warm-up` as long as a request takes.",
        counted(count, "cell"),
        first.words()
    )))
}

/// What the counters of the disk below a loop device without direct I/O leave out.
const OF_DISK_BELOW: &str = " The loop device's own counters also count what the page cache answers.";

/// Whether the device moved what this run asked for and nothing else.
fn contamination(cells: &[Cell<'_>]) -> Option<Caution> {
    let Checked {
        trials,
        partly,
        strays,
    } = checked(cells);
    let not_known =
        unchecked(cells).map(|reason| format!("Could not check whether others used the device: {reason}."));
    // What others moved has no bound, and would hide that a layer answered.
    let answered = strays.iter().filter(|stray| stray.missing >= NOT_OF_DEVICE);
    let answered = answered.max_by(|one, other| one.missing.total_cmp(&other.missing));
    if let Some(worst) = answered.or(strays.first()) {
        let (share, what, why) = match worst.foreign >= worst.missing {
            true if answered.is_none() => (
                worst.foreign,
                "more than requested",
                "another process used it, or a layer in between amplified requests",
            ),
            false if answered.is_none() => (
                worst.missing,
                "less than requested",
                "a layer in between answered requests, such as a cache",
            ),
            _ => (
                worst.missing,
                "less than requested",
                "a layer in between answered requests, such as a cache or a filesystem that has nothing stored there, and these figures are not \
                 those of the device",
            ),
        };
        let text = format!(
            "In {} of {} trials {} moved over {:.0} % more or fewer bytes than this run requested (worst: {:.0} % {what}, {}): {why}.{}{}",
            strays.len(),
            trials + partly,
            // It stands first: where there is little room, the end is cut off.
            worst.mover(answered.is_some() || worst.missing > worst.foreign),
            CONTAMINATION * 100.0,
            share * 100.0,
            worst.words,
            if worst.is_of_disk_below { OF_DISK_BELOW } else { "" },
            match &not_known {
                Some(why) if partly > 0 => format!(" {why}"),
                _ => String::new(),
            }
        );
        return Some(if answered.is_some() {
            Caution::void("a layer in between answered, not the device", text)
        } else {
            Caution::warning(text).graded(Gravity::Contaminated)
        });
    }
    not_known.map(Caution::note)
}

/// Writes whose rate is a mean over a change.
fn steadiness(cells: &[Cell<'_>]) -> Option<Caution> {
    let (total, unsteady) = unsteady(cells);
    let worst = unsteady.first()?;
    Some(Caution::warning(format!(
        "{}, so {} IOPS average over a change: {} gave {} overall, and {} in its last five intervals.",
        match (unsteady.len(), total) {
            (1, 1) => "The only write trial was not steady".to_owned(),
            (1, total) => format!("1 write trial of {total} was not steady"),
            (several, total) => format!("{several} write trials of {total} were not steady"),
        },
        if unsteady.len() == 1 { "its" } else { "their" },
        worst.words,
        format_iops(worst.whole),
        format_iops(worst.at_end)
    )))
}

/// Operations that would have blocked, and that the kernel's worker threads did in place of the ring.
fn handed_over(cells: &[Cell<'_>]) -> Option<Caution> {
    /// What a ring spends on its workers' bookkeeping stays far below.
    const NOTICEABLE: f64 = 0.05;
    let shares = cells
        .iter()
        .filter_map(|cell| Some((cell.value(&IO_WORKER_CPU_SHARE)?, cell)));
    let mut over: Vec<_> = shares.filter(|(share, _)| *share > NOTICEABLE).collect();
    over.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (share, worst) = over.first()?;
    Some(Caution::note(format!(
        "In {} the kernel handed operations that would have blocked to worker threads of io_uring (worst: {:.0} % of the CPU time, {}). \
         Latency and CPU time there include the hand-over; below the depth where it begins they do not.",
        counted(over.len(), "cell"),
        share * 100.0,
        worst.words()
    )))
}

/// Short writes end in a cache.
fn duration(cells: &[Cell<'_>]) -> Option<Caution> {
    let writes = cells.iter().filter(|cell| cell.only() != Some(Direction::Read));
    let trials = writes.flat_map(Cell::trials);
    let longest_s = trials.map(|trial| trial.duration_s).fold(0.0, f64::max);
    (longest_s > 0.0 && longest_s < 30.0).then(|| {
        Caution::note(format!(
            "The longest trial with writes lasted {longest_s:.1} s: write figures are burst rates, not what the device sustains once its cache is full."
        ))
        .in_print()
    })
}

/// What the trials wrote.
fn written(cells: &[Cell<'_>]) -> Option<Caution> {
    let trials = cells.iter().flat_map(Cell::trials);
    let bytes: f64 = trials.filter_map(|trial| value_of(trial, &BYTES_WRITTEN)).sum();
    (bytes > 0.0).then(|| {
        Caution::note(format!(
            "The trials wrote {}, in addition to the preparation.",
            format_bytes(bytes as u64)
        ))
    })
}
