//! How far the answer can be relied on.

use outcrop_results::{Outcome, RunView};

use super::cell::Cell;
use super::findings::{CONTAMINATION, contaminated};
use crate::answer::{Caution, Severity};
use crate::environment;
use crate::number::Number;

/// Everything a careful reader must know, warnings first.
pub(super) fn cautions(run: &RunView, cells: &[Cell<'_>]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    cautions.extend(lost_trials(run));
    cautions.extend(width(cells));
    cautions.extend(contamination(cells));
    cautions.extend(repetitions(cells));
    cautions.extend(environment::warnings(&run.environment).into_iter().map(note));
    cautions.extend(duration(run, cells));
    cautions.sort_by_key(|caution| std::cmp::Reverse(caution.severity));
    cautions
}

fn note(text: String) -> Caution {
    Caution {
        severity: Severity::Note,
        text,
    }
}

fn warning(text: String) -> Caution {
    Caution {
        severity: Severity::Warning,
        text,
    }
}

fn lost_trials(run: &RunView) -> Option<Caution> {
    let lost = run
        .trials
        .iter()
        .filter(|trial| trial.layer == "device" && !trial.is_completed());
    let failed: Vec<&str> = lost
        .clone()
        .filter_map(|trial| match &trial.outcome {
            Outcome::Failed { message } => Some(message.as_str()),
            Outcome::Completed | Outcome::Interrupted => None,
        })
        .collect();
    let interrupted = lost.count() - failed.len();
    if failed.is_empty() && interrupted == 0 {
        return None;
    }
    let mut text = format!(
        "{} trials failed and {interrupted} were interrupted; they count nowhere.",
        failed.len()
    );
    if let Some(first) = failed.first() {
        text.push_str(&format!(" The first failure: {first}"));
    }
    Some(warning(text))
}

/// How many cells have wide intervals, and whether the answer rests on one.
fn width(cells: &[Cell<'_>]) -> Option<Caution> {
    let with_interval = cells.iter().filter_map(|cell| cell.number("iops")?.interval);
    let (total, wide) = (
        with_interval.clone().count(),
        with_interval.filter(outcrop_measure::Interval::is_wide).count(),
    );
    if total == 0 {
        return None;
    }
    let text = format!(
        "In {wide} of {total} cells the interval of the IOPS is wider than 10 % of the median; they are marked in the \
         matrices."
    );
    Some(if wide * 4 > total {
        warning(text)
    } else {
        note(text)
    })
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

fn repetitions(cells: &[Cell<'_>]) -> Option<Caution> {
    let fewest = cells
        .iter()
        .filter_map(|cell| cell.number("iops"))
        .min_by_key(|number| number.n)?;
    let Number { n, interval, .. } = fewest;
    match interval {
        Some(interval) if interval.confidence < 0.93 => Some(note(format!(
            "With {n} trials per cell an interval is the range of the trials and covers the true median with only \
             {:.0} % confidence; the default effort takes 5.",
            interval.confidence * 100.0
        ))),
        Some(_) => None,
        None => Some(warning(
            "At least one cell has a single trial: nothing says how well its numbers would repeat."
                .to_owned(),
        )),
    }
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
