//! The subjects of a run standing ready, and one trial after the other on them.
//!
//! # Between trials
//!
//! A trial that wrote leaves the device with work: data in its volatile cache, the filesystem with a journal to
//! commit. Both are flushed (`fsync`) before the trial's end is told, so that the next cell does not pay for this
//! one's writes. What remains is the device's own housekeeping (garbage collection, the SLC cache being folded):
//! no pause that a run could afford is sure to outlast it. So there is none; the warm-up runs under the next
//! cell's own load, the order of cells is drawn anew for each repetition so that the remainder falls on all cells
//! alike, and the intervals between repetitions show it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_device::{
    DeviceError, Ended, FileAccess, JobReport, JobSpec, ReadOnlyTarget, ScratchFile, Target, TogetherReport,
    WritableDevice, run_together,
};
use outcrop_measure::metric::Unavailable;
use outcrop_measure::seed::Seed;
use outcrop_measure::units::format_bytes;
use outcrop_probe::Clock;
use outcrop_probe::energy::Meter;
use outcrop_results::{Outcome, Value};
use outcrop_schema::device::{ACCESS, ARRIVAL, DRIVES, KIND, Kind, PATH, SIZE};
use outcrop_workload::{Arrivals, Content, EngineKind, LatencyParts, ReadWriteMix};

use super::values::Before;
use super::{
    bytes_to_write, destroyed, drives, histograms, is_needed, is_read_only, notes, overhead, parameters,
    precondition, replay, share, usable, values,
};
use crate::cell::{Cell, Subject};
use crate::error::LabError;
use crate::layer::{Bench, Preparation, PreparationStep, TrialFailure, TrialReport};
use crate::order::Trial;

/// The targets of a run; scratch files go with it when it is dropped.
pub(super) struct DeviceBench<'r> {
    targets: BTreeMap<Subject, Vec<Target>>,
    clock: Clock,
    stop: &'r AtomicBool,
    seed: Seed,
    /// Of the measuring loop, by what it depends on: arrival process, jobs, and what is timed.
    overheads: BTreeMap<(String, u32, LatencyParts), Value>,
    write_limit_bytes: Option<u64>,
    bytes_written: u64,
}

