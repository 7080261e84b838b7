//! The device layer: storage devices behind a scratch file of our own, a file or device that is only read, or a device that
//! its owner gives to be overwritten.

mod bench;
mod destroyed;
mod drives;
mod histograms;
mod notes;
mod overhead;
mod parameters;
mod precondition;
mod replay;
mod share;
mod usable;
mod values;

use std::path::Path;
use std::time::Duration;

use outcrop_device::{DeviceError, EngineKind, FileAccess, ReadOnlyTarget, ScratchFile};
use outcrop_measure::Metric;
use outcrop_measure::units::ByteSize;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, DESTROY, DRIVES, ENGINE, IO_BLOCK_SIZE, IOPS, JOBS, KIND, Kind, PATH,
    PRECONDITION, QUEUE_DEPTH, READ_WRITE_MIX, SCHEMA, SECTOR_BYTES, SIZE, SPAN, STATE, Span, TRACKED_SIZE,
};
use outcrop_schema::{LayerSchema, Settings};
use outcrop_workload::{AccessPattern, Arrivals, ReadWriteMix};

use crate::cell::{Cell, Subject, TrialOptions};
use crate::error::LabError;
use crate::estimate::{AssumedDevice, Forecast};
use crate::layer::{Bench, Layer, Origin, Preparation, Profile, Refusal, absolute, never_for_files};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Device;

/// What a scratch file's size is when a plan names none.
const DEFAULT_SCRATCH_SIZE: ByteSize = ByteSize(1 << 30);

/// Files are assumed to be made this fast: slower than most SSDs, faster than most hard disks.
const ASSUMED_FILL_BYTES_PER_SECOND: f64 = 200e6;
/// Between trials: setting up rings and buffers, reading counters, the journal's fsync …
const TRIAL_OVERHEAD: Duration = Duration::from_millis(20);
/// … and the flush after a trial that wrote.
const SETTLE_OVERHEAD: Duration = Duration::from_millis(10);

