//! From checked plans to a report: what `profile`, `run` and `device` do alike.

pub(crate) mod agreement;
mod fatal;
mod interrupted;
mod written;

use crate::commands::plan_flags::PlanFlags;
use crate::commands::report::note_absence;
use crate::dry_run;
use crate::endurance;
use crate::exit::{Ending, bad_input};
use crate::output::{self, Format, note};
use crate::output_file::refuse_system_folder;
use crate::progress::Progress;
use anyhow::Context as _;
use fatal::Ended;
pub(crate) use fatal::lab_error;
use interrupted::Interrupted;
use outcrop_lab::{LabError, PlanSet, ResumedRun};
use outcrop_measure::units::{TimeSpan, format_data};
use outcrop_report::{Constraints, Prices, Report, cell_table, number::counted, quoted};
use outcrop_results::{CellTable, ResultsError, RunFolder, RunView, cells};
use outcrop_schema::LayerSchema;
use outcrop_schema::device::Kind;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Rows of cells above the summary, which is what a reader came for.
const MOST_ROWS: usize = 30;
/// Columns of the summary where the output is no terminal, as in a log.
const LOG_COLUMNS: usize = 100;
/// In longer lines than these the eye loses its place.
const MOST_COLUMNS: usize = 140;

/// A run folder that cannot be made: the flag that decides where is part of the answer.
fn no_folder(error: LabError) -> anyhow::Error {
    match error {
        LabError::Results(error @ ResultsError::Io { .. }) => bad_input(anyhow::anyhow!(
            "{error}; the run folder is created there; --out DIR chooses another place"
        )),
        other => lab_error(other),
    }
}

/// How the result of a run reaches the user.
pub(crate) struct Conclusion<'c> {
    /// The command that goes on with an interrupted run.
    pub(crate) command: &'c str,
    /// Writes and prints what there is of the run, whether or not it was interrupted.
    pub(crate) conclude: &'c dyn Fn(&Path, &PlanFlags) -> anyhow::Result<()>,
}

/// The report and its summary.
const SUMMARY: Conclusion<'_> = Conclusion {
    command: "outcrop run",
    conclude: &|dir, flags| {
        let shown = Shown {
            references: flags.beside.checked()?,
            constraints: &Constraints::default(),
            prices: None,
        };
        let destination = match flags.no_save {
            true => Destination::Discarded,
            false => Destination::Run,
        };
        conclude(dir, flags.format, destination, &shown)
    },
};

/// What a report is asked to show.
pub(crate) struct Shown<'s> {
    /// Published references in the charts, by name.
    pub(crate) references: &'s [String],
    /// What the answer to where to compress has to meet.
    pub(crate) constraints: &'s Constraints,
    /// What space and CPU time cost.
    pub(crate) prices: Option<&'s Prices>,
}

impl Shown<'_> {
    /// The report of a run.
    pub(crate) fn report(&self, view: &RunView) -> Report {
        Report::under(view, self.references, self.constraints, self.prices)
    }
}

/// Measures checked plans in a new run folder, or only shows what would be done.
pub(crate) fn start(set: &PlanSet, name: &str, flags: &PlanFlags) -> anyhow::Result<Ending> {
    start_and(set, name, flags, &SUMMARY)
}

/// The same with another conclusion.
pub(crate) fn start_and(
    set: &PlanSet,
    name: &str,
    flags: &PlanFlags,
    conclusion: &Conclusion<'_>,
) -> anyhow::Result<Ending> {
    check_directory(set)?;
    check_beside(set, flags)?;
    for why in set.data_refusals() {
        note(&format!(
            "note: {why}; that layer uses the data that its plans name"
        ));
    }
    for what in set.data_notes() {
        note(&format!("note: {what}"));
    }
    for what in set.shortages() {
        note(&format!("warning: {what}"));
    }
    // A dry run of what would be refused is refused: its figures would be of nothing.
    check_hindrances(set)?;
    check_duration(set, flags)?;
    if let Some(refusal) = set.refusal() {
        return Err(lab_error(refusal));
    }
    if !flags.no_save {
        refuse_system_folder("--out", &flags.out)?;
    }
    if flags.dry_run {
        return dry_run::print(set, flags.format, flags.tbw);
    }
    if flags.no_save {
        // Removed with all that is in it when this returns.
        let place = tempfile::tempdir().context("cannot create a temporary run folder")?;
        let folder = outcrop_lab::new_run(place.path(), name, set).map_err(no_folder)?;
        return measure(set, folder, IfItCannotBegin::DiscardRun, flags, conclusion);
    }
    let folder = outcrop_lab::new_run(&flags.out, name, set).map_err(no_folder)?;
    measure(set, folder, IfItCannotBegin::DiscardRun, flags, conclusion)
}

