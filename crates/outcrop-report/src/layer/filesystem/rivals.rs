//! Configurations that are known too badly to be ranked: each may be better than the best.

use outcrop_measure::metric::Metric;
use outcrop_schema::filesystem::LATENCY;

use super::cell::configuration;
use crate::cell::Cell;
use crate::layer::undecided::is_wide_rival;
use crate::number::Number;

/// The median latencies of some cells, as claims name them.
pub(super) fn p50s<'c>(cells: &'c [&Cell<'_>]) -> impl Iterator<Item = (String, &'c Number)> {
    cells.iter().filter_map(|cell| {
        let name = format!("p50 of {}", configuration(cell));
        Some((name, cell.number(&LATENCY.p50)?))
    })
}

/// What stands beside the best of some cells where the wide interval of another one contains it:
/// `; ext4 none may be better: 611 µs (52.0 µs–2.70 ms)`. Of many, as much as a cell of a table has room for.
pub(super) fn may_be_better(cells: &[&Cell<'_>], best: &Number, metric: &Metric) -> String {
    const NAMED: usize = 2;
    let words = |cell: &&Cell<'_>| {
        let number = cell.number(metric)?;
        // The best itself is no rival.
        let is_rival = !std::ptr::eq(number, best) && is_wide_rival(number, best);
        is_rival.then(|| {
            let (name, figure) = (configuration(cell), number.with_ends());
            format!("; {name} may be better: {figure}")
        })
    };
    let rivals: Vec<String> = cells.iter().filter_map(words).collect();
    let named = rivals[..rivals.len().min(NAMED)].concat();
    match rivals.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}
