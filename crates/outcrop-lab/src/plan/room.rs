//! What does not fit on this machine: said before anything is measured, since a full disk is found out after hours.

use outcrop_measure::units::format_data;
use outcrop_probe::{Filesystem, total_memory_bytes};

use super::PlanSet;
use crate::cell::Cell;
use crate::error::LabError;
use crate::layer::Holds;

impl PlanSet {
    /// Why the run cannot begin in its directory, however long it would take; none where nothing is known against it.
    pub fn refusal(&self) -> Option<LabError> {
        let cells = self.cells().iter();
        let mut refusals = cells.filter_map(|cell| cell.layer.refusal_in(cell, self.directory()));
        refusals.next()
    }

    /// Sentences about trials that hold more than the directory's filesystem has room for, or than the machine has memory; of what is not
    /// known, nothing.
    pub fn shortages(&self) -> Vec<String> {
        let free_bytes = Filesystem::at(self.directory()).ok();
        let free_bytes = free_bytes
            .filter(|place| place.total_bytes > 0)
            .map(|place| place.available_bytes);
        let of_disk = self.largest(|holds| holds.disk_bytes, free_bytes);
        let of_memory = self.largest(|holds| holds.memory_bytes, total_memory_bytes().ok());
        let disk = of_disk.map(|(cell, held, free)| {
            format!(
                "a trial ({}) stores {} before compression, and {} has {} left; give fewer records, smaller values or fewer processes",
                cell.label(),
                format_data(held as f64),
                self.directory().display(),
                format_data(free as f64)
            )
        });
        let memory = of_memory.map(|(cell, held, total)| {
            format!(
                "caches, write buffers and records in memory of a trial ({}) may take {}, and this machine has {} of memory; give smaller caches, fewer records or fewer processes",
                cell.label(),
                format_data(held as f64),
                format_data(total as f64)
            )
        });
        disk.into_iter().chain(memory).collect()
    }

    /// The cell that holds the most, where that is more than there is.
    fn largest(&self, of: impl Fn(Holds) -> u64, there: Option<u64>) -> Option<(&Cell, u64, u64)> {
        let held = self.cells().iter().map(|cell| (cell, of(cell.layer.holds(cell))));
        let (cell, most) = held.max_by_key(|(_, bytes)| *bytes)?;
        there
            .filter(|there| most > *there)
            .map(|there| (cell, most, there))
    }
}
