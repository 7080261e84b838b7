//! Writing single lines back to memory and dropping them from every cache.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "the flush instruction takes a raw pointer")
)]

/// Whether this processor has such an instruction for user programs.
pub(super) const IS_SUPPORTED: bool = cfg!(target_arch = "x86_64");

/// Flushes the lines that `bytes` lie in. *Source*: CLFLUSH in the Intel SDM, volume 2; every x86-64 has it.
#[cfg(target_arch = "x86_64")]
pub(super) fn flush(bytes: &[u8]) {
    use core::arch::x86_64::{_mm_clflush, _mm_mfence};

    for line in bytes.chunks(super::LINE_BYTES) {
        // SAFETY: the pointer is that of live bytes, and flushing changes no value.
        unsafe { _mm_clflush(line.as_ptr()) };
    }
    if let Some(last) = bytes.last() {
        // SAFETY: as above; chunks need not be aligned to lines, so the last one may end in a line of its own.
        unsafe { _mm_clflush(last) };
    }
    // SAFETY: SSE2 is part of x86-64; the fence only orders.
    unsafe { _mm_mfence() };
}

/// Not on this processor.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn flush(_bytes: &[u8]) {}
