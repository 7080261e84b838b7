//! Inner loops that have more than one form: a file each, with the forms for vectors first and the plain one
//! last. Tests hold each of them against the definition.

mod choice;
mod classify;
mod deal;
mod dispatch;
mod find_slot;
mod greatest;
mod matches;
mod measure;
mod merge;
mod pack;
mod positions;
mod prefetch;
mod tags;
mod unpack;
mod within;

pub use choice::{KernelLimit, Kernels};
pub(crate) use classify::classify;
use deal::deal;
pub(crate) use find_slot::{KEY_BYTES, LINE_BYTES, LINE_KEYS, PROBE_BYTES, find_slot};
pub(crate) use greatest::greatest;
pub(crate) use matches::matches;
pub(crate) use measure::{Measured, measure};
pub(crate) use merge::{MergeMemory, Stream, merge};
pub(crate) use pack::pack;
pub(crate) use positions::positions;
pub(crate) use prefetch::{CACHE_LINE_BYTES, prefetch};
pub(crate) use tags::tags;
pub(crate) use unpack::unpack;
pub(crate) use within::within;
