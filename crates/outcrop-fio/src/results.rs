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

pub(crate) use described::SYNCS;
pub use import::{ImportOptions, Imported, import};

pub(crate) use outcrop_results::{LAYOUT, OPTION_OF_FIO as CONDITION_PREFIX, SHARED_WITH};
