//! Samples drawn when a trial first asks for them, and one trial after the other on them.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use outcrop_codec::CodecErrorKind;
use outcrop_compress::{
    Blocks, CLUSTER_BYTES, CompressError, Sample, SizeReport, Source, run_hardware, run_job, run_stages,
};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_results::DataIdentity;
use outcrop_schema::compression::{
    COMPRESSION_BLOCK_SIZE, CONTENT, DATA, Data, MEASUREMENT, Measurement, SAMPLE_SIZE, SLOT_SIZES_BYTES,
};
use outcrop_workload::BlockContent;

use super::{parameters, values};
use crate::cell::{Cell, Subject};
use crate::error::LabError;
use crate::layer::kept::Kept;
use crate::layer::{Bench, Preparation, PreparationStep, TrialFailure, TrialReport};
use crate::order::Trial;

/// The data of a run.
pub(super) struct CompressionBench<'r> {
    sources: BTreeMap<Subject, Source>,
    samples: Kept<Sample>,
    /// What blocks became, by cell: repetitions do not verify again what they do not time.
    sizes: BTreeMap<String, Arc<SizeReport>>,
    /// What tells the data of subjects apart.
    wholes: BTreeMap<Subject, String>,
    /// The data of each cell that was measured.
    data: BTreeMap<String, DataIdentity>,
    clock: Clock,
    stop: &'r AtomicBool,
    seed: Seed,
}

