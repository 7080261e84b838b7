//! A run loaded for reading: plan, environment, trials, and the cells that they group into.

mod cell;
mod reasons;
mod sampling;
mod stall;
mod unfinished;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outcrop_schema::Vocabulary;

pub use cell::{CellView, Samples, SeriesPoint};
pub use reasons::{
    NONE_COMPLETED, is_of_some_trials, lacks_operations, longer_by, says_what_gives_more, too_short,
};
pub use sampling::Uncertainty;

use crate::error::ResultsError;
use crate::journal;
use crate::layout::{JOURNAL_FILE, check_is_run, read_environment, read_plan, run_name};
use crate::record::{Record, records_of};
use crate::trial::TrialEntry;

/// One run, in memory.
///
/// Loading takes no lock: a run that is still being written is seen as far as it has come.
#[derive(Clone, Debug)]
pub struct RunView {
    /// The folder.
    pub dir: PathBuf,
    /// The run's name: that of the folder.
    pub name: String,
    /// The expanded plan, TOML.
    pub plan: String,
    /// The environment as the probe wrote it.
    pub environment: serde_json::Value,
    /// Every trial, also those that were interrupted or failed, in the order they ended.
    pub trials: Vec<TrialEntry>,
    /// Bytes of a torn last line: the run was killed while it wrote, or is writing now.
    pub torn_bytes: u64,
    /// The layers that the run may have measured.
    pub vocabulary: Vocabulary,
}

impl RunView {
    /// Loads a run from its folder.
    ///
    /// # Errors
    /// [`ResultsError::NotARun`] (which file is missing), [`ResultsError::DamagedJournal`],
    /// [`ResultsError::DamagedEnvironment`], [`ResultsError::Io`].
    pub fn load(dir: &Path) -> Result<Self, ResultsError> {
        check_is_run(dir)?;
        let environment = read_environment(dir)?;
        let mut lines = journal::read(&dir.join(JOURNAL_FILE))?;
        let trials = lines.by_ref().collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            dir: dir.to_owned(),
            name: run_name(dir),
            plan: read_plan(dir)?,
            environment,
            trials,
            torn_bytes: lines.torn_bytes(),
            vocabulary: Vocabulary::default(),
        })
    }

    /// The records of all completed trials, in the order of the journal.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.trials.iter().flat_map(|entry| records_of(&self.name, entry))
    }

    /// The run as if it had measured one of its two variants alone. What its plan asked for is not known of one variant.
    #[must_use]
    pub fn of_variant(&self, name: &str) -> Self {
        let is_of_variant =
            |trial: &&TrialEntry| trial.variant.as_ref().is_some_and(|variant| variant.name == name);
        let mut plan: toml::Table = toml::from_str(&self.plan).unwrap_or_default();
        plan.remove("plan");
        Self {
            plan: plan.to_string(),
            trials: self.trials.iter().filter(is_of_variant).cloned().collect(),
            ..self.clone()
        }
    }

    /// The cells: trials grouped by the cell that they are of, in the order of layer, subject and factors.
    ///
    /// Trials that were interrupted or failed are listed in their cell and excluded from every figure; a cell
    /// in which no trial completed is there too, without figures.
    pub fn cells(&self) -> Vec<CellView<'_>> {
        let mut cells: BTreeMap<_, CellView<'_>> = BTreeMap::new();
        for entry in &self.trials {
            cells
                .entry((&entry.layer, &entry.subject, &entry.factors, &entry.cell))
                .or_insert_with(|| CellView::new(entry, self.vocabulary))
                .push(entry);
        }
        cells.into_values().collect()
    }
}
