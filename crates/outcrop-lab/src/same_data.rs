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
    /// Of each cell that has some, by its identifier.
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

    /// Checks the data of all subjects that have pending trials before the first of these: of each of their identities one cell that was measured
    /// on it, so that neither one column of several nor one content of several is passed over.
    ///
    /// # Errors
    /// [`LabError::OtherData`].
    pub(crate) fn check_early(
        &mut self,
        set: &PlanSet,
        pending: &[Trial],
        benches: &mut BTreeMap<&'static str, Box<dyn Bench + '_>>,
        folder: &RunFolder,
    ) -> Result<(), LabError> {
        let subject = |cell: &Cell| (cell.layer.name(), cell.subject.clone());
        let open: BTreeSet<_> = pending
            .iter()
            .map(|trial| subject(&set.cells()[trial.cell]))
            .collect();
        let mut checked = BTreeSet::new();
        for cell in set.cells().iter().filter(|cell| open.contains(&subject(cell))) {
            let Some(known) = self.known.get(&cell.id) else {
                continue;
            };
            if checked.insert((subject(cell), known.whole.clone(), known.taken.clone())) {
                self.check_one(cell, benches, folder)?;
            }
        }
        Ok(())
    }

    fn check_one(
        &mut self,
        cell: &Cell,
        benches: &mut BTreeMap<&'static str, Box<dyn Bench + '_>>,
        folder: &RunFolder,
    ) -> Result<(), LabError> {
        let bench = benches
            .get_mut(cell.layer.name())
            .expect("every layer of a pending trial was prepared");
        match bench.identify(cell) {
            Ok(data) => self.check(cell, data.as_ref(), folder),
            Err(failure) => Err(LabError::CannotResume {
                path: folder.dir().to_owned(),
                reason: failure.message,
            }),
        }
    }

    /// Compares the data of a cell with those of its trials before, also of this session. Runs of earlier versions recorded none.
    ///
    /// # Errors
    /// [`LabError::OtherData`].
    pub(crate) fn check(
        &mut self,
        cell: &Cell,
        data: Option<&DataIdentity>,
        folder: &RunFolder,
    ) -> Result<(), LabError> {
        let Some(now) = data else {
            return Ok(());
        };
        let before = self.known.entry(cell.id.clone()).or_insert_with(|| now.clone());
        match before == now {
            true => Ok(()),
            false => Err(LabError::OtherData {
                path: folder.dir().to_owned(),
                subject: cell.subject.label.clone(),
            }),
        }
    }
}
