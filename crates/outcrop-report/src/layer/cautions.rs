//! What every layer says about how far its numbers can be relied on.

use std::collections::BTreeSet;

use outcrop_measure::metric::Scope;
use outcrop_results::{CellView, Outcome, RunView, TrialEntry};
use outcrop_schema::LayerSchema;
use outcrop_schema::remark::RESUMED_ELSEWHERE;

use crate::answer::{Caution, Gravity};
use crate::cell::Cell;
use crate::command::Commands;
use crate::environment;
use crate::number::{Number, counted};

/// Lost trials, wide intervals, few repetitions, what disturbs measurements on the machine, and what else a layer has to say: the
/// gravest first.
pub fn cautions(
    run: &RunView,
    schema: &LayerSchema,
    cells: &[Cell<'_>],
    own: impl IntoIterator<Item = Caution>,
) -> Vec<Caution> {
    let headline: Vec<&Number> = cells
        .iter()
        .filter_map(|cell| cell.first_number(schema.headline))
        .collect();
    let mut cautions: Vec<Caution> = missing_cells(run, schema.name).into_iter().collect();
    cautions.extend(missing_trials(run, schema));
    cautions.extend(lost_trials(run, schema.name));
    cautions.extend(stalled(cells));
    cautions.extend(width(&headline));
    // What belongs to the data is not repeated.
    let of_trials = cells.iter().filter_map(|cell| {
        let metric = schema
            .headline
            .iter()
            .find(|metric| cell.number(metric).is_some())?;
        cell.number(metric).filter(|_| metric.scope == Scope::Trial)
    });
    cautions.extend(repetitions(&of_trials.collect::<Vec<_>>()));
    cautions.extend(own);
    if is_first(run, schema) {
        cautions.extend(of_sessions(run));
        let warnings = environment::warnings(&run.environment);
        cautions.extend(warnings.into_iter().map(Caution::note));
    }
    cautions.sort_by_key(|caution| std::cmp::Reverse((caution.severity, caution.gravity)));
    cautions
}

/// What a run that was not measured in one piece leaves open.
fn of_sessions(run: &RunView) -> Vec<Caution> {
    let notes = run.trials.iter().flat_map(|trial| &trial.notes);
    let elsewhere: BTreeSet<&str> = notes
        .filter(|note| RESUMED_ELSEWHERE.is_kind_of(note))
        .map(|note| note.text.as_str())
        .collect();
    let elsewhere: Vec<&str> = elsewhere.into_iter().collect();
    let resumed = (!elsewhere.is_empty())
        .then(|| format!("The run was not measured in one piece: {}.", elsewhere.join("; ")));
    let torn = (run.torn_bytes > 0).then(|| {
        "The journal ends in the middle of a line, as the run was killed or is still being measured: no figure includes the trial of that line."
            .to_owned()
    });
    let told = resumed.into_iter().chain(torn);
    told.map(|text| Caution::warning(text).graded(Gravity::Contaminated))
        .collect()
}

/// Trials that the run did not come to, whatever ended it: said once, unless a layer says that it may lack whole cells.
fn missing_trials(run: &RunView, schema: &LayerSchema) -> Option<Caution> {
    if !run.is_unfinished() || !is_first(run, schema) {
        return None;
    }
    let mut measured = run.vocabulary.layers().iter().map(|layer| layer.name);
    if measured.any(|name| is_measured(run, name) && may_lack_cells(run, name)) {
        return None;
    }
    let text = "The run is not finished: its plan asks for more trials than it has.";
    Some(unfinished(run, text).briefly("the run is not finished"))
}

/// That a run lacks trials, with the command that measures them where the run is kept.
fn unfinished(run: &RunView, text: &str) -> Caution {
    let resume = Commands::of(run).resuming();
    Caution::warning(text)
        .ending_with(resume.as_deref(), "measures the rest")
        .graded(Gravity::Contaminated)
}

fn is_measured(run: &RunView, layer: &str) -> bool {
    run.trials
        .iter()
        .any(|trial| trial.layer == layer && trial.is_completed())
}

/// Whether no layer of the run stands before this one on the page: what is true of the machine is said once.
fn is_first(run: &RunView, schema: &LayerSchema) -> bool {
    let mut layers = run.vocabulary.layers().iter();
    let first = layers.find(|layer| is_measured(run, layer.name));
    first.is_none_or(|first| first.name == schema.name)
}

/// Whether a run may not have come to all cells of a layer: it ended in its first round.
pub(in crate::layer) fn may_lack_cells(run: &RunView, layer: &str) -> bool {
    let mut of_layer = run.trials.iter().filter(|trial| trial.layer == layer);
    let is_in_first_round = of_layer.all(|trial| trial.repetition == 0);
    is_in_first_round && (run.lacks_cells(layer) || run.lacks_trials(layer, 0))
}

/// Cells that a run may not have come to: each of its rounds measures all cells, so that none is missing once the second has begun.
fn missing_cells(run: &RunView, layer: &str) -> Option<Caution> {
    let text = "The run is not finished: its first round may not have measured every cell, and a cell that is missing here may be better than these.";
    may_lack_cells(run, layer).then(|| unfinished(run, text))
}

/// Trials of a layer that were interrupted or failed.
fn lost_trials(run: &RunView, layer: &str) -> Option<Caution> {
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
    let stopped = match interrupted {
        1 => "1 trial was interrupted".to_owned(),
        count => format!("{count} trials were interrupted"),
    };
    let lost = match (failed.len(), interrupted) {
        (0, _) => stopped,
        (count, 0) => format!("{} failed", counted(count, "trial")),
        (count, _) => format!("{} failed and {stopped}", counted(count, "trial")),
    };
    let them = match failed.len() + interrupted {
        1 => "it",
        _ => "them",
    };
    let mut text = format!("{lost}; no figure includes {them}.");
    if let Some(first) = failed.first() {
        text.push_str(&format!(" The first failure: {first}"));
    }
    Some(Caution::warning(text))
}

/// Trials that are named; all of them are in the records.
const MOST_STALLED: usize = 3;

/// Trials in which the subject stood still.
fn stalled(cells: &[Cell<'_>]) -> Option<Caution> {
    let of_cell = |cell: &Cell<'_>| -> Vec<String> {
        let stalled = cell.view().map(CellView::stalled).unwrap_or_default();
        let label = cell.full_label();
        let name = |trial: &TrialEntry| format!("trial {} of {label}", trial.repetition + 1);
        stalled.into_iter().map(name).collect()
    };
    let all: Vec<String> = cells.iter().flat_map(of_cell).collect();
    if all.is_empty() {
        return None;
    }
    let more = match all.len().saturating_sub(MOST_STALLED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let trials = counted(all.len(), "trial");
    let text = format!(
        "{trials} stalled, with less than a tenth of the operations of the other repetitions: {}{more}.{}",
        all[..all.len().min(MOST_STALLED)].join(", "),
        counts_as(cells)
    );
    let more = match all.len() {
        1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    let caution = Caution::warning(text).graded(Gravity::Contaminated);
    Some(caution.briefly(format!("{trials} stalled ({}{more})", all[0])))
}

/// What stalled trials are to the figures of their cells, each in a sentence with a space before it.
fn counts_as(cells: &[Cell<'_>]) -> String {
    let stalled = |cell: &Cell<'_>| cell.view().map_or(0, |view| view.stalled().len());
    let with_stalled = cells.iter().filter(|cell| stalled(cell) > 0);
    let (few, many): (Vec<&Cell<'_>>, Vec<&Cell<'_>>) =
        with_stalled.partition(|cell| stalled(cell) * 2 < cell.trials().len());
    let given = (!few.is_empty()).then_some(
        " Where only stalled trials lack a figure, a latency counts as the longest in the trial, and a rate as 0.",
    );
    let missing = (!many.is_empty()).then_some(
        " Where half of a cell's trials stalled, the cell lacks each figure that those trials lack.",
    );
    [given, missing].into_iter().flatten().collect()
}

/// How many of a layer's headline numbers have wide intervals: a warning where more than a quarter have.
fn width(numbers: &[&Number]) -> Option<Caution> {
    let with_interval = numbers.iter().filter(|number| number.interval.is_some());
    let (total, wide) = (
        with_interval.clone().count(),
        with_interval.filter(|number| number.is_wide()).count(),
    );
    // One name where all have it.
    let name = numbers.first().map(|number| number.name.as_str())?;
    let what = if numbers.iter().all(|number| number.name == name) {
        name
    } else {
        "headline metric"
    };
    let text = format!(
        "In {wide} of {total} cells the interval of the {what} is wide: more than ± {} % of the median.",
        Number::WIDE_PERCENT
    );
    (wide > 0).then(|| Caution::warning_if(wide * 4 > total, text).graded(Gravity::Width))
}

/// What so few repetitions can say.
fn repetitions(numbers: &[&Number]) -> Option<Caution> {
    let fewest = numbers.iter().min_by_key(|number| number.n)?;
    match fewest.interval {
        Some(interval) if interval.confidence < 0.93 => Some(Caution::note(format!(
            "With {} trials per cell an interval is the range of the trials and covers the true median with only \
             {:.0} % confidence; 5 trials give 94 %.",
            fewest.n,
            interval.confidence * 100.0
        ))),
        Some(_) => None,
        None => Some(Caution::warning(
            "At least one cell has a single trial, so its repeatability is unknown.",
        )),
    }
}