impl<'r> DeviceBench<'r> {
    pub(super) fn prepare(
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Self, LabError> {
        let mut targets = BTreeMap::new();
        let cells = preparation.cells;
        let total: u64 = subjects
            .iter()
            .map(|subject| bytes_to_write(subject, cells))
            .sum();
        tell_shared_disks(subjects, preparation)?;
        clear(subjects, preparation)?;
        if let Some(limit) = preparation.write_limit_bytes.filter(|limit| *limit < total) {
            return Err(LabError::preparing(&format!(
                "preparing the subject writes {}, but only {} may be written; use a smaller --size or a larger --max-written",
                format_bytes(total),
                format_bytes(limit)
            )));
        }
        // All of the run's devices are held before the first of them is written.
        let devices: Vec<Vec<WritableDevice>> = subjects
            .iter()
            .map(destroyed::open)
            .collect::<Result<_, _>>()
            .map_err(|error| LabError::preparing(&error))?;
        let mut done_before = 0;
        let clock = Clock::new();
        for (subject, devices) in subjects.iter().zip(devices) {
            let mut devices = devices.into_iter();
            let its: u32 = drives::count(&subject.settings);
            let of_one = bytes_to_write(subject, cells) / u64::from(its);
            let places = std::iter::once(None).chain(drives::others(&subject.settings).map(Some));
            let mut made = Vec::new();
            for place in places {
                let target = match devices.next() {
                    Some(device) => filled(device, subject, preparation, done_before, total),
                    None => target(subject, place, preparation, done_before, total),
                };
                let target = target.map_err(|error| match error {
                    DeviceError::Interrupted { .. } | DeviceError::FillInterrupted { .. } => {
                        LabError::StoppedInPreparation
                    }
                    error => LabError::preparing(&error),
                })?;
                let size_bytes = subject.settings.value(&SIZE).0;
                let report = &mut *preparation.report;
                if let Target::ReadOnly(existing) = &target
                    && let Some(warning) = existing.warning()
                {
                    report(PreparationStep::Note(warning));
                }
                let mut written = |done: u64| {
                    report(PreparationStep::Written {
                        bytes_done: done_before + size_bytes + done,
                        bytes_total: total,
                    });
                };
                let (settings, seed) = (&subject.settings, preparation.seed);
                precondition::write(&target, settings, seed, &clock, preparation.stop, &mut written)?;
                done_before += of_one;
                made.push(target);
            }
            targets.insert(subject.clone(), made);
        }
        Ok(Self {
            targets,
            clock,
            stop: preparation.stop,
            seed: preparation.seed,
            overheads: BTreeMap::new(),
            write_limit_bytes: preparation.write_limit_bytes,
            bytes_written: total,
        })
    }

    /// What may still be written, where that is limited; an engine that writes nothing needs no limit.
    fn left_to_write(&self, spec: &JobSpec) -> Option<u64> {
        let limit = self.write_limit_bytes.filter(|_| reaches_device(spec))?;
        Some(limit.saturating_sub(self.bytes_written))
    }
}

impl Bench for DeviceBench<'_> {
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure> {
        let mut spec = parameters::job_spec(&cell.factors, &cell.trial, trial.seed);
        spec.write_limit_bytes = self.left_to_write(&spec);
        let targets = self
            .targets
            .get(&cell.subject)
            .expect("every subject of the run was prepared");
        let targets: Vec<&Target> = targets
            .iter()
            .take(*cell.factors.value(&DRIVES) as usize)
            .collect();
        let mut before = Before::default();
        if replay::is_asked(&cell.factors) {
            let writing = replay::write(&targets, &mut spec, &self.clock, self.stop);
            let Some(report) = ran(writing, &targets, &spec)? else {
                return Ok(TrialReport::interrupted());
            };
            self.bytes_written += bytes_of(&report.total, &spec);
            if let Some(ended) = ended(&report, &targets, &spec, ReadWriteMix::WRITE_ONLY)? {
                return Ok(ended);
            }
            before.replayed = Some(report.total);
        }
        let arrivals = cell.factors.value(&ARRIVAL);
        if let Arrivals::Share(process, percent) = *arrivals {
            let closed = share::closed_loop(&targets, &spec, &self.clock, self.stop);
            let Some(report) = ran(closed, &targets, &spec)? else {
                return Ok(TrialReport::interrupted());
            };
            self.bytes_written += bytes_of(&report.total, &spec);
            if let Some(ended) = ended(&report, &targets, &spec, spec.read_write_mix)? {
                return Ok(ended);
            }
            spec.arrival = share::of(process, percent, &report)?;
            spec.write_limit_bytes = self.left_to_write(&spec);
            before.closed = Some(report.total);
        }
        let alike = (arrivals.to_string(), spec.jobs, spec.latency_parts);
        let overhead = self.overheads.entry(alike);
        let overhead =
            overhead.or_insert_with(|| overhead::measure(&spec, &self.clock, self.stop, self.seed));
        let meter = Meter::start();
        let together = run_together(&targets, &spec, &self.clock, self.stop);
        let Some(report) = ran(together, &targets, &spec)? else {
            return Ok(TrialReport::interrupted());
        };
        let energy_j = meter.and_then(Meter::stop).map(|energy| energy.total.0);
        self.bytes_written += bytes_of(&report.total, &spec);
        usable::check(&report, &targets, &spec)?;
        if spec.read_write_mix.has_writes() {
            let mut flushed = targets.iter().map(|target| target.flush());
            let failed = |error| usable::failure(&error, &targets, &spec);
            flushed.try_for_each(|flushed| flushed.map_err(failed))?;
        }
        let mut trial = trial_report(&report.total, &before, spec.read_write_mix, energy_j);
        if trial.outcome == Outcome::Completed {
            trial.values.push(overhead.clone());
            trial.values.extend(drives::values(&report.each));
        }
        Ok(trial)
    }

