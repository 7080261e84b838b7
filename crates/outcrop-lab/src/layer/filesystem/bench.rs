//! The image and the data of a run standing ready, and one trial after the other on them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_compress::{CompressError, Source};
use outcrop_filesystem::{
    BTRFS_EXTENT_BYTES, Baseline, Component, Filesystem, FilesystemError, Image, JobReport, JobSpec,
    OwnDirectory, Place, Prediction, image_bytes, run_job,
};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_results::DataIdentity;
use outcrop_schema::compression::Data;
use outcrop_schema::filesystem::{DATA, PATH, SAMPLE_SIZE};

use super::forecast;
use super::parameters::{self, is_directory};
use super::values::{self, Predicted};
use crate::cell::{Cell, Subject};
use crate::error::LabError;
use crate::layer::image;
use crate::layer::{Bench, Preparation, PreparationStep, TrialFailure, TrialReport};
use crate::order::Trial;

/// Bytes of files, and what tells them from others.
struct Content {
    bytes: Vec<u8>,
    identity: DataIdentity,
}

/// What trials of a run share.
pub(super) struct FilesystemBench<'r> {
    content: BTreeMap<Subject, Content>,
    directories: BTreeMap<Subject, OwnDirectory>,
    /// The file that filesystems are made in, or why there is none.
    image: Result<Image, String>,
    /// What codecs do with the data, by subject and codec.
    components: BTreeMap<String, Result<Component, String>>,
    /// What reads cost without compression, by subject and the rest of the cell.
    baselines: BTreeMap<String, Result<Baseline, String>>,
    clock: Clock,
    stop: &'r AtomicBool,
    bytes_written: u64,
    write_limit_bytes: Option<u64>,
}

impl<'r> FilesystemBench<'r> {
    pub(super) fn prepare(
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Self, LabError> {
        let seed = preparation.seed.derive("filesystem");
        let mut content = BTreeMap::new();
        let mut directories = BTreeMap::new();
        for subject in subjects {
            content.insert(subject.clone(), read_data(subject, seed, preparation)?);
            if is_directory(subject) {
                let path = Path::new(subject.settings.value(&PATH));
                let directory = OwnDirectory::open(path).map_err(|error| LabError::preparing(&error))?;
                directories.insert(subject.clone(), directory);
            }
        }
        let wanted = subjects.iter().filter(|subject| !is_directory(subject));
        let wanted = wanted
            .map(|subject| image_bytes(subject.settings.value(&SAMPLE_SIZE).0))
            .max();
        let image = match wanted {
            Some(bytes) => image::make(bytes, "give a smaller sample", seed, preparation)?,
            None => Err("no cell needs an image".to_owned()),
        };
        Ok(Self {
            bytes_written: image.as_ref().map_or(0, Image::bytes),
            content,
            directories,
            image,
            components: BTreeMap::new(),
            baselines: BTreeMap::new(),
            clock: Clock::new(),
            stop: preparation.stop,
            write_limit_bytes: preparation.write_limit_bytes,
        })
    }

    /// What components predict of a cell; measured before the first trial that needs it.
    fn predict(
        &mut self,
        subject: &Subject,
        filesystem: &Filesystem,
        spec: &JobSpec,
        report: &JobReport,
    ) -> Result<Predicted, String> {
        if self.image.is_err() {
            return Err("there is no image".to_owned());
        }
        let data = &self.content[subject].bytes;
        let (clock, stop) = (&self.clock, self.stop);
        let codec = format!("{} {}", subject.label, filesystem.compression);
        let component = self.components.entry(codec).or_insert_with(|| {
            Component::measure(data, filesystem.compression, clock, stop).map_err(|error| error.to_string())
        });
        let component = component.clone()?;
        let baseline = self.baseline(subject, filesystem, spec, spec.io_block_bytes)?;
        let of_extent = self.baseline(subject, filesystem, spec, BTRFS_EXTENT_BYTES)?;
        let raw = report
            .raw
            .as_ref()
            .ok_or("the device was not read without a filesystem")?;
        let in_flight = f64::from(spec.jobs) * f64::from(spec.queue_depth);
        let cpus = outcrop_compress::allowed_cpus().map_or(1, |cpus| cpus.len());
        let block_bytes = spec.io_block_bytes;
        let prediction = Prediction::of(
            raw,
            &component,
            &baseline,
            &of_extent,
            block_bytes,
            in_flight,
            cpus,
        );
        Ok(Predicted {
            prediction: prediction.ok_or("the device was not read without a filesystem")?,
            component,
            baseline,
            of_extent,
        })
    }

    /// What reads of a size cost without compression; measured before the first trial that needs it.
    fn baseline(
        &mut self,
        subject: &Subject,
        filesystem: &Filesystem,
        spec: &JobSpec,
        io_block_bytes: u64,
    ) -> Result<Baseline, String> {
        let image = self.image.as_ref().map_err(String::clone)?;
        let data = &self.content[subject].bytes;
        let (plain, once) = parameters::baseline_of(filesystem, spec, io_block_bytes);
        let key = parameters::baseline_key(subject, &plain, &once);
        let bytes_written = &mut self.bytes_written;
        let baseline = self.baselines.entry(key).or_insert_with(|| {
            let report = run_job(Place::Image(image), &plain, &once, data, &self.clock, self.stop);
            if let Ok(report) = &report {
                *bytes_written += values::bytes_written(report, &once);
            }
            let baseline = report.and_then(|report| Baseline::of(&report, io_block_bytes));
            baseline.map_err(|error| error.to_string())
        });
        baseline.clone()
    }

    /// What a trial may write, with what is still to be measured for its prediction.
    fn bytes_needed(&self, cell: &Cell) -> u64 {
        let baselines = parameters::baselines_of(cell);
        let missing = baselines.iter().filter(|key| !self.baselines.contains_key(*key));
        forecast::trial(cell).bytes_written
            + forecast::baselines(&cell.subject, missing.count()).bytes_written
    }

    fn place(&self, subject: &Subject) -> Result<Place<'_>, String> {
        match (self.directories.get(subject), &self.image) {
            (Some(directory), _) => Ok(Place::Directory(directory)),
            (None, Ok(image)) => Ok(Place::Image(image)),
            (None, Err(why)) => Err(why.clone()),
        }
    }
}