/// Goes on with a run folder.
pub(crate) fn resume(dir: &Path, flags: &PlanFlags) -> anyhow::Result<Ending> {
    resume_and(outcrop_lab::resume(dir).map_err(lab_error)?, flags, &SUMMARY)
}

/// The same with another conclusion.
pub(crate) fn resume_and(
    resumed: ResumedRun,
    flags: &PlanFlags,
    conclusion: &Conclusion<'_>,
) -> anyhow::Result<Ending> {
    check_beside(&resumed.set, flags)?;
    let limit = flags.max_written.or(resumed.set.max_written());
    let set = resumed.set.with_max_written(limit);
    measure(&set, resumed.folder, IfItCannotBegin::KeepRun, flags, conclusion)
}

/// What happens to a run folder without a single trial when its subject cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IfItCannotBegin {
    /// It was made a moment ago, for this.
    DiscardRun,
    /// It is the user's.
    KeepRun,
}

impl IfItCannotBegin {
    /// Lets go of the folder of a run that an error ended. That error is the one that counts: an empty folder that stays is a warning.
    fn leave(self, folder: RunFolder) {
        let left = match self {
            Self::DiscardRun => folder.discard_if_empty(),
            Self::KeepRun => {
                drop(folder);
                Ok(())
            }
        };
        if let Err(left) = left {
            note(&format!("warning: {left}"));
        }
    }
}

/// Measures what is missing in a run folder, then writes the report and prints the summary.
fn measure(
    set: &PlanSet,
    mut folder: RunFolder,
    if_it_cannot_begin: IfItCannotBegin,
    flags: &PlanFlags,
    conclusion: &Conclusion<'_>,
) -> anyhow::Result<Ending> {
    if let Err(refused) = agreement::ask_for(set) {
        if if_it_cannot_begin == IfItCannotBegin::DiscardRun {
            folder.discard_if_empty()?;
        }
        return Err(refused);
    }
    let stop = crate::interrupt::stop_flag()?;
    let dir = folder.dir().to_owned();
    let finished_before = folder.finished().len();
    if !flags.quiet {
        note(&match finished_before {
            0 => announcement(set, &dir),
            finished => resumption(set, finished, &dir),
        });
    }
    let executed = {
        let mut progress = Progress::on_stderr(flags.quiet);
        outcrop_lab::execute(set, &mut folder, &mut progress, &stop)
    };
    let outcome = match executed {
        Ok(outcome) => outcome,
        Err(error) => {
            let ended = Ended {
                command: conclusion.command,
                dir: &dir,
                is_kept: !flags.no_save,
                finished: folder.finished().len(),
                finished_before,
            };
            if_it_cannot_begin.leave(folder);
            return Err(ended.by(error, || (conclusion.conclude)(&dir, flags)));
        }
    };
    drop(folder);
    (conclusion.conclude)(&dir, flags)?;
    if (!flags.quiet || flags.tbw.is_some()) && outcome.bytes_written > 0 {
        let written = format_data(outcome.bytes_written as f64);
        let share = endurance::in_words(outcome.bytes_written, flags.tbw);
        let share = share.map_or_else(String::new, |share| format!(": {share}"));
        note(&format!("{written} written, including the preparation{share}"));
    }
    if !outcome.is_interrupted {
        if outcome.left_out > 0 && !flags.no_save {
            note(&format!(
                "the trials that are left out can be measured later: `{} --resume {}`",
                conclusion.command,
                quoted(&dir.to_string_lossy())
            ));
        }
        return Ok(match outcome.has_measured_nothing() {
            true => Ending::NothingMeasured,
            false => Ending::Done,
        });
    }
    let interrupted = Interrupted {
        outcome: &outcome,
        finished_before,
        limit: set.max_written(),
        is_by_limit: !stop.load(Ordering::Relaxed),
        likely_bytes: set.estimate_here().likely_bytes_written(),
        takes_duration: set.cells().iter().all(outcrop_lab::Cell::takes_duration),
        is_kept: !flags.no_save,
        command: conclusion.command,
        dir: &dir,
    };
    note(&interrupted.in_words());
    Ok(Ending::Interrupted)
}

