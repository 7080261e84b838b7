//! How far the answer about columns can be relied on.

use outcrop_results::{Outcome, RunView};

use super::cell::Cell;
use crate::answer::{Caution, Severity};
use crate::environment;

/// Everything a careful reader must know, warnings first.
pub(super) fn cautions(run: &RunView, cells: &[Cell<'_>]) -> Vec<Caution> {
    let note = |text: String| Caution {
        severity: Severity::Note,
        text,
    };
    let mut cautions: Vec<Caution> = lost_trials(run).into_iter().collect();
    let timed = cells.iter().filter_map(|cell| {
        let speed = ["encode_speed", "decode_speed", "latency_p50"];
        speed.iter().find_map(|metric| cell.number(metric))
    });
    let (total, wide) = (
        timed.clone().count(),
        timed.filter(|number| number.is_wide()).count(),
    );
    if total > 0 {
        let text =
            format!("In {wide} of {total} cells the interval of the time is wider than 10 % of the median.");
        let severity = if wide * 4 > total {
            Severity::Warning
        } else {
            Severity::Note
        };
        cautions.push(Caution { severity, text });
    }
    let limited = cells
        .iter()
        .find(|cell| !cell.is_generated() && cell.factor("rows") != "all");
    cautions.extend(limited.map(|cell| {
        note(format!(
            "Of each column at most the first {} rows were taken; later ones may be of another kind.",
            cell.factor("rows")
        ))
    }));
    cautions.push(note(
        "Searches ask for values drawn uniformly from the distinct ones, one at a time, in one thread."
            .to_owned(),
    ));
    cautions.extend(environment::warnings(&run.environment).into_iter().map(note));
    cautions.sort_by_key(|caution| std::cmp::Reverse(caution.severity));
    cautions
}

fn lost_trials(run: &RunView) -> Option<Caution> {
    let lost = run
        .trials
        .iter()
        .filter(|trial| trial.layer == "column" && !trial.is_completed());
    let count = lost.clone().count();
    let reason = lost.into_iter().find_map(|trial| match &trial.outcome {
        Outcome::Failed { message } => Some(format!(" The first failure: {message}")),
        Outcome::Completed | Outcome::Interrupted => None,
    });
    (count > 0).then(|| Caution {
        severity: Severity::Warning,
        text: format!(
            "{count} trials failed or were interrupted; they count nowhere.{}",
            reason.unwrap_or_default()
        ),
    })
}