impl Bench for FilesystemBench<'_> {
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure> {
        let filesystem = parameters::filesystem_of(&cell.factors);
        let spec = parameters::job_spec(&cell.factors, &cell.trial, trial.seed);
        let subject = &cell.subject;
        let place = match self.place(subject) {
            Ok(place) => place,
            Err(why) => return Ok(values::absent(&why)),
        };
        if matches!(place, Place::Image(_))
            && let Err(why) = filesystem.availability()
        {
            return Ok(values::absent(&why.reason));
        }
        let left = self
            .write_limit_bytes
            .map(|limit| limit.saturating_sub(self.bytes_written));
        if left.is_some_and(|left| left < self.bytes_needed(cell)) {
            return Ok(values::write_limit());
        }
        let data = &self.content[subject].bytes;
        let report = match run_job(place, &filesystem, &spec, data, &self.clock, self.stop) {
            Ok(report) => report,
            Err(FilesystemError::Interrupted | FilesystemError::Compress(CompressError::Interrupted)) => {
                return Ok(TrialReport::interrupted());
            }
            Err(FilesystemError::Unavailable(why)) => return Ok(values::absent(&why)),
            Err(error) => {
                return Err(TrialFailure {
                    is_fatal: matches!(error, FilesystemError::NoSpace { .. }),
                    ..TrialFailure::of(&error)
                });
            }
        };
        self.bytes_written += values::bytes_written(&report, &spec);
        let prediction = parameters::is_predicted(subject, &filesystem, &spec)
            .then(|| self.predict(subject, &filesystem, &spec, &report));
        if self.stop.load(Ordering::Relaxed) {
            return Ok(TrialReport::interrupted());
        }
        Ok(values::trial_report(&report, &filesystem, &spec, prediction))
    }

    fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    fn data(&self, cell: &Cell) -> Option<DataIdentity> {
        self.content
            .get(&cell.subject)
            .map(|content| content.identity.clone())
    }
}

/// The data of a subject in memory: those at a path, or the sample again and again.
fn read_data(
    subject: &Subject,
    seed: Seed,
    preparation: &mut Preparation<'_, '_>,
) -> Result<Content, LabError> {
    let wanted = subject.settings.value(&SAMPLE_SIZE).0;
    let failed = |error: CompressError| match error {
        CompressError::Interrupted => LabError::StoppedInPreparation,
        error => LabError::Preparation {
            message: error.to_string(),
            is_bad_input: true,
        },
    };
    let source = match subject.settings.value(&DATA) {
        Data::Path(path) => Source::open(&PathBuf::from(path)),
        _ => Source::embedded(),
    };
    let source = source.map_err(failed)?;
    for note in source.notes() {
        (preparation.report)(PreparationStep::Note(note));
    }
    let stop = preparation.stop;
    let sample = source
        .draw(wanted, BTRFS_EXTENT_BYTES, seed, stop)
        .map_err(failed)?;
    let whole = source.fingerprint(stop).map_err(failed)?;
    let mut bytes = Vec::with_capacity(wanted as usize);
    bytes.extend_from_slice(sample.bytes());
    if *subject.settings.value(&DATA) == Data::Sample {
        // Its length is no multiple of an extent, so that no two extents are the same.
        while (bytes.len() as u64) < wanted {
            let part = sample.bytes().len().min(wanted as usize - bytes.len());
            bytes.extend_from_slice(&sample.bytes()[..part]);
        }
    }
    // Whole blocks: direct I/O takes nothing else.
    bytes.truncate((bytes.len().min(wanted as usize)) / 4096 * 4096);
    let identity = DataIdentity {
        whole,
        taken: sample.fingerprint(),
        taken_bytes: bytes.len() as u64,
    };
    Ok(Content { bytes, identity })
}
