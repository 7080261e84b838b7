//! What every layer says about how far its numbers can be relied on.

use outcrop_results::{Outcome, RunView};

use crate::answer::{Caution, Severity};
use crate::number::Number;

/// Good to know.
pub(super) fn note(text: String) -> Caution {
    Caution {
        severity: Severity::Note,
        text,
    }
}

/// The answer may be wrong because of it.
pub(super) fn warning(text: String) -> Caution {
    Caution {
        severity: Severity::Warning,
        text,
    }
}

/// Trials of a layer that were interrupted or failed.
pub(super) fn lost_trials(run: &RunView, layer: &str) -> Option<Caution> {
    let lost = run
        .trials
        .iter()
        .filter(|trial| trial.layer == layer && !trial.is_completed());
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

/// How many of a layer's main numbers have wide intervals: a warning where more than a quarter have.
pub(super) fn width<'a>(what: &str, numbers: impl Iterator<Item = &'a Number> + Clone) -> Option<Caution> {
    let with_interval = numbers.filter_map(|number| number.interval);
    let (total, wide) = (
        with_interval.clone().count(),
        with_interval.filter(outcrop_measure::Interval::is_wide).count(),
    );
    if total == 0 {
        return None;
    }
    let text = format!(
        "In {wide} of {total} cells the interval of the {what} is wider than 10 % of the median; they are marked in the \
         matrices."
    );
    Some(if wide * 4 > total {
        warning(text)
    } else {
        note(text)
    })
}

/// What so few repetitions can say.
pub(super) fn repetitions<'a>(numbers: impl Iterator<Item = &'a Number>) -> Option<Caution> {
    let fewest = numbers.min_by_key(|number| number.n)?;
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
