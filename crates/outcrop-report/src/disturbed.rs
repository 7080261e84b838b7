//! Cells that were measured while other programs used the CPUs.

use outcrop_measure::interval::median;
use outcrop_probe::OthersCpu;

use crate::cell::Cell;

/// The share of the CPUs that others used while a cell was measured, in the median of its trials; none where that is not recorded.
pub(crate) fn others_share(cell: &Cell<'_>) -> Option<f64> {
    let shares = cell.trials().iter().filter_map(|trial| trial.others_cpu_share);
    median(&shares.collect::<Vec<_>>())
}

/// Why figures of these cells decide nothing: what others did while the most disturbed of them was measured; none where that was little.
pub(crate) fn why_disturbed<'c, 'a: 'c>(cells: impl IntoIterator<Item = &'c Cell<'a>>) -> Option<String> {
    in_words(cells.into_iter().filter_map(others_share))
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
