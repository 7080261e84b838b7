//! How far the answer can be relied on.

use outcrop_results::RunView;

use super::super::cautions::{lost_trials, note, repetitions, warning, width};
use super::cell::Cell;
use super::findings::{CONTAMINATION, contaminated};
use crate::answer::Caution;
use crate::environment;

/// Everything a careful reader must know, warnings first.
pub(super) fn cautions(run: &RunView, cells: &[Cell<'_>]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    cautions.extend(lost_trials(run, "device"));
    let iops = cells.iter().filter_map(|cell| cell.number("iops"));
    cautions.extend(width("IOPS", iops.clone()));
    cautions.extend(contamination(cells));
    cautions.extend(repetitions(iops));
    cautions.extend(environment::warnings(&run.environment).into_iter().map(note));
    cautions.extend(duration(run, cells));
    cautions.sort_by_key(|caution| std::cmp::Reverse(caution.severity));
    cautions
}

fn contamination(cells: &[Cell<'_>]) -> Option<Caution> {
    let dirty = contaminated(cells);
    if let Some(worst) = dirty.first() {
        let ratio = worst.value("device_bytes_ratio")?;
        return Some(warning(format!(
            "In {} of {} cells the device moved over {:.0} % more or fewer bytes than asked (worst: {ratio:.2} times, {}): \
             others used it, or a layer between amplified or absorbed.",
            dirty.len(),
            cells.len(),
            CONTAMINATION * 100.0,
            worst.words()
        )));
    }
    let reason = cells
        .iter()
        .find_map(|cell| cell.unavailable.get("device_bytes_ratio"))?;
    Some(note(format!(
        "Whether others used the device meanwhile could not be checked: {reason}."
    )))
}

/// Short writes end in a cache.
fn duration(run: &RunView, cells: &[Cell<'_>]) -> Option<Caution> {
    let writes = cells.iter().any(|cell| cell.read_percent != Some(100));
    let completed = run
        .trials
        .iter()
        .filter(|trial| trial.layer == "device" && trial.is_completed());
    let longest_s = completed.map(|trial| trial.duration_s).fold(0.0, f64::max);
    (writes && longest_s > 0.0 && longest_s < 30.0).then(|| {
        note(format!(
            "The longest trial lasted {longest_s:.1} s: writes show what the device takes in a burst, not what it \
             sustains when its cache is full."
        ))
    })
}
