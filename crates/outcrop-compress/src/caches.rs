//! Warm and cold caches: what lies in them before a block is compressed is a factor, not an accident.

mod flush;

use std::hint::black_box;

use outcrop_probe::environment::Cpu;

/// Assumed where the kernel does not list the caches: twice the largest private cache on the market.
const UNKNOWN_FILL_BYTES: usize = 8 << 20;
const LINE_BYTES: usize = 64;
/// What is read in a nanosecond where caches are filled, about.
const FILL_BYTES_PER_NS: u64 = 10;

/// Makes the caches of this core cold.
pub(crate) struct Evictor {
    filler: Vec<u8>,
}

impl Evictor {
    pub(crate) fn new() -> Self {
        Self {
            // Not zero: a page that was never written is one shared page of zeros, which fills nothing.
            filler: vec![1; fill_bytes_here()],
        }
    }

    /// About how long it takes to make the caches cold once: by arithmetic, so that it is the same in every run on a machine.
    pub(crate) fn assumed_ns() -> u64 {
        fill_bytes_here() as u64 / FILL_BYTES_PER_NS
    }

    /// Fills the private caches with other data and flushes the lines of `source` and `target` from all caches.
    pub(crate) fn evict(&self, source: &[u8], target: &[u8]) {
        flush::flush(source);
        flush::flush(target);
        let lines = self.filler.iter().step_by(LINE_BYTES);
        black_box(lines.fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
    }

    /// Why a cold trial is less cold than it is meant to be, on this machine.
    pub(crate) fn note() -> Option<String> {
        (!flush::IS_SUPPORTED).then(|| {
            "cold: this processor has no instruction that flushes single lines, so blocks were cold in the private caches only"
                .to_owned()
        })
    }
}

fn fill_bytes_here() -> usize {
    fill_bytes(&Cpu::here()).unwrap_or(UNKNOWN_FILL_BYTES)
}

/// Twice the largest cache that not more than the threads of one core share.
fn fill_bytes(cpu: &Cpu) -> Option<usize> {
    let caches = cpu.caches.known()?;
    let private = caches.iter().filter(|cache| cache.level <= 2);
    private.map(|cache| 2 * cache.size_bytes as usize).max()
}
