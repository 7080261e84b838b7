//! The names of cells in a figure: engines with their settings and, where that differs, with what a write has reached when it is acknowledged.

use outcrop_schema::FactorRef;
use outcrop_schema::kv::{DURABILITY, FILESYSTEM, OF_ENGINES};

use crate::cell::Cell;

/// How the cells of one figure are named, so that nobody compares writes that a device has with writes that a crash loses without being told.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    tells_durability: bool,
}

impl Naming {
    /// For these cells.
    pub(super) fn among(cells: &[&Cell<'_>]) -> Self {
        let mut known = cells.iter().filter_map(|cell| cell.get(&DURABILITY));
        let first = known.next();
        Self {
            tells_durability: known.any(|durability| Some(durability) != first),
        }
    }

    /// An engine with all of its settings that are not the usual ones: `rocksdb lz4 4KiB bloom 0`, `redis, logged`.
    pub(super) fn settings(self, cell: &Cell<'_>) -> String {
        let factors: Vec<FactorRef> = OF_ENGINES
            .iter()
            .copied()
            .filter(|factor| factor.name != DURABILITY.name)
            .chain([&FILESYSTEM as FactorRef])
            .collect();
        let name = cell.label_apart(&factors);
        match cell.get(&DURABILITY).filter(|_| self.tells_durability) {
            Some(durability) => format!("{name}, {durability}"),
            None => name,
        }
    }

    /// What the words of durability mean; nothing where names do not have them.
    pub(super) fn note(self) -> String {
        const MEANING: &str = "The engines differ in what a write has reached when it is acknowledged: the device (synced), a log in the page cache \
                               (logged), or memory alone (unlogged).";
        match self.tells_durability {
            true => MEANING.to_owned(),
            false => String::new(),
        }
    }
}