impl Layer for Device {
    fn schema(&self) -> &'static LayerSchema {
        &SCHEMA
    }

    fn profile(&self) -> Option<Profile> {
        Some(Profile {
            plans: &[
                "ssd-access-size",
                "ssd-read-write-mix",
                "ssd-queue-depth",
                "ssd-max",
                "ssd-matrix",
            ],
            plans_for_data: &[],
            quick_s: 28,
            default_s: 213,
        })
    }

    fn complete_subject(&self, mut settings: Settings) -> Result<Subject, Refusal> {
        let kind = *settings.value(&KIND);
        let state = precondition::state(&settings);
        if kind == Kind::ReadOnly && state.is_some() {
            let message = "a read-only subject is not preconditioned; leave `precondition` out";
            return Err(Refusal::of(&PRECONDITION, message));
        }
        if kind != Kind::Destroyed && settings.has(&DESTROY) {
            let message = format!(
                "only a subject of kind \"{}\" is overwritten; leave `destroy` out",
                Kind::Destroyed
            );
            return Err(Refusal::of(&DESTROY, message));
        }
        drives::complete(kind, &mut settings)?;
        match (kind, settings.get(&PATH).cloned()) {
            (Kind::ScratchFile, Some(_)) => {
                let message = "Outcrop creates the scratch file in the directory of the run, and it has no path; leave `path` out, or use kind = \"read-only\" to read an existing file";
                Err(Refusal::of(&PATH, message))
            }
            (Kind::Destroyed, path) => destroyed::complete(path, settings),
            (Kind::ReadOnly, None) => Err(Refusal::of(
                &KIND,
                "a read-only subject needs `path`, the file or block device to read",
            )),
            (Kind::ReadOnly, Some(path)) => {
                let path = absolute(&PATH, &path)?;
                let mut size = size_to_read(&path, settings.get(&SIZE).copied())?;
                for other in drives::others(&settings) {
                    let asked = settings.get(&SIZE).copied();
                    size = size.min(size_to_read(other, asked)?);
                }
                let label = format!("{kind} {path} {size}{}", drives::label(&settings));
                settings.set(&PATH, path);
                settings.set(&SIZE, size);
                Ok(Subject { settings, label })
            }
            (Kind::ScratchFile, None) => {
                settings.set_default(&SIZE, DEFAULT_SCRATCH_SIZE);
                let state = state.map(|state| format!(", {state}")).unwrap_or_default();
                let others = drives::label(&settings);
                let label = format!("{kind} {}{state}{others}", settings.value(&SIZE));
                Ok(Subject { settings, label })
            }
        }
    }

    fn refusal_in(&self, cell: &Cell, directory: &Path) -> Option<LabError> {
        let settings = &cell.subject.settings;
        if *settings.value(&KIND) != Kind::ScratchFile || !is_needed(&cell.subject, &[cell]) {
            return None;
        }
        never_for_files(directory).or_else(|| {
            let access = *cell.factors.value(&ACCESS);
            let refused = ScratchFile::check(directory, settings.value(&SIZE).0, access).err()?;
            Some(LabError::Preparation {
                is_bad_input: matches!(refused, DeviceError::UnderDev { .. }),
                message: refused.to_string(),
            })
        })
    }

    fn complete_factors(
        &self,
        subject: &Subject,
        mut factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        let size = *subject.settings.value(&SIZE);
        if *factors.value(&SPAN) == Span::All {
            factors.set(&SPAN, Span::Bytes(size));
        }
        // A condition of the figures, as publications state it.
        if let Some(state) = precondition::state(&subject.settings) {
            factors.set(&STATE, state);
        }
        parameters::leave_out(&mut factors);
        parameters::check_sizes(&factors, size)?;
        let mix = factors.value(&READ_WRITE_MIX);
        if is_read_only(subject) && *factors.value(&ACCESS) == FileAccess::Direct {
            let path = subject.settings.get(&PATH).map(String::as_str);
            for path in path.into_iter().chain(drives::others(&subject.settings)) {
                readable(path, FileAccess::Direct)?;
            }
        }
        if is_read_only(subject) && mix.has_writes() {
            let message = format!(
                "the mix {mix} contains writes, but Outcrop only reads files that it did not create; use 100:0, or write to a scratch \
                 file: name a directory without --read-only or, in a plan, kind = \"{}\"",
                Kind::ScratchFile
            );
            return Err(Refusal::of(&READ_WRITE_MIX, message));
        }
        replay::check(&factors, subject)?;
        drives::check(&factors, subject)?;
        parameters::check_job(&factors, trial)?;
        Ok(factors)
    }

    fn check_combinations(
        &self,
        subject: &Subject,
        combinations: &[Settings],
        origin: &dyn Fn(&str) -> Origin,
    ) -> Result<Vec<String>, (usize, Refusal)> {
        parameters::check_flags(is_read_only(subject), combinations, origin)?;
        Ok(Vec::new())
    }

    fn is_in_directory(&self, subject: &Subject) -> bool {
        *subject.settings.value(&KIND) == Kind::ScratchFile
    }

    fn tracked(&self, factors: &Settings) -> Option<Metric> {
        let is_tracked = *factors.value(&READ_WRITE_MIX) == ReadWriteMix::WRITE_ONLY
            && *factors.value(&ACCESS_PATTERN) == AccessPattern::Random
            && *factors.value(&IO_BLOCK_SIZE) == TRACKED_SIZE;
        is_tracked.then_some(IOPS.both)
    }

    fn tracks(&self) -> Option<&'static str> {
        Some("random writes of 4 KiB, as in the SNIA PTS")
    }

    fn forecast_preparation(&self, subject: &Subject, cells: &[&Cell]) -> Forecast {
        let bytes_written = bytes_to_write(subject, cells);
        Forecast {
            time: Duration::from_secs_f64(bytes_written as f64 / ASSUMED_FILL_BYTES_PER_SECOND),
            bytes_written,
            likely_bytes_written: bytes_written,
            least_bytes_written: bytes_written,
        }
    }

    fn forecast_trial(&self, cell: &Cell) -> Forecast {
        let factors = &cell.factors;
        let load = cell.trial.warm_up.0 + cell.trial.duration.0;
        let mix = factors.value(&READ_WRITE_MIX);
        let settle = if mix.has_writes() {
            SETTLE_OVERHEAD
        } else {
            Duration::ZERO
        };
        let writing = if replay::is_asked(factors) {
            load + SETTLE_OVERHEAD
        } else {
            Duration::ZERO
        };
        let closed_loop = match factors.value(&ARRIVAL) {
            Arrivals::Share(..) => load + settle,
            Arrivals::Given(_) => Duration::ZERO,
        };
        Forecast {
            time: writing + closed_loop + load + TRIAL_OVERHEAD + settle,
            bytes_written: writes_of(factors, load, &AssumedDevice::FASTEST),
            likely_bytes_written: writes_of(factors, load, &AssumedDevice::USUAL),
            least_bytes_written: writes_of(factors, load, &AssumedDevice::SLOW),
        }
    }

    fn prepare<'r>(
        &self,
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Box<dyn Bench + 'r>, LabError> {
        Ok(Box::new(bench::DeviceBench::prepare(subjects, preparation)?))
    }
}

