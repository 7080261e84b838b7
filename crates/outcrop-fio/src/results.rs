//! fio's results: read from files, and turned into trials of the device layer.

mod described;
mod document;
mod figures;
mod file_name;
mod files;
mod groups;
mod import;
mod possible;
mod together;
mod trials;
mod values;

pub(crate) use described::{SHARED_WITH, SYNCS};
pub use import::{ImportOptions, Imported, import};

/// Before the name of an option of fio that no factor has: it is a factor of imported records all the same.
pub(crate) const CONDITION_PREFIX: &str = "fio_";
