//! Inner loops that have more than one implementation: a folder each, with a table of implementations
//! (fastest first), the naive one last. The naive one is the oracle of the others in tests.

mod classify;
mod deal;
mod find_slot;
mod greatest;
mod matches;
mod measure;
mod pack;
mod positions;
mod prefetch;
mod tags;
mod unpack;
mod within;

pub(crate) use classify::classify;
pub(crate) use deal::deal;
pub(crate) use find_slot::{KEY_BYTES, LINE_BYTES, LINE_KEYS, PROBE_BYTES, find_slot};
pub(crate) use greatest::greatest;
pub(crate) use matches::matches;
pub(crate) use measure::{Measured, measure};
pub(crate) use pack::pack;
pub(crate) use positions::positions;
pub(crate) use prefetch::{CACHE_LINE_BYTES, prefetch};
pub(crate) use tags::tags;
pub(crate) use unpack::unpack;
pub(crate) use within::within;

/// One implementation of a kernel.
#[derive(Debug)]
pub(crate) struct Kernel<F> {
    /// Name in test failures.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests name the implementation that fails")
    )]
    pub(crate) name: &'static str,
    /// Whether this machine can run it.
    pub(crate) available: fn() -> bool,
    /// The implementation; to be called only where `available` answers true.
    pub(crate) function: F,
}

/// The first implementation that this machine can run.
fn best<F: Copy>(table: &[Kernel<F>], scalar: F) -> F {
    table
        .iter()
        .find(|kernel| (kernel.available)())
        .map_or(scalar, |kernel| kernel.function)
}
