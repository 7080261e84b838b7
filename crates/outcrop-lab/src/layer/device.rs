//! The device layer: storage devices behind a scratch file of our own, or a file or device that is only read.

mod bench;

mod histograms;
pub mod metrics;
mod notes;
mod overhead;
mod parameters;
mod values;

use std::path::Path;
use std::time::Duration;

use outcrop_device::ReadOnlyTarget;
use outcrop_measure::units::ByteSize;
use outcrop_workload::ReadWriteMix;

use crate::cell::Cell;
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{Bench, Layer, Preparation, absolute, parsed};
use crate::parameter::{Parameter, Refusal, Settings};
use crate::plan::{Subject, TrialOptions};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Device;

/// A file of our own, made for the run and removed after it.
const SCRATCH_FILE: &str = "scratch-file";
/// A file or block device that is only ever read.
const READ_ONLY: &str = "read-only";
/// What a scratch file's size is when a plan names none.
const DEFAULT_SCRATCH_SIZE: &str = "1GiB";

/// Files are assumed to be made this fast: slower than most SSDs, faster than most hard disks.
const ASSUMED_FILL_BYTES_PER_SECOND: f64 = 200e6;
/// The bound on what trials write: a device of this speed …
const ASSUMED_WRITE_BYTES_PER_SECOND: f64 = 3e9;
/// … that answers this soon.
const ASSUMED_LATENCY: Duration = Duration::from_micros(20);
/// Between trials: setting up rings and buffers, reading counters, the journal's fsync …
const TRIAL_OVERHEAD: Duration = Duration::from_millis(20);
/// … and the flush after a trial that wrote.
const SETTLE_OVERHEAD: Duration = Duration::from_millis(10);

impl Layer for Device {
    fn name(&self) -> &'static str {
        "device"
    }

    fn subject_parameters(&self) -> &'static [Parameter] {
        parameters::SUBJECT
    }

    fn workload_parameters(&self) -> &'static [Parameter] {
        parameters::WORKLOAD
    }

    fn complete_subject(&self, mut settings: Settings) -> Result<Subject, Refusal> {
        let is_scratch = settings["kind"] == SCRATCH_FILE;
        match settings.get("path").cloned() {
            Some(_) if is_scratch => {
                let message = "a scratch file is made by Outcrop in the directory of the run and has no path; leave `path` \
                               out, or take kind = \"read-only\" to read what is there";
                Err(Refusal::of("path", message))
            }
            None if !is_scratch => Err(Refusal::of(
                "kind",
                "a read-only subject needs `path`, the file or block device to be read",
            )),
            Some(path) => {
                let path = absolute(&path)?;
                let size = size_to_read(&path, settings.get("size").map(String::as_str))?;
                let label = format!("{READ_ONLY} {path} {size}");
                settings.insert("path".to_owned(), path);
                settings.insert("size".to_owned(), size);
                Ok(Subject { settings, label })
            }
            None => {
                let size = settings
                    .entry("size".to_owned())
                    .or_insert_with(|| DEFAULT_SCRATCH_SIZE.to_owned());
                let label = format!("{SCRATCH_FILE} {size}");
                Ok(Subject { settings, label })
            }
        }
    }

    fn complete_factors(
        &self,
        subject: &Subject,
        mut factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        let size = &subject.settings["size"];
        if factors["span"] == parameters::WHOLE_SPAN {
            factors.insert("span".to_owned(), size.clone());
        }
        parameters::check_sizes(&factors, parsed::<ByteSize>(size))?;
        let is_read_only = subject.settings["kind"] == READ_ONLY;
        if is_read_only && parsed::<ReadWriteMix>(&factors["read_write_mix"]).has_writes() {
            let message = format!(
                "the mix {} contains writes, but what Outcrop did not create is only ever read; use 100:0, or kind = \
                 \"{SCRATCH_FILE}\"",
                factors["read_write_mix"]
            );
            return Err(Refusal::of("read_write_mix", message));
        }
        parameters::check_job(&factors, trial)?;
        Ok(factors)
    }

    fn forecast_preparation(&self, subject: &Subject) -> Forecast {
        if subject.settings["kind"] == READ_ONLY {
            return Forecast::default();
        }
        let bytes_written = parsed::<ByteSize>(&subject.settings["size"]).0;
        Forecast {
            time: Duration::from_secs_f64(bytes_written as f64 / ASSUMED_FILL_BYTES_PER_SECOND),
            bytes_written,
        }
    }

    fn forecast_trial(&self, cell: &Cell) -> Forecast {
        let load = cell.trial.warm_up.0 + cell.trial.duration.0;
        let mix: ReadWriteMix = parsed(cell.factor("read_write_mix"));
        let settle = if mix.has_writes() {
            SETTLE_OVERHEAD
        } else {
            Duration::ZERO
        };
        let size = parsed::<ByteSize>(cell.factor("io_block_size")).0 as f64;
        let depth = parsed::<u32>(cell.factor("queue_depth")) * parsed::<u32>(cell.factor("jobs"));
        let by_depth = f64::from(depth) * size / ASSUMED_LATENCY.as_secs_f64();
        let writes = f64::from(mix.write_percent()) / 100.0;
        let is_noop = cell.factor("engine") == outcrop_device::EngineKind::Noop.name();
        let rate = if is_noop {
            0.0
        } else {
            by_depth.min(ASSUMED_WRITE_BYTES_PER_SECOND) * writes
        };
        Forecast {
            time: load + TRIAL_OVERHEAD + settle,
            bytes_written: (rate * load.as_secs_f64()) as u64,
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

/// The size to be read: all of it, or the part that the plan names.
fn size_to_read(path: &str, wanted: Option<&str>) -> Result<String, Refusal> {
    let target =
        ReadOnlyTarget::open(Path::new(path)).map_err(|error| Refusal::of("path", error.to_string()))?;
    let size = ByteSize(target.size_bytes());
    match wanted.map(parsed::<ByteSize>) {
        Some(wanted) if wanted > size => Err(Refusal::of(
            "size",
            format!("size is {wanted}, but {path} holds {size}; give at most that, or leave it out"),
        )),
        Some(wanted) => Ok(wanted.to_string()),
        None => Ok(size.to_string()),
    }
}
