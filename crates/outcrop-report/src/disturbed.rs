//! Cells that were measured while other programs used the CPUs.

use outcrop_measure::interval::median;
use outcrop_probe::OthersCpu;

use crate::cell::Cell;
use crate::number::counted;

/// The share of the CPUs that others used while a cell was measured, in the median of its trials; none where that is not recorded.
pub(crate) fn others_share(cell: &Cell<'_>) -> Option<f64> {
    let shares = cell.trials().iter().filter_map(|trial| trial.others_cpu_share);
    median(&shares.collect::<Vec<_>>())
}

/// Why figures of these cells decide nothing: what others did while the most disturbed of them was measured; none where that was little.
pub(crate) fn why_disturbed<'c, 'a: 'c>(cells: impl IntoIterator<Item = &'c Cell<'a>>) -> Option<String> {
    in_words(cells.into_iter().filter_map(others_share))
}

/// In how many cells other programs used the CPUs, and how much at most; none where that was little in all. Intervals have the noise of that, and
/// not what it cost all trials alike.
pub(crate) fn busy_cpus(cells: &[Cell<'_>], words: fn(&Cell<'_>) -> String) -> Option<String> {
    let shares = cells.iter().filter_map(|cell| Some((cell, others_share(cell)?)));
    let busy = shares.filter(|(_, share)| *share > OthersCpu::MATTER);
    let busy: Vec<(&Cell<'_>, f64)> = busy.collect();
    let (worst, share) = busy.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!(
        "Other programs used up to {:.0} % of the CPUs in {} of {} (most: {}): rates may be higher, and latencies lower, on a quiet machine.",
        share * 100.0,
        busy.len(),
        counted(cells.len(), "cell"),
        words(worst)
    ))
}

/// The same by the shares that others used.
pub(crate) fn in_words(shares: impl Iterator<Item = f64>) -> Option<String> {
    let most = shares
        .max_by(f64::total_cmp)
        .filter(|share| *share > OthersCpu::MATTER)?;
    Some(format!(
        "other programs used {:.0} % of the CPUs during the trials of these cells",
        most * 100.0
    ))
}