    fn bytes_written(&self) -> u64 {
        self.bytes_written
    }
}

/// The report of a job; none of one that was stopped before it began.
fn ran(
    job: Result<TogetherReport, DeviceError>,
    targets: &[&Target],
    spec: &JobSpec,
) -> Result<Option<TogetherReport>, TrialFailure> {
    match job {
        Ok(report) => Ok(Some(report)),
        Err(DeviceError::Interrupted { .. }) => Ok(None),
        Err(error) => Err(usable::failure(&error, targets, spec)),
    }
}

/// The trial whose first part did not come to its end; none where it goes on.
fn ended(
    first: &TogetherReport,
    targets: &[&Target],
    spec: &JobSpec,
    mix: ReadWriteMix,
) -> Result<Option<TrialReport>, TrialFailure> {
    if outcome(&first.total) == Outcome::Completed {
        return Ok(None);
    }
    usable::check(first, targets, spec)?;
    let no_energy = Err(Unavailable::because(
        "the trial ended before its measurement began",
    ));
    Ok(Some(trial_report(
        &first.total,
        &Before::default(),
        mix,
        no_energy,
    )))
}

/// Whether requests of a job go anywhere.
fn reaches_device(spec: &JobSpec) -> bool {
    spec.engine != EngineKind::Noop
}

/// What a job wrote; a request that failed may have been written. What the engine without a device completes is written nowhere.
fn bytes_of(report: &JobReport, spec: &JobSpec) -> u64 {
    if !reaches_device(spec) {
        return 0;
    }
    report.traffic.written_bytes + report.errors.writes * spec.io_block_size_bytes
}

/// A trial of which a larger share of requests failed describes how the device fails, not how fast it is.
const TOLERATED_ERROR_SHARE: f64 = 0.01;

/// How the trial ended. One in which nothing completed counts: leaving out the stalls would flatter the device.
pub(super) fn outcome(report: &JobReport) -> Outcome {
    let completed = report.traffic.reads + report.traffic.writes;
    let errors = report.errors.reads + report.errors.writes;
    let too_many = errors as f64 > (completed + errors) as f64 * TOLERATED_ERROR_SHARE;
    if report.ended == Ended::Failed || (report.ended == Ended::Completed && too_many) {
        let message = report
            .failure()
            .unwrap_or_else(|| "the job gave up without a reason".to_owned());
        return Outcome::Failed { message };
    }
    if matches!(report.ended, Ended::Interrupted | Ended::WriteLimit) {
        Outcome::Interrupted
    } else {
        Outcome::Completed
    }
}

/// Only completed trials have values: an interrupted trial is not a sample.
fn trial_report(
    report: &JobReport,
    before: &Before,
    mix: ReadWriteMix,
    energy_j: Result<f64, Unavailable>,
) -> TrialReport {
    let mut trial = TrialReport {
        duration_s: report.duration_ns as f64 / 1e9,
        values: Vec::new(),
        histograms: Vec::new(),
        notes: notes::notes(report),
        outcome: outcome(report),
    };
    for note in before.jobs().flat_map(notes::notes) {
        if !trial.notes.contains(&note) {
            trial.notes.push(note);
        }
    }
    if trial.outcome == Outcome::Completed {
        trial.values = values::values(report, before, mix, energy_j);
        trial.histograms = histograms::histograms(&report.intervals);
    }
    trial
}