fn is_read_only(subject: &Subject) -> bool {
    *subject.settings.value(&KIND) == Kind::ReadOnly
}

/// What a trial writes to such a device: as much as it takes, or, in an open loop, as much as is offered.
fn writes_of(factors: &Settings, load: Duration, device: &AssumedDevice) -> u64 {
    let size = factors.value(&IO_BLOCK_SIZE).0 as f64;
    let depth = f64::from(*factors.value(&QUEUE_DEPTH)) * f64::from(*factors.value(&JOBS));
    let drives = f64::from(*factors.value(&DRIVES));
    let mut rate = drives * (depth * size / device.latency.as_secs_f64()).min(device.bytes_per_second);
    if *factors.value(&ENGINE) == EngineKind::Noop {
        rate = 0.0;
    }
    if replay::is_asked(factors) {
        return (rate * load.as_secs_f64()) as u64;
    }
    match factors.value(&ARRIVAL) {
        // The closed loop, and a share of as much.
        Arrivals::Share(_, percent) => rate *= 1.0 + (percent / 100.0).min(1.0),
        Arrivals::Given(arrival) => {
            let offered = arrival.per_second().map(outcrop_measure::Rate::per_second);
            rate = rate.min(offered.map_or(f64::INFINITY, |offered| drives * offered * size));
        }
    }
    let writes = f64::from(factors.value(&READ_WRITE_MIX).write_percent()) / 100.0;
    (rate * writes * load.as_secs_f64()) as u64
}

/// Whether a subject has to be there for these cells. Where no request goes anywhere, no scratch file is made.
fn is_needed(subject: &Subject, cells: &[&Cell]) -> bool {
    let is_scratch = *subject.settings.value(&KIND) == Kind::ScratchFile;
    let is_written = precondition::passes(&subject.settings) > 0;
    let mut its = cells.iter().filter(|cell| cell.subject == *subject);
    let is_reached = its.any(|cell| *cell.factors.value(&ENGINE) != EngineKind::Noop);
    !is_scratch || is_written || is_reached
}

/// What making the subject for these cells writes.
fn bytes_to_write(subject: &Subject, cells: &[&Cell]) -> u64 {
    if is_read_only(subject) || !is_needed(subject, cells) {
        0
    } else {
        let passes = precondition::passes(&subject.settings);
        subject
            .settings
            .value(&SIZE)
            .0
            .saturating_mul(u64::from(1 + passes))
            .saturating_mul(u64::from(drives::count(&subject.settings)))
    }
}

/// The size to be read: all of it, or the part that the plan names.
fn size_to_read(path: &str, wanted: Option<ByteSize>) -> Result<ByteSize, Refusal> {
    // Which access is asked for is not known yet.
    let target = readable(path, FileAccess::Buffered)?;
    let size = part_of(path, ByteSize(target.size_bytes()), wanted)?;
    match target.data_begin() {
        Some(begin) if begin < size.0 => Ok(size),
        _ => Err(Refusal::of(
            &PATH,
            format!(
                "{path} is sparse: nothing was ever written to the {size} that would be read, so the filesystem would return zeros \
                 without reading the device; give a file with data, or a directory for a scratch file"
            ),
        )),
    }
}

fn readable(path: &str, access: FileAccess) -> Result<ReadOnlyTarget, Refusal> {
    let target = ReadOnlyTarget::open_for(Path::new(path), access);
    target.map_err(|error| Refusal::of(&PATH, error.to_string()))
}

/// All whole sectors of what is at `path`, as the size of a subject is spelled, or the part that is wanted.
fn part_of(path: &str, size: ByteSize, wanted: Option<ByteSize>) -> Result<ByteSize, Refusal> {
    let whole = ByteSize(size.0 - size.0 % SECTOR_BYTES);
    match wanted {
        Some(wanted) if wanted > size => Err(Refusal::of(
            &SIZE,
            format!("size is {wanted}, but {path} holds {size}; give at most that, or leave it out"),
        )),
        wanted => Ok(wanted.unwrap_or(whole)),
    }
}
