//! Several drives at the same time: what each gave.

use outcrop_measure::metric::Unit;
use outcrop_schema::device::{DRIVE_BANDWIDTH, DRIVE_IOPS, DRIVE_P99, IOPS};

use super::super::cell::DeviceCell;
use crate::cell::{Cell, best};
use crate::finding::{Finding, Side, Verdict};
use crate::number::{Number, counted};

const ID: &str = "drives-are-alike";
const SENTENCE: &str = "Drives under load at the same time perform equally.";
/// The slowest drive may be this much below the mean of them.
const BELOW: f64 = 0.10;

/// The finding, with each drive's figures in the cell with the highest IOPS; none in a run that loaded one drive.
pub(super) fn alike(cells: &[Cell<'_>]) -> Option<Finding> {
    let mut several: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.drives() > 1).collect();
    let first = *several.first()?;
    several.retain(|cell| cell.is_closed_loop());
    if several.is_empty() {
        let reason = "a schedule set the rate of every drive.";
        return Some(Finding::not_testable(ID, SENTENCE, reason));
    }
    let shares: Vec<Number> = several.iter().flat_map(|cell| shares_of_drives(cell)).collect();
    let side = |share: &Number| Side::of(share, &(1.0 - BELOW..=f64::INFINITY));
    let slowest_of = |wanted: Option<Side>| {
        let its = shares
            .iter()
            .filter(|share| wanted.is_none_or(|wanted| side(share) == wanted));
        its.min_by(|one, other| one.value.total_cmp(&other.value))
    };
    let Some(((shown, _), slowest)) = best(several.iter().copied(), &IOPS.both).zip(slowest_of(None)) else {
        let unknown = DRIVE_IOPS[..DRIVE_IOPS.len().min(first.drives() as usize)].iter();
        let why = unknown.filter_map(|metric| first.unavailable(metric)).next();
        let reason = why.unwrap_or("no cell has the IOPS of each drive");
        return Some(Finding::not_testable(ID, SENTENCE, reason));
    };
    let tested = format!(
        "IOPS of each drive in {}: the slowest at most {:.0} % below their mean. The numbers are of {}.",
        counted(several.len(), "cell"),
        BELOW * 100.0,
        shown.words()
    );
    let of = |wanted: Side| shares.iter().filter(|share| side(share) == wanted).count();
    // The slowest by its value may be sure, and another one decide.
    let deciding = slowest_of(Some(Side::Beyond)).or_else(|| slowest_of(Some(Side::Open)));
    let deciding = deciding.unwrap_or(slowest);
    let name = match std::ptr::eq(deciding, slowest) {
        true => "slowest drive ÷ mean of the drives",
        false => "one drive ÷ mean of the drives",
    };
    let share = deciding.clone().named(name);
    let verdict = Verdict::of_sides(of(Side::Beyond), of(Side::Open), || {
        format!(
            "the interval of a drive's share has values up to {:.0} % below the mean and further below: {}. More repetitions narrow it",
            BELOW * 100.0,
            share.with_ends()
        )
    });
    let families = [&DRIVE_IOPS, &DRIVE_BANDWIDTH, &DRIVE_P99];
    let of_drive = |drive: usize| families.map(|family| shown.number(&family[drive]).cloned());
    let figures = (0..shown.drives() as usize).flat_map(of_drive).flatten();
    Some(
        Finding::judged(ID, SENTENCE, verdict, tested)
            .otherwise(
                "The slower drives limit the sum: they are fuller, older, of another kind, or share a link.",
            )
            .numbers([share].into_iter().chain(figures)),
    )
}

/// What each drive gave ÷ the mean of them.
fn shares_of_drives(cell: &Cell<'_>) -> Vec<Number> {
    let drives = &DRIVE_IOPS[..(cell.drives() as usize).min(DRIVE_IOPS.len())];
    let iops: Option<Vec<&Number>> = drives.iter().map(|metric| cell.number(metric)).collect();
    let iops = iops.unwrap_or_default();
    let share = |drive: usize| {
        Number::computed("", Unit::Ratio, &iops, |values| {
            values[drive] * values.len() as f64 / values.iter().sum::<f64>()
        })
    };
    let shares = (0..iops.len()).map(share);
    shares.filter(|share| share.value.is_finite()).collect()
}