/// One target of a subject: at its own place, or at one of the further ones.
fn target(
    subject: &Subject,
    also: Option<&str>,
    preparation: &mut Preparation<'_, '_>,
    done_before: u64,
    total: u64,
) -> Result<Target, DeviceError> {
    let access = access(subject, preparation.cells);
    if is_read_only(subject) {
        let path = Path::new(also.unwrap_or_else(|| subject.settings.value(&PATH).as_str()));
        return Ok(Target::ReadOnly(ReadOnlyTarget::open_for(path, access)?));
    }
    if !is_needed(subject, preparation.cells) {
        return Ok(Target::Null);
    }
    let size_bytes = subject.settings.value(&SIZE).0;
    let mut progress = filling(&mut *preparation.report, size_bytes, done_before, total);
    // Incompressible content, whatever the trials write: a drive that compresses must not read back zeros for free.
    let scratch = ScratchFile::create(
        also.map_or(preparation.directory, Path::new),
        size_bytes,
        access,
        &Content::Random,
        preparation.seed,
        preparation.stop,
        &mut progress,
    )?;
    Ok(Target::Scratch(scratch))
}

/// How a subject has to be accessible: directly, unless all its cells go through the page cache.
fn access(subject: &Subject, cells: &[&Cell]) -> FileAccess {
    let mut its = cells.iter().filter(|cell| cell.subject == *subject);
    match its.all(|cell| *cell.factors.value(&ACCESS) == FileAccess::Buffered) {
        true => FileAccess::Buffered,
        false => FileAccess::Direct,
    }
}

/// A device that is overwritten, with the part that is measured written in full.
fn filled(
    device: WritableDevice,
    subject: &Subject,
    preparation: &mut Preparation<'_, '_>,
    done_before: u64,
    total: u64,
) -> Result<Target, DeviceError> {
    let size_bytes = subject.settings.value(&SIZE).0;
    let (content, seed, stop) = (&Content::Random, preparation.seed, preparation.stop);
    let mut progress = filling(&mut *preparation.report, size_bytes, done_before, total);
    device.fill(size_bytes, content, seed, stop, &mut progress)?;
    Ok(Target::Device(device))
}

/// Tells how far filling is, of all that is written before the first trial.
fn filling<'p>(
    report: &'p mut dyn FnMut(PreparationStep<'_>),
    size_bytes: u64,
    done_before: u64,
    total: u64,
) -> impl FnMut(u64, u64) + 'p {
    move |done, _| {
        report(PreparationStep::Written {
            bytes_done: done_before + done.min(size_bytes),
            bytes_total: total,
        });
    }
}

/// Says which subjects load one disk in several places, and refuses the same place twice.
fn tell_shared_disks(subjects: &[Subject], preparation: &mut Preparation<'_, '_>) -> Result<(), LabError> {
    let has_several = |subject: &&Subject| drives::count(&subject.settings) > 1;
    for Subject { settings, .. } in subjects.iter().filter(has_several) {
        let first = settings.get(&PATH).map_or(preparation.directory, Path::new);
        let told = drives::shared_disk(first, settings).map_err(|message| LabError::Preparation {
            message,
            is_bad_input: true,
        })?;
        if let Some(told) = told {
            (preparation.report)(PreparationStep::Note(&told));
        }
    }
    Ok(())
}

/// Removes what killed runs left behind where scratch files are made.
fn clear(subjects: &[Subject], preparation: &mut Preparation<'_, '_>) -> Result<(), LabError> {
    let is_scratch = |subject: &&Subject| *subject.settings.value(&KIND) == Kind::ScratchFile;
    for subject in subjects.iter().filter(is_scratch) {
        let directory = preparation.directory;
        remove_abandoned(preparation, directory)?;
        for directory in drives::others(&subject.settings) {
            remove_abandoned(preparation, Path::new(directory))?;
        }
    }
    Ok(())
}

/// Removes the scratch files that killed runs left behind; each carries our marker and is locked by nobody.
fn remove_abandoned(preparation: &mut Preparation<'_, '_>, directory: &Path) -> Result<(), LabError> {
    let abandoned = ScratchFile::abandoned_in(directory);
    for abandoned in abandoned.map_err(|error| LabError::preparing(&error))? {
        let note = format!(
            "removing {} ({}), which an outcrop process that was killed left behind",
            abandoned.path().display(),
            format_bytes(abandoned.bytes())
        );
        (preparation.report)(PreparationStep::Note(&note));
        abandoned.remove().map_err(|error| LabError::preparing(&error))?;
    }
    Ok(())
}
