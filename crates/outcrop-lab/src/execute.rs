//! Running the trials of a run, first time or resumed: the same code, which skips what is finished.
//!
//! Every trial is one line of the journal, on the disk before the next one starts. What the process was doing
//! when it was killed is the only thing lost, and a resume measures it again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_probe::OthersCpu;
use outcrop_probe::clock::{Clock, utc_timestamp};
use outcrop_results::{Outcome, RunFolder, TrialEntry};
use outcrop_schema::Remark;
use outcrop_schema::remark::WRITE_LIMIT;

use crate::cell::{Cell, Subject};
use crate::deadline::{self, Deadline};
use crate::doubt::Doubt;
use crate::error::LabError;
use crate::eta::Eta;
use crate::failures::Failures;
use crate::layer::{Bench, LayerRef, Preparation, PreparationStep, TrialFailure, TrialReport};
use crate::observer::{Event, Observer};
use crate::order::Trial;
use crate::outcome::RunOutcome;
use crate::plan::PlanSet;
use crate::rounds::Rounds;
use crate::run;
use crate::same_data::SameData;

/// Runs every trial that the folder does not hold yet, then writes the records.
///
/// A raised `stop` ends the current trial cleanly: it is journalled as interrupted, and a resume runs it again. A
/// trial that fails is journalled with its sentence, and the run goes on.
///
/// # Errors
/// When no further trial can succeed (no space, no permission), when not one trial of a layer succeeded, or when
/// the folder cannot be written. What is finished stays finished.
pub fn execute(
    set: &PlanSet,
    folder: &mut RunFolder,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<RunOutcome, LabError> {
    deadline::watched(set.time_for_trials(), stop, |is_over| {
        execute_until(is_over, set, folder, observer, stop)
    })
}

fn execute_until(
    is_over: &AtomicBool,
    set: &PlanSet,
    folder: &mut RunFolder,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<RunOutcome, LabError> {
    let trials = set.trials();
    let pending: Vec<Trial> = trials
        .iter()
        .filter(|trial| {
            !folder
                .finished()
                .contains(&(set.cells()[trial.cell].id.clone(), trial.repetition))
        })
        .copied()
        .collect();
    let opening_notes = run::opening_notes(set, folder, observer);
    let mut session = Session {
        set,
        total: trials.len(),
        failures: BTreeMap::new(),
        eta: Eta::new(set, &pending),
        doubt: Doubt::of(set, folder, &pending)?,
        rounds: Rounds::of(set, folder, &pending)?,
        same_data: SameData::of(folder)?,
        deadline: Deadline::of(set, is_over),
        started_ns: 0,
        clock: Clock::new(),
        folder,
        observer,
        stop,
        next_notes: opening_notes,
        bytes_written: 0,
    };
    session.started_ns = session.clock.now_ns();
    let ended = session.run(&pending);
    let total = session.total();
    let bytes_written = session.bytes_written;
    if let Some(told) = session.deadline.in_words(set, session.folder, &session.eta) {
        session.observer.observe(Event::Warning(&told));
    }
    let left_out = session.deadline.left_out_count();
    let failed = session.failures.values().map(|failures| failures.count).sum();
    let mut failures = session.failures.iter();
    let first_failure = failures.next().map(|(layer, failures)| failures.of_layer(layer));
    // Records are written on every way out: a run that stopped early can be reported as far as it got.
    let written = folder.finish();
    let is_interrupted = ended?;
    written?;
    // The time was over before as many had failed as there are cells.
    if let Some(error) = first_failure.filter(|_| !is_interrupted && folder.finished().is_empty()) {
        return Err(error);
    }
    Ok(RunOutcome {
        total,
        finished: folder.finished().len(),
        measured: folder.measured(),
        failed,
        bytes_written,
        left_out,
        is_interrupted,
    })
}

struct Session<'r> {
    set: &'r PlanSet,
    total: usize,
    failures: BTreeMap<&'static str, Failures>,
    eta: Eta,
    /// Decides which trials are measured, where effort follows doubt.
    doubt: Option<Doubt<'r>>,
    /// Decides which rounds are left out.
    rounds: Rounds,
    /// Refuses other data than those of the finished trials.
    same_data: SameData,
    /// Keeps the time that the run promised.
    deadline: Deadline<'r>,
    started_ns: u64,
    clock: Clock,
    folder: &'r mut RunFolder,
    observer: &'r mut dyn Observer,
    stop: &'r AtomicBool,
    /// Remarks for the next trial's entry.
    next_notes: Vec<Remark>,
    bytes_written: u64,
}

impl<'r> Session<'r> {
    /// Prepares and runs; true when stopped. Subjects are removed before this returns.
    fn run(&mut self, pending: &[Trial]) -> Result<bool, LabError> {
        let pending: &[Trial] = &self.still_wanted(pending);
        let doubt = self.doubt.as_mut();
        if pending.is_empty() || doubt.is_some_and(|doubt| !doubt.wants_any(pending)) {
            let done = || format!("all {} trials are done", self.total());
            let why = self.doubt.as_ref().map_or_else(done, Doubt::end);
            let told = format!("nothing is left to measure: {why}");
            self.observer.observe(Event::Note(&told));
            return Ok(false);
        }
        let mut benches = match self.prepare(pending) {
            Err(LabError::StoppedInPreparation) if self.deadline.is_over() => {
                return Err(self.deadline.no_time_left());
            }
            Err(LabError::StoppedInPreparation) => return Ok(true),
            prepared => prepared?,
        };
        self.same_data
            .check_early(self.set, pending, &mut benches, self.folder)?;
        let stopped = self.run_trials(pending, &mut benches);
        self.bytes_written = benches.values().map(|bench| bench.bytes_written()).sum();
        stopped
    }

    /// Without the rounds that an earlier session found not to be needed.
    fn still_wanted(&self, pending: &[Trial]) -> Vec<Trial> {
        let wanted = pending.iter().filter(|trial| self.rounds.wants(trial));
        wanted.copied().collect()
    }

    fn run_trials(
        &mut self,
        pending: &[Trial],
        benches: &mut BTreeMap<&'static str, Box<dyn Bench + 'r>>,
    ) -> Result<bool, LabError> {
        for trial in pending {
            if self.stop.load(Ordering::Relaxed) && !self.deadline.is_over() {
                return Ok(true);
            }
            if !self.is_wanted(trial) {
                continue;
            }
            let cell = &self.set.cells()[trial.cell];
            if !self.deadline.has_room(self.elapsed(), self.eta.expected(cell)) {
                self.eta.leave_out(std::iter::once(cell));
                self.leave_out(trial, false);
                continue;
            }
            let bench = benches
                .get_mut(cell.layer.name())
                .expect("every layer of a pending trial was prepared");
            let outcome = self.measure(cell, trial, bench.as_mut())?;
            if outcome != Outcome::Completed && self.deadline.is_over() {
                self.leave_out(trial, true);
            } else if outcome == Outcome::Interrupted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A trial does not fit into the time of the run. Where that ends a budget, no trial is missing: it was to be one of as many as fit.
    fn leave_out(&mut self, trial: &Trial, is_cut: bool) {
        if !self.doubt.as_mut().is_some_and(|doubt| doubt.ends_with(trial)) {
            self.deadline.leave_out(trial, is_cut);
        }
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.clock.now_ns() - self.started_ns)
    }

    /// Time that the run will still take.
    fn remaining(&self) -> Duration {
        let by_forecast = self.eta.remaining();
        let doubt = self.doubt.as_ref();
        let remaining = doubt.map_or(by_forecast, |doubt| doubt.left(self.elapsed()).0);
        self.deadline.at_most(remaining, self.elapsed())
    }

    /// Trials of the run in all, as far as that is known.
    fn total(&self) -> usize {
        let finished = self.folder.finished().len();
        let doubt = self.doubt.as_ref();
        let left_out = self.rounds.left_out().count() + self.deadline.left_out_count();
        let planned = self.total.saturating_sub(left_out);
        doubt.map_or(planned, |doubt| finished + doubt.left(self.elapsed()).1)
    }

    /// Whether a trial is still worth its time; says which cells are not.
    fn is_wanted(&mut self, trial: &Trial) -> bool {
        let elapsed = self.elapsed();
        if !self.rounds.wants(trial) {
            return false;
        }
        let Some(doubt) = &mut self.doubt else {
            return true;
        };
        let is_wanted = doubt.wants(trial, elapsed);
        for news in doubt.news() {
            self.observer.observe(Event::Note(&news));
        }
        is_wanted
    }

    fn prepare(
        &mut self,
        pending: &[Trial],
    ) -> Result<BTreeMap<&'static str, Box<dyn Bench + 'r>>, LabError> {
        let mut wanted: BTreeMap<&'static str, (LayerRef, BTreeSet<usize>)> = BTreeMap::new();
        for trial in pending {
            let layer = self.set.cells()[trial.cell].layer;
            let (_, cells) = wanted
                .entry(layer.name())
                .or_insert_with(|| (layer, BTreeSet::new()));
            cells.insert(trial.cell);
        }
        let started_ns = self.clock.now_ns();
        let mut benches = BTreeMap::new();
        // Layers that share data have the same to say of them.
        let mut noted: BTreeSet<String> = BTreeSet::new();
        for (name, (layer, cells)) in wanted {
            let cells: Vec<&Cell> = cells.into_iter().map(|index| &self.set.cells()[index]).collect();
            let mut subjects: Vec<Subject> = Vec::new();
            for cell in &cells {
                if !subjects.contains(&cell.subject) {
                    subjects.push(cell.subject.clone());
                }
            }
            let (eta, clock, observer) = (&mut self.eta, &self.clock, &mut *self.observer);
            let most = self.set.follows_doubt().map(|follow| follow.budget.0);
            let mut report = |step: PreparationStep<'_>| match step {
                PreparationStep::Written {
                    bytes_done,
                    bytes_total,
                } => {
                    let elapsed = Duration::from_nanos(clock.now_ns() - started_ns);
                    let remaining = eta.preparing(bytes_done, bytes_total, elapsed);
                    let remaining =
                        most.map_or(remaining, |most| remaining.min(most.saturating_sub(elapsed)));
                    observer.observe(Event::Preparing {
                        bytes_done,
                        bytes_total,
                        remaining,
                    });
                }
                PreparationStep::Note(note) => {
                    if noted.insert(note.to_owned()) {
                        observer.observe(Event::Note(note));
                    }
                }
            };
            let mut preparation = Preparation {
                cells: &cells,
                directory: self.set.directory(),
                seed: self.set.seed().derive("subject"),
                stop: self.stop,
                write_limit_bytes: self.set.max_written().map(|limit| limit.0),
                report: &mut report,
            };
            benches.insert(name, layer.prepare(&subjects, &mut preparation)?);
        }
        let took = Duration::from_nanos(self.clock.now_ns() - started_ns);
        self.eta.prepared(took);
        Ok(benches)
    }

    /// Measures one trial and journals it, however it ended.
    fn measure(&mut self, cell: &'r Cell, trial: &Trial, bench: &mut dyn Bench) -> Result<Outcome, LabError> {
        let (total, remaining) = (self.total(), self.remaining());
        self.observer.observe(Event::TrialStarted {
            finished: self.folder.finished().len(),
            total,
            cell,
            repetition: trial.repetition,
            remaining,
        });
        let started_at = utc_timestamp();
        let (started_ns, cpus_before) = (self.clock.now_ns(), OthersCpu::now());
        let result = bench.run(cell, trial);
        let took = Duration::from_nanos(self.clock.now_ns() - started_ns);
        let others_of_machine = OthersCpu::now().share_since(&cpus_before);
        self.eta.trial_took(cell, took);
        let failure = result.as_ref().err().cloned();
        let report = result.unwrap_or_else(|failure| {
            TrialReport::empty(Outcome::Failed {
                message: failure.message,
            })
        });
        let data = bench.data(cell);
        self.same_data.check(cell, data.as_ref(), self.folder)?;
        let mut entry = self.entry(cell, trial, started_at, report);
        entry.data = data;
        entry.took_s = Some(took.as_secs_f64());
        entry.others_cpu_share = bench.others_cpu_share(others_of_machine);
        if !failure.as_ref().is_some_and(|failure| failure.is_refused) {
            self.folder.append(&entry)?;
        }
        if let Some(failure) = failure.filter(|failure| failure.is_fatal) {
            // The error that is returned has its sentence.
            return Err(self.fatal(failure));
        }
        if let Some(doubt) = &mut self.doubt {
            doubt.observe(trial.cell, &entry, took);
        }
        self.rounds.observe(self.set, trial.cell, &entry);
        let (total, remaining) = (self.total(), self.remaining());
        self.observer.observe(Event::TrialFinished {
            finished: self.folder.finished().len(),
            total,
            cell,
            entry: &entry,
            remaining,
        });
        for news in self.rounds.news() {
            let left_out = self.rounds.left_out().map(|trial| &self.set.cells()[trial.cell]);
            self.eta.leave_out(left_out);
            self.observer.observe(Event::Note(&news));
        }
        if entry.outcome == Outcome::Interrupted {
            let limit = entry.notes.iter().find(|note| WRITE_LIMIT.is_kind_of(note));
            limit
                .into_iter()
                .for_each(|note| self.observer.observe(Event::Warning(&note.text)));
        }
        if let Outcome::Failed { message } = &entry.outcome {
            self.count_failure(cell, message)?;
        }
        Ok(entry.outcome)
    }

    fn entry(&mut self, cell: &Cell, trial: &Trial, started_at: String, report: TrialReport) -> TrialEntry {
        let mut notes = std::mem::take(&mut self.next_notes);
        notes.extend(report.notes);
        TrialEntry {
            trial: trial.index,
            cell: cell.id.clone(),
            layer: cell.layer.name().to_owned(),
            subject: cell.subject.label.clone(),
            plans: cell.plans.clone(),
            repetition: trial.repetition,
            seed: trial.seed.0,
            factors: cell.factors.spellings(),
            data: None,
            variant: cell.variant.clone(),
            started_at,
            duration_s: report.duration_s,
            took_s: None,
            others_cpu_share: None,
            outcome: report.outcome,
            values: report.values,
            histograms: report.histograms,
            notes,
        }
    }

    /// A layer of which as many trials failed as it has cells, and none ever succeeded, is given up.
    fn count_failure(&mut self, cell: &'r Cell, message: &str) -> Result<(), LabError> {
        let layer = cell.layer.name();
        let failures = self.failures.entry(layer).or_default();
        if failures.count == 0 {
            failures.first = message.to_owned();
        }
        failures.count += 1;
        let ids: Vec<_> = self
            .set
            .cells()
            .iter()
            .filter(|other| other.layer == cell.layer)
            .map(|cell| &cell.id)
            .collect();
        let has_success = self.folder.finished().iter().any(|(id, _)| ids.contains(&id));
        if has_success || failures.count < ids.len() {
            return Ok(());
        }
        Err(failures.of_layer(layer))
    }

    fn fatal(&self, failure: TrialFailure) -> LabError {
        LabError::Fatal {
            message: failure.message,
            finished: self.folder.finished().len(),
            run: self.folder.dir().to_owned(),
            is_bad_input: failure.is_bad_input,
        }
    }
}
