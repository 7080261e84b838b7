//! The key-value layer: embedded engines, each database in a process of its own, loaded, settled and run.
//!
//! What is measured and how: `docs/design/0010-key-value-engines.md`.

mod bench;
mod forecast;
mod ground;
mod idle;
mod lacking;
mod parameters;
mod unused;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use outcrop_compress::Source;
use outcrop_filesystem::{ability, privilege};
use outcrop_kv::{WorkerProgram, engine};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::format_data;
use outcrop_schema::kv::{CONTENT, DATA, SCHEMA, ValueData};
use outcrop_schema::{FactorRef, LayerSchema, Settings};

use crate::cell::{Cell, Subject, TrialOptions};
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{
    Bench, DataSettings, Holds, Layer, Origin, Preparation, Profile, Refusal, absolute, never_for_files,
};

/// The hidden subcommand by which the program that runs the lab holds a database.
pub const WORKER_COMMAND: &str = "kv-worker";

/// How this process starts another that holds a database. Of the process, not of a run: it is what the process is.
static WORKER_PROGRAM: OnceLock<WorkerProgram> = OnceLock::new();

/// Says how a process that holds a database is started where this program is not `outcrop`: the program has to call
/// `outcrop_kv::serve_parent` at once. The first call counts.
pub fn start_workers_by(path: PathBuf, arguments: Vec<OsString>) {
    let _ = WORKER_PROGRAM.set(WorkerProgram { path, arguments });
}

fn worker_program() -> WorkerProgram {
    let given = WORKER_PROGRAM.get().cloned();
    given.unwrap_or_else(|| WorkerProgram::this(&[WORKER_COMMAND]))
}

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Kv;

/// What describes generated values; those that are cut from data have theirs.
static OF_GENERATED: &[FactorRef] = &[&CONTENT];

impl Layer for Kv {
    fn schema(&self) -> &'static LayerSchema {
        &SCHEMA
    }

    fn profile(&self) -> Option<Profile> {
        const PLANS: &[&str] = &["placement", "placement-filesystem"];
        Some(Profile {
            plans: PLANS,
            plans_for_data: PLANS,
            quick_s: 20,
            default_s: 99,
        })
    }

    /// Where no filesystem can be made, what is left of the question is the store's own compression on the directory as it is.
    fn profile_instead(&self, directory: &Path) -> Option<(&'static [&'static str], String)> {
        // A directory that does not exist is refused elsewhere.
        let why = directory.is_dir().then(|| ability(directory).err())??;
        Some((&["kv-compression"], why.reason))
    }

    fn take_data(&self, path: &str, _: &Settings) -> Result<Option<DataSettings>, String> {
        Ok(Some(DataSettings {
            subject: vec![(&DATA, path.to_owned())],
            decided: match path.parse() {
                Ok(ValueData::Generated) => &[],
                _ => OF_GENERATED,
            },
            ..DataSettings::default()
        }))
    }

    fn complete_subject(&self, mut settings: Settings) -> Result<Subject, Refusal> {
        let label = match settings.value(&DATA).clone() {
            ValueData::Generated => "databases of generated values".to_owned(),
            ValueData::Path(path) => {
                let path = absolute(&DATA, &path)?;
                let source =
                    Source::open(Path::new(&path)).map_err(|error| Refusal::of(&DATA, error.to_string()))?;
                let name = Path::new(&path).file_name();
                let name = name.map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
                let size = source
                    .bytes()
                    .map_or_else(String::new, |bytes| format!(" {}", format_data(bytes as f64)));
                settings.set(&DATA, ValueData::Path(path));
                format!("databases of values cut from {name}{size}")
            }
        };
        Ok(Subject { settings, label })
    }

    fn complete_factors(
        &self,
        subject: &Subject,
        mut factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        parameters::complete(subject, &mut factors);
        parameters::check(&factors, trial)?;
        Ok(factors)
    }

    fn check_combinations(
        &self,
        _subject: &Subject,
        combinations: &[Settings],
        origin: &dyn Fn(&str) -> Origin,
    ) -> Result<Vec<String>, (usize, Refusal)> {
        lacking::check(combinations, origin)
    }

    fn hindrance(&self, cell: &Cell) -> Option<String> {
        let spec = parameters::kv_spec(&cell.factors, &cell.trial, Seed(0), None);
        let of_store = engine::find(spec.options.engine).and_then(|()| spec.validate());
        let of_store = of_store.err().filter(bench::is_absent);
        let of_ground = || {
            let filesystem = ground::filesystem_of(&cell.factors)?;
            let missing = privilege().and_then(|()| filesystem.availability()).err();
            missing.map(|missing| missing.reason)
        };
        of_store.map(|missing| missing.to_string()).or_else(of_ground)
    }

    fn refusal_in(&self, _cell: &Cell, directory: &Path) -> Option<LabError> {
        never_for_files(directory)
    }

    fn holds(&self, cell: &Cell) -> Holds {
        forecast::holds(cell)
    }

    fn forecast_preparation(&self, _subject: &Subject, cells: &[&Cell]) -> Forecast {
        forecast::preparation(cells)
    }

    fn forecast_trial(&self, cell: &Cell) -> Forecast {
        forecast::trial(cell)
    }

    fn prepare<'r>(
        &self,
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Box<dyn Bench + 'r>, LabError> {
        Ok(Box::new(bench::KvBench::prepare(subjects, preparation)?))
    }
}
