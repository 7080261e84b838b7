//! From checked plans to a report: what `profile`, `run` and `device` do alike.

use crate::commands::plan_flags::PlanFlags;
use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Format, Table, note};
use crate::progress::Progress;
use outcrop_lab::{Estimate, LabError, PlanSet, RunOutcome};
use outcrop_measure::units::{TimeSpan, format_bytes};
use outcrop_report::Report;
use outcrop_results::{ResultsError, RunFolder, RunView};
use std::path::Path;

/// The summary is laid out for the narrowest terminal that people use, and reads the same in a log.
const SCREEN_COLUMNS: usize = 80;

/// Keeps the exit code apart: a wrong plan is the user's, a failed measurement is not.
pub(crate) fn lab_error(error: LabError) -> anyhow::Error {
    let is_bad_input =
        error.is_bad_input() || matches!(error, LabError::Results(ResultsError::NotARun { .. }));
    if is_bad_input {
        bad_input(error)
    } else {
        error.into()
    }
}

/// How the result of a run reaches stdout.
pub(crate) type Conclude = fn(&Path, Format) -> anyhow::Result<()>;

/// Measures checked plans in a new run folder, or only shows what would be done.
pub(crate) fn start(set: &PlanSet, name: &str, flags: &PlanFlags) -> anyhow::Result<Ending> {
    start_and(set, name, flags, conclude)
}

/// The same with another conclusion.
pub(crate) fn start_and(
    set: &PlanSet,
    name: &str,
    flags: &PlanFlags,
    conclude: Conclude,
) -> anyhow::Result<Ending> {
    check_directory(set.directory())?;
    for why in set.data_refusals() {
        note(&format!("note: {why}; it measures what its plans name"));
    }
    for what in set.data_notes() {
        note(&format!("note: {what}"));
    }
    if flags.dry_run {
        return dry_run(set, flags.format);
    }
    let folder = outcrop_lab::new_run(&flags.out, name, set).map_err(lab_error)?;
    measure(set, folder, IfItCannotBegin::DiscardRun, flags.format, conclude)
}

/// Goes on with a run folder.
pub(crate) fn resume(dir: &Path, format: Format) -> anyhow::Result<Ending> {
    let resumed = outcrop_lab::resume(dir).map_err(lab_error)?;
    measure(
        &resumed.set,
        resumed.folder,
        IfItCannotBegin::KeepRun,
        format,
        conclude,
    )
}

/// What happens to a run folder without a single trial when its subject cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IfItCannotBegin {
    /// It was made a moment ago, for this.
    DiscardRun,
    /// It is the user's.
    KeepRun,
}

/// Measures what is missing in a run folder, then writes the report and prints the summary.
fn measure(
    set: &PlanSet,
    mut folder: RunFolder,
    if_it_cannot_begin: IfItCannotBegin,
    format: Format,
    conclude: Conclude,
) -> anyhow::Result<Ending> {
    let stop = crate::interrupt::stop_flag()?;
    let dir = folder.dir().to_owned();
    note(&announcement(set, &dir));
    let executed = {
        let mut progress = Progress::on_stderr();
        outcrop_lab::execute(set, &mut folder, &mut progress, &stop)
    };
    let outcome = match executed {
        Ok(outcome) => outcome,
        Err(error) => {
            // The error that counts is the measurement's; an empty folder that stays is said beside it.
            if if_it_cannot_begin == IfItCannotBegin::DiscardRun
                && let Err(left) = folder.discard_if_empty()
            {
                note(&format!("warning: {left}"));
            }
            return Err(lab_error(error));
        }
    };
    drop(folder);
    conclude(&dir, format)?;
    if !outcome.is_interrupted {
        return Ok(Ending::Done);
    }
    let RunOutcome { finished, total, .. } = outcome;
    note(&format!(
        "interrupted: {finished} of {total} trials are kept; go on with `outcrop run --resume {}`",
        dir.display()
    ));
    Ok(Ending::Interrupted)
}

/// A place that does not exist is the user's slip: it is said before a run folder is made.
fn check_directory(directory: &Path) -> anyhow::Result<()> {
    match std::fs::metadata(directory) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(bad_input(anyhow::anyhow!(
            "{} is a file: give the directory to profile, or `outcrop device --read-only {}`",
            directory.display(),
            directory.display()
        ))),
        Err(error) => Err(bad_input(anyhow::anyhow!(
            "cannot use {}: {error}",
            directory.display()
        ))),
    }
}