/// A place that does not exist is the user's slip: it is said before a run folder is made.
fn check_directory(set: &PlanSet) -> anyhow::Result<()> {
    use std::os::unix::fs::FileTypeExt as _;
    let directory = set.directory();
    let path = quoted(&directory.to_string_lossy());
    match std::fs::metadata(directory) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(found) if found.file_type().is_block_device() => {
            let plan = set.plans().first().map_or("NAME", |plan| plan.name.as_str());
            Err(bad_input(anyhow::anyhow!(
                "{path} is a block device; expected a directory, in which Outcrop creates a file; to overwrite the device itself, write the plan \
                 to a file (`outcrop plans {plan} > mine.toml`), set kind = \"{}\", path = \"{}\" and destroy = \"NAME\" in [subject], where NAME is \
                 its serial number (of a loop device: the path of its file), and run that file; `outcrop device --read-only {path}` only reads it",
                Kind::Destroyed.name(),
                directory.display()
            )))
        }
        Ok(_) => Err(bad_input(anyhow::anyhow!(
            "{path} is a file; expected a directory, in which Outcrop creates a file; `outcrop device --read-only {path}` reads it"
        ))),
        Err(error) => Err(bad_input(anyhow::anyhow!(
            "cannot use {}: {error}",
            directory.display()
        ))),
    }
}

/// Where the files of a report go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destination<'d> {
    /// Into the run's folder.
    Run,
    /// There too, if it can be written: one on a read-only disk, or of somebody else, is printed all the same.
    RunIfWritable,
    /// Into another folder.
    Folder(&'d Path),
    /// The run's folder is about to be removed.
    Discarded,
}

/// Writes the report and the cells of a run folder, and prints nothing.
pub(crate) fn rewrite(view: &RunView, destination: Destination<'_>, shown: &Shown<'_>) -> anyhow::Result<()> {
    written::write(view, &shown.report(view), &view.dir, destination).map(|_| ())
}

/// Writes the report and the cells of a run folder, and prints the cells and what they say.
pub(crate) fn conclude(
    dir: &Path,
    format: Format,
    destination: Destination<'_>,
    shown: &Shown<'_>,
) -> anyhow::Result<()> {
    let mut view = RunView::load(dir).map_err(bad_input)?;
    // No command may name a folder that is about to be removed.
    if matches!(destination, Destination::Discarded) {
        view.dir.clear();
    }
    let report = shown.report(&view);
    note_absence(shown.references, &report.figures(), None);
    let table = CellTable::of(&view);
    let paths = written::write(&view, &report, dir, destination)?;
    match format {
        Format::Text => {
            let width = output::terminal_width();
            let cells = cell_table::excerpt(&table, width, MOST_ROWS);
            let screen = report.screen(width.unwrap_or(LOG_COLUMNS).min(MOST_COLUMNS), false);
            let place = match (paths, destination, report.is_under_other_limits()) {
                (None, ..) | (_, Destination::Discarded, _) => String::new(),
                (Some(paths), _, false) => format!("\nReport: {}\n", paths.html.display()),
                (Some(paths), _, true) => format!(
                    "\nReport with these limits: {}; report.html keeps those of the run\n",
                    paths.html.display()
                ),
            };
            let verdicts = report.verdicts().map(|verdicts| format!("\n{verdicts}"));
            let verdicts = verdicts.unwrap_or_default();
            output::print(&format!("{cells}\n{screen}{verdicts}{place}"))
        }
        Format::Json => {
            let envelope = report.in_envelope(output::envelope())?;
            output::print(&output::pretty_json(
                &envelope.with_cells(table.to_json()).on(view.environment),
            )?)
        }
        Format::Csv => print_cells(&table),
    }
}

