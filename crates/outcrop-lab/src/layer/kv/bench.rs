//! One trial after the other, each on databases of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_compress::{CompressError, Source};
use outcrop_filesystem::{FilesystemError, OwnFilesystem, compression_below};
use outcrop_kv::{DatabaseFolder, Ground, KvError, PATIENCE, Site, ValueSource, WorkerProgram, run};
use outcrop_measure::metric::Unavailable;
use outcrop_measure::units::format_bytes;
use outcrop_results::DataIdentity;
use outcrop_schema::kv::{self, CONTENT, DATA, ValueData};
use outcrop_workload::store::StoreEngine;

use super::ground::{Grounds, filesystem_of};
use super::{parameters, values, worker_program};
use crate::cell::{Cell, Subject};
use crate::error::LabError;
use crate::layer::{Bench, Preparation, PreparationStep, TrialFailure, TrialReport};
use crate::order::Trial;

/// Values are cut from a sample of this size: more than the caches of any CPU, less than what a process minds.
const POOL_BYTES: u64 = 64 << 20;
/// Data are drawn in clusters of blocks of this size.
const POOL_BLOCK_BYTES: u64 = 64 << 10;

/// Bytes that values are cut from.
struct Pool {
    values: ValueSource,
    identity: DataIdentity,
}

/// What trials share: where databases are made, and the bytes of values.
pub(super) struct KvBench<'r> {
    directory: &'r Path,
    stop: &'r AtomicBool,
    program: WorkerProgram,
    pools: BTreeMap<Subject, Pool>,
    grounds: Grounds,
    /// How the directory's own filesystem compresses.
    compressed_below: Result<Option<String>, Unavailable>,
    write_limit_bytes: Option<u64>,
    bytes_written: u64,
    /// The most that a trial of a cell wrote, by its identifier.
    written_by: BTreeMap<String, u64>,
}