/// Writes the report of a run folder and prints what it says.
pub(crate) fn conclude(dir: &Path, format: Format) -> anyhow::Result<()> {
    let view = RunView::load(dir).map_err(bad_input)?;
    let report = Report::of(&view);
    let paths = outcrop_report::write(&report, dir)?;
    match format {
        Format::Text => {
            let screen = report.screen(SCREEN_COLUMNS, false);
            output::print(&format!("{screen}\nReport: {}\n", paths.html.display()))
        }
        Format::Json => output::print(&output::pretty_json(&report.to_json()?)?),
        Format::Csv => {
            let records: Vec<_> = view.records().collect();
            output::print_with(|sink| Ok(outcrop_results::export::write_csv(&records, sink)?))
        }
    }
}

/// Shows cells, time and bytes; measures and writes nothing.
fn dry_run(set: &PlanSet, format: Format) -> anyhow::Result<Ending> {
    match format {
        Format::Json => output::print(&output::pretty_json(&dry_run_json(set))?)?,
        Format::Csv => cells_table(set).print(Format::Csv)?,
        Format::Text => {
            cells_table(set).print(Format::Text)?;
            output::print(&format!("\n{}\n", forecast(&set.estimate())))?;
        }
    }
    Ok(Ending::Done)
}

fn cells_table(set: &PlanSet) -> Table {
    let mut table = Table::new([
        ("cell", "cell"),
        ("subject", "subject"),
        ("factors", "factors"),
        ("trials", "repetitions_count"),
        ("warm-up", "warm_up_s"),
        ("measured", "duration_s"),
        ("plans", "plans"),
    ]);
    let time = |span: TimeSpan| Cell::number(span.0.as_secs_f64(), span.to_string());
    for cell in set.cells() {
        let factors: Vec<String> = cell
            .factors
            .iter()
            .map(|(name, value)| format!("{name}={}", value.spelling()))
            .collect();
        table.push(vec![
            Cell::text(&cell.id[..cell.id.len().min(8)]),
            Cell::text(&cell.subject.label),
            Cell::text(factors.join(" ")),
            Cell::number(
                f64::from(cell.trial.repetitions),
                cell.trial.repetitions.to_string(),
            ),
            time(cell.trial.warm_up),
            time(cell.trial.duration),
            Cell::text(cell.plans.join(" ")),
        ]);
    }
    table
}

fn forecast(estimate: &Estimate) -> String {
    let time = format!(
        "{} cells, {} trials: about {} ({} to prepare, {} to measure).",
        estimate.cells,
        estimate.trials,
        rounded(estimate.total()),
        rounded(estimate.preparation),
        rounded(estimate.measuring),
    );
    if estimate.bytes_written() == 0 {
        return format!("{time}\nNothing but the run folder will be written.");
    }
    format!(
        "{time}\nAt most {} will be written ({} to prepare); {}.\nShare of the rated endurance: {}.",
        format_bytes(estimate.bytes_written()),
        format_bytes(estimate.bytes_written_preparing),
        Estimate::ASSUMPTION,
        match &estimate.endurance_share {
            Ok(share) => format!("{:.4} %", share * 100.0),
            Err(why) => why.to_string(),
        }
    )
}

fn dry_run_json(set: &PlanSet) -> serde_json::Value {
    let estimate = set.estimate();
    let cells: Vec<_> = set
        .cells()
        .iter()
        .map(|cell| {
            serde_json::json!({
                "cell": cell.id, "layer": cell.layer.name(), "subject": cell.subject.label,
                "factors": cell.factors.spellings(),
                "plans": cell.plans, "repetitions": cell.trial.repetitions,
                "warm_up_s": cell.trial.warm_up.0.as_secs_f64(), "duration_s": cell.trial.duration.0.as_secs_f64(),
            })
        })
        .collect();
    serde_json::json!({
        "seed": set.seed().to_string(),
        "cells": cells,
        "trials": estimate.trials,
        "preparation_s": estimate.preparation.as_secs_f64(),
        "measuring_s": estimate.measuring.as_secs_f64(),
        "bytes_written_at_most": estimate.bytes_written(),
        "assumption": Estimate::ASSUMPTION,
        "plan": set.to_toml(),
    })
}

fn announcement(set: &PlanSet, dir: &Path) -> String {
    let estimate = set.estimate();
    format!(
        "{} cells, {} trials, about {} · seed {} · {}",
        estimate.cells,
        estimate.trials,
        rounded(estimate.total()),
        set.seed(),
        dir.display()
    )
}

fn rounded(span: std::time::Duration) -> TimeSpan {
    TimeSpan(std::time::Duration::from_secs(span.as_secs_f64().round() as u64))
}
