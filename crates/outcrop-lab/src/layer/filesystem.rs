//! The filesystem layer: files on filesystems that are made for the trial, or in a directory of the user's.
//!
//! What is measured and how: `docs/design/0011-filesystem.md`.

mod bench;
mod forecast;
mod parameters;
mod values;

use std::path::Path;

use outcrop_compress::Source;
use outcrop_filesystem::{BTRFS_EXTENT_BYTES, FEWEST_EXTENTS, OwnDirectory, privilege};
use outcrop_measure::units::{ByteSize, format_bytes, format_data};
use outcrop_schema::compression::Data;
use outcrop_schema::filesystem::{DATA, KIND, Kind, OPERATION, PATH, SAMPLE_SIZE, SCHEMA};
use outcrop_schema::{LayerSchema, Settings};

use crate::cell::{Cell, Subject, TrialOptions};
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{
    Bench, DataSettings, EndsBy, Layer, Origin, Preparation, Profile, Refusal, absolute, never_for_files,
};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Filesystem;

/// Fewer bytes than these say nothing of a filesystem.
const LEAST_BYTES: u64 = FEWEST_EXTENTS * BTRFS_EXTENT_BYTES;

impl Layer for Filesystem {
    fn schema(&self) -> &'static LayerSchema {
        &SCHEMA
    }

    fn profile(&self) -> Option<Profile> {
        Some(Profile {
            plans: &["fs-choice"],
            plans_for_data: &["fs-choice"],
            quick_s: 13,
            default_s: 58,
        })
    }

    fn take_data(&self, path: &str, _: &Settings) -> Result<Option<DataSettings>, String> {
        match path.parse::<Data>() {
            Ok(Data::Path(_)) => {}
            _ => {
                return Err(
                    "reads its data more than once, so it cannot use stdin; give a file or a directory"
                        .to_owned(),
                );
            }
        }
        // What cannot be opened is the refusal of the layer that opens it first.
        let bytes = Source::open(Path::new(path))
            .ok()
            .and_then(|source| source.bytes());
        if let Some(bytes) = bytes.filter(|bytes| *bytes < LEAST_BYTES) {
            return Err(format!(
                "needs at least {} of data, but only {} are given",
                format_bytes(LEAST_BYTES),
                format_data(bytes as f64)
            ));
        }
        Ok(Some(DataSettings {
            subject: vec![(&DATA, path.to_owned())],
            ..DataSettings::default()
        }))
    }

    fn complete_subject(&self, mut settings: Settings) -> Result<Subject, Refusal> {
        let place = match (*settings.value(&KIND), settings.get(&PATH).cloned()) {
            (Kind::ScratchImage, Some(_)) => {
                let message = "Outcrop makes the scratch image in the directory of the run, and it has no path; leave `path` out, \
                               or use kind = \"directory\"";
                return Err(Refusal::of(&PATH, message));
            }
            (Kind::Directory, None) => {
                let message = "a directory needs `path`: one on the filesystem to be measured";
                return Err(Refusal::of(&KIND, message));
            }
            (Kind::ScratchImage, None) => None,
            (Kind::Directory, Some(path)) => {
                let path = absolute(&PATH, &path)?;
                let directory = OwnDirectory::open(Path::new(&path))
                    .map_err(|error| Refusal::of(&PATH, error.to_string()))?;
                settings.set(&PATH, path.clone());
                Some(format!(" in {path} ({})", directory.filesystem().type_name))
            }
        };
        let wanted = settings.value(&SAMPLE_SIZE).0;
        if wanted < LEAST_BYTES {
            let message = format!(
                "sample_size is {}, less than {FEWEST_EXTENTS} extents of 128KiB; give {} or more",
                settings.value(&SAMPLE_SIZE),
                ByteSize(LEAST_BYTES)
            );
            return Err(Refusal::of(&SAMPLE_SIZE, message));
        }
        let (name, bytes) = data_of(&mut settings, wanted)?;
        settings.set(&SAMPLE_SIZE, ByteSize(bytes));
        // A part of the data has the size that was chosen.
        let size = match bytes == wanted {
            true => format_bytes(bytes),
            false => format_data(bytes as f64),
        };
        let label = format!("{name} {size}{}", place.unwrap_or_default());
        Ok(Subject { settings, label })
    }

    fn complete_factors(
        &self,
        subject: &Subject,
        mut factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        parameters::complete(subject, &mut factors)?;
        parameters::check(subject, &factors, trial)?;
        Ok(factors)
    }

    fn check_combinations(
        &self,
        subject: &Subject,
        combinations: &[Settings],
        origin: &dyn Fn(&str) -> Origin,
    ) -> Result<Vec<String>, (usize, Refusal)> {
        parameters::check_flags(subject, combinations, origin)?;
        Ok(Vec::new())
    }

    fn is_in_directory(&self, subject: &Subject) -> bool {
        !parameters::is_directory(subject)
    }

    // Cold reads have nothing to warm up, and warm ones are of files that are read before.
    fn has_warm_up(&self) -> bool {
        false
    }

    fn ends_by(&self, factors: &Settings) -> Option<EndsBy> {
        parameters::ends_by(*factors.value(&OPERATION))
    }

    fn hindrance(&self, cell: &Cell) -> Option<String> {
        let is_made = *cell.subject.settings.value(&KIND) == Kind::ScratchImage;
        let filesystem = is_made.then(|| parameters::filesystem_of(&cell.factors))?;
        let missing = privilege().and_then(|()| filesystem.availability()).err();
        missing.map(|missing| missing.reason)
    }

    fn refusal_in(&self, cell: &Cell, directory: &Path) -> Option<LabError> {
        let settings = &cell.subject.settings;
        let own = (*settings.value(&KIND) != Kind::ScratchImage).then(|| settings.value(&PATH));
        never_for_files(own.map_or(directory, Path::new))
    }

    fn forecast_preparation(&self, subject: &Subject, cells: &[&Cell]) -> Forecast {
        forecast::preparation(subject, cells)
    }

    fn forecast_trial(&self, cell: &Cell) -> Forecast {
        forecast::trial(cell)
    }

    fn prepare<'r>(
        &self,
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Box<dyn Bench + 'r>, LabError> {
        Ok(Box::new(bench::FilesystemBench::prepare(subjects, preparation)?))
    }
}

/// The name of the data, and how much of them is taken; the path becomes absolute.
fn data_of(settings: &mut Settings, wanted: u64) -> Result<(String, u64), Refusal> {
    match settings.value(&DATA).clone() {
        Data::Sample => Ok(("sample, repeated,".to_owned(), wanted)),
        Data::Generated | Data::Stdin => Err(Refusal::of(
            &DATA,
            "files hold \"sample\" or the data at a path; these cannot be read twice",
        )),
        Data::Path(path) => {
            let path = absolute(&DATA, &path)?;
            let source =
                Source::open(Path::new(&path)).map_err(|error| Refusal::of(&DATA, error.to_string()))?;
            let total = source.bytes().unwrap_or(u64::MAX);
            if total < LEAST_BYTES {
                let message = format!(
                    "the data are {}, less than {FEWEST_EXTENTS} extents of 128KiB ({}), too little to measure a filesystem; give more",
                    format_data(total as f64),
                    format_bytes(LEAST_BYTES)
                );
                return Err(Refusal::of(&DATA, message));
            }
            let name = Path::new(&path).file_name();
            let name = name.map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
            settings.set(&DATA, Data::Path(path));
            Ok((name, wanted.min(total)))
        }
    }
}
