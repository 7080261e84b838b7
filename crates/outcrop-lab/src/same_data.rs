//! Whether a resumed run goes on with the data of its finished trials: a cell of two data sets would have figures of neither.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_results::{DataIdentity, Outcome, RunFolder};

use crate::cell::Cell;
use crate::error::LabError;
use crate::layer::Bench;
use crate::order::Trial;
use crate::plan::PlanSet;

/// What the finished trials of a run were measured on.
#[derive(Debug)]
pub(crate) struct SameData {
    /// Of each cell that has some.
    known: BTreeMap<String, DataIdentity>,
}

impl SameData {
    pub(crate) fn of(folder: &RunFolder) -> Result<Self, LabError> {
        let mut known = BTreeMap::new();
        if !folder.finished().is_empty() {
            let completed = folder
                .trials()?
                .into_iter()
                .filter(|entry| entry.outcome == Outcome::Completed);
            known.extend(completed.filter_map(|entry| Some((entry.cell, entry.data?))));
        }
        Ok(Self { known })
    }

    /// Checks each cell that has finished trials and pending ones before the first of these, as far as its bench knows its data by then; where
    /// none of the cells of a subject has both, one that is done.
    ///
    /// # Errors
    /// [`LabError::CannotResume`].
    pub(crate) fn check_early(
        &self,
        set: &PlanSet,
        pending: &[Trial],
        benches: &mut BTreeMap<&'static str, Box<dyn Bench + '_>>,
        folder: &RunFolder,
    ) -> Result<(), LabError> {
        let subject = |cell: &Cell| (cell.layer.name(), cell.subject.clone());
        let pending: BTreeSet<usize> = pending.iter().map(|trial| trial.cell).collect();
        let cells = set.cells().iter().enumerate();
        let known = cells.filter(|(_, cell)| self.known.contains_key(&cell.id));
        let (begun, done): (Vec<_>, Vec<_>) = known.partition(|(index, _)| pending.contains(index));
        let mut open: BTreeSet<_> = pending
            .iter()
            .map(|index| subject(&set.cells()[*index]))
            .collect();
        for (_, cell) in begun {
            open.remove(&subject(cell));
            self.check_one(cell, benches, folder)?;
        }
        for (_, cell) in done {
            if open.remove(&subject(cell)) {
                self.check_one(cell, benches, folder)?;
            }
        }
        Ok(())
    }

    fn check_one(
        &self,
        cell: &Cell,
        benches: &mut BTreeMap<&'static str, Box<dyn Bench + '_>>,
        folder: &RunFolder,
    ) -> Result<(), LabError> {
        let bench = benches
            .get_mut(cell.layer.name())
            .expect("every layer of a pending trial was prepared");
        match bench.identify(cell) {
            Ok(data) => self.check(cell, data.as_ref(), folder),
            Err(failure) => Err(cannot_resume(folder, failure.message)),
        }
    }

    /// Compares the data of a cell with those of its finished trials. Runs of earlier versions recorded none.
    ///
    /// # Errors
    /// [`LabError::CannotResume`].
    pub(crate) fn check(
        &self,
        cell: &Cell,
        data: Option<&DataIdentity>,
        folder: &RunFolder,
    ) -> Result<(), LabError> {
        match (self.known.get(&cell.id), data) {
            (Some(before), Some(now)) if before != now => Err(cannot_resume(
                folder,
                format!(
                    "the data {} are no longer those that its finished trials were measured on; restore them, or start a new run",
                    cell.subject.label
                ),
            )),
            _ => Ok(()),
        }
    }
}

fn cannot_resume(folder: &RunFolder, reason: String) -> LabError {
    LabError::CannotResume {
        path: folder.dir().to_owned(),
        reason,
    }
}