impl<'r> KvBench<'r> {
    /// Removes what killed runs left, and reads the data that values are cut from.
    pub(super) fn prepare(
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Self, LabError> {
        remove_abandoned(preparation)?;
        let mut pools = BTreeMap::new();
        for subject in subjects {
            let ValueData::Path(path) = subject.settings.value(&DATA) else {
                continue;
            };
            let pool = read(Path::new(path), preparation).map_err(|error| match error {
                CompressError::Interrupted => LabError::StoppedInPreparation,
                error => LabError::Preparation {
                    message: error.to_string(),
                    is_bad_input: true,
                },
            })?;
            check_pool(&pool, Path::new(path), subject, preparation.cells)?;
            pools.insert(subject.clone(), pool);
        }
        let grounds = Grounds::prepare(preparation)?;
        Ok(Self {
            directory: preparation.directory,
            stop: preparation.stop,
            program: worker_program(),
            pools,
            bytes_written: grounds.bytes(),
            grounds,
            compressed_below: compression_below(preparation.directory),
            write_limit_bytes: preparation.write_limit_bytes,
            written_by: BTreeMap::new(),
        })
    }
}

fn read(path: &Path, preparation: &mut Preparation<'_, '_>) -> Result<Pool, CompressError> {
    let source = Source::open(path)?;
    for note in source.notes() {
        (preparation.report)(PreparationStep::Note(note));
    }
    let seed = preparation.seed.derive("values of key-value stores");
    let draw = |block_bytes| source.draw(POOL_BYTES, block_bytes, seed, preparation.stop);
    let sample = match draw(POOL_BLOCK_BYTES) {
        // Values may be short: few data are taken whole.
        Err(CompressError::BlockLargerThanData { data_bytes, .. }) => draw(data_bytes),
        drawn => drawn,
    }?;
    Ok(Pool {
        identity: DataIdentity {
            whole: source.fingerprint(preparation.stop)?,
            taken: sample.fingerprint(),
            taken_bytes: sample.bytes().len() as u64,
        },
        values: ValueSource::CutFrom(sample.bytes().to_vec().into()),
    })
}

/// Refuses data from which the longest value of a cell cannot be cut.
fn check_pool(pool: &Pool, path: &Path, subject: &Subject, cells: &[&Cell]) -> Result<(), LabError> {
    let sizes = cells.iter().filter(|cell| cell.subject == *subject);
    let sizes = sizes.map(|cell| *cell.factors.value(&kv::VALUE_SIZE));
    let Some(size) = sizes.max_by_key(outcrop_workload::keyed::ValueSize::longest_bytes) else {
        return Ok(());
    };
    let (held, longest) = (pool.identity.taken_bytes, u64::from(size.longest_bytes()));
    if held >= longest {
        return Ok(());
    }
    Err(LabError::Preparation {
        message: format!(
            "{} has {}, but values of up to {} are cut from it (value size {size}); give data of at least that size, or a smaller value size, \
             such as --value-size fixed:{}B",
            path.display(),
            format_bytes(held),
            format_bytes(longest),
            held.min(100)
        ),
        is_bad_input: true,
    })
}

/// Removes the databases that killed runs left behind; each folder carries our marker and is locked by nobody.
fn remove_abandoned(preparation: &mut Preparation<'_, '_>) -> Result<(), LabError> {
    let abandoned = DatabaseFolder::abandoned_in(preparation.directory);
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

impl KvBench<'_> {
    /// Refuses a trial that would write more than the run may.
    fn check_limit(&self, cell: &Cell) -> Result<(), TrialFailure> {
        let likely = self.likely_bytes(cell);
        match self.write_limit_bytes {
            Some(limit) if likely > 0 && self.bytes_written + likely > limit => Err(TrialFailure {
                message: format!(
                    "a trial of this cell writes about {}, but only {} may be written in all, and {} have been, or may have been; use fewer records or a larger limit",
                    format_bytes(likely),
                    format_bytes(limit),
                    format_bytes(self.bytes_written)
                ),
                is_fatal: true,
                is_bad_input: false,
                is_refused: true,
            }),
            _ => Ok(()),
        }
    }

    /// What a trial of the cell writes: what the machine did says more than what was assumed of it.
    fn likely_bytes(&self, cell: &Cell) -> u64 {
        let known = self.written_by.get(&cell.id).copied();
        known.unwrap_or_else(|| super::forecast::trial(cell).likely_bytes_written)
    }

    /// A trial of a cell that cannot be measured here, whose other trials write nothing either.
    fn absent(&mut self, cell: &Cell, why: &str) -> TrialReport {
        self.written_by.entry(cell.id.clone()).or_insert(0);
        values::absent(why)
    }

    /// Adds what the filesystem does that the databases lay on, where it is the user's.
    fn remarking(&self, mut report: TrialReport, is_own: bool) -> TrialReport {
        let remark = match &self.compressed_below {
            _ if is_own => None,
            Ok(state) => state
                .as_ref()
                .map(|state| kv::COMPRESSED_BELOW.remark(state.clone())),
            // What does not say so is measured all the same.
            Err(why) => Some(kv::COMPRESSION_UNKNOWN.remark(why.reason.clone())),
        };
        if let (false, Ok(Some(state))) = (is_own, &self.compressed_below)
            && kv::hides_space(state)
        {
            values::without_space(&mut report, state);
        }
        report.notes.extend(remark);
        report
    }
}

impl Bench for KvBench<'_> {
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure> {
        let pool = self.pools.get(&cell.subject);
        let pool = pool.map(|pool| pool.values.clone());
        let spec = parameters::kv_spec(&cell.factors, &cell.trial, trial.seed, pool);
        // What no engine here does writes nothing: it is not for the limit to refuse.
        if let Err(error) = spec.validate()
            && is_absent(&error)
        {
            return Ok(self.absent(cell, &error.to_string()));
        }
        self.check_limit(cell)?;
        let filesystem = filesystem_of(&cell.factors);
        let own = filesystem.map(|filesystem| self.grounds.make(&filesystem, self.stop));
        let own = match own.transpose() {
            Ok(own) => own,
            Err(FilesystemError::Interrupted) => return Ok(TrialReport::interrupted()),
            Err(FilesystemError::Unavailable(why)) => return Ok(self.absent(cell, &why)),
            Err(error) => return Err(TrialFailure::of(&error)),
        };
        let root = own.as_ref().map(OwnFilesystem::path);
        let used_bytes = || own.as_ref().map_or(Ok(0), OwnFilesystem::used_bytes);
        let ground = own.as_ref().zip(root.as_deref()).map(|(own, root)| Ground {
            root,
            device: own.device(),
            used_bytes: &used_bytes,
        });
        let site = Site {
            directory: self.directory,
            ground,
            stop: self.stop,
            patience: PATIENCE,
            program: &self.program,
        };
        let outcome = run(&spec, &site, &mut |_| {});
        // A filesystem of ours writes its metadata too, and perhaps everything twice: its device counts that.
        let device = own.as_ref().and_then(|own| own.written_bytes().ok());
        let device_bytes = device.unwrap_or(0);
        if let Err(error) = &outcome {
            // Each repetition may write as much again. On a filesystem of the user's nobody counted it.
            let uncounted = if may_have_loaded(error) {
                self.likely_bytes(cell)
            } else {
                0
            };
            self.bytes_written += device.unwrap_or(uncounted);
        }
        match outcome {
            Ok(report) => {
                let written = values::written_bytes(&report).max(device_bytes);
                self.bytes_written += written;
                let most = self.written_by.entry(cell.id.clone()).or_default();
                *most = written.max(*most);
                match values::problem(&report) {
                    Some(problem) => Err(TrialFailure::of(&problem)),
                    None => Ok(self.remarking(values::trial_report(&spec, &report), own.is_some())),
                }
            }
            Err(KvError::Interrupted) => Ok(TrialReport::interrupted()),
            Err(error) if is_absent(&error) => Ok(self.absent(cell, &error.to_string())),
            // Only the image is full: the next cell begins with an empty one.
            Err(KvError::NoSpace { .. }) if own.is_some() => Err(TrialFailure::of(
                &"the databases fill the filesystem that was made for them; use a shorter duration, or put them on a disk with \
                  filesystem = \"as-is\"",
            )),
            Err(error) => Err(TrialFailure {
                is_fatal: matches!(error, KvError::NoSpace { .. } | KvError::Path { .. }),
                ..TrialFailure::of(&with_remedy(&error, spec.options.engine))
            }),
        }
    }

    fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    fn data(&self, cell: &Cell) -> Option<DataIdentity> {
        if let Some(pool) = self.pools.get(&cell.subject) {
            return Some(pool.identity.clone());
        }
        let content = cell.factors.spelling(&CONTENT).unwrap_or_default();
        Some(DataIdentity {
            whole: "generated".to_owned(),
            taken: format!("generated-{content}"),
            taken_bytes: 0,
        })
    }
}

/// Whether a trial that ended so may have loaded its store, and written as much as others.
fn may_have_loaded(error: &KvError) -> bool {
    let is_earlier = matches!(
        error,
        KvError::Spec { .. } | KvError::Locked { .. } | KvError::Version { .. } | KvError::Interrupted
    );
    !(is_earlier || is_absent(error))
}

/// An error, and the setting that may help where the engine has it.
fn with_remedy(error: &KvError, engine: StoreEngine) -> String {
    match error {
        KvError::Stuck { .. } if kv::has(engine, &kv::WRITE_BUFFER) => {
            format!("{error}; a larger --write-buffer may help")
        }
        error => error.to_string(),
    }
}

/// Whether the cell cannot be measured on this machine, whatever is tried.
pub(super) fn is_absent(error: &KvError) -> bool {
    matches!(
        error,
        KvError::Absent { .. }
            | KvError::MissingCodec { .. }
            | KvError::Condition { .. }
            | KvError::Lacks { .. }
    )
}

#[cfg(test)]
mod tests {
    use outcrop_results::Outcome;

    use super::*;
    use crate::plan::{PlanOptions, PlanSet, PlanSource};

    const PLAN: &str = r#"
name = "stores"
question = "Which store?"
layer = "kv"
[workload]
compression = "zstd:1"
records = 100
[factors]
engine = ["fjall", "rocksdb"]
"#;

    /// A reader's run ended at its limit for a trial that writes nothing, with the words that it writes 8200 KiB.
    #[test]
    fn a_store_that_its_engine_cannot_be_is_not_refused_for_what_it_would_write() {
        let data = tempfile::tempdir().unwrap();
        let options = PlanOptions {
            directory: Some(data.path().to_owned()),
            ..PlanOptions::default()
        };
        let source = PlanSource {
            name: "stores.toml".to_owned(),
            text: PLAN.to_owned(),
        };
        let set = PlanSet::from_sources(&[source], &options).unwrap();
        let cells: Vec<&Cell> = set.cells().iter().collect();
        let mut preparation = Preparation {
            cells: &cells,
            directory: data.path(),
            seed: set.seed(),
            stop: &AtomicBool::new(false),
            write_limit_bytes: Some(1),
            report: &mut |_| {},
        };
        let mut bench = KvBench::prepare(&[], &mut preparation).unwrap();
        let trials = set.trials();
        let mut outcome_of = |engine: &str| {
            let is_of_engine = |cell: &Cell| cell.factors.spelling(&kv::ENGINE) == Some(engine);
            let index = cells.iter().position(|cell| is_of_engine(cell)).unwrap();
            let trial = trials.iter().find(|trial| trial.cell == index).unwrap();
            bench.run(cells[index], trial).map(|report| report.outcome)
        };
        assert_eq!(outcome_of("fjall").unwrap(), Outcome::Completed);
        let refusal = outcome_of("rocksdb").unwrap_err();
        assert!(
            refusal.is_fatal && refusal.message.contains("may be written in all"),
            "{refusal:?}"
        );
    }
}
