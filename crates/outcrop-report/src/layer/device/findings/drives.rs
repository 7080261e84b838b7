//! Several drives at the same time: what each gave.

use outcrop_measure::metric::Unit;
use outcrop_schema::device::{DRIVE_BANDWIDTH, DRIVE_IOPS, DRIVE_P99, IOPS};

use super::super::cell::DeviceCell;
use crate::cell::{Cell, best};
use crate::finding::Finding;
use crate::number::{Number, counted};

const ID: &str = "drives-are-alike";
const SENTENCE: &str = "Drives under load at the same time perform equally.";
/// The slowest drive may be this much below the mean of them.
const BELOW: f64 = 0.10;

/// The finding, with each drive's figures in the cell with the highest IOPS; none in a run that loaded one drive.
pub(super) fn alike(cells: &[Cell<'_>]) -> Option<Finding> {
    let several: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.drives() > 1).collect();
    let (shown, _) = best(several.iter().copied(), &IOPS.both)?;
    let slowest = several
        .iter()
        .filter_map(|cell| share_of_slowest(cell))
        .reduce(f64::min)?;
    let tested = format!(
        "IOPS of each drive in {}: the slowest at most {:.0} % below their mean. The numbers are of {}.",
        counted(several.len(), "cell"),
        BELOW * 100.0,
        shown.words()
    );
    let share = Number::derived(
        "slowest drive ÷ mean of the drives",
        slowest,
        Unit::Ratio,
        several.len(),
    );
    let families = [&DRIVE_IOPS, &DRIVE_BANDWIDTH, &DRIVE_P99];
    let of_drive = |drive: usize| families.map(|family| shown.number(&family[drive]).cloned());
    let figures = (0..shown.drives() as usize).flat_map(of_drive).flatten();
    Some(
        Finding::tested(ID, SENTENCE, slowest >= 1.0 - BELOW, tested)
            .otherwise(
                "The slower drives limit the sum: they are fuller, older, of another kind, or share a link.",
            )
            .numbers([share].into_iter().chain(figures)),
    )
}

fn share_of_slowest(cell: &Cell<'_>) -> Option<f64> {
    let drives = &DRIVE_IOPS[..(cell.drives() as usize).min(DRIVE_IOPS.len())];
    let iops = drives
        .iter()
        .map(|metric| cell.value(metric))
        .collect::<Option<Vec<f64>>>()?;
    let mean = iops.iter().sum::<f64>() / iops.len() as f64;
    let least = iops.into_iter().reduce(f64::min)?;
    (mean > 0.0).then_some(least / mean)
}