impl<'r> CompressionBench<'r> {
    /// Opens the subjects; stdin is read here, as it goes by once.
    pub(super) fn prepare(
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Self, LabError> {
        let seed = preparation.seed.derive("compression");
        let mut sources = BTreeMap::new();
        for subject in subjects {
            let source = open(subject, seed, preparation.stop).map_err(|error| match error {
                CompressError::Interrupted => LabError::StoppedInPreparation,
                error => LabError::Preparation {
                    message: error.to_string(),
                    is_bad_input: true,
                },
            })?;
            for note in source.iter().flat_map(Source::notes) {
                (preparation.report)(PreparationStep::Note(note));
            }
            sources.extend(source.map(|source| (subject.clone(), source)));
        }
        Ok(Self {
            sources,
            samples: Kept::new(|sample| sample.bytes().len()),
            sizes: BTreeMap::new(),
            wholes: BTreeMap::new(),
            data: BTreeMap::new(),
            clock: Clock::new(),
            stop: preparation.stop,
            seed,
        })
    }

    fn sample(&mut self, cell: &Cell, content: BlockContent) -> Result<Rc<Sample>, CompressError> {
        let block_bytes = cell.factors.value(&COMPRESSION_BLOCK_SIZE).0;
        let limit_bytes = cell.subject.settings.value(&SAMPLE_SIZE).0;
        let data = cell.subject.settings.value(&DATA);
        let key = match content {
            BlockContent::Generated(content) => format!("{content} {limit_bytes}"),
            // Blocks that fill a cluster without remainder are cut from the same sample.
            _ if CLUSTER_BYTES.is_multiple_of(block_bytes) => format!("{data} {limit_bytes}"),
            _ => format!("{data} {limit_bytes} {block_bytes}"),
        };
        let (sources, seed, stop) = (&self.sources, self.seed, self.stop);
        self.samples
            .get_or_make(&key, || match (content, sources.get(&cell.subject)) {
                (BlockContent::Generated(content), _) => {
                    let mut bytes = vec![0; limit_bytes as usize];
                    content.filler(seed.derive(&key)).fill(&mut bytes);
                    Ok(Sample::generated(bytes, &content.to_string()))
                }
                (_, Some(source)) => source.draw(limit_bytes, block_bytes, seed, stop),
                (_, None) => unreachable!("every subject of the run was prepared"),
            })
    }

    /// Notes which data a cell works on, the first time it is asked.
    fn note_data(
        &mut self,
        cell: &Cell,
        content: BlockContent,
        sample: &Sample,
    ) -> Result<(), CompressError> {
        if self.data.contains_key(&cell.id) {
            return Ok(());
        }
        let whole = match (content, self.wholes.get(&cell.subject)) {
            (BlockContent::Generated(content), _) => format!("generated-{content}"),
            (_, Some(known)) => known.clone(),
            (_, None) => {
                let source = &self.sources[&cell.subject];
                let whole = source.fingerprint(self.stop)?;
                self.wholes.insert(cell.subject.clone(), whole.clone());
                whole
            }
        };
        let identity = DataIdentity {
            whole,
            taken: sample.fingerprint(),
            taken_bytes: sample.bytes().len() as u64,
        };
        self.data.insert(cell.id.clone(), identity);
        Ok(())
    }

    fn measure(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, CompressError> {
        let content = *cell.factors.value(&CONTENT);
        let sample = self.sample(cell, content)?;
        self.note_data(cell, content, &sample)?;
        let block_bytes = cell.factors.value(&COMPRESSION_BLOCK_SIZE).0;
        let sample_bytes = sample.bytes().len() as u64;
        if block_bytes > sample_bytes {
            let data_bytes = sample.data_bytes();
            return Err(CompressError::BlockLargerThanSample {
                block_bytes,
                sample_bytes,
                data_bytes,
            });
        }
        let mut blocks = Blocks::cut(&sample, block_bytes as usize);
        if let BlockContent::NaturalNear(bits) = content {
            blocks = blocks.nearest_in_entropy(bits);
        }
        let job = parameters::job_spec(&cell.factors, &cell.trial, trial.repetition.into());
        let (clock, stop) = (&self.clock, self.stop);
        let known = self.sizes.get(&cell.id).cloned();
        let size = match known {
            Some(size) => size,
            None => Arc::new(SizeReport::measure(&blocks, &job.codec, job.context, stop)?),
        };
        self.sizes.insert(cell.id.clone(), Arc::clone(&size));
        let mut measured = match cell.factors.value(&MEASUREMENT) {
            Measurement::Stages => {
                let report = run_stages(&blocks, &parameters::stages_spec(&job), &size, clock, stop)?;
                values::of_stages(&blocks, &report, &size, content)
            }
            Measurement::Speed => {
                let report = run_job(&blocks, &job, Some(size), clock, stop)?;
                let hardware = run_hardware(&blocks, &job.codec, &SLOT_SIZES_BYTES)?;
                values::of_job(&blocks, &report, hardware.as_ref(), content)
            }
        };
        measured.notes.extend(values::library(&job.codec));
        Ok(measured)
    }
}

fn open(subject: &Subject, seed: Seed, stop: &AtomicBool) -> Result<Option<Source>, CompressError> {
    let limit_bytes = subject.settings.value(&SAMPLE_SIZE).0;
    match subject.settings.value(&DATA) {
        Data::Generated => Ok(None),
        Data::Sample => Source::embedded().map(Some),
        Data::Stdin => Source::from_reader(&mut std::io::stdin().lock(), limit_bytes, seed, stop).map(Some),
        Data::Path(path) => Source::open(Path::new(path)).map(Some),
    }
}

impl Bench for CompressionBench<'_> {
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure> {
        match self.measure(cell, trial) {
            Ok(report) => Ok(report),
            Err(CompressError::Interrupted) => Ok(TrialReport::interrupted()),
            Err(CompressError::Open(error)) if matches!(error.kind(), CodecErrorKind::Absent { .. }) => {
                Ok(values::absent(&error.to_string()))
            }
            Err(error) => Err(TrialFailure {
                is_bad_input: matches!(error, CompressError::Input(_)),
                is_fatal: matches!(
                    error,
                    CompressError::Path { .. } | CompressError::Input(_) | CompressError::Pin { .. }
                ),
                ..TrialFailure::of(&error)
            }),
        }
    }

    fn data(&self, cell: &Cell) -> Option<DataIdentity> {
        self.data.get(&cell.id).cloned()
    }

    fn identify(&mut self, cell: &Cell) -> Result<Option<DataIdentity>, TrialFailure> {
        let content = *cell.factors.value(&CONTENT);
        let noted = self
            .sample(cell, content)
            .and_then(|sample| self.note_data(cell, content, &sample));
        match noted {
            Ok(()) | Err(CompressError::Interrupted) => Ok(self.data(cell)),
            Err(error) => Err(TrialFailure::of(&error)),
        }
    }
}
