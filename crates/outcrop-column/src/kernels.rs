//! Inner loops that have more than one form: a file each, with the forms for vectors first and the plain one
//! last. Tests hold each of them against the definition.

mod by_class;
mod choice;
mod classify;
mod deal;
mod dispatch;
mod extremes;
mod greatest;
mod look;
mod matches;
mod measure;
mod merge;
mod pack;
mod pack_bytes;
mod positions;
mod prefetch;
mod probe;
mod tags;
mod unpack;
mod within;

pub(crate) use by_class::{CLASS_PLANE_BYTES, ROW_PLANES, by_class};
pub use choice::{KernelLimit, Kernels};
pub(crate) use classify::classify;
use deal::deal;
pub(crate) use extremes::extremes;
pub(crate) use greatest::greatest;
pub(crate) use look::{MOST_PROBES, SLOT_WORDS, SLOTS, look};
pub(crate) use matches::matches;
pub(crate) use measure::{Measured, measure};
pub(crate) use merge::{MergeMemory, Stream, merge};
pub(crate) use pack::pack;
pub(crate) use pack_bytes::pack_bytes;
pub(crate) use positions::positions;
pub(crate) use prefetch::{CACHE_LINE_BYTES, prefetch};
pub(crate) use probe::{
    KEPT, LOAD_BYTES, LONG, Probe, SHORT_BYTES, bucket_of, hash, padded, probe, short_key,
};
pub(crate) use tags::tags;
pub(crate) use unpack::unpack;
pub(crate) use within::within;