/// Prints the table of cells as CSV.
fn print_cells(table: &CellTable) -> anyhow::Result<()> {
    output::print_with(|sink| Ok(cells::write_csv(table, sink)?))
}

/// Prints the cells of one layer of a run folder, whichever command made it.
pub(crate) fn print_layer(dir: &Path, layer: &LayerSchema, format: Format) -> anyhow::Result<()> {
    let view = RunView::load(dir).map_err(bad_input)?;
    let table = CellTable::of(&view).of_layer(layer);
    if table.is_empty() {
        return Err(bad_input(anyhow::anyhow!(
            "{} has no cell of the {} layer; `outcrop report` prints what it has",
            dir.display(),
            layer.name
        )));
    }
    match format {
        Format::Text => output::print(&cell_table::text(&table, output::terminal_width())),
        Format::Json => {
            let envelope = output::envelope().with_cells(table.to_json());
            output::print(&output::pretty_json(&envelope.on(view.environment))?)
        }
        Format::Csv => print_cells(&table),
    }
}

/// Refuses references that no chart of these plans can have: a wrong name is said before anything is measured.
fn check_beside(set: &PlanSet, flags: &PlanFlags) -> anyhow::Result<()> {
    let layers = set.plans().iter().map(|plan| plan.layer.name());
    flags.beside.check_for(&layers.collect())
}

/// Refuses a duration where no trial ends by time.
fn check_duration(set: &PlanSet, flags: &PlanFlags) -> anyhow::Result<()> {
    let mut ends = set.cells().iter().map(|cell| cell.layer.ends_by(&cell.factors));
    match ends.next().flatten() {
        Some(first)
            if flags.duration.is_some()
                && ends.all(|end| end.is_some_and(|end| !end.or_by_time))
                && !first.or_by_time =>
        {
            Err(bad_input(anyhow::anyhow!(
                "--duration: it has no effect here, where a trial lasts until {}; leave it out",
                first.what
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses plans of which nothing can be measured on this machine, with the first reason.
fn check_hindrances(set: &PlanSet) -> anyhow::Result<()> {
    let hindered = set.hindered();
    match hindered.first() {
        Some((_, reason)) if hindered.len() == set.cells().len() => Err(bad_input(anyhow::anyhow!(
            "nothing can be measured here: {reason}"
        ))),
        _ => Ok(()),
    }
}

fn announcement(set: &PlanSet, dir: &Path) -> String {
    let estimate = set.estimate_here();
    let writes = dry_run::writes(
        estimate.likely_bytes_written(),
        estimate.bytes_written(),
        set.max_written(),
    );
    format!(
        "{}, {}, about {}{writes} · seed {} · {}",
        counted(estimate.cells, "cell"),
        counted(estimate.trials, "trial"),
        rounded(estimate.total()),
        set.seed(),
        dir.display()
    )
}

/// What is known before a resumed run goes on; how long the rest takes is shown as it is measured.
fn resumption(set: &PlanSet, finished: usize, dir: &Path) -> String {
    format!(
        "resuming: {}, {} measured so far · seed {} · {}",
        counted(set.estimate_here().cells, "cell"),
        counted(finished, "trial"),
        set.seed(),
        dir.display()
    )
}

/// An estimate in whole seconds, and of hours in whole minutes: `3h47s` reads as 47 minutes.
pub(crate) fn rounded(span: std::time::Duration) -> TimeSpan {
    let unit_s = if span.as_secs() < 3600 { 1.0 } else { 60.0 };
    let seconds = (span.as_secs_f64() / unit_s).round() * unit_s;
    TimeSpan(std::time::Duration::from_secs(seconds as u64))
}
